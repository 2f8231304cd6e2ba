#include "operators/numbers.h"

#include <cstdlib>

namespace weir::operators {

std::optional<Int128> ScaleBy(Int128 v, int digits, RoundMode mode) {
  if (digits >= 0) {
    if (v == 0) return v;
    if (digits > kDecimalDigitsMax) return std::nullopt;
    Int128 out;
    if (__builtin_mul_overflow(v, PowerOfTen(digits), &out)) return std::nullopt;
    return out;
  }
  if (-digits > kDecimalDigitsMax)
    return Int128{0};  // 128 bits have 39 digits: half of 10^39 is not reached
  const Int128 power = PowerOfTen(-digits);
  Int128 quotient = v / power;
  const Int128 rest = v % power;
  if (mode == RoundMode::kHalfUp) {
    if (rest >= power - rest && rest > 0) ++quotient;
    if (-rest >= power + rest && rest < 0) --quotient;
  }
  return quotient;
}

double RoundDouble(double v, int digits, RoundMode mode) {
  if (!std::isfinite(v) || v == 0) return v;
  // Digits and exponent of the shortest text: v = digits_text * 10^exponent.
  std::string text;
  AppendDouble(std::fabs(v), text);
  std::string number;
  int exponent = 0;
  const size_t e = text.find_first_of("eE");
  if (e != std::string::npos) exponent = std::atoi(text.c_str() + e + 1);
  bool fraction = false;
  for (char c : text.substr(0, e)) {
    if (c == '.') {
      fraction = true;
    } else {
      number += c;
      if (fraction) --exponent;
    }
  }
  // 17 digits at most: they fit 128 bits.
  if (-exponent <= digits) return v;
  Int128 unscaled = 0;
  for (char c : number) {
    if (unscaled < PowerOfTen(36)) {
      unscaled = unscaled * 10 + (c - '0');
    } else {
      ++exponent;  // zeros of a large whole number written out
    }
  }
  if (-exponent <= digits) return v;
  const std::optional<Int128> scaled = ScaleBy(unscaled, exponent + digits, mode);
  if (!scaled) return v;
  std::string out = v < 0 ? "-" : "";
  AppendDecimal(*scaled, 0, out);
  out += "e" + std::to_string(-digits);
  double result = 0;
  return ParseDouble(out, &result) == NumberError::kOk ? result : v;
}

}  // namespace weir::operators
