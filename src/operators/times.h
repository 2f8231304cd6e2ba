// Calendar steps over the ticks of a type, for kernels: floors, ceilings, whole units between two
// times, shifts. DATE is handled as days. Local time: ticks of TIMESTAMP are local already;
// TIMESTAMP_LTZ is shifted by the session zone first.
#ifndef WEIR_OPERATORS_TIMES_H_
#define WEIR_OPERATORS_TIMES_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "data/timestamp.h"
#include "data/types.h"

namespace weir::operators {

enum class TimeUnit {
  kYear,
  kQuarter,
  kMonth,
  kWeek,
  kDay,
  kDoy,
  kDow,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kEpoch
};
std::optional<TimeUnit> ParseTimeUnit(std::string_view name);  // upper case

inline int64_t FloorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
inline int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

inline constexpr int64_t kMsPerDay = 86400000;

// Years 0001..9999 (what nanoseconds can hold of them).
bool TimeInRange(Int128 ticks, const Type& type);
// `at` + ms in ticks of `type` (DATE: whole days). False: outside the type.
bool AddToTime(int64_t at, Int128 ms, const Type& type, int64_t* out);

// A time in local terms: days since 1970 and nanoseconds of the day.
struct LocalTime {
  int64_t days = 0;
  int64_t nanos = 0;
};
LocalTime ToLocal(int64_t ticks, const Type& type, const SessionZone& zone);
// False: outside the type.
bool FromLocal(const LocalTime& local, const Type& type, const SessionZone& zone, int64_t* ticks);

// EXTRACT (Flink): WEEK by ISO 8601, DOW 1 = Sunday, SECOND without fraction, MILLISECOND within
// the second.
int64_t ExtractUnit(TimeUnit unit, const LocalTime& local, int64_t epoch_seconds);
// FLOOR(t TO unit) and CEIL; weeks begin on Sunday (Flink).
LocalTime FloorToUnit(TimeUnit unit, const LocalTime& local);
LocalTime CeilToUnit(TimeUnit unit, const LocalTime& local);
// b - a in whole units, towards zero.
int64_t DiffInUnits(TimeUnit unit, const LocalTime& a, const LocalTime& b);
// local + n units; a day that the month does not have becomes its last. nullopt: outside years
// 0001..9999.
std::optional<LocalTime> AddUnits(TimeUnit unit, int64_t n, const LocalTime& local);

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_TIMES_H_
