#include "data/json_base64.h"

#include <cstdint>

namespace weir::json {
namespace {

int SixBits(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<size_t> DecodeBase64(std::string_view text, char* out) {
  if (text.size() % 4 != 0) return std::nullopt;
  if (text.empty()) return 0;
  const size_t padding = text.back() != '=' ? 0 : text[text.size() - 2] != '=' ? 1 : 2;
  const std::string_view letters = text.substr(0, text.size() - padding);
  char* to = out;
  uint32_t bits = 0;
  int held = 0;  // bits not written yet
  for (const char c : letters) {
    const int six = SixBits(c);
    if (six < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(six);
    held += 6;
    if (held >= 8) {
      held -= 8;
      *to++ = static_cast<char>(bits >> held);
      bits &= (1u << held) - 1;
    }
  }
  if (bits != 0) return std::nullopt;
  return static_cast<size_t>(to - out);
}

}  // namespace weir::json
