#include "data/json_decoder.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "data/json_row.h"
#include "data/json_scan.h"

namespace weir {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
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
      : reader_(spec, fields), max_record_bytes_(spec.max_record_bytes) {}

  DecodeResult Decode(std::string_view block, int64_t position, bool final, uint32_t max_rows,
                      Batch& out) override;
  void DecodeValue(std::string_view value, int64_t position, Batch& out) override;
  Result<size_t> BeginPartition(std::string_view, bool) override {
    long_line_ = {};
    return size_t{0};
  }

 private:
  // A line longer than max_record_bytes whose line feed has not come yet.
  struct LongLine {
    bool open = false;
    int64_t begin = 0;
    int64_t next = 0;  // where the next piece must begin
    std::string raw;
  };

  size_t DecodeLines(const Lines& lines, uint32_t max_rows, Batch& out);
  size_t DecodeTail(std::string_view tail, int64_t position, uint32_t max_rows, Batch& out);
  const char* DecodeLine(const char* p, const Lines& lines, uint32_t& row, Batch& out);
  size_t ContinueLongLine(std::string_view block, int64_t position, bool final, Batch& out);
  NonRow TooLong(int64_t begin, int64_t end, std::string raw) const;
  NonRow Refused(const char* begin, std::string_view raw) const;

  json::RowReader reader_;
  uint64_t max_record_bytes_;
  LongLine long_line_;
  std::string padded_;  // a record that needs a line feed and padding behind it
};

void CopyPadded(std::string_view record, std::string& out) {
  out.assign(record);
  out.push_back('\n');
  out.append(kDecodePadding, '\0');
}

