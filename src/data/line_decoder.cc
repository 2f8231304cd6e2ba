#include "data/line_decoder.h"

#include <algorithm>
#include <cstring>

namespace weir {

Result<size_t> LineDecoder::BeginPartition(std::string_view, bool) {
  long_line_.Forget();
  return size_t{0};
}

DecodeResult LineDecoder::Decode(std::string_view block, int64_t position, bool final,
                                 uint32_t max_rows, Batch& out) {
  size_t at = 0;
  long_line_.ForgetUnlessAt(position);
  if (long_line_.open()) {
    at = long_line_.Continue(block, position, final, out);
    if (long_line_.open()) return {at, true};
  }
  const uint32_t first = out.rows();
  if (first >= max_rows) {
    out.end_position = position + static_cast<int64_t>(at);
    return {at, at == block.size()};
  }
  // A line has one byte at least.
  const uint32_t last =
      first + static_cast<uint32_t>(std::min<size_t>(block.size() - at, max_rows - first));
  columns_.Open(out, last);
  out.positions.resize(last);
  const size_t non_rows_max = out.non_rows.size() + max_rows;
  uint32_t row = first;
  bool need_more = false;
  while (row < last && out.non_rows.size() < non_rows_max) {
    if (at == block.size()) break;
    const char* const p = block.data() + at;
    const size_t left = block.size() - at;
    const void* const feed = std::memchr(p, '\n', left);
    if (feed == nullptr && !final) {
      need_more = true;
      break;
    }
    size_t size = feed == nullptr ? left : static_cast<size_t>(static_cast<const char*>(feed) - p);
    const int64_t begin = position + static_cast<int64_t>(at);
    at += size + (feed == nullptr ? 0 : 1);
    if (size > 0 && p[size - 1] == '\r') --size;
    std::string_view line(p, size);
    if (begin == 0 && SkipsByteOrderMark() && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
      if (line.empty() && feed == nullptr) continue;  // the mark alone is no line
    }
    Put(line, begin, position + static_cast<int64_t>(at), row, out);
  }
  columns_.Close(out, row);
  out.positions.resize(row);
  out.end_position = position + static_cast<int64_t>(at);
  const std::string_view tail = block.substr(at);
  if (need_more && long_line_.UnendedTooLong(tail.size())) {
    long_line_.Begin(tail, out.end_position, out);
    at = block.size();
  }
  return {at, need_more || at == block.size()};
}

void LineDecoder::Put(std::string_view line, int64_t position, int64_t next, uint32_t& row,
                      Batch& out) {
  if (long_line_.TooLong(line.size())) {
    out.non_rows.push_back(long_line_.Dead(line, position, next, row));
    return;
  }
  DeadReason dead;
  char* const mark = out.arena().mark();
  switch (ReadLine(line, row, out, dead)) {
    case Outcome::kRow:
      out.positions[row++] = position;
      return;
    case Outcome::kSkipped:
      out.non_rows.push_back(SkippedRecord(position, next, row));
      return;
    case Outcome::kDead:
      out.arena().Rewind(mark);
      out.non_rows.push_back(DeadRecord(position, next, row, std::move(dead), line));
      return;
  }
}

void LineDecoder::DecodeValue(std::string_view value, int64_t position, Batch& out) {
  uint32_t row = out.rows();
  columns_.Open(out, row + 1);
  out.positions.resize(row + 1);
  Put(value, position, position + 1, row, out);
  columns_.Close(out, row);
  out.positions.resize(row);
  out.end_position = position + 1;
}

namespace {

class RawDecoder final : public LineDecoder {
 public:
  RawDecoder(const FormatSpec& spec, const std::vector<DecodeField>& fields)
      : LineDecoder(spec, fields) {}

 private:
  bool text() const {
    return columns_.size() == 0 || columns_.field(0).type.kind == TypeKind::kString;
  }
  bool SkipsByteOrderMark() const override { return text(); }

  Outcome ReadLine(std::string_view line, uint32_t row, Batch& out, DeadReason& dead) override {
    if (columns_.size() == 0) return Outcome::kRow;  // rows are only counted
    if (!text()) {
      Column& c = out.mutable_column(static_cast<size_t>(columns_.field(0).batch_column));
      c.valid[row] = 1;
      c.strings[row] = out.arena().Copy(line);  // bytes as they are, not base64
      return Outcome::kRow;
    }
    const bool good = CheckUtf8(line, "raw", dead) && columns_.SetText(0, line, row, out, dead);
    return good ? Outcome::kRow : Outcome::kDead;
  }
};

}  // namespace

Result<std::unique_ptr<RowDecoder>> NewRawDecoder(const FormatSpec& spec,
                                                  const std::vector<DecodeField>& fields) {
  if (spec.physical_columns > 1 || fields.size() > 1) {
    return Fail(Code::kInvalid, "format 'raw' needs a table with one column, STRING or BYTES");
  }
  for (const DecodeField& f : fields) {
    if (f.type.kind != TypeKind::kString && f.type.kind != TypeKind::kBytes) {
      return Fail(
          Code::kInvalid,
          "column " + f.name + ": format 'raw' reads STRING or BYTES, not " + f.type.ToString());
    }
  }
  return std::make_unique<RawDecoder>(spec, fields);
}

}  // namespace weir
