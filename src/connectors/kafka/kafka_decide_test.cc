// Every row of the table in kafka_decide.h, and what an operator's words make of the parks.
#include "connectors/kafka/kafka_decide.h"

#include <doctest/doctest.h>

namespace weir::connectors {
namespace {

using Act = PartitionDecision::Act;

PartitionFacts Good() {
  PartitionFacts facts;
  facts.at = {"t", 1};
  facts.position = {500, 3, kNoStop};
  facts.recorded_cluster = facts.cluster = "c";
  facts.recorded = {"t", "id", 2};
  facts.topic = {"t", "id", 2, Status::Ok()};
  facts.log_start = 100;
  facts.log_end = 900;
  return facts;
}

struct Case {
  const char* name;
  void (*change)(PartitionFacts&);
  Act act;
  const char* rule;
  int64_t offset;
};

TEST_CASE("the first matching row decides") {
  const Case cases[] = {
      {"in the log", [](PartitionFacts&) {}, Act::kRead, "", 500},
      {"at its start", [](PartitionFacts& f) { f.position.offset = 100; }, Act::kRead, "", 100},
      {"at its end", [](PartitionFacts& f) { f.position.offset = 900; }, Act::kRead, "", 900},
      {"never met",
       [](PartitionFacts& f) {
         f.recorded = {};
         f.recorded_cluster = "";
       },
       Act::kRead, "", 500},
      {"more partitions", [](PartitionFacts& f) { f.topic.partitions = 9; }, Act::kRead, "", 500},
      {"other cluster", [](PartitionFacts& f) { f.cluster = "d"; }, Act::kPark,
       "kafka.other-cluster", 0},
      {"recreated", [](PartitionFacts& f) { f.topic.id = "new"; }, Act::kPark, "kafka.recreated",
       0},
      {"shrunk", [](PartitionFacts& f) { f.topic.partitions = 1; }, Act::kPark, "kafka.shrunk", 0},
      {"retention", [](PartitionFacts& f) { f.log_start = 501; }, Act::kPark, "kafka.retention", 0},
      {"truncated", [](PartitionFacts& f) { f.log_end = 499; }, Act::kPark, "kafka.truncated", 0},
      {"at its stop", [](PartitionFacts& f) { f.position.stop = 500; }, Act::kEnd, "", 500},
      {"at its stop, and the records are gone since",
       [](PartitionFacts& f) {
         f.position.stop = 500;
         f.log_start = 600;
       },
       Act::kEnd, "", 500},
      {"at its stop, in another topic",
       [](PartitionFacts& f) {
         f.position.stop = 500;
         f.topic.id = "new";
       },
       Act::kPark, "kafka.recreated", 0},
      {"before its stop", [](PartitionFacts& f) { f.position.stop = 501; }, Act::kRead, "", 500},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    PartitionFacts facts = Good();
    c.change(facts);
    const PartitionDecision decision = DecidePartition(facts);
    CHECK(decision.act == c.act);
    if (c.act == Act::kPark) {
      CHECK(decision.park.rule == c.rule);
      CHECK_FALSE(decision.park.verbs.empty());
      CHECK(decision.park.what.find("t") != std::string::npos);
    } else {
      CHECK(decision.offset == c.offset);
      CHECK_FALSE(decision.forget_epoch);
    }
  }
}

TEST_CASE("words: a gap goes to the log start or its end, a topic keeps the position") {
  PartitionFacts retention = Good();
  retention.log_start = 700;
  retention.accept_gap = true;
  PartitionDecision decision = DecidePartition(retention);
  CHECK(decision.act == Act::kRead);
  CHECK(decision.offset == 700);
  CHECK(decision.lost_records == 200);
  CHECK(decision.forget_epoch);
  CHECK_FALSE(decision.other_log);

  PartitionFacts truncated = Good();
  truncated.log_end = 300;
  truncated.accept_gap_table = true;
  CHECK(DecidePartition(truncated).offset == 300);

  PartitionFacts recreated = Good();
  recreated.topic.id = "new";
  recreated.log_start = 0;
  recreated.accept_gap = true;  // of this partition only: the topic is one thing
  CHECK(DecidePartition(recreated).act == Act::kPark);
  recreated.accept_gap_table = true;
  decision = DecidePartition(recreated);
  CHECK(decision.act == Act::kRead);
  CHECK(decision.offset == 0);
  CHECK(decision.other_log);
  recreated.accept_topic_table = true;
  CHECK(DecidePartition(recreated).offset == 500);

  PartitionFacts shrunk = Good();
  shrunk.topic.partitions = 1;
  shrunk.accept_gap_table = true;  // partition 1 is not there to be read
  CHECK(DecidePartition(shrunk).act == Act::kPark);
}

TEST_CASE("what is sealed reads back, and damage is seen") {
  for (const KafkaPosition& position :
       {KafkaPosition{}, KafkaPosition{42, 7, kNoStop}, KafkaPosition{INT64_MAX, INT32_MAX, 5}}) {
    CHECK(DecodeKafkaPosition(EncodeKafkaPosition(position)) == position);
  }
  KafkaSourceRecord record;
  record.cluster = "c";
  record.Put({"b", "2", 3});
  record.Put({"a", "1", 1});
  record.Put({"b", "4", 5});
  CHECK(record.topics.size() == 2);
  CHECK(record.Find("b")->partitions == 5);
  CHECK(DecodeKafkaSource(EncodeKafkaSource(record)) == record);
  for (std::string blob : {EncodeKafkaPosition({42, 7, 9}), EncodeKafkaSource(record)}) {
    const bool position = blob.size() < 6;
    for (size_t cut = 0; cut < blob.size(); ++cut) {
      const auto part = std::string_view(blob).substr(0, cut);
      CHECK_FALSE(
          (position ? DecodeKafkaPosition(part).has_value() : DecodeKafkaSource(part).has_value()));
    }
  }
  CHECK(ParseTopicPartition("a.b-c/12") == TopicPartition{"a.b-c", 12});
  for (const char* key : {"", "a", "a/", "a/x", "a/-1", "a/99999999999"})
    CHECK_FALSE(ParseTopicPartition(key).has_value());
}

}  // namespace
}  // namespace weir::connectors
