#include "data/decimal.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace weir {
namespace {

using UInt128 = unsigned __int128;

constexpr std::array<Int128, kDecimalDigitsMax + 1> MakePowers() {
  std::array<Int128, kDecimalDigitsMax + 1> p{};
  p[0] = 1;
  for (size_t i = 1; i < p.size(); ++i) p[i] = p[i - 1] * 10;
  return p;
}
constexpr auto kPowers = MakePowers();

UInt128 Magnitude(Int128 v) { return v < 0 ? -static_cast<UInt128>(v) : static_cast<UInt128>(v); }

// 256 bits, enough for any product of two decimals and for any dividend whose quotient has 38
// digits.
struct U256 {
  UInt128 high = 0;
  UInt128 low = 0;
};

U256 Multiply(UInt128 a, UInt128 b) {
  const uint64_t a0 = static_cast<uint64_t>(a), a1 = static_cast<uint64_t>(a >> 64);
  const uint64_t b0 = static_cast<uint64_t>(b), b1 = static_cast<uint64_t>(b >> 64);
  const UInt128 low = static_cast<UInt128>(a0) * b0;
  const UInt128 cross1 = static_cast<UInt128>(a0) * b1;
  const UInt128 cross2 = static_cast<UInt128>(a1) * b0;
  const UInt128 middle =
      (low >> 64) + static_cast<uint64_t>(cross1) + static_cast<uint64_t>(cross2);
  U256 r;
  r.low = (middle << 64) | static_cast<uint64_t>(low);
  r.high = static_cast<UInt128>(a1) * b1 + (cross1 >> 64) + (cross2 >> 64) + (middle >> 64);
  return r;
}

bool Less(const U256& a, const U256& b) {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

U256 Minus(const U256& a, const U256& b) {
  return {a.high - b.high - (a.low < b.low ? 1 : 0), a.low - b.low};
}

// nullopt: beyond 256 bits.
std::optional<U256> TimesPowerOfTen(U256 v, int exponent) {
  while (exponent > 0) {
    const int step = exponent > kDecimalDigitsMax ? kDecimalDigitsMax : exponent;
    const UInt128 power = static_cast<UInt128>(kPowers[static_cast<size_t>(step)]);
    const U256 low = Multiply(v.low, power);
    const U256 high = Multiply(v.high, power);
    v = {low.high + high.low, low.low};
    if (high.high != 0 || v.high < low.high) return std::nullopt;
    exponent -= step;
  }
  return v;
}

// Rounded half up; nullopt: the quotient does not fit 38 digits. Bit by bit where 128 bits are not
// enough: rare (operands near 38 digits), and plainly right.
std::optional<UInt128> DivideRounded(const U256& n, const U256& d) {
  const UInt128 limit = static_cast<UInt128>(kPowers[kDecimalDigitsMax]);
  UInt128 quotient = 0;
  if (n.high == 0 && d.high == 0) {
    if (d.low == 1) return n.low < limit ? std::optional(n.low) : std::nullopt;
    const UInt128 rest = n.low % d.low;
    quotient = n.low / d.low + (rest >= d.low - rest ? 1 : 0);
    return quotient < limit ? std::optional(quotient) : std::nullopt;
  }
  U256 rest;
  for (int bit = 255; bit >= 0; --bit) {
    const bool carry = static_cast<bool>(rest.high >> 127);
    const UInt128 next = bit >= 128 ? n.high >> (bit - 128) : n.low >> bit;
    rest = {(rest.high << 1) | (rest.low >> 127), (rest.low << 1) | (next & 1)};
    if (quotient >> 127) return std::nullopt;
    quotient <<= 1;
    if (carry || !Less(rest, d)) {
      rest = Minus(rest, d);
      quotient |= 1;
    }
  }
  if (!Less(rest, Minus(d, rest))) ++quotient;
  return quotient < limit ? std::optional(quotient) : std::nullopt;
}

std::optional<Int128> Signed(std::optional<UInt128> magnitude, bool negative) {
  if (!magnitude) return std::nullopt;
  const Int128 v = static_cast<Int128>(*magnitude);
  return negative ? -v : v;
}

// n * 10^shift / d, rounded once; shift may be negative.
std::optional<UInt128> ScaleAndDivide(const U256& n, int shift, UInt128 d) {
  if (shift >= 0) {
    const auto scaled = TimesPowerOfTen(n, shift);
    if (!scaled) return std::nullopt;  // >= 2^256, and d < 2^128: no quotient of 38 digits
    return DivideRounded(*scaled, U256{0, d});
  }
  const auto divisor = TimesPowerOfTen(U256{0, d}, -shift);
  if (!divisor)
    return UInt128{0};  // n is a product of two 127-bit numbers: less than half of 2^256
  return DivideRounded(n, *divisor);
}

}  // namespace

Int128 PowerOfTen(int exponent) {
  CHECK(exponent >= 0 && exponent <= kDecimalDigitsMax);
  return kPowers[static_cast<size_t>(exponent)];
}

bool FitsPrecision(Int128 unscaled, int precision) {
  return Magnitude(unscaled) < static_cast<UInt128>(PowerOfTen(precision));
}

std::optional<Int128> Rescale(Int128 unscaled, int from_scale, int to_scale, int to_precision) {
  const auto r =
      Signed(ScaleAndDivide(U256{0, Magnitude(unscaled)}, to_scale - from_scale, 1), unscaled < 0);
  if (!r || !FitsPrecision(*r, to_precision)) return std::nullopt;
  return r;
}

std::optional<Int128> AddChecked(Int128 a, Int128 b) {
  Int128 r;
  if (__builtin_add_overflow(a, b, &r) || !FitsPrecision(r, kDecimalDigitsMax)) return std::nullopt;
  return r;
}

std::optional<Int128> MultiplyChecked(Int128 a, Int128 b) { return MultiplyDecimal(a, 0, b, 0, 0); }

std::optional<Int128> MultiplyDecimal(Int128 a, int as, Int128 b, int bs, int result_scale) {
  const U256 product = Multiply(Magnitude(a), Magnitude(b));
  return Signed(ScaleAndDivide(product, result_scale - as - bs, 1), (a < 0) != (b < 0));
}

std::optional<Int128> DivideDecimal(Int128 a, int as, Int128 b, int bs, int result_scale) {
  if (b == 0) return std::nullopt;
  return Signed(ScaleAndDivide(U256{0, Magnitude(a)}, bs - as + result_scale, Magnitude(b)),
                (a < 0) != (b < 0));
}

void AppendDecimal(Int128 unscaled, int scale, std::string& out) {
  char text[48];
  char* p = text + sizeof text;
  UInt128 m = Magnitude(unscaled);
  int digits = 0;
  while (m != 0 || digits <= scale) {
    if (digits == scale && scale > 0) *--p = '.';
    if (m <=
        std::numeric_limits<uint64_t>::max()) {  // 64-bit division from here on: 20 times faster
      const uint64_t low = static_cast<uint64_t>(m);
      *--p = static_cast<char>('0' + low % 10);
      m = low / 10;
    } else {
      *--p = static_cast<char>('0' + static_cast<int>(m % 10));
      m /= 10;
    }
    ++digits;
  }
  if (unscaled < 0) *--p = '-';
  out.append(p, static_cast<size_t>(text + sizeof text - p));
}

void AppendInt64(int64_t v, std::string& out) {
  char text[24];
  const auto r = std::to_chars(text, text + sizeof text, v);
  out.append(text, static_cast<size_t>(r.ptr - text));
}

double DecimalToDouble(Int128 unscaled, int scale) {
  // Both operands exact: one division rounds once.
  if (Magnitude(unscaled) <= (uint64_t{1} << 53) && scale <= 22) {
    return static_cast<double>(static_cast<int64_t>(unscaled)) /
           static_cast<double>(kPowers[static_cast<size_t>(scale)]);
  }
  std::string text;
  AppendDecimal(unscaled, 0, text);
  text += "e-" + std::to_string(scale);
  double v = 0;
  CHECK(ParseDouble(text, &v) == NumberError::kOk);
  return v;
}

}  // namespace weir
