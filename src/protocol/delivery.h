// Delivery: what the receipt of a target means for what is sealed here: the twelve-row table of exactly-once.md.
#ifndef WEIR_PROTOCOL_DELIVERY_H_
#define WEIR_PROTOCOL_DELIVERY_H_

#include <optional>
#include <string>

#include "protocol/types.h"

namespace weir::protocol {

// How R stands to what this directory knows.
enum class ReceiptKind { kAbsent, kUnknownLineage, kAncestor, kOurs };

struct DeliveryFacts {
  ReceiptKind receipt = ReceiptKind::kAbsent;
  TargetPosition r;                          // when present
  bool hash_matches = true;                  // with the chain of its lineage at r.epoch
  bool above_sealed = false;                 // r is above what its lineage had sealed here
  bool acked_empty = true;                   // A is empty
  TargetPosition a;
  bool in_flight = false;                    // F set
  TargetPosition f_to;
  bool r_equals_seen = false;                // R is the R_seen recorded with A
  bool target_can_scan = false;              // Kafka; SQL targets and files have no second proof and need none
};

enum class DeliveryAction { kPark, kStart, kDeliverFromAcked, kAdvanceAcked, kScan };
struct DeliveryDecision {
  DeliveryAction action = DeliveryAction::kPark;
  int row = 0;                               // 1..12
};
DeliveryDecision DecideDelivery(const DeliveryFacts& facts);
std::string DescribeDelivery(const DeliveryFacts& facts, const DeliveryDecision& decision);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_DELIVERY_H_
