// Deliveries: carries sealed epochs to the targets outside our own files. One state machine per
// target, driven from the loop thread; the blocking calls run on the target's worker.
//
//            +--------- back-off over / new epoch ----------+
//            v                                              |
//   kIdle -> kFencing -> (DecideDelivery) -> kDelivering -> kIdle (acked) | kBackoff (unavailable,
//   in doubt, no space)
//                                 \-> kParked (until the next start)
//
// Every delivery takes the whole path. A moves only with a proof: a commit that returned OK, or a
// receipt read after fencing.
#ifndef WEIR_RUNTIME_DELIVERIES_H_
#define WEIR_RUNTIME_DELIVERIES_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/delivery.h"
#include "io/env.h"
#include "protocol/delivery.h"
#include "protocol/trace.h"
#include "runtime/factories.h"
#include "runtime/graph.h"
#include "store/store.h"

namespace weir::runtime {

class Deliveries {
 public:
  Deliveries(const io::Env& env, store::Store& store, Graph& graph, protocol::TraceSink trace);
  ~Deliveries();

  // Targets of the plan; A's from the store; operator's words of this start. Counts the undelivered
  // rows into the books.
  Status Open(const Factories& factories, const std::vector<protocol::Resolution>& words);
  bool empty() const { return targets_.empty(); }
  // Turn phases 1/2/7: starts what may start. `sealed`: newest sealed epoch.
  void Step(EpochId sealed);
  // Everything sealed is acked (trailing epochs without rows count as acked), or the target is
  // parked.
  bool Settled(EpochId sealed, bool count_parked) const;
  bool Busy() const;  // a worker's call is in progress
  std::vector<protocol::Park> parks() const;
  // A's that moved since the last call: they become durable with the next seal.
  std::vector<store::AckedNote> TakeAcked();
  // The notes of the last TakeAcked could not be written: they are taken again, and nothing is
  // trimmed.
  void KeepAcked();
  // The notes of the last TakeAcked are durable: whole segments may go. Disk worker jobs are posted
  // by the caller.
  std::vector<std::pair<store::Spool*, EpochId>> TrimDue();
  int64_t WaitMs() const;  // to the end of the shortest back-off; -1 none
  void AppendStatus(std::string& json) const;
  // kUnknownOutcome or a bug below: ends the process.
  const Status& error() const { return error_; }
  bool degraded() const;

 private:
  enum class State { kIdle, kFencing, kDelivering, kBackoff, kParked };
  struct Target;
  class TargetReader;

  void StartFence(Target& target);
  void OnFenced(Target& target, Result<std::optional<protocol::Receipt>> receipt);
  protocol::DeliveryFacts Facts(const Target& target,
                                const std::optional<protocol::Receipt>& receipt);
  void StartDeliver(Target& target);
  void OnDelivered(Target& target, protocol::TargetPosition to, Status status);
  void Acked(Target& target, protocol::TargetPosition to,
             const std::optional<protocol::Receipt>& proof);
  void Backoff(Target& target, const Status& why);
  void Park(Target& target, int row, std::string facts);
  void CountSealed(Target& target, bool recount);
  void WriteBooks(Target& target);

  const io::Env& env_;
  store::Store& store_;
  Graph& graph_;
  protocol::TraceSink trace_;
  std::vector<std::unique_ptr<Target>> targets_;
  EpochId sealed_ = 0;
  Status error_;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_DELIVERIES_H_
