#include "data/base64.h"

#include <cstdint>

#include "data/json_base64.h"

namespace weir {

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
  std::string out(text.size() / 4 * 3, '\0');
  const std::optional<size_t> size = json::DecodeBase64(text, out.data());
  if (!size) return std::nullopt;
  out.resize(*size);
  return out;
}

}  // namespace weir
