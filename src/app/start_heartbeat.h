// StartHeartbeat: what systemd and a terminal hear while a start makes progress, and how a start is
// told to stop. Before READY it extends the start's timeout and answers a signal; after it a long
// step of the loop (inflating a file up to where it was read) only feeds the watchdog. Loop thread.
#ifndef WEIR_APP_START_HEARTBEAT_H_
#define WEIR_APP_START_HEARTBEAT_H_

#include <cstdint>
#include <string_view>

#include "io/clock.h"
#include "io/heartbeat.h"

namespace weir::app {

class StartHeartbeat : public io::Heartbeat {
 public:
  // `on_terminal`: say it on stderr when it takes long.
  StartHeartbeat(io::Clock& clock, bool on_terminal);
  Status Beat(std::string_view what, std::string_view subject) override;
  // The start is over: READY. From here on the loop feeds the watchdog too.
  void Ready();

 private:
  void Say(std::string_view what, std::string_view subject, int64_t now_ns);

  io::Clock& clock_;
  const bool on_terminal_;
  const int64_t begun_ns_;
  int64_t next_ns_ = 0;
  bool ready_ = false;
  bool drawn_ = false;
};

}  // namespace weir::app

#endif  // WEIR_APP_START_HEARTBEAT_H_
