// Backpressure: whether sources may be read now. Pure. Only what drains by itself pauses them:
// staged bytes that could not be written, unsealed output, the spool, and free disk. Keyed state
// never does (architecture.md, "The turn").
#ifndef WEIR_RUNTIME_PRESSURE_H_
#define WEIR_RUNTIME_PRESSURE_H_

#include <cstdint>
#include <string>

namespace weir::runtime {

struct PressureFacts {
  bool stage_paused = false;          // a stage met ENOSPC and keeps bytes in memory
  bool seal_waits_for_space = false;  // the frozen epoch could not be sealed for want of space
  uint64_t buffered_bytes = 0;        // of all stages, in memory
  uint64_t buffered_bytes_max = 0;
  uint64_t spool_bytes = 0;  // of all spools
  uint64_t spool_bytes_max = 0;
  // Keyed state never pauses a source for its size: what is clean leaves memory after each seal.
  // But state that changed since the last cut can only leave once it is sealed, so reading waits
  // for a seal in flight when the limit is passed.
  bool seal_in_flight = false;
  uint64_t state_bytes = 0;
  uint64_t state_bytes_max = UINT64_MAX;
  bool free_known = false;
  uint64_t disk_free = 0;  // of the state directory's file system
  uint64_t disk_min_free = 0;
};

enum class Pressure { kNone, kStagePaused, kSealWaits, kBuffered, kUnsealedState, kSpool, kDisk };
Pressure DecidePressure(const PressureFacts& facts);
// For status and the log: "disk full: ...". Empty for kNone.
std::string DescribePressure(Pressure pressure, const PressureFacts& facts);

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_PRESSURE_H_
