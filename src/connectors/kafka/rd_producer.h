// RdProducer: TxnProducer over the client library: one rd_kafka_t, one transaction.
#ifndef WEIR_CONNECTORS_KAFKA_RD_PRODUCER_H_
#define WEIR_CONNECTORS_KAFKA_RD_PRODUCER_H_

#include <memory>
#include <string>

#include "connectors/kafka/rd_cluster.h"

namespace weir::connectors {

// Contacts the cluster: metadata of every topic that it will write, else the first record waits a
// second for it. kUnavailable with the reason.
Result<std::unique_ptr<TxnProducer>> NewRdProducer(io::Clock& clock,
                                                   const RdClusterOptions& options,
                                                   const std::string& name);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_RD_PRODUCER_H_
