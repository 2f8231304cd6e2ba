#include "connectors/kafka/rd_producer.h"

#include <algorithm>

#include "base/check.h"
#include "connectors/kafka/kafka_admin.h"
#include "connectors/kafka/receipt_text.h"

namespace weir::connectors {
namespace {

constexpr int kMetadataMs = 10000;
// Within the library's own time-outs an answer that was lost is asked for again; so long it is
// worth waiting. After that the path begins anew.
constexpr int kSliceMs = 2000;
constexpr int64_t kInitNs = 30'000'000'000;
constexpr int64_t kAskedOnceNs = 5'000'000'000;  // what took longer may have been asked twice
constexpr int kReceiptMs = 10000;
constexpr int kCommitMs = 20000;
constexpr int kQueueFullMs = 20;

using Topic = std::unique_ptr<rd_kafka_topic_t, KafkaFree<rd_kafka_topic_destroy>>;

class RdProducer : public TxnProducer {
 public:
  RdProducer(io::Clock& clock, const RdClusterOptions& options) : clock_(clock), options_(options) {
    flushed_.ends.resize(options.topics.size());
    for (int i = -1; i < static_cast<int>(options.topics.size()); ++i) slots_.push_back({this, i});
  }
  // The library's threads may hold records of ours until the handle is gone.
  ~RdProducer() override {
    topics_.clear();
    receipt_topic_.reset();
    if (handle_ != nullptr) {
      (void)rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
      handle_->Poll(0);
      handle_.reset();  // before the slots that reports of the rest would name
    }
  }

  Status Open(const std::string& name) {
    name_ = name;
    const std::string timeout = std::to_string(options_.transaction_timeout_ms);
    std::vector<ClientProperty> extra = {
        {"enable.idempotence", "true"},
        // A record that is not acknowledged within the transaction will not be any more.
        {"message.timeout.ms", timeout}};
    if (!name.empty()) {
      extra.push_back({"transactional.id", name});
      extra.push_back({"transaction.timeout.ms", timeout});
      extra.push_back(ShowsIdentity());
    }
    WEIR_ASSIGN_OR_RETURN(
        handle_, KafkaHandle::Create(options_.config, ClientRole::kProducer, extra, &OnDelivered));
    for (size_t i = 0; i < options_.topics.size(); ++i) {
      topics_.emplace_back(rd_kafka_topic_new(handle_->get(), options_.topics[i].c_str(), nullptr));
      WEIR_ASSIGN_OR_RETURN(const int32_t partitions,
                            AskFor(options_.topics[i], topics_.back().get()));
      flushed_.ends[i].assign(static_cast<size_t>(partitions), 0);
    }
    if (!options_.receipt_topic.empty()) {
      receipt_topic_.reset(
          rd_kafka_topic_new(handle_->get(), options_.receipt_topic.c_str(), nullptr));
      WEIR_ASSIGN_OR_RETURN(const int32_t partitions,
                            AskFor(options_.receipt_topic, receipt_topic_.get()));
      CHECK(partitions > 0);
    }
    char* id = rd_kafka_clusterid(handle_->get(), kMetadataMs);
    if (id == nullptr)
      return handle_->Unavailable("the cluster's id", RD_KAFKA_RESP_ERR__TIMED_OUT);
    cluster_ = id;
    rd_kafka_mem_free(handle_->get(), id);
    return Status::Ok();
  }

  std::string cluster() const override { return cluster_; }

  Status Init() override {
    const int64_t begun_ns = clock_.MonotonicNs();
    for (;;) {
      const KafkaError error(rd_kafka_init_transactions(handle_->get(), kSliceMs));
      handle_->Poll(0);
      if (error == nullptr) {
        // After a connection that broke, or an answer that was late, the library has asked again.
        if (handle_->reason().Text().empty() && clock_.MonotonicNs() - begun_ns < kAskedOnceNs)
          identity_ = handle_->identity();
        handle_->reason().Clear();
        return Status::Ok();
      }
      const bool again = rd_kafka_error_is_retriable(error.get()) != 0;
      if (!again || clock_.MonotonicNs() - begun_ns >= kInitNs) {
        return Outcome("fencing (init_transactions of " + name_ + ")", error.get());
      }
    }
  }

