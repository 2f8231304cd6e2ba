#include "io/process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>

namespace weir::io {
namespace {

// Two ends of a pipe, and what stood at a descriptor that one of them takes for a while.
class Pipe {
 public:
  Pipe() { REQUIRE(::pipe(ends_) == 0); }
  ~Pipe() {
    CloseRead();
    CloseWrite();
  }
  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void CloseRead() { Close(0); }
  void CloseWrite() { Close(1); }

 private:
  void Close(int i) {
    if (ends_[i] >= 0) ::close(ends_[i]);
    ends_[i] = -1;
  }
  int ends_[2] = {-1, -1};
};

class Stdin {
 public:
  explicit Stdin(int fd) : saved_(::dup(0)) { REQUIRE(::dup2(fd, 0) == 0); }
  ~Stdin() {
    ::dup2(saved_, 0);
    ::close(saved_);
  }

 private:
  int saved_;
};

// What a child process ends with that does `body`: its exit code, or minus its signal.
int ChildEnd(const std::function<void()>& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool Readable(int fd) {
  pollfd wait{fd, POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

TEST_CASE("process: all bytes are written, however little the other side takes at once") {
  Pipe pipe;
  const std::string text(200000, 'x');  // more than a pipe holds
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    pipe.CloseRead();
    ::_exit(WriteToDescriptor(pipe.write_end(), text).ok() ? 0 : 1);
  }
  pipe.CloseWrite();
  size_t got = 0;
  char buffer[777];
  for (ssize_t n; (n = ::read(pipe.read_end(), buffer, sizeof buffer)) > 0;)
    got += static_cast<size_t>(n);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(got == text.size());
}

TEST_CASE("process: a reader that has gone ends the stream, and no signal comes of it") {
  InitProcess();
  Pipe pipe;
  pipe.CloseRead();
  CHECK(WriteToDescriptor(pipe.write_end(), "x").code() == Code::kEndOfStream);
  CHECK(WriteToDescriptor(-1, "x").code() == Code::kUnknownOutcome);
  CHECK(WriteToDescriptor(-1, "").ok());
}

TEST_CASE("process: a full disk behind standard output is no unknown outcome") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) return;  // a container without it
  CHECK(WriteToDescriptor(full, "x").code() == Code::kNoSpace);
  ::close(full);
}

TEST_CASE("process: lines of standard input end with a line feed or with the input") {
  struct Case {
    const char* name;
    std::string given;
    std::vector<std::string> want;
  };
  const Case cases[] = {{"nothing", "", {}},
                        {"a line", "yes\n", {"yes"}},
                        {"an empty line is a line", "\n", {""}},
                        {"without its line feed", "y", {"y"}},
                        {"two", "y\nno", {"y", "no"}}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Pipe pipe;
    REQUIRE(WriteToDescriptor(pipe.write_end(), c.given).ok());
    pipe.CloseWrite();
    const Stdin as_stdin(pipe.read_end());
    for (const std::string& line : c.want) CHECK(ReadLineFromStdin() == line);
    CHECK(!ReadLineFromStdin());
  }
}

TEST_CASE(
    "process: what is no terminal is none, and stderr is the journal's only where it says so") {
  Pipe pipe;
  CHECK(!IsTerminal(pipe.read_end()));
  CHECK(!IsTerminal(-1));
  struct stat st;
  REQUIRE(::fstat(2, &st) == 0);
  struct Case {
    const char* name;
    std::optional<std::string> stream;
    bool want;
  };
  const Case cases[] = {{"no journal", std::nullopt, false},
                        {"another stream", "1:1", false},
                        {"ours", std::to_string(st.st_dev) + ":" + std::to_string(st.st_ino), true},
                        {"not a number", "journal", false}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    if (c.stream)
      ::setenv("JOURNAL_STREAM", c.stream->c_str(), 1);
    else
      ::unsetenv("JOURNAL_STREAM");
    CHECK(UnderJournald() == c.want);
  }
  ::unsetenv("JOURNAL_STREAM");
}

TEST_CASE("process: the environment is read as it is; an empty variable is one") {
  ::setenv("WEIR_PROCESS_TEST", "", 1);
  CHECK(GetEnvironment("WEIR_PROCESS_TEST") == "");
  ::unsetenv("WEIR_PROCESS_TEST");
  CHECK(!GetEnvironment("WEIR_PROCESS_TEST"));
}

TEST_CASE("process: the user has a name, or at least a number") { CHECK(!UserName().empty()); }

TEST_CASE("process: it ends now, with the code that was said") {
  CHECK(ChildEnd([] { ExitNow(75); }) == 75);
}

TEST_CASE("process: a signal to stop is counted and wakes; the second ends the process at once") {
  for (const int signal : {SIGTERM, SIGINT}) {
    CAPTURE(signal);
    CHECK(ChildEnd([signal] {  // what happens without us (doctest catches signals too)
            ::signal(signal, SIG_DFL);
            ::raise(signal);
          }) == -signal);
    const auto counted = [signal](int times) {
      return ChildEnd([signal, times] {
        const int wake = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        CatchStopSignals(75, wake);
        if (StopSignals() != 0 || Readable(wake)) ::_exit(1);
        for (int i = 0; i < times; ++i) ::raise(signal);
        ::_exit(StopSignals() == times && Readable(wake) ? 3 : 2);
      });
    };
    CHECK(counted(1) == 3);
    CHECK(counted(2) == 75);
  }
}

}  // namespace
}  // namespace weir::io
