// UTF-8 as table 3-7 of the Unicode standard has it: no overlong forms, no surrogates, nothing
// above U+10FFFF.
#ifndef WEIR_DATA_UTF8_H_
#define WEIR_DATA_UTF8_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

// Bytes of the longest prefix that is well formed (== s.size(): all of it).
size_t ValidUtf8Length(std::string_view s);
inline bool IsWellFormedUtf8(std::string_view s) { return ValidUtf8Length(s) == s.size(); }
// Why the bytes at the beginning of `s` are no character: "invalid UTF-8", "invalid UTF-8
// (overlong)", ...
const char* Utf8Problem(std::string_view s);
// Code points of well-formed text.
size_t CountCodePoints(std::string_view s);
// The first `max_code_points` characters of well-formed text.
std::string_view FirstCodePoints(std::string_view s, size_t max_code_points);
// `value` in double quotes as a message shows it: at most 60 characters, then "..."; ill-formed
// bytes become U+FFFD.
std::string ShownInMessage(std::string_view value);

// "UTF-16" or "UTF-32" when `s`, the begin of a text or one of its lines, looks like that: its byte
// order mark, or zeros where ASCII text of that encoding has them. Null: it does not.
const char* OtherUnicode(std::string_view s);
// What to do about it, behind a reason: "; this looks like UTF-16 ...". Empty: it does not.
std::string OtherUnicodeHint(std::string_view s);

}  // namespace weir

#endif  // WEIR_DATA_UTF8_H_
