#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

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
constexpr int kBatchMs = 100;
constexpr size_t kBatch = 2048;
constexpr int64_t kSettleMs = 10'000;     // for open transactions to end
constexpr int64_t kPatienceMs = 120'000;  // without any record

struct Range {
  int64_t begin = 0, end = 0;  // offsets; [begin, end) is read
  bool open = true;            // there is more of it
};

// consume_start of every partition that has records, and its end whatever happens.
class Consumption {
 public:
  Consumption(KafkaHandle& handle, rd_kafka_topic_t* topic)
      : queue(rd_kafka_queue_new(handle.get())), topic_(topic) {}
  ~Consumption() {
    for (const int32_t partition : started_) (void)rd_kafka_consume_stop(topic_, partition);
  }
  Consumption(const Consumption&) = delete;

  bool Start(int32_t partition, int64_t offset) {
    if (rd_kafka_consume_start_queue(topic_, partition, offset, queue.get()) != 0) return false;
    started_.push_back(partition);
    return true;
  }
  const connectors::KafkaQueue queue;

 private:
  rd_kafka_topic_t* const topic_;
  std::vector<int32_t> started_;
};

class KafkaReader : public LayerReader {
 public:
  KafkaReader(io::Clock& clock, std::string topic, std::vector<Wish> wishes)
      : clock_(clock), topic_(std::move(topic)), rows_(std::move(wishes)) {}

  Status Open(const connectors::ClientConfig& config) {
    WEIR_ASSIGN_OR_RETURN(handle_, KafkaHandle::Create(config, ClientRole::kConsumer,
                                                       {{"enable.partition.eof", "true"}}));
    return Status::Ok();
  }

  Result<uint64_t> Mark() override {
    WEIR_ASSIGN_OR_RETURN(const size_t partitions, Partitions());
    WEIR_ASSIGN_OR_RETURN(const std::vector<int64_t> ends,
                          Ask(OffsetQuestion::Kind::kLatest, partitions, true));
    return static_cast<uint64_t>(std::accumulate(ends.begin(), ends.end(), int64_t{0}));
  }

