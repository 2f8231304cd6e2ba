// Topics as the place where events go and as layers that are judged.
//
// Writing: an idempotent producer, each record into the partition that it is of, its item as key.
// The topic must be empty and have the partitions: then its end offsets are the records that are
// there, and Flush holds them against what was sent. A reader of transactions sees the same.
//
// Reading: committed records only, from the beginning to the end as it is when Read is called, on a
// handle of its own, without a group. Open transactions are waited for, up to ten seconds.
#ifndef WEIR_QUALIFY_KAFKA_H_
#define WEIR_QUALIFY_KAFKA_H_

#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_properties.h"
#include "io/clock.h"
#include "qualify/generator.h"
#include "qualify/rows.h"

namespace weir::qualify {

// kNotFound, kInvalid (another number of partitions), kExists (records are in it), kUnavailable.
Result<std::unique_ptr<RecordTarget>> NewKafkaTarget(io::Clock& clock,
                                                     const connectors::ClientConfig& config,
                                                     const std::string& topic, uint32_t partitions);

Result<std::unique_ptr<LayerReader>> NewKafkaReader(io::Clock& clock,
                                                    const connectors::ClientConfig& config,
                                                    const std::string& topic,
                                                    std::vector<Wish> wishes);

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_KAFKA_H_
