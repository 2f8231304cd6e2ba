#include "io/worker.h"

#include <doctest/doctest.h>
#include <poll.h>
#include <signal.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace weir::io {
namespace {

bool Readable(const CompletionQueue& queue, int timeout_ms) {
  pollfd wait{queue.event_fd(), POLLIN, 0};
  return ::poll(&wait, 1, timeout_ms) == 1;
}

TEST_CASE("jobs run in order and their completions on the collecting thread, worker_threads") {
  CompletionQueue queue;
  auto worker = NewThreadWorker("a name longer than fifteen", queue);
  std::vector<int> ran;
  std::vector<int> done;
  const std::thread::id here = std::this_thread::get_id();
  for (int i = 0; i < 100; ++i) {
    worker->Post([&ran, i] { ran.push_back(i); },
                 [&done, i, here] {
                   CHECK(std::this_thread::get_id() == here);
                   done.push_back(i);
                 });
  }
  while (done.size() < 100) {
    REQUIRE(Readable(queue, 60'000));
    queue.RunAll();
  }
  worker = nullptr;
  for (int i = 0; i < 100; ++i) {
    CHECK(ran[static_cast<size_t>(i)] == i);
    CHECK(done[static_cast<size_t>(i)] == i);
  }
}

TEST_CASE("a worker that goes finishes the job in progress and drops the others, worker_threads") {
  CompletionQueue queue;
  std::mutex mutex;
  std::condition_variable changed;
  bool started = false;
  bool may_end = false;
  bool first_ended = false;
  bool second_ran = false;
  auto worker = NewThreadWorker("w", queue);
  worker->Post(
      [&] {
        std::unique_lock lock(mutex);
        started = true;
        changed.notify_all();
        changed.wait(lock, [&] { return may_end; });
        first_ended = true;
      },
      [] {});
  worker->Post([&] { second_ran = true; }, [] {});
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return started; });
  }
  std::thread opener;
  {
    // The destructor is on its way, or will be: both orders are right.
    opener = std::thread([&] {
      const std::lock_guard lock(mutex);
      may_end = true;
      changed.notify_all();
    });
  }
  worker = nullptr;
  opener.join();
  CHECK(first_ended);
  // The second job runs only if the worker got to it before the destructor did; it never runs
  // afterwards.
  const int completions = queue.RunAll();
  CHECK(completions == (second_ran ? 2 : 1));
}

TEST_CASE("a worker's thread takes no signals: they are the loop's, worker_threads") {
  CompletionQueue queue;
  auto worker = NewThreadWorker("w", queue);
  bool blocked = false;
  bool done = false;
  worker->Post(
      [&] {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGHUP) == 1;
      },
      [&] { done = true; });
  while (!done) {
    REQUIRE(Readable(queue, 60'000));
    queue.RunAll();
  }
  CHECK(blocked);
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  CHECK(sigismember(&mask, SIGTERM) == 0);
}

TEST_CASE("the inline worker runs the job at once and the completion when collected") {
  CompletionQueue queue;
  auto worker = NewInlineWorker(queue);
  std::vector<int> order;
  worker->Post([&] { order.push_back(1); }, [&] { order.push_back(2); });
  CHECK(order == std::vector<int>{1});
  CHECK(Readable(queue, 0));
  CHECK(queue.RunAll() == 1);
  CHECK(order == std::vector<int>{1, 2});
  CHECK_FALSE(Readable(queue, 0));
}

TEST_CASE("a completion may push another one, which waits for the next collection") {
  CompletionQueue queue;
  int second = 0;
  queue.Push([&] { queue.Push([&] { ++second; }); });
  CHECK(queue.RunAll() == 1);
  CHECK(second == 0);
  CHECK(Readable(queue, 0));
  CHECK(queue.RunAll() == 1);
  CHECK(second == 1);
}

TEST_CASE("waking without a completion only makes the descriptor readable") {
  CompletionQueue queue;
  queue.Wake();
  queue.Wake();
  CHECK(Readable(queue, 0));
  CHECK(queue.RunAll() == 0);
  CHECK_FALSE(Readable(queue, 0));
}

}  // namespace
}  // namespace weir::io
