// What of a Kafka source is sealed: per partition where reading stands, and for the source what the
// cluster and its topics were when we first met them. Cluster and topic ids are facts, not part of
// the fingerprint: a difference parks (exactly-once.md).
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_STATE_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/kafka/kafka_admin.h"

namespace weir::connectors {

inline constexpr int64_t kNoStop = -1;

// Saved blob of a partition: version u8, offset varint, leader epoch + 1 varint, stop + 1 varint.
struct KafkaPosition {
  int64_t offset = 0;         // of the next record
  int32_t leader_epoch = -1;  // of the last record that was read; -1: not known
  int64_t stop = kNoStop;     // bounded: the offset behind the last record to read
  bool operator==(const KafkaPosition&) const = default;
};
std::string EncodeKafkaPosition(const KafkaPosition& position);
std::optional<KafkaPosition> DecodeKafkaPosition(std::string_view blob);

// A partition's key in the saved state is "TOPIC/NUMBER", which no topic name can blur.
std::optional<TopicPartition> ParseTopicPartition(std::string_view key);

struct KafkaTopicRecord {
  std::string name;
  std::string id;
  int32_t partitions = 0;
  bool operator==(const KafkaTopicRecord&) const = default;
};
// Saved blob: version u8, cluster id, count varint, then name, id, partitions varint of each.
struct KafkaSourceRecord {
  std::string cluster;
  std::vector<KafkaTopicRecord> topics;  // by name
  const KafkaTopicRecord* Find(std::string_view name) const;
  void Put(KafkaTopicRecord topic);
  bool operator==(const KafkaSourceRecord&) const = default;
};
std::string EncodeKafkaSource(const KafkaSourceRecord& record);
std::optional<KafkaSourceRecord> DecodeKafkaSource(std::string_view blob);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_STATE_H_
