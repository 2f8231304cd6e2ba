#include "data/csv_decoder.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "data/csv_scan.h"
#include "data/record_reader.h"
#include "data/utf8.h"

namespace weir {
namespace {

class CsvDecoder final : public RowDecoder {
 public:
  CsvDecoder(const FormatSpec& spec, const std::vector<DecodeField>& fields)
      : options_(spec.csv),
        field_count_(spec.physical_columns),
        columns_(spec, fields),
        scanner_(spec.csv, spec.max_record_bytes),
        long_line_(spec.max_record_bytes) {
    for (const DecodeField& f : fields) indexes_.push_back(static_cast<size_t>(f.position));
  }

  DecodeResult Decode(std::string_view block, int64_t position, bool final, uint32_t max_rows,
                      Batch& out) override;
  void DecodeValue(std::string_view value, int64_t position, Batch& out) override;
  Result<size_t> BeginPartition(std::string_view first_bytes, bool final) override;

 private:
  bool IsComment(std::string_view input) const {
    return options_.allow_comments && input.starts_with('#');
  }
  // The next record, line or piece of a line at block[at..]. False: more bytes are needed.
  bool Step(std::string_view block, size_t& at, int64_t position, bool final, uint32_t& row,
            Batch& out);
  bool BadRecord(const CsvRecord& record, std::string_view input, size_t& at, int64_t position,
                 bool final, uint32_t row, Batch& out);
  // From the scanner's fields. False: `dead` says why there is no row.
  bool ReadFields(std::string_view bytes, uint32_t row, Batch& out, DeadReason& dead);
  bool SetField(size_t i, uint32_t row, Batch& out, DeadReason& dead);

