// Rows as records: key, value, partition; what can never be written; and a topic's own limits.
#include "connectors/kafka/kafka_rows.h"

#include <doctest/doctest.h>

#include "connectors/kafka/partitioner.h"
#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<plan::TableDef> Table(Options options, const std::string& key_format,
                                      const std::string& format = "json") {
  options.emplace_back("topic", "out");
  options.emplace_back("properties.bootstrap.servers", "127.0.0.1:1");
  if (!key_format.empty()) {
    options.emplace_back("key.format", key_format);
    options.emplace_back("key.fields", "k");
  }
  std::vector<std::pair<std::string, Type>> columns = {{"k", Type::Of(TypeKind::kString)},
                                                       {"v", Type::Of(TypeKind::kInt)}};
  if (format == "raw") columns.pop_back();
  return MakeTable({.connector = "kafka",
                    .format = format,
                    .options = std::move(options),
                    .columns = std::move(columns),
                    .key_format = key_format});
}

// Rows (k, v); a NULL k where `null` says so.
void Fill(const plan::TableDef& table, const std::vector<std::string>& keys, Batch& out,
          int null = -1) {
  out.Reset(SinkSchema(table), static_cast<uint32_t>(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i) {
    out.mutable_column(0).strings[i] = keys[i];
    out.mutable_column(0).valid[i] = static_cast<int>(i) != null;
    if (out.column_count() < 2) continue;
    out.mutable_column(1).ints[i] = static_cast<int64_t>(i);
    out.mutable_column(1).valid[i] = 1;
  }
}

std::unique_ptr<KafkaRows> Make(const plan::TableDef& table) {
  auto rows = KafkaRows::Make(table);
  REQUIRE(rows.has_value());
  return std::move(*rows);
}

TEST_CASE("kafka rows: a key is what key.format makes of key.fields, and decides the partition") {
  const auto table = Table({}, "raw");
  const auto rows = Make(*table);
  const std::vector<std::string> keys = {"a", "b", "a", ""};
  Batch batch;
  Fill(*table, keys, batch, /*null=*/1);
  rows->SetBatch(batch);
  TxnRecord record;
  rows->Encode(0, 7, record);
  CHECK(record.key == "a");
  CHECK(record.value == R"({"k":"a","v":0})");
  CHECK(record.partition == PartitionOfKey("a", 7));
  CHECK(!record.timestamp_ms);
  rows->Encode(2, 7, record);
  CHECK(record.partition == PartitionOfKey("a", 7));
  rows->Encode(1, 7, record);
  CHECK(!record.key.has_value());  // NULL: no key
  rows->Encode(3, 7, record);
  CHECK(record.key == "");  // empty is not NULL
}

TEST_CASE("kafka rows: a raw value that is NULL is a tombstone, and without a key format no key") {
  const auto table = Table({}, "", "raw");
  const auto rows = Make(*table);
  const std::vector<std::string> keys = {"x", "y"};
  Batch batch;
  Fill(*table, keys, batch, /*null=*/1);
  rows->SetBatch(batch);
  TxnRecord record;
  rows->Encode(0, 1, record);
  CHECK(record.value == "x");
  CHECK(!record.key.has_value());
  rows->Encode(1, 1, record);
  CHECK(!record.value.has_value());
}

TEST_CASE("kafka rows: partitioners") {
  struct Case {
    const char* partitioner;
    std::vector<int32_t> want;
  };
  const Case cases[] = {
      {"default", {0, 0, 0, 0}}, {"fixed", {0, 0, 0, 0}}, {"round-robin", {0, 1, 2, 0}}};
  for (const Case& c : cases) {
    CAPTURE(c.partitioner);
    const auto table = Table({{"sink.partitioner", c.partitioner}}, "");
    const auto rows = Make(*table);
    const std::vector<std::string> keys = {"a", "b", "c", "d"};
    Batch batch;
    Fill(*table, keys, batch);
    rows->SetBatch(batch);
    std::vector<int32_t> got;
    for (uint32_t i = 0; i < 4; ++i) {
      TxnRecord record;
      rows->Encode(i, 3, record);
      got.push_back(record.partition);
    }
    CHECK(got == c.want);
  }
}

TEST_CASE("kafka rows: what a topic never takes is known when the row is staged") {
  const auto table = Table({}, "raw");
  World world;
  const auto limits = std::make_shared<TopicLimits>();
  const auto check = KafkaRowCheck(*table, limits, world.clock());
  const std::vector<std::string> keys = {"k", std::string(2000000, 'x'), "n",
                                         std::string(300000, 'y')};
  Batch batch;
  Fill(*table, keys, batch, /*null=*/2);
  CHECK(check(batch, 0).empty());
  CHECK(check(batch, 1).find("larger") != std::string_view::npos);
  CHECK(check(batch, 2).empty());
  CHECK(check(batch, 3).empty());  // may grow sixfold in JSON, and does not
  limits->Of("other").Learn({{"cleanup.policy", "compact"}});
  CHECK(check(batch, 2).empty());
  limits->Of("out").Learn({{"cleanup.policy", "compact,delete"}, {"max.message.bytes", "100000"}});
  CHECK(check(batch, 0).empty());
  CHECK(check(batch, 2).find("key") != std::string_view::npos);
  CHECK(check(batch, 3).find("larger") != std::string_view::npos);
  limits->Of("out").Learn({{"cleanup.policy", "delete"}});
  CHECK(check(batch, 2).empty());
}

TEST_CASE("kafka rows: a topic's settings are limits; what is not said is none") {
  TopicLimit limit;
  limit.Learn({});
  CHECK(limit.record_bytes == INT64_MAX);
  CHECK(!limit.needs_key);
  limit.Learn({{"message.timestamp.after.max.ms", "3600000"},
               {"message.timestamp.before.max.ms", "9223372036854775807"},
               {"message.timestamp.type", "CreateTime"}});
  CHECK(limit.after_ms == 3600000);
  CHECK(limit.before_ms == INT64_MAX);
  limit.Learn(
      {{"message.timestamp.after.max.ms", "3600000"}, {"message.timestamp.type", "LogAppendTime"}});
  CHECK(limit.after_ms == INT64_MAX);
}

}  // namespace
}  // namespace weir::connectors
