// Small text helpers that several folders need. ASCII only: no result depends on a locale.
#ifndef WEIR_BASE_TEXT_H_
#define WEIR_BASE_TEXT_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

bool EqualsIgnoreCase(std::string_view a, std::string_view b);
std::string ToLowerAscii(std::string_view s);
std::string ToUpperAscii(std::string_view s);
std::string_view TrimAscii(std::string_view s);
std::vector<std::string_view> Split(std::string_view s, char separator);
std::optional<int64_t> ParseInt64(std::string_view s);  // the whole text, decimal, optional '-'
// The candidate nearest to `word` (Damerau-Levenshtein, at most a third of its length), or empty:
// "did you mean".
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);
std::string JsonQuote(std::string_view utf8);   // with the quotes; invalid UTF-8 becomes U+FFFD
std::string HexEncode(std::string_view bytes);  // lower case
std::optional<std::string> HexDecode(std::string_view hex);
bool IsValidUtf8(std::string_view s);

}  // namespace weir

#endif  // WEIR_BASE_TEXT_H_
