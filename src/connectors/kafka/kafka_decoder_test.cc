// Records to rows: keys, tombstones, gaps, metadata; every offset is counted once.
#include "connectors/kafka/kafka_decoder.h"

#include <doctest/doctest.h>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

struct Reading {
  explicit Reading(const TableParts& parts) : table(MakeTable(parts)) {
    auto made = KafkaDecoder::Create(*table, RawColumns(*table));
    REQUIRE(made.has_value());
    rows = std::move(*made);
    batch.Reset(RawSchema(*table));
  }
  void Append(ConsumedRecord record) {
    record.topic = "t";
    rows->Append(record, &next, batch);
  }
  // Rows as JSON, "dead CODE", "skipped N", in reading order.
  std::vector<std::string> Text() const {
    std::vector<std::string> text;
    size_t n = 0;
    for (uint32_t row = 0; row <= batch.rows(); ++row) {
      for (; n < batch.non_rows.size() && batch.non_rows[n].before_row == row; ++n) {
        const NonRow& record = batch.non_rows[n];
        text.push_back(record.skipped ? "skipped " + std::to_string(record.count)
                                      : "dead " + record.code);
      }
      if (row == batch.rows()) break;
      text.emplace_back();
      AppendRecordJson(batch, row, RawSchema(*table), text.back());
    }
    return text;
  }
  // rows + dead + skipped
  uint64_t Counted() const {
    uint64_t counted = batch.rows();
    for (const NonRow& record : batch.non_rows) counted += record.count;
    return counted;
  }

  std::unique_ptr<plan::TableDef> table;
  std::unique_ptr<KafkaDecoder> rows;
  Batch batch;
  int64_t next = 0;
};

using Options = std::vector<std::pair<std::string, std::string>>;
const Options kOptions = {{"topic", "t"}, {"properties.bootstrap.servers", "h:1"}};

TableParts Parts(Options more = {}) {
  more.insert(more.begin(), kOptions.begin(), kOptions.end());
  return {.connector = "kafka", .options = std::move(more)};
}

ConsumedRecord Record(int64_t offset, std::optional<std::string_view> value,
                      std::optional<std::string_view> key = std::nullopt) {
  ConsumedRecord record;
  record.offset = offset;
  record.value = value;
  record.key = key;
  return record;
}

using Rows = std::vector<std::string>;

TEST_CASE("every offset is a row, a dead letter or skipped") {
  Reading reading(Parts());
  reading.Append(Record(2, "{\"v\":1}"));  // two control records lie before it
  reading.Append(Record(3, std::nullopt));
  reading.Append(Record(4, "nonsense"));
  reading.Append(Record(5, ""));
  reading.Append(Record(9, "{\"v\":2}\n"));
  KafkaDecoder::Skip(reading.next, 12, reading.batch);
  CHECK(reading.Text() == Rows{"skipped 2", "{\"v\":1}", "skipped 1", "dead json.root", "skipped 1",
                               "skipped 3", "{\"v\":2}", "skipped 2"});
  CHECK(reading.next == 10);
  CHECK(reading.Counted() == 12);
  CHECK(reading.batch.positions == std::vector<int64_t>{2, 9});
}

TEST_CASE("strings outlive the record") {
  TableParts parts = Parts();
  parts.columns = {{"s", Type::Of(TypeKind::kString)}};
  Reading reading(parts);
  {
    std::string value = "{\"s\":\"a long enough text to be elsewhere\"}";
    reading.Append(Record(0, value));
    std::fill(value.begin(), value.end(), 'x');
  }
  CHECK(reading.Text() == Rows{"{\"s\":\"a long enough text to be elsewhere\"}"});
}

TableParts Keyed(const std::string& include) {
  TableParts parts = Parts({{"key.fields", "k_id"}, {"value.fields-include", include}});
  if (include == "EXCEPT_KEY") parts.options.emplace_back("key.fields-prefix", "k_");
  parts.key_format = "json";
  parts.columns = {{"k_id", Type::Of(TypeKind::kInt)}, {"v", Type::Of(TypeKind::kInt)}};
  return parts;
}

TEST_CASE("the key's columns come from the key under their own names, and may fail on their own") {
  Reading reading(Keyed("EXCEPT_KEY"));
  reading.Append(Record(0, "{\"v\":1}", "{\"id\":7}"));
  reading.Append(Record(1, "{\"v\":2}", std::nullopt));
  reading.Append(Record(2, "{\"v\":3}", "{\"id\":\"x\"}"));
  reading.Append(Record(3, "{\"v\":4}", ""));
  reading.Append(Record(4, "bad", "{\"id\":8}"));
  reading.Append(Record(5, "{\"v\":5}", "{\"id\":9}"));
  const Rows text = reading.Text();
  REQUIRE(text.size() == 6);
  CHECK(text[0] == "{\"k_id\":7,\"v\":1}");
  CHECK(text[1] == "{\"k_id\":null,\"v\":2}");
  CHECK(text[2].starts_with("dead key."));
  CHECK(text[3] == "dead key.empty");
  CHECK(text[4] == "dead json.root");
  CHECK(text[5] == "{\"k_id\":9,\"v\":5}");
  CHECK(reading.Counted() == 6);
}

TEST_CASE("with ALL the value holds the key's columns") {
  Reading reading(Keyed("ALL"));
  reading.Append(Record(0, "{\"v\":1,\"k_id\":3}", "{\"k_id\":7}"));
  CHECK(reading.Text() == Rows{"{\"k_id\":3,\"v\":1}"});
}

TEST_CASE("a key that must not be null") {
  TableParts parts = Keyed("EXCEPT_KEY");
  parts.columns[0].second.nullable = false;
  Reading reading(parts);
  reading.Append(Record(0, "{\"v\":1}", std::nullopt));
  CHECK(reading.Text() == Rows{"dead key.null"});
}

TEST_CASE("metadata and the record's time") {
  TableParts parts = Parts();
  parts.metadata = {{"p", "partition"},       {"o", "offset"},       {"t", "timestamp"},
                    {"tt", "timestamp-type"}, {"e", "leader-epoch"}, {"h", "headers"},
                    {"topic", "topic"}};
  Reading reading(parts);
  CHECK(reading.rows->wants_headers());
  ConsumedRecord record = Record(5, "{\"v\":1}");
  record.partition = 3;
  record.timestamp_ms = 1'700'000'000'000;
  record.clock = ConsumedRecord::Clock::kLogAppend;
  record.leader_epoch = 4;
  record.headers = {{"a", "x"}, {"a", std::nullopt}};
  reading.next = 5;
  reading.Append(record);
  reading.Append(Record(6, "{\"v\":2}"));
  record.offset = 7;
  record.value = "bad";
  reading.Append(record);
  const Rows text = reading.Text();
  CHECK(text[0] ==
        "{\"v\":1,\"p\":3,\"o\":5,\"t\":\"2023-11-14 22:13:20.000Z\",\"tt\":"
        "\"LogAppendTime\",\"e\":4,\"h\":\"[[\\\"a\\\",\\\"eA==\\\"],[\\\"a\\\",null]]"
        "\",\"topic\":\"t\"}");
  CHECK(text[1].find("\"e\":null") != std::string::npos);
  CHECK(text[1].find("NoTimestampType") != std::string::npos);
  CHECK(reading.batch.record_ms == std::vector<int64_t>{1'700'000'000'000, kNoRecordTime});
  CHECK(reading.batch.record_by_broker == std::vector<uint8_t>{1, 0});
  CHECK(reading.batch.non_rows.back().record_ms == 1'700'000'000'000);
}

}  // namespace
}  // namespace weir::connectors
