#include "protocol/delivery.h"

#include <algorithm>

#include "base/check.h"

namespace weir::protocol {
namespace {

using Facts = DeliveryFacts;
using Action = DeliveryAction;

bool Newer(const Facts& f) { return f.above_sealed || !f.hash_matches; }
bool Ancestor(const Facts& f) { return f.receipt == ReceiptKind::kAncestor; }
bool Ours(const Facts& f) { return f.receipt == ReceiptKind::kOurs; }
bool Absent(const Facts& f) { return f.receipt == ReceiptKind::kAbsent; }
bool AtOurNote(const Facts& f) { return (!f.acked_empty && f.r == f.a) || f.r_equals_seen; }
// The very receipt (or the very absence) that stood there when A was noted, with an operator's word
// if it needed one: it has been decided on before, and a death in between asks nobody again.
bool Settled(const Facts& f) { return !f.acked_empty && f.r_equals_seen; }

struct Row {
  int row;
  bool (*matches)(const Facts&);
  Action scanning;  // a target that can be scanned: its receipt may be hidden
  Action exact;     // a target whose receipt lives in the transaction itself: what it says is all
};

// exactly-once.md, the twelve rows; a row of the page with cases inside is several lines here. An
// exact receipt that has not moved proves that F did not commit, so rows 8 and 10 need no scan.
constexpr Row kRows[] = {
    {1, [](const Facts& f) { return f.receipt == ReceiptKind::kUnknownLineage || f.other_unknown; },
     Action::kPark, Action::kPark},
    {2, [](const Facts& f) { return (Ancestor(f) && Newer(f) && !Settled(f)) || f.other_newer; },
     Action::kPark, Action::kPark},
    {3, [](const Facts& f) { return Ancestor(f) && f.acked_empty && !f.in_flight; }, Action::kStart,
     Action::kStart},
    {8, [](const Facts& f) { return Ancestor(f) && f.acked_empty; }, Action::kScan, Action::kStart},
    {4, [](const Facts& f) { return Ancestor(f) && !f.r_equals_seen; }, Action::kPark,
     Action::kPark},
    {7, [](const Facts& f) { return Ancestor(f) && !f.in_flight; }, Action::kDeliverFromAcked,
     Action::kDeliverFromAcked},
    {8, [](const Facts& f) { return Ancestor(f); }, Action::kScan, Action::kDeliverFromAcked},
    {7, [](const Facts& f) { return Ours(f) && Settled(f) && !f.in_flight; },
     Action::kDeliverFromAcked, Action::kDeliverFromAcked},
    {8, [](const Facts& f) { return Ours(f) && Settled(f); }, Action::kScan,
     Action::kDeliverFromAcked},
    {5, [](const Facts& f) { return Ours(f) && Newer(f); }, Action::kPark, Action::kPark},
    {6, [](const Facts& f) { return Ours(f) && (f.acked_empty || f.r > f.a); },
     Action::kAdvanceAcked, Action::kAdvanceAcked},
    {7, [](const Facts& f) { return Ours(f) && AtOurNote(f) && !f.in_flight; },
     Action::kDeliverFromAcked, Action::kDeliverFromAcked},
    {8, [](const Facts& f) { return Ours(f) && AtOurNote(f); }, Action::kScan,
     Action::kDeliverFromAcked},
    {9, [](const Facts& f) { return Ours(f); }, Action::kPark, Action::kPark},
    {10, [](const Facts& f) { return f.in_flight && f.acked_empty; }, Action::kScan,
     Action::kStart},
    {10, [](const Facts& f) { return f.in_flight; }, Action::kScan, Action::kPark},
    {11, [](const Facts& f) { return f.acked_empty; }, Action::kStart, Action::kStart},
    {12, [](const Facts& f) { return Settled(f); }, Action::kScan, Action::kDeliverFromAcked},
    {12, [](const Facts&) { return true; }, Action::kScan, Action::kPark},
};

// The operator's word replaces a park, and nothing else: what the evidence decides stays decided.
Action Answer(const Facts& facts, int row) {
  if (!facts.word) return Action::kPark;
  for (const Verb verb : DeliveryVerbs(row)) {
    if (verb != *facts.word) continue;
    if (verb == Verb::kTrustSink) return Action::kAdvanceAcked;  // A := R
    return facts.acked_empty ? Action::kStart : Action::kDeliverFromAcked;
  }
  return Action::kPark;
}

}  // namespace

void CompareReceipt(const Receipt& receipt, const ChainFacts& chain, DeliveryFacts& facts) {
  facts.r = receipt.position;
  if (receipt.lineage == chain.ours) {
    facts.receipt = ReceiptKind::kOurs;
    facts.above_sealed = receipt.position.epoch > chain.sealed;
    const bool pruned = chain.acked && receipt.position <= *chain.acked;
    facts.hash_matches = facts.above_sealed || (chain.hash ? *chain.hash == receipt.hash : pruned);
    return;
  }
  facts.receipt = ReceiptKind::kUnknownLineage;
  for (const LineageRecord& record : chain.lineages) {
    if (record.lineage != receipt.lineage) continue;
    facts.receipt = ReceiptKind::kAncestor;
    facts.above_sealed = receipt.position.epoch > record.last_sealed;
    // Only the hash of an ancestor's last epoch is remembered.
    facts.hash_matches =
        receipt.position.epoch != record.last_sealed || receipt.hash == record.last_hash;
  }
}

DeliveryDecision DecideDelivery(const DeliveryFacts& facts) {
  for (const Row& row : kRows) {
    if (!row.matches(facts)) continue;
    const Action action = facts.target_can_scan ? row.scanning : row.exact;
    return {action == Action::kPark ? Answer(facts, row.row) : action, row.row};
  }
  CHECK(false);  // the last row matches everything
}

TargetPosition AckedAfter(const DeliveryFacts& facts, const DeliveryDecision& decision) {
  CHECK(decision.action == Action::kAdvanceAcked);
  if (decision.row == 6 || !facts.shared) return facts.r;
  const TargetPosition to = std::min(facts.r, *facts.shared);
  if (facts.acked_empty || to >= facts.a) return to;
  return std::max(to, std::min(facts.a, TargetPosition{facts.held_from, 0}));
}

std::vector<Verb> DeliveryVerbs(int row) {
  switch (row) {
    case 1:
      return {Verb::kAdopt};
    case 2:
      return {Verb::kAdopt, Verb::kRedeliver};
    case 4:
    case 5:
    case 9:
      return {Verb::kTrustSink, Verb::kRedeliver};
    case 8:
    case 10:
    case 12:
      return {Verb::kRedeliver};  // R is where we know it, or there is none: nothing to trust
    default:
      return {};
  }
}

ScanOutcome JudgeScan(const ScanFacts& facts) {
  // Ours beyond what was begun here: a twin, or a backup was restored.
  if (facts.beyond > 0) return ScanOutcome::kSome;
  if (facts.found == 0) {
    // Where the log does not reach back, or is another one, nothing is no answer.
    return facts.reaches_back ? ScanOutcome::kNone : ScanOutcome::kSome;
  }
  if (facts.found == facts.expected) return ScanOutcome::kAll;
  // A delivery is one transaction: one row of it proves the others, where they may be gone.
  return facts.found < facts.expected && facts.may_have_holes ? ScanOutcome::kAll
                                                              : ScanOutcome::kSome;
}

const char* ScanOutcomeName(ScanOutcome outcome) {
  switch (outcome) {
    case ScanOutcome::kAll:
      return "all";
    case ScanOutcome::kNone:
      return "none";
    case ScanOutcome::kSome:
      return "some";
  }
  return "";
}

DeliveryAction DecideAfterScan(const DeliveryFacts& facts, const DeliveryDecision& decision,
                               ScanOutcome outcome) {
  switch (outcome) {
    case ScanOutcome::kAll:
      if (facts.in_flight) return Action::kAdvanceAcked;
      break;
    case ScanOutcome::kNone:
      return facts.acked_empty ? Action::kStart : Action::kDeliverFromAcked;
    case ScanOutcome::kSome:
      break;
  }
  return Answer(facts, decision.row);
}

std::string DescribeScan(const ScanFacts& facts) {
  std::string out = "the scan found " + std::to_string(facts.found) + " of " +
                    std::to_string(facts.expected) + " rows in flight";
  if (facts.beyond > 0) out += " and " + std::to_string(facts.beyond) + " rows of ours beyond";
  if (!facts.reaches_back) out += "; the topic's log no longer reaches back to where they began";
  return out;
}

const char* DeliveryActionName(DeliveryAction action) {
  switch (action) {
    case Action::kPark:
      return "park";
    case Action::kStart:
      return "start";
    case Action::kDeliverFromAcked:
      return "deliver_from_acked";
    case Action::kAdvanceAcked:
      return "advance_acked";
    case Action::kScan:
      return "scan";
  }
  return "";
}

const char* ReceiptKindName(ReceiptKind kind) {
  switch (kind) {
    case ReceiptKind::kAbsent:
      return "absent";
    case ReceiptKind::kUnknownLineage:
      return "unknown_lineage";
    case ReceiptKind::kAncestor:
      return "ancestor";
    case ReceiptKind::kOurs:
      return "ours";
  }
  return "";
}

std::string DescribeDelivery(const DeliveryFacts& facts, const DeliveryDecision& decision) {
  std::string out = "row " + std::to_string(decision.row) + ": receipt ";
  switch (facts.receipt) {
    case ReceiptKind::kAbsent:
      out += "absent";
      break;
    case ReceiptKind::kUnknownLineage:
      out += "at " + facts.r.ToString() + " of a lineage that this directory never had";
      break;
    case ReceiptKind::kAncestor:
      out += "at " + facts.r.ToString() + " of an earlier fresh start";
      break;
    case ReceiptKind::kOurs:
      out += "at " + facts.r.ToString();
      break;
  }
  if (!Absent(facts) && facts.above_sealed) {
    out += ", above everything sealed here (restored from a backup, or a copy delivers too)";
  }
  if (!Absent(facts) && !facts.hash_matches) {
    out += ", its hash is not that of our epoch (a copy of this directory delivers too)";
  }
  out += "; acked " + (facts.acked_empty ? std::string("nothing") : facts.a.ToString());
  if (facts.in_flight) out += "; in flight up to " + facts.f_to.ToString();
  if (facts.r_equals_seen) out += "; the receipt is the one seen with the last ack";
  if (facts.other_unknown) out += "; beside it one of a lineage that this directory never had";
  if (facts.other_newer) out += "; beside it a newer one of an earlier fresh start";
  if (decision.action == Action::kPark) {
    out += "; choices:";
    for (const Verb verb : DeliveryVerbs(decision.row)) out += std::string(" ") + VerbName(verb);
  } else {
    out += std::string("; ") + DeliveryActionName(decision.action);
  }
  return out;
}

}  // namespace weir::protocol
