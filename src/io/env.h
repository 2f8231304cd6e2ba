// Env: the world that the engine runs in, handed down by constructor. The real one is made by app/,
// the simulated one by tests/sim. It owns nothing.
#ifndef WEIR_IO_ENV_H_
#define WEIR_IO_ENV_H_

#include "io/clock.h"
#include "io/files.h"
#include "io/heartbeat.h"
#include "io/worker.h"

namespace weir::io {

struct Env {
  Files& files;
  Clock& clock;
  Random& random;
  Machine& machine;
  CompletionQueue& completions;
  // Makes a worker: threads in production, inline in simulation.
  std::unique_ptr<Worker> (*new_worker)(const char* name, CompletionQueue& queue);
  // SQLite's VFS name to open databases with: "weir" (real files) or the simulated one's.
  const char* sqlite_vfs;
  Heartbeat* heartbeat = nullptr;
};

}  // namespace weir::io

#endif  // WEIR_IO_ENV_H_
