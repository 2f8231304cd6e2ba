// What `weir check --connect` asks a cluster about one table: whether the brokers answer and take
// our login, whether the topics are there, and what we may do with them. Changes nothing.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_PROBE_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_PROBE_H_

#include <string>
#include <vector>

#include "connectors/kafka/kafka_properties.h"
#include "connectors/kafka/kafka_spec.h"

namespace weir::connectors {

struct ProbeFindings {
  std::vector<std::string> errors, notes;  // one line each
};

// `session`: of a sink, its transactional id without the cluster (KafkaSessionOf). Blocks for some
// seconds when nobody answers.
void ProbeKafka(const ClientConfig& config, const plan::TableDef& table, bool as_sink,
                const std::string& session, ProbeFindings& out);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_PROBE_H_
