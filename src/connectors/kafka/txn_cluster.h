// TxnCluster and TxnProducer: what a delivery asks of a Kafka cluster, one call for each step of
// the path in exactly-once.md. The seam between the order of the steps (kafka_delivery) and the
// client library (rd_cluster); tests/sim puts a broker of its own behind it.
//
// Used on the target's delivery worker only. A failed call never proves anything: the caller takes
// the path from its start.
#ifndef WEIR_CONNECTORS_KAFKA_TXN_CLUSTER_H_
#define WEIR_CONNECTORS_KAFKA_TXN_CLUSTER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/producer_identity.h"
#include "protocol/types.h"
#include "protocol/whereabouts.h"

namespace weir::connectors {

// One record to write. What it borrows lives until Produce returns.
struct TxnRecord {
  int topic = 0;  // index into the cluster's topics, which are sorted by name
  int32_t partition = 0;
  std::optional<std::string_view> key;
  std::optional<std::string_view> value;  // nullopt: a tombstone
  std::optional<int64_t> timestamp_ms;    // nullopt: now
  std::string_view row_header;            // weir-e; "" for a receipt
  std::string_view watermark_header;      // weir-wm; "": none
};

// A receipt as it stands there, with the key that it stands under.
struct StoredReceipt {
  std::string topic;  // of a sink, whose partition 0 is the key; "" where there is but one
  std::string text;   // receipt_text.h
};

// One producer instance: exactly one delivery. Destroying it is always allowed, and after a commit
// that did not return OK it is the only thing that is.
class TxnProducer {
 public:
  virtual ~TxnProducer() = default;
  virtual std::string cluster() const = 0;  // id of the cluster that it is connected to
  // Fences every other producer of the name and settles what it left open. kTwin: fenced meanwhile.
  virtual Status Init() = 0;
  // What Init made of it. nullopt: not known, or more than one request may have been needed.
  virtual std::optional<ProducerIdentity> identity() const = 0;
  virtual Status Begin() = 0;
  virtual Status Produce(const TxnRecord& record) = 0;
  // Waits until every record is acknowledged. Number of records that were, and for each topic and
  // partition the offset behind the last one (0: none).
  struct Flushed {
    uint64_t records = 0;
    std::vector<std::vector<int64_t>> ends;
  };
  virtual Result<Flushed> Flush() = 0;
  // Into the transaction: the receipt of the group, under partition 0 of `key_topic`.
  virtual Status SendReceipt(const std::string& group, const std::string& key_topic, EpochId epoch,
                             const std::string& text) = 0;
  // OK is the only proof. kTwin: fenced, which proves nothing.
  virtual Status Commit() = 0;
};

class TxnCluster {
 public:
  virtual ~TxnCluster() = default;
  // Forgets connections and what was learnt: the next call contacts whatever stands at the address.
  virtual void Reset() = 0;
  // Before a session, never within one: secrets that may be old (SIGHUP) are read again. True: they
  // were, and no session begins on what was made before.
  virtual Result<bool> Renew() = 0;
  virtual Result<std::string> ClusterId() = 0;
  // Cluster, topic ids and partition counts (ends are 0). kNotFound names a topic that is missing.
  virtual Result<protocol::Whereabouts> Describe() = 0;
  // A new producer that has asked for every topic that it will write; nobody is fenced yet. Without
  // a name it makes no transactions: Produce and Flush only.
  virtual Result<std::unique_ptr<TxnProducer>> NewProducer(const std::string& name) = 0;
  // All receipts of the group (or of the receipt topic under that name), none of an open
  // transaction: waits for those.
  virtual Result<std::vector<StoredReceipt>> ReadReceipts(const std::string& group) = 0;
  // In the shape of `at`: log starts, and high watermarks as a read_uncommitted reader sees them.
  virtual Result<protocol::Whereabouts> AskBegins(const protocol::Whereabouts& at) = 0;
  virtual Result<protocol::Whereabouts> AskEnds(const protocol::Whereabouts& at) = 0;
  // Every committed record of [from, to) by its weir-e header ("" without one), in any order.
  virtual Status ReadHeaders(const protocol::Whereabouts& from, const protocol::Whereabouts& to,
                             const std::function<void(std::string_view row_header)>& f) = 0;
  // A topic that compaction thins out.
  virtual Result<bool> AnyCompacted() = 0;
  // How long an idle receipt stands; 0: not known; -1: for ever.
  virtual int64_t ReceiptRetentionMs() = 0;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_TXN_CLUSTER_H_
