// One row: from its first byte to its line feed, into the columns.
#ifndef WEIR_DATA_JSON_ROW_H_
#define WEIR_DATA_JSON_ROW_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "data/format.h"
#include "data/json_column.h"
#include "data/json_keys.h"

namespace weir::json {

class RowReader {
 public:
  RowReader(const FormatSpec& spec, const std::vector<DecodeField>& fields);

  // Makes room for rows [first, last) in the batch, which has owned columns, and fills them with
  // NULL.
  void Bind(Batch& batch, uint32_t first, uint32_t last);
  // While strings are attached nobody else may allocate from the batch's arena.
  void AttachStrings(Batch& batch) { context_.strings.Attach(batch.arena()); }
  void DetachStrings() { context_.strings.Detach(); }

  // Both at once, for a run of rows; Close leaves the batch with `rows` rows.
  void Open(Batch& batch, uint32_t first, uint32_t last);
  void Close(Batch& batch, uint32_t rows);

  // Where the bytes of the rows to come are read, and where messages and text take them from
  // (RowContext).
  void SetBase(const char* read, const char* original) {
    context_.read_base = read;
    context_.original_base = original;
  }
  // Reads the row at p, which a line feed ends. Returns the byte behind the line feed; nullptr: the
  // row is refused, see Code and Message. A refused row leaves NULLs in its columns.
  const char* Read(const char* p, uint32_t row);
  // Takes back what Read put into `row`.
  void Discard(uint32_t row);

  // Of the row refused last, which began at `begin`.
  const char* Code() const;
  std::string Message(const char* begin) const;

 private:
  template <bool kGuess>
  const char* ReadFields(const char* p, uint32_t row);
  const char* ReadGlue(const char* p, bool first, int& action);
  const char* LearnGlue(const char* p, bool first, const KeySlots::Slot* slot, int& action);
  const char* ReadKey(const char* p, int& action);
  JsonColumn* ColumnOf(int action) {
    return action >= 0 ? &columns_[static_cast<size_t>(action)] : nullptr;
  }
  bool Complete(uint32_t row);

  std::vector<JsonColumn> columns_;
  std::vector<Column*> targets_;  // of columns_, in the batch opened last: finding one is a search
  std::vector<uint32_t> not_null_;  // columns that must have a value
  KeyTable keys_;
  KeySlots slots_;
  RowContext context_;
  char* strings_mark_ = nullptr;
  // Why a complete object was refused: the column, and whether by its value (else by NULL).
  const JsonColumn* bad_column_ = nullptr;
  bool bad_value_ = false;
  std::string key_scratch_;
};

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_ROW_H_
