// Loop: libevent behind a small door. The engine's turn runs when something is due; between turns
// the process sleeps.
#ifndef WEIR_IO_LOOP_H_
#define WEIR_IO_LOOP_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"

namespace weir::io {

class Loop {
 public:
  static Result<std::unique_ptr<Loop>> Create();
  virtual ~Loop() = default;
  // Calls `fn` on the loop thread whenever the descriptor is readable.
  virtual Status OnReadable(int fd, std::function<void()> fn) = 0;
  virtual Status OnSignal(int signal_number, std::function<void()> fn) = 0;
  // A Unix stream socket at `path` (a stale one is replaced; longer than sockaddr_un allows:
  // kInvalid). One request line in, `answer(line)` out, closed.
  virtual Status ServeUnixSocket(const std::string& path,
                                 std::function<std::string(std::string)> answer) = 0;
  // Waits for events, at most max_wait_ms (0: only those that wait already), runs their handlers,
  // returns.
  virtual void RunOnce(int64_t max_wait_ms) = 0;
};

// The other side of ServeUnixSocket, for `weir status`. kNotFound when nobody listens.
Result<std::string> AskUnixSocket(const std::string& path, const std::string& request_line,
                                  int64_t timeout_ms);
// systemd: NOTIFY_SOCKET. No-ops when not under systemd.
void SdNotify(const std::string& state);
int64_t SdWatchdogIntervalMs();  // 0: none asked for

}  // namespace weir::io

#endif  // WEIR_IO_LOOP_H_
