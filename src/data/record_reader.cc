#include "data/record_reader.h"

#include <cstring>

#include "data/convert.h"
#include "data/utf8.h"

namespace weir {

void FieldColumns::Open(Batch& batch, uint32_t last) {
  batch.ResizeOwned(last);
  for (size_t i = 0; i < fields_.size(); ++i) {
    columns_[i] = &batch.mutable_column(static_cast<size_t>(fields_[i].batch_column));
  }
}

bool FieldColumns::SetText(size_t i, std::string_view text, uint32_t row, Batch& batch,
                           DeadReason& dead) {
  const Type& type = fields_[i].type;
  const ConvertResult r =
      TextToColumn(text, type, zone_, TextRules::kField, *columns_[i], row, batch.arena());
  if (r.ok()) return true;
  dead = {"value", "column " + fields_[i].name + ": " + DescribeProblem(text, type, r)};
  return false;
}

bool FieldColumns::SetNull(size_t i, uint32_t row, DeadReason& dead) {
  columns_[i]->valid[row] = 0;
  if (fields_[i].type.nullable) return true;
  dead = {"null", "column " + fields_[i].name + ": NULL, but the column is NOT NULL"};
  return false;
}

bool CheckUtf8(std::string_view record, std::string_view format, DeadReason& dead) {
  const size_t good = ValidUtf8Length(record);
  if (good == record.size()) return true;
  dead = {std::string(format) + ".utf8",
          std::string(Utf8Problem(record.substr(good))) + " at byte " + std::to_string(good)};
  return false;
}

NonRow SkippedRecord(int64_t position, int64_t next, uint32_t before_row) {
  NonRow r;
  r.before_row = before_row;
  r.skipped = true;
  r.pos = position;
  r.next_pos = next;
  return r;
}

NonRow DeadRecord(int64_t position, int64_t next, uint32_t before_row, DeadReason reason,
                  std::string_view raw) {
  NonRow r;
  r.before_row = before_row;
  r.pos = position;
  r.next_pos = next;
  r.code = std::move(reason.code);
  r.message = std::move(reason.message);
  r.raw = std::string(raw);
  return r;
}

NonRow LongLine::Dead(std::string_view line, int64_t position, int64_t next,
                      uint32_t before_row) const {
  return DeadRecord(position, next, before_row,
                    {"record.too-long", "the record is longer than weir.max-record-bytes (" +
                                            std::to_string(max_) + ")"},
                    line.substr(0, max_));
}

void LongLine::Begin(std::string_view tail, int64_t position, Batch& out) {
  open_ = true;
  begin_ = position;
  next_ = position + static_cast<int64_t>(tail.size());
  raw_ = std::string(tail.substr(0, max_));
  out.end_position = begin_;
}

size_t LongLine::Continue(std::string_view block, int64_t position, bool final, Batch& out) {
  const size_t feed = block.find('\n');
  const bool ends = feed != std::string_view::npos;
  const size_t size = ends ? feed + 1 : block.size();
  next_ = position + static_cast<int64_t>(size);
  if (!ends && !final) {
    out.end_position = begin_;
    return size;
  }
  out.non_rows.push_back(Dead(raw_, begin_, next_, out.rows()));
  out.end_position = next_;
  Forget();
  return size;
}

}  // namespace weir
