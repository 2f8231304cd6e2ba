// Delivery: what the receipt of a target means for what is sealed here: the twelve-row table of
// exactly-once.md.
#ifndef WEIR_PROTOCOL_DELIVERY_H_
#define WEIR_PROTOCOL_DELIVERY_H_

#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"

namespace weir::protocol {

// How R stands to what this directory knows.
enum class ReceiptKind { kAbsent, kUnknownLineage, kAncestor, kOurs };

struct DeliveryFacts {
  ReceiptKind receipt = ReceiptKind::kAbsent;
  TargetPosition r;           // when present
  bool hash_matches = true;   // with the chain of its lineage at r.epoch
  bool above_sealed = false;  // r is above what its lineage had sealed here
  bool acked_empty = true;    // A is empty
  TargetPosition a;
  bool in_flight = false;  // F set
  TargetPosition f_to;
  bool r_equals_seen = false;  // R is the R_seen recorded with A
  // Of receipts found under other keys (an earlier SQL of this directory): rows 1 and 2 only.
  bool other_unknown = false;  // one of a lineage unknown here
  bool other_newer = false;    // one of an ancestor's that is above what it had sealed, or forked
  // With --trust-sink only: the end of the run that sealed the epoch of A. A directory is restored
  // between two runs, so what was sealed up to here was sealed before; what came later may be a
  // second life of the same ids, and R says nothing of it.
  std::optional<TargetPosition> shared;
  EpochId held_from = 0;  // likewise: rows of earlier epochs are trimmed, A cannot go back to them
  bool target_can_scan = false;  // Kafka; SQL targets and files have no second proof and need none
  std::optional<Verb> word;  // the operator's, recorded for this sink and not used up yet: answers
                             // a park that names it
};

// What this directory knows of the chain that a receipt names.
struct ChainFacts {
  Lineage ours;                         // of this run
  EpochId sealed = 0;                   // its newest sealed epoch
  std::optional<TargetPosition> acked;  // A
  std::optional<Digest256> hash;        // ours, of the receipt's epoch; nullopt: no such epoch here
  std::vector<LineageRecord> lineages;  // every lineage that this directory ever had
};
// Fills in receipt, r, above_sealed and hash_matches. Ids are not dense: an epoch that is not here
// is known only if it is at or below A, where epochs are pruned; above A a receipt that names it is
// another chain's.
void CompareReceipt(const Receipt& receipt, const ChainFacts& chain, DeliveryFacts& facts);

enum class DeliveryAction { kPark, kStart, kDeliverFromAcked, kAdvanceAcked, kScan };
struct DeliveryDecision {
  DeliveryAction action = DeliveryAction::kPark;
  int row = 0;  // 1..12
};
inline constexpr int kDeliveryRows = 12;
DeliveryDecision DecideDelivery(const DeliveryFacts& facts);

// What a scan has found of our rows.
struct ScanFacts {
  uint64_t expected = 0;        // rows of (A, F.to]; 0 without F
  uint64_t found = 0;           // of them
  uint64_t beyond = 0;          // of ours, above F.to (without F: above A)
  bool reaches_back = true;     // on every partition the log still begins at or below the recorded
                                // offset, and the topic is the recorded one
  bool may_have_holes = false;  // a compacted topic, or rows may lie below the log start
};
// all: everything of F is there (A moves to F.to); none: nothing of ours above A; some: parks.
enum class ScanOutcome { kAll, kNone, kSome };
ScanOutcome JudgeScan(const ScanFacts& facts);
const char* ScanOutcomeName(ScanOutcome outcome);
// The second half of rows 8, 10 and 12. kAdvanceAcked: A := F.to.
DeliveryAction DecideAfterScan(const DeliveryFacts& facts, const DeliveryDecision& decision,
                               ScanOutcome outcome);
std::string DescribeScan(const ScanFacts& facts);

// Where A goes on kAdvanceAcked: to R when our chain proves it. Under --trust-sink, where no chain
// does, to R or to the end of what R's life and ours have in common, whichever comes first: rows
// that were sealed since a backup was restored are never taken for delivered. Back (the target was
// restored) it goes as far as the spool reaches.
TargetPosition AckedAfter(const DeliveryFacts& facts, const DeliveryDecision& decision);
const char* DeliveryActionName(DeliveryAction action);
const char* ReceiptKindName(ReceiptKind kind);
// What an operator can say to a park of this row. Rows 8, 10 and 12 park after a scan (or, where no
// scan exists, at once). Empty for rows that never park.
std::vector<Verb> DeliveryVerbs(int row);
std::string DescribeDelivery(const DeliveryFacts& facts, const DeliveryDecision& decision);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_DELIVERY_H_
