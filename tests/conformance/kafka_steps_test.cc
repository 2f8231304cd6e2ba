// The order of a Kafka delivery's steps (kafka_delivery.h), on a cluster that writes down what it
// is asked and fails where it is told to: no client library, no broker.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_delivery.h"
#include "connectors/testing/connector_world.h"
#include "connectors/testing/delivery_driver.h"
#include "connectors/testing/minted_proof.h"

namespace weir::connectors {
namespace {

const Lineage kLineage{{7}};

Status Unavailable() { return {Code::kUnavailable, "scripted"}; }

// What was asked, "Init Begin ...", and what to answer.
struct Script {
  std::vector<std::string> asked;
  std::string fail;          // this step fails, each time
  bool secrets_old = false;  // the next Renew reads them again
  int32_t epoch = 0;         // of the name
  std::string cluster = "c1";
  std::optional<std::string> receipt;

  Status Ask(const std::string& step) {
    asked.push_back(step);
    return step == fail ? Unavailable() : Status::Ok();
  }
  std::string Steps() {
    std::string out;
    for (const std::string& step : asked) out += (out.empty() ? "" : " ") + step;
    asked.clear();
    return out;
  }
};

class ScriptedProducer : public TxnProducer {
 public:
  explicit ScriptedProducer(Script& script) : script_(script), cluster_(script.cluster) {}
  ~ScriptedProducer() override { script_.asked.emplace_back("~"); }
  std::string cluster() const override { return cluster_; }
  Status Init() override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Init"));
    identity_ = ProducerIdentity{1, ++script_.epoch};
    return Status::Ok();
  }
  std::optional<ProducerIdentity> identity() const override { return identity_; }
  Status Begin() override { return script_.Ask("Begin"); }
  Status Produce(const TxnRecord&) override {
    ++records_;
    return script_.Ask("Produce");
  }
  Result<Flushed> Flush() override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Flush"));
    return Flushed{script_.fail == "lost" ? records_ - 1 : records_,
                   {{static_cast<int64_t>(records_)}}};
  }
  Status SendReceipt(const std::string&, const std::string&, EpochId,
                     const std::string& text) override {
    sent_ = text;
    return script_.Ask("Receipt");
  }
  Status Commit() override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Commit"));
    script_.receipt = sent_;
    return Status::Ok();
  }

 private:
  Script& script_;
  const std::string cluster_;
  std::optional<ProducerIdentity> identity_;
  uint64_t records_ = 0;
  std::string sent_;
};

class ScriptedCluster : public TxnCluster {
 public:
  explicit ScriptedCluster(Script& script) : script_(script) {}
  void Reset() override { script_.asked.emplace_back("Reset"); }
  Result<bool> Renew() override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Renew"));
    return std::exchange(script_.secrets_old, false);
  }
  Result<std::string> ClusterId() override { return script_.cluster; }
  Result<protocol::Whereabouts> Describe() override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Describe"));
    return protocol::Whereabouts{script_.cluster, {{"out", "id", {0}}}};
  }
  Result<std::unique_ptr<TxnProducer>> NewProducer(const std::string&) override {
    WEIR_RETURN_IF_ERROR(script_.Ask("New"));
    return std::make_unique<ScriptedProducer>(script_);
  }
  Result<std::vector<StoredReceipt>> ReadReceipts(const std::string&) override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Read"));
    if (!script_.receipt) return std::vector<StoredReceipt>();
    return std::vector<StoredReceipt>{{"out", *script_.receipt}};
  }
  Result<protocol::Whereabouts> AskBegins(const protocol::Whereabouts& at) override { return at; }
  Result<protocol::Whereabouts> AskEnds(const protocol::Whereabouts& at) override {
    WEIR_RETURN_IF_ERROR(script_.Ask("Ends"));
    return at;
  }
  Status ReadHeaders(const protocol::Whereabouts&, const protocol::Whereabouts&,
                     const std::function<void(std::string_view)>&) override {
    return script_.Ask("Scan");
  }
  Result<bool> AnyCompacted() override { return false; }
  int64_t ReceiptRetentionMs() override { return 0; }

 private:
  Script& script_;
};

// Deliveries of one row each, epoch after epoch.
class Driver {
 public:
  Driver() {
    table_ = MakeTable({.name = "out",
                        .connector = "kafka",
                        .format = "json",
                        .options = {{"topic", "out"}, {"properties.bootstrap.servers", "h:1"}}});
    std::vector<std::unique_ptr<KafkaRows>> rows;
    rows.push_back(KafkaRows::Make(*table_).value());
    KafkaDeliveryOptions options;
    options.name = "weir-box-job";
    options.wall_ms = [] { return int64_t{1}; };
    delivery_ = std::make_unique<KafkaDelivery>(std::make_unique<ScriptedCluster>(script),
                                                std::move(options), std::move(rows));
  }

  Status Fence() {
    if (const auto looked = delivery_->Look(); !looked) return looked.error();
    auto fenced = delivery_->Fence({});
    if (!fenced) return fenced.error();
    last = std::move(*fenced);
    return Status::Ok();
  }
  Status Deliver() {
    WEIR_RETURN_IF_ERROR(Fence());
    ++epoch_;
    ListReader rows(std::vector<std::vector<int64_t>>{{static_cast<int64_t>(epoch_)}});
    std::optional<protocol::TargetPosition> from;
    if (last.receipt) from = last.receipt->position;
    const Status status = DeliverRows(*delivery_, store::Store::Mint(kLineage, epoch_),
                                      {from, {epoch_, 1}, Digest256{{1}}, 1}, rows);
    delivery_->Close();
    return status;
  }
  KafkaDelivery& delivery() { return *delivery_; }

