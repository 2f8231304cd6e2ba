// What the decoders of lines and of CSV share: dead letters, the columns to fill, and lines that
// are longer than any record may be.
#ifndef WEIR_DATA_RECORD_READER_H_
#define WEIR_DATA_RECORD_READER_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/format.h"

namespace weir {

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct DeadReason {
  std::string code;
  std::string message;
};

// The columns of a batch that a decoder fills, while it fills them.
class FieldColumns {
 public:
  FieldColumns(const FormatSpec& spec, const std::vector<DecodeField>& fields)
      : zone_(spec.zone), fields_(fields), columns_(fields.size()) {}

  // Makes room up to row `last`.
  void Open(Batch& batch, uint32_t last);
  void Close(Batch& batch, uint32_t rows) { batch.ResizeOwned(rows); }

  size_t size() const { return fields_.size(); }
  const DecodeField& field(size_t i) const { return fields_[i]; }
  // Sets field i of `row`. False: `dead` says why not.
  bool SetText(size_t i, std::string_view text, uint32_t row, Batch& batch, DeadReason& dead);
  bool SetNull(size_t i, uint32_t row, DeadReason& dead);

 private:
  SessionZone zone_;
  std::vector<DecodeField> fields_;
  std::vector<Column*> columns_;
};

// Checks a whole record; `format` begins the code.
bool CheckUtf8(std::string_view record, std::string_view format, DeadReason& dead);

NonRow SkippedRecord(int64_t position, int64_t next, uint32_t before_row);
NonRow DeadRecord(int64_t position, int64_t next, uint32_t before_row, DeadReason reason,
                  std::string_view raw);

// A line beyond max_record_bytes without a line feed in the block: consumed piece by piece, so that
// memory stays bounded, and one dead letter when its line feed comes or the input ends.
// Batch::end_position stays at its begin meanwhile: a restart from there starts over with the whole
// line. A block at another position than the expected next one forgets it.
class LongLine {
 public:
  explicit LongLine(uint64_t max_record_bytes) : max_(max_record_bytes) {}
  bool TooLong(size_t bytes) const { return bytes > max_; }
  // Of a line whose end is not there yet: its last byte may be the CR of the line end.
  bool UnendedTooLong(size_t bytes) const { return bytes > max_ + 1; }
  bool open() const { return open_; }
  void Forget() { *this = LongLine(max_); }
  void ForgetUnlessAt(int64_t position) {
    if (open_ && next_ != position) Forget();
  }
  // `tail`, longer than the limit, ends the block and has no line feed.
  void Begin(std::string_view tail, int64_t position, Batch& out);
  // How much of the block still belongs to the line; open() afterwards: all of it.
  size_t Continue(std::string_view block, int64_t position, bool final, Batch& out);
  // A long line that is in the block as a whole.
  NonRow Dead(std::string_view line, int64_t position, int64_t next, uint32_t before_row) const;

 private:
  uint64_t max_;
  bool open_ = false;
  int64_t begin_ = 0;
  int64_t next_ = 0;
  std::string raw_;
};

}  // namespace weir

#endif  // WEIR_DATA_RECORD_READER_H_