  std::optional<ProducerIdentity> identity() const override { return identity_; }

  Status Begin() override {
    const KafkaError error(rd_kafka_begin_transaction(handle_->get()));
    return error == nullptr ? Status::Ok() : Outcome("begin", error.get());
  }

  Status Produce(const TxnRecord& record) override {
    rd_kafka_headers_t* headers = nullptr;
    const auto add = [&headers](const char* name, std::string_view value) {
      if (value.empty()) return;
      if (headers == nullptr) headers = rd_kafka_headers_new(2);
      rd_kafka_header_add(headers, name, -1, value.data(), static_cast<ssize_t>(value.size()));
    };
    add(kRowHeaderName, record.row_header);
    add(kWatermarkHeaderName, record.watermark_header);
    const Status status = Enqueue(topics_[static_cast<size_t>(record.topic)].get(), record,
                                  &headers, &slots_[static_cast<size_t>(record.topic) + 1]);
    if (headers != nullptr) rd_kafka_headers_destroy(headers);
    return status;
  }

  Result<Flushed> Flush() override {
    const int64_t deadline_ns = clock_.MonotonicNs() + options_.transaction_timeout_ms * 1000000;
    while (rd_kafka_flush(handle_->get(), kSliceMs) != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (clock_.MonotonicNs() >= deadline_ns) {
        return Fail(
            handle_->Unavailable("records are not acknowledged", RD_KAFKA_RESP_ERR__TIMED_OUT));
      }
    }
    if (failed_ != RD_KAFKA_RESP_ERR_NO_ERROR) return Fail(RecordFailed());
    return flushed_;
  }

  Status SendReceipt(const std::string& group, const std::string& key_topic, EpochId epoch,
                     const std::string& text) override {
    if (!options_.receipt_topic.empty()) return ProduceReceipt(group, text);
    using Group = std::unique_ptr<rd_kafka_consumer_group_metadata_t,
                                  KafkaFree<rd_kafka_consumer_group_metadata_destroy>>;
    const Group metadata(rd_kafka_consumer_group_metadata_new(group.c_str()));
    const KafkaPartitions list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_t* at =
        rd_kafka_topic_partition_list_add(list.get(), key_topic.c_str(), 0);
    at->offset = static_cast<int64_t>(epoch);
    // Freed with the list, by free(): the library's own allocator is asked for it.
    at->metadata = rd_kafka_mem_malloc(handle_->get(), text.size());
    at->metadata_size = text.size();
    std::copy(text.begin(), text.end(), static_cast<char*>(at->metadata));
    const KafkaError error(rd_kafka_send_offsets_to_transaction(handle_->get(), list.get(),
                                                                metadata.get(), kReceiptMs));
    handle_->Poll(0);
    return error == nullptr ? Status::Ok() : Outcome("receipt (group " + group + ")", error.get());
  }

  Status Commit() override {
    const KafkaError error(rd_kafka_commit_transaction(handle_->get(), kCommitMs));
    handle_->Poll(0);
    if (error != nullptr) return Outcome("commit", error.get());
    handle_->reason().Clear();
    return Status::Ok();
  }

 private:
  // Opaque of a record.
  struct Slot {
    RdProducer* producer;
    int topic;  // -1: the receipt
  };

  static void OnDelivered(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    const Slot& slot = *static_cast<const Slot*>(message->_private);
    RdProducer& self = *slot.producer;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      // The first that says why; the rest is what the library throws away because of it.
      if (KindOf(message->err) > KindOf(self.failed_)) self.failed_ = message->err;
      return;
    }
    if (slot.topic < 0) {
      self.receipt_acknowledged_ = true;
      return;
    }
    ++self.flushed_.records;
    auto& ends = self.flushed_.ends[static_cast<size_t>(slot.topic)];
    const auto partition = static_cast<size_t>(message->partition);
    if (ends.size() <= partition) ends.resize(partition + 1, 0);
    ends[partition] = std::max(ends[partition], message->offset + 1);
  }

