// Decoders and encoders of rows: bytes <-> columns. One interface for json, csv, raw and regex;
// connectors hold one and never know which.
#ifndef WEIR_DATA_FORMAT_H_
#define WEIR_DATA_FORMAT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/batch.h"
#include "data/timestamp.h"
#include "data/types.h"

namespace weir {

// What a decoder must fill: column `batch_column` of the batch from the record's field `name` (json
// key, csv header name or position, regex group). Fields that nobody reads are checked, not
// converted.
struct DecodeField {
  std::string name;
  Type type;
  int batch_column = 0;
  int position = 0;  // ordinal among the table's physical columns: CSV without header
};

struct JsonOptions {
  bool has_timestamp_unit = false;
  EpochUnit timestamp_unit = EpochUnit::kMillis;
  TimestampStyle timestamp_style = TimestampStyle::kSql;
};
struct CsvOptions {
  char delimiter = ',';
  char quote = '"';
  bool header = false;
  std::string null_literal;
  bool has_null_literal = false;
  bool allow_comments = false;
  char escape = 0;
};
struct RegexOptions {
  std::string pattern;
};

struct FormatSpec {
  enum class Kind { kJson, kCsv, kRaw, kRegex } kind = Kind::kJson;
  JsonOptions json;
  CsvOptions csv;
  RegexOptions regex;
  SessionZone zone;
  uint64_t max_record_bytes = 1 << 20;
  // Of the table, read or not: a CSV record with another number of fields is a dead letter.
  size_t physical_columns = 0;
};

// A block of input handed to a decoder. `bytes` is followed by kDecodePadding readable bytes (zeros
// at the end of input).
inline constexpr size_t kDecodePadding = 64;

struct DecodeResult {
  // Bytes that belong to whole records (rows, dead letters, skipped), or to a line that is already
  // longer than a record may be (end_position stays at its begin); the rest is presented again.
  size_t consumed = 0;
  // Nothing more can be decoded without more bytes. False: stopped at max_rows rows or non-rows.
  bool need_more = false;
};

// Stateless between records, but for CSV's header mapping (BeginPartition) and a line that is
// longer than a record may be and whose end has not come yet.
class RowDecoder {
 public:
  virtual ~RowDecoder() = default;
  // Decodes records from `block` (which begins at `position` of its partition) into `out`,
  // appending rows until out.rows() == max_rows or the block has no whole record left. `final`: no
  // bytes follow the block (a last record without newline counts). Appends to out: owned columns
  // named by the fields' batch_column, positions (start of each record), non_rows; sets
  // end_position.
  virtual DecodeResult Decode(std::string_view block, int64_t position, bool final,
                              uint32_t max_rows, Batch& out) = 0;
  // One record that is the whole value (Kafka; a JSON value may span lines). Appends one row or one
  // non-row.
  virtual void DecodeValue(std::string_view value, int64_t position, Batch& out) = 0;
  // Around many DecodeValue for one batch: the columns get room for up to `rows` rows more at once,
  // and until EndValues are longer than out.rows(). Whoever does not say so pays for it with each
  // value.
  virtual void BeginValues(uint32_t /*rows*/, Batch& /*out*/) {}
  virtual void EndValues(Batch& /*out*/) {}
  // CSV with header: called with the partition's first bytes before the first Decode, also after a
  // restart in the middle of the file. Returns the length of the header record, 0 when the format
  // has none, or an error (a wanted column is not in the header; need more bytes: kUnavailable
  // unless final).
  virtual Result<size_t> BeginPartition(std::string_view first_bytes, bool final) = 0;
};

// Error: the pattern does not compile, a wanted group is missing, a type is not supported by the
// format.
Result<std::unique_ptr<RowDecoder>> NewRowDecoder(const FormatSpec& spec,
                                                  const std::vector<DecodeField>& fields);

// Writes selected rows as bytes. Rows that cannot be written (NaN in JSON, bytes that are no UTF-8)
// never reach here: Check says so before.
class RowEncoder {
 public:
  virtual ~RowEncoder() = default;
  // Empty when the row can be written; else why not ("NaN cannot be written to JSON").
  virtual std::string_view Check(const Batch& batch, uint32_t row) const = 0;
  // With its line feed.
  virtual void Append(const Batch& batch, uint32_t row, std::string& out) const = 0;
  virtual std::string Header() const = 0;  // csv.header: the first line of a file; "" otherwise
};
Result<std::unique_ptr<RowEncoder>> NewRowEncoder(const FormatSpec& spec, const Schema& schema);

// The JSON text of one row, for the `record` column of dead letters. Always succeeds (NaN and Inf
// as strings).
void AppendRecordJson(const Batch& batch, uint32_t row, const Schema& schema, std::string& out);

}  // namespace weir

#endif  // WEIR_DATA_FORMAT_H_
