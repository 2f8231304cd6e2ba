// Clock: the only way to read a time. Control flow uses the monotonic clock; the wall clock is only
// data (log stamps, the future-skew guard) and may be wrong or step.
#ifndef WEIR_IO_CLOCK_H_
#define WEIR_IO_CLOCK_H_

#include <cstdint>

namespace weir::io {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual int64_t MonotonicNs() = 0;
  virtual int64_t WallMs() = 0;  // since 1970-01-01 UTC
  virtual int64_t CpuNs() = 0;   // user + system of the whole process, for status and benchmarks
};

class Random {
 public:
  virtual ~Random() = default;
  virtual void Fill(void* out,
                    int size_bytes) = 0;  // unpredictable in production, seeded in simulation
};

// Facts about the machine: the boot id tells a power cut from a kill -9; the machine id names the
// box.
class Machine {
 public:
  virtual ~Machine() = default;
  virtual const char* BootId() = 0;     // 36 characters, or "" when unknown
  virtual const char* MachineId() = 0;  // 32 hex digits, or ""
  virtual const char* HostName() = 0;
  virtual int64_t ProcessId() = 0;
};

}  // namespace weir::io

#endif  // WEIR_IO_CLOCK_H_
