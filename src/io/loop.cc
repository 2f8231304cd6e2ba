#include "io/loop.h"

#include <event2/event.h>
#include <sys/time.h>
#include <unistd.h>

#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "io/unix_socket.h"

namespace weir::io {
namespace {

// What libevent calls back: one per descriptor, signal or connection. Owned by the loop.
struct Watch {
  event* handle = nullptr;
  std::function<void()> fn;
  Watch() = default;
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    if (handle != nullptr) event_free(handle);
  }
};

void Fire(evutil_socket_t, short, void* watch) { static_cast<Watch*>(watch)->fn(); }

class EventLoop;

// A client of the status socket: reads one line, writes one answer, is closed. A slow or silent one
// costs nothing but its descriptor, and that for a limited time.
struct Connection {
  EventLoop* loop = nullptr;
  int fd = -1;
  event* handle = nullptr;
  std::string request;
  std::string answer;
  size_t written = 0;
  bool answering = false;
  ~Connection() {
    if (handle != nullptr) event_free(handle);
    if (fd >= 0) ::close(fd);
  }
};

constexpr size_t kRequestBytesMax = 4096;
constexpr size_t kConnectionsMax = 32;
constexpr timeval kConnectionTimeout = {5, 0};

class EventLoop : public Loop {
 public:
  explicit EventLoop(event_base* base) : base_(base) {}

  ~EventLoop() override {
    connections_.clear();
    watches_.clear();
    if (listener_ >= 0) ::close(listener_);
    // Only the name that we made: a successor may listen under it already.
    if (!socket_path_.empty()) RemoveUnixSocket(socket_path_, socket_inode_);
    event_base_free(base_);
  }

  Status OnReadable(int fd, std::function<void()> fn) override {
    return Add(fd, EV_READ | EV_PERSIST, std::move(fn));
  }

  Status OnSignal(int signal_number, std::function<void()> fn) override {
    return Add(signal_number, EV_SIGNAL | EV_PERSIST, std::move(fn));
  }

  Status ServeUnixSocket(const std::string& path,
                         std::function<std::string(std::string)> answer) override {
    CHECK(listener_ < 0);
    WEIR_ASSIGN_OR_RETURN(const BoundSocket bound, ListenUnixSocket(path));
    listener_ = bound.fd;
    socket_path_ = path;
    socket_inode_ = bound.inode;
    answer_ = std::move(answer);
    return OnReadable(listener_, [this] { Accept(); });
  }

  void RunOnce(int64_t max_wait_ms) override {
    if (max_wait_ms <= 0) {
      // ONCE too: without it libevent goes on as long as a descriptor stays readable, and ours
      // stays so until the turn has collected the completions.
      (void)event_base_loop(base_, EVLOOP_NONBLOCK | EVLOOP_ONCE);
      return;
    }
    // A timer of our own bounds the wait: libevent would else sleep until the next event.
    const timeval wait = {static_cast<time_t>(max_wait_ms / 1000),
                          static_cast<suseconds_t>(max_wait_ms % 1000 * 1000)};
    if (timer_ == nullptr) {
      timer_ = std::make_unique<Watch>();
      timer_->fn = [] {};
      timer_->handle = event_new(base_, -1, 0, Fire, timer_.get());
      CHECK(timer_->handle != nullptr);
    }
    CHECK(event_add(timer_->handle, &wait) == 0);
    (void)event_base_loop(base_, EVLOOP_ONCE);
    (void)event_del(timer_->handle);
  }

 private:
  Status Add(int fd_or_signal, short what, std::function<void()> fn) {
    auto watch = std::make_unique<Watch>();
    watch->fn = std::move(fn);
    watch->handle = event_new(base_, fd_or_signal, what, Fire, watch.get());
    if (watch->handle == nullptr || event_add(watch->handle, nullptr) != 0) {
      return Status(Code::kInternal,
                    "cannot watch descriptor or signal " + std::to_string(fd_or_signal));
    }
    watches_.push_back(std::move(watch));
    return Status::Ok();
  }

  void Accept() {
    const int fd = AcceptUnixSocket(listener_);
    if (fd < 0) return;
    if (connections_.size() >= kConnectionsMax) {
      ::close(fd);
      return;
    }
    auto connection = std::make_unique<Connection>();
    connection->loop = this;
    connection->fd = fd;
    connection->handle = event_new(base_, fd, EV_READ | EV_PERSIST, OnConnection, connection.get());
    if (connection->handle == nullptr || event_add(connection->handle, &kConnectionTimeout) != 0) {
      return;
    }
    connections_.push_back(std::move(connection));
  }

  static void OnConnection(evutil_socket_t, short what, void* pointer) {
    auto* connection = static_cast<Connection*>(pointer);
    EventLoop* loop = connection->loop;
    if ((what & EV_TIMEOUT) != 0 || !loop->Serve(*connection)) loop->Drop(connection);
  }

  // False: the connection has ended.
  bool Serve(Connection& c) {
    if (!c.answering) {
      const ReadState state = ReadLine(c.fd, kRequestBytesMax, c.request);
      if (state == ReadState::kMore) return true;
      if (state == ReadState::kFailed) return false;
      c.answer = answer_(std::move(c.request));
      c.answering = true;
      event_free(c.handle);
      c.handle = event_new(base_, c.fd, EV_WRITE | EV_PERSIST, OnConnection, &c);
      if (c.handle == nullptr || event_add(c.handle, &kConnectionTimeout) != 0) return false;
    }
    return WriteSome(c.fd, c.answer, c.written) && c.written < c.answer.size();
  }

  void Drop(const Connection* connection) {
    std::erase_if(connections_, [&](const auto& c) { return c.get() == connection; });
  }

  event_base* base_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::unique_ptr<Watch> timer_;
  std::vector<std::unique_ptr<Connection>> connections_;
  int listener_ = -1;
  std::string socket_path_;
  uint64_t socket_inode_ = 0;
  std::function<std::string(std::string)> answer_;
};

}  // namespace

Result<std::unique_ptr<Loop>> Loop::Create() {
  // No environment: EVENT_NOEPOLL and its like would otherwise choose the method.
  event_config* config = event_config_new();
  if (config == nullptr) return Fail(Code::kInternal, "libevent: no memory");
  (void)event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV);
  // One thread uses it; others wake it through descriptors.
  (void)event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK);
  event_base* base = event_base_new_with_config(config);
  event_config_free(config);
  if (base == nullptr) return Fail(Code::kInternal, "libevent: no way to wait for events");
  return std::make_unique<EventLoop>(base);
}

}  // namespace weir::io
