// Durations and sizes as users write them: a number and a unit, always with the unit ('2 s', '500
// ms', '64 MiB').
#ifndef WEIR_BASE_UNITS_H_
#define WEIR_BASE_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace weir {

// ms, s, min, h, d and their long forms (Flink's list), any case, optional blank. Range 0 .. 100
// years.
Result<int64_t> ParseDurationMs(std::string_view text);
// B, KiB|kb, MiB|mb, GiB|gb, TiB|tb (powers of 1024 throughout, as Flink). Range 0 .. 2^62.
Result<int64_t> ParseSizeBytes(std::string_view text);
std::string FormatDurationMs(
    int64_t ms);  // "1 s", "500 ms", "2 min": parses back to the same value
std::string FormatSizeBytes(int64_t bytes);  // "48 MiB", "123 B": parses back to the same value

}  // namespace weir

#endif  // WEIR_BASE_UNITS_H_
