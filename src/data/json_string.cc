#include "data/json_string.h"

#include <algorithm>
#include <cstring>

namespace weir::json {
namespace {

// Value of four hex digits, or -1.
int HexFour(const char* p) {
  int value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = p[i];
    int digit;
    if (c >= '0' && c <= '9') {
      digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
      digit = c - 'a' + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = c - 'A' + 10;
    } else {
      return -1;  // the row's line feed ends here at the latest
    }
    value = value << 4 | digit;
  }
  return value;
}

bool IsHighSurrogate(int unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
bool IsLowSurrogate(int unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

void AppendUtf8(uint32_t code_point, char*& to) {
  if (code_point < 0x80) {
    *to++ = static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *to++ = static_cast<char>(0xC0 | code_point >> 6);
    *to++ = static_cast<char>(0x80 | (code_point & 0x3F));
  } else if (code_point < 0x10000) {
    *to++ = static_cast<char>(0xE0 | code_point >> 12);
    *to++ = static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    *to++ = static_cast<char>(0x80 | (code_point & 0x3F));
  } else {
    *to++ = static_cast<char>(0xF0 | code_point >> 18);
    *to++ = static_cast<char>(0x80 | (code_point >> 12 & 0x3F));
    *to++ = static_cast<char>(0x80 | (code_point >> 6 & 0x3F));
    *to++ = static_cast<char>(0x80 | (code_point & 0x3F));
  }
}

// What a single-letter escape stands for; 0: none of them.
char SimpleEscape(char letter) {
  switch (letter) {
    case '"':
      return '"';
    case '\\':
      return '\\';
    case '/':
      return '/';
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return 0;
  }
}

const char* FailAtControl(const char* p, Failure& failure) {
  return failure.Set(*p == '\n' ? JsonError::kUnterminatedString : JsonError::kControlInString, p);
}

}  // namespace

void StringSink::Attach(Arena& arena) {
  arena_ = &arena;
  NewWindow(kWindow);
}

void StringSink::Detach() {
  arena_->Commit(at_);
  arena_ = nullptr;
  window_ = at_ = end_ = nullptr;
}

void StringSink::NewWindow(size_t bytes) {
  if (at_ != nullptr) arena_->Commit(at_);
  window_ = at_ = arena_->Reserve(bytes);
  end_ = at_ + bytes;
}

char* StringSink::Grow(char* to) {
  const char* from = at_;
  const size_t length = static_cast<size_t>(to - at_);
  // Doubling keeps the copies of one long value linear. Committing nothing of it lets the arena
  // reuse its room when the larger window fits the same chunk; the bytes then stay where they are.
  NewWindow(std::max(kWindow, 2 * length + 2 * kSlack));
  if (at_ != from) std::memmove(at_, from, length);
  return at_ + length;
}

std::string_view StringSink::Copy(std::string_view text) {
  if (static_cast<size_t>(end_ - at_) < text.size())
    NewWindow(std::max(kWindow, text.size() + 2 * kSlack));
  if (!text.empty()) std::memcpy(at_, text.data(), text.size());
  return End(at_ + text.size());
}

const char* SkipEscape(const char* p, Failure& failure) {
  if (SimpleEscape(p[1]) != 0) return p + 2;
  if (p[1] != 'u') return failure.Set(JsonError::kEscape, p);
  const int unit = HexFour(p + 2);
  if (unit < 0) return failure.Set(JsonError::kEscape, p);
  if (IsLowSurrogate(unit)) return failure.Set(JsonError::kSurrogate, p);
  if (!IsHighSurrogate(unit)) return p + 6;
  if (p[6] != '\\' || p[7] != 'u' || !IsLowSurrogate(HexFour(p + 8)))
    return failure.Set(JsonError::kSurrogate, p);
  return p + 12;
}

const char* DecodeEscape(const char* p, char*& to) {
  if (const char simple = SimpleEscape(p[1]); simple != 0) {
    *to++ = simple;
    return p + 2;
  }
  const int unit = HexFour(p + 2);
  if (!IsHighSurrogate(unit)) {
    AppendUtf8(static_cast<uint32_t>(unit), to);
    return p + 6;
  }
  const int low = HexFour(p + 8);
  AppendUtf8(
      0x10000u + (static_cast<uint32_t>(unit - 0xD800) << 10) + static_cast<uint32_t>(low - 0xDC00),
      to);
  return p + 12;
}

const char* SkipSpecial(const char* p, Failure& failure) {
  // A run of non-ASCII text is walked here to its end: going back to SIMD after each letter costs
  // twice as much.
  for (;;) {
    if (static_cast<unsigned char>(*p) >= 0x80) {
      const int length = Utf8Sequence(p);
      if (length == 0) return failure.Set(JsonError::kUtf8, p);
      p += length;
    } else if (*p == '\\') {
      p = SkipEscape(p, failure);
      if (p == nullptr) return nullptr;
    } else if (static_cast<unsigned char>(*p) < 0x20) {
      return FailAtControl(p, failure);
    } else {
      return p;
    }
  }
}

const char* CopySpecial(const char* p, StringSink& sink, char*& to, Failure& failure) {
  // The caller leaves half of kSlack; a step writes at most 4 bytes.
  for (;;) {
    if (static_cast<unsigned char>(*p) >= 0x80) {
      const int length = Utf8Sequence(p);
      if (length == 0) return failure.Set(JsonError::kUtf8, p);
      std::memcpy(to, p, 4);  // the first `length` of them count
      to += length;
      p += length;
    } else if (*p == '\\') {
      if (SkipEscape(p, failure) == nullptr) return nullptr;
      p = DecodeEscape(p, to);
    } else if (static_cast<unsigned char>(*p) < 0x20) {
      return FailAtControl(p, failure);
    } else {
      return p;
    }
    if (!sink.HasRoom(to)) to = sink.Grow(to);
  }
}

void Unescape(std::string_view checked, std::string& out) {
  out.clear();
  const char* p = checked.data();
  const char* const end = p + checked.size();
  while (p < end) {
    if (*p != '\\') {
      out.push_back(*p++);
      continue;
    }
    char bytes[4];
    char* to = bytes;
    p = DecodeEscape(p, to);
    out.append(bytes, static_cast<size_t>(to - bytes));
  }
}

}  // namespace weir::json
