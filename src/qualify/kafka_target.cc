#include <algorithm>

#include "base/check.h"
#include "connectors/kafka/kafka_admin.h"
#include "connectors/kafka/kafka_client.h"
#include "qualify/kafka.h"

namespace weir::qualify {
namespace {

using connectors::ClientRole;
using connectors::KafkaFree;
using connectors::KafkaHandle;
using connectors::OffsetAnswer;
using connectors::OffsetQuestion;
using Topic = std::unique_ptr<rd_kafka_topic_t, KafkaFree<rd_kafka_topic_destroy>>;

constexpr int kAskMs = 10'000;
constexpr int kSliceMs = 100;
constexpr int64_t kPatienceMs = 600'000;  // without any record being taken: an outage may be long

class KafkaTarget : public RecordTarget {
 public:
  KafkaTarget(io::Clock& clock, std::string topic, uint32_t partitions)
      : clock_(clock), topic_(std::move(topic)), sent_(partitions, 0) {}

  Status Open(const connectors::ClientConfig& config) {
    // Without idempotence a retry could be a second record, and every pipeline would look wrong.
    // Records are tried for as long as Flush waits.
    WEIR_ASSIGN_OR_RETURN(handle_, KafkaHandle::Create(config, ClientRole::kProducer,
                                                       {{"enable.idempotence", "true"},
                                                        {"message.timeout.ms", "0"},
                                                        {"linger.ms", "5"}}));
    WEIR_ASSIGN_OR_RETURN(const std::vector<connectors::TopicFacts> facts,
                          connectors::AskTopics(*handle_, {topic_}, kAskMs));
    WEIR_RETURN_IF_ERROR(facts[0].status);
    if (facts[0].partitions != static_cast<int32_t>(sent_.size()))
      return Status(Code::kInvalid,
                    "topic " + topic_ + " has " + std::to_string(facts[0].partitions) +
                        " partitions, --partitions says " + std::to_string(sent_.size()));
    WEIR_ASSIGN_OR_RETURN(const std::vector<OffsetAnswer> ends, Ends());
    for (const OffsetAnswer& end : ends) {
      WEIR_RETURN_IF_ERROR(end.status);
      if (end.offset > 0)
        return Status(
            Code::kExists,
            "topic " + topic_ + " holds or has held records; make a new one for each ledger");
    }
    rd_kafka_topic_t* topic = rd_kafka_topic_new(handle_->get(), topic_.c_str(), nullptr);
    CHECK(topic != nullptr);
    rd_topic_.reset(topic);
    return Status::Ok();
  }

  Status Add(const Record& record, std::string_view bytes) override {
    const std::string key = ItemText(record.event.item);
    const int64_t begun_ns = clock_.MonotonicNs();
    for (;;) {
      const int failed = rd_kafka_produce(rd_topic_.get(), static_cast<int32_t>(record.event.part),
                                          RD_KAFKA_MSG_F_COPY, const_cast<char*>(bytes.data()),
                                          bytes.size(), key.data(), key.size(), nullptr);
      if (failed == 0) break;
      const rd_kafka_resp_err_t code = rd_kafka_last_error();
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return handle_->Unavailable("producing", code);
      if (Waited(begun_ns)) return handle_->Unavailable("the brokers take no records", code);
      handle_->Poll(kSliceMs);
    }
    if (++sent_[record.event.part] % 1024 == 0) handle_->Poll(0);
    return Status::Ok();
  }

  Status Flush() override {
    int64_t begun_ns = clock_.MonotonicNs();
    for (int left = rd_kafka_outq_len(handle_->get()); left > 0;) {
      const rd_kafka_resp_err_t code = rd_kafka_flush(handle_->get(), kSliceMs);
      const int now = rd_kafka_outq_len(handle_->get());
      if (now < left) begun_ns = clock_.MonotonicNs();
      if (now > 0 && Waited(begun_ns))
        return handle_->Unavailable("the brokers take no records", code);
      left = now;
    }
    return HoldAgainstTopic();
  }

  Status Finish() override { return Flush(); }

 private:
  bool Waited(int64_t since_ns) const {
    return clock_.MonotonicNs() - since_ns > kPatienceMs * 1'000'000;
  }

  Result<std::vector<OffsetAnswer>> Ends() {
    std::vector<OffsetQuestion> questions;
    connectors::AddQuestions(OffsetQuestion::Kind::kLatest, topic_, sent_.size(), questions);
    return connectors::AskOffsets(*handle_, questions, false, kAskMs);
  }

  // What the queue has let go is either there or refused for good: the end offsets tell, whatever
  // the library has been told. A new leader may show less for a moment.
  Status HoldAgainstTopic() {
    const int64_t begun_ns = clock_.MonotonicNs();
    for (;;) {
      const Result<std::vector<OffsetAnswer>> ends = Ends();
      std::string differs;
      if (!ends) differs = ends.error().message();
      for (size_t i = 0; ends && i < sent_.size(); ++i) {
        const OffsetAnswer& end = (*ends)[i];
        const auto want = static_cast<int64_t>(sent_[i]);
        if (end.status.ok() && end.offset > want)
          return Status(Code::kInvalid, end.at.ToString() + " has " + std::to_string(end.offset) +
                                            " records, " + std::to_string(want) +
                                            " were sent: somebody else writes into it");
        if (!end.status.ok())
          differs = end.status.message();
        else if (end.offset < want)
          differs = end.at.ToString() + " has " + std::to_string(end.offset) + " records, " +
                    std::to_string(want) + " were sent";
      }
      if (differs.empty()) return Status::Ok();
      const bool refused =
          rd_kafka_fatal_error(handle_->get(), nullptr, 0) != RD_KAFKA_RESP_ERR_NO_ERROR;
      // Longer than an election takes.
      if (refused || clock_.MonotonicNs() - begun_ns > kRefusedMs * 1'000'000) {
        const std::string reason = handle_->reason().Text();
        return Status(Code::kUnavailable, differs + (reason.empty() ? "" : ": " + reason));
      }
      handle_->Poll(kSliceMs);
    }
  }

  static constexpr int64_t kRefusedMs = 60'000;

  io::Clock& clock_;
  const std::string topic_;
  std::vector<uint64_t> sent_;  // records per partition
  std::unique_ptr<KafkaHandle> handle_;
  Topic rd_topic_;  // gone before the handle
};

}  // namespace

Result<std::unique_ptr<RecordTarget>> NewKafkaTarget(io::Clock& clock,
                                                     const connectors::ClientConfig& config,
                                                     const std::string& topic,
                                                     uint32_t partitions) {
  auto target = std::make_unique<KafkaTarget>(clock, topic, partitions);
  WEIR_RETURN_IF_ERROR(target->Open(config));
  return std::unique_ptr<RecordTarget>(std::move(target));
}

}  // namespace weir::qualify
