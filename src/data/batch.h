// Batch: some thousand rows as columns. The unit in which rows move between nodes.
//
// A batch comes from one partition of one source (or from one firing of a window), owns or borrows
// its columns, and has a selection: the rows that are still in. Operators narrow the selection or
// build a new batch; nothing allocates per row. A borrowed column, and every string_view in a
// column, lives at least as long as the batch that was handed to Push: who keeps rows beyond that
// call copies them (AppendRow).
#ifndef WEIR_DATA_BATCH_H_
#define WEIR_DATA_BATCH_H_

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/ids.h"
#include "data/types.h"

namespace weir {

// Bump allocator of string bytes. Addresses stay until Clear.
class Arena {
 public:
  explicit Arena(size_t chunk_bytes = 64 << 10) : chunk_bytes_(chunk_bytes) {}
  // The moved-from arena is empty and may be used again.
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  char* Allocate(size_t n) {
    if (n <= static_cast<size_t>(end_ - at_)) {
      char* p = at_;
      at_ += n;
      return p;
    }
    return AllocateSlow(n);
  }
  // Room for n bytes at the bump pointer without taking them; Commit takes a prefix of the last
  // Reserve.
  char* Reserve(size_t n) {
    if (n > static_cast<size_t>(end_ - at_)) NewChunk(n);
    return at_;
  }
  void Commit(char* end) { at_ = end; }
  // With Rewind: undo what one refused row took. Where the row began a new chunk in between, what
  // it took from the older one stays taken: the mark is no place in the chunk that is filled now.
  char* mark() const { return at_; }
  void Rewind(char* mark) {
    if (reinterpret_cast<uintptr_t>(mark) - reinterpret_cast<uintptr_t>(begin_) <=
        static_cast<uintptr_t>(at_ - begin_)) {
      at_ = mark;
    }
  }
  std::string_view Copy(std::string_view s) {
    if (s.empty()) return {};
    char* p = Allocate(s.size());
    std::memcpy(p, s.data(), s.size());
    return {p, s.size()};
  }
  void Clear();  // keeps the first chunk
  size_t bytes() const { return total_; }

 private:
  char* AllocateSlow(size_t n);
  void NewChunk(size_t n);
  size_t chunk_bytes_;
  size_t total_ = 0;
  char* begin_ = nullptr;  // of the chunk that is filled now
  char* at_ = nullptr;
  char* end_ = nullptr;
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Chunk> chunks_;
};

// One column of `size()` values. valid[i] == 0: NULL, and the value slot holds anything. Values are
// valid for rows in the selection only.
class Column {
 public:
  Column() = default;
  explicit Column(const Type& type) : type(type) {}

  Type type;
  std::vector<uint8_t> valid;  // one byte a row: 1 = not NULL
  // Exactly one of these is used, by type.physical().
  std::vector<uint8_t> bools;
  std::vector<int64_t> ints;  // integers, dates, timestamps (ticks), intervals (ms)
  std::vector<double> doubles;
  std::vector<Int128> decimals;  // unscaled value
  std::vector<std::string_view> strings;

  void Resize(size_t rows);  // new rows are NULL-able garbage: set valid and value
  void Clear() { Resize(0); }
  size_t size() const { return valid.size(); }
  bool IsNull(size_t row) const { return valid[row] == 0; }
  // Appends row `row` of `from` (same physical type); strings are copied into `arena`.
  void AppendFrom(const Column& from, size_t row, Arena& arena);
  void AppendNull();
};

// No time of a record is known.
inline constexpr int64_t kNoRecordTime = INT64_MIN;

// Something at a source position that is no row: a record that could not be decoded, or one that is
// skipped (an empty line, a tombstone). Kept in reading order beside the rows, because it is
// counted when the reader passes it.
struct NonRow {
  uint32_t before_row = 0;  // it lies before this row of the batch (== rows: after the last)
  bool skipped = false;     // true: counted as skipped; false: a dead letter
  int64_t pos = 0;          // where the record begins (bytes; Kafka: offset)
  int64_t next_pos = 0;     // where the next record begins
  std::string code;         // dead letter: short stable word, e.g. "json.syntax"
  std::string message;      // for people: names column and value (shortened)
  std::string raw;          // the record's bytes, at most weir.max-record-bytes
  uint64_t count = 1;       // skipped: so many records in a row (control records, aborted ones)
  int64_t record_ms = kNoRecordTime;  // dead letter: as in Batch
};

class Batch {
 public:
  Batch() = default;
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  Batch(Batch&&) = default;
  Batch& operator=(Batch&&) = default;

