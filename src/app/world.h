// World: the real clock, files, randomness and machine of this process, made once in main and
// handed down.
#ifndef WEIR_APP_WORLD_H_
#define WEIR_APP_WORLD_H_

#include <memory>

#include "io/env.h"
#include "io/posix_files.h"
#include "io/real_clock.h"

namespace weir::app {

class World {
 public:
  World()
      : machine_(files_), env_{files_,   clock_,       random_,
                               machine_, completions_, &io::NewThreadWorker,
                               "weir"} {}
  const io::Env& env() const { return env_; }
  // Who hears of long work from now on; outlives it.
  void set_heartbeat(io::Heartbeat* heartbeat) { env_.heartbeat = heartbeat; }
  io::Files& files() { return files_; }
  io::Clock& clock() { return clock_; }
  io::Machine& machine() { return machine_; }
  io::CompletionQueue& completions() { return completions_; }

 private:
  io::PosixFiles files_;
  io::RealClock clock_;
  io::RealRandom random_;
  io::RealMachine machine_;
  io::CompletionQueue completions_;
  io::Env env_;
};

}  // namespace weir::app

#endif  // WEIR_APP_WORLD_H_
