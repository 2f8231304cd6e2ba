// What a SinkDelivery needs from a pipeline: a proof, a range, rows.
#ifndef WEIR_CONNECTORS_TESTING_DELIVERY_DRIVER_H_
#define WEIR_CONNECTORS_TESTING_DELIVERY_DRIVER_H_

#include <optional>
#include <vector>

#include "flow/delivery.h"

namespace weir::connectors {

// Rows of one sink, from a list of batches.
class ListReader : public flow::RowReader {
 public:
  explicit ListReader(std::vector<std::vector<int64_t>> batches, int sink = 0)
      : batches_(std::move(batches)), sink_(sink) {}
  Result<bool> Next(flow::RowsAt* at, Batch& out) override;

 private:
  std::vector<std::vector<int64_t>> batches_;
  size_t next_ = 0;
  int sink_ = 0;
};

// The first steps of every path: look, fence, read the receipt.
Result<std::optional<protocol::Receipt>> ReadReceipt(flow::SinkDelivery& session);
// Deliver, where only its outcome matters.
Status DeliverRows(flow::SinkDelivery& session, const flow::SealedProof& proof,
                   const flow::DeliveryRange& range, flow::RowReader& rows);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_TESTING_DELIVERY_DRIVER_H_
