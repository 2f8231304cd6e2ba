#include "io/real_clock.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "base/check.h"
#include "base/text.h"

namespace weir::io {
namespace {

int64_t ReadClockNs(clockid_t id) {
  timespec now;
  CHECK(::clock_gettime(id, &now) == 0);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// The file's one line, or "" when it is not there or not as it should be.
std::string ReadId(Files& files, const char* path, size_t length) {
  const Result<std::string> text = ReadFile(files, path, 256);
  if (!text) return "";
  const std::string id(TrimAscii(*text));
  return id.size() == length ? id : "";
}

}  // namespace

int64_t RealClock::MonotonicNs() { return ReadClockNs(CLOCK_MONOTONIC); }
int64_t RealClock::WallMs() { return ReadClockNs(CLOCK_REALTIME) / 1'000'000; }
int64_t RealClock::CpuNs() { return ReadClockNs(CLOCK_PROCESS_CPUTIME_ID); }

void RealRandom::Fill(void* out, int size_bytes) {
  char* at = static_cast<char*>(out);
  while (size_bytes > 0) {
    const ssize_t n = ::getrandom(at, static_cast<size_t>(size_bytes), 0);
    if (n < 0 && errno == EINTR) continue;
    CHECK(n > 0);  // Linux has it since 3.17; nothing that needs an identity can go on without
    at += n;
    size_bytes -= static_cast<int>(n);
  }
}

RealMachine::RealMachine(Files& files)
    : boot_id_(ReadId(files, "/proc/sys/kernel/random/boot_id", 36)),
      machine_id_(ReadId(files, "/etc/machine-id", 32)) {
  char name[256];
  if (::gethostname(name, sizeof(name)) == 0) {
    name[sizeof(name) - 1] = '\0';  // a longer name comes without its end
    host_name_ = name;
  }
}

int64_t RealMachine::ProcessId() { return ::getpid(); }

}  // namespace weir::io
