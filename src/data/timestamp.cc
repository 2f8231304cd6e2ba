#include "data/timestamp.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "data/decimal.h"
#include "data/time_fields.h"

namespace weir {
namespace {

constexpr int64_t kSecondsADay = 86400;

// Reasons that name a value ("month 13") are built at compile time: TimeParse carries a pointer, no
// allocation.
template <size_t N>
constexpr auto MakeReasons(const char (&word)[N]) {
  std::array<std::array<char, N + 3>, 100> all{};
  for (size_t v = 0; v < all.size(); ++v) {
    size_t at = 0;
    for (; at + 1 < N; ++at) all[v][at] = word[at];
    all[v][at++] = ' ';
    if (v >= 10) all[v][at++] = static_cast<char>('0' + v / 10);
    all[v][at++] = static_cast<char>('0' + v % 10);
  }
  return all;
}
constexpr auto kMonthReasons = MakeReasons("month");
constexpr auto kHourReasons = MakeReasons("hour");
constexpr auto kMinuteReasons = MakeReasons("minute");
constexpr auto kSecondReasons = MakeReasons("second");

bool IsLeap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysInMonth(int year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

bool Digits(const char* p, int count, int* out) {
  int v = 0;
  for (int i = 0; i < count; ++i) {
    if (!IsDigit(p[i])) return false;
    v = v * 10 + (p[i] - '0');
  }
  *out = v;
  return true;
}

int64_t FloorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

void PutDigits(int64_t v, int count, std::string& out) {
  char text[20];
  for (int i = count - 1; i >= 0; --i) {
    text[i] = static_cast<char>('0' + v % 10);
    v /= 10;
  }
  out.append(text, static_cast<size_t>(count));
}

// "yyyy-MM-dd" at p, which has at least 10 characters.
bool ReadDate(const char* p, CivilTime* t) {
  return Digits(p, 4, &t->year) && p[4] == '-' && Digits(p + 5, 2, &t->month) && p[7] == '-' &&
         Digits(p + 8, 2, &t->day);
}

// The fraction behind the seconds; its digits beyond nanoseconds are cut.
bool ReadFraction(const char*& p, const char* end, int* nanosecond) {
  if (p == end || (*p != '.' && *p != ',')) return true;
  ++p;
  int digits = 0, v = 0;
  for (; p != end && IsDigit(*p); ++p, ++digits) {
    if (digits < 9) v = v * 10 + (*p - '0');
  }
  if (digits == 0) return false;
  for (int i = digits; i < 9; ++i) v *= 10;
  *nanosecond = v;
  return true;
}

constexpr char kTimestampForm[] = "not yyyy-MM-dd HH:mm:ss";
constexpr char kZoneForm[] = "a zone is Z or an offset (+02:00) behind the time, not a name";
constexpr char kEpochText[] =
    "an epoch number in text: TO_TIMESTAMP_LTZ(CAST(.. AS BIGINT), 0 or 3) reads it";
constexpr char kTimestampRange[] = "outside years 0001..9999";
constexpr char kNanosRange[] = "outside years 1677..2262, the range of nanoseconds";

}  // namespace

bool IsValidDate(int year, int month, int day) {
  return year >= 1 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
         day <= DaysInMonth(year, month);
}

// Years are counted from March, so that the leap day is the last of its year: the days before month
// m of such a year are then a straight line, (153 m + 2) / 5.
int64_t DaysFromCivil(int year, int month, int day) {
  const int64_t y = month <= 2 ? int64_t{year} - 1 : year;
  const int64_t m = month <= 2 ? month + 9 : month - 3;
  const int64_t leap_days = FloorDiv(y, 4) - FloorDiv(y, 100) + FloorDiv(y, 400);
  return 365 * y + leap_days + (153 * m + 2) / 5 + (day - 1) - 719468;
}

CivilTime CivilFromTicks(int64_t ticks, int64_t ticks_per_second) {
  const int64_t seconds = FloorDiv(ticks, ticks_per_second);
  // Not ticks - seconds * ticks_per_second: that product does not fit for the first nanoseconds.
  const int64_t part =
      ticks % ticks_per_second + (ticks % ticks_per_second < 0 ? ticks_per_second : 0);
  int64_t days = FloorDiv(seconds, kSecondsADay);
  const int64_t of_day = seconds - days * kSecondsADay;
  // The inverse of DaysFromCivil: 400-year cycles of 146097 days, then centuries, 4 years, years.
  days += 719468;
  const int64_t cycle = FloorDiv(days, 146097);
  int64_t rest = days - cycle * 146097;
  int64_t century = rest / 36524;
  if (century == 4) century = 3;  // the leap day that only the cycle's end has
  rest -= century * 36524;
  const int64_t four = rest / 1461;
  rest -= four * 1461;
  int64_t one = rest / 365;
  if (one == 4) one = 3;
  rest -= one * 365;
  const int64_t m = (5 * rest + 2) / 153;
  CivilTime t;
  t.day = static_cast<int>(rest - (153 * m + 2) / 5 + 1);
  t.month = static_cast<int>(m < 10 ? m + 3 : m - 9);
  t.year = static_cast<int>(cycle * 400 + century * 100 + four * 4 + one + (m >= 10 ? 1 : 0));
  t.hour = static_cast<int>(of_day / 3600);
  t.minute = static_cast<int>(of_day / 60 % 60);
  t.second = static_cast<int>(of_day % 60);
  t.nanosecond = static_cast<int>(part * (1000000000 / ticks_per_second));
  return t;
}

namespace time_fields {

const char* WhyInvalidDate(const CivilTime& t) {
  if (t.year < 1) return "year 0";
  if (t.month < 1 || t.month > 12) return kMonthReasons[static_cast<size_t>(t.month % 100)].data();
  if (t.day < 1 || t.day > DaysInMonth(t.year, t.month)) return "no such day";
  return nullptr;
}

const char* WhyInvalidTime(const CivilTime& t) {
  if (t.hour > 23) return kHourReasons[static_cast<size_t>(t.hour % 100)].data();
  if (t.minute > 59) return kMinuteReasons[static_cast<size_t>(t.minute % 100)].data();
  if (t.second > 59) return kSecondReasons[static_cast<size_t>(t.second % 100)].data();
  return nullptr;
}

bool ReadOffset(const char*& p, const char* end, int* seconds) {
  if (p == end) return false;
  if (*p == 'Z' || *p == 'z') {
    ++p;
    *seconds = 0;
    return true;
  }
  if (*p != '+' && *p != '-') return false;
  const bool west = *p++ == '-';
  int hours = 0, minutes = 0;
  if (end - p < 2 || !Digits(p, 2, &hours)) return false;
  p += 2;
  if (end - p >= 3 && *p == ':') {
    if (!Digits(p + 1, 2, &minutes)) return false;
    p += 3;
  } else if (end - p >= 2 && IsDigit(*p)) {
    if (!Digits(p, 2, &minutes)) return false;
    p += 2;
  }
  if (minutes > 59 || hours * 60 + minutes > kOffsetMinutesMax) return false;
  *seconds = (hours * 3600 + minutes * 60) * (west ? -1 : 1);
  return true;
}

TimeParse ToTicks(int64_t seconds, int nanosecond, const Type& type) {
  static constexpr int kCut[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                 10000,      1000,      100,      10,      1};
  if (seconds < kSecondsMin || seconds > kSecondsMax) return {false, 0, kTimestampRange};
  const int64_t per_second = TicksPerMs(type) * 1000;
  nanosecond -= nanosecond % kCut[type.precision];
  int64_t ticks = 0;
  // In 128 bits: the first second that nanoseconds reach begins before the first nanosecond that 64
  // bits hold.
  const Int128 wide =
      Int128{seconds} * per_second + nanosecond / static_cast<int>(1000000000 / per_second);
  ticks = static_cast<int64_t>(wide);
  if (ticks != wide) return {false, 0, kNanosRange};
  return {true, ticks, ""};
}

TimeParse FromFields(const CivilTime& t, bool has_offset, int offset_seconds, const Type& type,
                     const SessionZone& zone) {
  int64_t seconds = DaysFromCivil(t.year, t.month, t.day) * kSecondsADay + t.hour * 3600 +
                    t.minute * 60 + t.second;
  const int64_t session_seconds = zone.offset_ms / 1000;
  if (has_offset) seconds -= offset_seconds;
  const bool instant = type.kind == TypeKind::kTimestampLtz;
  if (has_offset && !instant) seconds += session_seconds;
  if (!has_offset && instant) seconds -= session_seconds;
  if (type.kind == TypeKind::kDate) {  // its ticks are days
    if (seconds < kSecondsMin || seconds > kSecondsMax) return {false, 0, kTimestampRange};
    const int64_t day = seconds % kSecondsADay;
    return {true, (seconds - (day < 0 ? day + kSecondsADay : day)) / kSecondsADay, ""};
  }
  return ToTicks(seconds, t.nanosecond, type);
}

}  // namespace time_fields

TimeParse ParseTimestamp(std::string_view text, const Type& type, const SessionZone& zone) {
  const char* p = text.data();
  const char* const end = p + text.size();
  CivilTime t;
  if (text.size() < 16 || !ReadDate(p, &t)) {
    const bool number = text.size() >= 9 && text.size() <= 19 && std::ranges::all_of(text, IsDigit);
    return {false, 0, number ? kEpochText : kTimestampForm};
  }
  const bool iso = p[10] == 'T' || p[10] == 't';
  if (!iso && p[10] != ' ') return {false, 0, kTimestampForm};
  if (!Digits(p + 11, 2, &t.hour) || p[13] != ':' || !Digits(p + 14, 2, &t.minute)) {
    return {false, 0, kTimestampForm};
  }
  p += 16;
  if (end - p >= 3 && *p == ':') {
    if (!Digits(p + 1, 2, &t.second)) return {false, 0, kTimestampForm};
    p += 3;
    if (!ReadFraction(p, end, &t.nanosecond)) return {false, 0, kTimestampForm};
  } else if (!iso) {
    return {false, 0, kTimestampForm};  // ISO 8601 alone may leave the seconds out
  }
  int offset_seconds = 0;
  bool has_offset = false;
  if (p != end) {
    has_offset = *p == 'Z' || *p == 'z' || *p == '+' || *p == '-';
    if (!has_offset) return {false, 0, *p == ' ' || *p == '[' ? kZoneForm : kTimestampForm};
    if (!time_fields::ReadOffset(p, end, &offset_seconds) || p != end) {
      return {false, 0, "no such zone offset"};
    }
  }
  if (const char* why = time_fields::WhyInvalidDate(t)) return {false, 0, why};
  if (const char* why = time_fields::WhyInvalidTime(t)) return {false, 0, why};
  return time_fields::FromFields(t, has_offset, offset_seconds, type, zone);
}

TimeParse ParseDate(std::string_view text) {
  CivilTime t;
  if (text.size() != 10 || !ReadDate(text.data(), &t)) return {false, 0, "not yyyy-MM-dd"};
  if (const char* why = time_fields::WhyInvalidDate(t)) return {false, 0, why};
  return {true, DaysFromCivil(t.year, t.month, t.day), ""};
}

namespace {

constexpr EpochUnit kUnits[] = {EpochUnit::kSeconds, EpochUnit::kMillis, EpochUnit::kMicros,
                                EpochUnit::kNanos};
constexpr int kNanoDigits[] = {9, 6, 3, 0};  // nanoseconds per unit, as a power of ten
constexpr const char* kUnitWords[] = {"s", "ms", "us", "ns"};
constexpr const char* kUnitNames[] = {"seconds", "milliseconds", "microseconds", "nanoseconds"};
constexpr const char* kRangeHints[] = {kTimestampRange,
                                       "outside years 0001..9999; did you mean milliseconds?",
                                       "outside years 0001..9999; did you mean microseconds?",
                                       "outside years 0001..9999; did you mean nanoseconds?"};

// Nanoseconds since 1970, rounded down. 38 digits hold any count of seconds that 64 bits hold.
NumberError EpochNanos(std::string_view number, EpochUnit unit, Int128* nanos) {
  return ParseDecimalRounded(number, kDecimalDigitsMax, kNanoDigits[static_cast<size_t>(unit)],
                             Rounding::kFloor, nanos);
}

Int128 FloorToSeconds(Int128 nanos) {
  return nanos / 1000000000 - (nanos % 1000000000 < 0 ? 1 : 0);
}

bool InRange(Int128 seconds) {
  return seconds >= time_fields::kSecondsMin && seconds <= time_fields::kSecondsMax;
}

// The unit in which a number that is out of range as `unit` would be a time; `unit` itself when
// there is none.
EpochUnit LikelyUnit(std::string_view number, EpochUnit unit) {
  for (EpochUnit finer : kUnits) {
    Int128 nanos = 0;
    if (finer > unit && EpochNanos(number, finer, &nanos) == NumberError::kOk &&
        InRange(FloorToSeconds(nanos))) {
      return finer;
    }
  }
  return unit;
}

}  // namespace

TimeParse ParseEpochNumber(std::string_view number, EpochUnit unit, const Type& type,
                           const SessionZone& zone) {
  Int128 nanos = 0;
  const NumberError error = EpochNanos(number, unit, &nanos);
  if (error == NumberError::kSyntax) return {false, 0, "not a number"};
  const Int128 seconds = FloorToSeconds(nanos);
  if (error != NumberError::kOk || !InRange(seconds)) {
    const EpochUnit likely = LikelyUnit(number, unit);
    return {false, 0, kRangeHints[likely == unit ? 0 : static_cast<size_t>(likely)]};
  }
  const int64_t shift = type.kind == TypeKind::kTimestamp ? zone.offset_ms / 1000 : 0;
  return time_fields::ToTicks(static_cast<int64_t>(seconds) + shift,
                              static_cast<int>(nanos - seconds * 1000000000), type);
}

std::string DescribeEpochFailure(std::string_view number, EpochUnit unit, const Type& type) {
  const TimeParse parse = ParseEpochNumber(number, unit, type);
  std::string text(number);
  text += ' ';
  text += kUnitWords[static_cast<size_t>(unit)];
  Int128 nanos = 0;
  if (EpochNanos(number, unit, &nanos) != NumberError::kOk) return text + " is " + parse.reason;
  const Int128 seconds = FloorToSeconds(nanos);
  if (InRange(seconds) || seconds > INT64_MAX || seconds < INT64_MIN) {
    return text + " is " + parse.reason;
  }
  // Beyond what an int holds, years of average length are near enough.
  constexpr int64_t kExactSeconds = 60000000000000000;  // some 1.9e9 years
  const auto at = static_cast<int64_t>(seconds);
  const bool exact = at > -kExactSeconds && at < kExactSeconds;
  text += " is year " +
          std::to_string(exact ? CivilFromTicks(at, 1).year : 1970 + at / int64_t{31556952});
  text += ", outside TIMESTAMP 0001..9999";
  const EpochUnit likely = LikelyUnit(number, unit);
  if (likely != unit) {
    text += std::string("; did you mean ") + kUnitNames[static_cast<size_t>(likely)] + "?";
  }
  return text;
}

Result<SessionZone> ParseZone(std::string_view text) {
  std::string_view rest = text;
  bool named = false;
  if (rest.size() >= 3 &&
      (EqualsIgnoreCase(rest.substr(0, 3), "UTC") || EqualsIgnoreCase(rest.substr(0, 3), "GMT"))) {
    rest.remove_prefix(3);
    named = true;
  }
  if (named && rest.empty()) return SessionZone{0};
  int seconds = 0;
  const char* p = rest.data();
  const char* const end = p + rest.size();
  if (!rest.empty() && !(named && (*p == 'Z' || *p == 'z'))) {
    std::string padded;  // "GMT+8" is common: one digit stands for the hour
    if (rest.size() == 2 && (*p == '+' || *p == '-')) {
      padded = {rest[0], '0', rest[1]};
      const char* q = padded.data();
      if (time_fields::ReadOffset(q, q + padded.size(), &seconds)) {
        return SessionZone{int64_t{seconds} * 1000};
      }
    } else if (time_fields::ReadOffset(p, end, &seconds) && p == end) {
      return SessionZone{int64_t{seconds} * 1000};
    }
    if (rest[0] == '+' || rest[0] == '-') {
      return Fail(Code::kInvalid, "'" + std::string(text) +
                                      "' is no zone offset: write it like '+02:00', at most 18:00");
    }
  }
  return Fail(Code::kInvalid, "time zone '" + std::string(text) +
                                  "' is not supported: use 'UTC' or a fixed offset like '+02:00'");
}

void AppendDate(int64_t days, std::string& out) {
  time_fields::AppendCivilDate(CivilFromTicks(days * kSecondsADay, 1), out);
}

namespace time_fields {

void AppendCivilDate(const CivilTime& t, std::string& out) {
  // Years outside 0001..9999 are no values of a column; a log line about a watermark may still show
  // one.
  if (t.year < 0) {
    out += '-';
    PutDigits(-int64_t{t.year}, t.year > -10000 ? 4 : 9, out);
  } else {
    PutDigits(t.year, t.year < 10000 ? 4 : 9, out);
  }
  out += '-';
  PutDigits(t.month, 2, out);
  out += '-';
  PutDigits(t.day, 2, out);
}

}  // namespace time_fields

void AppendTimestamp(int64_t ticks, const Type& type, TimestampStyle style, const SessionZone& zone,
                     std::string& out) {
  const bool instant = type.kind == TypeKind::kTimestampLtz;
  const bool iso = style == TimestampStyle::kIso8601;
  if (instant && !iso) ticks += zone.offset_ms * TicksPerMs(type);
  const CivilTime t = CivilFromTicks(ticks, TicksPerMs(type) * 1000);
  time_fields::AppendCivilDate(t, out);
  out += iso ? 'T' : ' ';
  PutDigits(t.hour, 2, out);
  out += ':';
  PutDigits(t.minute, 2, out);
  out += ':';
  PutDigits(t.second, 2, out);
  if (type.precision > 0) {
    out += '.';
    int64_t fraction = t.nanosecond;
    for (int i = type.precision; i < 9; ++i) fraction /= 10;
    PutDigits(fraction, type.precision, out);
  }
  if (instant && iso) out += 'Z';
}

}  // namespace weir
