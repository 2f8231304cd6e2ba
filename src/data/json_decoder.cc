#include "data/json_decoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "data/json_row.h"
#include "data/json_scan.h"
#include "data/record_reader.h"

namespace weir {
namespace {

constexpr size_t kShortestRow = 3;  // {} and its line feed

// Bytes that end with a line feed: lines of the block, or a copy of its unfinished last one.
struct Lines {
  const char* begin;
  const char* end;
  int64_t position;   // of `begin` in the partition
  size_t real_bytes;  // without a line feed that is not in the input
};

class JsonDecoder final : public RowDecoder {
 public:
  JsonDecoder(const FormatSpec& spec, const std::vector<DecodeField>& fields)
      : reader_(spec, fields), long_line_(spec.max_record_bytes) {}

  DecodeResult Decode(std::string_view block, int64_t position, bool final, uint32_t max_rows,
                      Batch& out) override;
  void DecodeValue(std::string_view value, int64_t position, Batch& out) override;
  void BeginValues(uint32_t rows, Batch& out) override;
  void EndValues(Batch& out) override;
  Result<size_t> BeginPartition(std::string_view, bool) override {
    long_line_.Forget();
    return size_t{0};
  }

 private:
  size_t DecodeLines(const Lines& lines, uint32_t max_rows, Batch& out);
  size_t DecodeTail(std::string_view tail, int64_t position, uint32_t max_rows, Batch& out);
  const char* NoRow(const char* p, const char* record, const Lines& lines, uint32_t row,
                    Batch& out);
  bool TooLong(const char* record, const char* next) const {
    return long_line_.TooLong(static_cast<size_t>(next - record) - 1);
  }
  DeadReason Refusal(const char* begin) const { return {reader_.Code(), reader_.Message(begin)}; }

