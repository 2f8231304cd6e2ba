// What a sink table of connector 'kafka' is delivered to and by: one target for all tables of the
// plan that reach a cluster in the same way.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_TARGET_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_TARGET_H_

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/topic_limits.h"
#include "flow/delivery.h"
#include "io/env.h"
#include "plan/plan.h"
#include "plan/references.h"

namespace weir::connectors {

// "kafka:" and the name of the first sink table of the plan that is on the same cluster: no
// address, which may change.
std::string KafkaTargetOf(const plan::Plan& plan, const plan::TableDef& table);

// Exactly once: in transactions, with receipts.
bool DeliversOnce(const plan::TableDef& table);
// ... and those in a consumer group.
bool ReceiptInGroup(const plan::TableDef& table);

// The transactional id without the cluster, whose id the first contact tells. `name`: as below.
std::string KafkaSessionOf(const plan::TableDef& table, const std::string& name,
                           const std::string& pipeline);

// `name`: begin of the transactional id where no option gives another one, as the directory
// recorded it: weir-INSTANCE. kInvalid: the tables disagree about what a cluster has only one of.
Result<std::unique_ptr<flow::SinkDelivery>> NewKafkaDelivery(
    const io::Env& env, const std::string& name, const std::string& pipeline,
    const std::vector<const plan::TableDef*>& tables, const std::shared_ptr<TopicLimits>& limits,
    const std::shared_ptr<const plan::References>& references);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_TARGET_H_
