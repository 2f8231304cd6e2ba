#include "connectors/kafka/kafka_state.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/text.h"

namespace weir::connectors {
namespace {

constexpr uint8_t kPositionVersion = 1;
constexpr uint8_t kSourceVersion = 1;

uint64_t PlusOne(int64_t value) { return static_cast<uint64_t>(value + 1); }
int64_t MinusOne(uint64_t value) { return static_cast<int64_t>(value) - 1; }

}  // namespace

std::string EncodeKafkaPosition(const KafkaPosition& position) {
  ByteWriter out;
  out.U8(kPositionVersion);
  out.Varint(static_cast<uint64_t>(position.offset));
  out.Varint(PlusOne(position.leader_epoch));
  out.Varint(PlusOne(position.stop));
  return out.Take();
}

std::optional<KafkaPosition> DecodeKafkaPosition(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kPositionVersion) return std::nullopt;
  KafkaPosition position;
  position.offset = static_cast<int64_t>(in.Varint());
  position.leader_epoch = static_cast<int32_t>(MinusOne(in.Varint()));
  position.stop = MinusOne(in.Varint());
  if (!in.ok() || !in.AtEnd() || position.offset < 0) return std::nullopt;
  return position;
}

std::optional<TopicPartition> ParseTopicPartition(std::string_view key) {
  const size_t slash = key.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto number = ParseInt64(key.substr(slash + 1));
  if (!number || *number < 0 || *number > INT32_MAX) return std::nullopt;
  return TopicPartition{std::string(key.substr(0, slash)), static_cast<int32_t>(*number)};
}

const KafkaTopicRecord* KafkaSourceRecord::Find(std::string_view name) const {
  const auto it = std::find_if(topics.begin(), topics.end(),
                               [&](const KafkaTopicRecord& t) { return t.name == name; });
  return it == topics.end() ? nullptr : &*it;
}

void KafkaSourceRecord::Put(KafkaTopicRecord topic) {
  const auto at = std::lower_bound(
      topics.begin(), topics.end(), topic.name,
      [](const KafkaTopicRecord& t, const std::string& name) { return t.name < name; });
  if (at != topics.end() && at->name == topic.name)
    *at = std::move(topic);
  else
    topics.insert(at, std::move(topic));
}

std::string EncodeKafkaSource(const KafkaSourceRecord& record) {
  ByteWriter out;
  out.U8(kSourceVersion);
  out.Bytes(record.cluster);
  out.Varint(record.topics.size());
  for (const KafkaTopicRecord& topic : record.topics) {
    out.Bytes(topic.name);
    out.Bytes(topic.id);
    out.Varint(static_cast<uint64_t>(topic.partitions));
  }
  return out.Take();
}

std::optional<KafkaSourceRecord> DecodeKafkaSource(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kSourceVersion) return std::nullopt;
  KafkaSourceRecord record;
  record.cluster = in.Bytes();
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    KafkaTopicRecord topic;
    topic.name = in.Bytes();
    topic.id = in.Bytes();
    topic.partitions = static_cast<int32_t>(in.Varint());
    record.topics.push_back(std::move(topic));
  }
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return record;
}

}  // namespace weir::connectors
