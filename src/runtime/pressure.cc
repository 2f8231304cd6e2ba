#include "runtime/pressure.h"

#include "base/units.h"

namespace weir::runtime {

Pressure DecidePressure(const PressureFacts& facts) {
  if (facts.stage_paused) return Pressure::kStagePaused;
  if (facts.seal_waits_for_space) return Pressure::kSealWaits;
  if (facts.buffered_bytes > facts.buffered_bytes_max) return Pressure::kBuffered;
  if (facts.seal_in_flight && facts.state_bytes > facts.state_bytes_max)
    return Pressure::kUnsealedState;
  if (facts.spool_bytes > facts.spool_bytes_max) return Pressure::kSpool;
  if (facts.free_known && facts.disk_free < facts.disk_min_free) return Pressure::kDisk;
  return Pressure::kNone;
}

std::string DescribePressure(Pressure pressure, const PressureFacts& facts) {
  switch (pressure) {
    case Pressure::kNone:
      return "";
    case Pressure::kStagePaused:
      return "an output has no space left: its rows wait in memory, reading is paused";
    case Pressure::kSealWaits:
      return "no space left to seal the epoch: it is tried again unchanged, reading is paused";
    case Pressure::kBuffered:
      return "staged rows wait to be written";
    case Pressure::kUnsealedState:
      return "changed state waits for the seal in progress, then it can leave memory";
    case Pressure::kSpool:
      return "the spool holds " + FormatSizeBytes(static_cast<int64_t>(facts.spool_bytes)) +
             ", weir.spool.max-bytes is " +
             FormatSizeBytes(static_cast<int64_t>(facts.spool_bytes_max)) +
             ": reading is paused until it drains";
    case Pressure::kDisk:
      return "the disk has " + FormatSizeBytes(static_cast<int64_t>(facts.disk_free)) +
             " free, weir.disk.min-free is " +
             FormatSizeBytes(static_cast<int64_t>(facts.disk_min_free)) + ": reading is paused";
  }
  return "";
}

}  // namespace weir::runtime
