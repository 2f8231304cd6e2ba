// The delivery rules of TraceChecker: one path, always from its start.
#include <algorithm>

#include "protocol/trace_checker.h"

namespace weir::protocol {
namespace {

constexpr char kPath[] = "a delivery takes the path from its start";

std::string Text(const std::optional<TargetPosition>& position) {
  return position ? position->ToString() : "nothing";
}

std::optional<DeliveryFacts> ReadDeliveryFacts(const TraceObject& in) {
  DeliveryFacts facts;
  const std::optional<std::string> receipt = in.Text("receipt");
  bool found = false;
  for (const ReceiptKind kind : {ReceiptKind::kAbsent, ReceiptKind::kUnknownLineage,
                                 ReceiptKind::kAncestor, ReceiptKind::kOurs}) {
    if (receipt != ReceiptKindName(kind)) continue;
    facts.receipt = kind;
    found = true;
  }
  const std::pair<const char*, bool*> flags[] = {{"hash_matches", &facts.hash_matches},
                                                 {"above_sealed", &facts.above_sealed},
                                                 {"r_equals_seen", &facts.r_equals_seen},
                                                 {"target_can_scan", &facts.target_can_scan}};
  for (const auto& [name, flag] : flags) {
    const std::optional<bool> value = in.Flag(name);
    if (!value) return std::nullopt;
    *flag = *value;
  }
  const std::optional<TargetPosition> r = in.Position("r");
  if (!found || r.has_value() != (facts.receipt != ReceiptKind::kAbsent)) return std::nullopt;
  facts.r = r.value_or(TargetPosition());
  if (in.Has("a")) {
    const std::optional<TargetPosition> a = in.Position("a");
    if (!a) return std::nullopt;
    facts.a = *a;
    facts.acked_empty = false;
  }
  if (in.Has("f_to")) {
    const std::optional<TargetPosition> f_to = in.Position("f_to");
    if (!f_to) return std::nullopt;
    facts.f_to = *f_to;
    facts.in_flight = true;
  }
  facts.other_unknown = in.Flag("other_unknown").value_or(false);
  facts.other_newer = in.Flag("other_newer").value_or(false);
  if (in.Has("word")) {
    facts.word = VerbFromName(in.Text("word").value_or(""));
    if (!facts.word) return std::nullopt;
  }
  if (in.Has("shared")) {
    const std::optional<uint64_t> held_from = in.Number("held_from");
    facts.shared = in.Position("shared");
    if (!facts.shared || !held_from) return std::nullopt;
    facts.held_from = *held_from;
  }
  return facts;
}

}  // namespace

bool TraceChecker::OfTarget(const std::string& kind, const TraceObject& event) {
  const std::optional<std::string> name = event.Text("target");
  if (!name) return Fail("syntax", "no event is called '" + kind + "', or its target is missing");
  Target& target = TargetOf(*name);
  if (kind == "fenced") return Fenced(target);
  if (kind == "receipt_read") return ReceiptRead(target, event);
  if (kind == "resolved") return Resolved(target, event);
  if (kind == "scanned") return Scanned(target, event);
  if (kind == "inflight") return Begin(target, event, false);
  if (kind == "txn_begin") return Begin(target, event, true);
  if (kind == "receipt_sent") return ReceiptSent(target, event);
  if (kind == "commit_called") return CommitCalled(target);
  if (kind == "commit_returned") return CommitReturned(target, event);
  if (kind == "refreshed") return Refreshed(target, event);
  if (kind == "acked") return Acked(target, event);
  if (kind == "trimmed") return Trimmed(target, event);
  return Fail("syntax", "no event is called '" + kind + "'");
}

bool TraceChecker::Fenced(Target& target) {
  target.step = Step::kFenced;
  target.receipt.reset();
  target.from.reset();
  target.to.reset();
  target.needs_ack = false;
  target.told = false;
  return true;
}

bool TraceChecker::ReceiptRead(Target& target, const TraceObject& event) {
  const std::optional<bool> present = event.Flag("present");
  if (!present) return Missing(event, "present");
  // Reading before fencing delivers twice: what was read may change under us.
  if (target.step != Step::kFenced) return Fail(kPath, "receipt read before fencing");
  if (*present) {
    const auto lineage = Lineage::FromHex(event.Text("lineage").value_or(""));
    const auto position = event.Position("position");
    const auto hash = Digest256::FromHex(event.Text("hash").value_or(""));
    if (!lineage || !position || !hash) return Missing(event, "lineage, position, hash");
    target.receipt = Receipt{*lineage, *position, *hash};
  }
  target.step = Step::kRead;
  return true;
}

bool TraceChecker::ReceiptFactsAgree(const Target& target, const DeliveryFacts& facts) {
  const char* rule = "the facts are what the trace has shown";
  if (target.receipt.has_value() != (facts.receipt != ReceiptKind::kAbsent)) {
    return Fail(rule, target.receipt ? "a receipt was read, the facts have none"
                                     : "no receipt was read, the facts have one");
  }
  if (target.receipt) {
    const Receipt& receipt = *target.receipt;
    if (receipt.position != facts.r) return Fail(rule, "R is " + facts.r.ToString());
    const bool ours = receipt.lineage == lineage_;
    if (ours != (facts.receipt == ReceiptKind::kOurs)) {
      return Fail(rule, std::string("the receipt is not ") + ReceiptKindName(facts.receipt));
    }
    const EpochId may_be_sealed = std::max(sealed_, cut_);
    if (ours && !facts.above_sealed && receipt.position.epoch > may_be_sealed) {
      return Fail(rule, "R is above what is sealed");
    }
    if (ours && facts.above_sealed && receipt.position.epoch <= sealed_) {
      return Fail(rule, "R is not above what is sealed");
    }
    const auto hash = hashes_.find(receipt.position.epoch);
    if (ours && hash != hashes_.end() && facts.hash_matches != (hash->second == receipt.hash)) {
      return Fail(rule, "the receipt's hash");
    }
  }
  // A may be older than the last acked event: it is durable with the next seal only.
  const std::optional<TargetPosition> a = facts.acked_empty ? std::nullopt : std::optional(facts.a);
  if (!target.acked_known) return true;
  if (target.acked_in_this_run ? a != target.acked : a > target.acked) {
    return Fail(rule, "A is " + Text(a) + ", the trace has shown " + Text(target.acked));
  }
  return true;
}

// F is written with A in one transaction, and forgotten with the A that proves it.
bool TraceChecker::InFlightAgrees(const Target& target, const DeliveryFacts& facts) {
  if (!facts.target_can_scan || !target.acked_known) return true;
  const char* rule = "the facts are what the trace has shown";
  const std::optional<TargetPosition> f =
      facts.in_flight ? std::optional(facts.f_to) : std::nullopt;
  if (target.in_flight && !f) return Fail(rule, "in flight was " + Text(target.in_flight));
  // A death may leave an F without its event, and one whose acked event was not durable yet.
  if (!target.resolved_in_this_run || f == target.in_flight) return true;
  return Fail(rule, "F is " + Text(f) + ", in flight was " + Text(target.in_flight));
}

bool TraceChecker::Resolved(Target& target, const TraceObject& event) {
  const TraceObject* members = event.Object("facts");
  const std::optional<DeliveryFacts> facts =
      members == nullptr ? std::nullopt : ReadDeliveryFacts(*members);
  if (!facts) return Missing(event, "facts");
  if (target.step != Step::kRead) return Fail(kPath, "resolved before the receipt was read");
  if (!ReceiptFactsAgree(target, *facts) || !InFlightAgrees(target, *facts)) return false;
  target.resolved_in_this_run = true;
  if (facts->in_flight) target.in_flight = facts->f_to;
  const DeliveryDecision decision = DecideDelivery(*facts);
  if (event.Text("action") != DeliveryActionName(decision.action) ||
      event.Number("row") != static_cast<uint64_t>(decision.row)) {
    return Fail("the delivery decision follows from its facts", DescribeDelivery(*facts, decision));
  }
  target.facts = *facts;
  target.step = Step::kResolved;
  target.from = facts->acked_empty ? std::nullopt : std::optional(facts->a);
  if (!target.acked_known) {
    target.acked = target.from;
    target.acked_known = true;
  }
  switch (decision.action) {
    case DeliveryAction::kStart:
    case DeliveryAction::kDeliverFromAcked:
      target.step = Step::kReady;
      break;
    case DeliveryAction::kAdvanceAcked:
      target.to = AckedAfter(*facts, decision);
      // An operator's word may take A back: the target was restored to an older copy.
      target.told = decision.row != 6;
      target.proven = target.told ? target.to : std::max(target.proven, target.to);
      target.needs_ack = true;
      target.step = Step::kReady;
      break;
    case DeliveryAction::kScan:
    case DeliveryAction::kPark:
      break;
  }
  return true;
}

bool TraceChecker::Scanned(Target& target, const TraceObject& event) {
  const std::optional<std::string> found = event.Text("found");
  if (found != "all" && found != "none" && found != "some") return Missing(event, "found");
  const DeliveryDecision decision = DecideDelivery(target.facts);
  if (target.step != Step::kResolved || decision.action != DeliveryAction::kScan) {
    return Fail(kPath, "a scan that nothing asked for");
  }
  const ScanOutcome outcome = found == "all"    ? ScanOutcome::kAll
                              : found == "none" ? ScanOutcome::kNone
                                                : ScanOutcome::kSome;
  switch (DecideAfterScan(target.facts, decision, outcome)) {
    case DeliveryAction::kPark:
    case DeliveryAction::kScan:
      target.step = Step::kDone;
      return true;
    case DeliveryAction::kStart:
    case DeliveryAction::kDeliverFromAcked:
      target.step = Step::kReady;
      return true;
    case DeliveryAction::kAdvanceAcked:
      break;
  }
  target.step = Step::kReady;
  target.proven = std::max(target.proven, std::optional(target.facts.f_to));
  target.to = target.facts.f_to;
  target.needs_ack = true;
  return true;
}

// Only where nothing is in flight and A stands: it proves what was proven already.
bool TraceChecker::Refreshed(Target& target, const TraceObject& event) {
  const std::optional<TargetPosition> position = event.Position("position");
  if (!position || !event.Has("outcome")) return Missing(event, "position, outcome");
  if (target.step != Step::kReady || target.needs_ack || target.in_flight) {
    return Fail(kPath, "a refresh that was not decided in this session");
  }
  if (position != target.from) {
    return Fail("a refresh names what is acked",
                position->ToString() + ", A is " + Text(target.from));
  }
  target.step = Step::kDone;
  return true;
}

bool TraceChecker::Begin(Target& target, const TraceObject& event, bool transaction) {
  const std::optional<TargetPosition> from = event.Position("from");
  const std::optional<TargetPosition> to = event.Position("to");
  if (!to || event.Has("from") != from.has_value()) return Missing(event, "from, to");
  if (target.step != Step::kReady) {
    return Fail(kPath, "a delivery that was not decided in this session");
  }
  if (target.needs_ack) return Fail(kPath, "A has to move to " + Text(target.to) + " first");
  if (from != target.from) {
    return Fail("deliveries are contiguous", "from " + Text(from) + ", A is " + Text(target.from));
  }
  // A may have gone back with a death; what it had proven is not delivered again, but at a word.
  if (target.acked && from < target.acked && target.facts.word != Verb::kRedeliver) {
    return Fail("deliveries are contiguous",
                "from " + Text(from) + ", acked was " + Text(target.acked));
  }
  if (from && *to <= *from) return Fail("deliveries are contiguous", "to " + to->ToString());
  if (to->epoch > sealed_) {
    return Fail("only sealed epochs are delivered",
                "epoch " + std::to_string(to->epoch) + ", sealed is " + std::to_string(sealed_));
  }
  const auto rows = target.rows.find(to->epoch);
  if (rows != target.rows.end() && to->rows > rows->second) {
    return Fail("only sealed epochs are delivered",
                to->ToString() + " of " + std::to_string(rows->second) + " rows");
  }
  if (!transaction) {
    target.in_flight = *to;
    return true;
  }
  if (target.facts.target_can_scan && target.in_flight != *to) {
    return Fail("F is durable before the first byte", to->ToString());
  }
  target.to = *to;
  target.step = Step::kBegun;
  return true;
}

bool TraceChecker::ReceiptSent(Target& target, const TraceObject& event) {
  if (target.step != Step::kBegun) return Fail(kPath, "a receipt outside of a transaction");
  if (event.Position("to") != target.to) {
    return Fail("the receipt names what the transaction holds", Text(target.to));
  }
  return true;
}

bool TraceChecker::CommitCalled(Target& target) {
  if (target.step != Step::kBegun) return Fail(kPath, "a commit without a transaction");
  target.step = Step::kCommitCalled;
  return true;
}

bool TraceChecker::CommitReturned(Target& target, const TraceObject& event) {
  const std::optional<std::string> outcome = event.Text("outcome");
  if (outcome != "ok" && outcome != "in_doubt") return Missing(event, "outcome");
  if (target.step != Step::kCommitCalled) return Fail(kPath, "a commit that was not called");
  target.step = Step::kDone;
  if (outcome == "ok") target.proven = std::max(target.proven, target.to);
  return true;
}

bool TraceChecker::Acked(Target& target, const TraceObject& event) {
  const std::optional<TargetPosition> position = event.Position("position");
  if (!position) return Missing(event, "position");
  // Not only "at or below": half a delivery proves nothing.
  if (position != target.proven) {
    return Fail("acked only what a commit or a receipt has proven",
                position->ToString() + ", proven is " + Text(target.proven));
  }
  if (target.acked && *position < *target.acked && !target.told) {
    return Fail("A never moves back", position->ToString() + " after " + Text(target.acked));
  }
  target.told = false;
  target.acked = *position;
  target.acked_known = target.acked_in_this_run = true;
  target.in_flight.reset();
  if (target.needs_ack && position == target.to) {
    target.needs_ack = false;
    target.from = *position;
  }
  // The newest stays: it says whether everything is delivered.
  while (target.rows.size() > 1 && target.rows.begin()->first < position->epoch) {
    target.rows.erase(target.rows.begin());
  }
  hashes_.erase(hashes_.begin(), hashes_.lower_bound(sealed_ > 10000 ? sealed_ - 10000 : 0));
  return true;
}

bool TraceChecker::Trimmed(const Target& target, const TraceObject& event) {
  const std::optional<uint64_t> epoch = event.Number("epoch");
  if (!epoch) return Missing(event, "epoch");
  if (!target.acked_known) return true;  // delivered before the trace began
  const auto above = target.rows.upper_bound(*epoch);
  if (above == target.rows.begin()) return true;  // no known row at or below it
  const auto last = std::prev(above);
  const TargetPosition end{last->first, last->second};
  if (target.acked && *target.acked >= end) return true;
  return Fail("trimmed only what is acked",
              "epoch " + std::to_string(*epoch) + ", A is " + Text(target.acked));
}

}  // namespace weir::protocol
