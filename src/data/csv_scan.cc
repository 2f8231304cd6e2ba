#include "data/csv_scan.h"

#include <cstring>

namespace weir {
namespace {

bool Contains(std::string_view s, char c) {
  return c != 0 && std::memchr(s.data(), c, s.size()) != nullptr;
}

}  // namespace

CsvRecord CsvScanner::Scan(std::string_view input, bool final) {
  // Most records are one line without quotes.
  const void* const feed = input.empty() ? nullptr : std::memchr(input.data(), '\n', input.size());
  if (feed == nullptr && !final) {
    const bool too_long = input.size() > max_ + 1;  // one more: it may be the CR of the line end
    return {too_long ? CsvRecord::State::kTooLong : CsvRecord::State::kNeedMore, input, 0};
  }
  const size_t line_size = feed == nullptr
                               ? input.size()
                               : static_cast<size_t>(static_cast<const char*>(feed) - input.data());
  std::string_view line = input.substr(0, line_size);
  const size_t size = line_size + (feed == nullptr ? 0 : 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  // Before anything else that may be wrong with it: a block that does not hold the line end can say
  // no more either.
  if (line.size() > max_) return {CsvRecord::State::kTooLong, line, size};
  if (Contains(line, quote_) || Contains(line, escape_)) return ScanSlowly(input, final);
  SplitPlain(line);
  return {CsvRecord::State::kWhole, line, size};
}

void CsvScanner::SplitPlain(std::string_view line) {
  fields_.clear();
  const char* p = line.data();
  const char* const end = p + line.size();
  for (;;) {
    const char* at = p;
    while (at != end && *at != delimiter_) ++at;  // fields are short: faster than memchr
    fields_.push_back({{p, static_cast<size_t>(at - p)}, false, false});
    if (at == end) return;
    p = at + 1;
  }
}

// Character by character: quotes or escapes are about. Looks no further than the limit and its line
// end, so that the outcome depends on the bytes alone and not on how much of them the block holds.
CsvRecord CsvScanner::ScanSlowly(std::string_view input, bool final) {
  fields_.clear();
  CsvRecord record;
  size_t at = 0;
  for (;;) {
    const bool quoted = at < input.size() && quote_ != 0 && input[at] == quote_;
    const bool ended =
        quoted ? ScanQuoted(input, at, final, record) : ScanUnquoted(input, at, final, record);
    if (!ended) return record;
    if (at == input.size()) break;
    if (input[at] == '\n' ||
        (input[at] == '\r' && (at + 1 == input.size() || input[at + 1] == '\n'))) {
      break;
    }
    ++at;  // the delimiter
  }
  record.bytes = input.substr(0, at);
  if (record.bytes.size() > max_) {
    record.state = CsvRecord::State::kTooLong;
    return record;
  }
  if (at < input.size() && input[at] == '\r') ++at;
  if (at < input.size() && input[at] == '\n') ++at;
  record.state = CsvRecord::State::kWhole;
  record.size = at;
  return record;
}

bool CsvScanner::ScanQuoted(std::string_view input, size_t& at, bool final, CsvRecord& record) {
  const size_t begin = ++at;
  bool encoded = false;
  for (;; ++at) {
    if (at > max_) {
      record.state = CsvRecord::State::kTooLong;
      record.bytes = input.substr(0, at);
      return false;
    }
    if (at == input.size()) {
      record.state = final ? CsvRecord::State::kUnterminated : CsvRecord::State::kNeedMore;
      record.bytes = input;
      return false;
    }
    const char c = input[at];
    if (escape_ != 0 && c == escape_ && at + 1 < input.size()) {
      encoded = true;
      ++at;
      continue;
    }
    if (c != quote_) continue;
    if (at + 1 < input.size() && input[at + 1] == quote_) {
      encoded = true;
      ++at;
      continue;
    }
    break;
  }
  fields_.push_back({input.substr(begin, at - begin), true, encoded});
  ++at;
  // Whether the quote closes the field is known only with the byte behind it, and a CR's meaning
  // with the one after.
  const std::string_view rest = input.substr(at);
  if (!final && (rest.empty() || rest == "\r")) {
    record.state = CsvRecord::State::kNeedMore;
    record.bytes = input;
    return false;
  }
  if (rest.empty() || rest[0] == delimiter_ || rest[0] == '\n' || rest == "\r" ||
      rest.starts_with("\r\n")) {
    return true;
  }
  record.state = CsvRecord::State::kAfterQuote;
  record.bytes = input.substr(0, at);
  return false;
}

bool CsvScanner::ScanUnquoted(std::string_view input, size_t& at, bool final, CsvRecord& record) {
  const size_t begin = at;
  bool encoded = false;
  for (; at < input.size(); ++at) {
    const char c = input[at];
    if (c == delimiter_ || c == '\n') break;
    if (c == '\r' && (at + 1 == input.size() ? final : input[at + 1] == '\n')) break;
    if (at > max_) {
      record.state = CsvRecord::State::kTooLong;
      record.bytes = input.substr(0, at);
      return false;
    }
    if (escape_ != 0 && c == escape_ && at + 1 < input.size()) {
      encoded = true;
      ++at;
    }
  }
  if (at >= input.size()) {
    at = input.size();
    if (!final) {
      record.state = CsvRecord::State::kNeedMore;
      record.bytes = input;
      return false;
    }
  }
  fields_.push_back({input.substr(begin, at - begin), false, encoded});
  return true;
}

std::string_view CsvScanner::Value(const CsvField& field, std::string& scratch) const {
  if (!field.encoded) return field.text;
  scratch.clear();
  for (size_t i = 0; i < field.text.size(); ++i) {
    char c = field.text[i];
    if (escape_ != 0 && c == escape_ && i + 1 < field.text.size()) {
      c = field.text[++i];
      // As Flink's reader: these four are control characters, any other stands for itself.
      if (c == 'n') c = '\n';
      if (c == 'r') c = '\r';
      if (c == 't') c = '\t';
      if (c == '0') c = '\0';
    } else if (field.quoted && c == quote_) {
      ++i;  // the first of two
    }
    scratch += c;
  }
  return scratch;
}

}  // namespace weir
