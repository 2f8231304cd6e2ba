// The trace: one JSON object per protocol step, and the checker that holds it against the rules
// (weir trace verify).
#ifndef WEIR_PROTOCOL_TRACE_H_
#define WEIR_PROTOCOL_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "protocol/takeover.h"
#include "protocol/types.h"

namespace weir::protocol {

// One step. Kinds: takeover (facts and decision), run, cut, sealed, fenced, receipt_read, resolved,
// inflight, txn_begin, receipt_sent, commit_called, commit_returned, acked, trimmed, parked,
// finished, refused. Fields by kind: docs/exactly-once.md, "The trace".
struct TraceEvent {
  std::string kind;
  std::vector<std::pair<std::string, std::string>>
      fields;  // values are JSON fragments (quoted strings, numbers, objects), in order
  TraceEvent& Text(std::string key, std::string_view value);
  TraceEvent& Number(std::string key, uint64_t value);
  TraceEvent& Flag(std::string key, bool value);
  std::string ToJson() const;  // without line feed
};
TraceEvent TakeoverEvent(const TakeoverFacts& facts, const TakeoverDecision& decision);

// Where events go. Null sink: tracing is off.
using TraceSink = std::function<void(const TraceEvent&)>;

struct TraceVerdict {
  bool ok = true;
  uint64_t line = 0;  // of the first event that no rule allows, 1-based
  std::string rule;   // which rule it breaks
  uint64_t events = 0;
  uint64_t runs = 0;
};
// Replays a trace file (several runs appended) through the rules. A line that is no event: not ok,
// rule "syntax" - but a torn last line of a killed run is allowed (each run's first event begins on
// a new line).
TraceVerdict VerifyTrace(std::string_view text);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_TRACE_H_
