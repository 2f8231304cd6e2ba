// PlainDelivery: 'sink.delivery-guarantee' = 'at-least-once' or 'none'. Rows of sealed epochs into
// topics without a transaction and without a receipt: what is acked is only our own note, so what
// was in doubt is sent again (at-least-once) or not (none: a record that fails is counted and
// logged, and forgotten).
#ifndef WEIR_CONNECTORS_KAFKA_PLAIN_DELIVERY_H_
#define WEIR_CONNECTORS_KAFKA_PLAIN_DELIVERY_H_

#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_rows.h"
#include "connectors/kafka/txn_cluster.h"
#include "flow/delivery.h"

namespace weir::connectors {

class PlainDelivery : public flow::SinkDelivery {
 public:
  PlainDelivery(std::unique_ptr<TxnCluster> cluster, bool wait,
                std::vector<std::unique_ptr<KafkaRows>> rows)
      : cluster_(std::move(cluster)), wait_(wait), rows_(std::move(rows)) {}

  flow::DeliveryTraits Traits() const override { return {.kind = "kafka", .keeps_receipt = false}; }
  std::string SessionName() const override { return ""; }
  Result<protocol::Whereabouts> Look() override;
  Result<flow::Fenced> Fence(const std::vector<std::string>& ancestors) override;
  Result<protocol::ScanFacts> Scan(const flow::ScanRange& range) override;
  Result<protocol::Whereabouts> Deliver(const flow::SealedProof& proof,
                                        const flow::DeliveryRange& range,
                                        flow::RowReader& rows) override;
  Status Refresh(const protocol::Receipt& receipt) override;
  void Prepare() override {}
  void Close() override;

 private:
  std::unique_ptr<TxnCluster> cluster_;
  const bool wait_;  // false: guarantee none
  const std::vector<std::unique_ptr<KafkaRows>> rows_;
  std::unique_ptr<TxnProducer> producer_;
  protocol::Whereabouts topics_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_PLAIN_DELIVERY_H_
