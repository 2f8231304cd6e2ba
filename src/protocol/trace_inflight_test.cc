// The trace rules of targets whose receipt can be lost: F before the first byte, F until proven.
#include <doctest/doctest.h>

#include "base/hash.h"
#include "protocol/trace.h"

namespace weir::protocol {
namespace {

using Trace = std::vector<TraceEvent>;
constexpr char kTarget[] = "kafka";
const Lineage kLineage{{1}};
constexpr TargetPosition kFirst{1, 10}, kSecond{2, 5};

Digest256 HashOf(EpochId epoch) { return Sha256("epoch " + std::to_string(epoch)); }

DeliveryFacts Facts(std::optional<TargetPosition> r, std::optional<TargetPosition> a,
                    std::optional<TargetPosition> f) {
  DeliveryFacts facts;
  facts.target_can_scan = true;
  if (r) facts.receipt = ReceiptKind::kOurs;
  facts.r = r.value_or(TargetPosition());
  facts.acked_empty = !a;
  facts.a = a.value_or(TargetPosition());
  facts.in_flight = f.has_value();
  facts.f_to = f.value_or(TargetPosition());
  return facts;
}

Trace Session(const DeliveryFacts& facts) {
  std::optional<Receipt> receipt;
  if (facts.receipt != ReceiptKind::kAbsent)
    receipt = Receipt{kLineage, facts.r, HashOf(facts.r.epoch)};
  return {FencedEvent(kTarget), ReceiptReadEvent(kTarget, receipt),
          ResolvedEvent(kTarget, facts, DecideDelivery(facts))};
}
Trace Send(std::optional<TargetPosition> from, TargetPosition to) {
  return {InflightEvent(kTarget, from, to), TxnBeginEvent(kTarget, from, to),
          ReceiptSentEvent(kTarget, to), CommitCalledEvent(kTarget)};
}
Trace Done(bool ok, TargetPosition to) {
  if (!ok) return {CommitReturnedEvent(kTarget, false, "timed out")};
  return {CommitReturnedEvent(kTarget, true, ""), AckedEvent(kTarget, to)};
}
Trace Life() {
  TakeoverFacts none;
  return {TakeoverEvent(none, DecideTakeover(none)),
          RunEvent({1, kLineage, true, 0, 0, 1}),
          CutEvent(1),
          SealedEvent(kLineage, 1, HashOf(1), {{kTarget, 10}}, {}),
          CutEvent(2),
          SealedEvent(kLineage, 2, HashOf(2), {{kTarget, 5}}, {})};
}
Trace NextLife(uint64_t undelivered) {
  TakeoverFacts facts;
  facts.any_run_row = true;
  facts.newest_sealed = 2;
  facts.undelivered_epochs = facts.undelivered_rows = undelivered;
  return {TakeoverEvent(facts, DecideTakeover(facts)), RunEvent({2, kLineage, false, 0, 2, 3})};
}
Trace Join(const std::vector<Trace>& parts) {
  Trace all;
  for (const Trace& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
std::string Rule(const Trace& trace) {
  std::string text;
  for (const TraceEvent& event : trace) text += event.ToJson() + "\n";
  return VerifyTrace(text).rule;
}

TEST_CASE("trace: F is durable before the first byte, known until A proves it, and not longer") {
  const Trace first = Join({Life(), Session(Facts({}, {}, {})), Send({}, kFirst)});
  const Trace acked = Join({first, Done(true, kFirst)});
  const Trace doubt = Join({first, Done(false, kFirst)});
  const char* facts = "the facts are what the trace has shown";
  struct Case {
    const char* name;
    Trace trace;
    std::string rule;
  };
  Trace unnoted = Join({Life(), Session(Facts({}, {}, {}))});
  unnoted.push_back(TxnBeginEvent(kTarget, {}, kFirst));
  Trace other = Join({Life(), Session(Facts({}, {}, {}))});
  other.push_back(InflightEvent(kTarget, {}, kFirst));
  other.push_back(TxnBeginEvent(kTarget, {}, kSecond));
  const Case cases[] = {
      {"delivered", acked, ""},
      {"no F", unnoted, "F is durable before the first byte"},
      {"another F", other, "F is durable before the first byte"},
      {"next", Join({acked, Session(Facts(kFirst, kFirst, {})), Send(kFirst, kSecond)}), ""},
      {"F outlives A", Join({acked, Session(Facts(kFirst, kFirst, kFirst))}), facts},
      {"in doubt: F stays", Join({doubt, Session(Facts({}, {}, kFirst))}), ""},
      {"in doubt: F forgotten", Join({doubt, Session(Facts({}, {}, {}))}), facts},
      {"death: F stays", Join({first, NextLife(2), Session(Facts({}, {}, kFirst))}), ""},
      {"death: F forgotten", Join({first, NextLife(2), Session(Facts({}, {}, {}))}), facts},
      {"death before the note of A", Join({acked, NextLife(2), Session(Facts(kFirst, {}, kFirst))}),
       ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(Rule(c.trace) == c.rule);
  }
}

TEST_CASE("trace: a refresh names what is acked, and only where nothing is in flight") {
  const Trace acked = Join({Life(), Session(Facts({}, {}, {})), Send({}, kFirst),
                            Done(true, kFirst), Session(Facts(kFirst, kFirst, {}))});
  const auto refreshed = [](const TargetPosition& at) {
    return Trace{RefreshedEvent(kTarget, at, true)};
  };
  CHECK(Rule(Join({acked, refreshed(kFirst)})).empty());
  CHECK(Rule(Join({acked, refreshed(kSecond)})) == "a refresh names what is acked");
  const Trace doubt = Join({Life(), Session(Facts({}, {}, {})), Send({}, kFirst),
                            Done(false, kFirst), refreshed(kFirst)});
  CHECK(Rule(doubt) == "a delivery takes the path from its start");
}

TEST_CASE("trace: the operator's word answers a scan that found some") {
  for (const bool told : {false, true}) {
    DeliveryFacts facts = Facts({}, {}, kFirst);
    if (told) facts.word = Verb::kRedeliver;
    Trace trace = Join({Life(), Session(Facts({}, {}, {})), Send({}, kFirst), Done(false, kFirst),
                        Session(facts)});
    trace.push_back(ScannedEvent(kTarget, ScanOutcome::kSome));
    CHECK(Rule(Join({trace, Send({}, kFirst)})).empty() == told);
  }
}

}  // namespace
}  // namespace weir::protocol
