// Backpressure: whether sources may be read now. Pure. Only what drains by itself pauses them: staged bytes that could not be written, unsealed output,
// the spool, and free disk. Keyed state never does (architecture.md, "The turn").
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
  uint64_t spool_bytes = 0;           // of all spools
  uint64_t spool_bytes_max = 0;
  bool free_known = false;
  uint64_t disk_free = 0;             // of the state directory's file system
  uint64_t disk_min_free = 0;
};

enum class Pressure { kNone, kStagePaused, kSealWaits, kBuffered, kSpool, kDisk };
Pressure DecidePressure(const PressureFacts& facts);
// For status and the log: "disk full: ...". Empty for kNone.
std::string DescribePressure(Pressure pressure, const PressureFacts& facts);

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_PRESSURE_H_
