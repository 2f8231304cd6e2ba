#include "runtime/epoch_body.h"

#include "base/text.h"

namespace weir::runtime {

namespace {

std::string FormatTime(TimestampMs t) {
  if (t == kWatermarkNone) return "none";
  if (t == kWatermarkMax) return "end";
  return std::to_string(t);
}

std::optional<TimestampMs> ParseTime(std::string_view text) {
  if (text == "none") return kWatermarkNone;
  if (text == "end") return kWatermarkMax;
  return ParseInt64(text);
}

// A node's name is one word of a line: blanks, line feeds and '%' of quoted identifiers are written
// as %XX.
std::string Word(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '\n' || c == '%')
      out += "%" + HexEncode(std::string_view(&c, 1));
    else
      out += c;
  }
  return out;
}

std::string FromWord(std::string_view word) {
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    const auto byte = word[i] == '%' ? HexDecode(word.substr(i + 1, 2)) : std::nullopt;
    if (byte && byte->size() == 1) {
      out += *byte;
      i += 2;
    } else {
      out += word[i];
    }
  }
  return out;
}

std::optional<flow::Count> CountByName(std::string_view name) {
  for (size_t i = 0; i < static_cast<size_t>(flow::Count::kCountOf); ++i) {
    if (flow::CountName(static_cast<flow::Count>(i)) == name) return static_cast<flow::Count>(i);
  }
  return std::nullopt;
}

bool ParseBooks(std::string_view text, flow::NodeBooks* books) {
  for (const std::string_view word : Split(text, ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const auto count = CountByName(word.substr(0, equals));
    const auto value = ParseInt64(word.substr(equals + 1));
    if (!count || !value || *value < 0) return false;
    (*books)[*count] = static_cast<uint64_t>(*value);
  }
  return true;
}

}  // namespace

std::string EpochBody::Encode() const {
  std::string out;
  for (const auto& [node, t] : watermarks)
    out += "watermark " + Word(node) + " " + FormatTime(t) + "\n";
  for (const auto& [node, key] : current) out += "current " + Word(node) + " " + key + "\n";
  for (const auto& [node, b] : books) {
    out += "books " + Word(node);
    for (size_t i = 0; i < b.counts.size(); ++i) {
      if (b.counts[i] == 0) continue;
      out += " " + std::string(flow::CountName(static_cast<flow::Count>(i))) + "=" +
             std::to_string(b.counts[i]);
    }
    out += "\n";
  }
  for (const std::string& node : ended) out += "ended " + Word(node) + "\n";
  return out;
}

Result<EpochBody> EpochBody::Decode(std::string_view text) {
  EpochBody body;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    const size_t a = line.find(' ');
    const std::string_view kind = line.substr(0, a);
    const std::string_view rest =
        a == std::string_view::npos ? std::string_view() : line.substr(a + 1);
    const size_t b = rest.find(' ');
    const std::string node = FromWord(rest.substr(0, b));
    const std::string_view value =
        b == std::string_view::npos ? std::string_view() : rest.substr(b + 1);
    bool good = !node.empty();
    if (kind == "watermark") {
      const auto t = ParseTime(value);
      good = good && t.has_value();
      if (good) body.watermarks[node] = *t;
    } else if (kind == "current") {
      body.current[node] = std::string(value);
    } else if (kind == "books") {
      good = good && ParseBooks(value, &body.books[node]);
    } else if (kind == "ended") {
      body.ended.insert(node);
    } else {
      good = false;
    }
    if (!good)
      return Fail(Code::kCorruption,
                  "epoch body: cannot read the line \"" + std::string(line) + "\"");
  }
  return body;
}

std::string TimeJson(TimestampMs t) {
  return t == kWatermarkNone ? "null" : t == kWatermarkMax ? "\"end\"" : std::to_string(t);
}

std::string BooksJson(const flow::NodeBooks& books) {
  std::string out = "{";
  for (size_t i = 0; i < books.counts.size(); ++i) {
    if (books.counts[i] == 0) continue;
    if (out.size() > 1) out += ",";
    out += "\"" + std::string(flow::CountName(static_cast<flow::Count>(i))) +
           "\":" + std::to_string(books.counts[i]);
  }
  return out + "}";
}

}  // namespace weir::runtime
