// What the options of a Kafka table say, and what is refused with which words.
#include "connectors/kafka/kafka_spec.h"

#include <doctest/doctest.h>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

std::unique_ptr<plan::TableDef> Table(Options options) {
  options.emplace_back("properties.bootstrap.servers", "127.0.0.1:1");
  return MakeTable({.connector = "kafka", .options = std::move(options)});
}

std::string Errors(const Options& options, bool as_sink) {
  const auto table = Table(options);
  std::vector<plan::Diagnostic> out;
  table->connector->check(*table, as_sink, out);
  std::string text;
  for (const plan::Diagnostic& d : out) {
    text += (text.empty() ? "" : "\n") + d.message + (d.hint.empty() ? "" : " | " + d.hint);
  }
  return text;
}

TEST_CASE("what a source reads: topics sorted, modes, offsets, intervals") {
  const auto table =
      Table({{"topic", "b;a"},
             {"scan.startup.mode", "specific-offsets"},
             {"scan.startup.specific-offsets", "partition:0,offset:42;partition:3,offset:0"},
             {"scan.bounded.mode", "timestamp"},
             {"scan.bounded.timestamp-millis", "1700000000000"},
             {"scan.topic-partition-discovery.interval", "0 ms"}});
  const auto reading = KafkaReadingOf(*table);
  REQUIRE(reading.has_value());
  CHECK(reading->topics == std::vector<std::string>{"a", "b"});
  CHECK(reading->start.mode == KafkaOffsets::Mode::kSpecific);
  CHECK(reading->start.specific == std::map<int32_t, int64_t>{{0, 42}, {3, 0}});
  CHECK(reading->end.mode == KafkaOffsets::Mode::kTimestamp);
  CHECK(reading->end.timestamp_ms == 1'700'000'000'000);
  CHECK(reading->discovery_interval_ms == 0);
  CHECK(table->connector->bounded(*table));
}

TEST_CASE("not given: from the beginning, without end, discovery every 5 min") {
  const auto table = Table({{"topic-pattern", "in\\..*"}});
  const auto reading = KafkaReadingOf(*table);
  REQUIRE(reading.has_value());
  CHECK(reading->pattern == "in\\..*");
  CHECK(reading->start.mode == KafkaOffsets::Mode::kEarliest);
  CHECK(reading->end.mode == KafkaOffsets::Mode::kUnbounded);
  CHECK(reading->discovery_interval_ms == 300'000);
  CHECK_FALSE(table->connector->bounded(*table));
}

TEST_CASE("a group without offsets means what auto.offset.reset says, and only there") {
  using Missing = KafkaOffsets::Missing;
  const auto missing = [](Options options) {
    options.insert(
        options.end(),
        {{"topic", "t"}, {"scan.startup.mode", "group-offsets"}, {"properties.group.id", "g"}});
    return KafkaReadingOf(*Table(options))->start.missing;
  };
  CHECK(missing({}) == Missing::kError);
  CHECK(missing({{"properties.auto.offset.reset", "earliest"}}) == Missing::kEarliest);
  CHECK(missing({{"properties.auto.offset.reset", "latest"}}) == Missing::kLatest);
}

TEST_CASE("specific offsets: what is no such list is named") {
  for (const char* text :
       {"", "partition:0", "partition:0,offset:-1", "partition:x,offset:1", "offset:1,partition:0",
        "partition:0,offset:1;", "0:1", "partition:0,offset:1;partition:0,offset:2",
        "partition:99999999999,offset:1"}) {
    CAPTURE(text);
    CHECK_FALSE(ParseSpecificOffsets(text).has_value());
  }
}

struct Case {
  const char* name;
  Options options;
  const char* want;
};

TEST_CASE("a source's options that make no sense are named") {
  const Case cases[] = {
      {"good", {{"topic", "t"}}, ""},
      {"no topic", {}, "one of the options topic and topic-pattern is missing"},
      {"both",
       {{"topic", "t"}, {"topic-pattern", "t"}},
       "topic and topic-pattern cannot stand together"},
      {"bad name",
       {{"topic", "a b"}},
       "'a b' cannot be the name of a topic | at most 249 of A-Z a-z 0-9 . _ -"},
      {"twice", {{"topic", "t;t"}}, "a topic is named twice"},
      {"specific without offsets",
       {{"topic", "t"}, {"scan.startup.mode", "specific-offsets"}},
       "scan.startup.mode = 'specific-offsets' needs scan.startup.specific-offsets"},
      {"offsets without specific",
       {{"topic", "t"}, {"scan.startup.specific-offsets", "partition:0,offset:1"}},
       "scan.startup.specific-offsets needs scan.startup.mode = 'specific-offsets'"},
      {"timestamp without time",
       {{"topic", "t"}, {"scan.bounded.mode", "timestamp"}},
       "scan.bounded.mode = 'timestamp' needs scan.bounded.timestamp-millis"},
      {"group without id",
       {{"topic", "t"}, {"scan.startup.mode", "group-offsets"}},
       "scan.startup.mode = 'group-offsets' needs properties.group.id"},
      {"bad offsets",
       {{"topic", "t"},
        {"scan.startup.mode", "specific-offsets"},
        {"scan.startup.specific-offsets", "0:42"}},
       "scan.startup.specific-offsets: '0:42' is not 'partition:N,offset:N'"},
      {"bad pattern", {{"topic-pattern", "("}}, "topic-pattern: missing ): ("},
      {"upstream without a column",
       {{"topic", "t"}, {"weir.watermark", "upstream"}},
       "weir.watermark = 'upstream' needs a WATERMARK FOR | it names the column, and counts for "
       "rows "
       "without the header"},
      {"mirror without group",
       {{"topic", "t"}, {"weir.commit-positions", "true"}},
       "weir.commit-positions needs properties.group.id"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(Errors(c.options, false) == c.want);
  }
}

TEST_CASE("a sink's options that make no sense are named") {
  const Case cases[] = {
      {"good", {{"topic", "t"}, {"weir.receipt", "topic:r"}}, ""},
      {"two topics", {{"topic", "a;b"}}, "a sink writes one topic"},
      {"no topic", {}, "required option topic is missing"},
      {"receipt",
       {{"topic", "t"}, {"weir.receipt", "x"}},
       "'x' is neither 'offsets' nor 'topic:NAME'"},
      {"receipt topic",
       {{"topic", "t"}, {"weir.receipt", "topic:a/b"}},
       "'a/b' cannot be the name of a topic"},
      {"prefix without transactions",
       {{"topic", "t"}, {"sink.delivery-guarantee", "none"}, {"sink.transactional-id-prefix", "p"}},
       "sink.transactional-id-prefix needs sink.delivery-guarantee = 'exactly-once'"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(Errors(c.options, true) == c.want);
  }
}

}  // namespace
}  // namespace weir::connectors
