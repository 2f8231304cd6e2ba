// Heartbeat: told by work that may take longer than an init system waits, each time it has got a
// little further: a start that checks a spool, reads state, inflates a compressed file up to where
// it was read. Not the pipeline's progress, and not a timer: who is stuck does not beat.
#ifndef WEIR_IO_HEARTBEAT_H_
#define WEIR_IO_HEARTBEAT_H_

#include <string_view>

#include "base/status.h"

namespace weir::io {

class Heartbeat {
 public:
  virtual ~Heartbeat() = default;
  // Cheap: may be called for every 64 KiB. `what` and `subject` are for people ("inflating", a
  // path). kInterrupted: this start was asked to stop. It stays so: the work may also go on to its
  // end, whoever drives the start asks again before anything is sealed.
  virtual Status Beat(std::string_view what, std::string_view subject) = 0;
};

// Of an Env, or of options: null in simulations.
inline Status Beat(Heartbeat* heartbeat, std::string_view what, std::string_view subject) {
  return heartbeat == nullptr ? Status::Ok() : heartbeat->Beat(what, subject);
}

}  // namespace weir::io

#endif  // WEIR_IO_HEARTBEAT_H_
