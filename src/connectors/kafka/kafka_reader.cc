#include "connectors/kafka/kafka_reader.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "connectors/kafka/receipt_text.h"

namespace weir::connectors {
namespace {

constexpr uint64_t kOne = 1;  // what an eventfd is written

// State of one Serve, handed through the library's callback.
struct Serving {
  rd_kafka_t* rk;
  const TopicPartition& at;
  KafkaDecoder& rows;
  Batch& out;
  int64_t stop;
  uint32_t max_records;
  KafkaReader::Served served;
};

void TakeHeaders(const rd_kafka_message_t& message, ConsumedRecord& record) {
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return;
  const char* name = nullptr;
  const void* value = nullptr;
  size_t size = 0;
  for (size_t i = 0;
       rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
       ++i) {
    record.headers.emplace_back(
        name, value == nullptr
                  ? std::nullopt
                  : std::optional(std::string_view(static_cast<const char*>(value), size)));
  }
}

std::optional<std::string_view> Bytes(const void* data, size_t size) {
  if (data == nullptr) return std::nullopt;
  return std::string_view(static_cast<const char*>(data), size);
}

ConsumedRecord::Clock ClockOf(rd_kafka_timestamp_type_t type) {
  if (type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME) return ConsumedRecord::Clock::kLogAppend;
  return type == RD_KAFKA_TIMESTAMP_CREATE_TIME ? ConsumedRecord::Clock::kCreate
                                                : ConsumedRecord::Clock::kNone;
}

void OnMessage(rd_kafka_message_t* message, void* opaque) {
  Serving& serving = *static_cast<Serving*>(opaque);
  KafkaReader::Served& served = serving.served;
  if (!served.error.ok()) return;  // what lies behind an error is not looked at
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    served.error =
        Status(Code::kUnavailable, serving.at.ToString() + ": " + rd_kafka_message_errstr(message));
    return;
  }
  ++served.records;
  if (served.records >= serving.max_records) rd_kafka_yield(serving.rk);
  if (message->offset < served.next) return;  // before the position: never asked for
  if (serving.stop != kNoStop && message->offset >= serving.stop) {
    served.next = serving.stop;
    return;
  }
  ConsumedRecord record;
  record.topic = serving.at.topic;
  record.partition = serving.at.partition;
  record.offset = message->offset;
  record.key = Bytes(message->key, message->key_len);
  record.value = Bytes(message->payload, message->len);
  rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
  const int64_t timestamp_ms = rd_kafka_message_timestamp(message, &type);
  record.clock = timestamp_ms < 0 ? ConsumedRecord::Clock::kNone : ClockOf(type);
  if (record.clock != ConsumedRecord::Clock::kNone) record.timestamp_ms = timestamp_ms;
  record.leader_epoch = rd_kafka_message_leader_epoch(message);
  if (serving.rows.wants_headers()) TakeHeaders(*message, record);
  if (serving.rows.wants_watermark())
    record.watermark = ParseWatermarkHeader(HeaderOf(*message, kWatermarkHeaderName));
  served.leader_epoch = record.leader_epoch;
  serving.rows.Append(record, &served.next, serving.out);
}

}  // namespace

ReaderLimits LimitsFor(uint64_t memory_bytes, size_t partitions) {
  constexpr double kCostOfPayload = 2.8;
  const double each = static_cast<double>(memory_bytes) / kCostOfPayload /
                      static_cast<double>(std::max<size_t>(partitions, 1));
  ReaderLimits limits;
  limits.chunk_bytes = std::clamp<int64_t>(static_cast<int64_t>(each / 3), 32 << 10, 256 << 10);
  limits.queue_kbytes =
      std::clamp<int64_t>((static_cast<int64_t>(each) - limits.chunk_bytes) / 1024, 16, 4096);
  return limits;
}

Result<std::unique_ptr<KafkaReader>> KafkaReader::Create(const ClientConfig& config,
                                                         const std::string& group,
                                                         const ReaderLimits& limits, int wake_fd) {
  std::vector<ClientProperty> extra = {
      {"fetch.message.max.bytes", std::to_string(limits.chunk_bytes)},
      {"fetch.max.bytes", std::to_string(4 << 20)},
      {"queued.max.messages.kbytes", std::to_string(limits.queue_kbytes)},
      // With the default, 1 s, a queue that was full once is filled again only after a second.
      {"fetch.queue.backoff.ms", "50"},
  };
  const bool named = std::any_of(config.properties.begin(), config.properties.end(),
                                 [](const ClientProperty& p) { return p.name == "group.id"; });
  // Assigning needs one; nobody joins it.
  if (!named) extra.push_back({"group.id", group});
  WEIR_ASSIGN_OR_RETURN(auto handle, KafkaHandle::Create(config, ClientRole::kConsumer, extra));
  auto reader = std::unique_ptr<KafkaReader>(new KafkaReader(std::move(handle)));
  reader->wake_fd_ = wake_fd;
  reader->main_queue_.reset(rd_kafka_queue_get_main(reader->handle_->get()));
  rd_kafka_queue_io_event_enable(reader->main_queue_.get(), wake_fd, &kOne, sizeof(kOne));
  return reader;
}