  Status Read(const RowHandler& handle) override {
    WEIR_ASSIGN_OR_RETURN(const size_t partitions, Partitions());
    WEIR_ASSIGN_OR_RETURN(const std::vector<int64_t> begins,
                          Ask(OffsetQuestion::Kind::kEarliest, partitions, true));
    WEIR_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, SettledEnds(partitions));
    std::vector<Range> ranges;
    for (size_t i = 0; i < partitions; ++i)
      ranges.push_back({.begin = begins[i], .end = ends[i], .open = begins[i] < ends[i]});
    const Topic topic(rd_kafka_topic_new(handle_->get(), topic_.c_str(), nullptr));
    CHECK(topic != nullptr);
    Consumption consumption(*handle_, topic.get());
    size_t open = 0;
    for (size_t i = 0; i < ranges.size(); ++i) {
      if (!ranges[i].open) continue;
      ++open;
      if (!consumption.Start(static_cast<int32_t>(i), ranges[i].begin))
        return handle_->Unavailable("reading " + topic_, rd_kafka_last_error());
    }
    std::array<rd_kafka_message_t*, kBatch> messages;
    int64_t heard_ns = clock_.MonotonicNs();
    while (open > 0) {
      const ssize_t count = rd_kafka_consume_batch_queue(consumption.queue.get(), kBatchMs,
                                                         messages.data(), messages.size());
      handle_->Poll(0);
      Status status;
      for (ssize_t i = 0; i < count; ++i) {
        const std::unique_ptr<rd_kafka_message_t, KafkaFree<rd_kafka_message_destroy>> message(
            messages[static_cast<size_t>(i)]);
        Range& range = ranges[static_cast<size_t>(message->partition)];
        if (status.ok()) status = Take(*message, range, handle);
        if (range.open && range.begin >= range.end) {
          range.open = false;
          --open;
        }
      }
      WEIR_RETURN_IF_ERROR(status);
      if (count > 0) heard_ns = clock_.MonotonicNs();
      if (clock_.MonotonicNs() - heard_ns > kPatienceMs * 1'000'000)
        return handle_->Unavailable("reading " + topic_, RD_KAFKA_RESP_ERR__TIMED_OUT);
    }
    return Status::Ok();
  }

 private:
  Status Take(const rd_kafka_message_t& message, Range& range, const RowHandler& handle) {
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      range.begin = std::max(range.begin, message.offset);  // past markers and what was aborted
      return Status::Ok();
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      // Connections that come back are the library's business; what it gives up on is not.
      const bool passing = message.err == RD_KAFKA_RESP_ERR__TRANSPORT ||
                           message.err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
                           message.err == RD_KAFKA_RESP_ERR__TIMED_OUT;
      if (passing) return Status::Ok();
      return handle_->Unavailable("reading " + topic_ + "/" + std::to_string(message.partition),
                                  message.err);
    }
    if (message.offset >= range.end) {  // came since; not asked for
      range.begin = range.end;
      return Status::Ok();
    }
    range.begin = message.offset + 1;
    const std::string_view bytes(static_cast<const char*>(message.payload), message.len);
    const std::string source = topic_ + "/" + std::to_string(message.partition);
    rows_.Handle(bytes, source, static_cast<uint64_t>(message.offset), handle);
    return Status::Ok();
  }

  Result<size_t> Partitions() {
    WEIR_ASSIGN_OR_RETURN(const std::vector<connectors::TopicFacts> facts,
                          connectors::AskTopics(*handle_, {topic_}, kAskMs));
    WEIR_RETURN_IF_ERROR(facts[0].status);
    return static_cast<size_t>(facts[0].partitions);
  }

  // One offset per partition.
  Result<std::vector<int64_t>> Ask(OffsetQuestion::Kind kind, size_t partitions,
                                   bool read_committed) {
    std::vector<OffsetQuestion> questions;
    connectors::AddQuestions(kind, topic_, partitions, questions);
    WEIR_ASSIGN_OR_RETURN(const std::vector<OffsetAnswer> answers,
                          connectors::AskOffsets(*handle_, questions, read_committed, kAskMs));
    std::vector<int64_t> offsets;
    for (const OffsetAnswer& answer : answers) {
      WEIR_RETURN_IF_ERROR(answer.status);
      offsets.push_back(answer.offset);
    }
    return offsets;
  }

  // The last stable offsets, once every transaction that is open now has ended: the answer to a
  // commit comes before its markers (kafka-facts.md, c5). One that stays open ends the reading.
  Result<std::vector<int64_t>> SettledEnds(size_t partitions) {
    const auto kind = OffsetQuestion::Kind::kLatest;
    WEIR_ASSIGN_OR_RETURN(const std::vector<int64_t> high, Ask(kind, partitions, false));
    const int64_t deadline_ns = clock_.MonotonicNs() + kSettleMs * 1'000'000;
    for (;;) {
      WEIR_ASSIGN_OR_RETURN(std::vector<int64_t> stable, Ask(kind, partitions, true));
      const bool settled = std::ranges::equal(stable, high, std::ranges::greater_equal());
      if (settled || clock_.MonotonicNs() >= deadline_ns) return stable;
      handle_->Poll(kBatchMs);
    }
  }

  io::Clock& clock_;
  const std::string topic_;
  JsonRows rows_;
  std::unique_ptr<KafkaHandle> handle_;
};

}  // namespace

Result<std::unique_ptr<LayerReader>> NewKafkaReader(io::Clock& clock,
                                                    const connectors::ClientConfig& config,
                                                    const std::string& topic,
                                                    std::vector<Wish> wishes) {
  auto reader = std::make_unique<KafkaReader>(clock, topic, std::move(wishes));
  WEIR_RETURN_IF_ERROR(reader->Open(config));
  return std::unique_ptr<LayerReader>(std::move(reader));
}

}  // namespace weir::qualify
