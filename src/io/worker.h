// Worker: where a blocking call runs. A worker owns no engine state: a job is moved in, its
// completion runs on the loop thread. Jobs of one worker run one after the other, in order.
// ThreadWorker is one thread; InlineWorker runs the job at once on the caller's thread and queues
// its completion, which makes the simulation deterministic.
#ifndef WEIR_IO_WORKER_H_
#define WEIR_IO_WORKER_H_

#include <functional>
#include <memory>

namespace weir::io {

class Worker {
 public:
  virtual ~Worker() = default;  // waits for the job in progress; drops jobs not begun
  // `job` runs on the worker; `done` is then handed to the completion queue and runs on the loop
  // thread.
  virtual void Post(std::function<void()> job, std::function<void()> done) = 0;
};

// Completions wait here until the loop collects them (turn phase 1).
class CompletionQueue {
 public:
  CompletionQueue();
  ~CompletionQueue();
  CompletionQueue(const CompletionQueue&) = delete;
  void Push(std::function<void()> done);  // any thread
  void Wake();           // any thread: makes event_fd() readable until the next RunAll
  int RunAll();          // loop thread; returns how many ran
  bool Waiting() const;  // something waits to be run; any thread
  int event_fd() const { return event_fd_; }  // readable while completions wait

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  int event_fd_ = -1;
};

std::unique_ptr<Worker> NewThreadWorker(const char* name, CompletionQueue& queue);
std::unique_ptr<Worker> NewInlineWorker(CompletionQueue& queue);

}  // namespace weir::io

#endif  // WEIR_IO_WORKER_H_
