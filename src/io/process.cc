#include "io/process.h"

#include <nss.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weir::io {
namespace {

// Written by the handler only, but for the first two, which stand before it is installed.
int stop_exit_code = 0;
int stop_wake_fd = -1;
volatile sig_atomic_t stop_signals = 0;

// Only what signal-safety(7) allows.
void OnStopSignal(int) {
  stop_signals = stop_signals + 1;
  if (stop_signals > 1) ::_exit(stop_exit_code);
  const int saved = errno;
  const uint64_t one = 1;
  (void)!::write(stop_wake_fd, &one, sizeof one);
  errno = saved;
}

}  // namespace

void CatchStopSignals(int second_exit_code, int wake_fd) {
  stop_exit_code = second_exit_code;
  stop_wake_fd = wake_fd;
  struct sigaction action = {};
  action.sa_handler = OnStopSignal;
  // Calls that wait go on: what a stop interrupts is decided between two steps.
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  // One at a time: the second of two that come together sees the first one counted.
  ::sigaddset(&action.sa_mask, SIGTERM);
  ::sigaddset(&action.sa_mask, SIGINT);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  ::signal(SIGHUP, SIG_IGN);
}

int StopSignals() { return stop_signals; }

void InitProcess() {
  // A static glibc would load the host's NSS plugins otherwise.
  (void)__nss_configure_lookup("hosts", "files dns");
  (void)__nss_configure_lookup("passwd", "files");
  ::signal(SIGPIPE, SIG_IGN);
}

std::optional<std::string> GetEnvironment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

bool IsTerminal(int fd) { return ::isatty(fd) == 1; }

bool UnderJournald() {
  const std::optional<std::string> stream = GetEnvironment("JOURNAL_STREAM");
  struct stat st;
  if (!stream || ::fstat(2, &st) != 0) return false;
  return *stream == std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino);
}

Status WriteToDescriptor(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      if (errno == EPIPE) return Status(Code::kEndOfStream, "the reader of our output has gone");
      if (errno == ENOSPC) return Status(Code::kNoSpace, "standard output: no space left");
      return Status(Code::kUnknownOutcome, std::string("standard output: ") + std::strerror(errno));
    }
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return Status::Ok();
}

std::optional<std::string> ReadLineFromStdin() {
  std::string line;
  char c;
  while (true) {
    const ssize_t n = ::read(0, &c, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return line.empty() ? std::nullopt : std::optional(line);
    if (c == '\n') return line;
    line.push_back(c);
  }
}

std::string UserName() {
  const uid_t uid = ::getuid();
  const struct passwd* entry = ::getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

void ExitNow(int code) { ::_exit(code); }

}  // namespace weir::io
