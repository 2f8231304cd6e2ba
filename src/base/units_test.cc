#include "base/units.h"

#include <doctest/doctest.h>

namespace weir {
namespace {

TEST_CASE("a duration is a whole number and a unit") {
  struct Case {
    std::string_view given;
    int64_t want;
  };
  const Case cases[] = {
      {"0 ms", 0},
      {"500 ms", 500},
      {"2 s", 2000},
      {"2s", 2000},
      {" 10 Minutes ", 600'000},
      {"1 min", 60'000},
      {"3 h", 10'800'000},
      {"1 d", 86'400'000},
      {"1 DAY", 86'400'000},
      {"36525 d", 3'155'760'000'000},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    CHECK(ParseDurationMs(c.given).value() == c.want);
  }
}

TEST_CASE("a duration that is not one is refused with its text and a way to write it") {
  struct Case {
    std::string_view given;
    std::string_view want;
  };
  const Case cases[] = {
      {"", "'' is no duration: it starts with a whole number that is not negative, as in '2 s'"},
      {"s", "'s' is no duration: it starts with a whole number that is not negative, as in '2 s'"},
      {"-1 s",
       "'-1 s' is no duration: it starts with a whole number that is not negative, as in '2 s'"},
      {"10", "'10' is no duration: the unit is missing, as in '2 s'"},
      {"1.5 s",
       "'1.5 s' is no duration: the number is not whole: take a smaller unit, as in '2 s'"},
      {"1 us", "'1 us' is no duration: unknown unit 'us', as in '2 s'"},
      {"1 MiB", "'1 MiB' is no duration: unknown unit 'mib', as in '2 s'"},
      {"36526 d", "'36526 d' is no duration: it is too large, as in '2 s'"},
      {"99999999999999999999 ms",
       "'99999999999999999999 ms' is no duration: it is too large, as in '2 s'"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    const Result<int64_t> got = ParseDurationMs(c.given);
    REQUIRE_FALSE(got.has_value());
    CHECK(got.error().code() == Code::kInvalid);
    CHECK(got.error().message() == c.want);
  }
}

TEST_CASE("a size is a whole number and a unit, powers of 1024 throughout") {
  struct Case {
    std::string_view given;
    int64_t want;
  };
  const Case cases[] = {
      {"1 B", 1},
      {"64 MiB", 64 << 20},
      {"64mb", 64 << 20},
      {"3 kb", 3072},
      {"1 GiB", int64_t{1} << 30},
      {"2 TB", int64_t{2} << 40},
      {"4194304 TiB", int64_t{1} << 62},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    CHECK(ParseSizeBytes(c.given).value() == c.want);
  }
  for (const char* bad : {"", "1", "1 s", "-1 B", "4194305 TiB"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseSizeBytes(bad).has_value());
  }
}

TEST_CASE("what is printed reads back as the same value") {
  for (const int64_t ms : {int64_t{0}, int64_t{1}, int64_t{999}, int64_t{1000}, int64_t{90'000},
                           int64_t{86'400'000}, int64_t{3'155'760'000'000}}) {
    CAPTURE(ms);
    CHECK(ParseDurationMs(FormatDurationMs(ms)).value() == ms);
  }
  for (const int64_t bytes :
       {int64_t{0}, int64_t{123}, int64_t{1024}, int64_t{48} << 20, int64_t{1} << 62}) {
    CAPTURE(bytes);
    CHECK(ParseSizeBytes(FormatSizeBytes(bytes)).value() == bytes);
  }
  CHECK(FormatDurationMs(1000) == "1 s");
  CHECK(FormatDurationMs(120'000) == "2 min");
  CHECK(FormatDurationMs(1500) == "1500 ms");
  CHECK(FormatSizeBytes(48 << 20) == "48 MiB");
  CHECK(FormatSizeBytes(123) == "123 B");
}

}  // namespace
}  // namespace weir