DecodeResult JsonDecoder::Decode(std::string_view block, int64_t position, bool final,
                                 uint32_t max_rows, Batch& out) {
  size_t at = 0;
  size_t mark = 0;
  if (long_line_.open && long_line_.next != position) long_line_ = {};
  if (long_line_.open) {
    at = ContinueLongLine(block, position, final, out);
    if (long_line_.open) return {block.size(), true};
  } else if (position == 0 && block.starts_with(kByteOrderMark)) {
    at = mark = kByteOrderMark.size();
  }

  const void* last =
      at == block.size() ? nullptr : memrchr(block.data() + at, '\n', block.size() - at);
  const size_t tail_at =
      last == nullptr ? at : static_cast<size_t>(static_cast<const char*>(last) - block.data()) + 1;
  at += DecodeLines({block.data() + at, block.data() + tail_at, position + static_cast<int64_t>(at),
                     tail_at - at},
                    max_rows, out);

  const std::string_view tail = block.substr(tail_at);
  bool stopped = at < tail_at;
  if (!stopped && !tail.empty()) {
    const int64_t tail_position = position + static_cast<int64_t>(tail_at);
    if (final) {
      at += DecodeTail(tail, tail_position, max_rows, out);
      stopped = at < block.size();
    } else if (tail.size() > max_record_bytes_) {
      long_line_ = {true, tail_position, position + static_cast<int64_t>(block.size()),
                    std::string(tail.substr(0, max_record_bytes_))};
      out.end_position = tail_position;
      return {block.size(), true};
    } else if (at == mark) {
      at = 0;  // the mark alone is no record
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
  const uint32_t capacity =
      first + static_cast<uint32_t>(std::min<size_t>(at_most, max_rows - first));
  out.positions.resize(capacity);
  reader_.Open(out, first, capacity);
  reader_.SetBase(lines.begin, lines.begin);

  const size_t non_rows_max = out.non_rows.size() + max_rows;
  const char* p = lines.begin;
  uint32_t row = first;
  while (p < lines.end && row < capacity && out.non_rows.size() < non_rows_max)
    p = DecodeLine(p, lines, row, out);
  reader_.Close(out, row);
  return std::min(static_cast<size_t>(p - lines.begin), lines.real_bytes);
}

// The last record, which has no line feed: read from a copy that has one.
size_t JsonDecoder::DecodeTail(std::string_view tail, int64_t position, uint32_t max_rows,
                               Batch& out) {
  if (tail.size() > max_record_bytes_ && out.rows() < max_rows) {
    const int64_t end = position + static_cast<int64_t>(tail.size());
    out.non_rows.push_back(TooLong(position, end, std::string(tail.substr(0, max_record_bytes_))));
    out.non_rows.back().before_row = out.rows();
    return tail.size();
  }
  CopyPadded(tail, padded_);
  const char* const begin = padded_.data();
  return DecodeLines({begin, begin + tail.size() + 1, position, tail.size()}, max_rows, out);
}

// Reads the line at p into `row`, and moves `row` on, or appends a NonRow. Returns the next line.
const char* JsonDecoder::DecodeLine(const char* p, const Lines& lines, uint32_t& row, Batch& out) {
  const int64_t position = lines.position + (p - lines.begin);
  const bool empty = json::MayBeBlank(*p) && *json::SkipBlanks(p) == '\n';
  if (!empty) {
    const char* const next = reader_.Read(p, row);
    if (__builtin_expect(
            next != nullptr && static_cast<uint64_t>(next - p) <= max_record_bytes_ + 1, 1)) {
      out.positions[row++] = position;
      return next;
    }
    if (next != nullptr) reader_.Discard(row);
  }
  // No row. Its end is searched for only now: a row that is read finds its own.
  const char* const feed =
      static_cast<const char*>(std::memchr(p, '\n', static_cast<size_t>(lines.end - p)));
  const std::string_view raw(p, static_cast<size_t>(feed - p));
  const size_t next_at = std::min(static_cast<size_t>(feed + 1 - lines.begin), lines.real_bytes);
  NonRow non_row;
  if (raw.size() > max_record_bytes_) {
    non_row = TooLong(0, 0, std::string(raw.substr(0, max_record_bytes_)));
  } else if (empty) {
    non_row.skipped = true;
  } else {
    non_row = Refused(p, raw);
  }
  non_row.before_row = row;
  non_row.pos = position;
  non_row.next_pos = lines.position + static_cast<int64_t>(next_at);
  out.non_rows.push_back(std::move(non_row));
  return feed + 1;
}

// Returns how much of the block still belongs to the line.
size_t JsonDecoder::ContinueLongLine(std::string_view block, int64_t position, bool final,
                                     Batch& out) {
  const size_t feed = block.find('\n');
  const bool ends = feed != std::string_view::npos;
  const size_t size = ends ? feed + 1 : block.size();
  long_line_.next = position + static_cast<int64_t>(size);
  if (!ends && !final) {
    out.end_position = long_line_.begin;
    return size;
  }
  out.non_rows.push_back(TooLong(long_line_.begin, long_line_.next, std::move(long_line_.raw)));
  out.non_rows.back().before_row = out.rows();
  long_line_ = {};
  return size;
}

void JsonDecoder::DecodeValue(std::string_view value, int64_t position, Batch& out) {
  const uint32_t row = out.rows();
  out.end_position = position + 1;
  NonRow non_row;
  if (value.size() > max_record_bytes_) {
    non_row = TooLong(position, position + 1, std::string(value.substr(0, max_record_bytes_)));
  } else if (value.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    non_row.skipped = true;
  } else {
    CopyPadded(value, padded_);
    // A line feed is white space here. As a carriage return it is that for the row reader too, and
    // in a string as wrong.
    if (value.find('\n') != std::string_view::npos) {
      std::replace(padded_.begin(), padded_.begin() + static_cast<std::ptrdiff_t>(value.size()),
                   '\n', '\r');
    }
    out.positions.resize(row + 1);
    reader_.Open(out, row, row + 1);
    reader_.SetBase(padded_.data(), value.data());
    const bool good = reader_.Read(padded_.data(), row) != nullptr;
    reader_.Close(out, row + good);
    if (good) {
      out.positions[row] = position;
      return;
    }
    non_row = Refused(padded_.data(), value);
  }
  non_row.before_row = row;
  non_row.pos = position;
  non_row.next_pos = position + 1;
  out.non_rows.push_back(std::move(non_row));
}

NonRow JsonDecoder::TooLong(int64_t begin, int64_t end, std::string raw) const {
  NonRow non_row;
  non_row.pos = begin;
  non_row.next_pos = end;
  non_row.code = "record.too-long";
  non_row.message =
      "the record is longer than weir.max-record-bytes (" + std::to_string(max_record_bytes_) + ")";
  non_row.raw = std::move(raw);
  return non_row;
}

NonRow JsonDecoder::Refused(const char* begin, std::string_view raw) const {
  NonRow non_row;
  non_row.code = reader_.Code();
  non_row.message = reader_.Message(begin);
  non_row.raw = std::string(raw);
  return non_row;
}

}  // namespace

std::unique_ptr<RowDecoder> NewJsonDecoder(const FormatSpec& spec,
                                           const std::vector<DecodeField>& fields) {
  return std::make_unique<JsonDecoder>(spec, fields);
}

}  // namespace weir
