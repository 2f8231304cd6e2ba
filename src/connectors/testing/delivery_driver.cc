#include "connectors/testing/delivery_driver.h"

#include "connectors/testing/connector_world.h"

namespace weir::connectors {

Result<bool> ListReader::Next(flow::RowsAt* at, Batch& out) {
  if (next_ == batches_.size()) return false;
  FillInts(batches_[next_++], out);
  at->sink = sink_;
  return true;
}

Result<std::optional<protocol::Receipt>> ReadReceipt(flow::SinkDelivery& session) {
  WEIR_ASSIGN_OR_RETURN(const protocol::Whereabouts at, session.Look());
  (void)at;
  WEIR_ASSIGN_OR_RETURN(const flow::Fenced fenced, session.Fence({}));
  return fenced.receipt;
}

Status DeliverRows(flow::SinkDelivery& session, const flow::SealedProof& proof,
                   const flow::DeliveryRange& range, flow::RowReader& rows) {
  const Result<protocol::Whereabouts> done = session.Deliver(proof, range, rows);
  return done ? Status::Ok() : done.error();
}

}  // namespace weir::connectors
