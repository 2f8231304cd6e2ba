#include <doctest/doctest.h>

#include <string>

#include "data/timestamp.h"

namespace weir {
namespace {

const SessionZone kUtc{};
const SessionZone kWest{-5 * 3600 * 1000 - 1800 * 1000};

std::string Format(std::string_view pattern, int64_t ticks, const Type& type,
                   const SessionZone& zone = kUtc) {
  const auto p = TimePattern::Compile(pattern);
  if (!p.has_value()) return p.error().message();
  std::string s;
  p->Format(ticks, type, zone, s);
  return s;
}

std::string Parse(std::string_view pattern, std::string_view text,
                  const Type& type = Type::Timestamp(3), const SessionZone& zone = kUtc) {
  const auto p = TimePattern::Compile(pattern);
  if (!p.has_value()) return p.error().message();
  const TimeParse t = p->Parse(text, type, zone);
  if (!t.ok) return t.reason;
  std::string s;
  AppendTimestamp(t.ticks, Type::Timestamp(3), TimestampStyle::kSql, kUtc, s);
  return s;
}

TEST_CASE("patterns print") {
  const int64_t t = 1709287261005;  // 2024-03-01 10:01:01.005, a Friday
  const struct {
    const char* pattern;
    const char* want;
  } cases[] = {
      {"yyyy-MM-dd HH:mm:ss.SSS", "2024-03-01 10:01:01.005"},
      {"uuuu", "2024"},
      {"M/d H:m:s", "3/1 10:1:1"},
      {"dd MMM yyyy", "01 Mar 2024"},
      {"EEEE, d MMMM", "Friday, 1 March"},
      {"E", "Fri"},
      {"hh:mm a", "10:01 AM"},
      {"yyyy-MM-dd'T'HH:mm:ssXXX", "2024-03-01T10:01:01Z"},
      {"Z xxx xx x X", "+0000 +00:00 +0000 +00 Z"},
      {"S SSSSSS", "0 005000"},
      {"'it''s' yyyy''", "it's 2024'"},
      {"", ""},
  };
  for (const auto& c : cases) {
    CAPTURE(c.pattern);
    CHECK(Format(c.pattern, t, Type::Timestamp(3)) == c.want);
  }
  CHECK(Format("h a", 0, Type::Timestamp(3)) == "12 AM");
  CHECK(Format("h a", 13 * 3600000, Type::Timestamp(3)) == "1 PM");
  CHECK(Format("HH:mm XXX Z x", 0, Type::TimestampLtz(3), kWest) == "18:30 -05:30 -0530 -0530");
  CHECK(Format("yyyy-MM-dd EEE", -1, Type::Timestamp(3)) == "1969-12-31 Wed");
}

TEST_CASE("patterns read") {
  const struct {
    const char* pattern;
    const char* text;
    const char* want;
  } cases[] = {
      {"yyyy-MM-dd", "2024-03-01", "2024-03-01 00:00:00.000"},
      {"dd/MMM/yyyy:HH:mm:ss Z", "17/May/2015:10:05:03 +0000", "2015-05-17 10:05:03.000"},
      {"dd/MMM/yyyy:HH:mm:ss Z", "17/May/2015:10:05:03 -0700", "2015-05-17 17:05:03.000"},
      {"yyyyMMddHHmmssSSS", "20240301100101005", "2024-03-01 10:01:01.005"},
      {"d.M.yyyy H:m", "1.3.2024 9:5", "2024-03-01 09:05:00.000"},
      {"hh:mm a", "12:05 am", "1970-01-01 00:05:00.000"},
      {"hh:mm a", "12:05 PM", "1970-01-01 12:05:00.000"},
      {"EEE, d MMM yyyy", "Fri, 1 Mar 2024", "2024-03-01 00:00:00.000"},
      {"EEE, d MMM yyyy", "Sat, 1 Mar 2024", "another day of the week"},
      {"MMMM d yyyy", "March 1 2024", "2024-03-01 00:00:00.000"},
      {"MMM d yyyy", "Mrz 1 2024", "no such month"},
      {"yyyy-MM-dd'T'HH:mm:ssXXX", "2024-03-01T10:00:00+02:00", "2024-03-01 08:00:00.000"},
      {"yyyy-MM-dd", "2024-02-30", "no such day"},
      {"yyyy-MM-dd", "2024-3-1", "does not match the pattern"},
      {"yyyy-MM-dd", "2024-03-01x", "does not match the pattern"},
      {"yyyy-MM-dd", "2024-03", "does not match the pattern"},
      {"yyyy-MM-dd", "", "does not match the pattern"},
      {"yyyy HH", "2024 24", "hour 24"},
      {"hh a", "13 PM", "an hour of the half day is 1 to 12"},
      {"hh a", "0x PM", "does not match the pattern"},
      {"hh:mm", "10:00", "the pattern has h without a (AM or PM): use H"},
      {"a hh", "XM 10", "does not match the pattern"},
      {"E", "Xyz", "does not match the pattern"},
      {"SSS", "12", "does not match the pattern"},
      {"HH Z", "10 +99", "no such zone offset"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.pattern);
    CAPTURE(c.text);
    CHECK(Parse(c.pattern, c.text) == c.want);
  }
  CHECK(Parse("yyyy-MM-dd HH", "2024-03-01 00", Type::TimestampLtz(3), kWest) ==
        "2024-03-01 05:30:00.000");
  CHECK(Parse("yyyy-MM-dd HH X", "2024-03-01 00 Z", Type::Timestamp(3), kWest) ==
        "2024-02-29 18:30:00.000");
}

TEST_CASE("a pattern that would lie is refused when it is compiled") {
  const struct {
    const char* pattern;
    const char* essence;
  } cases[] = {
      {"YYYY-MM-dd", "did you mean 'yyyy'"},
      {"yyyy-MM-DD", "did you mean 'dd'"},
      {"yy", "did you mean 'yyyy'"},
      {"yyyy-MM-dd q", "'q' is not supported"},
      {"HHH", "'HHH' is not supported"},
      {"SSSSSSSSSS", "is not supported"},
      {"yyyy'T", "does not end"},
      {"[HH]", "'[' is not supported"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.pattern);
    const auto p = TimePattern::Compile(c.pattern);
    REQUIRE(!p.has_value());
    CHECK(p.error().message().find(c.essence) != std::string::npos);
  }
}

}  // namespace
}  // namespace weir
