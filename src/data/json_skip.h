// Values that nobody reads: checked in full, converted not at all.
#ifndef WEIR_DATA_JSON_SKIP_H_
#define WEIR_DATA_JSON_SKIP_H_

#include "data/json_error.h"
#include "data/json_number.h"
#include "data/json_scan.h"
#include "data/json_string.h"

namespace weir::json {

// Objects and arrays inside one another, the row's own object counted.
inline constexpr int kDepthMax = 1024;

inline bool IsTrue(const char* p) { return Load4(p) == 0x65757274; }                  // "true"
inline bool IsFalse(const char* p) { return Load4(p) == 0x736c6166 && p[4] == 'e'; }  // "fals" "e"
inline bool IsNull(const char* p) { return Load4(p) == 0x6c6c756e; }                  // "null"

// The object or array at p, which stands directly in the row's object.
const char* SkipContainer(const char* p, Failure& failure);

// true, false or null at p; anything else is no value.
inline const char* SkipLiteral(const char* p, Failure& failure) {
  if (IsNull(p) || IsTrue(p)) return p + 4;
  if (IsFalse(p)) return p + 5;
  const bool like_one = *p == 't' || *p == 'f' || *p == 'n';
  return failure.Set(like_one ? JsonError::kLiteral : JsonError::kExpectedValue, p);
}

inline bool BeginsNumber(char c) { return c == '-' || (c >= '0' && c <= '9'); }

inline const char* SkipScalar(const char* p, Failure& failure) {
  if (*p == '"') return SkipString(p + 1, failure);
  if (BeginsNumber(*p)) return SkipNumber(p, failure);
  return SkipLiteral(p, failure);
}

inline const char* SkipValue(const char* p, Failure& failure) {
  if (*p == '"') return SkipString(p + 1, failure);
  if (BeginsNumber(*p)) return SkipNumber(p, failure);
  if (*p == '{' || *p == '[') return SkipContainer(p, failure);
  return SkipLiteral(p, failure);
}

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_SKIP_H_
