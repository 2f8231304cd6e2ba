// Text <-> numbers: the exact parsers of data/decimal.h and the printing of doubles.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "data/decimal.h"

namespace weir {
namespace {

using UInt128 = unsigned __int128;

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// A number taken apart: value = digits * 10^exponent, where the digits are those from `first` to
// `last` in the text (a '.' among them is skipped), without leading and trailing zeros.
struct Parts {
  bool negative = false;
  const char* first = nullptr;  // first significant digit; null: the value is zero
  const char* last = nullptr;   // behind the last significant digit
  int64_t digits = 0;
  int64_t exponent = 0;
};

// The exponent, saturated: anything near the bound is far outside every type.
bool ReadExponent(const char*& p, const char* end, int64_t* out) {
  if (p == end || (*p != 'e' && *p != 'E')) return true;
  ++p;
  bool negative = false;
  if (p != end && (*p == '+' || *p == '-')) negative = *p++ == '-';
  if (p == end) return false;
  int64_t e = 0;
  for (; p != end; ++p) {
    if (!IsDigit(*p)) return false;
    if (e < 1'000'000'000'000) e = e * 10 + (*p - '0');
  }
  *out = negative ? -e : e;
  return true;
}

bool Split(std::string_view text, Parts* out) {
  const char* p = text.data();
  const char* const end = p + text.size();
  if (p != end && (*p == '-' || *p == '+')) out->negative = *p++ == '-';
  const char* point = nullptr;
  int64_t seen = 0;         // digits of the mantissa
  int64_t first_index = 0;  // ordinal of the first and of the last significant digit
  int64_t last_index = 0;
  int64_t integer_digits = 0;
  for (; p != end; ++p) {
    if (*p == '.' && point == nullptr) {
      point = p;
      integer_digits = seen;
      continue;
    }
    if (!IsDigit(*p)) break;
    if (*p != '0') {
      if (out->first == nullptr) {
        out->first = p;
        first_index = seen;
      }
      out->last = p + 1;
      last_index = seen;
    }
    ++seen;
  }
  if (seen == 0) return false;
  if (point == nullptr) integer_digits = seen;
  int64_t exponent = 0;
  if (!ReadExponent(p, end, &exponent) || p != end) return false;
  if (out->first == nullptr) return true;
  out->digits = last_index - first_index + 1;
  out->exponent = exponent + integer_digits - last_index - 1;
  return true;
}

// The first `count` significant digits as a number; count <= 39.
UInt128 Accumulate(const Parts& parts, int64_t count) {
  UInt128 v = 0;
  for (const char* p = parts.first; count > 0; ++p) {
    if (*p == '.') continue;
    v = v * 10 + static_cast<unsigned>(*p - '0');
    --count;
  }
  return v;
}

// The digit with ordinal `index` among the significant ones.
char DigitAt(const Parts& parts, int64_t index) {
  const char* p = parts.first;
  for (;; ++p) {
    if (*p == '.') continue;
    if (index-- == 0) return *p;
  }
}

NumberError ToUnscaled(const Parts& parts, int precision, int scale, Rounding rounding,
                       Int128* out) {
  *out = 0;
  if (parts.first == nullptr) return NumberError::kOk;
  if (parts.digits + parts.exponent + scale > precision) return NumberError::kOverflow;
  const int64_t cut = -(parts.exponent + scale);  // significant digits beyond the scale
  UInt128 v = 0;
  if (cut <= 0) {
    v = Accumulate(parts, parts.digits) * static_cast<UInt128>(PowerOfTen(static_cast<int>(-cut)));
  } else {
    if (rounding == Rounding::kExact) return NumberError::kInexact;
    const int64_t kept = parts.digits - cut;
    if (kept > 0) v = Accumulate(parts, kept);
    const bool up = rounding == Rounding::kFloor
                        ? parts.negative  // trailing zeros are gone: what is cut is not zero
                        : kept >= 0 && DigitAt(parts, kept) >= '5';
    if (up) ++v;
    if (v >= static_cast<UInt128>(PowerOfTen(precision))) return NumberError::kOverflow;
  }
  *out = parts.negative ? -static_cast<Int128>(v) : static_cast<Int128>(v);
  return NumberError::kOk;
}

// from_chars also takes "inf", "nan" and no '+': the grammar is checked by Split before.
template <class F>
NumberError ParseBinary(std::string_view text, F* out) {
  Parts parts;
  if (!Split(text, &parts)) return NumberError::kSyntax;
  *out = parts.negative ? F{-0.0} : F{0.0};
  if (parts.first == nullptr) return NumberError::kOk;
  const int64_t magnitude = parts.digits + parts.exponent;  // value < 10^magnitude
  if (magnitude > std::numeric_limits<F>::max_exponent10 + 1) return NumberError::kOverflow;
  // Below half of the smallest denormal: zero. (The library calls that out of range too.)
  if (magnitude < std::numeric_limits<F>::min_exponent10 - std::numeric_limits<F>::digits10 - 3) {
    return NumberError::kOk;
  }
  if (text[0] == '+') text.remove_prefix(1);
  F v = 0;
  const auto r = std::from_chars(text.data(), text.data() + text.size(), v);
  if (r.ec == std::errc::result_out_of_range) {
    return magnitude > 0 ? NumberError::kOverflow : NumberError::kOk;
  }
  CHECK(r.ec == std::errc() && r.ptr == text.data() + text.size());
  if (std::isinf(v)) return NumberError::kOverflow;
  *out = v;
  return NumberError::kOk;
}

template <class F>
void AppendBinary(F v, std::string& out) {
  CHECK(std::isfinite(v));
  if (std::signbit(v)) {
    out += '-';
    v = -v;
  }
  if (v == 0) {
    out += "0.0";
    return;
  }
  // The shortest digits come from the scientific form, d[.ddd]e[+-]xx; this only places the point.
  char text[40];
  const char* const end =
      std::to_chars(text, text + sizeof text, v, std::chars_format::scientific).ptr;
  char digits[24];
  int count = 0;
  const char* p = text;
  for (; *p != 'e'; ++p) {
    if (*p != '.') digits[count++] = *p;
  }
  const bool small = p[1] == '-';
  int exponent = 0;
  std::from_chars(p + 2, end, exponent);
  if (small) exponent = -exponent;
  const auto append = [&](int from, int to) {
    for (int i = from; i < to; ++i) out += i < count ? digits[i] : '0';
  };
  if (exponent >= 0 && exponent < 7) {
    append(0, exponent + 1);
    out += '.';
    append(exponent + 1, count > exponent + 1 ? count : exponent + 2);
  } else if (exponent < 0 && exponent >= -3) {
    out += "0.";
    out.append(static_cast<size_t>(-exponent - 1), '0');
    append(0, count);
  } else {
    append(0, 1);
    out += '.';
    append(1, count > 1 ? count : 2);
    out += 'E';
    out += std::to_string(exponent);
  }
}

}  // namespace

NumberError ParseDecimalRounded(std::string_view text, int precision, int scale, Rounding rounding,
                                Int128* out) {
  Parts parts;
  if (!Split(text, &parts)) return NumberError::kSyntax;
  return ToUnscaled(parts, precision, scale, rounding, out);
}

NumberError ParseDecimal(std::string_view text, int precision, int scale, Int128* out) {
  return ParseDecimalRounded(text, precision, scale, Rounding::kExact, out);
}

NumberError ParseInteger(std::string_view text, int64_t low, int64_t high, int64_t* out) {
  // Up to 18 plain digits, the common case, cannot leave 64 bits.
  const size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  if (text.size() > sign && text.size() <= sign + 18) {
    int64_t v = 0;
    size_t i = sign;
    for (; i < text.size() && IsDigit(text[i]); ++i) v = v * 10 + (text[i] - '0');
    if (i == text.size()) {
      *out = sign ? -v : v;
      return *out < low || *out > high ? NumberError::kOverflow : NumberError::kOk;
    }
  }
  Int128 v = 0;
  const NumberError error = ParseDecimal(text, kDecimalDigitsMax, 0, &v);
  if (error != NumberError::kOk) return error;
  if (v < low || v > high) return NumberError::kOverflow;
  *out = static_cast<int64_t>(v);
  return NumberError::kOk;
}

NumberError ParseDouble(std::string_view text, double* out) { return ParseBinary(text, out); }

NumberError ParseFloat(std::string_view text, double* out) {
  float v = 0;
  const NumberError error = ParseBinary(text, &v);
  *out = static_cast<double>(v);
  return error;
}

void AppendDouble(double v, std::string& out) { AppendBinary(v, out); }
void AppendFloat(float v, std::string& out) { AppendBinary(v, out); }

}  // namespace weir
