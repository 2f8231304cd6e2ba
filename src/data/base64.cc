#include "data/base64.h"

#include <cstdint>

namespace weir {
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

void AppendBase64(std::string_view bytes, std::string& out) {
  static constexpr char kLetters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= n ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
}

std::optional<std::string> DecodeBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  size_t letters = text.size();
  for (int i = 0; i < 2 && letters > 0 && text[letters - 1] == '='; ++i) --letters;
  std::string out;
  out.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int held = 0;  // bits that are not written yet
  for (const char c : text.substr(0, letters)) {
    const int six = SixBits(c);
    if (six < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(six);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held);
      bits &= (1u << held) - 1;
    }
  }
  if (bits != 0) return std::nullopt;
  return out;
}

}  // namespace weir
