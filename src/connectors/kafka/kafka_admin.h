// Questions to a cluster: topics and their ids, offsets, settings. Blocking, with a deadline: for a
// worker, never for the loop. Everything that fails is kUnavailable with the reason, or a Status of
// the one topic or partition that it is about.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_ADMIN_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_ADMIN_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_client.h"

namespace weir::connectors {

struct TopicFacts {
  std::string name;
  std::string id;  // base64 of the topic id: another one means that the topic was created again
  int32_t partitions = 0;
  Status status;  // kNotFound: there is no such topic; kUnavailable: ACL, no leader, ...
  // What we may do with it, when asked with `rights`; a cluster without ACLs allows all.
  bool may_read = true, may_write = true;
};

struct TopicPartition {
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const TopicPartition&) const = default;
  std::string ToString() const { return topic + "/" + std::to_string(partition); }
};

struct OffsetQuestion {
  // kEarliest: the log start. kLatest: the high watermark, or with read_committed the last stable
  // offset. kTimestamp: the first record at or after it; kLatest's answer where there is none.
  enum class Kind { kEarliest, kLatest, kTimestamp } kind = Kind::kEarliest;
  TopicPartition at;
  int64_t timestamp_ms = 0;
};
struct OffsetAnswer {
  TopicPartition at;
  int64_t offset = -1;
  Status status;
};

// The same question to each partition of a topic.
void AddQuestions(OffsetQuestion::Kind kind, const std::string& topic, size_t partitions,
                  std::vector<OffsetQuestion>& out);

// The cluster's id, "" when the broker is too old to have one.
Result<std::string> AskClusterId(KafkaHandle& handle, int timeout_ms);
// In the order asked.
Result<std::vector<TopicFacts>> AskTopics(KafkaHandle& handle,
                                          const std::vector<std::string>& names, int timeout_ms,
                                          bool rights = false);
// Names of all topics that we may see, but for the cluster's own, sorted.
Result<std::vector<std::string>> AskTopicNames(KafkaHandle& handle, int timeout_ms);
// Asks the leaders. A leader that does not answer fails its own partitions only.
Result<std::vector<OffsetAnswer>> AskOffsets(KafkaHandle& handle,
                                             const std::vector<OffsetQuestion>& questions,
                                             bool read_committed, int timeout_ms);
// What the handle's group.id has committed, waiting for open transactions; offset -1: nothing.
Result<std::vector<OffsetAnswer>> AskGroupOffsets(KafkaHandle& handle,
                                                  const std::vector<TopicPartition>& partitions,
                                                  int timeout_ms);
// All settings of a topic, or of the broker that is asked for with its id.
Result<std::map<std::string, std::string>> AskTopicConfig(KafkaHandle& handle,
                                                          const std::string& topic, int timeout_ms);
Result<std::map<std::string, std::string>> AskBrokerConfig(KafkaHandle& handle, int32_t broker,
                                                           int timeout_ms);
// A group's coordinator is being found, or starts: only a new handle asks who it is now, for the
// library remembers it as long as it is asked for it.
bool CoordinatorMoves(rd_kafka_resp_err_t code);
// Whether the receipts of a group may be kept there: kUnavailable names the right that is missing.
// A broker that does not say is not doubted. kBusy: CoordinatorMoves.
Status AskGroupRights(KafkaHandle& handle, const std::string& group, int timeout_ms);
// kUnavailable: a broker of these settings is older than Kafka 4.0 and has the old group
// coordinator, which may lose receipts (kafka-facts.md, 4).
Status KeepsReceiptsOfGroups(int32_t broker, const std::map<std::string, std::string>& settings);
// Ids of the brokers that the cluster shows, ascending.
Result<std::vector<int32_t>> AskBrokers(KafkaHandle& handle, int timeout_ms);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_ADMIN_H_
