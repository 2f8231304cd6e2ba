#include "data/decimal.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace weir {
namespace {

std::string Text(Int128 v, int scale = 0) {
  std::string s;
  AppendDecimal(v, scale, s);
  return s;
}
std::string Text(std::optional<Int128> v, int scale) { return v ? Text(*v, scale) : "none"; }

Int128 Big(const char* text) {
  Int128 v = 0;
  REQUIRE(ParseDecimal(text, 38, 0, &v) == NumberError::kOk);
  return v;
}

TEST_CASE("decimal text is exact or refused") {
  const struct {
    const char* given;
    int precision, scale;
    NumberError error;
    const char* want;
  } cases[] = {
      {"0", 12, 2, NumberError::kOk, "0.00"},
      {"-0", 12, 2, NumberError::kOk, "0.00"},
      {"-0.05", 12, 2, NumberError::kOk, "-0.05"},
      {"1.100", 12, 2, NumberError::kOk, "1.10"},
      {"1.005", 12, 2, NumberError::kInexact, ""},
      {"9999999999.99", 12, 2, NumberError::kOk, "9999999999.99"},
      {"10000000000", 12, 2, NumberError::kOverflow, ""},
      {"1e3", 12, 2, NumberError::kOk, "1000.00"},
      {"12345e-3", 12, 3, NumberError::kOk, "12.345"},
      {"+7", 3, 0, NumberError::kOk, "7"},
      {"007", 1, 0, NumberError::kOk, "7"},
      {".5", 2, 1, NumberError::kOk, "0.5"},
      {"5.", 2, 1, NumberError::kOk, "5.0"},
      {"0e99999999999", 2, 1, NumberError::kOk, "0.0"},
      {"1e99999999999999999999", 38, 0, NumberError::kOverflow, ""},
      {"1e-99999999999999999999", 38, 18, NumberError::kInexact, ""},
      {"100000000000000000000e-2", 38, 0, NumberError::kOk, "1000000000000000000"},
      {"12345678901234567890.123456789012345678", 38, 18, NumberError::kOk,
       "12345678901234567890.123456789012345678"},
      {"99999999999999999999999999999999999999", 38, 0, NumberError::kOk,
       "99999999999999999999999999999999999999"},
      {"-99999999999999999999999999999999999999", 38, 0, NumberError::kOk,
       "-99999999999999999999999999999999999999"},
      {"100000000000000000000000000000000000000", 38, 0, NumberError::kOverflow, ""},
      {"0.000000000000000000000000000000000000001", 38, 38, NumberError::kInexact, ""},
      {"0.00000000000000000000000000000000000001", 38, 38, NumberError::kOk,
       "0.00000000000000000000000000000000000001"},
      {"", 12, 2, NumberError::kSyntax, ""},
      {"-", 12, 2, NumberError::kSyntax, ""},
      {".", 12, 2, NumberError::kSyntax, ""},
      {"1.2.3", 12, 2, NumberError::kSyntax, ""},
      {"1e", 12, 2, NumberError::kSyntax, ""},
      {"1e+", 12, 2, NumberError::kSyntax, ""},
      {"0e", 12, 2, NumberError::kSyntax, ""},
      {"12x", 12, 2, NumberError::kSyntax, ""},
      {" 1", 12, 2, NumberError::kSyntax, ""},
      {"0x10", 12, 2, NumberError::kSyntax, ""},
      {"NaN", 12, 2, NumberError::kSyntax, ""},
      {"\xd9\xa3", 12, 2, NumberError::kSyntax, ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    Int128 v = 0;
    CHECK(ParseDecimal(c.given, c.precision, c.scale, &v) == c.error);
    if (c.error == NumberError::kOk) CHECK(Text(v, c.scale) == c.want);
  }
}

TEST_CASE("rounding while reading: half up away from zero, or down") {
  const struct {
    const char* given;
    int precision, scale;
    Rounding rounding;
    const char* want;
  } cases[] = {
      {"9999.994", 6, 2, Rounding::kHalfUp, "9999.99"},
      {"9999.995", 6, 2, Rounding::kHalfUp, "overflow"},
      {"-9999.995", 6, 2, Rounding::kHalfUp, "overflow"},
      {"0.005", 6, 2, Rounding::kHalfUp, "0.01"},
      {"-0.005", 6, 2, Rounding::kHalfUp, "-0.01"},
      {"0.004999", 6, 2, Rounding::kHalfUp, "0.00"},
      {"0.0009", 6, 2, Rounding::kHalfUp, "0.00"},
      {"1e-50", 6, 2, Rounding::kHalfUp, "0.00"},
      {"0.009", 6, 2, Rounding::kFloor, "0.00"},
      {"-0.001", 6, 2, Rounding::kFloor, "-0.01"},
      {"-1e-50", 6, 2, Rounding::kFloor, "-0.01"},
      {"-1.20000", 6, 2, Rounding::kFloor, "-1.20"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    Int128 v = 0;
    const NumberError e = ParseDecimalRounded(c.given, c.precision, c.scale, c.rounding, &v);
    CHECK((e == NumberError::kOk ? Text(v, c.scale) : std::string("overflow")) == c.want);
  }
}

TEST_CASE("integers keep every digit of 64 bits") {
  const struct {
    const char* given;
    int64_t low, high;
    NumberError error;
    int64_t want;
  } cases[] = {
      {"9223372036854775807", INT64_MIN, INT64_MAX, NumberError::kOk, INT64_MAX},
      {"-9223372036854775808", INT64_MIN, INT64_MAX, NumberError::kOk, INT64_MIN},
      {"9223372036854775808", INT64_MIN, INT64_MAX, NumberError::kOverflow, 0},
      {"-9223372036854775809", INT64_MIN, INT64_MAX, NumberError::kOverflow, 0},
      {"1709287200123456789", INT64_MIN, INT64_MAX, NumberError::kOk, 1709287200123456789},
      {"999999999999999999", INT64_MIN, INT64_MAX, NumberError::kOk, 999999999999999999},
      {"127", -128, 127, NumberError::kOk, 127},
      {"128", -128, 127, NumberError::kOverflow, 0},
      {"-128", -128, 127, NumberError::kOk, -128},
      {"-129", -128, 127, NumberError::kOverflow, 0},
      {"1.0", -128, 127, NumberError::kOk, 1},
      {"1e2", -128, 127, NumberError::kOk, 100},
      {"1e3", -128, 127, NumberError::kOverflow, 0},
      {"1.5", -128, 127, NumberError::kInexact, 0},
      {"-0", -128, 127, NumberError::kOk, 0},
      {"+7", -128, 127, NumberError::kOk, 7},
      {"", -128, 127, NumberError::kSyntax, 0},
      {"-", -128, 127, NumberError::kSyntax, 0},
      {"12x", -128, 127, NumberError::kSyntax, 0},
      {"1e99999999999", INT64_MIN, INT64_MAX, NumberError::kOverflow, 0},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    int64_t v = 0;
    CHECK(ParseInteger(c.given, c.low, c.high, &v) == c.error);
    if (c.error == NumberError::kOk) CHECK(v == c.want);
  }
}

TEST_CASE("doubles are read with one rounding, floats too") {
  const struct {
    const char* given;
    NumberError error;
    double want;
  } cases[] = {
      {"0.1", NumberError::kOk, 0.1},
      {"+1.5", NumberError::kOk, 1.5},
      {"-0.0", NumberError::kOk, -0.0},
      {"5e-324", NumberError::kOk, 5e-324},
      {"3e-324", NumberError::kOk, 5e-324},
      {"2e-324", NumberError::kOk, 0},
      {"-1e-400", NumberError::kOk, -0.0},
      {"1e-99999999999", NumberError::kOk, 0},
      {"1.7976931348623157e308", NumberError::kOk, 1.7976931348623157e308},
      {"1.7976931348623159e308", NumberError::kOverflow, 0},
      {"1e309", NumberError::kOverflow, 0},
      {"1e400", NumberError::kOverflow, 0},
      {"9007199254740993", NumberError::kOk, 9007199254740992.0},
      {"123456789012345678901234567890", NumberError::kOk, 123456789012345678901234567890.0},
      {"nan", NumberError::kSyntax, 0},
      {"inf", NumberError::kSyntax, 0},
      {"Infinity", NumberError::kSyntax, 0},
      {"0x1p3", NumberError::kSyntax, 0},
      {"1d", NumberError::kSyntax, 0},
      {"", NumberError::kSyntax, 0},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    double v = 1;
    CHECK(ParseDouble(c.given, &v) == c.error);
    if (c.error == NumberError::kOk) {
      CHECK(v == c.want);
      CHECK(std::signbit(v) == std::signbit(c.want));
    }
  }
  double f = 0;
  CHECK(ParseFloat("0.1", &f) == NumberError::kOk);
  CHECK(f == static_cast<double>(0.1f));
  CHECK(ParseFloat("3.5e38", &f) == NumberError::kOverflow);
  CHECK(ParseFloat("1e-60", &f) == NumberError::kOk);
  CHECK(f == 0);
  // Through binary64 this would be rounded twice, to 1.0000001.
  CHECK(ParseFloat("1.00000005960464477539062", &f) == NumberError::kOk);
  CHECK(f == 1.0);
}

TEST_CASE("doubles print the shortest digits that read back, and never look like an integer") {
  const struct {
    double given;
    const char* want;
  } cases[] = {
      {1, "1.0"},
      {0.1, "0.1"},
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1e21, "1.0E21"},
      {5e-324, "5.0E-324"},
      {123456789, "1.23456789E8"},
      {1234567, "1234567.0"},
      {12345.678, "12345.678"},
      {9999999.5, "9999999.5"},
      {1e7, "1.0E7"},
      {0.001, "0.001"},
      {0.00123, "0.00123"},
      {0.0009, "9.0E-4"},
      {1e-7, "1.0E-7"},
      {1.7976931348623157e308, "1.7976931348623157E308"},
      {0.30000000000000004, "0.30000000000000004"},
      {1e20, "1.0E20"},
      {-1234.5, "-1234.5"},
      {100, "100.0"},
      {1.0 / 3, "0.3333333333333333"},
  };
  for (const auto& c : cases) {
    std::string s;
    AppendDouble(c.given, s);
    CHECK(s == c.want);
    double back = 0;
    CHECK(ParseDouble(s, &back) == NumberError::kOk);
    CHECK(back == c.given);
    CHECK(std::signbit(back) == std::signbit(c.given));
  }
  std::string f;
  AppendFloat(0.1f, f);
  CHECK(f == "0.1");
}

TEST_CASE("rescale rounds half up away from zero and says when it does not fit") {
  CHECK(Text(Rescale(9999995, 3, 2, 7), 2) == "10000.00");
  CHECK(Text(Rescale(9999995, 3, 2, 6), 2) == "none");
  CHECK(Text(Rescale(-5, 3, 2, 6), 2) == "-0.01");
  CHECK(Text(Rescale(4, 3, 2, 6), 2) == "0.00");
  CHECK(Text(Rescale(15, 1, 3, 6), 3) == "1.500");
  CHECK(Text(Rescale(Big("99999999999999999999999999999999999999"), 0, 1, 38), 1) == "none");
  CHECK(Text(Rescale(Big("99999999999999999999999999999999999999"), 38, 0, 38), 0) == "1");
  CHECK(Text(Rescale(Big("49999999999999999999999999999999999999"), 38, 0, 38), 0) == "0");
  CHECK(Text(Rescale(Big("50000000000000000000000000000000000000"), 38, 0, 38), 0) == "1");
}

TEST_CASE("sums and products are exact or refused") {
  const Int128 most = PowerOfTen(38) - 1;
  CHECK(Text(AddChecked(most, -1), 0) == "99999999999999999999999999999999999998");
  CHECK(Text(AddChecked(most, 1), 0) == "none");
  CHECK(Text(AddChecked(-most, -most), 0) == "none");
  CHECK(Text(MultiplyChecked(Big("9999999999999999999"), Big("9999999999999999999")), 0) ==
        "99999999999999999980000000000000000001");
  CHECK(Text(MultiplyChecked(Big("10000000000000000000"), Big("-10000000000000000000")), 0) ==
        "none");
  CHECK(Text(MultiplyChecked(0, most), 0) == "0");
  CHECK(Text(MultiplyDecimal(15, 1, 15, 1, 1), 1) == "2.3");  // 2.25
  CHECK(Text(MultiplyDecimal(-15, 1, 15, 1, 1), 1) == "-2.3");
  // 38 by 38 digits, rounded back to 38.
  CHECK(Text(MultiplyDecimal(most, 38, most, 38, 37), 37) ==
        "1.0000000000000000000000000000000000000");
  CHECK(Text(MultiplyDecimal(most, 38, most, 38, 6), 6) == "1.000000");
}

TEST_CASE("division rounds once") {
  CHECK(Text(DivideDecimal(1, 0, 3, 0, 6), 6) == "0.333333");
  CHECK(Text(DivideDecimal(2, 0, 3, 0, 6), 6) == "0.666667");
  CHECK(Text(DivideDecimal(-2, 0, 3, 0, 6), 6) == "-0.666667");
  CHECK(Text(DivideDecimal(1, 0, 0, 0, 6), 6) == "none");
  CHECK(Text(DivideDecimal(100, 2, 4, 0, 2), 2) == "0.25");
  CHECK(Text(DivideDecimal(1, 38, 1, 0, 38), 38) == "0.00000000000000000000000000000000000001");
  CHECK(Text(DivideDecimal(PowerOfTen(37), 0, 3, 0, 2), 2) == "none");
  CHECK(Text(DivideDecimal(PowerOfTen(37), 0, 3, 38, 0), 0) == "none");
  CHECK(Text(DivideDecimal(PowerOfTen(38) - 1, 38, PowerOfTen(38) - 1, 38, 37), 37) ==
        "1.0000000000000000000000000000000000000");
  CHECK(Text(DivideDecimal(PowerOfTen(38) - 1, 38, PowerOfTen(38) - 1, 0, 6), 6) == "0.000000");
}

TEST_CASE("a decimal becomes the nearest double") {
  CHECK(DecimalToDouble(15, 1) == 1.5);
  CHECK(DecimalToDouble(-5, 2) == -0.05);
  CHECK(DecimalToDouble(Big("12345678901234567890123456789012345678"), 18) ==
        12345678901234567890.123456789012345678);
  CHECK(DecimalToDouble(Big("9007199254740993"), 0) == 9007199254740992.0);
}

TEST_CASE("integers print plainly") {
  std::string s;
  AppendInt64(INT64_MIN, s);
  CHECK(s == "-9223372036854775808");
  CHECK(Text(0, 0) == "0");
  CHECK(Text(5, 3) == "0.005");
  CHECK(FitsPrecision(999, 3));
  CHECK(!FitsPrecision(-1000, 3));
}

}  // namespace
}  // namespace weir
