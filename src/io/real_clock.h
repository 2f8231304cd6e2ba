// The real clock, randomness and machine. Everything else in weir gets these by constructor.
#ifndef WEIR_IO_REAL_CLOCK_H_
#define WEIR_IO_REAL_CLOCK_H_

#include <string>

#include "io/clock.h"
#include "io/files.h"

namespace weir::io {

class RealClock : public Clock {
 public:
  int64_t MonotonicNs() override;
  int64_t WallMs() override;
  int64_t CpuNs() override;
};

class RealRandom : public Random {
 public:
  void Fill(void* out, int size_bytes) override;
};

// Read once, at construction; an unreadable fact is "".
class RealMachine : public Machine {
 public:
  explicit RealMachine(Files& files);
  const char* BootId() override { return boot_id_.c_str(); }
  const char* MachineId() override { return machine_id_.c_str(); }
  const char* HostName() override { return host_name_.c_str(); }
  int64_t ProcessId() override;

 private:
  std::string boot_id_;
  std::string machine_id_;
  std::string host_name_;
};

}  // namespace weir::io

#endif  // WEIR_IO_REAL_CLOCK_H_
