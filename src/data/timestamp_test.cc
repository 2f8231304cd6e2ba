#include "data/timestamp.h"

#include <doctest/doctest.h>

#include <string>

namespace weir {
namespace {

const SessionZone kUtc{};
const SessionZone kEast{2 * 3600 * 1000};

std::string Print(int64_t ticks, const Type& type, const SessionZone& zone = kUtc) {
  std::string s;
  AppendTimestamp(ticks, type, TimestampStyle::kSql, zone, s);
  return s;
}

// The text that prints the parsed value in UTC terms, or the reason.
std::string Read(std::string_view text, const Type& type, const SessionZone& zone = kUtc) {
  const TimeParse p = ParseTimestamp(text, type, zone);
  if (!p.ok) return p.reason;
  Type plain = type;
  plain.kind = TypeKind::kTimestamp;
  return Print(p.ticks, plain);
}

TEST_CASE("days and civil dates are inverse over the whole range") {
  CHECK(DaysFromCivil(1970, 1, 1) == 0);
  CHECK(DaysFromCivil(2000, 3, 1) == 11017);
  CHECK(DaysFromCivil(1, 1, 1) == -719162);
  CHECK(DaysFromCivil(9999, 12, 31) == 2932896);
  int64_t expected = DaysFromCivil(1, 1, 1);
  for (int y = 1; y <= 9999; ++y) {
    for (int m = 1; m <= 12; ++m) {
      for (int d = 1; IsValidDate(y, m, d); ++d, ++expected) {
        if (DaysFromCivil(y, m, d) != expected) FAIL("at ", y, "-", m, "-", d);
        const CivilTime t = CivilFromTicks(expected * 86400, 1);
        if (t.year != y || t.month != m || t.day != d) FAIL("back at ", y, "-", m, "-", d);
      }
    }
  }
  CHECK(expected == 2932897);
}

TEST_CASE("text of a timestamp: SQL and ISO, every offset form") {
  const struct {
    const char* given;
    const char* want;
  } cases[] = {
      {"2024-03-01 10:00:00", "2024-03-01 10:00:00.000"},
      {"2024-03-01T10:00:00", "2024-03-01 10:00:00.000"},
      {"2024-03-01t10:00:00z", "2024-03-01 10:00:00.000"},
      {"2024-03-01T10:00", "2024-03-01 10:00:00.000"},
      {"2024-03-01T10:00+01", "2024-03-01 09:00:00.000"},
      {"2024-03-01 10:00:00.5", "2024-03-01 10:00:00.500"},
      {"2024-03-01 10:00:00,5", "2024-03-01 10:00:00.500"},
      {"2024-03-01 10:00:00.1239999999999", "2024-03-01 10:00:00.123"},
      {"2026-07-03T14:20:00Z", "2026-07-03 14:20:00.000"},
      {"2026-07-03T14:20:00+02:00", "2026-07-03 12:20:00.000"},
      {"2026-07-03T14:20:00+0200", "2026-07-03 12:20:00.000"},
      {"2026-07-03T14:20:00+02", "2026-07-03 12:20:00.000"},
      {"2026-07-03T14:20:00-00:00", "2026-07-03 14:20:00.000"},
      {"2026-07-03T14:20:00.250-05:30", "2026-07-03 19:50:00.250"},
      {"2026-07-03 14:20:00+02:00", "2026-07-03 12:20:00.000"},
      {"2026-07-03T14:20:00+18:00", "2026-07-02 20:20:00.000"},
      {"1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999"},
      {"0001-01-01 00:00:00", "0001-01-01 00:00:00.000"},
      {"9999-12-31 23:59:59.999", "9999-12-31 23:59:59.999"},
      {"2024-02-29 10:00:00", "2024-02-29 10:00:00.000"},
      {"2000-02-29 10:00:00", "2000-02-29 10:00:00.000"},
      {"2023-02-29 10:00:00", "no such day"},
      {"1900-02-29 10:00:00", "no such day"},
      {"2024-04-31 00:00:00", "no such day"},
      {"2024-04-00 00:00:00", "no such day"},
      {"2024-03-01 24:00:00", "hour 24"},
      {"2024-03-01 10:60:00", "minute 60"},
      {"2024-03-01 10:00:60", "second 60"},
      {"2024-13-01 00:00:00", "month 13"},
      {"2024-00-01 00:00:00", "month 0"},
      {"0000-01-01 00:00:00", "year 0"},
      {"2024-3-1 1:2:3", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01 10:00", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01", "not yyyy-MM-dd HH:mm:ss"},
      {"", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01 10:00:00.", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01 10:00:00x", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01_10:00:00", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01 10:00:00 CEST", "a zone is Z or an offset (+02:00) behind the time, not a name"},
      {"2024-03-01T10:00:00[Europe/Berlin]",
       "a zone is Z or an offset (+02:00) behind the time, not a name"},
      {"1709287200123",
       "an epoch number in text: TO_TIMESTAMP_LTZ(CAST(.. AS BIGINT), 0 or 3) reads it"},
      {"2024-03-01 10:00:0", "not yyyy-MM-dd HH:mm:ss"},
      {"+2024-03-01 10:00:00", "not yyyy-MM-dd HH:mm:ss"},
      {"2024-03-01T10:00:00+2", "no such zone offset"},
      {"2024-03-01T10:00:00+02:60", "no such zone offset"},
      {"2024-03-01T10:00:00+18:01", "no such zone offset"},
      {"2024-03-01T10:00:00+02:00:00", "no such zone offset"},
      {"2024-03-01T10:00:00Zx", "no such zone offset"},
      {"0001-01-01T00:00:00+01:00", "outside years 0001..9999"},
      {"9999-12-31T23:59:59-01:00", "outside years 0001..9999"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    CHECK(Read(c.given, Type::TimestampLtz(3)) == c.want);
    CHECK(Read(c.given, Type::Timestamp(3)) == c.want);  // the session zone is UTC
  }
}

TEST_CASE("the session zone places text without offset, and shows instants without zone") {
  CHECK(Read("2024-03-01 10:00:00", Type::TimestampLtz(3), kEast) == "2024-03-01 08:00:00.000");
  CHECK(Read("2024-03-01 10:00:00", Type::Timestamp(3), kEast) == "2024-03-01 10:00:00.000");
  CHECK(Read("2024-03-01T10:00:00Z", Type::TimestampLtz(3), kEast) == "2024-03-01 10:00:00.000");
  CHECK(Read("2024-03-01T10:00:00Z", Type::Timestamp(3), kEast) == "2024-03-01 12:00:00.000");
  CHECK(Print(0, Type::TimestampLtz(3), kEast) == "1970-01-01 02:00:00.000");
  CHECK(Print(0, Type::Timestamp(3), kEast) == "1970-01-01 00:00:00.000");
  std::string iso;
  AppendTimestamp(0, Type::TimestampLtz(0), TimestampStyle::kIso8601, kEast, iso);
  CHECK(iso == "1970-01-01T00:00:00Z");
  iso.clear();
  AppendTimestamp(1, Type::Timestamp(3), TimestampStyle::kIso8601, kEast, iso);
  CHECK(iso == "1970-01-01T00:00:00.001");
}

TEST_CASE("fraction digits beyond the precision are cut, ticks follow the precision") {
  const char* text = "1969-12-31 23:59:59.123456789";
  const char* want[] = {"1969-12-31 23:59:59",          "1969-12-31 23:59:59.1",
                        "1969-12-31 23:59:59.12",       "1969-12-31 23:59:59.123",
                        "1969-12-31 23:59:59.1234",     "1969-12-31 23:59:59.12345",
                        "1969-12-31 23:59:59.123456",   "1969-12-31 23:59:59.1234567",
                        "1969-12-31 23:59:59.12345678", "1969-12-31 23:59:59.123456789"};
  for (int p = 0; p <= 9; ++p) CHECK(Read(text, Type::Timestamp(p)) == want[p]);
  CHECK(ParseTimestamp(text, Type::Timestamp(6), kUtc).ticks == -876544);
  CHECK(ParseTimestamp(text, Type::Timestamp(9), kUtc).ticks == -876543211);
}

TEST_CASE("nanoseconds reach from 1677 to 2262") {
  const Type ns = Type::Timestamp(9);
  CHECK(ParseTimestamp("1677-09-21 00:12:43.145224192", ns, kUtc).ticks == INT64_MIN);
  CHECK(!ParseTimestamp("1677-09-21 00:12:43.145224191", ns, kUtc).ok);
  CHECK(ParseTimestamp("2262-04-11 23:47:16.854775807", ns, kUtc).ticks == INT64_MAX);
  CHECK(Read("2262-04-11 23:47:16.854775808", ns) ==
        "outside years 1677..2262, the range of nanoseconds");
  CHECK(Print(INT64_MIN, ns) == "1677-09-21 00:12:43.145224192");
  CHECK(Print(INT64_MAX, ns) == "2262-04-11 23:47:16.854775807");
}

TEST_CASE("dates") {
  CHECK(ParseDate("1970-01-02").ticks == 1);
  CHECK(ParseDate("0001-01-01").ticks == -719162);
  CHECK(std::string(ParseDate("2023-02-29").reason) == "no such day");
  CHECK(std::string(ParseDate("2023-2-9").reason) == "not yyyy-MM-dd");
  CHECK(std::string(ParseDate("2023-02-09 ").reason) == "not yyyy-MM-dd");
  std::string s;
  AppendDate(-1, s);
  CHECK(s == "1969-12-31");
}

TEST_CASE("epoch numbers are exact, cut downwards, and refused with a hint when out of range") {
  const Type ms = Type::TimestampLtz(3);
  const struct {
    const char* given;
    EpochUnit unit;
    const char* want;
  } cases[] = {
      {"1709287200", EpochUnit::kSeconds, "2024-03-01 10:00:00.000"},
      {"1709287261.5", EpochUnit::kSeconds, "2024-03-01 10:01:01.500"},
      {"1.709287261e9", EpochUnit::kSeconds, "2024-03-01 10:01:01.000"},
      {"1709287200123", EpochUnit::kMillis, "2024-03-01 10:00:00.123"},
      {"1709287200123456", EpochUnit::kMicros, "2024-03-01 10:00:00.123"},
      {"1709287200123456789", EpochUnit::kNanos, "2024-03-01 10:00:00.123"},
      {"-0.0001", EpochUnit::kSeconds, "1969-12-31 23:59:59.999"},
      {"-62135596800", EpochUnit::kSeconds, "0001-01-01 00:00:00.000"},
      {"253402300799.999", EpochUnit::kSeconds, "9999-12-31 23:59:59.999"},
      {"-62135596800.001", EpochUnit::kSeconds,
       "outside years 0001..9999; did you mean milliseconds?"},
      {"-62135596800000000000", EpochUnit::kNanos, "0001-01-01 00:00:00.000"},
      {"-62135596800000000001", EpochUnit::kNanos, "outside years 0001..9999"},
      {"253402300800", EpochUnit::kSeconds, "outside years 0001..9999; did you mean milliseconds?"},
      {"1709287200123", EpochUnit::kSeconds,
       "outside years 0001..9999; did you mean milliseconds?"},
      {"1709287200123456", EpochUnit::kSeconds,
       "outside years 0001..9999; did you mean microseconds?"},
      {"1709287200123456789", EpochUnit::kMillis,
       "outside years 0001..9999; did you mean nanoseconds?"},
      {"1e99", EpochUnit::kSeconds, "outside years 0001..9999"},
      {"12x", EpochUnit::kSeconds, "not a number"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const TimeParse p = ParseEpochNumber(c.given, c.unit, ms);
    CHECK((p.ok ? Print(p.ticks, ms) : std::string(p.reason)) == c.want);
  }
  CHECK(ParseEpochNumber("1709287200123456789", EpochUnit::kNanos, Type::Timestamp(9)).ticks ==
        1709287200123456789);
  CHECK(ParseEpochNumber("0", EpochUnit::kNanos, Type::Timestamp(3), kEast).ticks == 7200000);
  CHECK(ParseEpochNumber("0", EpochUnit::kNanos, ms, kEast).ticks == 0);
  CHECK(DescribeEpochFailure("1709287200123", EpochUnit::kSeconds, ms) ==
        "1709287200123 s is year 56135, outside TIMESTAMP 0001..9999; did you mean milliseconds?");
  CHECK(DescribeEpochFailure("1e40", EpochUnit::kMillis, ms) ==
        "1e40 ms is outside years 0001..9999");
  CHECK(DescribeEpochFailure("9999999999", EpochUnit::kSeconds, Type::Timestamp(9)) ==
        "9999999999 s is outside years 1677..2262, the range of nanoseconds");
}

TEST_CASE("zones are UTC or a fixed offset; named ones are refused by name") {
  const struct {
    const char* given;
    int64_t want_minutes;  // -1: refused
  } cases[] = {
      {"UTC", 0},
      {"utc", 0},
      {"Z", 0},
      {"GMT", 0},
      {"+02:00", 120},
      {"-05:30", -330},
      {"+0200", 120},
      {"+02", 120},
      {"GMT+8", 480},
      {"UTC+08:00", 480},
      {"GMT-08:00", -480},
      {"+18:00", 1080},
      {"+18:01", -1},
      {"Europe/Berlin", -1},
      {"", -1},
      {"CET", -1},
      {"UTCZ", -1},
      {"+2:0", -1},
      {"+", -1},
      {"02:00", -1},
  };
  for (const auto& c : cases) {
    CAPTURE(c.given);
    const Result<SessionZone> zone = ParseZone(c.given);
    CHECK(zone.has_value() == (c.want_minutes != -1));
    if (zone.has_value()) CHECK(zone->offset_ms == c.want_minutes * 60000);
  }
  CHECK(ParseZone("Europe/Berlin").error().message().find("'Europe/Berlin'") != std::string::npos);
}

}  // namespace
}  // namespace weir
