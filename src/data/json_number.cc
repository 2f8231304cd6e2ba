#include "data/json_number.h"

#include <charconv>
#include <cmath>

namespace weir::json {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// from_chars says "out of range" for both ends of the range and does not say which: the decimal
// position of the first digit that counts does.
bool IsHuge(const char* p, const char* end) {
  if (*p == '-') ++p;
  int64_t position = 0;  // of the first nonzero digit; > 0 left of the point
  bool seen = false, point = false;
  for (; p < end && (IsDigit(*p) || *p == '.'); ++p) {
    if (*p == '.') {
      point = true;
    } else if (seen) {
      position += !point;
    } else if (*p != '0') {
      seen = true;
      position += !point;
    } else {
      position -= point;
    }
  }
  int64_t exponent = 0;
  if (p < end) {
    ++p;  // e
    const bool negative = *p == '-';
    if (*p == '-' || *p == '+') ++p;
    for (; p < end; ++p) {
      // More than any text's length in digits: saturating cannot change the sign of the sum.
      if (exponent < (int64_t{1} << 40)) exponent = exponent * 10 + (*p - '0');
    }
    if (negative) exponent = -exponent;
  }
  return position + exponent > 0;
}

template <class T>
DoubleError FromChars(const char* p, const char* end, double& value) {
  T parsed = 0;
  const std::from_chars_result result = std::from_chars(p, end, parsed);
  if (result.ec == std::errc::result_out_of_range) {
    if (IsHuge(p, end)) return DoubleError::kOverflow;
    parsed = *p == '-' ? T{-0.0} : T{0};
  }
  if (!std::isfinite(parsed)) return DoubleError::kOverflow;
  value = static_cast<double>(parsed);
  return DoubleError::kNone;
}

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

DoubleError ReadDouble(const char* p, const char* end, bool single, double& value) {
  ShortNumber number;
  const char* short_end;
  if (ScanShortNumber(p, number, short_end) && short_end == end) {
    // Clinger's fast path: an exact integer divided by an exact power of ten is rounded once.
    const uint64_t digits = DigitsOf(number);
    if (!single && digits <= (uint64_t{1} << 53)) {
      const double d =
          static_cast<double>(digits) / static_cast<double>(kPowersOfTen[number.fraction_digits]);
      value = number.negative ? -d : d;
      return DoubleError::kNone;
    }
    if (single && digits <= (uint64_t{1} << 24) && number.fraction_digits <= 10) {
      const float f =
          static_cast<float>(digits) / static_cast<float>(kPowersOfTen[number.fraction_digits]);
      value = static_cast<double>(number.negative ? -f : f);
      return DoubleError::kNone;
    }
  }
  return ReadDoubleExactly(p, end, single, value);
}

DoubleError ReadDoubleExactly(const char* p, const char* end, bool single, double& value) {
  return single ? FromChars<float>(p, end, value) : FromChars<double>(p, end, value);
}

}  // namespace weir::json
