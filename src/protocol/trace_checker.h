// The rules that a trace is held against (weir trace verify). What the events say is replayed in a
// small model of one state directory; the decisions in it are computed again from their facts.
//
// The model knows what a death leaves open: a commit whose event was not written any more. So a
// takeover may find one epoch more than the trace has shown (the one that was cut), a run row or a
// finish marker that no event names - and nothing else.
#ifndef WEIR_PROTOCOL_TRACE_CHECKER_H_
#define WEIR_PROTOCOL_TRACE_CHECKER_H_

#include <map>
#include <optional>
#include <set>
#include <string>

#include "protocol/trace.h"
#include "protocol/trace_json.h"

namespace weir::protocol {

class TraceChecker {
 public:
  // False: no rule allows this event now; rule() and detail() say which and why.
  bool Event(const TraceObject& event);
  const std::string& rule() const { return rule_; }
  const std::string& detail() const { return detail_; }
  uint64_t runs() const { return runs_; }

 private:
  // kNobody: between two process lives. A takeover may come in every phase: the process died.
  enum class Phase { kNobody, kDecided, kRunning, kEnded };
  // What a delivery session has seen, in this order. kDone: a commit returned; only fenced follows.
  enum class Step { kNone, kFenced, kRead, kResolved, kReady, kBegun, kCommitCalled, kDone };

  struct Target {
    std::map<EpochId, uint64_t> rows;      // sealed rows above A, by epoch
    std::optional<TargetPosition> acked;   // A, as far as events have shown it
    std::optional<TargetPosition> proven;  // at or above A: what an acked event may say
    bool acked_known = false;              // false: the trace began later than the target
    bool acked_in_this_run = false;
    std::optional<TargetPosition> in_flight;  // F, as far as events have shown it
    bool resolved_in_this_run = false;
    // The session.
    Step step = Step::kNone;
    std::optional<Receipt> receipt;
    DeliveryFacts facts;
    std::optional<TargetPosition> from;  // where a delivery must begin
    std::optional<TargetPosition> to;
    bool needs_ack = false;  // row 6, a word, or a scan that found all: A moves first
    bool told = false;       // ... by --trust-sink, which may take it back
  };

  bool Fail(const char* rule, std::string detail);
  Target& TargetOf(const std::string& name);
  bool Missing(const TraceObject& event, const char* member);

  // ---- the life of the directory: trace_checker.cc ----
  bool Takeover(const TraceObject& event);
  bool FactsAgree(const TakeoverFacts& facts, const TakeoverDecision& decision);
  bool RestoresNothing(const TakeoverFacts& facts, const TakeoverDecision& decision) const;
  bool Run(const TraceObject& event);
  bool Cut(const TraceObject& event);
  bool Sealed(const TraceObject& event);
  bool Finished(const TraceObject& event);
  bool Refused(const TraceObject& event);
  bool Quarantined(const TraceObject& event);
  bool Parked(const TraceObject& event);
  void Believe(const TakeoverFacts& facts);
  bool AllDelivered() const;

  // ---- deliveries: trace_delivery.cc ----
  bool OfTarget(const std::string& kind, const TraceObject& event);
  bool Fenced(Target& target);
  bool ReceiptRead(Target& target, const TraceObject& event);
  bool Resolved(Target& target, const TraceObject& event);
  bool ReceiptFactsAgree(const Target& target, const DeliveryFacts& facts);
  bool Scanned(Target& target, const TraceObject& event);
  bool Begin(Target& target, const TraceObject& event, bool transaction);
  bool ReceiptSent(Target& target, const TraceObject& event);
  bool CommitCalled(Target& target);
  bool CommitReturned(Target& target, const TraceObject& event);
  bool Refreshed(Target& target, const TraceObject& event);
  bool InFlightAgrees(const Target& target, const DeliveryFacts& facts);
  bool Acked(Target& target, const TraceObject& event);
  bool Trimmed(const Target& target, const TraceObject& event);

  std::string rule_, detail_;
  uint64_t runs_ = 0;

  // The directory.
  bool known_ = false;  // a takeover was seen, or believed
  bool any_run_ = false;
  RunId last_run_ = 0;  // 0: not known
  std::optional<Lineage> lineage_;
  bool lineage_born_here_ = false;  // the trace has shown all of it
  std::set<Lineage> lineages_;
  EpochId base_ = 0;
  EpochId sealed_ = 0;      // newest of the lineage
  EpochId highest_id_ = 0;  // of any epoch that ever was sealed
  bool finished_ = false;
  std::map<EpochId, Digest256> hashes_;  // of this lineage
  std::map<std::string, Target> targets_;

  // What the last death has left open.
  std::optional<bool> maybe_run_row_;  // a decision without a run event: fresh or not
  EpochId maybe_sealed_ = 0;           // a cut without its sealed event

  // This life.
  Phase phase_ = Phase::kNobody;
  TakeoverFacts facts_;
  TakeoverDecision decision_;
  RunId run_ = 0;
  EpochId next_epoch_ = 0;
  EpochId cut_ = 0;  // 0: none is open
};

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_TRACE_CHECKER_H_
