// Decoders of records that are lines: raw and regex. A line ends with LF or CR LF; a byte order
// mark is skipped at position 0 of a partition.
#ifndef WEIR_DATA_LINE_DECODER_H_
#define WEIR_DATA_LINE_DECODER_H_

#include <memory>
#include <string_view>
#include <vector>

#include "data/format.h"
#include "data/record_reader.h"

namespace weir {

class LineDecoder : public RowDecoder {
 public:
  LineDecoder(const FormatSpec& spec, const std::vector<DecodeField>& fields)
      : columns_(spec, fields), long_line_(spec.max_record_bytes) {}

  DecodeResult Decode(std::string_view block, int64_t position, bool final, uint32_t max_rows,
                      Batch& out) final;
  void DecodeValue(std::string_view value, int64_t position, Batch& out) final;
  Result<size_t> BeginPartition(std::string_view first_bytes, bool final) final;

 protected:
  enum class Outcome { kRow, kSkipped, kDead };
  // Sets all fields of `row` from the line (without its end).
  virtual Outcome ReadLine(std::string_view line, uint32_t row, Batch& out, DeadReason& dead) = 0;
  // Whether the bytes of a mark at the begin of the input are no text.
  virtual bool SkipsByteOrderMark() const = 0;

  FieldColumns columns_;

 private:
  void Put(std::string_view line, int64_t position, int64_t next, uint32_t& row, Batch& out);
  LongLine long_line_;
};

// One STRING or BYTES column holds the whole line; an empty line is a row too. Code of dead
// letters: raw.utf8.
Result<std::unique_ptr<RowDecoder>> NewRawDecoder(const FormatSpec& spec,
                                                  const std::vector<DecodeField>& fields);

// Named groups of regex.pattern into the columns of these names. The pattern must match the whole
// line: a prefix that matched would drop the rest without a word. A group that took no part, or
// matched nothing, is NULL. An empty line that does not match is skipped. Codes: regex.no-match,
// regex.utf8, value, null.
Result<std::unique_ptr<RowDecoder>> NewRegexDecoder(const FormatSpec& spec,
                                                    const std::vector<DecodeField>& fields);

}  // namespace weir

#endif  // WEIR_DATA_LINE_DECODER_H_
