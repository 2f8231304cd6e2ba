// Pieces that the timestamp parser and the pattern compiler share. Not for other folders:
// data/timestamp.h is.
#ifndef WEIR_DATA_TIME_FIELDS_H_
#define WEIR_DATA_TIME_FIELDS_H_

#include <string>

#include "data/timestamp.h"

namespace weir::time_fields {

inline constexpr int64_t kSecondsMin = -62135596800;  // 0001-01-01 00:00:00
inline constexpr int64_t kSecondsMax = 253402300799;  // 9999-12-31 23:59:59
inline constexpr int kOffsetMinutesMax = 18 * 60;     // as java.time

// Null when the field values are in range, else the reason ("no such day", "hour 24"). Fields hold
// two digits at most, the year four.
const char* WhyInvalidDate(const CivilTime& t);
const char* WhyInvalidTime(const CivilTime& t);

// Z, +hh, +hhmm or +hh:mm at p; advances it. False: none of these, or beyond 18:00.
bool ReadOffset(const char*& p, const char* end, int* seconds);

// Local seconds and nanoseconds into ticks of `type`: digits beyond the precision are cut, the
// range is checked.
TimeParse ToTicks(int64_t seconds, int nanosecond, const Type& type);

// Checked fields, with or without an offset, into ticks of `type` (the rules of ParseTimestamp).
// DATE: the day of that local time.
TimeParse FromFields(const CivilTime& t, bool has_offset, int offset_seconds, const Type& type,
                     const SessionZone& zone);

void AppendCivilDate(const CivilTime& t, std::string& out);

}  // namespace weir::time_fields

#endif  // WEIR_DATA_TIME_FIELDS_H_
