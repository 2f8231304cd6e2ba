// Steps over valid UTF-8 by code points (data/utf8.h counts and cuts). Text in columns is valid by
// the time it is there.
#ifndef WEIR_OPERATORS_UTF8_H_
#define WEIR_OPERATORS_UTF8_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weir::operators {

inline bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

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

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_UTF8_H_
