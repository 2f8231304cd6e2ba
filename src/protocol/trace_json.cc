#include "protocol/trace_json.h"

#include <utility>

namespace weir::protocol {

class TraceParser {
 public:
  explicit TraceParser(std::string_view in) : in_(in) {}

  std::optional<TraceObject> Whole() {
    TraceObject out;
    if (!ReadObject(out, 0) || at_ != in_.size()) return std::nullopt;
    return out;
  }

 private:
  bool Take(char c) {
    if (at_ >= in_.size() || in_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool TakeWord(std::string_view word) {
    if (in_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  bool ReadObject(TraceObject& out, int depth) {
    if (depth > 1 || !Take('{')) return false;  // an event, and objects in it
    if (Take('}')) return true;
    do {
      std::string key;
      TraceValue value;
      if (!ReadString(key) || !Take(':') || !ReadValue(value, depth)) return false;
      if (!out.members_.emplace(std::move(key), std::move(value)).second) return false;
    } while (Take(','));
    return Take('}');
  }

  bool ReadValue(TraceValue& out, int depth) {
    if (at_ >= in_.size()) return false;
    switch (in_[at_]) {
      case '"': {
        std::string text;
        if (!ReadString(text)) return false;
        out.v = std::move(text);
        return true;
      }
      case '{': {
        TraceObject object;
        if (!ReadObject(object, depth + 1)) return false;
        std::vector<TraceObject> one;
        one.push_back(std::move(object));
        out.v = std::move(one);
        return true;
      }
      case '[':
        return ReadList(out);
      case 't':
        out.v = true;
        return TakeWord("true");
      case 'f':
        out.v = false;
        return TakeWord("false");
      default:
        return ReadNumber(out);
    }
  }

  bool ReadList(TraceValue& out) {
    TraceList list;
    if (!Take('[')) return false;
    if (!Take(']')) {
      do {
        list.emplace_back();
        if (!ReadString(list.back())) return false;
      } while (Take(','));
      if (!Take(']')) return false;
    }
    out.v = std::move(list);
    return true;
  }

  bool ReadNumber(TraceValue& out) {
    uint64_t number = 0;
    const size_t begin = at_;
    while (at_ < in_.size() && in_[at_] >= '0' && in_[at_] <= '9') {
      const auto digit = static_cast<uint64_t>(in_[at_] - '0');
      if (number > (UINT64_MAX - digit) / 10) return false;
      number = number * 10 + digit;
      ++at_;
    }
    out.v = number;
    return at_ > begin && (in_[begin] != '0' || at_ == begin + 1);
  }

  bool ReadString(std::string& out) {
    if (!Take('"')) return false;
    while (at_ < in_.size()) {
      const char c = in_[at_++];
      if (c == '"') return true;
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c != '\\') {
        out.push_back(c);
      } else if (!ReadEscape(out)) {
        return false;
      }
    }
    return false;
  }

  bool ReadEscape(std::string& out) {
    if (at_ >= in_.size()) return false;
    const char c = in_[at_++];
    constexpr std::string_view kFrom = "\"\\/bfnrt";
    constexpr std::string_view kTo = "\"\\/\b\f\n\r\t";
    if (const size_t i = kFrom.find(c); i != std::string_view::npos) {
      out.push_back(kTo[i]);
      return true;
    }
    // The writer escapes only control characters this way.
    if (c != 'u' || at_ + 4 > in_.size()) return false;
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
      const char h = in_[at_++];
      const unsigned digit = h >= '0' && h <= '9'   ? static_cast<unsigned>(h - '0')
                             : h >= 'a' && h <= 'f' ? static_cast<unsigned>(h - 'a' + 10)
                             : h >= 'A' && h <= 'F' ? static_cast<unsigned>(h - 'A' + 10)
                                                    : 16u;
      if (digit > 15) return false;
      code = code * 16 + digit;
    }
    if (code >= 0x80) return false;
    out.push_back(static_cast<char>(code));
    return true;
  }

  std::string_view in_;
  size_t at_ = 0;
};

std::optional<TraceObject> TraceObject::Parse(std::string_view line) {
  return TraceParser(line).Whole();
}

const TraceValue* TraceObject::Find(std::string_view key) const {
  const auto found = members_.find(std::string(key));
  return found == members_.end() ? nullptr : &found->second;
}

std::optional<std::string> TraceObject::Text(std::string_view key) const {
  const TraceValue* value = Find(key);
  const auto* text = value == nullptr ? nullptr : std::get_if<std::string>(&value->v);
  return text == nullptr ? std::nullopt : std::optional(*text);
}

std::optional<uint64_t> TraceObject::Number(std::string_view key) const {
  const TraceValue* value = Find(key);
  const auto* number = value == nullptr ? nullptr : std::get_if<uint64_t>(&value->v);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<bool> TraceObject::Flag(std::string_view key) const {
  const TraceValue* value = Find(key);
  const auto* flag = value == nullptr ? nullptr : std::get_if<bool>(&value->v);
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

const TraceObject* TraceObject::Object(std::string_view key) const {
  const TraceValue* value = Find(key);
  const auto* one = value == nullptr ? nullptr : std::get_if<std::vector<TraceObject>>(&value->v);
  return one == nullptr ? nullptr : &one->front();
}

const TraceList* TraceObject::List(std::string_view key) const {
  const TraceValue* value = Find(key);
  return value == nullptr ? nullptr : std::get_if<TraceList>(&value->v);
}

std::optional<TargetPosition> TraceObject::Position(std::string_view key) const {
  const std::optional<std::string> text = Text(key);
  return text ? ParseTargetPosition(*text) : std::nullopt;
}

}  // namespace weir::protocol
