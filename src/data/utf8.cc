#include "data/utf8.h"

#include <bit>
#include <cstdint>
#include <cstring>

namespace weir {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;

uint64_t Load8(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

bool IsContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// Length of the well-formed sequence at p (not ASCII), 0: there is none.
size_t SequenceLength(const unsigned char* p, size_t left) {
  const unsigned char c = p[0];
  if (c >= 0xC2 && c <= 0xDF) return left >= 2 && IsContinuation(p[1]) ? 2 : 0;
  if (c >= 0xE0 && c <= 0xEF) {
    if (left < 3 || !IsContinuation(p[1]) || !IsContinuation(p[2])) return 0;
    if (c == 0xE0 && p[1] < 0xA0) return 0;  // overlong
    if (c == 0xED && p[1] > 0x9F) return 0;  // surrogates
    return 3;
  }
  if (c >= 0xF0 && c <= 0xF4) {
    if (left < 4 || !IsContinuation(p[1]) || !IsContinuation(p[2]) || !IsContinuation(p[3])) {
      return 0;
    }
    if (c == 0xF0 && p[1] < 0x90) return 0;  // overlong
    if (c == 0xF4 && p[1] > 0x8F) return 0;  // above U+10FFFF
    return 4;
  }
  return 0;
}

}  // namespace

size_t ValidUtf8Length(std::string_view s) {
  const char* const begin = s.data();
  const char* const end = begin + s.size();
  const char* p = begin;
  for (;;) {
    while (end - p >= 16 && ((Load8(p) | Load8(p + 8)) & kHighBits) == 0) p += 16;
    while (p != end && static_cast<signed char>(*p) >= 0) ++p;
    // A run of other characters, without going back to the ASCII loop between them.
    while (p != end && static_cast<signed char>(*p) < 0) {
      const size_t n =
          SequenceLength(reinterpret_cast<const unsigned char*>(p), static_cast<size_t>(end - p));
      if (n == 0) return static_cast<size_t>(p - begin);
      p += n;
    }
    if (p == end) return s.size();
  }
}

const char* Utf8Problem(std::string_view s) {
  const auto byte = [&](size_t i) -> unsigned {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0;
  };
  const bool second = IsContinuation(static_cast<unsigned char>(byte(1)));
  if (byte(0) == 0xC0 || byte(0) == 0xC1 || (byte(0) == 0xE0 && second && byte(1) < 0xA0) ||
      (byte(0) == 0xF0 && second && byte(1) < 0x90)) {
    return "invalid UTF-8 (overlong)";
  }
  if (byte(0) == 0xED && second && byte(1) > 0x9F) return "invalid UTF-8 (surrogate)";
  if (byte(0) == 0xF4 && second && byte(1) > 0x8F) return "invalid UTF-8 (above U+10FFFF)";
  return "invalid UTF-8";
}

size_t CountCodePoints(std::string_view s) {
  // Every byte but the continuations, which are 10xxxxxx.
  size_t continuations = 0;
  size_t i = 0;
  for (; i + 8 <= s.size(); i += 8) {
    const uint64_t v = Load8(s.data() + i);
    continuations += static_cast<size_t>(std::popcount(v & ~(v << 1) & kHighBits));
  }
  for (; i < s.size(); ++i) continuations += IsContinuation(static_cast<unsigned char>(s[i]));
  return s.size() - continuations;
}

std::string_view FirstCodePoints(std::string_view s, size_t max_code_points) {
  if (s.size() <= max_code_points) return s;
  size_t i = 0;
  for (; i < s.size(); ++i) {
    if (IsContinuation(static_cast<unsigned char>(s[i]))) continue;
    if (max_code_points-- == 0) break;
  }
  return s.substr(0, i);
}

std::string ShownInMessage(std::string_view value) {
  constexpr size_t kMost = 60;
  std::string out = "\"";
  size_t characters = 0;
  while (!value.empty() && characters < kMost) {
    const unsigned char c = static_cast<unsigned char>(value[0]);
    size_t n = 1;
    if (c >= 0x80) {
      n = SequenceLength(reinterpret_cast<const unsigned char*>(value.data()), value.size());
    }
    if (n == 0) {
      out += "\xEF\xBF\xBD";
      n = 1;
    } else {
      out += value.substr(0, n);
    }
    value.remove_prefix(n);
    ++characters;
  }
  if (!value.empty()) out += "...";
  return out + "\"";
}

// A line that was cut at the byte 0A begins with what is left of its line feed, so that the order
// of bytes cannot be told from a line; only which places are zero, and which never are.
const char* OtherUnicode(std::string_view s) {
  using std::string_view_literals::operator""sv;
  constexpr size_t kLookedAt = 256;
  if (s.starts_with("\xFF\xFE\0\0"sv) || s.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
  if (s.starts_with("\xFF\xFE") || s.starts_with("\xFE\xFF")) return "UTF-16";
  s = s.substr(0, kLookedAt);
  size_t zeros[4] = {}, places[4] = {};
  for (size_t i = 0; i < s.size(); ++i) {
    ++places[i % 4];
    zeros[i % 4] += s[i] == '\0';
  }
  const auto none = [&](size_t i) { return zeros[i] == 0 && places[i] > 0; };
  const auto all = [&](size_t i) { return zeros[i] == places[i]; };
  for (size_t text = 0; text < 4 && s.size() >= 5; ++text) {
    if (none(text) && all((text + 1) % 4) && all((text + 2) % 4) && all((text + 3) % 4))
      return "UTF-32";
  }
  for (size_t text = 0; text < 2 && s.size() >= 3; ++text) {
    const size_t high = zeros[1 - text] + zeros[3 - text];
    const bool whole = zeros[text] + zeros[text + 2] == 0;
    // Some characters may be no ASCII.
    if (whole && high > 0 && high * 4 >= (places[1 - text] + places[3 - text]) * 3) return "UTF-16";
  }
  return nullptr;
}

std::string OtherUnicodeHint(std::string_view s) {
  const char* const found = OtherUnicode(s);
  if (found == nullptr) return "";
  const std::string name(found);
  return "; this looks like " + name + ", and weir reads UTF-8: convert it first (iconv -f " +
         name + " -t UTF-8; without a byte order mark -f " + name + "LE or " + name + "BE)";
}

}  // namespace weir
