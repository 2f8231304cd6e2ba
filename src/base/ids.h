// The identifiers of the protocol. docs/GLOSSARY.md says what each word means.
#ifndef WEIR_BASE_IDS_H_
#define WEIR_BASE_IDS_H_

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir {

// A sealed or open epoch. Ids start at 1, grow within a directory and are never reused. 0 = "before
// the first".
using EpochId = uint64_t;
// A process life within a directory, numbered from 1.
using RunId = uint64_t;
// Event time and watermarks: milliseconds since 1970-01-01 00:00 UTC.
using TimestampMs = int64_t;

inline constexpr TimestampMs kWatermarkNone = INT64_MIN;  // nothing known yet: holds
inline constexpr TimestampMs kWatermarkMax = INT64_MAX;   // the end of a bounded input

// A lineage: 128 random bits, born with each Fresh run.
struct Lineage {
  std::array<uint8_t, 16> bytes{};
  auto operator<=>(const Lineage&) const = default;
  std::string ToHex() const;     // 32 lower-case digits
  std::string ShortHex() const;  // the first 8 of them: names of rolling files
  static std::optional<Lineage> FromHex(std::string_view hex);
};

// A 256-bit digest: chain hashes, fingerprints.
struct Digest256 {
  std::array<uint8_t, 32> bytes{};
  auto operator<=>(const Digest256&) const = default;
  std::string ToHex() const;
  static std::optional<Digest256> FromHex(std::string_view hex);
};

// XXH3-128 of an extent of output or of input bytes.
struct Digest128 {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const Digest128&) const = default;
  std::string ToHex() const;  // 32 digits, high first
  static std::optional<Digest128> FromHex(std::string_view hex);
};

}  // namespace weir

#endif  // WEIR_BASE_IDS_H_
