#include "base/crc32c.h"

#include <array>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace weir {
namespace internal {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

// Tables[k][b]: the effect of byte b followed by k zero bytes; eight of them take eight bytes per
// step.
constexpr std::array<std::array<uint32_t, 256>, 8> MakeTables() {
  std::array<std::array<uint32_t, 256>, 8> t{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    t[0][b] = crc;
  }
  for (size_t k = 1; k < 8; ++k) {
    for (size_t b = 0; b < 256; ++b) t[k][b] = (t[k - 1][b] >> 8) ^ t[0][t[k - 1][b] & 0xff];
  }
  return t;
}

constexpr auto kTables = MakeTables();

}  // namespace

uint32_t Crc32cPortable(uint32_t crc, std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    word ^= crc;
    crc = 0;
    for (size_t k = 0; k < 8; ++k) crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (; n > 0; ++p, --n) crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<uint8_t>(*p)) & 0xff];
  return crc;
}

#if defined(__x86_64__)

bool Crc32cHardwareAvailable() { return __builtin_cpu_supports("sse4.2"); }

__attribute__((target("sse4.2"))) uint32_t Crc32cHardware(uint32_t crc, std::string_view bytes) {
  const char* p = bytes.data();
  size_t n = bytes.size();
  uint64_t wide = crc;
  for (; n >= 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<uint32_t>(wide);
  for (; n > 0; ++p, --n) crc = _mm_crc32_u8(crc, static_cast<uint8_t>(*p));
  return crc;
}

#else

bool Crc32cHardwareAvailable() { return false; }

uint32_t Crc32cHardware(uint32_t crc, std::string_view bytes) { return Crc32cPortable(crc, bytes); }

#endif

}  // namespace internal

uint32_t Crc32c(std::string_view bytes, uint32_t seed) {
  static const bool hardware = internal::Crc32cHardwareAvailable();
  const uint32_t crc =
      hardware ? internal::Crc32cHardware(~seed, bytes) : internal::Crc32cPortable(~seed, bytes);
  return ~crc;
}

}  // namespace weir
