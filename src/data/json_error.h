// Why a row is no JSON object, as the dead letter will say it.
#ifndef WEIR_DATA_JSON_ERROR_H_
#define WEIR_DATA_JSON_ERROR_H_

#include <cstdint>
#include <string>

namespace weir::json {

enum class JsonError : uint8_t {
  kNone,
  kNotObject,  // valid or not: the row does not begin with '{'
  kExpectedKey,
  kExpectedColon,
  kExpectedCommaOrBrace,
  kExpectedCommaOrBracket,
  kExpectedValue,
  kTrailing,  // something follows the object
  kNumber,
  kLiteral,  // not true, false or null, though it begins like one of them
  kControlInString,
  kUnterminatedString,
  kEscape,
  kSurrogate,
  kUtf8,
  kDepth,
};

// Where reading stopped. `at` points into the row.
struct Failure {
  JsonError error = JsonError::kNone;
  const char* at = nullptr;

  // Every reader returns the byte behind what it read, or this: `return failure.Set(...)`.
  const char* Set(JsonError why, const char* where) {
    error = why;
    at = where;
    return nullptr;
  }
};

// "json.syntax", "json.utf8", ...: stable, documented, short.
const char* JsonErrorCode(JsonError error);
// "invalid JSON at byte 17: expected ':'", "invalid UTF-8 (overlong) at byte 9". Bytes are counted
// from 0 at `begin`, where the record begins.
std::string JsonErrorMessage(const Failure& failure, const char* begin);

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_ERROR_H_
