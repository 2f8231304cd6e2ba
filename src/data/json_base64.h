// Base64 (RFC 4648, section 4, padded): how BYTES stand in JSON.
#ifndef WEIR_DATA_JSON_BASE64_H_
#define WEIR_DATA_JSON_BASE64_H_

#include <cstddef>
#include <optional>
#include <string_view>

namespace weir::json {

// Writes at most text.size() / 4 * 3 bytes; returns how many, or nullopt: not base64. Other
// alphabets, white space, missing padding and stray bits behind the last byte are refused, so that
// each value has one text.
std::optional<size_t> DecodeBase64(std::string_view text, char* out);

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_BASE64_H_
