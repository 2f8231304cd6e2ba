// What every SinkDelivery promises: rows and receipt together or not at all, redelivery from the
// receipt is idempotent, nothing visible before Deliver, older sessions harmless. A new delivery is
// added to Deliveries() and must pass without a word of its own.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "connectors/testing/connector_world.h"
#include "connectors/testing/delivery_driver.h"
#include "connectors/testing/minted_proof.h"
#include "sqlite/database.h"
#include "sqlite/sim_vfs.h"

namespace weir::connectors {
namespace {

using Batches = std::vector<std::vector<int64_t>>;

const Lineage kLineage{{7}};

Digest256 HashOfEpoch(EpochId epoch) { return Digest256{{static_cast<uint8_t>(epoch), 1}}; }

// A target on a simulated machine.
class SqliteTarget {
 public:
  explicit SqliteTarget(std::unique_ptr<io::SimFiles> files) : world_(std::move(files), kVfs) {
    REQUIRE(sqlite::InitializeSqlite().ok());
    vfs_ = std::make_unique<sqlite::SimVfs>(world_.files(), kVfs);
    table_ = MakeTable({.name = "out", .connector = "sqlite", .options = {{"path", "/db/out.db"}}});
  }
  io::SimFiles& files() { return world_.files(); }
  std::unique_ptr<flow::SinkDelivery> NewSession() {
    auto delivery = NewDelivery(world_.Context(), {table_.get()});
    REQUIRE(delivery.has_value());
    return std::move(*delivery);
  }
  // What a reader sees.
  std::string Visible() {
    sqlite::OpenOptions options;
    options.vfs = kVfs;
    options.use_wal = false;
    auto database = sqlite::Database::Open("/db/out.db", options);
    REQUIRE(database.has_value());
    const auto tables =
        (*database)->QueryInt("SELECT count(*) FROM sqlite_master WHERE name = 'out'");
    if (!tables.has_value() || *tables == 0) return "";
    return (*database)
        ->QueryText(
            "SELECT coalesce(group_concat(v, ' '), '') FROM (SELECT v FROM out ORDER BY rowid)")
        .value_or("");
  }

 private:
  static constexpr const char* kVfs = "weir-sim-conformance";
  World world_;
  std::unique_ptr<sqlite::SimVfs> vfs_;
  std::unique_ptr<plan::TableDef> table_;
};

std::unique_ptr<io::SimFiles> EmptyDisk() {
  auto files = std::make_unique<io::SimFiles>();
  files->PutDirectory("/db");
  return files;
}

// Delivers epochs 1..3 (rows 2 e and 2 e + 1) from wherever the receipt stands.
Status DeliverRest(SqliteTarget& target) {
  for (;;) {
    const auto session = target.NewSession();
    WEIR_ASSIGN_OR_RETURN(const auto receipt, ReadReceipt(*session));
    if (receipt) CHECK(receipt->hash == HashOfEpoch(receipt->position.epoch));
    const EpochId next = receipt ? receipt->position.epoch + 1 : 1;
    if (next > 3) return Status::Ok();
    std::optional<protocol::TargetPosition> from;
    if (receipt) from = receipt->position;
    const auto value = static_cast<int64_t>(2 * next);
    ListReader rows(Batches{{value}, {value + 1}});
    WEIR_RETURN_IF_ERROR(DeliverRows(*session, store::Store::Mint(kLineage, next),
                                     {from, {next, 2}, HashOfEpoch(next), 2}, rows));
    session->Close();
  }
}

const char* const kAll = "2 3 4 5 6 7";

TEST_CASE("delivery: nothing is visible before Deliver, and a session may be dropped at any step") {
  SqliteTarget target(EmptyDisk());
  {
    const auto session = target.NewSession();
    session->Close();
    REQUIRE(ReadReceipt(*session).has_value());
    session->Close();
    session->Close();
  }
  CHECK(target.Visible().empty());
  REQUIRE(DeliverRest(target).ok());
  CHECK(target.Visible() == kAll);
  REQUIRE(DeliverRest(target).ok());
  CHECK(target.Visible() == kAll);
}

TEST_CASE(
    "delivery: death or power cut at any operation, restart from the receipt: each row once, in "
    "order") {
  for (const bool power : {false, true}) {
    int deaths = 0;
    for (uint64_t at = 1; at < 1000; ++at) {
      CAPTURE(power);
      CAPTURE(at);
      std::unique_ptr<io::SimFiles> next;
      {
        SqliteTarget target(EmptyDisk());
        target.files().CrashAt(at);
        const bool done = DeliverRest(target).ok() && !target.files().crashed();
        if (done) break;
        next = power ? target.files().AfterPowerCut(at) : target.files().AfterKill();
      }
      ++deaths;
      SqliteTarget target(std::move(next));
      const Status status = DeliverRest(target);
      REQUIRE_MESSAGE(status.ok(), status.message());
      CHECK(target.Visible() == kAll);
    }
    CHECK(deaths > 10);
  }
}

TEST_CASE(
    "delivery: no space at any operation says so or is a clean failure, and the next attempt "
    "delivers each row once") {
  for (uint64_t at = 1; at < 1000; ++at) {
    CAPTURE(at);
    SqliteTarget target(EmptyDisk());
    target.files().OnOperation([at](const io::SimOp& op) {
      const bool sync = op.kind == io::SimOpKind::kSync || op.kind == io::SimOpKind::kSyncDirectory;
      return op.number == at && !sync ? io::SimFault::kNoSpace : io::SimFault::kNone;
    });
    const Status status = DeliverRest(target);
    if (!status.ok()) {
      CHECK(status.code() == Code::kNoSpace);
      REQUIRE(DeliverRest(target).ok());
    }
    CHECK(target.Visible() == kAll);
    if (status.ok() && target.files().operations() < at) break;
  }
}

}  // namespace
}  // namespace weir::connectors
