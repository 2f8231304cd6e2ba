#include "data/json_scan.h"

#include <doctest/doctest.h>

#include <string>

namespace weir::json {
namespace {

// Every byte at every place, between bytes that ask nothing and bytes that ask everything.
template <class Ask>
void ForEveryByteAndPlace(Ask&& ask) {
  for (const char around : {'a', '5', '"', '\xC3'}) {
    for (int place = 0; place < 32; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(48, around);
        text[static_cast<size_t>(place)] = static_cast<char>(byte);
        ask(text.data(), place);
      }
    }
  }
}

TEST_CASE("the vector forms answer as the portable ones") {
  ForEveryByteAndPlace([](const char* p, int) {
    REQUIRE(Scan::StringMask(p) == ScanPortable::StringMask(p));
    REQUIRE(Scan::NonDigitMask(p) == ScanPortable::NonDigitMask(p));
    char copy[16] = {}, other[16] = {};
    REQUIRE(Scan::StringMaskCopy(p, copy) == ScanPortable::StringMaskCopy(p, other));
    REQUIRE(std::string(copy, 16) == std::string(other, 16));
  });
}

TEST_CASE("compares see each single byte") {
  ForEveryByteAndPlace([](const char* p, int place) {
    alignas(16) char same[32], other[32];
    std::memcpy(same, p, 32);
    std::memcpy(other, p, 32);
    other[place] ^= 0x40;
    REQUIRE(Scan::EqualMask32(p, same) == 0xffffffff);
    REQUIRE(Scan::EqualMask32(p, other) == (0xffffffff ^ uint32_t{1} << place));
    REQUIRE(ScanPortable::EqualMask32(p, other) == (0xffffffff ^ uint32_t{1} << place));
    REQUIRE(Scan::Equal16(p, same));
    REQUIRE(Scan::Equal16(p, other) == (place >= 16));
    REQUIRE(ScanPortable::Equal16(p, other) == (place >= 16));
  });
}

TEST_CASE("the portable forms mark what ends a plain run and what is no digit") {
  for (int byte = 0; byte < 256; ++byte) {
    std::string text(16, '0');
    text[3] = static_cast<char>(byte);
    const bool special = byte == '"' || byte == '\\' || byte < 0x20 || byte >= 0x80;
    CHECK(ScanPortable::StringMask(text.data()) == (special ? 8u : 0u));
    CHECK(ScanPortable::NonDigitMask(text.data()) == (byte < '0' || byte > '9' ? 8u : 0u));
  }
}

TEST_CASE("digits become their number, whatever stands behind them") {
  const std::string digits = "9876543210123456";
  uint64_t want = 0;
  for (int n = 1; n <= 16; ++n) {
    want = want * 10 + static_cast<uint64_t>(digits[static_cast<size_t>(n - 1)] - '0');
    for (const char behind : {',', '}', '9', '\n', '\xFF'}) {
      std::string text = digits.substr(0, static_cast<size_t>(n)) + std::string(32, behind);
      CHECK(DigitsValue(text.data(), n) == want);
    }
  }
}

TEST_CASE("blanks are the JSON ones without the line feed") {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    CHECK(IsBlank(c) == (c == ' ' || c == '\t' || c == '\r'));
    if (IsBlank(c)) CHECK(MayBeBlank(c));
  }
  CHECK(*SkipBlanks(" \t\r \nx") == '\n');
}

}  // namespace
}  // namespace weir::json
