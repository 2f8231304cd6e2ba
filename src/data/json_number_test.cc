#include "data/json_number.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace weir::json {
namespace {

// Length of the number at the begin of `text`, or -1.
int NumberLength(const std::string& text, bool slow) {
  const std::string padded = text + "\n" + std::string(64, '7');
  Failure failure;
  const char* const p = padded.data();
  const char* const end = slow ? SkipNumberSlow(p, failure) : SkipNumber(p, failure);
  CHECK((end == nullptr) == (failure.error != JsonError::kNone));
  if (end == nullptr) CHECK(failure.at == p);
  return end == nullptr ? -1 : static_cast<int>(end - p);
}

TEST_CASE("a number is what JSON's grammar says, by the short and by the long way") {
  struct Case {
    const char* text;
    int want;
  };
  const Case cases[] = {
      {"0", 1},
      {"-0", 2},
      {"7", 1},
      {"10", 2},
      {"-12.5", 5},
      {"0.5", 3},
      {"0.0", 3},
      {"1e3", 3},
      {"1E+3", 4},
      {"1e-3", 4},
      {"1.5e7", 5},
      {"12,", 2},
      {"12}", 2},
      {"1 ", 1},
      {"12x", 2},
      {"123456789012345", 15},
      {"1234567890123456", 16},
      {"12345678901234567", 17},
      {"1234567890123.5", 15},
      {"12345678901234.5", 16},
      {"0.12345678901234", 16},
      {"0.123456789012345678901234567890", 32},
      {"-", -1},
      {"-x", -1},
      {"01", -1},
      {"-01", -1},
      {"00", -1},
      {"1.", -1},
      {"1.x", -1},
      {"1.e3", -1},
      {"1e", -1},
      {"1e+", -1},
      {"1ex", -1},
      {"1.5e", -1},
      {"12345678901234567.", -1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(NumberLength(c.text, false) == c.want);
    CHECK(NumberLength(c.text, true) == c.want);
  }
}

TEST_CASE("the short form knows where its digits stand") {
  const std::string text = "-123.4500," + std::string(64, ' ');
  ShortNumber n;
  const char* end = nullptr;
  REQUIRE(ScanShortNumber(text.data(), n, end));
  CHECK(n.negative);
  CHECK(n.integer_digits == 3);
  CHECK(n.fraction_digits == 4);
  CHECK(DigitsOf(n) == 1234500);
  CHECK(*end == ',');
}

TEST_CASE("up to nineteen digits are read as they stand") {
  uint64_t value = 0;
  const std::string nineteen = "9223372036854775808", twenty = "18446744073709551616",
                    mixed = "12.5";
  CHECK(NineteenDigits(nineteen.data(), nineteen.data() + 19, value));
  CHECK(value == uint64_t{1} << 63);
  CHECK_FALSE(NineteenDigits(twenty.data(), twenty.data() + 20, value));
  CHECK_FALSE(NineteenDigits(mixed.data(), mixed.data() + 4, value));
}

TEST_CASE("a double is the nearest one, overflow is told, underflow is zero") {
  struct Case {
    const char* text;
    bool single;
    NumberError error;
    double want;
  };
  const double kDenormal = std::numeric_limits<double>::denorm_min();
  const Case cases[] = {
      {"0", false, NumberError::kOk, 0},
      {"45.47", false, NumberError::kOk, 45.47},
      {"-1.5", false, NumberError::kOk, -1.5},
      {"0.1", true, NumberError::kOk, 0.1f},
      {"9007199254740993", false, NumberError::kOk, 9007199254740992.0},
      {"9007199254740993.00001", false, NumberError::kOk, 9007199254740994.0},
      {"1e308", false, NumberError::kOk, 1e308},
      {"1.7976931348623158e308", false, NumberError::kOk, std::numeric_limits<double>::max()},
      {"1e309", false, NumberError::kOverflow, 0},
      {"-1e309", false, NumberError::kOverflow, 0},
      {"1e99999999999999999999", false, NumberError::kOverflow, 0},
      {"0e99999999999999999999", false, NumberError::kOk, 0},
      {"1e-99999999999999999999", false, NumberError::kOk, 0},
      {"0.0000001e-400", false, NumberError::kOk, 0},
      {"10000000000e-400", false, NumberError::kOk, 0},
      {"0.00001e400", false, NumberError::kOverflow, 0},
      {"5e-324", false, NumberError::kOk, kDenormal},
      {"2.4703282292062327e-324", false, NumberError::kOk, 0},
      {"2.4703282292062328e-324", false, NumberError::kOk, kDenormal},
      {"3.4028235e38", true, NumberError::kOk, std::numeric_limits<float>::max()},
      {"3.4028236e38", true, NumberError::kOverflow, 0},
      {"1e39", true, NumberError::kOverflow, 0},
      {"1e-46", true, NumberError::kOk, 0},
      // Halfway between two floats by way of binary64, above it in truth.
      {"1.000000059604644775390626", true, NumberError::kOk, 1.00000011920928955078125},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const std::string padded = c.text + std::string(64, '\n');
    double value = 0;
    CHECK(ReadDouble(padded.data(), padded.data() + std::string(c.text).size(), c.single, value) ==
          c.error);
    if (c.error == NumberError::kOk) CHECK(value == c.want);
  }
}

TEST_CASE("the sign of a zero is kept") {
  for (const char* text : {"-0", "-0.0", "-0e5", "-1e-999"}) {
    const std::string padded = text + std::string(64, '\n');
    double value = 1;
    CHECK(ReadDouble(padded.data(), padded.data() + std::string(text).size(), false, value) ==
          NumberError::kOk);
    CHECK(value == 0);
    CHECK(std::signbit(value));
  }
}

}  // namespace
}  // namespace weir::json
