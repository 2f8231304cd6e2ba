// Deliveries: carries sealed epochs to the targets outside our own files. One state machine per
// target, driven from the loop thread; the blocking calls run on the target's worker.
//
//     +---------------- back-off over / new epoch / receipt grows old -----------------+
//     v                                                                                |
//   kIdle -> kLooking -> (compare) -> kFencing -> (DecideDelivery) -> [kScanning] -> [kNoting]
//                            |                          |                |             |
//                         kParked (until the next start) <---------------+             v
//   kIdle | kBackoff (unavailable, in doubt, no space) <- kClosing <- kDelivering | kRefreshing
//   kIdle <- kPreparing (the next session's handle) <- kDelivering that was acked
//
// Every delivery takes the whole path. A moves only with a proof: a commit that returned OK, a
// receipt read after fencing, or a scan. F is durable (kNoting) before the first byte, together
// with the A that it begins at. A scan that parks counts when a second path says the same: a twin
// may have committed between the two.
#ifndef WEIR_RUNTIME_DELIVERIES_H_
#define WEIR_RUNTIME_DELIVERIES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/delivery.h"
#include "io/env.h"
#include "protocol/delivery.h"
#include "protocol/trace.h"
#include "runtime/delivery_target.h"
#include "runtime/factories.h"
#include "runtime/graph.h"
#include "store/store.h"

namespace weir::runtime {

class Deliveries {
 public:
  // Runs a job on the disk worker; its completion on the loop thread.
  using PostDisk = std::function<void(std::function<void()> job, std::function<void()> done)>;
  Deliveries(const io::Env& env, store::Store& store, Graph& graph, protocol::TraceSink trace,
             PostDisk post_disk);
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
  // A's that moved since the last call, and the words that were acted on: they become durable
  // together, with the next seal.
  struct Notes {
    std::vector<store::AckedNote> acked;
    std::vector<uint64_t> used_words;
    bool empty() const { return acked.empty() && used_words.empty(); }
  };
  Notes TakeNotes();
  // The last notes could not be written: they are taken again, and nothing is trimmed.
  void KeepNotes(const Notes& notes);
  // Whether the word is for a target of ours: it waits for the target's evidence.
  bool Awaits(const protocol::Resolution& word) const;
  std::vector<std::string> WordsWaiting()
      const;  // "--trust-sink out": its target is not reached yet
  // The highest epoch that a receipt of this lineage names. Above what is sealed here it is of
  // another life of this directory, and no epoch of this one shall have its id.
  EpochId highest_receipt() const { return highest_receipt_; }
  // The last notes are durable: whole segments may go. Disk worker jobs are posted
  // by the caller.
  std::vector<std::pair<store::Spool*, EpochId>> TrimDue();
  int64_t WaitMs() const;  // until something is due here; -1: nothing
  void AppendStatus(std::string& json) const;
  // kUnknownOutcome or a bug below: ends the process.
  const Status& error() const { return error_; }
  bool degraded() const;

 private:
  using Target = DeliveryTarget;
  class TargetReader;

  void Start(Target& target);
  bool Due(const Target& target, int64_t now_ns) const;
  // The path, step by step: deliveries.cc.
  void OnLooked(Target& target, Result<protocol::Whereabouts> at);
  Status CheckCluster(const Target& target) const;
  bool AcceptMoved(Target& target);
  void OnFenced(Target& target, Result<flow::Fenced> fenced);
  bool Twin(Target& target);
  void StartScan(Target& target);
  void OnScanned(Target& target, Result<protocol::ScanFacts> found);
  void Act(Target& target, protocol::DeliveryAction action, std::string why);
  void GoOn(Target& target);
  void StartNote(Target& target);
  void OnNoted(Target& target, const store::InflightNote& note, const Status& status);
  void StartDeliver(Target& target);
  void OnDelivered(Target& target, Result<protocol::Whereabouts> at);
  bool RefreshDue(const Target& target, int64_t now_ns) const;
  void StartRefresh(Target& target, const protocol::Receipt& receipt);
  void OnRefreshed(Target& target, const protocol::Receipt& receipt, const Status& status);
  void Acked(Target& target, const protocol::TargetPosition& to,
             const std::optional<protocol::Receipt>& proof, protocol::Whereabouts at);
  void CloseThen(Target& target, std::function<void()> then);
  void Recovered(Target& target);
  void Backoff(Target& target, const Status& why);
  void Park(Target& target, const std::string& rule, std::string facts,
            std::vector<protocol::Verb> verbs);
  // What is known: delivery_facts.cc.
  Result<protocol::DeliveryFacts> Facts(const Target& target) const;
  void UseWords(Target& target, bool of_move);
  Result<protocol::Receipt> ReceiptAt(const protocol::TargetPosition& position) const;
  std::optional<protocol::Verb> WordOf(const Target& target, bool of_move) const;
  store::AckedNote NoteOf(const Target& target) const;
  Result<std::vector<SealedRows>> EpochsAbove(const Target& target) const;
  void CountSealed(Target& target, bool recount);
  void WriteBooks(Target& target);

  const io::Env& env_;
  store::Store& store_;
  Graph& graph_;
  protocol::TraceSink trace_;
  PostDisk post_disk_;
  std::vector<std::unique_ptr<Target>> targets_;
  EpochId sealed_ = 0;
  EpochId highest_receipt_ = 0;
  std::vector<uint64_t> used_words_;  // since TakeNotes
  Status error_;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_DELIVERIES_H_
