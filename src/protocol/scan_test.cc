// The second half of rows 8, 10 and 12: what a scan found, and what that decides.
#include <doctest/doctest.h>

#include "protocol/delivery.h"

namespace weir::protocol {
namespace {

using Action = DeliveryAction;

TEST_CASE("scan: what was found is judged as the page says") {
  struct Case {
    const char* name;
    ScanFacts facts;
    ScanOutcome want;
  };
  const Case cases[] = {
      {"all", {10, 10, 0, true, false}, ScanOutcome::kAll},
      {"all, although the log was cut", {10, 10, 0, false, true}, ScanOutcome::kAll},
      {"nothing", {10, 0, 0, true, false}, ScanOutcome::kNone},
      {"nothing, without F", {0, 0, 0, true, false}, ScanOutcome::kNone},
      {"nothing, but the log was cut", {10, 0, 0, false, true}, ScanOutcome::kSome},
      {"nothing, in a topic created again", {0, 0, 0, false, false}, ScanOutcome::kSome},
      {"some", {10, 3, 0, true, false}, ScanOutcome::kSome},
      {"some, the rest below the log start", {10, 3, 0, false, true}, ScanOutcome::kAll},
      {"some, compacted", {10, 3, 0, true, true}, ScanOutcome::kAll},
      {"all, and ours beyond", {10, 10, 1, true, false}, ScanOutcome::kSome},
      {"ours beyond, compacted", {10, 3, 1, true, true}, ScanOutcome::kSome},
      {"ours above A without F", {0, 0, 4, true, false}, ScanOutcome::kSome},
      {"more than there can be", {10, 11, 0, true, true}, ScanOutcome::kSome},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(JudgeScan(c.facts) == c.want);
  }
}

DeliveryFacts Scanning(bool present, bool in_flight, bool acked_empty) {
  DeliveryFacts facts;
  facts.target_can_scan = true;
  facts.receipt = present ? ReceiptKind::kOurs : ReceiptKind::kAbsent;
  facts.r = facts.a = {5, 3};
  facts.acked_empty = acked_empty;
  facts.in_flight = in_flight;
  facts.f_to = {6, 1};
  return facts;
}

TEST_CASE("scan: A moves to the end of F, or delivery goes on from A, or it parks") {
  for (const bool present : {false, true}) {
    for (const bool in_flight : {false, true}) {
      for (const bool acked_empty : {false, true}) {
        const DeliveryFacts facts = Scanning(present, in_flight, acked_empty);
        const DeliveryDecision decision = DecideDelivery(facts);
        if (decision.action != Action::kScan) continue;
        CAPTURE(decision.row);
        CHECK(DecideAfterScan(facts, decision, ScanOutcome::kAll) ==
              (in_flight ? Action::kAdvanceAcked : Action::kPark));
        CHECK(DecideAfterScan(facts, decision, ScanOutcome::kNone) ==
              (acked_empty ? Action::kStart : Action::kDeliverFromAcked));
        CHECK(DecideAfterScan(facts, decision, ScanOutcome::kSome) == Action::kPark);
        DeliveryFacts told = facts;
        told.word = Verb::kRedeliver;
        CHECK(DecideAfterScan(told, decision, ScanOutcome::kSome) ==
              (acked_empty ? Action::kStart : Action::kDeliverFromAcked));
        told.word = Verb::kTrustSink;
        CHECK(DecideAfterScan(told, decision, ScanOutcome::kSome) == Action::kPark);
      }
    }
  }
}

TEST_CASE("scan: a receipt under another key is held to rows 1 and 2 only") {
  DeliveryFacts facts;
  CHECK(DecideDelivery(facts).row == 11);
  facts.other_unknown = true;
  CHECK(DecideDelivery(facts).row == 1);
  facts.other_unknown = false;
  facts.other_newer = true;
  CHECK(DecideDelivery(facts).row == 2);
}

}  // namespace
}  // namespace weir::protocol
