// What a target's receipt means beside what this directory knows of it: the facts of
// protocol::DecideDelivery. Asked by every delivery, and by weir resolve before an operator speaks.
// Reads the store only; contacts nobody.
#ifndef WEIR_RUNTIME_RECEIPT_FACTS_H_
#define WEIR_RUNTIME_RECEIPT_FACTS_H_

#include <optional>
#include <string>
#include <vector>

#include "flow/delivery.h"
#include "protocol/delivery.h"
#include "store/store.h"

namespace weir::runtime {

// A target as the store and its spools know it.
struct KnownTarget {
  std::vector<std::string> sinks;                 // node names
  bool can_scan = false;                          // its receipt can be hidden: flow::DeliveryTraits
  std::optional<protocol::TargetPosition> acked;  // A
  std::optional<protocol::Receipt> seen;          // R_seen
  std::optional<protocol::TargetPosition> in_flight;  // F.to
  EpochId held_from = 0;  // the spools still hold every row from this epoch on
};

// The words that answer a row of the table; those for stages and sources, and --accept-topic, which
// comes before the table, are not among them.
bool IsDeliveryWord(protocol::Verb verb);

// `sealed`: the newest epoch that counts as sealed for the caller. Of `words` the first that
// answers the row is taken.
Result<protocol::DeliveryFacts> GatherDeliveryFacts(const store::Store& store, EpochId sealed,
                                                    const KnownTarget& target,
                                                    const flow::Fenced& fenced,
                                                    const std::vector<protocol::Resolution>& words);

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_RECEIPT_FACTS_H_
