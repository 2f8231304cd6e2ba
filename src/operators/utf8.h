// Steps over valid UTF-8 by code points. Text in columns is valid UTF-8 by the time it is there.
#ifndef WEIR_OPERATORS_UTF8_H_
#define WEIR_OPERATORS_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::operators {

inline bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

inline size_t Utf8Length(std::string_view s) {
  size_t n = 0;
  for (char c : s) n += !IsContinuation(c);
  return n;
}

// Bytes of the code point that begins at s[at].
inline size_t Utf8Width(std::string_view s, size_t at) {
  size_t end = at + 1;
  while (end < s.size() && IsContinuation(s[end])) ++end;
  return end - at;
}

// The byte offset of code point `index`; s.size() when there are fewer.
inline size_t Utf8Offset(std::string_view s, size_t index) {
  size_t at = 0;
  while (index > 0 && at < s.size()) {
    at += Utf8Width(s, at);
    --index;
  }
  return at;
}

inline std::string_view Utf8Prefix(std::string_view s, size_t code_points) {
  return s.size() <= code_points ? s : s.substr(0, Utf8Offset(s, code_points));
}

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_UTF8_H_
