// Exact decimal and integer arithmetic over 128 bits. Every function says whether the result fits;
// nothing wraps.
#ifndef WEIR_DATA_DECIMAL_H_
#define WEIR_DATA_DECIMAL_H_

#include <optional>
#include <string>
#include <string_view>

#include "data/types.h"

namespace weir {

inline constexpr int kDecimalDigitsMax = 38;
Int128 PowerOfTen(int exponent);                     // 0..38
bool FitsPrecision(Int128 unscaled, int precision);  // |unscaled| < 10^precision
// Text of a number (JSON's or SQL's grammar: optional sign, digits, fraction, exponent), exactly.
// Trailing zeros beyond the scale are dropped, other digits beyond it make it inexact.
enum class NumberError { kOk, kSyntax, kInexact, kOverflow };
NumberError ParseDecimal(std::string_view text, int precision, int scale, Int128* out);
// 1e3 is 1000, 1.0 is 1, 1.5 is inexact.
NumberError ParseInteger(std::string_view text, int64_t low, int64_t high, int64_t* out);
// Correctly rounded, once: a FLOAT does not go through binary64. kOverflow: beyond the type.
NumberError ParseDouble(std::string_view text, double* out);
NumberError ParseFloat(std::string_view text, double* out);
// As ParseDecimal, but digits beyond the scale are rounded away (CAST, epoch numbers) instead of
// making it inexact.
enum class Rounding { kExact, kHalfUp /* away from zero */, kFloor };
NumberError ParseDecimalRounded(std::string_view text, int precision, int scale, Rounding rounding,
                                Int128* out);
// To another scale. Rounding is half up, away from zero (Flink). nullopt: does not fit 128 bits or
// the precision.
std::optional<Int128> Rescale(Int128 unscaled, int from_scale, int to_scale, int to_precision);
// Exact sums and products with overflow check against 38 digits.
std::optional<Int128> AddChecked(Int128 a, Int128 b);
std::optional<Int128> MultiplyChecked(Int128 a, Int128 b);
// a / 10^as times b / 10^bs, at result_scale, rounded half up; the product in between has 256 bits.
// nullopt: does not fit 38 digits.
std::optional<Int128> MultiplyDecimal(Int128 a, int as, Int128 b, int bs, int result_scale);
// a / 10^as divided by b / 10^bs, at result_scale, rounded half up. nullopt: b == 0 or does not fit
// 38 digits.
std::optional<Int128> DivideDecimal(Int128 a, int as, Int128 b, int bs, int result_scale);
// "-0.05": all digits of the scale, no exponent.
void AppendDecimal(Int128 unscaled, int scale, std::string& out);
void AppendInt64(int64_t v, std::string& out);
// Shortest digits that read back, in Java's (and Flink's) shape: 0.001 <= |v| < 10^7 as "123.5",
// whole ones with ".0", others as "1.0E20", "1.5E-7". Finite only.
void AppendDouble(double v, std::string& out);
void AppendFloat(float v, std::string& out);         // the same with the digits that binary32 needs
double DecimalToDouble(Int128 unscaled, int scale);  // correctly rounded

}  // namespace weir

#endif  // WEIR_DATA_DECIMAL_H_
