#include "io/loop.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "io/worker.h"

namespace weir::io {
namespace {

class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_loop_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST_CASE("a completion pushed by a worker's thread wakes the loop") {
  auto loop = Loop::Create().value();
  CompletionQueue queue;
  int done = 0;
  REQUIRE(loop->OnReadable(queue.event_fd(), [&] { queue.RunAll(); }).ok());
  auto worker = NewThreadWorker("test", queue);
  worker->Post([] {}, [&] { ++done; });
  while (done == 0) loop->RunOnce(60'000);
  CHECK(done == 1);
  loop->RunOnce(0);  // the descriptor is quiet again
  CHECK(done == 1);
}

TEST_CASE("a wait ends by itself, and a wait of nothing does not wait") {
  auto loop = Loop::Create().value();
  loop->RunOnce(0);
  loop->RunOnce(1);
  loop->RunOnce(1);
}

TEST_CASE("a descriptor that stays readable does not hold the loop") {
  auto loop = Loop::Create();
  REQUIRE(loop.has_value());
  CompletionQueue queue;
  int calls = 0;
  REQUIRE((*loop)->OnReadable(queue.event_fd(), [&calls] { ++calls; }).ok());
  queue.Push([] {});
  // Nobody collects it: both kinds of call return all the same, after one round.
  (*loop)->RunOnce(0);
  (*loop)->RunOnce(50);
  CHECK(calls == 2);
}

TEST_CASE("a signal runs its handler on the loop's thread") {
  auto loop = Loop::Create().value();
  int got = 0;
  REQUIRE(loop->OnSignal(SIGUSR2, [&] { ++got; }).ok());
  ::kill(::getpid(), SIGUSR2);
  while (got == 0) loop->RunOnce(60'000);
  CHECK(got == 1);
}

std::string AskWhileServing(Loop& loop, const std::string& path, const std::string& request) {
  Result<std::string> answer = Fail(Code::kInternal, "not asked");
  std::atomic<bool> done{false};
  std::thread client([&] {
    answer = AskUnixSocket(path, request, 60'000);
    done = true;
  });
  while (!done) loop.RunOnce(10);
  client.join();
  return answer ? *answer : "<" + answer.error().ToString() + ">";
}

std::string BigOrEcho(const std::string& line) {
  return line == "big" ? std::string(3'000'000, 'x') : "<" + line + ">\nsecond line\n";
}

TEST_CASE("the status socket answers one line with all the bytes of the answer") {
  const TestDirectory dir;
  auto loop = Loop::Create().value();
  const std::string path = dir / "sock";
  REQUIRE(loop->ServeUnixSocket(path, BigOrEcho).ok());
  CHECK(AskWhileServing(*loop, path, "status json") == "<status json>\nsecond line\n");
  CHECK(AskWhileServing(*loop, path, "big") == std::string(3'000'000, 'x'));
  CHECK(AskWhileServing(*loop, path, std::string(10'000, 'y')).find("hung up") !=
        std::string::npos);
  struct stat st;
  REQUIRE(::stat(path.c_str(), &st) == 0);
  CHECK((st.st_mode & 0777) == 0600);
  loop = nullptr;
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("a stale socket is replaced, a live one and another file are not") {
  const TestDirectory dir;
  const std::string path = dir / "sock";
  auto one = Loop::Create().value();
  auto two = Loop::Create().value();
  const auto answer = [](std::string line) { return line; };
  REQUIRE(one->ServeUnixSocket(path, answer).ok());
  CHECK(two->ServeUnixSocket(path, answer).code() == Code::kBusy);
  // As a killed process leaves it: the name without a listener.
  std::filesystem::rename(path, dir / "left");
  one = nullptr;
  CHECK(AskUnixSocket(dir / "left", "x", 1000).error().code() == Code::kNotFound);
  CHECK(two->ServeUnixSocket(dir / "left", answer).ok());
  CHECK(AskWhileServing(*two, dir / "left", "hello") == "hello");
  std::ofstream(dir / "file") << "precious";
  auto three = Loop::Create().value();
  CHECK(three->ServeUnixSocket(dir / "file", answer).code() == Code::kExists);
  CHECK(std::filesystem::file_size(dir / "file") == 8);
}

TEST_CASE("a path too long for a socket is refused by name, on both sides") {
  const TestDirectory dir;
  const std::string path = dir / std::string(200, 'n');
  auto loop = Loop::Create().value();
  CHECK(loop->ServeUnixSocket(path, [](std::string s) { return s; }).code() == Code::kInvalid);
  CHECK(AskUnixSocket(path, "x", 100).error().code() == Code::kInvalid);
  CHECK(AskUnixSocket(dir / "none", "x", 100).error().code() == Code::kNotFound);
}

TEST_CASE("a server that does not answer is given up after the timeout") {
  const TestDirectory dir;
  auto loop = Loop::Create().value();  // listens, and its loop never runs
  REQUIRE(loop->ServeUnixSocket(dir / "sock", [](std::string s) { return s; }).ok());
  CHECK(AskUnixSocket(dir / "sock", "x", 20).error().code() == Code::kUnavailable);
}

// Receives what systemd would.
class NotifySocket {
 public:
  explicit NotifySocket(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(fd_, reinterpret_cast<sockaddr*>(&address),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size())) == 0);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~NotifySocket() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(fd_);
  }
  std::string Receive() {
    char buffer[256];
    const ssize_t n = ::recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
    return n < 0 ? "<nothing>" : std::string(buffer, static_cast<size_t>(n));
  }

 private:
  int fd_;
};

TEST_CASE("systemd is told through a socket in the file system and through an abstract one") {
  const TestDirectory dir;
  for (const std::string& name : {dir / "notify", "@weir-test-" + std::to_string(::getpid())}) {
    CAPTURE(name);
    NotifySocket systemd(name);
    SdNotify("READY=1\nSTATUS=at work");
    CHECK(systemd.Receive() == "READY=1\nSTATUS=at work");
  }
}

TEST_CASE("without systemd, or with an address that cannot be, nothing is sent and nothing fails") {
  ::unsetenv("NOTIFY_SOCKET");
  SdNotify("READY=1");
  for (const std::string& bad : {std::string("relative"), "/" + std::string(300, 'n')}) {
    ::setenv("NOTIFY_SOCKET", bad.c_str(), 1);
    SdNotify("READY=1");
  }
  ::unsetenv("NOTIFY_SOCKET");
}

TEST_CASE("the watchdog's interval counts only when it is meant for this process") {
  struct Case {
    const char* name;
    const char* interval;
    std::string pid;
    int64_t want;
  };
  const Case cases[] = {
      {"none", nullptr, "", 0},
      {"ours", "30000000", std::to_string(::getpid()), 30'000},
      {"a parent's", "30000000", std::to_string(::getpid() + 1), 0},
      {"no pid", "1500000", "", 1500},
      {"garbage", "soon", "", 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    ::unsetenv("WATCHDOG_USEC");
    ::unsetenv("WATCHDOG_PID");
    if (c.interval != nullptr) ::setenv("WATCHDOG_USEC", c.interval, 1);
    if (!c.pid.empty()) ::setenv("WATCHDOG_PID", c.pid.c_str(), 1);
    CHECK(SdWatchdogIntervalMs() == c.want);
  }
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

}  // namespace
}  // namespace weir::io
