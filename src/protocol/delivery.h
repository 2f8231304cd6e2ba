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
  bool r_equals_seen = false;    // R is the R_seen recorded with A
  bool target_can_scan = false;  // Kafka; SQL targets and files have no second proof and need none
  std::optional<Verb> word;  // the operator's, recorded for this sink and not used up yet: answers
                             // a park that names it
};

enum class DeliveryAction { kPark, kStart, kDeliverFromAcked, kAdvanceAcked, kScan };
struct DeliveryDecision {
  DeliveryAction action = DeliveryAction::kPark;
  int row = 0;  // 1..12
};
inline constexpr int kDeliveryRows = 12;
DeliveryDecision DecideDelivery(const DeliveryFacts& facts);
const char* DeliveryActionName(DeliveryAction action);
const char* ReceiptKindName(ReceiptKind kind);
// What an operator can say to a park of this row. Rows 8, 10 and 12 park after a scan (or, where no
// scan exists, at once). Empty for rows that never park.
std::vector<Verb> DeliveryVerbs(int row);
std::string DescribeDelivery(const DeliveryFacts& facts, const DeliveryDecision& decision);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_DELIVERY_H_
