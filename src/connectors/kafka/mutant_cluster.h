// Deliveries that are wrong on purpose, so that whoever judges deliveries can be seen to say no.
// Not part of the product: only builds with fault points have it, and only WEIR_MUTANT in the
// environment switches one on. Driven by NewKafkaDelivery, which wraps the cluster once.
//
//   twice          what was committed is committed again, without the receipt
//   dropped        the first row of each delivery is left out
//   altered        the last digit of each row's value is another one
//   receipt-first  the receipt is read before the fence, and what was read then is believed
//   reused         one producer makes every delivery of the process
#ifndef WEIR_CONNECTORS_KAFKA_MUTANT_CLUSTER_H_
#define WEIR_CONNECTORS_KAFKA_MUTANT_CLUSTER_H_

#include <memory>

#include "connectors/kafka/txn_cluster.h"

namespace weir::connectors {

#if defined(WEIR_FAULTS) && WEIR_FAULTS
// The cluster as it is, unless WEIR_MUTANT is set; a name that is none of the above is an error.
Result<std::unique_ptr<TxnCluster>> MaybeMutant(std::unique_ptr<TxnCluster> cluster);
#else
inline Result<std::unique_ptr<TxnCluster>> MaybeMutant(std::unique_ptr<TxnCluster> cluster) {
  return cluster;
}
#endif

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_MUTANT_CLUSTER_H_
