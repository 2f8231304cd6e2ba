#include "app/start_heartbeat.h"

#include <algorithm>
#include <string>

#include "app/commands.h"
#include "io/loop.h"
#include "io/process.h"

namespace weir::app {

namespace {

constexpr int64_t kBeatNs = 1'000'000'000;
// From each beat on: the longest that one step may take (SQLite looking at a large database on a
// slow card), and what systemd waits for a start that is stuck.
constexpr const char* kExtendTimeout = "EXTEND_TIMEOUT_USEC=120000000";
constexpr int64_t kSilentNs = 500'000'000;  // a start that is over by then says nothing

}  // namespace

StartHeartbeat::StartHeartbeat(io::Clock& clock, bool on_terminal)
    : clock_(clock), on_terminal_(on_terminal), begun_ns_(clock.MonotonicNs()) {}

Status StartHeartbeat::Beat(std::string_view what, std::string_view subject) {
  if (!ready_ && io::StopSignals() > 0)
    return Status(Code::kInterrupted, "stopped while it was starting: nothing was read");
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < next_ns_) return Status::Ok();
  const int64_t watchdog_ns = io::SdWatchdogIntervalMs() * 1'000'000;
  next_ns_ = now_ns + (watchdog_ns > 0 ? std::min(kBeatNs, watchdog_ns / 3) : kBeatNs);
  if (ready_) {
    io::SdNotify("WATCHDOG=1");
  } else {
    Say(what, subject, now_ns);
  }
  return Status::Ok();
}

void StartHeartbeat::Say(std::string_view what, std::string_view subject, int64_t now_ns) {
  const std::string line = "starting: " + std::string(what) + " " + std::string(subject);
  io::SdNotify(std::string(kExtendTimeout) + "\nSTATUS=" + line);
  if (!on_terminal_ || now_ns - begun_ns_ < kSilentNs) return;
  PrintError("\r\x1b[K" + line);
  drawn_ = true;
}

void StartHeartbeat::Ready() {
  ready_ = true;
  if (drawn_) PrintError("\r\x1b[K");
}

}  // namespace weir::app
