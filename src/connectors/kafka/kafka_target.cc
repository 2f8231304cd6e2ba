#include "connectors/kafka/kafka_target.h"

#include <algorithm>

#include "base/check.h"
#include "connectors/kafka/kafka_delivery.h"
#include "connectors/kafka/kafka_properties.h"
#include "connectors/kafka/kafka_spec.h"
#include "connectors/kafka/mutant_cluster.h"
#include "connectors/kafka/plain_delivery.h"
#include "connectors/kafka/rd_cluster.h"

namespace weir::connectors {
namespace {

// Where tables of one cluster must agree.
constexpr std::string_view kOfCluster[] = {"sink.delivery-guarantee",
                                           "sink.transactional-id-prefix", "weir.receipt"};

std::string OptionText(const plan::TableDef& table, std::string_view name) {
  return table.options.Find(name) != nullptr ? table.options.String(name) : std::string();
}

Status CheckAgreement(const std::vector<const plan::TableDef*>& tables) {
  for (const plan::TableDef* table : tables) {
    for (const std::string_view name : kOfCluster) {
      if (OptionText(*table, name) == OptionText(*tables.front(), name)) continue;
      return Status(Code::kInvalid, "tables " + tables.front()->name + " and " + table->name +
                                        " are delivered together, to one cluster: " +
                                        std::string(name) + " must be the same");
    }
  }
  return Status::Ok();
}

bool WritesKafka(const plan::Node& node) {
  const auto* sink = std::get_if<plan::SinkNode>(&node.body);
  return sink != nullptr && sink->table != nullptr && sink->table->connector == &kKafkaSpec;
}

}  // namespace

std::string KafkaTargetOf(const plan::Plan& plan, const plan::TableDef& table) {
  const ClientConfig config = ClientConfigOf(table);
  for (const plan::Node& node : plan.nodes) {
    if (!WritesKafka(node)) continue;
    const plan::TableDef& first = *std::get<plan::SinkNode>(node.body).table;
    if (ClientConfigOf(first) == config) return "kafka:" + first.name;
  }
  return "kafka:" + table.name;
}

bool DeliversOnce(const plan::TableDef& table) {
  return table.options.String("sink.delivery-guarantee") == "exactly-once";
}

bool ReceiptInGroup(const plan::TableDef& table) {
  return DeliversOnce(table) && table.options.String("weir.receipt") == "offsets";
}

std::string KafkaSessionOf(const plan::TableDef& table, const std::string& name,
                           const std::string& pipeline) {
  const std::string prefix = OptionText(table, "sink.transactional-id-prefix");
  return (prefix.empty() ? name : prefix) + "-" + pipeline;
}

Result<std::unique_ptr<flow::SinkDelivery>> NewKafkaDelivery(
    const io::Env& env, const std::string& name, const std::string& pipeline,
    const std::vector<const plan::TableDef*>& tables, const std::shared_ptr<TopicLimits>& limits,
    const std::shared_ptr<const plan::References>& references) {
  WEIR_RETURN_IF_ERROR(CheckAgreement(tables));
  const plan::TableDef& first = *tables.front();
  RdClusterOptions cluster;
  cluster.config = ClientConfigOf(first, env, references);
  cluster.limits = limits;
  cluster.receipt_in_group = ReceiptInGroup(first);
  WEIR_ASSIGN_OR_RETURN(cluster.receipt_topic,
                        ReceiptTopicOf(first.options.String("weir.receipt")));
  std::vector<std::unique_ptr<KafkaRows>> rows;
  for (const plan::TableDef* table : tables) {
    WEIR_ASSIGN_OR_RETURN(auto one, KafkaRows::Make(*table));
    cluster.topics.push_back(one->topic());
    rows.push_back(std::move(one));
  }
  std::sort(cluster.topics.begin(), cluster.topics.end());
  cluster.topics.erase(std::unique(cluster.topics.begin(), cluster.topics.end()),
                       cluster.topics.end());
  for (const auto& one : rows) {
    const auto at = std::lower_bound(cluster.topics.begin(), cluster.topics.end(), one->topic());
    one->SetTopicIndex(static_cast<int>(at - cluster.topics.begin()));
  }
  io::Clock& clock = env.clock;
  const std::string guarantee = first.options.String("sink.delivery-guarantee");
  if (guarantee != "exactly-once") {
    return std::make_unique<PlainDelivery>(NewRdCluster(clock, std::move(cluster)),
                                           /*wait=*/guarantee == "at-least-once", std::move(rows));
  }
  KafkaDeliveryOptions options;
  options.name = KafkaSessionOf(first, name, pipeline);
  options.wall_ms = [&clock] { return clock.WallMs(); };
  options.transaction_timeout_ms = cluster.transaction_timeout_ms;
  WEIR_ASSIGN_OR_RETURN(auto asked, MaybeMutant(NewRdCluster(clock, std::move(cluster))));
  return std::make_unique<KafkaDelivery>(std::move(asked), std::move(options), std::move(rows));
}

}  // namespace weir::connectors
