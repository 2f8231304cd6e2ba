#include "connectors/kafka/rd_cluster.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "base/check.h"
#include "base/text.h"
#include "connectors/kafka/kafka_admin.h"
#include "connectors/kafka/rd_producer.h"
#include "connectors/kafka/rd_reader.h"

namespace weir::connectors {
namespace {

constexpr int kAskMs = 10000;
constexpr int64_t kStableMs = 20000;
constexpr int64_t kMsPerMinute = 60000;
constexpr int64_t kLearnMs = 300000;

using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, KafkaFree<rd_kafka_AdminOptions_destroy>>;

class RdCluster : public TxnCluster {
 public:
  RdCluster(io::Clock& clock, RdClusterOptions options)
      : clock_(clock), options_(std::move(options)) {}

  void Reset() override {
    admin_.reset();
    learnt_ns_ = 0;
    retention_ms_ = 0;
  }

  Result<bool> Renew() override {
    if (!options_.config.Old()) return false;
    WEIR_RETURN_IF_ERROR(options_.config.Renew());
    Reset();
    return true;
  }

  Result<std::string> ClusterId() override {
    WEIR_RETURN_IF_ERROR(Connect());
    WEIR_ASSIGN_OR_RETURN(std::string id, AskClusterId(*admin_, kAskMs));
    if (id.empty()) {
      return Fail(Code::kUnavailable,
                  "the brokers tell no cluster id: too old to deliver to exactly once");
    }
    return id;
  }

  Result<protocol::Whereabouts> Describe() override {
    protocol::Whereabouts at;
    WEIR_ASSIGN_OR_RETURN(at.cluster, ClusterId());
    WEIR_ASSIGN_OR_RETURN(const std::vector<TopicFacts> topics,
                          AskTopics(*admin_, options_.topics, kAskMs));
    for (const TopicFacts& topic : topics) {
      WEIR_RETURN_IF_ERROR(topic.status);
      at.topics.push_back(
          {topic.name, topic.id, std::vector<int64_t>(static_cast<size_t>(topic.partitions), 0)});
    }
    if (learnt_ns_ == 0 || clock_.MonotonicNs() - learnt_ns_ > kLearnMs * 1000000)
      WEIR_RETURN_IF_ERROR(Learn());
    return at;
  }

  Result<std::unique_ptr<TxnProducer>> NewProducer(const std::string& name) override {
    return NewRdProducer(clock_, options_, name);
  }

  Result<std::vector<StoredReceipt>> ReadReceipts(const std::string& group) override {
    if (!options_.receipt_topic.empty()) return ReadReceiptTopic(group);
    if (group_ != group) {
      group_ = group;
      admin_.reset();
    }
    WEIR_RETURN_IF_ERROR(Connect());
    const int64_t deadline_ns = clock_.MonotonicNs() + kStableMs * 1000000;
    for (;;) {
      auto wait = Wait::kNone;
      auto receipts = AskGroup(group, &wait);
      if (receipts) return receipts;
      // The library remembers the group's coordinator as long as it is asked for it, also after
      // that broker has said that it is none: only a new handle asks who it is now.
      if (wait != Wait::kMarkers) Reset();
      if (wait == Wait::kNone || clock_.MonotonicNs() >= deadline_ns) return receipts;
      WEIR_RETURN_IF_ERROR(Connect());
      admin_->Poll(wait == Wait::kMarkers ? kPauseMs : kCoordinatorPauseMs);
    }
  }

  Result<protocol::Whereabouts> AskBegins(const protocol::Whereabouts& at) override {
    return AskEach(at, OffsetQuestion::Kind::kEarliest);
  }
  Result<protocol::Whereabouts> AskEnds(const protocol::Whereabouts& at) override {
    return AskEach(at, OffsetQuestion::Kind::kLatest);
  }

  Status ReadHeaders(const protocol::Whereabouts& from, const protocol::Whereabouts& to,
                     const std::function<void(std::string_view)>& f) override {
    return ReadCommitted(clock_, options_.config, from, to,
                         [&](const CommittedRecord& record) { f(record.row_header); });
  }