KafkaReader::~KafkaReader() {
  slots_.clear();
  main_queue_.reset();
}

Status KafkaReader::Assign(const std::map<TopicPartition, KafkaPosition>& partitions) {
  if (partitions.empty()) return Status::Ok();
  const KafkaPartitions list(
      rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const auto& [at, position] : partitions) {
    // Before the assignment: a wake-up that is enabled on a queue that is not empty never comes.
    Slot slot;
    slot.queue.reset(rd_kafka_queue_get_partition(handle_->get(), at.topic.c_str(), at.partition));
    CHECK(slot.queue != nullptr);
    rd_kafka_queue_forward(slot.queue.get(), nullptr);
    rd_kafka_queue_io_event_enable(slot.queue.get(), wake_fd_, &kOne, sizeof(kOne));
    slot.position.reset(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_list_add(slot.position.get(), at.topic.c_str(), at.partition);
    slots_.insert_or_assign(at, std::move(slot));
    rd_kafka_topic_partition_t* entry =
        rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition);
    entry->offset = position.offset;
    if (position.leader_epoch >= 0)
      rd_kafka_topic_partition_set_leader_epoch(entry, position.leader_epoch);
  }
  const KafkaError error(rd_kafka_incremental_assign(handle_->get(), list.get()));
  if (error == nullptr) return Status::Ok();
  return handle_->Unavailable("assigning partitions", error.get());
}

Status KafkaReader::Unassign(const TopicPartition& at) {
  if (slots_.erase(at) == 0) return Status::Ok();
  const KafkaPartitions list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition);
  const KafkaError error(rd_kafka_incremental_unassign(handle_->get(), list.get()));
  if (error == nullptr) return Status::Ok();
  return handle_->Unavailable("leaving " + at.ToString(), error.get());
}

bool KafkaReader::HasRecords(const TopicPartition& at) const {
  const auto slot = slots_.find(at);
  return slot != slots_.end() && rd_kafka_queue_length(slot->second.queue.get()) > 0;
}

KafkaReader::Served KafkaReader::Serve(const TopicPartition& at, int64_t next, int64_t stop,
                                       uint32_t max_records, KafkaDecoder& rows, Batch& out) {
  const auto slot = slots_.find(at);
  CHECK(slot != slots_.end());
  Serving serving{handle_->get(), at, rows, out, stop, max_records, {}};
  serving.served.next = next;
  const size_t waiting = rd_kafka_queue_length(slot->second.queue.get());
  rows.Begin(static_cast<uint32_t>(std::min<size_t>(waiting, max_records)), out);
  rd_kafka_consume_callback_queue(slot->second.queue.get(), 0, OnMessage, &serving);
  rows.End(out);
  Served& served = serving.served;
  if (!served.error.ok()) return served;
  // Control records and aborted data move the position, and are never handed out.
  rd_kafka_topic_partition_t& entry = slot->second.position->elems[0];
  entry.offset = RD_KAFKA_OFFSET_INVALID;
  if (rd_kafka_position(handle_->get(), slot->second.position.get()) !=
          RD_KAFKA_RESP_ERR_NO_ERROR ||
      entry.offset <= served.next) {
    return served;
  }
  const int64_t end = stop == kNoStop ? entry.offset : std::min(entry.offset, stop);
  KafkaDecoder::Skip(served.next, end, out);
  served.next = std::max(served.next, end);
  return served;
}

void KafkaReader::Commit(const std::map<TopicPartition, int64_t>& positions) {
  if (positions.empty()) return;
  const KafkaPartitions list(rd_kafka_topic_partition_list_new(static_cast<int>(positions.size())));
  for (const auto& [at, offset] : positions)
    rd_kafka_topic_partition_list_add(list.get(), at.topic.c_str(), at.partition)->offset = offset;
  (void)rd_kafka_commit(handle_->get(), list.get(), 1);  // a mirror: the next one makes it good
}

}  // namespace weir::connectors
