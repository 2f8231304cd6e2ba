#include "connectors/kafka/plain_delivery.h"

#include "base/check.h"
#include "base/log.h"
#include "io/fault.h"

namespace weir::connectors {

Result<protocol::Whereabouts> PlainDelivery::Look() {
  Close();
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

Status PlainDelivery::Produce(flow::RowReader& rows) {
  Batch batch;
  for (;;) {
    flow::RowsAt at;
    WEIR_ASSIGN_OR_RETURN(const bool more, rows.Next(&at, batch));
    if (!more) return Status::Ok();
    KafkaRows& encoder = *rows_[static_cast<size_t>(at.sink)];
    const protocol::TopicAt* topic = topics_.Find(encoder.topic());
    CHECK(topic != nullptr);
    const auto partitions = static_cast<int32_t>(topic->ends.size());
    encoder.SetBatch(batch);
    Status status;
    batch.ForEachSelected([&](uint32_t row) {
      if (!status.ok()) return;
      status = WEIR_FAULT_POINT("deliver.during_produce").ToStatus("deliver.during_produce");
      if (!status.ok()) return;
      TxnRecord record;
      encoder.Encode(row, partitions, record);
      status = producer_->Produce(record);
    });
    WEIR_RETURN_IF_ERROR(status);
  }
}

Result<protocol::Whereabouts> PlainDelivery::Deliver(const flow::SealedProof& proof,
                                                     const flow::DeliveryRange& range,
                                                     flow::RowReader& rows) {
  CHECK(producer_ != nullptr && range.to.epoch <= proof.through());
  Status status = Produce(rows);
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
