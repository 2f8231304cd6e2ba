#include "data/json_error.h"

#include "base/check.h"
#include "data/utf8.h"

namespace weir::json {
namespace {

struct Text {
  const char* code;
  const char* what;
};

Text TextOf(JsonError error) {
  switch (error) {
    case JsonError::kNone:
      break;
    case JsonError::kNotObject:
      return {"json.root", "expected a JSON object"};
    case JsonError::kExpectedKey:
      return {"json.syntax", "expected a key in quotes"};
    case JsonError::kExpectedColon:
      return {"json.syntax", "expected ':'"};
    case JsonError::kExpectedCommaOrBrace:
      return {"json.syntax", "expected ',' or '}'"};
    case JsonError::kExpectedCommaOrBracket:
      return {"json.syntax", "expected ',' or ']'"};
    case JsonError::kExpectedValue:
      return {"json.syntax", "expected a value"};
    case JsonError::kTrailing:
      return {"json.syntax", "something follows the object"};
    case JsonError::kNumber:
      return {"json.syntax", "not a number as JSON writes it"};
    case JsonError::kLiteral:
      return {"json.syntax", "expected true, false or null"};
    case JsonError::kControlInString:
      return {"json.syntax", "control character in a string"};
    case JsonError::kUnterminatedString:
      return {"json.syntax", "the string has no end"};
    case JsonError::kEscape:
      return {"json.syntax", "unknown escape in a string"};
    case JsonError::kSurrogate:
      return {"json.syntax", "half of a surrogate pair in a string"};
    case JsonError::kUtf8:
      return {"json.utf8", "invalid UTF-8"};
    case JsonError::kDepth:
      return {"json.depth", "nested deeper than 1024 levels"};
  }
  CHECK(false);
}

}  // namespace

const char* JsonErrorCode(JsonError error) { return TextOf(error).code; }

std::string JsonErrorMessage(const Failure& failure, const char* begin) {
  const std::string byte = std::to_string(failure.at - begin);
  if (failure.error == JsonError::kUtf8) {
    // A line feed stands behind at the latest, so four bytes say why and are readable.
    return std::string(Utf8Problem({failure.at, 4})) + " at byte " + byte;
  }
  return "invalid JSON at byte " + byte + ": " + TextOf(failure.error).what;
}

}  // namespace weir::json