  json::RowReader reader_;
  LongLine long_line_;
  std::string padded_;  // a record that needs a line feed and padding behind it
  uint32_t values_end_ =
      0;  // between BeginValues and EndValues: rows that the columns have room for
};

bool StartsWithMark(const Lines& lines) {
  return std::string_view(lines.begin, static_cast<size_t>(lines.end - lines.begin))
      .starts_with(kByteOrderMark);
}

void CopyPadded(std::string_view record, std::string& out) {
  // Its length only grows: what stands behind the line feed is padding, whatever it is.
  const size_t size = record.size() + 1 + kDecodePadding;
  if (out.size() < size) out.resize(size + size / 2);
  if (!record.empty()) std::memcpy(out.data(), record.data(), record.size());
  out[record.size()] = '\n';
}

DecodeResult JsonDecoder::Decode(std::string_view block, int64_t position, bool final,
                                 uint32_t max_rows, Batch& out) {
  size_t at = 0;
  long_line_.ForgetUnlessAt(position);
  if (long_line_.open()) {
    at = long_line_.Continue(block, position, final, out);
    if (long_line_.open()) return {at, true};
  }
  const void* const last =
      at == block.size() ? nullptr : memrchr(block.data() + at, '\n', block.size() - at);
  const size_t tail_at =
      last == nullptr ? at : static_cast<size_t>(static_cast<const char*>(last) - block.data()) + 1;
  at += DecodeLines({block.data() + at, block.data() + tail_at, position + static_cast<int64_t>(at),
                     tail_at - at},
                    max_rows, out);
  bool stopped = at < tail_at;
  const std::string_view tail = block.substr(tail_at);
  if (!stopped && !tail.empty()) {
    const int64_t tail_position = position + static_cast<int64_t>(tail_at);
    if (final) {
      at += DecodeTail(tail, tail_position, max_rows, out);
      stopped = at < block.size();
    } else if (long_line_.TooLong(tail.size())) {
      long_line_.Begin(tail, tail_position, out);
      return {block.size(), true};
    }
  }
  out.end_position = position + static_cast<int64_t>(at);
  return {at, !stopped};
}

// Returns how many bytes of the lines were decoded.
size_t JsonDecoder::DecodeLines(const Lines& lines, uint32_t max_rows, Batch& out) {
  const uint32_t first = out.rows();
  if (first >= max_rows || lines.begin == lines.end) return 0;
  const size_t at_most = static_cast<size_t>(lines.end - lines.begin) / kShortestRow + 1;
  const uint32_t last = first + static_cast<uint32_t>(std::min<size_t>(at_most, max_rows - first));
  out.positions.resize(last);
  reader_.Open(out, first, last);
  reader_.SetBase(lines.begin, lines.begin);

  const size_t non_rows_max = out.non_rows.size() + max_rows;
  int64_t* const positions = out.positions.data();
  const char* p = lines.begin;
  // The mark belongs to the first record's bytes, but is none of its text.
  size_t mark = lines.position == 0 && StartsWithMark(lines) ? kByteOrderMark.size() : 0;
  uint32_t row = first;
  while (p < lines.end && row < last && out.non_rows.size() < non_rows_max) {
    const char* const record = p + mark;
    const char* const next = json::IsBlankLine(record) ? nullptr : reader_.Read(record, row);
    if (__builtin_expect(next != nullptr && !TooLong(record, next), 1)) {
      positions[row++] = lines.position + (p - lines.begin);
      p = next;
    } else {
      if (next != nullptr) reader_.Discard(row);
      p = NoRow(p, record, lines, row, out);
    }
    mark = 0;
  }
  reader_.Close(out, row);
  return std::min(static_cast<size_t>(p - lines.begin), lines.real_bytes);
}

// The last record, which has no line feed: read from a copy that has one.
size_t JsonDecoder::DecodeTail(std::string_view tail, int64_t position, uint32_t max_rows,
                               Batch& out) {
  CopyPadded(tail, padded_);
  const char* const begin = padded_.data();
  return DecodeLines({begin, begin + tail.size() + 1, position, tail.size()}, max_rows, out);
}

// Appends what the record at p is instead of a row. Its end is searched for only now: a row that is
// read finds its own. Returns the next record.
const char* JsonDecoder::NoRow(const char* p, const char* record, const Lines& lines, uint32_t row,
                               Batch& out) {
  const char* const feed =
      static_cast<const char*>(std::memchr(record, '\n', static_cast<size_t>(lines.end - record)));
  const std::string_view raw(record, static_cast<size_t>(feed - record));
  const size_t next = std::min(static_cast<size_t>(feed + 1 - lines.begin), lines.real_bytes);
  const int64_t position = lines.position + (p - lines.begin);
  const int64_t next_position = lines.position + static_cast<int64_t>(next);
  if (long_line_.TooLong(raw.size())) {
    out.non_rows.push_back(long_line_.Dead(raw, position, next_position, row));
  } else if (json::IsBlankLine(record)) {
    out.non_rows.push_back(SkippedRecord(position, next_position, row));
  } else {
    out.non_rows.push_back(DeadRecord(position, next_position, row, Refusal(record), raw));
  }
  return feed + 1;
}

void JsonDecoder::DecodeValue(std::string_view value, int64_t position, Batch& out) {
  const uint32_t row = out.rows();
  const int64_t next = position + 1;
  out.end_position = next;
  if (long_line_.TooLong(value.size())) {
    out.non_rows.push_back(long_line_.Dead(value, position, next, row));
    return;
  }
  CopyPadded(value, padded_);
  // A line feed is white space here. As a carriage return it is that for the row reader too, and
  // in a string as wrong.
  if (value.find('\n') != std::string_view::npos) {
    std::replace(padded_.begin(), padded_.begin() + static_cast<std::ptrdiff_t>(value.size()), '\n',
                 '\r');
  }
  if (*json::SkipBlanks(padded_.data()) == '\n') {
    out.non_rows.push_back(SkippedRecord(position, next, row));
    return;
  }
  const bool alone = row >= values_end_;
  if (alone) BeginValues(1, out);
  reader_.AttachStrings(out);
  reader_.SetBase(padded_.data(), value.data());
  const bool good = reader_.Read(padded_.data(), row) != nullptr;
  reader_.DetachStrings();
  if (good) {
    out.positions[row] = position;
    out.SetRows(row + 1);
  } else {
    out.non_rows.push_back(DeadRecord(position, next, row, Refusal(padded_.data()), value));
  }
  if (alone) EndValues(out);
}

void JsonDecoder::BeginValues(uint32_t rows, Batch& out) {
  const uint32_t first = out.rows();
  values_end_ = first + rows;
  out.positions.resize(values_end_);
  reader_.Bind(out, first, values_end_);
  out.SetRows(first);
}

void JsonDecoder::EndValues(Batch& out) {
  values_end_ = 0;
  out.ResizeOwned(out.rows());
}

}  // namespace

std::unique_ptr<RowDecoder> NewJsonDecoder(const FormatSpec& spec,
                                           const std::vector<DecodeField>& fields) {
  return std::make_unique<JsonDecoder>(spec, fields);
}

}  // namespace weir
