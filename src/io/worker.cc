#include "io/worker.h"

#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"

namespace weir::io {
namespace {

struct Job {
  std::function<void()> run;
  std::function<void()> done;
};

class ThreadWorker : public Worker {
 public:
  ThreadWorker(const char* name, CompletionQueue& queue) : queue_(queue) {
    // Signals belong to the loop. The mask is inherited, so it is set around the thread's birth and
    // no signal can reach it in between.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    CHECK(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    thread_ = std::thread([this] { Run(); });
    CHECK(pthread_sigmask(SIG_SETMASK, &before, nullptr) == 0);
    // At most 15 characters; a longer name is only not shown.
    (void)pthread_setname_np(thread_.native_handle(), name);
  }

  ~ThreadWorker() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      jobs_.clear();
    }
    wake_.notify_one();
    thread_.join();
  }

  void Post(std::function<void()> job, std::function<void()> done) override {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back({std::move(job), std::move(done)});
    }
    wake_.notify_one();
  }

 private:
  void Run() {
    for (;;) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (stopping_) return;
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      job.run();
      // What the job captured dies here and not with the completion, so its last owner is this
      // thread only when the job was: the completion owns what it captured itself.
      job.run = nullptr;
      queue_.Push(std::move(job.done));
    }
  }

  CompletionQueue& queue_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::thread thread_;
};

class InlineWorker : public Worker {
 public:
  explicit InlineWorker(CompletionQueue& queue) : queue_(queue) {}
  void Post(std::function<void()> job, std::function<void()> done) override {
    job();
    queue_.Push(std::move(done));
  }

 private:
  CompletionQueue& queue_;
};

}  // namespace

struct CompletionQueue::Impl {
  std::mutex mutex;
  std::vector<std::function<void()>> waiting;
};

CompletionQueue::CompletionQueue()
    : impl_(std::make_unique<Impl>()), event_fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  CHECK(event_fd_ >= 0);
}

CompletionQueue::~CompletionQueue() { ::close(event_fd_); }

void CompletionQueue::Push(std::function<void()> done) {
  {
    const std::lock_guard lock(impl_->mutex);
    impl_->waiting.push_back(std::move(done));
  }
  Wake();
}

void CompletionQueue::Wake() {
  const uint64_t one = 1;
  // EAGAIN: the counter is full, so the descriptor is readable already.
  const ssize_t n = ::write(event_fd_, &one, sizeof(one));
  CHECK(n == sizeof(one) || errno == EAGAIN);
}

int CompletionQueue::RunAll() {
  uint64_t count = 0;
  // Read before the list is taken: a push in between leaves the descriptor readable for nothing,
  // never the reverse.
  const ssize_t n = ::read(event_fd_, &count, sizeof(count));
  CHECK(n == sizeof(count) || errno == EAGAIN);
  std::vector<std::function<void()>> ready;
  {
    const std::lock_guard lock(impl_->mutex);
    ready.swap(impl_->waiting);
  }
  int ran = 0;
  for (auto& done : ready) {
    if (!done) continue;
    done();
    ++ran;
  }
  return ran;
}

bool CompletionQueue::Waiting() const {
  const std::lock_guard lock(impl_->mutex);
  return !impl_->waiting.empty();
}

std::unique_ptr<Worker> NewThreadWorker(const char* name, CompletionQueue& queue) {
  return std::make_unique<ThreadWorker>(name, queue);
}

std::unique_ptr<Worker> NewInlineWorker(CompletionQueue& queue) {
  return std::make_unique<InlineWorker>(queue);
}

}  // namespace weir::io