  Result<int32_t> AskFor(const std::string& name, rd_kafka_topic_t* topic) {
    const rd_kafka_metadata_t* metadata = nullptr;
    const auto code = rd_kafka_metadata(handle_->get(), 0, topic, &metadata, kMetadataMs);
    handle_->Poll(0);
    if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return Fail(handle_->Unavailable("topic " + name, code));
    }
    using Metadata =
        std::unique_ptr<const rd_kafka_metadata_t, KafkaFree<rd_kafka_metadata_destroy>>;
    const Metadata owned(metadata);
    if (metadata->topic_cnt != 1 || metadata->topics[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      const auto why = metadata->topic_cnt == 1 ? metadata->topics[0].err
                                                : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
      return Fail(handle_->Unavailable("topic " + name, why));
    }
    return metadata->topics[0].partition_cnt;
  }

  // Fenced is a kind of its own; everything else is in doubt, whatever its code says.
  Status Outcome(const std::string& what, const rd_kafka_error_t* error) {
    Status status = handle_->Unavailable(what, error);
    const auto fatal = rd_kafka_fatal_error(handle_->get(), nullptr, 0);
    const bool fenced = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__FENCED ||
                        fatal == RD_KAFKA_RESP_ERR__FENCED;
    return fenced ? Status(Code::kTwin, status.message()) : status;
  }

  Status RecordFailed() {
    if (KindOf(failed_) != KafkaErrorKind::kCause) AskTransaction();
    const bool refused = failed_ == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
                         handle_->reason().code() == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    Status status =
        handle_->Unavailable(refused ? RefusedTopics() : "records were refused", failed_);
    const auto fatal = rd_kafka_fatal_error(handle_->get(), nullptr, 0);
    return failed_ == RD_KAFKA_RESP_ERR__FENCED || fatal == RD_KAFKA_RESP_ERR__FENCED
               ? Status(Code::kTwin, status.message())
               : status;
  }

  // When a partition cannot be added to the transaction, the library throws all records away and
  // tells their reports only that. Why is the transaction's own error, and that is what a call gets
  // which the transaction's state does not allow: this one is local, and is never allowed here.
  void AskTransaction() {
    const KafkaError error(rd_kafka_begin_transaction(handle_->get()));
    if (error != nullptr) {
      handle_->reason().Note(rd_kafka_error_code(error.get()), rd_kafka_error_string(error.get()));
    }
  }

  // The brokers name no topic with it; they do say what we may.
  std::string RefusedTopics() {
    std::string names;
    std::vector<std::string> asked = options_.topics;
    if (!options_.receipt_topic.empty()) asked.push_back(options_.receipt_topic);
    KafkaReason kept;  // asking clears what it succeeds beside
    kept.Note(handle_->reason().code(), handle_->reason().Text());
    const auto topics = AskTopics(*handle_, asked, kMetadataMs, /*rights=*/true);
    handle_->reason().Note(kept.code(), kept.Text());
    if (!topics) return "records were refused";
    for (const TopicFacts& topic : *topics) {
      if (topic.status.ok() && topic.may_write) continue;
      names += (names.empty() ? "topic " : ", topic ") + topic.name;
    }
    return names.empty() ? "records were refused" : names;
  }

