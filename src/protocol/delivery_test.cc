#include "protocol/delivery.h"

#include <doctest/doctest.h>

#include <set>

namespace weir::protocol {
namespace {

using Facts = DeliveryFacts;
using Action = DeliveryAction;

struct Want {
  int row;
  Action action;
};

// Rows 7 and 8: our own note of where the target stands holds.
Want NoteHolds(const Facts& f) {
  if (!f.in_flight) return {7, Action::kDeliverFromAcked};
  if (f.target_can_scan) return {8, Action::kScan};
  return {8, f.acked_empty ? Action::kStart : Action::kDeliverFromAcked};
}

// The page by question, not by row.
Want Expected(const Facts& f) {
  switch (f.receipt) {
    case ReceiptKind::kUnknownLineage:
      return {1, Action::kPark};
    case ReceiptKind::kAncestor:
      if (!f.acked_empty && f.r_equals_seen) return NoteHolds(f);
      if (f.above_sealed || !f.hash_matches) return {2, Action::kPark};
      if (f.acked_empty) return f.in_flight ? NoteHolds(f) : Want{3, Action::kStart};
      return {4, Action::kPark};
    case ReceiptKind::kOurs:
      if (!f.acked_empty && f.r_equals_seen) return NoteHolds(f);
      if (f.above_sealed || !f.hash_matches) return {5, Action::kPark};
      if (f.acked_empty || f.a < f.r) return {6, Action::kAdvanceAcked};
      if (f.r == f.a || f.r_equals_seen) return NoteHolds(f);
      return {9, Action::kPark};
    case ReceiptKind::kAbsent:
      if (f.in_flight) {
        if (f.target_can_scan) return {10, Action::kScan};
        return {10, f.acked_empty ? Action::kStart : Action::kPark};
      }
      if (f.acked_empty) return {11, Action::kStart};
      if (f.target_can_scan) return {12, Action::kScan};
      return {12, f.r_equals_seen ? Action::kDeliverFromAcked : Action::kPark};
  }
  return {0, Action::kPark};
}

template <class F>
void ForAllFacts(F&& f) {
  const TargetPosition positions[] = {{4, 10}, {5, 3}, {5, 10}, {6, 0}};
  for (const ReceiptKind kind : {ReceiptKind::kAbsent, ReceiptKind::kUnknownLineage,
                                 ReceiptKind::kAncestor, ReceiptKind::kOurs}) {
    for (int bits = 0; bits < 64; ++bits) {
      for (const TargetPosition& r : positions) {
        for (const TargetPosition& a : positions) {
          Facts facts;
          facts.receipt = kind;
          facts.r = r;
          facts.a = a;
          facts.hash_matches = bits & 1;
          facts.above_sealed = bits & 2;
          facts.acked_empty = bits & 4;
          facts.in_flight = bits & 8;
          facts.r_equals_seen = bits & 16;
          facts.target_can_scan = bits & 32;
          facts.f_to = {9, 1};
          f(facts);
        }
      }
    }
  }
}

TEST_CASE("delivery: every combination of facts gets the decision of the page") {
  std::set<int> rows;
  uint64_t wrong = 0;
  ForAllFacts([&](const Facts& facts) {
    const DeliveryDecision got = DecideDelivery(facts);
    const Want want = Expected(facts);
    rows.insert(got.row);
    wrong += got.row != want.row || got.action != want.action;
  });
  CHECK(wrong == 0);
  CHECK(rows.size() == kDeliveryRows);
}

TEST_CASE("delivery: an exact receipt never needs a scan") {
  ForAllFacts([&](const Facts& facts) {
    if (!facts.target_can_scan && DecideDelivery(facts).action == Action::kScan) FAIL("scan");
  });
}

TEST_CASE("delivery: A never moves back, and moves only to a receipt that our chain proves") {
  ForAllFacts([&](const Facts& f) {
    if (DecideDelivery(f).action != Action::kAdvanceAcked) return;
    if (f.receipt != ReceiptKind::kOurs || !f.hash_matches || f.above_sealed) FAIL("unproven");
    if (!f.acked_empty && f.r <= f.a) FAIL("back");
  });
}

TEST_CASE("delivery: every park names its verbs, and only rows that park have some") {
  std::set<int> parking;
  ForAllFacts([&](const Facts& facts) {
    const DeliveryDecision got = DecideDelivery(facts);
    if (got.action == Action::kPark || got.action == Action::kScan) parking.insert(got.row);
  });
  for (int row = 1; row <= kDeliveryRows; ++row) {
    CAPTURE(row);
    CHECK(DeliveryVerbs(row).empty() == !parking.contains(row));
  }
}

TEST_CASE("delivery: an operator's word answers a park that names it, and nothing else") {
  for (const Verb verb : kAllVerbs) {
    uint64_t wrong = 0;
    ForAllFacts([&](Facts facts) {
      const DeliveryDecision plain = DecideDelivery(facts);
      facts.word = verb;
      const DeliveryDecision told = DecideDelivery(facts);
      bool named = false;
      for (const Verb v : DeliveryVerbs(plain.row)) named |= v == verb;
      if (plain.action != Action::kPark || !named) {
        wrong += told.action != plain.action;
      } else if (verb == Verb::kTrustSink) {
        wrong += told.action != Action::kAdvanceAcked;
      } else {
        wrong += told.action != (facts.acked_empty ? Action::kStart : Action::kDeliverFromAcked);
      }
    });
    CAPTURE(VerbName(verb));
    CHECK(wrong == 0);
  }
}

// A death between the word and the first delivery after it must not ask the operator again, and
// must not take a receipt for proven that nobody but the operator has vouched for.
TEST_CASE("delivery: a receipt that was decided on with A is never parked on, and proves no more") {
  ForAllFacts([&](const Facts& f) {
    if (f.acked_empty || !f.r_equals_seen || f.target_can_scan || f.in_flight) return;
    if (f.receipt == ReceiptKind::kUnknownLineage) return;  // it was adopted, or it never was seen
    if (DecideDelivery(f).action != Action::kDeliverFromAcked) FAIL("not from A");
  });
}

// exactly-once.md, "Parking and resolving": a restored directory seals epochs whose ids R has
// passed in its first life. They are rows that the target never got.
TEST_CASE("delivery: --trust-sink covers what was sealed before a restore, never what came after") {
  struct Case {
    const char* name;
    TargetPosition r, a, shared, want;
    EpochId held_from = 0;
  };
  const Case cases[] = {
      {"R above all that is sealed: A ends where the restored run began",
       {50, 4},
       {40, 7},
       {43, 2},
       {43, 2}},
      {"nothing was left to deliver at the backup: A stays", {50, 4}, {43, 2}, {43, 2}, {43, 2}},
      {"R below the end of the run: another hash, a copy; to R",
       {42, 1},
       {40, 7},
       {43, 2},
       {42, 1}},
      {"R below A: the database was restored; back to R", {39, 1}, {40, 7}, {43, 2}, {39, 1}, 30},
      {"... as far as the spool reaches", {20, 1}, {40, 7}, {43, 2}, {30, 0}, 30},
      {"... which is nowhere", {20, 1}, {40, 7}, {43, 2}, {40, 7}, 41},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Facts facts;
    facts.receipt = ReceiptKind::kOurs;
    facts.r = c.r;
    facts.above_sealed = c.r > c.shared;
    facts.hash_matches = facts.above_sealed;
    facts.acked_empty = false;
    facts.a = c.a;
    facts.shared = c.shared;
    facts.held_from = c.held_from;
    facts.word = Verb::kTrustSink;
    const DeliveryDecision decision = DecideDelivery(facts);
    REQUIRE(decision.action == Action::kAdvanceAcked);
    CHECK(AckedAfter(facts, decision) == c.want);
  }
}

TEST_CASE("delivery: the description names the row, the facts and the choices") {
  Facts facts;
  facts.receipt = ReceiptKind::kOurs;
  facts.r = {50, 12};
  facts.above_sealed = true;
  facts.acked_empty = false;
  facts.a = {40, 7};
  const std::string text = DescribeDelivery(facts, DecideDelivery(facts));
  for (const char* part : {"row 5", "50:12", "40:7", "backup", "--trust-sink", "--redeliver"}) {
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
  }
  std::set<std::string> texts;
  ForAllFacts([&](const Facts& f) { texts.insert(DescribeDelivery(f, DecideDelivery(f))); });
  CHECK(texts.size() > 100);
  CHECK(!texts.contains(""));
}

TEST_CASE("delivery: names of kinds and actions are distinct words") {
  std::set<std::string> kinds, actions;
  for (int i = 0; i <= 3; ++i) kinds.insert(ReceiptKindName(static_cast<ReceiptKind>(i)));
  for (int i = 0; i <= 4; ++i) actions.insert(DeliveryActionName(static_cast<Action>(i)));
  CHECK(kinds.size() == 4);
  CHECK(actions.size() == 5);
}

TEST_CASE("delivery: what a receipt is to our chain") {
  const Lineage ours{{1}}, before{{3}}, foreign{{5}};
  Digest256 good, other;
  other.bytes[0] = 1;
  const std::vector<LineageRecord> lineages = {{before, 0, 7, good}, {ours, 7, 0, {}}};
  struct Case {
    const char* name;
    Receipt receipt;
    std::optional<TargetPosition> acked;
    std::optional<Digest256> hash;
    ReceiptKind kind;
    bool above_sealed, hash_matches;
  };
  const Case cases[] = {
      {"ours, our hash", {ours, {11, 5}, good}, {{9, 1}}, good, ReceiptKind::kOurs, false, true},
      {"ours, another hash: a copy of this directory delivered it",
       {ours, {11, 5}, good},
       {{9, 1}},
       other,
       ReceiptKind::kOurs,
       false,
       false},
      {"above everything sealed",
       {ours, {13, 5}, good},
       {{9, 1}},
       {},
       ReceiptKind::kOurs,
       true,
       true},
      {"an id that was skipped here, above A: never pruned, so never ours",
       {ours, {11, 5}, good},
       {{9, 1}},
       {},
       ReceiptKind::kOurs,
       false,
       false},
      {"the same, nothing acked", {ours, {11, 5}, good}, {}, {}, ReceiptKind::kOurs, false, false},
      {"pruned: at or below A",
       {ours, {8, 5}, good},
       {{9, 1}},
       {},
       ReceiptKind::kOurs,
       false,
       true},
      {"an ancestor's last epoch",
       {before, {7, 5}, good},
       {},
       {},
       ReceiptKind::kAncestor,
       false,
       true},
      {"an ancestor's last epoch, another hash",
       {before, {7, 5}, other},
       {},
       {},
       ReceiptKind::kAncestor,
       false,
       false},
      {"above what an ancestor had sealed",
       {before, {8, 5}, good},
       {},
       {},
       ReceiptKind::kAncestor,
       true,
       true},
      {"below an ancestor's last",
       {before, {6, 5}, other},
       {},
       {},
       ReceiptKind::kAncestor,
       false,
       true},
      {"a lineage that was never here",
       {foreign, {7, 5}, good},
       {},
       {},
       ReceiptKind::kUnknownLineage,
       false,
       true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Facts facts;
    CompareReceipt(c.receipt, {ours, 12, c.acked, c.hash, lineages}, facts);
    CHECK(facts.receipt == c.kind);
    CHECK(facts.r == c.receipt.position);
    CHECK(facts.above_sealed == c.above_sealed);
    CHECK(facts.hash_matches == c.hash_matches);
  }
}

}  // namespace
}  // namespace weir::protocol
