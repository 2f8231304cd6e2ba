// Base64 (RFC 4648, section 4, padded): how BYTES stand in text formats.
#ifndef WEIR_DATA_BASE64_H_
#define WEIR_DATA_BASE64_H_

#include <optional>
#include <string>
#include <string_view>

namespace weir {

void AppendBase64(std::string_view bytes, std::string& out);
// Strict: the alphabet, the padding and zero bits behind the last byte, so that each value has one
// text.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace weir

#endif  // WEIR_DATA_BASE64_H_
