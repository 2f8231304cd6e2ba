#include "operators/times.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace weir::operators {
namespace {

constexpr int64_t kDaysMin = -719162;  // 0001-01-01
constexpr int64_t kDaysMax = 2932896;  // 9999-12-31
constexpr int64_t kNanosPerMs = 1000000;
constexpr int64_t kNanosPerSecond = 1000000000;
constexpr int64_t kNanosPerDay = kMsPerDay * kNanosPerMs;

int64_t TicksPerDay(const Type& type) { return kMsPerDay * TicksPerMs(type); }

CivilTime CivilOf(int64_t days) { return CivilFromTicks(days * 86400, 1); }

int DaysInMonth(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return kDays[static_cast<size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

// Months since year 0; the day of the month is clamped.
std::optional<int64_t> DaysOfMonth(int64_t months, int day) {
  const int64_t year = FloorDiv(months, 12);
  if (year < 1 || year > 9999) return std::nullopt;
  const int month = static_cast<int>(FloorMod(months, 12)) + 1;
  const int y = static_cast<int>(year);
  return DaysFromCivil(y, month, std::min(day, DaysInMonth(y, month)));
}

int64_t MonthsOf(const CivilTime& t) { return int64_t{t.year} * 12 + t.month - 1; }

// ISO 8601: the week with the year's first Thursday is 1.
int64_t IsoWeek(int64_t days) {
  const int64_t monday_based = FloorMod(days + 3, 7);  // 1970-01-01 was a Thursday
  const int64_t thursday = days - monday_based + 3;
  const CivilTime t = CivilOf(thursday);
  return (thursday - DaysFromCivil(t.year, 1, 1)) / 7 + 1;
}

// Nanoseconds of units of fixed length, 0 for months and longer.
int64_t NanosOf(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kWeek:
      return 7 * kNanosPerDay;
    case TimeUnit::kDay:
    case TimeUnit::kDoy:
    case TimeUnit::kDow:
      return kNanosPerDay;
    case TimeUnit::kHour:
      return 3600 * kNanosPerSecond;
    case TimeUnit::kMinute:
      return 60 * kNanosPerSecond;
    case TimeUnit::kSecond:
    case TimeUnit::kEpoch:
      return kNanosPerSecond;
    case TimeUnit::kMillisecond:
      return kNanosPerMs;
    case TimeUnit::kYear:
    case TimeUnit::kQuarter:
    case TimeUnit::kMonth:
      return 0;
  }
  return 0;
}

int MonthsPer(TimeUnit unit) {
  return unit == TimeUnit::kYear ? 12 : unit == TimeUnit::kQuarter ? 3 : 1;
}

}  // namespace

std::optional<TimeUnit> ParseTimeUnit(std::string_view name) {
  constexpr std::pair<std::string_view, TimeUnit> kUnits[] = {
      {"YEAR", TimeUnit::kYear},     {"QUARTER", TimeUnit::kQuarter},
      {"MONTH", TimeUnit::kMonth},   {"WEEK", TimeUnit::kWeek},
      {"DAY", TimeUnit::kDay},       {"DOY", TimeUnit::kDoy},
      {"DOW", TimeUnit::kDow},       {"HOUR", TimeUnit::kHour},
      {"MINUTE", TimeUnit::kMinute}, {"SECOND", TimeUnit::kSecond},
      {"EPOCH", TimeUnit::kEpoch},   {"MILLISECOND", TimeUnit::kMillisecond}};
  for (const auto& [text, unit] : kUnits) {
    if (name == text) return unit;
  }
  return std::nullopt;
}

bool TimeInRange(Int128 ticks, const Type& type) {
  if (type.kind == TypeKind::kDate) return ticks >= kDaysMin && ticks <= kDaysMax;
  const Int128 per_day = TicksPerDay(type);
  return ticks >= kDaysMin * per_day && ticks < (kDaysMax + 1) * per_day && ticks >= INT64_MIN &&
         ticks <= INT64_MAX;
}

bool AddToTime(int64_t at, Int128 ms, const Type& type, int64_t* out) {
  Int128 sum;
  if (type.kind == TypeKind::kDate) {
    const Int128 days = ms / kMsPerDay - (ms % kMsPerDay < 0 ? 1 : 0);
    sum = at + days;
  } else {
    sum = at + ms * TicksPerMs(type);
  }
  if (!TimeInRange(sum, type)) return false;
  *out = static_cast<int64_t>(sum);
  return true;
}

LocalTime ToLocal(int64_t ticks, const Type& type, const SessionZone& zone) {
  if (type.kind == TypeKind::kDate) return {ticks, 0};
  const int64_t per_day = TicksPerDay(type);
  LocalTime local{FloorDiv(ticks, per_day),
                  FloorMod(ticks, per_day) * (kNanosPerMs / TicksPerMs(type))};
  if (type.kind == TypeKind::kTimestampLtz) {
    local.nanos += zone.offset_ms * kNanosPerMs;
    local.days += FloorDiv(local.nanos, kNanosPerDay);
    local.nanos = FloorMod(local.nanos, kNanosPerDay);
  }
  return local;
}

bool FromLocal(const LocalTime& local, const Type& type, const SessionZone& zone, int64_t* ticks) {
  if (type.kind == TypeKind::kDate) {
    *ticks = local.days;
    return TimeInRange(local.days, type);
  }
  int64_t nanos = local.nanos;
  int64_t days = local.days;
  if (type.kind == TypeKind::kTimestampLtz) {
    nanos -= zone.offset_ms * kNanosPerMs;
    days += FloorDiv(nanos, kNanosPerDay);
    nanos = FloorMod(nanos, kNanosPerDay);
  }
  const Int128 sum = Int128{days} * TicksPerDay(type) + nanos / (kNanosPerMs / TicksPerMs(type));
  if (!TimeInRange(sum, type)) return false;
  *ticks = static_cast<int64_t>(sum);
  return true;
}

int64_t ExtractUnit(TimeUnit unit, const LocalTime& local, int64_t epoch_seconds) {
  const CivilTime t = CivilOf(local.days);
  switch (unit) {
    case TimeUnit::kYear:
      return t.year;
    case TimeUnit::kQuarter:
      return (t.month - 1) / 3 + 1;
    case TimeUnit::kMonth:
      return t.month;
    case TimeUnit::kWeek:
      return IsoWeek(local.days);
    case TimeUnit::kDay:
      return t.day;
    case TimeUnit::kDoy:
      return local.days - DaysFromCivil(t.year, 1, 1) + 1;
    case TimeUnit::kDow:
      return FloorMod(local.days + 4, 7) + 1;
    case TimeUnit::kHour:
      return local.nanos / (3600 * kNanosPerSecond);
    case TimeUnit::kMinute:
      return local.nanos / (60 * kNanosPerSecond) % 60;
    case TimeUnit::kSecond:
      return local.nanos / kNanosPerSecond % 60;
    case TimeUnit::kMillisecond:
      return local.nanos / kNanosPerMs % 1000;
    case TimeUnit::kEpoch:
      return epoch_seconds;
  }
  return 0;
}

LocalTime FloorToUnit(TimeUnit unit, const LocalTime& local) {
  switch (unit) {
    case TimeUnit::kYear:
    case TimeUnit::kQuarter:
    case TimeUnit::kMonth: {
      const CivilTime t = CivilOf(local.days);
      const int months = MonthsPer(unit);
      return {DaysFromCivil(t.year, (t.month - 1) / months * months + 1, 1), 0};
    }
    case TimeUnit::kWeek:
      return {local.days - FloorMod(local.days + 4, 7), 0};
    case TimeUnit::kDay:
    case TimeUnit::kDoy:
    case TimeUnit::kDow:
      return {local.days, 0};
    case TimeUnit::kHour:
    case TimeUnit::kMinute:
    case TimeUnit::kSecond:
    case TimeUnit::kEpoch:
    case TimeUnit::kMillisecond: {
      const int64_t nanos = NanosOf(unit);
      return {local.days, local.nanos / nanos * nanos};
    }
  }
  return local;
}

LocalTime CeilToUnit(TimeUnit unit, const LocalTime& local) {
  const LocalTime floor = FloorToUnit(unit, local);
  if (floor.days == local.days && floor.nanos == local.nanos) return local;
  const int64_t nanos = NanosOf(unit);
  if (nanos == 0) {
    const CivilTime t = CivilOf(floor.days);
    const int months = MonthsPer(unit);
    // Past year 9999: FromLocal says no.
    return {DaysOfMonth(MonthsOf(t) + months, 1).value_or(kDaysMax + 1), 0};
  }
  if (nanos >= kNanosPerDay) return {floor.days + nanos / kNanosPerDay, 0};
  const int64_t end = floor.nanos + nanos;
  return {floor.days + end / kNanosPerDay, end % kNanosPerDay};
}

int64_t DiffInUnits(TimeUnit unit, const LocalTime& a, const LocalTime& b) {
  const int64_t nanos = NanosOf(unit);
  if (nanos > 0) {
    const Int128 diff = Int128{b.days - a.days} * kNanosPerDay + (b.nanos - a.nanos);
    return static_cast<int64_t>(diff / nanos);
  }
  const bool forward = b.days != a.days ? b.days > a.days : b.nanos >= a.nanos;
  const LocalTime& from = forward ? a : b;
  const LocalTime& to = forward ? b : a;
  const CivilTime f = CivilOf(from.days);
  int64_t months = MonthsOf(CivilOf(to.days)) - MonthsOf(f);
  // from + months must not lie behind to.
  const int64_t days = DaysOfMonth(MonthsOf(f) + months, f.day).value_or(to.days);
  if (days > to.days || (days == to.days && from.nanos > to.nanos)) --months;
  months /= MonthsPer(unit);
  return forward ? months : -months;
}

std::optional<LocalTime> AddUnits(TimeUnit unit, int64_t n, const LocalTime& local) {
  const int64_t nanos = NanosOf(unit);
  if (nanos == 0) {
    const CivilTime t = CivilOf(local.days);
    int64_t months;
    if (__builtin_mul_overflow(n, int64_t{MonthsPer(unit)}, &months) ||
        __builtin_add_overflow(months, MonthsOf(t), &months)) {
      return std::nullopt;
    }
    const std::optional<int64_t> days = DaysOfMonth(months, t.day);
    if (!days) return std::nullopt;
    return LocalTime{*days, local.nanos};
  }
  const Int128 sum = Int128{local.days} * kNanosPerDay + local.nanos + Int128{n} * nanos;
  const Int128 days = sum / kNanosPerDay - (sum % kNanosPerDay < 0 ? 1 : 0);
  if (days < kDaysMin || days > kDaysMax) return std::nullopt;
  return LocalTime{static_cast<int64_t>(days), static_cast<int64_t>(sum - days * kNanosPerDay)};
}

}  // namespace weir::operators
