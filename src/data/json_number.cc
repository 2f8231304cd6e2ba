#include "data/json_number.h"

#include <string_view>

namespace weir::json {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

const char* SkipNumberSlow(const char* p, Failure& failure) {
  const char* const begin = p;
  if (*p == '-') ++p;
  if (*p == '0') {
    ++p;
    if (IsDigit(*p)) return failure.Set(JsonError::kNumber, begin);
  } else if (IsDigit(*p)) {
    while (IsDigit(*p)) ++p;
  } else {
    return failure.Set(JsonError::kNumber, begin);
  }
  if (*p == '.') {
    ++p;
    if (!IsDigit(*p)) return failure.Set(JsonError::kNumber, begin);
    while (IsDigit(*p)) ++p;
  }
  if (*p == 'e' || *p == 'E') {
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!IsDigit(*p)) return failure.Set(JsonError::kNumber, begin);
    while (IsDigit(*p)) ++p;
  }
  return p;
}

NumberError ReadDouble(const char* p, const char* end, bool single, double& value) {
  ShortNumber number;
  const char* short_end;
  if (ScanShortNumber(p, number, short_end) && short_end == end) {
    // Clinger's fast path: an exact integer divided by an exact power of ten is rounded once.
    const uint64_t digits = DigitsOf(number);
    const uint64_t power = kPowersOfTen[number.fraction_digits];
    if (!single && digits <= (uint64_t{1} << 53)) {
      const double d = static_cast<double>(digits) / static_cast<double>(power);
      value = number.negative ? -d : d;
      return NumberError::kOk;
    }
    if (single && digits <= (uint64_t{1} << 24) && number.fraction_digits <= 10) {
      const float f = static_cast<float>(digits) / static_cast<float>(power);
      value = static_cast<double>(number.negative ? -f : f);
      return NumberError::kOk;
    }
  }
  const std::string_view text(p, static_cast<size_t>(end - p));
  return single ? ParseFloat(text, &value) : ParseDouble(text, &value);
}

}  // namespace weir::json
