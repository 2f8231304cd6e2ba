// ReadCommitted: every committed record between two sets of offsets. Of a scan, and of a receipt
// topic.
#ifndef WEIR_CONNECTORS_KAFKA_RD_READER_H_
#define WEIR_CONNECTORS_KAFKA_RD_READER_H_

#include <functional>
#include <string_view>

#include "connectors/kafka/kafka_client.h"
#include "io/clock.h"
#include "protocol/whereabouts.h"

namespace weir::connectors {

struct CommittedRecord {
  std::string_view key, value;
  std::string_view row_header;  // weir-e; "" without
};

// Records of [from, to), partition by partition in order. Ends when every position has passed `to`:
// never at the end of a partition as a reader sees it, never by a time-out. kUnavailable: nothing
// moved for long; an open transaction of somebody else is named by its place.
Status ReadCommitted(io::Clock& clock, const ClientConfig& config,
                     const protocol::Whereabouts& from, const protocol::Whereabouts& to,
                     const std::function<void(const CommittedRecord&)>& f);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_RD_READER_H_
