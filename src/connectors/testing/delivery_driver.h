// What a SinkDelivery needs from a pipeline: a proof, a range, rows.
#ifndef WEIR_CONNECTORS_TESTING_DELIVERY_DRIVER_H_
#define WEIR_CONNECTORS_TESTING_DELIVERY_DRIVER_H_

#include <vector>

#include "flow/delivery.h"

namespace weir::connectors {

// Rows of one sink, from a list of batches.
class ListReader : public flow::RowReader {
 public:
  explicit ListReader(std::vector<std::vector<int64_t>> batches, int sink = 0)
      : batches_(std::move(batches)), sink_(sink) {}
  Result<bool> Next(int* sink, Batch& out) override;

 private:
  std::vector<std::vector<int64_t>> batches_;
  size_t next_ = 0;
  int sink_ = 0;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_TESTING_DELIVERY_DRIVER_H_