  Script script;
  flow::Fenced last;

 private:
  std::unique_ptr<plan::TableDef> table_;
  std::unique_ptr<KafkaDelivery> delivery_;
  EpochId epoch_ = 0;
};

constexpr char kWhole[] = "Renew New Describe Init Read Ends Begin Produce Flush Receipt Commit ~";

TEST_CASE(
    "kafka steps: one producer for one delivery, the receipt read after fencing and sent last") {
  Driver driver;
  REQUIRE(driver.Deliver().ok());
  CHECK(driver.script.Steps() == kWhole);
  REQUIRE(driver.Deliver().ok());
  CHECK(driver.script.Steps() == kWhole);
  CHECK(driver.last.receipt->position == protocol::TargetPosition{1, 1});
}

TEST_CASE("kafka steps: after a step that failed the producer is only destroyed") {
  struct Case {
    const char* fail;
    const char* want;
  };
  const Case cases[] = {
      {"Init", "Renew New Describe Init"},
      {"Read", "Renew New Describe Init Read"},
      {"Begin", "Renew New Describe Init Read Ends Begin ~"},
      {"Produce", "Renew New Describe Init Read Ends Begin Produce ~"},
      {"Flush", "Renew New Describe Init Read Ends Begin Produce Flush ~"},
      {"lost", "Renew New Describe Init Read Ends Begin Produce Flush ~"},
      {"Receipt", "Renew New Describe Init Read Ends Begin Produce Flush Receipt ~"},
      {"Commit", kWhole},
  };
  for (const Case& c : cases) {
    CAPTURE(c.fail);
    Driver driver;
    driver.script.fail = c.fail;
    CHECK(!driver.Deliver().ok());
    CHECK(driver.script.Steps() == c.want);
    driver.script.fail.clear();
    driver.delivery().Close();
    driver.script.Steps();
    REQUIRE(driver.Deliver().ok());
    CHECK(driver.script.Steps() == kWhole);  // the path is taken from its start
  }
}

TEST_CASE(
    "kafka steps: a prepared producer fences nobody, and old secrets end it before a session") {
  Driver driver;
  REQUIRE(driver.Deliver().ok());
  driver.delivery().Prepare();
  driver.script.Steps();
  REQUIRE(driver.Fence().ok());
  CHECK(driver.script.Steps() == "Renew Describe Init Read Ends");  // made before, used now
  // Secrets that change within the session are read by the next one.
  driver.script.secrets_old = true;
  ListReader rows(std::vector<std::vector<int64_t>>{{2}});
  REQUIRE(DeliverRows(driver.delivery(), store::Store::Mint(kLineage, 2),
                      {protocol::TargetPosition{1, 1}, {2, 1}, Digest256{{1}}, 1}, rows)
              .ok());
  CHECK(driver.script.Steps() == "Begin Produce Flush Receipt Commit");
  CHECK(driver.script.secrets_old);
  driver.delivery().Close();
  driver.delivery().Prepare();
  driver.script.Steps();
  REQUIRE(driver.Fence().ok());
  CHECK(driver.script.Steps() == "Renew ~ New Describe Init Read Ends");
}

TEST_CASE(
    "kafka steps: another cluster at the address gets a name of its own before anybody is fenced") {
  Driver driver;
  REQUIRE(driver.Deliver().ok());
  driver.delivery().Prepare();
  driver.script.cluster = "c2";
  driver.script.Steps();
  // The prepared producer is still of the old one: what answers now is found out by Describe.
  CHECK(!driver.Fence().ok());
  CHECK(driver.script.Steps().find("Init") == std::string::npos);
  driver.delivery().Close();
  driver.script.Steps();
  REQUIRE(driver.Fence().ok());
  CHECK(driver.delivery().SessionName() == "weir-box-job-c2");
}

TEST_CASE("kafka steps: whoever fences our name between two of our sessions is counted") {
  Driver driver;
  REQUIRE(driver.Deliver().ok());
  CHECK(driver.last.by_others == 0);
  REQUIRE(driver.Deliver().ok());
  CHECK(driver.last.by_others == 0);
  driver.script.epoch += 2;
  REQUIRE(driver.Deliver().ok());
  CHECK(driver.last.by_others == 2);
  REQUIRE(driver.Deliver().ok());
  CHECK(driver.last.by_others == 0);
  // A session of ours that only looked is one of ours.
  REQUIRE(driver.Fence().ok());
  driver.delivery().Close();
  REQUIRE(driver.Fence().ok());
  CHECK(driver.last.by_others == 0);
  // Where the end of ours is in doubt, so is what raised the epoch.
  for (const char* fail : {"Init", "Commit", "Produce"}) {
    CAPTURE(fail);
    driver.script.fail = fail;
    CHECK(!driver.Deliver().ok());
    driver.script.fail.clear();
    driver.script.epoch += 3;
    driver.delivery().Close();
    REQUIRE(driver.Deliver().ok());
    CHECK(driver.last.by_others == 0);
  }
}

}  // namespace
}  // namespace weir::connectors
