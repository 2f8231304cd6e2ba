// RdCluster: TxnCluster over the client library. Handles: one that asks (admin), kept while it
// works; one reader for each scan; a producer for each delivery.
#ifndef WEIR_CONNECTORS_KAFKA_RD_CLUSTER_H_
#define WEIR_CONNECTORS_KAFKA_RD_CLUSTER_H_

#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/topic_limits.h"
#include "connectors/kafka/txn_cluster.h"
#include "io/clock.h"

namespace weir::connectors {

struct RdClusterOptions {
  ClientConfig config;              // of every handle to the cluster
  std::vector<std::string> topics;  // of the sinks, sorted
  std::string receipt_topic;        // "": offsets of a group, or none at all
  bool receipt_in_group = false;
  int64_t transaction_timeout_ms = 60000;
  std::shared_ptr<TopicLimits> limits;  // learnt at contacts; may be null
};

std::unique_ptr<TxnCluster> NewRdCluster(io::Clock& clock, RdClusterOptions options);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_RD_CLUSTER_H_
