// One CSV record in memory: where its fields are and where it ends. RFC 4180, and as lenient as
// common readers about a quote inside an unquoted field (it is text) - but not about text behind a
// closing quote (it is a bad record).
#ifndef WEIR_DATA_CSV_SCAN_H_
#define WEIR_DATA_CSV_SCAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/format.h"

namespace weir {

struct CsvField {
  std::string_view text;  // between the quotes, as it stands in the record
  bool quoted = false;
  bool encoded = false;  // holds doubled quotes or escapes: its value is CsvValue()
};

struct CsvRecord {
  enum class State {
    kWhole,
    kNeedMore,      // the bytes end inside the record
    kTooLong,       // no end within the limit
    kUnterminated,  // the input ends inside quotes
    kAfterQuote,    // text behind a closing quote
  } state = State::kNeedMore;
  std::string_view bytes;  // without the line end (kWhole), else up to where scanning stopped
  size_t size = 0;         // with the line end
};

class CsvScanner {
 public:
  CsvScanner(const CsvOptions& options, uint64_t max_record_bytes)
      : delimiter_(options.delimiter),
        quote_(options.quote),
        escape_(options.escape),
        max_(max_record_bytes) {}

  // The record at the begin of `input`; fields() are valid until the next call. `final`: no bytes
  // follow.
  CsvRecord Scan(std::string_view input, bool final);
  const std::vector<CsvField>& fields() const { return fields_; }

  // The field's value; `scratch` holds it where it is not the text itself.
  std::string_view Value(const CsvField& field, std::string& scratch) const;

 private:
  void SplitPlain(std::string_view line);
  // Each returns true at the record's end, false with record.state set.
  bool ScanQuoted(std::string_view input, size_t& at, bool final, CsvRecord& record);
  bool ScanUnquoted(std::string_view input, size_t& at, bool final, CsvRecord& record);
  CsvRecord ScanSlowly(std::string_view input, bool final);

  char delimiter_;
  char quote_;   // 0: none
  char escape_;  // 0: none
  uint64_t max_;
  std::vector<CsvField> fields_;
};

}  // namespace weir

#endif  // WEIR_DATA_CSV_SCAN_H_
