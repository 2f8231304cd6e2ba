#include "connectors/kafka/kafka_delivery.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "connectors/kafka/produce_rows.h"
#include "connectors/kafka/receipt_text.h"
#include "io/fault.h"

namespace weir::connectors {
namespace {

// A third of the broker's default of seven days.
constexpr int64_t kRefreshMs = 7 * 86400000LL / 3;

// Epochs and rows of ours that a scan has met, each once.
class RowSet {
 public:
  void Add(const protocol::TargetPosition& row) {
    std::vector<bool>& rows = epochs_[row.epoch];
    if (rows.size() <= row.rows) rows.resize(row.rows + 1);
    if (!rows[row.rows]) ++count_;
    rows[row.rows] = true;
  }
  uint64_t count() const { return count_; }

 private:
  std::map<EpochId, std::vector<bool>> epochs_;
  uint64_t count_ = 0;
};

// Where the scan begins: what was recorded of topics that are still the same; everything of a
// partition that was born since.
protocol::Whereabouts Begin(const protocol::Whereabouts& since, const protocol::Whereabouts& now,
                            const protocol::Whereabouts& log_starts, bool* reaches_back) {
  protocol::Whereabouts out = now;
  for (size_t t = 0; t < out.topics.size(); ++t) {
    protocol::TopicAt& topic = out.topics[t];
    const protocol::TopicAt* was = since.Find(topic.name);
    if (was == nullptr || was->id != topic.id) *reaches_back = false;
    for (size_t p = 0; p < topic.ends.size(); ++p) {
      const int64_t start = log_starts.topics[t].ends[p];
      const bool known = was != nullptr && was->id == topic.id && p < was->ends.size();
      const int64_t from = known ? was->ends[p] : 0;
      if (start > from) *reaches_back = false;
      topic.ends[p] = std::max(from, start);
    }
  }
  return out;
}

}  // namespace

flow::DeliveryTraits KafkaDelivery::Traits() const {
  flow::DeliveryTraits traits;
  traits.kind = "kafka";
  traits.receipt_can_hide = true;
  traits.time_max_ms = options_.transaction_timeout_ms / 4;
  traits.rows_max = options_.rows_max;
  traits.merge_ms = options_.merge_ms;
  const int64_t retention_ms = cluster_->ReceiptRetentionMs();
  traits.refresh_ms = retention_ms < 0 ? 0 : retention_ms > 0 ? retention_ms / 3 : kRefreshMs;
  traits.session_ms = options_.transaction_timeout_ms;
  return traits;
}

Status KafkaDelivery::OpenProducer() {
  WEIR_ASSIGN_OR_RETURN(const bool renewed, cluster_->Renew());
  if (renewed) next_.reset();
  producer_ = std::move(next_);
  if (producer_ != nullptr) return Status::Ok();
  if (cluster_id_.empty()) {
    WEIR_ASSIGN_OR_RETURN(cluster_id_, cluster_->ClusterId());
  }
  WEIR_ASSIGN_OR_RETURN(producer_, cluster_->NewProducer(SessionName()));
  if (producer_->cluster() == cluster_id_) return Status::Ok();
  // Another cluster answers at the address. Its sessions have another name; this producer, which
  // bears the old one, has fenced nobody.
  producer_.reset();
  cluster_->Reset();
  last_.reset();
  WEIR_ASSIGN_OR_RETURN(cluster_id_, cluster_->ClusterId());
  WEIR_ASSIGN_OR_RETURN(producer_, cluster_->NewProducer(SessionName()));
  if (producer_->cluster() == cluster_id_) return Status::Ok();
  return Status(Code::kUnavailable, "two clusters answer at one address: " + cluster_id_ + " and " +
                                        producer_->cluster());
}

Result<protocol::Whereabouts> KafkaDelivery::Look() {
  Close();
  WEIR_RETURN_IF_ERROR(OpenProducer());
  WEIR_ASSIGN_OR_RETURN(looked_, cluster_->Describe());
  if (looked_.cluster != cluster_id_) {
    cluster_->Reset();
    last_.reset();
    return Fail(Code::kUnavailable,
                "two clusters answer at one address: " + cluster_id_ + " and " + looked_.cluster);
  }
  return looked_;
}

Result<flow::Fenced> KafkaDelivery::Fence(const std::vector<std::string>& ancestors) {
  CHECK(producer_ != nullptr);
  for (const std::string& name : ancestors) {
    // Names of other clusters: what was begun there cannot touch what is here.
    if (!name.ends_with("-" + cluster_id_)) continue;
    WEIR_ASSIGN_OR_RETURN(const auto other, cluster_->NewProducer(name));
    WEIR_RETURN_IF_ERROR(other->Init());
  }
  const std::optional<ProducerIdentity> before = std::exchange(last_, std::nullopt);
  WEIR_RETURN_IF_ERROR(producer_->Init());
  last_ = producer_->identity();
  flow::Fenced out;
  out.by_others = FencingsByOthers(before, last_);
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.after_fence").ToStatus("deliver.after_fence"));
  WEIR_RETURN_IF_ERROR(ReadReceipt(out));
  WEIR_RETURN_IF_ERROR(
      WEIR_FAULT_POINT("deliver.after_receipt_read").ToStatus("deliver.after_receipt_read"));
  WEIR_ASSIGN_OR_RETURN(ends_, cluster_->AskEnds(looked_));
  out.at = ends_;
  return out;
}

Status KafkaDelivery::ReadReceipt(flow::Fenced& out) {
  const std::string group = Group();
  WEIR_ASSIGN_OR_RETURN(const std::vector<StoredReceipt> stored, cluster_->ReadReceipts(group));
  const std::string& key = rows_.front()->topic();
  for (const StoredReceipt& one : stored) {
    const std::optional<WrittenReceipt> read = ParseReceipt(one.text);
    // Somebody else commits offsets to our group: what he means is not ours to guess.
    if (!read) {
      return Status(
          Code::kUnavailable,
          "group " + group + " holds something that is no receipt of weir, under " + one.topic);
    }
    if (!one.topic.empty() && one.topic != key) {
      out.others.push_back(read->receipt);
      continue;
    }
    out.receipt = read->receipt;
    out.written_ms = read->written_ms;
  }
  return Status::Ok();
}

Result<protocol::ScanFacts> KafkaDelivery::Scan(const flow::ScanRange& range) {
  WEIR_ASSIGN_OR_RETURN(const protocol::Whereabouts begins, cluster_->AskBegins(looked_));
  protocol::ScanFacts facts;
  facts.expected = range.rows;
  const protocol::Whereabouts from = Begin(range.since, looked_, begins, &facts.reaches_back);
  RowSet found, beyond;
  WEIR_RETURN_IF_ERROR(cluster_->ReadHeaders(from, ends_, [&](std::string_view header) {
    const std::optional<RowOrigin> origin = ParseRowHeader(header);
    if (!origin || origin->lineage != range.lineage) return;
    if (range.from && origin->row <= *range.from) return;
    (range.to && origin->row <= *range.to ? found : beyond).Add(origin->row);
  }));
  facts.found = found.count();
  facts.beyond = beyond.count();
  WEIR_ASSIGN_OR_RETURN(const bool compacted, cluster_->AnyCompacted());
  facts.may_have_holes = compacted || !facts.reaches_back;
  return facts;
}

Result<protocol::Whereabouts> KafkaDelivery::Deliver(const flow::SealedProof& proof,
                                                     const flow::DeliveryRange& range,
                                                     flow::RowReader& rows) {
  CHECK(producer_ != nullptr && range.to.epoch <= proof.through());
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.before_begin").ToStatus("deliver.before_begin"));
  last_.reset();  // until its end is known
  WEIR_RETURN_IF_ERROR(producer_->Begin());
  const Lineage lineage = proof.lineage();
  WEIR_ASSIGN_OR_RETURN(const uint64_t records,
                        ProduceRows(rows, rows_, looked_, &lineage, *producer_));
  WEIR_ASSIGN_OR_RETURN(const TxnProducer::Flushed flushed, producer_->Flush());
  // A library that loses a record tells nobody but us.
  if (records != range.rows || flushed.records != range.rows) {
    return Fail(Code::kUnavailable, std::to_string(flushed.records) + " of " +
                                        std::to_string(range.rows) + " records were acknowledged");
  }
  WEIR_RETURN_IF_ERROR(CommitReceipt({lineage, range.to, range.hash}));
  protocol::Whereabouts at = ends_;
  for (size_t t = 0; t < at.topics.size(); ++t) {
    for (size_t p = 0; p < at.topics[t].ends.size(); ++p)
      at.topics[t].ends[p] = std::max(at.topics[t].ends[p], flushed.ends[t][p]);
  }
  return at;
}

// The receipt last: what it says is in the transaction already.
Status KafkaDelivery::CommitReceipt(const protocol::Receipt& receipt) {
  WEIR_RETURN_IF_ERROR(
      WEIR_FAULT_POINT("deliver.before_receipt").ToStatus("deliver.before_receipt"));
  WEIR_RETURN_IF_ERROR(producer_->SendReceipt(Group(), rows_.front()->topic(),
                                              receipt.position.epoch,
                                              EncodeReceipt(receipt, options_.wall_ms())));
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.after_receipt").ToStatus("deliver.after_receipt"));
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.before_commit").ToStatus("deliver.before_commit"));
  WEIR_RETURN_IF_ERROR(producer_->Commit());
  last_ = producer_->identity();
  return Status::Ok();
}

Status KafkaDelivery::Refresh(const protocol::Receipt& receipt) {
  CHECK(producer_ != nullptr);
  last_.reset();
  WEIR_RETURN_IF_ERROR(producer_->Begin());
  return CommitReceipt(receipt);
}

// A failure shows when it is needed.
void KafkaDelivery::Prepare() {
  if (next_ != nullptr || cluster_id_.empty()) return;
  auto producer = cluster_->NewProducer(SessionName());
  if (producer && (*producer)->cluster() == cluster_id_) next_ = std::move(*producer);
}

void KafkaDelivery::Close() { producer_.reset(); }

}  // namespace weir::connectors
