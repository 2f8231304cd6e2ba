// Numbers of a JSON row: the grammar, and the usual short forms straight into integers. Longer ones
// and exponents go through data/decimal.h; nothing but DOUBLE and FLOAT ever passes through a
// double.
#ifndef WEIR_DATA_JSON_NUMBER_H_
#define WEIR_DATA_JSON_NUMBER_H_

#include <bit>
#include <cstdint>

#include "data/decimal.h"
#include "data/json_error.h"
#include "data/json_scan.h"

namespace weir::json {

// The layout of a number that fits one 16-byte look: [-] digits [. digits], no exponent.
struct ShortNumber {
  const char* digits = nullptr;  // behind the sign
  int integer_digits = 0;        // 1..15
  int fraction_digits = 0;       // 0..14; they begin at digits + integer_digits + 1
  bool negative = false;
};

// The byte behind the number at p ('-' or a digit), by JSON's grammar, whatever its length.
const char* SkipNumberSlow(const char* p, Failure& failure);

// True: `number` and `end` are set. False: the number is long, has an exponent, or is none; ask
// SkipNumberSlow.
inline bool ScanShortNumber(const char* p, ShortNumber& number, const char*& end) {
  number.negative = *p == '-';
  const char* const d = p + number.negative;
  const uint32_t others = Scan::NonDigitMask(d) | 0x10000;
  const int n = std::countr_zero(others);
  if (n == 0 || n == 16 || (*d == '0' && n > 1)) return false;
  number.digits = d;
  number.integer_digits = n;
  if (d[n] == '.') {
    const int m = std::countr_zero(others >> (n + 1));
    // A fraction that touches the end of the 16 bytes may go on behind them.
    if (m == 0 || n + 1 + m >= 16) return false;
    number.fraction_digits = m;
    end = d + n + 1 + m;
  } else {
    number.fraction_digits = 0;
    end = d + n;
  }
  return (*end | 0x20) != 'e';
}

inline const char* SkipNumber(const char* p, Failure& failure) {
  ShortNumber number;
  const char* end;
  if (__builtin_expect(ScanShortNumber(p, number, end), 1)) return end;
  return SkipNumberSlow(p, failure);
}

// 1 to 10^19: the powers that 64 bits hold.
// clang-format off
inline constexpr uint64_t kPowersOfTen[20] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
    10000000000000000000u};
// clang-format on

// The number without its point and sign: 45.47 -> 4547. At most 15 digits.
inline uint64_t DigitsOf(const ShortNumber& n) {
  uint64_t value = DigitsValue(n.digits, n.integer_digits);
  if (n.fraction_digits != 0) {
    value = value * kPowersOfTen[n.fraction_digits] +
            DigitsValue(n.digits + n.integer_digits + 1, n.fraction_digits);
  }
  return value;
}

// Up to 19 digits as they stand at [p, end), which holds only digits: the usual BIGINT that is
// longer than 16.
inline bool NineteenDigits(const char* p, const char* end, uint64_t& value) {
  if (end - p > 19) return false;
  value = 0;
  for (; p < end; ++p) {
    const unsigned digit = static_cast<unsigned char>(*p) - '0';
    if (digit > 9) return false;
    value = value * 10 + digit;
  }
  return true;
}

// The JSON number [p, end) correctly rounded to binary64 or, with `single`, to binary32. Too small
// is zero; too large is kOverflow, as weir has no way to write an infinity.
NumberError ReadDouble(const char* p, const char* end, bool single, double& value);

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_NUMBER_H_
