// Clock, randomness and machine of a simulated world: all by hand or by seed, so that a run repeats
// exactly.
#ifndef WEIR_IO_SIM_CLOCK_H_
#define WEIR_IO_SIM_CLOCK_H_

#include <cstdint>
#include <cstring>
#include <string>

#include "io/clock.h"

namespace weir::io {

class SimClock : public Clock {
 public:
  int64_t MonotonicNs() override { return monotonic_ns_; }
  int64_t WallMs() override { return wall_ms_; }
  int64_t CpuNs() override { return cpu_ns_; }

  // Time passes: both clocks move.
  void AdvanceMs(int64_t ms) {
    monotonic_ns_ += ms * 1'000'000;
    wall_ms_ += ms;
  }
  // The wall clock steps (NTP, or a box that boots in 1970); the monotonic one does not.
  void SetWallMs(int64_t ms) { wall_ms_ = ms; }
  void SetCpuNs(int64_t ns) { cpu_ns_ = ns; }

 private:
  int64_t monotonic_ns_ = 1'000'000'000;
  int64_t wall_ms_ = 1'700'000'000'000;
  int64_t cpu_ns_ = 0;
};

// splitmix64: small, and the same everywhere.
class SimRandom : public Random {
 public:
  explicit SimRandom(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t Below(uint64_t bound) { return Next() % bound; }  // the bias does not matter to a test
  bool OneIn(uint64_t n) { return Below(n) == 0; }

  void Fill(void* out, int size_bytes) override {
    char* at = static_cast<char*>(out);
    for (; size_bytes > 0; at += 8, size_bytes -= 8) {
      const uint64_t word = Next();
      std::memcpy(at, &word, size_bytes < 8 ? static_cast<size_t>(size_bytes) : 8);
    }
  }

 private:
  uint64_t state_;
};

class SimMachine : public Machine {
 public:
  const char* BootId() override { return boot_id_.c_str(); }
  const char* MachineId() override { return machine_id_.c_str(); }
  const char* HostName() override { return host_name_.c_str(); }
  int64_t ProcessId() override { return process_id_; }

  // A reboot after a power cut: another boot id, and pids start over.
  void Reboot() {
    ++boots_;
    std::string digits = std::to_string(boots_);
    boot_id_ = "00000000-0000-4000-8000-" + std::string(12 - digits.size(), '0') + digits;
    process_id_ = 100;
  }
  void NextProcess() { ++process_id_; }
  void SetMachineId(std::string id) { machine_id_ = std::move(id); }
  void SetHostName(std::string name) { host_name_ = std::move(name); }

 private:
  int boots_ = 1;
  int64_t process_id_ = 100;
  std::string boot_id_ = "00000000-0000-4000-8000-000000000001";
  std::string machine_id_ = "0123456789abcdef0123456789abcdef";
  std::string host_name_ = "simulated";
};

}  // namespace weir::io

#endif  // WEIR_IO_SIM_CLOCK_H_
