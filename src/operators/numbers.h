// Ranges and roundings of numbers that several kernels share.
#ifndef WEIR_OPERATORS_NUMBERS_H_
#define WEIR_OPERATORS_NUMBERS_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "data/convert.h"
#include "data/decimal.h"
#include "data/types.h"

namespace weir::operators {

struct IntRange {
  int64_t low;
  int64_t high;
  bool Has(Int128 v) const { return v >= low && v <= high; }
};
inline IntRange RangeOf(const Type& type) {
  const IntegerRange range = RangeOfInteger(type.IsInteger() ? type.kind : TypeKind::kBigInt);
  return {range.low, range.high};
}

// "2147483648 does not fit INT".
inline std::string DoesNotFit(Int128 unscaled, int scale, const Type& type) {
  std::string text;
  AppendDecimal(unscaled, scale, text);
  Type nullable = type;
  nullable.nullable = true;
  return text + " does not fit " + nullable.ToString();
}
inline std::string DoesNotFit(const std::string& text, const Type& type) {
  Type nullable = type;
  nullable.nullable = true;
  return text + " does not fit " + nullable.ToString();
}

// A double for people; NaN and the infinities as words.
inline void AppendAnyDouble(double v, std::string& out) {
  if (std::isfinite(v)) {
    AppendDouble(v, out);
  } else {
    out += std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
  }
}

// A result of FLOAT is rounded to binary32.
inline double RoundTo(double v, const Type& type) {
  return type.kind == TypeKind::kFloat ? static_cast<double>(static_cast<float>(v)) : v;
}

// v * 10^digits (digits may be negative), half up away from zero or cut. nullopt: beyond 128 bits.
enum class RoundMode { kHalfUp, kTruncate };
std::optional<Int128> ScaleBy(Int128 v, int digits, RoundMode mode);

// `v` at `digits` decimals, by its shortest decimal text, as Flink's ROUND and TRUNCATE do.
double RoundDouble(double v, int digits, RoundMode mode);

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_NUMBERS_H_
