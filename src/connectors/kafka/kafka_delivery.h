// KafkaDelivery: rows of sealed epochs into the topics of one cluster, with a receipt, in one
// transaction of a producer that lives for exactly one delivery (exactly-once.md, "Delivering to
// Kafka"). The order of the steps is all that is here; what a step is lies behind TxnCluster.
//
//   Look     new producer, metadata of every topic, cluster and topic ids; fences nobody
//   Fence    init_transactions of that producer, then the receipt, then the partitions' ends
//   Scan     the second proof: our rows between recorded ends and those of Fence
//   Deliver  begin, rows, every one acknowledged, receipt, commit
//   Refresh  begin, receipt, commit
//   Close    destroys the producer
//   Prepare  makes the next one: threads, connections, metadata; only Init fences
//
// Never: a second transaction on a producer, any call on it after a commit that did not say OK, a
// receipt read before Init.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_DELIVERY_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_DELIVERY_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_rows.h"
#include "connectors/kafka/receipt_text.h"
#include "connectors/kafka/txn_cluster.h"
#include "flow/delivery.h"

namespace weir::connectors {

struct KafkaDeliveryOptions {
  // transactional.id = `name`-CLUSTER, with instance and pipeline as the directory recorded them.
  std::string name;
  int64_t transaction_timeout_ms = 60000;
  uint64_t rows_max = 0;   // of one delivery; 0: what fits into a quarter of the transaction
  int64_t merge_ms = 500;  // the retry period of a producer that meets unwritten markers
  std::function<int64_t()> wall_ms;
};

class KafkaDelivery : public flow::SinkDelivery {
 public:
  // `rows`: of each sink of the target, in plan order; their topics are indexes into `cluster`'s.
  KafkaDelivery(std::unique_ptr<TxnCluster> cluster, KafkaDeliveryOptions options,
                std::vector<std::unique_ptr<KafkaRows>> rows)
      : cluster_(std::move(cluster)), options_(std::move(options)), rows_(std::move(rows)) {}

  flow::DeliveryTraits Traits() const override;
  std::string SessionName() const override { return NameAt(cluster_id_); }
  Result<protocol::Whereabouts> Look() override;
  Result<flow::Fenced> Fence(const std::vector<std::string>& ancestors) override;
  Result<protocol::ScanFacts> Scan(const flow::ScanRange& range) override;
  Result<protocol::Whereabouts> Deliver(const flow::SealedProof& proof,
                                        const flow::DeliveryRange& range,
                                        flow::RowReader& rows) override;
  Status Refresh(const protocol::Receipt& receipt) override;
  void Prepare() override;
  void Close() override;

 private:
  std::string NameAt(const std::string& cluster_id) const {
    return cluster_id.empty() ? "" : SessionAt(options_.name, cluster_id);
  }
  std::string Group() const { return ReceiptGroupOf(SessionName()); }
  Status OpenProducer();
  Status ReadReceipt(flow::Fenced& out);
  Status CommitReceipt(const protocol::Receipt& receipt);

  std::unique_ptr<TxnCluster> cluster_;
  const KafkaDeliveryOptions options_;
  const std::vector<std::unique_ptr<KafkaRows>> rows_;
  std::string cluster_id_;  // "" until the first contact
  std::unique_ptr<TxnProducer> producer_;
  // The last fencing of ours, while nothing of ours is open: what the next one is held against.
  std::optional<ProducerIdentity> last_;
  std::unique_ptr<TxnProducer> next_;  // prepared: under the name, with metadata; has done nothing
  protocol::Whereabouts looked_;
  protocol::Whereabouts ends_;  // after fencing
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_DELIVERY_H_