  CsvOptions options_;
  size_t field_count_;
  FieldColumns columns_;
  std::vector<size_t> indexes_;  // by wanted field: its ordinal in a record
  CsvScanner scanner_;
  LongLine long_line_;
  std::string scratch_;
};

DecodeResult CsvDecoder::Decode(std::string_view block, int64_t position, bool final,
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
  const uint32_t last =
      first + static_cast<uint32_t>(std::min<size_t>(block.size() - at, max_rows - first));
  columns_.Open(out, last);
  out.positions.resize(last);
  const size_t non_rows_max = out.non_rows.size() + max_rows;
  uint32_t row = first;
  bool need_more = false;
  while (at < block.size() && row < last && out.non_rows.size() < non_rows_max) {
    if (!Step(block, at, position, final, row, out)) {
      need_more = true;
      break;
    }
  }
  columns_.Close(out, row);
  out.positions.resize(row);
  out.end_position = position + static_cast<int64_t>(at);
  if (need_more) {
    // A first line beyond any record's length: only its end matters now.
    const std::string_view tail = block.substr(at);
    const CsvRecord record = scanner_.Scan(tail, final);
    if (record.state == CsvRecord::State::kTooLong && !final) {
      long_line_.Begin(tail, out.end_position, out);
      at = block.size();
    }
  }
  return {at, need_more || at == block.size()};
}

bool CsvDecoder::Step(std::string_view block, size_t& at, int64_t position, bool final,
                      uint32_t& row, Batch& out) {
  std::string_view input = block.substr(at);
  const int64_t begin = position + static_cast<int64_t>(at);
  size_t mark = 0;
  if (begin == 0 && input.starts_with(kByteOrderMark)) {
    mark = kByteOrderMark.size();
    input.remove_prefix(mark);
    if (input.empty()) {
      if (final) at += mark;
      return final;
    }
  } else if (begin == 0 && !final && input.size() < kByteOrderMark.size() &&
             kByteOrderMark.starts_with(input)) {
    return false;
  }
  const CsvRecord record = IsComment(input) ? CsvRecord{} : scanner_.Scan(input, final);
  if (record.state == CsvRecord::State::kWhole) {
    const int64_t next = begin + static_cast<int64_t>(mark + record.size);
    at += mark + record.size;
    char* const arena_mark = out.arena().mark();
    DeadReason dead;
    if (record.bytes.empty()) {
      out.non_rows.push_back(SkippedRecord(begin, next, row));
    } else if (ReadFields(record.bytes, row, out, dead)) {
      out.positions[row++] = begin;
    } else {
      out.arena().Rewind(arena_mark);
      out.non_rows.push_back(DeadRecord(begin, next, row, std::move(dead), record.bytes));
    }
    return true;
  }
  if (!IsComment(input) && record.state == CsvRecord::State::kNeedMore) return false;
  size_t bad_at = at + mark;
  if (!BadRecord(record, input, bad_at, begin, final, row, out)) return false;
  at = bad_at;
  return true;
}

// A comment or a record that has no end: its first line is consumed. False: that line's end is not
// in the block.
bool CsvDecoder::BadRecord(const CsvRecord& record, std::string_view input, size_t& at,
                           int64_t position, bool final, uint32_t row, Batch& out) {
  const size_t feed = input.find('\n');
  if (feed == std::string_view::npos && !final) return false;
  const size_t size = feed == std::string_view::npos ? input.size() : feed + 1;
  std::string_view line = input.substr(0, feed == std::string_view::npos ? size : feed);
  if (line.ends_with('\r')) line.remove_suffix(1);
  const int64_t mark = position == 0 ? static_cast<int64_t>(at) : 0;
  const int64_t next = position + mark + static_cast<int64_t>(size);
  at += size;
  if (record.state == CsvRecord::State::kTooLong || long_line_.TooLong(line.size())) {
    out.non_rows.push_back(long_line_.Dead(line, position, next, row));
  } else if (IsComment(input)) {
    out.non_rows.push_back(SkippedRecord(position, next, row));
  } else {
    const bool after = record.state == CsvRecord::State::kAfterQuote;
    DeadReason dead{"csv.quote", after ? "text behind a closing quote at byte " +
                                             std::to_string(record.bytes.size())
                                       : "a quote is not closed before the end of the input"};
    out.non_rows.push_back(DeadRecord(position, next, row, std::move(dead), line));
  }
  return true;
}

bool CsvDecoder::ReadFields(std::string_view bytes, uint32_t row, Batch& out, DeadReason& dead) {
  if (!CheckUtf8(bytes, "csv", dead)) return false;
  const size_t count = scanner_.fields().size();
  if (count != field_count_) {
    dead = {"csv.fields", std::to_string(count) + (count == 1 ? " field" : " fields") +
                              ", expected " + std::to_string(field_count_)};
    return false;
  }
  for (size_t i = 0; i < indexes_.size(); ++i) {
    if (!SetField(i, row, out, dead)) return false;
  }
  return true;
}

bool CsvDecoder::SetField(size_t i, uint32_t row, Batch& out, DeadReason& dead) {
  const CsvField& field = scanner_.fields()[indexes_[i]];
  if (!field.quoted) {
    const bool text = columns_.field(i).type.physical() == Physical::kString;
    const bool null = options_.has_null_literal && field.text == options_.null_literal;
    if (null || (field.text.empty() && !text)) return columns_.SetNull(i, row, dead);
  }
  return columns_.SetText(i, scanner_.Value(field, scratch_), row, out, dead);
}

void CsvDecoder::DecodeValue(std::string_view value, int64_t position, Batch& out) {
  const uint32_t row = out.rows();
  out.end_position = position + 1;
  if (value.starts_with(kByteOrderMark)) value.remove_prefix(kByteOrderMark.size());
  if (IsComment(value)) {
    out.non_rows.push_back(SkippedRecord(position, position + 1, row));
    return;
  }
  const CsvRecord record = scanner_.Scan(value, true);
  DeadReason dead;
  if (record.state == CsvRecord::State::kTooLong) {
    out.non_rows.push_back(long_line_.Dead(value, position, position + 1, row));
    return;
  }
  if (record.state != CsvRecord::State::kWhole) {
    const bool after = record.state == CsvRecord::State::kAfterQuote;
    dead = {"csv.quote",
            after ? "text behind a closing quote at byte " + std::to_string(record.bytes.size())
                  : "a quote is not closed before the end of the value"};
  } else if (record.size != value.size()) {
    dead = {"csv.trailing", "the value holds more than one record"};
  } else if (record.bytes.empty()) {
    out.non_rows.push_back(SkippedRecord(position, position + 1, row));
    return;
  } else {
    columns_.Open(out, row + 1);
    const bool good = ReadFields(record.bytes, row, out, dead);
    columns_.Close(out, row + good);
    out.positions.resize(row);
    if (good) {
      out.positions.push_back(position);
      return;
    }
  }
  out.non_rows.push_back(DeadRecord(position, position + 1, row, std::move(dead), value));
}

Result<size_t> CsvDecoder::BeginPartition(std::string_view first_bytes, bool final) {
  long_line_.Forget();
  if (!options_.header) return size_t{0};
  std::string_view input = first_bytes;
  if (input.starts_with(kByteOrderMark)) input.remove_prefix(kByteOrderMark.size());
  if (input.empty() && final) return first_bytes.size();  // an empty file has no rows either
  const CsvRecord record = scanner_.Scan(input, final);
  if (record.state == CsvRecord::State::kNeedMore) {
    return Fail(Code::kUnavailable, "the CSV header is not complete");
  }
  if (record.state != CsvRecord::State::kWhole || !IsWellFormedUtf8(record.bytes)) {
    return Fail(Code::kInvalid, "the CSV header is not a record");
  }
  std::vector<std::string> names;
  for (const CsvField& f : scanner_.fields()) {
    names.emplace_back(TrimAscii(scanner_.Value(f, scratch_)));
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  for (size_t i = 0; i < columns_.size(); ++i) {
    const std::string& wanted = columns_.field(i).name;
    const auto it = std::find(names.begin(), names.end(), wanted);
    if (it == names.end()) {
      std::string message = "the CSV header has no column '" + wanted + "'";
      const std::string_view near = Nearest(wanted, candidates);
      if (!near.empty()) message += "; did you mean '" + std::string(near) + "'?";
      return Fail(Code::kInvalid, std::move(message));
    }
    if (std::find(it + 1, names.end(), wanted) != names.end()) {
      return Fail(Code::kInvalid, "the CSV header has column '" + wanted + "' twice");
    }
    indexes_[i] = static_cast<size_t>(it - names.begin());
  }
  field_count_ = names.size();
  return first_bytes.size() - input.size() + record.size;
}

}  // namespace

Result<std::unique_ptr<RowDecoder>> NewCsvDecoder(const FormatSpec& spec,
                                                  const std::vector<DecodeField>& fields) {
  const CsvOptions& o = spec.csv;
  const auto reserved = [](char c) { return c == '\n' || c == '\r'; };
  if (o.delimiter == 0 || reserved(o.delimiter) || reserved(o.quote) || reserved(o.escape) ||
      o.delimiter == o.quote || o.delimiter == o.escape || (o.quote != 0 && o.quote == o.escape)) {
    return Fail(Code::kInvalid,
                "delimiter, quote and escape character of csv must differ and be no line ends");
  }
  for (const DecodeField& f : fields) {
    if (static_cast<size_t>(f.position) >= spec.physical_columns) {
      return Fail(Code::kInvalid, "column " + f.name + " lies beyond the table's columns");
    }
  }
  return std::make_unique<CsvDecoder>(spec, fields);
}

}  // namespace weir
