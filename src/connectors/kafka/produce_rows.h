// ProduceRows: the rows of one delivery into a producer, each into the topic of its sink and the
// partition that its key asks for. What comes before and after (transaction, flush, receipt) is the
// delivery's.
#ifndef WEIR_CONNECTORS_KAFKA_PRODUCE_ROWS_H_
#define WEIR_CONNECTORS_KAFKA_PRODUCE_ROWS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "connectors/kafka/kafka_rows.h"
#include "connectors/kafka/txn_cluster.h"
#include "flow/delivery.h"
#include "protocol/whereabouts.h"

namespace weir::connectors {

// Number of records handed over, not yet acknowledged. `encoders`: by sink of the target; `topics`:
// as described for this delivery. With a lineage each record carries weir-e; null: it carries none.
// Where the sink has a watermark each record carries weir-wm.
Result<uint64_t> ProduceRows(flow::RowReader& rows,
                             const std::vector<std::unique_ptr<KafkaRows>>& encoders,
                             const protocol::Whereabouts& topics, const Lineage* lineage,
                             TxnProducer& producer);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_PRODUCE_ROWS_H_
