#include "connectors/kafka/kafka_probe.h"

#include "connectors/kafka/kafka_admin.h"
#include "connectors/kafka/kafka_target.h"
#include "connectors/kafka/receipt_text.h"
#include "data/name_pattern.h"

namespace weir::connectors {
namespace {

constexpr int kRequestMs = 5000;
constexpr int kCoordinatorTries = 20;
constexpr int kCoordinatorPauseMs = 500;
constexpr int kInitTries = 2;

Result<std::vector<std::string>> TopicsOf(KafkaHandle& handle, const plan::TableDef& table,
                                          bool as_sink) {
  if (as_sink) {
    std::vector<std::string> topics = {table.options.String("topic")};
    WEIR_ASSIGN_OR_RETURN(std::string receipt,
                          ReceiptTopicOf(table.options.String("weir.receipt")));
    if (!receipt.empty()) topics.push_back(std::move(receipt));
    return topics;
  }
  WEIR_ASSIGN_OR_RETURN(KafkaReading reading, KafkaReadingOf(table));
  if (reading.pattern.empty()) return reading.topics;
  WEIR_ASSIGN_OR_RETURN(const auto pattern, NamePattern::Parse(reading.pattern));
  WEIR_ASSIGN_OR_RETURN(std::vector<std::string> names, AskTopicNames(handle, kRequestMs));
  std::erase_if(names, [&](const std::string& name) { return !pattern->Matches(name); });
  return names;
}

// A cluster that nobody has used yet has no coordinator for the first seconds.
Status ProbeGroup(const ClientConfig& config, const std::string& group) {
  for (int tries = 1;; ++tries) {
    WEIR_ASSIGN_OR_RETURN(const auto handle, KafkaHandle::Create(config, ClientRole::kAdmin));
    const Status status = AskGroupRights(*handle, group, kRequestMs);
    if (status.code() != Code::kBusy || tries == kCoordinatorTries) return status;
    handle->Poll(kCoordinatorPauseMs);
  }
}

// Whether the transactional id may be used, without using it. Brokers look at the right first, then
// at the transaction's time-out, and only then fence whoever has the id: asked with a time-out that
// none of them allows (24 days; transaction.max.timeout.ms is 15 minutes unless somebody sets it),
// they say one of the first two and change nothing.
Status ProbeTransactionalId(const ClientConfig& config, const std::string& id) {
  const std::vector<ClientProperty> extra = {{"transactional.id", id},
                                             {"transaction.timeout.ms", "2147483000"}};
  WEIR_ASSIGN_OR_RETURN(const auto handle,
                        KafkaHandle::Create(config, ClientRole::kProducer, extra));
  for (int tries = 1;; ++tries) {
    const KafkaError error(rd_kafka_init_transactions(handle->get(), kRequestMs));
    handle->Poll(0);
    if (error == nullptr) return Status::Ok();
    if (rd_kafka_error_code(error.get()) == RD_KAFKA_RESP_ERR_INVALID_TRANSACTION_TIMEOUT)
      return Status::Ok();
    if (rd_kafka_error_is_retriable(error.get()) == 0 || tries == kInitTries)
      return handle->Unavailable("the transactional id " + id, error.get());
  }
}

Status ProbeReceipt(const ClientConfig& config, KafkaHandle& handle, const std::string& group,
                    const std::string& table, ProbeFindings& out) {
  WEIR_RETURN_IF_ERROR(ProbeGroup(config, group));
  WEIR_ASSIGN_OR_RETURN(const std::vector<int32_t> brokers, AskBrokers(handle, kRequestMs));
  for (const int32_t broker : brokers) {
    const auto settings = AskBrokerConfig(handle, broker, kRequestMs);
    if (settings) {
      WEIR_RETURN_IF_ERROR(KeepsReceiptsOfGroups(broker, *settings));
      continue;
    }
    // Rights that need not be there.
    out.notes.push_back("table " + table + ": whether the brokers are of Kafka 4.0 or later: " +
                        settings.error().message());
    break;
  }
  return Status::Ok();
}

Status Probe(const ClientConfig& config, const plan::TableDef& table, bool as_sink,
             const std::string& session, ProbeFindings& out) {
  WEIR_ASSIGN_OR_RETURN(const auto made, KafkaHandle::Create(config, ClientRole::kAdmin));
  KafkaHandle& handle = *made;
  WEIR_ASSIGN_OR_RETURN(const std::string cluster, AskClusterId(handle, kRequestMs));
  WEIR_ASSIGN_OR_RETURN(const auto names, TopicsOf(handle, table, as_sink));
  WEIR_ASSIGN_OR_RETURN(const auto topics, AskTopics(handle, names, kRequestMs, true));
  for (const TopicFacts& topic : topics) {
    const std::string what = "table " + table.name + ": topic " + topic.name;
    if (!topic.status.ok()) {
      out.errors.push_back("table " + table.name + ": " + topic.status.message());
      continue;
    }
    out.notes.push_back(what + " of cluster " + cluster + " has " +
                        std::to_string(topic.partitions) +
                        (topic.partitions == 1 ? " partition" : " partitions"));
    // A sink's scan and the key of its receipt read the topic, too.
    if (!topic.may_read)
      out.errors.push_back(what + " cannot be read: the ACL Read on the topic is missing");
    if (as_sink && !topic.may_write)
      out.errors.push_back(what + " cannot be written: the ACL Write on the topic is missing");
  }
  if (topics.empty()) out.notes.push_back("table " + table.name + ": no topic matches yet");
  if (!as_sink || !DeliversOnce(table)) return Status::Ok();
  const std::string id = SessionAt(session, cluster);
  const Status may_use = ProbeTransactionalId(config, id);
  if (!may_use.ok()) out.errors.push_back("table " + table.name + ": " + may_use.message());
  if (!ReceiptInGroup(table)) return Status::Ok();
  return ProbeReceipt(config, handle, ReceiptGroupOf(id), table.name, out);
}

}  // namespace

void ProbeKafka(const ClientConfig& config, const plan::TableDef& table, bool as_sink,
                const std::string& session, ProbeFindings& out) {
  const Status status = Probe(config, table, as_sink, session, out);
  if (!status.ok()) out.errors.push_back("table " + table.name + ": " + status.message());
}

}  // namespace weir::connectors