  // Takes the headers where it succeeds.
  Status Enqueue(rd_kafka_topic_t* topic, const TxnRecord& record, rd_kafka_headers_t** headers,
                 void* opaque) {
    // 0: has not waited yet. Asking a clock for each record costs too much.
    int64_t deadline_ns = 0;
    for (;;) {
      rd_kafka_vu_t args[8];
      size_t n = 0;
      args[n].vtype = RD_KAFKA_VTYPE_RKT;
      args[n++].u.rkt = topic;
      args[n].vtype = RD_KAFKA_VTYPE_PARTITION;
      args[n++].u.i32 = record.partition;
      args[n].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
      args[n++].u.i = RD_KAFKA_MSG_F_COPY;
      args[n].vtype = RD_KAFKA_VTYPE_OPAQUE;
      args[n++].u.ptr = opaque;
      args[n].vtype = RD_KAFKA_VTYPE_KEY;
      SetBytes(record.key, args[n++]);
      args[n].vtype = RD_KAFKA_VTYPE_VALUE;
      SetBytes(record.value, args[n++]);
      if (record.timestamp_ms) {
        args[n].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
        args[n++].u.i64 = *record.timestamp_ms;
      }
      if (*headers != nullptr) {
        args[n].vtype = RD_KAFKA_VTYPE_HEADERS;
        args[n++].u.headers = *headers;
      }
      const KafkaError error(rd_kafka_produceva(handle_->get(), args, n));
      if (error == nullptr) {
        *headers = nullptr;
        if (++enqueued_ % 1024 == 0) handle_->Poll(0);
        return Status::Ok();
      }
      const int64_t now_ns = clock_.MonotonicNs();
      if (deadline_ns == 0) deadline_ns = now_ns + options_.transaction_timeout_ms * 1000000;
      if (rd_kafka_error_code(error.get()) != RD_KAFKA_RESP_ERR__QUEUE_FULL ||
          now_ns >= deadline_ns) {
        return failed_ == RD_KAFKA_RESP_ERR_NO_ERROR ? Outcome("produce", error.get())
                                                     : RecordFailed();
      }
      handle_->Poll(kQueueFullMs);
      if (failed_ != RD_KAFKA_RESP_ERR_NO_ERROR) return RecordFailed();
    }
  }

  static void SetBytes(const std::optional<std::string_view>& bytes, rd_kafka_vu_t& out) {
    // Null is not empty.
    const char* const data = !bytes ? nullptr : bytes->empty() ? "" : bytes->data();
    out.u.mem.ptr = const_cast<char*>(data);
    out.u.mem.size = bytes ? bytes->size() : 0;
  }

  Status ProduceReceipt(const std::string& group, const std::string& text) {
    TxnRecord record;
    record.key = group;
    record.value = text;
    record.partition = 0;  // always: a topic that grows must not move a receipt
    rd_kafka_headers_t* none = nullptr;
    WEIR_RETURN_IF_ERROR(Enqueue(receipt_topic_.get(), record, &none, &slots_[0]));
    WEIR_ASSIGN_OR_RETURN(const Flushed done, Flush());
    (void)done;
    if (!receipt_acknowledged_)
      return Status(Code::kUnavailable, "the receipt was not acknowledged");
    return Status::Ok();
  }

  io::Clock& clock_;
  const RdClusterOptions& options_;
  std::unique_ptr<KafkaHandle> handle_;
  std::vector<Slot> slots_;
  std::vector<Topic> topics_;
  Topic receipt_topic_;
  std::string name_;  // the transactional id; "" without transactions
  std::string cluster_;
  std::optional<ProducerIdentity> identity_;
  uint64_t enqueued_ = 0;
  // Filled by reports, which Poll and Flush serve on our thread.
  Flushed flushed_;
  bool receipt_acknowledged_ = false;
  rd_kafka_resp_err_t failed_ = RD_KAFKA_RESP_ERR_NO_ERROR;
};

}  // namespace

Result<std::unique_ptr<TxnProducer>> NewRdProducer(io::Clock& clock,
                                                   const RdClusterOptions& options,
                                                   const std::string& name) {
  auto producer = std::make_unique<RdProducer>(clock, options);
  WEIR_RETURN_IF_ERROR(producer->Open(name));
  return std::unique_ptr<TxnProducer>(std::move(producer));
}

}  // namespace weir::connectors