  uint32_t rows() const { return rows_; }
  size_t column_count() const { return columns_.size(); }
  const Column& column(size_t i) const { return *columns_[i]; }

  // Drops everything and makes `schema.fields.size()` owned columns of `rows` rows (memory is
  // reused).
  void Reset(const Schema& schema, uint32_t rows = 0);
  // Drops everything; columns are then added with Borrow and Own, in order.
  void ResetEmpty(uint32_t rows);
  void Borrow(const Column& column);
  Column& Own(const Type& type);
  Column& mutable_column(size_t i);  // only of an owned one
  void SetRows(uint32_t rows) { rows_ = rows; }
  // Sets rows(), and the size of all owned columns, and of watermarks and positions where they are
  // in use (not empty).
  void ResizeOwned(uint32_t rows);

  // The rows still in, ascending. Without one, all rows are in.
  bool has_selection() const { return has_selection_; }
  std::span<const uint32_t> selection() const {
    WEIR_CHECK(has_selection_);
    return selection_;
  }
  void SetSelection(std::vector<uint32_t> rows) {
    selection_ = std::move(rows);
    has_selection_ = true;
  }
  void ClearSelection() {
    has_selection_ = false;
    selection_.clear();
  }
  uint32_t selected_count() const {
    return has_selection_ ? static_cast<uint32_t>(selection_.size()) : rows_;
  }
  template <class F>
  void ForEachSelected(F&& f) const {
    if (has_selection_) {
      for (uint32_t r : selection_) f(r);
    } else {
      for (uint32_t r = 0; r < rows_; ++r) f(r);
    }
  }

  // Per row, either empty or rows() long.
  std::vector<TimestampMs> watermarks;  // what the rows before this one made (time.md)
  std::vector<int64_t> positions;       // where the row's record begins in its partition
  // Raw batches of sources whose records have a time of their own (Kafka), else empty: ms since
  // 1970 or kNoRecordTime, and whether the broker's clock set it on arrival. Not inherited.
  std::vector<int64_t> record_ms;
  std::vector<uint8_t> record_by_broker;
  // Raw batches of a source whose records may carry a watermark (weir-wm), else empty:
  // kWatermarkNone where one carries none. Not inherited.
  std::vector<TimestampMs> upstream_watermarks;
  // Per batch: where the rows come from. partition -1: not from a source (a fired window).
  int32_t partition = -1;
  std::string_view source;   // table name, owned by the plan
  int64_t end_position = 0;  // sources: where the record after the last one of this batch begins
  std::vector<NonRow> non_rows;  // sources: in order of before_row

  // Copies provenance (watermarks, positions, partition, source) from the batch that this one is
  // computed from.
  void InheritProvenance(const Batch& from);
  Arena& arena() { return arena_; }
  // Appends one row of `from` (same physical types, column by column) with its provenance; strings
  // are copied. All columns of this batch are owned. The first row also brings partition and
  // source.
  void AppendRow(const Batch& from, uint32_t row);

 private:
  std::vector<const Column*> columns_;
  std::vector<std::unique_ptr<Column>> owned_;  // stable addresses; reused between batches
  size_t owned_used_ = 0;
  std::vector<uint32_t> selection_;
  bool has_selection_ = false;
  uint32_t rows_ = 0;
  Arena arena_;
};

}  // namespace weir

#endif  // WEIR_DATA_BATCH_H_
