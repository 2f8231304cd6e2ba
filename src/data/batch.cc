#include "data/batch.h"

#include <utility>

namespace weir {

Arena::Arena(Arena&& other) noexcept
    : chunk_bytes_(other.chunk_bytes_),
      total_(std::exchange(other.total_, 0)),
      begin_(std::exchange(other.begin_, nullptr)),
      at_(std::exchange(other.at_, nullptr)),
      end_(std::exchange(other.end_, nullptr)),
      chunks_(std::move(other.chunks_)) {
  other.chunks_.clear();
}

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this == &other) return *this;
  chunk_bytes_ = other.chunk_bytes_;
  total_ = std::exchange(other.total_, 0);
  begin_ = std::exchange(other.begin_, nullptr);
  at_ = std::exchange(other.at_, nullptr);
  end_ = std::exchange(other.end_, nullptr);
  chunks_ = std::move(other.chunks_);
  other.chunks_.clear();
  return *this;
}

void Arena::Clear() {
  if (chunks_.size() > 1) chunks_.resize(1);
  begin_ = at_ = chunks_.empty() ? nullptr : chunks_[0].bytes.get();
  end_ = chunks_.empty() ? nullptr : begin_ + chunks_[0].size;
  total_ = chunks_.empty() ? 0 : chunks_[0].size;
}

char* Arena::AllocateSlow(size_t n) {
  NewChunk(n);
  char* p = at_;
  at_ += n;
  return p;
}

void Arena::NewChunk(size_t n) {
  const size_t size = n > chunk_bytes_ ? n : chunk_bytes_;
  chunks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
  total_ += size;
  begin_ = at_ = chunks_.back().bytes.get();
  end_ = begin_ + size;
}

void Column::Resize(size_t rows) {
  valid.resize(rows);
  switch (type.physical()) {
    case Physical::kBool:
      bools.resize(rows);
      return;
    case Physical::kInt64:
      ints.resize(rows);
      return;
    case Physical::kDouble:
      doubles.resize(rows);
      return;
    case Physical::kInt128:
      decimals.resize(rows);
      return;
    case Physical::kString:
      strings.resize(rows);
      return;
  }
}

void Column::AppendFrom(const Column& from, size_t row, Arena& arena) {
  if (from.IsNull(row)) return AppendNull();
  valid.push_back(1);
  switch (type.physical()) {
    case Physical::kBool:
      bools.push_back(from.bools[row]);
      return;
    case Physical::kInt64:
      ints.push_back(from.ints[row]);
      return;
    case Physical::kDouble:
      doubles.push_back(from.doubles[row]);
      return;
    case Physical::kInt128:
      decimals.push_back(from.decimals[row]);
      return;
    case Physical::kString:
      strings.push_back(arena.Copy(from.strings[row]));
      return;
  }
}

void Column::AppendNull() {
  const size_t row = size();
  Resize(row + 1);
  valid[row] = 0;
}

void Batch::ResetEmpty(uint32_t rows) {
  columns_.clear();
  owned_used_ = 0;
  selection_.clear();
  has_selection_ = false;
  rows_ = rows;
  arena_.Clear();
  watermarks.clear();
  positions.clear();
  record_ms.clear();
  record_by_broker.clear();
  upstream_watermarks.clear();
  partition = -1;
  source = {};
  end_position = 0;
  non_rows.clear();
}

void Batch::Reset(const Schema& schema, uint32_t rows) {
  ResetEmpty(rows);
  for (const Field& field : schema.fields) Own(field.type);
}

void Batch::Borrow(const Column& column) { columns_.push_back(&column); }

Column& Batch::Own(const Type& type) {
  if (owned_used_ == owned_.size()) owned_.push_back(std::make_unique<Column>());
  Column& column = *owned_[owned_used_++];
  if (column.type.physical() != type.physical()) column.Clear();
  column.type = type;
  column.Resize(rows_);
  columns_.push_back(&column);
  return column;
}

Column& Batch::mutable_column(size_t i) {
  if (i < owned_used_ && owned_[i].get() == columns_[i])
    return *owned_[i];  // nothing borrowed before it
  for (size_t k = 0; k < owned_used_; ++k) {
    if (owned_[k].get() == columns_[i]) return *owned_[k];
  }
  CHECK(false && "the column is borrowed");
  __builtin_unreachable();
}

void Batch::ResizeOwned(uint32_t rows) {
  rows_ = rows;
  for (size_t k = 0; k < owned_used_; ++k) owned_[k]->Resize(rows);
  if (!watermarks.empty()) watermarks.resize(rows);
  if (!positions.empty()) positions.resize(rows);
}

void Batch::InheritProvenance(const Batch& from) {
  watermarks = from.watermarks;
  positions = from.positions;
  partition = from.partition;
  source = from.source;
}

void Batch::AppendRow(const Batch& from, uint32_t row) {
  CHECK(owned_used_ == columns_.size() && columns_.size() == from.column_count());
  CHECK(row < from.rows());
  if (rows_ == 0) {
    partition = from.partition;
    source = from.source;
  }
  for (size_t i = 0; i < owned_used_; ++i) owned_[i]->AppendFrom(from.column(i), row, arena_);
  if (!from.watermarks.empty()) watermarks.push_back(from.watermarks[row]);
  if (!from.positions.empty()) positions.push_back(from.positions[row]);
  ++rows_;
}

}  // namespace weir
