// The connector 'kafka' as data, and what its options say. Source and sink share one table of
// options, spelled as Flink's SQL connector spells them.
//
// Not here: what a property means to the client library (kafka_properties.h).
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_SPEC_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_SPEC_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "plan/plan.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kKafkaSpec;

// METADATA keys, in the order of the spec.
enum class KafkaMetadata {
  kTopic,
  kPartition,
  kOffset,
  kTimestamp,
  kTimestampType,
  kLeaderEpoch,
  kHeaders
};
KafkaMetadata KafkaMetadataOf(std::string_view key);  // CHECKs that it is in the spec

// Where reading begins, or where a bounded input ends.
struct KafkaOffsets {
  enum class Mode {
    kEarliest,
    kLatest,
    kGroup,
    kTimestamp,
    kSpecific,
    kUnbounded
  } mode = Mode::kEarliest;
  int64_t timestamp_ms = 0;             // kTimestamp
  std::map<int32_t, int64_t> specific;  // kSpecific: partition -> offset
  // kGroup: what a partition without a committed offset means ('properties.auto.offset.reset').
  enum class Missing { kError, kEarliest, kLatest } missing = Missing::kError;
};

// What a source reads.
struct KafkaReading {
  std::vector<std::string> topics;  // empty: topic-pattern
  std::string pattern;              // RE2, of a whole topic name
  KafkaOffsets start;
  KafkaOffsets end;                   // kUnbounded: it does not
  int64_t discovery_interval_ms = 0;  // 0: never look for new partitions
  bool commit_positions = false;      // mirror sealed positions to properties.group.id
};
// kInvalid names the option. The options are those of a checked table.
Result<KafkaReading> KafkaReadingOf(const plan::TableDef& table);

// "partition:0,offset:42;partition:1,offset:300".
Result<std::map<int32_t, int64_t>> ParseSpecificOffsets(std::string_view text);

// 'weir.receipt' = 'offsets' gives "", 'topic:NAME' gives NAME.
Result<std::string> ReceiptTopicOf(std::string_view text);
// Legal as the name of a Kafka topic.
bool IsTopicName(std::string_view name);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_SPEC_H_
