#include "io/real_clock.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>

#include "io/posix_files.h"
#include "io/sim_clock.h"
#include "io/sim_files.h"

namespace weir::io {
namespace {

TEST_CASE("the monotonic clock never goes back and the wall clock is in this century") {
  RealClock clock;
  int64_t before = clock.MonotonicNs();
  for (int i = 0; i < 1000; ++i) {
    const int64_t now = clock.MonotonicNs();
    CHECK(now >= before);
    before = now;
  }
  CHECK(clock.WallMs() > 1'600'000'000'000);
  CHECK(clock.CpuNs() > 0);
}

TEST_CASE("randomness fills all of the buffer and nothing beyond it") {
  RealRandom random;
  char buffer[40];
  int differing = 0;
  for (int round = 0; round < 20; ++round) {
    std::memset(buffer, 0, sizeof(buffer));
    random.Fill(buffer, 37);
    CHECK(buffer[37] == 0);
    differing += buffer[36] != 0 ? 1 : 0;
  }
  CHECK(differing > 10);
}

TEST_CASE("the machine's facts are read, and unknown ones are empty") {
  PosixFiles real_files;
  RealMachine machine(real_files);
  CHECK(std::strlen(machine.BootId()) == 36);
  CHECK(std::strlen(machine.HostName()) > 0);
  CHECK(machine.ProcessId() == ::getpid());

  SimFiles files;
  files.PutFile("/proc/sys/kernel/random/boot_id", "01234567-89ab-cdef-0123-456789abcdef\n");
  files.PutFile("/etc/machine-id", "uninitialized\n");
  RealMachine other(files);
  CHECK(other.BootId() == std::string("01234567-89ab-cdef-0123-456789abcdef"));
  CHECK(other.MachineId() == std::string());
}

TEST_CASE("the simulated world repeats from its seed, and its clocks move as they are told") {
  SimRandom one(7);
  SimRandom two(7);
  SimRandom three(8);
  char a[13];
  char b[13];
  one.Fill(a, sizeof(a));
  two.Fill(b, sizeof(b));
  CHECK(std::memcmp(a, b, sizeof(a)) == 0);
  CHECK(one.Next() == two.Next());
  CHECK(one.Next() != three.Next());

  SimClock clock;
  const int64_t monotonic = clock.MonotonicNs();
  clock.AdvanceMs(5);
  CHECK(clock.MonotonicNs() == monotonic + 5'000'000);
  clock.SetWallMs(0);
  CHECK(clock.WallMs() == 0);
  CHECK(clock.MonotonicNs() == monotonic + 5'000'000);

  SimMachine machine;
  const std::string boot = machine.BootId();
  machine.NextProcess();
  CHECK(machine.BootId() == boot);
  machine.Reboot();
  CHECK(machine.BootId() != boot);
  CHECK(std::strlen(machine.BootId()) == 36);
}

}  // namespace
}  // namespace weir::io
