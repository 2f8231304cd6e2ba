// Which partition a record goes to: as Java's clients choose, so that a topic that both write has
// one place for each key.
#ifndef WEIR_CONNECTORS_KAFKA_PARTITIONER_H_
#define WEIR_CONNECTORS_KAFKA_PARTITIONER_H_

#include <cstdint>
#include <string_view>

namespace weir::connectors {

// MurmurHash2, 32 bits, with the seed that Kafka's Java client uses.
uint32_t KafkaMurmur2(std::string_view bytes);
// The partition of a key among `partitions` (at least 1).
int32_t PartitionOfKey(std::string_view key, int32_t partitions);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_PARTITIONER_H_
