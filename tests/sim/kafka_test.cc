// The engine and the path of a delivery against a simulated cluster: kills at any request, answers
// lost, late and repeated EndTxn and TxnOffsetCommit, transactions that time out, receipts that
// vanish. A read_committed reader sees each row once. With a rule switched off it does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "app/node_table.h"
#include "connectors/kafka/kafka_delivery.h"
#include "pipelines.h"
#include "protocol/trace.h"
#include "sim_broker.h"
#include "sim_engine.h"

namespace weir::sim {

namespace {

constexpr int kRows = 40;

const char kSql[] = R"(
CREATE TABLE src (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in/*.jsonl', 'format' = 'json');
CREATE TABLE one (k STRING, v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'one',
  'properties.bootstrap.servers' = 'sim:1', 'format' = 'json', 'key.format' = 'raw', 'key.fields' = 'k');
CREATE TABLE two (v BIGINT) WITH ('connector' = 'kafka', 'topic' = 'two',
  'properties.bootstrap.servers' = 'sim:1', 'format' = 'json');
INSERT INTO one SELECT k, v FROM src;
INSERT INTO two SELECT v FROM src WHERE v < 20;
)";

MakeDelivery DeliveryTo(SimBroker& broker) {
  return [&broker](const io::Env& env, const std::vector<runtime::TargetSink>& sinks)
             -> Result<std::unique_ptr<flow::SinkDelivery>> {
    std::vector<std::unique_ptr<connectors::KafkaRows>> rows;
    std::vector<std::string> topics;
    for (const runtime::TargetSink& sink : sinks) {
      WEIR_ASSIGN_OR_RETURN(auto one, connectors::KafkaRows::Make(*sink.table));
      one->SetTopicIndex(static_cast<int>(rows.size()));  // "one" before "two": sorted
      topics.push_back(one->topic());
      rows.push_back(std::move(one));
    }
    connectors::KafkaDeliveryOptions options;
    options.name = "weir-box-sim";
    options.merge_ms = 0;
    options.rows_max = 7;  // many deliveries, epochs in parts
    io::Clock& clock = env.clock;
    options.wall_ms = [&clock] { return clock.WallMs(); };
    return std::make_unique<connectors::KafkaDelivery>(broker.Connect(topics), std::move(options),
                                                       std::move(rows));
  };
}

// Lives until one finishes; dies at requests drawn from the seed.
LifeResult RunLives(SimBroker& broker, uint64_t seed, int deaths, std::string* trace) {
  auto files = NewWorld(kRows);
  io::SimRandom random(seed * 7919);
  LifeResult life;
  for (int n = 0; n < 60; ++n) {
    broker.NextLife();
    broker.KillAt(n < deaths ? 1 + random.Below(600) : 0);
    if (n == deaths) broker.SetFaults(0);
    LifeOptions options;
    options.seed = seed + static_cast<uint64_t>(n);
    options.make_delivery = DeliveryTo(broker);
    options.killed = [&broker] { return broker.killed(); };
    options.trace = trace;
    life = RunLife(*files, kSql, options);
    if (life.finished) return life;
    files = files->AfterKill();
  }
  return life;
}

struct Verdict {
  std::string wrong;  // "" when each row was seen once
  size_t rows = 0;
};

Verdict Judge(SimBroker& broker, const std::multiset<std::string>& want) {
  Verdict verdict;
  std::multiset<std::string> values;
  std::set<std::string> origins;
  uint64_t twice = 0;
  for (const SimBroker::Visible& row : broker.Read()) {
    values.insert(row.value);
    twice += !origins.insert(row.row_header).second;
  }
  verdict.rows = values.size();
  if (twice > 0) verdict.wrong = std::to_string(twice) + " rows twice";
  if (values != want)
    verdict.wrong +=
        " " + std::to_string(values.size()) + " rows of " + std::to_string(want.size());
  return verdict;
}

std::multiset<std::string> Undisturbed() {
  SimBroker broker({.seed = 1, .one_in = 0});
  const LifeResult life = RunLives(broker, 1, 0, nullptr);
  CAPTURE(life.status.ToString());
  CAPTURE(life.status_json);
  REQUIRE(life.finished);
  REQUIRE(life.status.ok());
  std::multiset<std::string> values;
  for (const SimBroker::Visible& row : broker.Read()) values.insert(row.value);
  REQUIRE(values.size() > 80);
  return values;
}

}  // namespace

TEST_CASE("kafka: deaths and a lying network at any request: each row once, and the trace holds") {
  const auto want = Undisturbed();
  uint64_t late = 0;
  for (const bool expire : {false, true}) {
    for (uint64_t seed = 1; seed <= SimEffort().seeds; ++seed) {
      CAPTURE(expire);
      CAPTURE(seed);
      SimBroker broker({.seed = seed, .one_in = 12, .expire = expire});
      std::string trace;
      const LifeResult life = RunLives(broker, seed, 4, &trace);
      REQUIRE_MESSAGE(life.finished, life.status_json);
      REQUIRE_MESSAGE(life.status.ok(), life.status.ToString());
      const Verdict verdict = Judge(broker, want);
      CHECK(verdict.wrong == "");
      const protocol::TraceVerdict checked = protocol::VerifyTrace(trace);
      CHECK_MESSAGE(checked.ok, checked.rule, ": ", checked.detail, " in line ", checked.line);
      late += broker.late_applied();
    }
  }
  MESSAGE("late requests that had an effect: ", late);
}

TEST_CASE("kafka: a rule switched off is caught") {
  const auto want = Undisturbed();
  for (const Mutant mutant : {Mutant::kReceiptReadFirst, Mutant::kProducerReused}) {
    int caught = 0;
    for (uint64_t seed = 1; seed <= 120 && caught == 0; ++seed) {
      SimBroker broker({.seed = seed, .one_in = 4, .expire = false, .mutant = mutant});
      const LifeResult life = RunLives(broker, seed, 4, nullptr);
      caught += !life.finished || !life.status.ok() || !Judge(broker, want).wrong.empty();
    }
    CAPTURE(static_cast<int>(mutant));
    CHECK(caught > 0);
  }
}

}  // namespace weir::sim
