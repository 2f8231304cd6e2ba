#include "io/unix_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "io/errno_status.h"
#include "io/loop.h"

namespace weir::io {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Result<sockaddr_un> AddressOf(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) {
    return Fail(Code::kInvalid,
                "the path of a socket has 1 to " + std::to_string(sizeof(address.sun_path) - 1) +
                    " bytes, this one has " + std::to_string(path.size()) + ": " + path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

int NewSocket() { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

int Connect(int fd, const sockaddr_un& address) {
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
}

// Whether what stands at `path` may be replaced: a socket that nobody listens on.
Status RemoveStale(const std::string& path, const sockaddr_un& address) {
  struct stat st;
  if (::lstat(path.c_str(), &st) != 0) return Status::Ok();
  if (!S_ISSOCK(st.st_mode)) {
    return Status(Code::kExists, "cannot listen on " + path + ": it is not a socket");
  }
  const Descriptor probe(NewSocket());
  if (probe.get() >= 0 && (Connect(probe.get(), address) == 0 || errno == EAGAIN)) {
    return Status(Code::kBusy, "cannot listen on " + path + ": another process does");
  }
  (void)::unlink(path.c_str());  // bind says what went wrong
  return Status::Ok();
}

int64_t NowMs() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Waits until `fd` is ready for `events` or the deadline has passed (false).
bool WaitFor(int fd, short events, int64_t deadline_ms) {
  for (;;) {
    const int64_t left_ms = deadline_ms - NowMs();
    if (left_ms <= 0) return false;
    pollfd wait{fd, events, 0};
    const int n = ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR) return false;
  }
}

}  // namespace

Result<BoundSocket> ListenUnixSocket(const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(path));
  WEIR_RETURN_IF_ERROR(RemoveStale(path, address));
  Descriptor fd(NewSocket());
  const auto fail = [&] {
    return Fail(ErrnoStatus(errno, CallKind::kOpenForWrite, "listen on", path));
  };
  if (fd.get() < 0) return fail();
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return fail();
  }
  // The owner's eyes only: status shows what the pipeline does. Before listen(), so nobody is in
  // already.
  if (::chmod(path.c_str(), 0600) != 0) return fail();
  if (::listen(fd.get(), 16) != 0) return fail();
  struct stat st;
  if (::lstat(path.c_str(), &st) != 0) return fail();
  return BoundSocket{fd.Release(), st.st_ino};
}

void RemoveUnixSocket(const std::string& path, uint64_t inode) {
  struct stat st;
  if (::lstat(path.c_str(), &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == inode) {
    (void)::unlink(path.c_str());
  }
}

int AcceptUnixSocket(int listener) {
  return ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

ReadState ReadLine(int fd, size_t bytes_max, std::string& line) {
  for (;;) {
    char chunk[1024];
    const ssize_t n = ::read(fd, chunk, sizeof(chunk));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN ? ReadState::kMore : ReadState::kFailed;
    if (n == 0) return line.empty() ? ReadState::kFailed : ReadState::kDone;
    line.append(chunk, static_cast<size_t>(n));
    if (const size_t end = line.find('\n'); end != std::string::npos) {
      line.resize(end);
      return ReadState::kDone;
    }
    if (line.size() > bytes_max) return ReadState::kFailed;
  }
}

bool WriteSome(int fd, std::string_view bytes, size_t& written) {
  while (written < bytes.size()) {
    // No SIGPIPE, whatever the process has decided about it.
    const ssize_t n = ::send(fd, bytes.data() + written, bytes.size() - written, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno == EAGAIN;
    written += static_cast<size_t>(n);
  }
  return true;
}

Result<std::string> AskUnixSocket(const std::string& path, const std::string& request_line,
                                  int64_t timeout_ms) {
  WEIR_ASSIGN_OR_RETURN(const sockaddr_un address, AddressOf(path));
  const int64_t deadline_ms = NowMs() + timeout_ms;
  const Descriptor fd(NewSocket());
  if (fd.get() < 0) {
    return Fail(ErrnoStatus(errno, CallKind::kOpenForRead, "make a socket for", path));
  }
  const auto late = [&] {
    return Fail(Code::kUnavailable,
                path + " does not answer within " + std::to_string(timeout_ms) + " ms");
  };
  while (Connect(fd.get(), address) != 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) {
      return Fail(Code::kNotFound, "nobody listens on " + path);
    }
    if (errno != EAGAIN && errno != EINTR) {
      return Fail(ErrnoStatus(errno, CallKind::kOpenForRead, "connect to", path));
    }
    if (NowMs() >= deadline_ms) return late();  // its queue is full
    (void)::poll(nullptr, 0, 10);
  }
  const std::string request = request_line + "\n";
  for (size_t written = 0; written < request.size();) {
    if (!WaitFor(fd.get(), POLLOUT, deadline_ms)) return late();
    if (!WriteSome(fd.get(), request, written)) {
      return Fail(Code::kUnavailable, path + " has hung up");
    }
  }
  std::string answer;
  for (;;) {
    if (!WaitFor(fd.get(), POLLIN, deadline_ms)) return late();
    char chunk[4096];
    const ssize_t n = ::read(fd.get(), chunk, sizeof(chunk));
    if (n == 0) return answer;  // the answer ends where the connection does
    if (n > 0) answer.append(chunk, static_cast<size_t>(n));
    if (n < 0 && errno != EINTR && errno != EAGAIN) {
      return Fail(Code::kUnavailable, path + " has hung up: " + ErrnoText(errno));
    }
  }
}

}  // namespace weir::io
