#include "connectors/kafka/rd_reader.h"

#include <algorithm>
#include <map>
#include <string>

#include "base/check.h"
#include "base/log.h"
#include "connectors/kafka/receipt_text.h"

namespace weir::connectors {
namespace {

constexpr int kPollMs = 200;
constexpr int64_t kStuckMs = 90000;  // longer than a transaction of weir may last
constexpr int64_t kReportMs = 10000;

struct Place {
  int64_t at = 0;
  int64_t until = 0;
};
using Places = std::map<std::pair<std::string, int32_t>, Place>;

using Message = std::unique_ptr<rd_kafka_message_t, KafkaFree<rd_kafka_message_destroy>>;

CommittedRecord RecordOf(const rd_kafka_message_t& message) {
  CommittedRecord out;
  if (message.key != nullptr) out.key = {static_cast<const char*>(message.key), message.key_len};
  if (message.payload != nullptr)
    out.value = {static_cast<const char*>(message.payload), message.len};
  out.row_header = HeaderOf(message, kRowHeaderName);
  return out;
}

std::string Describe(const Places& places) {
  std::string out;
  for (const auto& [name, place] : places) {
    if (place.at >= place.until) continue;
    if (!out.empty()) out += ", ";
    out += name.first + "/" + std::to_string(name.second) + " at offset " +
           std::to_string(place.at) + " of " + std::to_string(place.until);
  }
  return out;
}

Places PlacesOf(const protocol::Whereabouts& from, const protocol::Whereabouts& to) {
  Places places;
  for (size_t t = 0; t < to.topics.size(); ++t) {
    const protocol::TopicAt& topic = to.topics[t];
    for (size_t p = 0; p < topic.ends.size(); ++p) {
      const Place place{from.topics[t].ends[p], topic.ends[p]};
      if (place.at < place.until) places[{topic.name, static_cast<int32_t>(p)}] = place;
    }
  }
  return places;
}

}  // namespace

Status ReadCommitted(io::Clock& clock, const ClientConfig& config,
                     const protocol::Whereabouts& from, const protocol::Whereabouts& to,
                     const std::function<void(const CommittedRecord&)>& f) {
  Places places = PlacesOf(from, to);
  if (places.empty()) return Status::Ok();
  WEIR_ASSIGN_OR_RETURN(const auto handle,
                        KafkaHandle::Create(config, ClientRole::kConsumer,
                                            {{"group.id", "weir-scan"},
                                             {"enable.partition.eof", "true"},
                                             {"fetch.wait.max.ms", "100"},
                                             {"fetch.queue.backoff.ms", "50"},
                                             {"queued.max.messages.kbytes", "8192"}}));
  rd_kafka_poll_set_consumer(handle->get());
  const KafkaPartitions list(rd_kafka_topic_partition_list_new(static_cast<int>(places.size())));
  for (const auto& [name, place] : places)
    rd_kafka_topic_partition_list_add(list.get(), name.first.c_str(), name.second)->offset =
        place.at;
  if (const auto code = rd_kafka_assign(handle->get(), list.get());
      code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return handle->Unavailable("scan", code);
  }
  size_t open = places.size();
  int64_t moved_ns = clock.MonotonicNs(), reported_ns = moved_ns;
  while (open > 0) {
    const Message message(rd_kafka_consumer_poll(handle->get(), kPollMs));
    const int64_t now_ns = clock.MonotonicNs();
    if (now_ns - moved_ns > kStuckMs * 1000000) {
      return Status(Code::kUnavailable,
                    "the scan waits for another producer's open transaction: " + Describe(places));
    }
    if (now_ns - reported_ns > kReportMs * 1000000) {
      LogInfo("scan_waits", {{"where", Describe(places)}});
      reported_ns = now_ns;
    }
    if (message == nullptr) continue;
    // The kind of handle must be given a group, and looks for its coordinator all by itself. Nobody
    // joins it, so it does not matter that nobody may.
    if (message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) continue;
    const bool end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && !end)
      return handle->Unavailable("scan", message->err, rd_kafka_message_errstr(message.get()));
    const auto found = places.find({rd_kafka_topic_name(message->rkt), message->partition});
    if (found == places.end()) continue;
    Place& place = found->second;
    // The end as a committed reader sees it lies behind markers and aborted records, and before
    // what somebody holds open.
    const int64_t next = end ? message->offset : message->offset + 1;
    if (!end && message->offset < place.until) f(RecordOf(*message));
    if (next > place.at) moved_ns = now_ns;
    if (place.at < place.until && next >= place.until) --open;
    place.at = std::max(place.at, next);
  }
  return Status::Ok();
}

}  // namespace weir::connectors