  Result<bool> AnyCompacted() override {
    WEIR_RETURN_IF_ERROR(Connect());
    bool any = false;
    for (const std::string& topic : options_.topics) {
      WEIR_ASSIGN_OR_RETURN(const auto config, AskTopicConfig(*admin_, topic, kAskMs));
      const auto policy = config.find("cleanup.policy");
      any |= policy != config.end() && policy->second.find("compact") != std::string::npos;
    }
    return any;
  }

  int64_t ReceiptRetentionMs() override {
    return options_.receipt_topic.empty() ? retention_ms_.load() : -1;
  }

 private:
  static constexpr int kPauseMs = 50;
  static constexpr int kCoordinatorPauseMs = 500;

  // What a failed question for a receipt waits for.
  enum class Wait : uint8_t { kNone, kMarkers, kCoordinator };

  Status Connect() {
    if (admin_ != nullptr) return Status::Ok();
    // The library crashes when a handle without a group asks for a group's offsets, and looks for
    // the coordinator of the one it has, again and again where it has no right to it: so it is the
    // receipt's own. Nobody joins it.
    std::vector<ClientProperty> extra;
    if (!group_.empty()) extra.push_back({"group.id", group_});
    WEIR_ASSIGN_OR_RETURN(admin_, KafkaHandle::Create(options_.config, ClientRole::kAdmin, extra));
    return Status::Ok();
  }

  // What the cluster's settings say, now and then: they may change. Without the right to ask it
  // stays unknown, and the broker's defaults are assumed. Not OK: no receipt may be kept there.
  Status Learn() {
    if (options_.limits != nullptr) {
      for (const std::string& topic : options_.topics) {
        const auto config = AskTopicConfig(*admin_, topic, kAskMs);
        if (config) options_.limits->Of(topic).Learn(*config);
      }
    }
    if (options_.receipt_in_group) WEIR_RETURN_IF_ERROR(LearnOfBroker());
    learnt_ns_ = clock_.MonotonicNs();
    return Status::Ok();
  }

  Status LearnOfBroker() {
    const auto brokers = AskBrokers(*admin_, kAskMs);
    if (!brokers || brokers->empty()) return Status::Ok();
    const auto config = AskBrokerConfig(*admin_, brokers->front(), kAskMs);
    if (!config) return Status::Ok();
    WEIR_RETURN_IF_ERROR(KeepsReceiptsOfGroups(brokers->front(), *config));
    const auto minutes = config->find("offsets.retention.minutes");
    if (minutes == config->end()) return Status::Ok();
    const auto value = ParseInt64(minutes->second);
    if (value && *value > 0) retention_ms_ = *value * kMsPerMinute;
    return Status::Ok();
  }

  Result<protocol::Whereabouts> AskEach(const protocol::Whereabouts& at,
                                        OffsetQuestion::Kind kind) {
    WEIR_RETURN_IF_ERROR(Connect());
    std::vector<OffsetQuestion> questions;
    for (const protocol::TopicAt& topic : at.topics)
      AddQuestions(kind, topic.name, topic.ends.size(), questions);
    // read_uncommitted: what an open transaction holds back must be waited for, not overlooked.
    WEIR_ASSIGN_OR_RETURN(const std::vector<OffsetAnswer> answers,
                          AskOffsets(*admin_, questions, /*read_committed=*/false, kAskMs));
    protocol::Whereabouts out = at;
    size_t i = 0;
    for (protocol::TopicAt& topic : out.topics) {
      for (int64_t& end : topic.ends) {
        WEIR_RETURN_IF_ERROR(answers[i].status);
        end = answers[i++].offset;
      }
    }
    return out;
  }

