// The two ways to compute CRC-32C (Castagnoli polynomial, reflected). Crc32c() in base/hash.h picks
// one at run time; both are here so that a test can hold them against each other on any machine.
#ifndef WEIR_BASE_CRC32C_H_
#define WEIR_BASE_CRC32C_H_

#include <cstdint>
#include <string_view>

namespace weir::internal {

// `crc` is the inner state: the complement of a finished checksum.
uint32_t Crc32cPortable(uint32_t crc, std::string_view bytes);
bool Crc32cHardwareAvailable();
uint32_t Crc32cHardware(uint32_t crc, std::string_view bytes);  // only when available

}  // namespace weir::internal

#endif  // WEIR_BASE_CRC32C_H_
