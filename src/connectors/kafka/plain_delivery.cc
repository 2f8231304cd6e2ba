#include "connectors/kafka/plain_delivery.h"

#include "base/check.h"
#include "base/log.h"
#include "connectors/kafka/produce_rows.h"

namespace weir::connectors {

Result<protocol::Whereabouts> PlainDelivery::Look() {
  Close();
  WEIR_ASSIGN_OR_RETURN([[maybe_unused]] const bool renewed, cluster_->Renew());
  // Without a name: no transactions.
  WEIR_ASSIGN_OR_RETURN(producer_, cluster_->NewProducer(""));
  WEIR_ASSIGN_OR_RETURN(topics_, cluster_->Describe());
  // Nothing is proven by where the topics are: nothing is recorded, and none of them parks.
  return protocol::Whereabouts();
}

Result<flow::Fenced> PlainDelivery::Fence(const std::vector<std::string>&) {
  return flow::Fenced{};
}

Result<protocol::ScanFacts> PlainDelivery::Scan(const flow::ScanRange&) {
  return Fail(Code::kInternal, "rows without a receipt are never looked for");
}
Status PlainDelivery::Refresh(const protocol::Receipt&) {
  return Status(Code::kInternal, "there is no receipt to refresh");
}

Result<protocol::Whereabouts> PlainDelivery::Deliver(const flow::SealedProof& proof,
                                                     const flow::DeliveryRange& range,
                                                     flow::RowReader& rows) {
  CHECK(producer_ != nullptr && range.to.epoch <= proof.through());
  const auto produced = ProduceRows(rows, rows_, topics_, /*lineage=*/nullptr, *producer_);
  Status status = produced ? Status::Ok() : produced.error();
  if (status.ok()) {
    const auto flushed = producer_->Flush();
    if (!flushed) {
      status = flushed.error();
    } else if (flushed->records != range.rows) {
      status =
          Status(Code::kUnavailable, std::to_string(flushed->records) + " of " +
                                         std::to_string(range.rows) + " records were acknowledged");
    }
  }
  if (status.ok()) return protocol::Whereabouts();
  if (wait_ || status.code() == Code::kCorruption) return Fail(status);
  LogWarning("rows_lost", {{"rows", range.rows}, {"reason", status.message()}});
  return protocol::Whereabouts();
}

void PlainDelivery::Close() { producer_.reset(); }

}  // namespace weir::connectors