  // All offsets of the group, none of them of an open transaction. The library does not try again.
  Result<std::vector<StoredReceipt>> AskGroup(const std::string& group, Wait* wait) {
    const KafkaQueue queue(rd_kafka_queue_new(admin_->get()));
    const AdminOptions options(
        rd_kafka_AdminOptions_new(admin_->get(), RD_KAFKA_ADMIN_OP_LISTCONSUMERGROUPOFFSETS));
    std::array<char, 256> text{};
    (void)rd_kafka_AdminOptions_set_request_timeout(options.get(), kAskMs, text.data(),
                                                    text.size());
    const KafkaError stable(rd_kafka_AdminOptions_set_require_stable_offsets(options.get(), 1));
    CHECK(stable == nullptr);
    rd_kafka_ListConsumerGroupOffsets_t* ask =
        rd_kafka_ListConsumerGroupOffsets_new(group.c_str(), nullptr);
    rd_kafka_ListConsumerGroupOffsets(admin_->get(), &ask, 1, options.get(), queue.get());
    rd_kafka_ListConsumerGroupOffsets_destroy(ask);
    KafkaEvent event;
    while (event == nullptr) {
      event.reset(rd_kafka_queue_poll(queue.get(), kPauseMs));
      admin_->Poll(0);
    }
    const std::string what = "the receipt (group " + group + ")";
    if (const auto code = rd_kafka_event_error(event.get()); code != RD_KAFKA_RESP_ERR_NO_ERROR) {
      *wait = WaitFor(code);
      return Fail(admin_->Unavailable(what, code, rd_kafka_event_error_string(event.get())));
    }
    size_t count = 0;
    const rd_kafka_group_result_t** groups = rd_kafka_ListConsumerGroupOffsets_result_groups(
        rd_kafka_event_ListConsumerGroupOffsets_result(event.get()), &count);
    if (count != 1) return Fail(Code::kUnavailable, what + ": no answer");
    if (const rd_kafka_error_t* error = rd_kafka_group_result_error(groups[0])) {
      *wait = WaitFor(rd_kafka_error_code(error));
      return Fail(admin_->Unavailable(what, error));
    }
    std::vector<StoredReceipt> receipts;
    const rd_kafka_topic_partition_list_t* list = rd_kafka_group_result_partitions(groups[0]);
    for (int i = 0; list != nullptr && i < list->cnt; ++i) {
      const rd_kafka_topic_partition_t& p = list->elems[i];
      if (p.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        *wait = WaitFor(p.err);
        return Fail(admin_->Unavailable(what, p.err));
      }
      if (p.offset < 0) continue;  // never written
      receipts.push_back(
          {p.topic, std::string(static_cast<const char*>(p.metadata), p.metadata_size)});
    }
    return receipts;
  }

  // A transaction's markers are on their way, or the coordinator moves or starts.
  static Wait WaitFor(rd_kafka_resp_err_t code) {
    if (code == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT) return Wait::kMarkers;
    return CoordinatorMoves(code) ? Wait::kCoordinator : Wait::kNone;
  }

  // The newest record of that key, up to the end that a read_uncommitted reader sees.
  Result<std::vector<StoredReceipt>> ReadReceiptTopic(const std::string& group) {
    const protocol::Whereabouts at{"-", {{options_.receipt_topic, "-", {0}}}};
    WEIR_ASSIGN_OR_RETURN(const protocol::Whereabouts begins, AskBegins(at));
    WEIR_ASSIGN_OR_RETURN(const protocol::Whereabouts ends, AskEnds(at));
    std::optional<std::string> newest;
    WEIR_RETURN_IF_ERROR(
        ReadCommitted(clock_, options_.config, begins, ends, [&](const CommittedRecord& record) {
          if (record.key == group) newest = std::string(record.value);
        }));
    std::vector<StoredReceipt> receipts;
    if (newest && !newest->empty()) receipts.push_back({"", *newest});
    return receipts;
  }

  io::Clock& clock_;
  RdClusterOptions options_;
  std::string group_;  // of the receipt, once it was asked for
  std::unique_ptr<KafkaHandle> admin_;
  int64_t learnt_ns_ = 0;
  std::atomic<int64_t> retention_ms_{0};  // asked for on the loop thread, too
};

}  // namespace

std::unique_ptr<TxnCluster> NewRdCluster(io::Clock& clock, RdClusterOptions options) {
  return std::make_unique<RdCluster>(clock, std::move(options));
}

}  // namespace weir::connectors
