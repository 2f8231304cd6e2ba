// The trace: one JSON object per protocol step, and the checker that holds it against the rules
// (weir trace verify).
#ifndef WEIR_PROTOCOL_TRACE_H_
#define WEIR_PROTOCOL_TRACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "protocol/delivery.h"
#include "protocol/takeover.h"
#include "protocol/types.h"

namespace weir::protocol {

// One step. The members after the kind are JSON fragments (quoted strings, numbers, objects), in
// order. Use the constructors below: they are the format.
struct TraceEvent {
  std::string kind;
  std::vector<std::pair<std::string, std::string>> fields;
  TraceEvent& Text(std::string key, std::string_view value);
  TraceEvent& Number(std::string key, uint64_t value);
  TraceEvent& Flag(std::string key, bool value);
  TraceEvent& Raw(std::string key, std::string json);  // a JSON fragment
  std::string ToJson() const;  // {"event":"cut","epoch":7}, without line feed
};

// ---- a run, in the order in which it emits them ----
// First event of a start that got as far as a decision.
TraceEvent TakeoverEvent(const TakeoverFacts& facts, const TakeoverDecision& decision);
// The start ends here: the decision is a refusal, or step 1 refused (newer format, damage, spool
// newer than state.db).
TraceEvent RefusedEvent(std::string_view reason);
// The directory was moved aside; what follows is the life of another directory.
TraceEvent QuarantinedEvent(std::string_view new_name);
struct RunFacts {
  RunId run = 0;
  Lineage lineage;
  bool fresh = false;
  EpochId base = 0;
  EpochId sealed = 0;      // newest sealed epoch that is resumed (0: none)
  EpochId next_epoch = 0;  // no epoch of this run has a lower id
};
TraceEvent RunEvent(const RunFacts& run);  // the run row is durable
TraceEvent CutEvent(EpochId epoch);        // the loop froze it
// The seal's transaction has committed. `rows`: of each target that needs a receipt; rows that the
// seal itself proves (local files) are in `local_rows`.
TraceEvent SealedEvent(const Lineage& lineage, EpochId epoch, const Digest256& hash,
                       const std::vector<std::pair<std::string, uint64_t>>& rows,
                       const std::vector<std::pair<std::string, uint64_t>>& local_rows);
TraceEvent FinishedEvent(RunId run);  // the finish marker is durable

// ---- a delivery; one session begins with fenced and ends with commit_returned (or with the next
// fenced) ----
TraceEvent FencedEvent(std::string_view target);
TraceEvent ReceiptReadEvent(std::string_view target, const std::optional<Receipt>& receipt);
TraceEvent ResolvedEvent(std::string_view target, const DeliveryFacts& facts,
                         const DeliveryDecision& decision);
// After a scan: everything of F is there (A moves to F.to), nothing, or some (parks).
TraceEvent ScannedEvent(std::string_view target, ScanOutcome outcome);
TraceEvent InflightEvent(std::string_view target, const std::optional<TargetPosition>& from,
                         const TargetPosition& to);  // durable F
TraceEvent TxnBeginEvent(std::string_view target, const std::optional<TargetPosition>& from,
                         const TargetPosition& to);
TraceEvent ReceiptSentEvent(std::string_view target, const TargetPosition& to);
TraceEvent CommitCalledEvent(std::string_view target);
// ok false: in doubt, whatever the error was.
TraceEvent CommitReturnedEvent(std::string_view target, bool ok, std::string_view error);
// An idle target's receipt was written again (ok), or that is in doubt; nothing else was.
TraceEvent RefreshedEvent(std::string_view target, const TargetPosition& position, bool ok);
// A has moved: after a commit that returned OK, a receipt that row 6 or --trust-sink takes, or a
// scan that found all.
TraceEvent AckedEvent(std::string_view target, const TargetPosition& position);
// Segments whose rows are all of epochs at or below `epoch` may be gone from now on.
TraceEvent TrimmedEvent(std::string_view target, EpochId epoch);
TraceEvent ParkedEvent(const Park& park);
std::string ParksJson(const std::vector<Park>& parks);   // for status
std::optional<Park> ParseParked(std::string_view json);  // the inverse; nullopt: anything else

// Where events go. Null sink: tracing is off.
using TraceSink = std::function<void(const TraceEvent&)>;

struct TraceVerdict {
  bool ok = true;
  uint64_t line = 0;   // of the first event that no rule allows, 1-based
  std::string rule;    // which rule it breaks, as a short sentence
  std::string detail;  // the numbers
  uint64_t events = 0;
  uint64_t runs = 0;
};
// Replays a trace file (several runs appended) through the rules. A line that is no event: not ok,
// rule "syntax" - but a torn last line of a killed run is allowed (each run's first event begins on
// a new line). What the first events of a trace say about the time before it is believed: a trace
// may begin at any start.
TraceVerdict VerifyTrace(std::string_view text);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_TRACE_H_
