#include "runtime/receipt_facts.h"

#include <algorithm>

namespace weir::runtime {

namespace {

using protocol::DeliveryFacts;
using protocol::Verb;

Result<protocol::TargetPosition> EndOfSharedLife(const store::Store& store,
                                                 const KnownTarget& target,
                                                 protocol::ReceiptKind receipt) {
  // An ancestor's receipt knows nothing of this lineage.
  if (receipt == protocol::ReceiptKind::kAncestor)
    return protocol::TargetPosition{store.run().base, 0};
  const EpochId acked = target.acked ? target.acked->epoch : 0;
  WEIR_ASSIGN_OR_RETURN(const EpochId end, store.EndOfRunOf(acked));
  WEIR_ASSIGN_OR_RETURN(const auto epochs, store.EpochsWithRows(target.sinks, end, 1));
  const bool has_rows = !epochs.empty() && epochs[0].epoch == end;
  const protocol::TargetPosition all{end, has_rows ? epochs[0].total : 0};
  return target.acked ? std::max(*target.acked, all) : all;
}

Status PlaceReceipt(const store::Store& store, EpochId sealed, const KnownTarget& target,
                    const protocol::Receipt& receipt, DeliveryFacts& facts) {
  protocol::ChainFacts chain{store.run().lineage, sealed, target.acked, std::nullopt,
                             store.Lineages()};
  if (receipt.lineage == chain.ours && receipt.position.epoch <= sealed) {
    const Result<Digest256> hash = store.HashOf(chain.ours, receipt.position.epoch);
    if (hash) {
      chain.hash = *hash;
    } else if (hash.error().code() != Code::kNotFound) {
      return hash.error();
    }
  }
  protocol::CompareReceipt(receipt, chain, facts);
  return Status::Ok();
}

}  // namespace

bool IsDeliveryWord(Verb verb) {
  return verb == Verb::kTrustSink || verb == Verb::kRedeliver || verb == Verb::kAdopt;
}

Result<DeliveryFacts> GatherDeliveryFacts(const store::Store& store, EpochId sealed,
                                          const KnownTarget& target, const flow::Fenced& fenced,
                                          const std::vector<protocol::Resolution>& words) {
  const std::optional<protocol::Receipt>& receipt = fenced.receipt;
  DeliveryFacts facts;
  facts.target_can_scan = target.can_scan;
  facts.acked_empty = !target.acked.has_value();
  if (target.acked) facts.a = *target.acked;
  facts.in_flight = target.in_flight.has_value();
  if (target.in_flight) facts.f_to = *target.in_flight;
  facts.r_equals_seen = receipt.has_value() ? target.seen == receipt : !target.seen.has_value();
  if (receipt) WEIR_RETURN_IF_ERROR(PlaceReceipt(store, sealed, target, *receipt, facts));
  for (const protocol::Receipt& other : fenced.others) {
    DeliveryFacts of_other;
    WEIR_RETURN_IF_ERROR(PlaceReceipt(store, sealed, target, other, of_other));
    const bool newer = of_other.above_sealed || !of_other.hash_matches;
    facts.other_unknown |= of_other.receipt == protocol::ReceiptKind::kUnknownLineage;
    facts.other_newer |= of_other.receipt == protocol::ReceiptKind::kAncestor && newer;
  }
  // An adopted receipt may still need a second word: the one that the row names is taken.
  const std::vector<Verb> named = protocol::DeliveryVerbs(protocol::DecideDelivery(facts).row);
  for (const protocol::Resolution& word : words) {
    if (!IsDeliveryWord(word.verb)) continue;
    const bool answers = std::find(named.begin(), named.end(), word.verb) != named.end();
    if (answers || !facts.word) facts.word = word.verb;
    if (answers) break;
  }
  if (facts.word == Verb::kTrustSink) {
    WEIR_ASSIGN_OR_RETURN(facts.shared, EndOfSharedLife(store, target, facts.receipt));
    facts.held_from = target.held_from;
  }
  return facts;
}

}  // namespace weir::runtime
