#include "connectors/testing/delivery_driver.h"

#include "connectors/testing/connector_world.h"

namespace weir::connectors {

Result<bool> ListReader::Next(int* sink, Batch& out) {
  if (next_ == batches_.size()) return false;
  FillInts(batches_[next_++], out);
  *sink = sink_;
  return true;
}

}  // namespace weir::connectors
