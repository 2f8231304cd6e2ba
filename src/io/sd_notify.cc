// systemd's notification protocol: a datagram of "KEY=value" lines to the socket that NOTIFY_SOCKET
// names. Own code, since libsystemd is not linked: sd_notify(3) documents the protocol as stable.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "io/loop.h"

namespace weir::io {

void SdNotify(const std::string& state) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr || (name[0] != '/' && name[0] != '@')) return;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(name);
  if (length >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, name, length);
  // "@name" is an abstract address: a zero byte, then the name without a terminator, so the length
  // counts.
  if (name[0] == '@') address.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + length);
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return;
  // Nothing depends on the outcome: a READY that is lost shows as a start timeout, which systemd
  // reports.
  (void)::sendto(fd, state.data(), state.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), size);
  ::close(fd);
}

int64_t SdWatchdogIntervalMs() {
  const char* interval = std::getenv("WATCHDOG_USEC");
  if (interval == nullptr) return 0;
  // Inherited by a child, the variables are not meant for it.
  const char* pid = std::getenv("WATCHDOG_PID");
  if (pid != nullptr && ParseInt64(pid).value_or(-1) != ::getpid()) return 0;
  const int64_t microseconds = ParseInt64(interval).value_or(0);
  return microseconds > 0 ? microseconds / 1000 : 0;
}

}  // namespace weir::io
