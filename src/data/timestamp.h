// Calendar arithmetic and the text of times. Proleptic Gregorian, years 0001..9999, no leap
// seconds, no locale, no TZ: the session zone is a parameter (UTC or a fixed offset for now).
#ifndef WEIR_DATA_TIMESTAMP_H_
#define WEIR_DATA_TIMESTAMP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/types.h"

namespace weir {

struct CivilTime {
  int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
  int nanosecond = 0;
};
bool IsValidDate(int year, int month, int day);       // 0001-01-01 .. 9999-12-31
int64_t DaysFromCivil(int year, int month, int day);  // days since 1970-01-01
CivilTime CivilFromTicks(int64_t ticks, int64_t ticks_per_second);

// The session zone (`table.local-time-zone`): 'UTC', 'Z', '+02:00'. offset_ms is added to UTC to
// get local time.
struct SessionZone {
  int64_t offset_ms = 0;
};
Result<SessionZone> ParseZone(std::string_view text);

// Why a text is no timestamp. The message is for a dead letter: "no such day", "hour 24", "not
// yyyy-MM-dd HH:mm:ss".
struct TimeParse {
  bool ok = false;
  int64_t ticks = 0;
  const char* reason = "";
};
// SQL ('2024-03-01 10:00:00.5') and ISO-8601 ('2024-03-01T10:00:00,5+02:00', basic offsets +02,
// +0200, Z) alike. Fraction digits beyond the type's precision are cut. With an offset into
// TIMESTAMP: that instant in the session zone; without one into TIMESTAMP_LTZ: the text is in the
// session zone. ISO-8601 text ('T' or 't') may leave the seconds out, as Flink's; 24:00 and second
// 60 are refused; offsets reach to 18:00. Result: ticks of `type` (TIMESTAMP: local ticks; LTZ: UTC
// ticks).
TimeParse ParseTimestamp(std::string_view text, const Type& type, const SessionZone& zone);
TimeParse ParseDate(std::string_view text);  // ticks = days
// A number of `unit` since 1970 (text of a JSON number, fraction allowed) into ticks of `type`. It
// is an instant: TIMESTAMP holds it in `zone`.
enum class EpochUnit { kSeconds, kMillis, kMicros, kNanos };
TimeParse ParseEpochNumber(std::string_view number, EpochUnit unit, const Type& type,
                           const SessionZone& zone = {});
// The long reason after ParseEpochNumber failed: "1709287200123 s is year 56135, outside TIMESTAMP
// 0001..9999; did you mean milliseconds?"
std::string DescribeEpochFailure(std::string_view number, EpochUnit unit, const Type& type);

// Output, with as many fraction digits as the precision. SQL: '2024-03-01 10:00:00.000', LTZ in the
// session zone (what CAST prints). ISO: '2024-03-01T10:00:00.000', LTZ in UTC with 'Z'. Encoders
// write LTZ in SQL style in UTC with 'Z', as Flink does.
enum class TimestampStyle { kSql, kIso8601 };
void AppendTimestamp(int64_t ticks, const Type& type, TimestampStyle style, const SessionZone& zone,
                     std::string& out);
void AppendDate(int64_t days, std::string& out);

// DATE_FORMAT / TO_TIMESTAMP patterns, a subset of java.time's letters: yyyy (uuuu), M MM MMM MMMM,
// d dd, H HH, h hh, a, m mm, s ss, S to SSSSSSSSS, E to EEEE, Z XXX XX X xxx xx x, quoted text. In
// both directions; names are English, in any case when read. One letter reads one or two digits,
// two read exactly two. What a pattern does not hold is that of 1970-01-01 00:00:00. A day of the
// week that is not the date's is refused. Compiling refuses unknown letters, YYYY (week year; the
// message suggests yyyy) and D.
class TimePattern {
 public:
  static Result<TimePattern> Compile(std::string_view pattern);
  void Format(int64_t ticks, const Type& type, const SessionZone& zone, std::string& out) const;
  TimeParse Parse(std::string_view text, const Type& type, const SessionZone& zone) const;

 private:
  struct Item {
    char letter;  // 0: the literal
    int count;
    std::string literal;
  };
  struct Fields;
  // Null, or the reason.
  const char* ReadItem(const Item& item, const char*& p, const char* end, Fields& fields) const;
  std::vector<Item> items_;
};

}  // namespace weir

#endif  // WEIR_DATA_TIMESTAMP_H_
