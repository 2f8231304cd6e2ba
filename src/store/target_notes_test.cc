// F and whereabouts of targets whose receipt can be lost: what is durable when, what is forgotten
// with what, and the way from format 1.
#include <doctest/doctest.h>

#include "sqlite/database.h"
#include "store/testing/world.h"

namespace weir::store {
namespace {

using testing::AskedFor;
using testing::Frozen;
using testing::Start;
using testing::World;

protocol::Whereabouts At(int64_t end) { return {"C1", {{"out", "id-1", {end, end}}}}; }

InflightNote Flight(std::optional<protocol::TargetPosition> from, protocol::TargetPosition to,
                    int64_t end) {
  return {"kafka", "weir-box-p-C1", from, to, At(end)};
}
AckedNote Ack(protocol::TargetPosition to, int64_t end) {
  return {"kafka", to, std::nullopt, At(end)};
}

TEST_CASE("store: F survives a kill, and is forgotten with the A that proves it") {
  World world;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
    for (EpochId id = 1; id <= 3; ++id) REQUIRE((*store)->Seal(Frozen(id, 4, "kafka")).ok());
    CHECK((*store)->TargetNotes().empty());
    REQUIRE((*store)->WriteInflight(Flight(std::nullopt, {1, 4}, 10), {}).ok());
  }
  world.PowerCut(1);
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
    const auto notes = (*store)->TargetNotes();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].at == At(10));
    REQUIRE(notes[0].in_flight);
    CHECK(notes[0].in_flight->to == protocol::TargetPosition{1, 4});
    CHECK(!notes[0].in_flight->from);
    CHECK((*store)->AckedNotes().empty());
    // The next F comes with the A that it begins at, in one transaction.
    REQUIRE((*store)->WriteInflight(Flight({{1, 4}}, {2, 2}, 20), {Ack({1, 4}, 15)}).ok());
  }
  world.Kill();
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
    const auto notes = (*store)->TargetNotes();
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].at == At(15));
    REQUIRE(notes[0].in_flight);
    CHECK(notes[0].in_flight->from == protocol::TargetPosition{1, 4});
    CHECK(notes[0].in_flight->at == At(20));
    REQUIRE((*store)->AckedNotes().size() == 1);
    FrozenEpoch epoch = Frozen(4, 4, "kafka");
    epoch.acked = {Ack({2, 2}, 30)};
    REQUIRE((*store)->Seal(epoch).ok());
    CHECK(!(*store)->TargetNotes()[0].in_flight);
  }
  world.Kill();
  const auto store = Start(world.env(), AskedFor());
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
  CHECK(!(*store)->TargetNotes()[0].in_flight);
  CHECK((*store)->TargetNotes()[0].at == At(30));
}

TEST_CASE(
    "store: an A that waited with its epoch for space does not forget the F that was written "
    "meanwhile") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
  REQUIRE((*store)->Seal(Frozen(1, 4, "kafka")).ok());
  REQUIRE((*store)->Seal(Frozen(2, 4, "kafka")).ok());
  FrozenEpoch waiting = Frozen(3, 4, "kafka");
  waiting.acked = {Ack({1, 4}, 15)};
  REQUIRE((*store)->WriteInflight(Flight({{1, 4}}, {2, 4}, 20), {Ack({1, 4}, 15)}).ok());
  REQUIRE((*store)->Seal(waiting).ok());
  REQUIRE((*store)->TargetNotes()[0].in_flight);
  REQUIRE((*store)->WriteAcked({Ack({2, 4}, 25)}).ok());
  REQUIRE((*store)->WriteAcked({Ack({1, 4}, 15)}).ok());
  CHECK((*store)->AckedNotes()[0].position == protocol::TargetPosition{2, 4});
  CHECK((*store)->TargetNotes()[0].at == At(25));
}

TEST_CASE("store: a fresh run starts without A and F, and knows every name that was used before") {
  World world;
  const auto fresh = [] {
    Asked asked = AskedFor();
    asked.fresh = true;
    return asked;
  };
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
    REQUIRE((*store)->Seal(Frozen(1, 4, "kafka")).ok());
    InflightNote old = Flight(std::nullopt, {1, 4}, 10);
    old.session = "old-name";
    REQUIRE((*store)->WriteInflight(old, {}).ok());
    REQUIRE((*store)->WriteAcked({Ack({1, 4}, 12)}).ok());
  }
  for (int life = 0; life < 3; ++life) {
    const auto store = Start(world.env(), fresh());
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
    CHECK((*store)->TargetNotes().empty());
    CHECK((*store)->SessionNames().front() == "old-name");
    const EpochId id = (*store)->run().next_epoch;
    REQUIRE((*store)->Seal(Frozen(id, 4, "kafka")).ok());
    REQUIRE((*store)->WriteInflight(Flight(std::nullopt, {id, 4}, 10), {}).ok());
    REQUIRE((*store)->WriteAcked({Ack({id, 4}, 12)}).ok());
    // One row a name: restarting for ever does not grow the table.
    CHECK((*store)->SessionNames() == std::vector<std::string>{"old-name", "weir-box-p-C1"});
  }
  sqlite::OpenOptions options;
  options.vfs = world.env().sqlite_vfs;
  auto database = sqlite::Database::Open("/state/state.db", options);
  REQUIRE(database);
  CHECK((*database)->QueryInt("SELECT count(*) FROM target").value() == 2);
}

TEST_CASE("store: an epoch keeps each sink's watermark; epochs of format 2 have none") {
  World world;
  const std::vector<std::string> asked = {"other", "out"};
  const auto watermarks = [&](Store& store) {
    std::vector<TimestampMs> got;
    const auto epochs = store.EpochsWithRows(asked, 0, 10);
    REQUIRE(epochs);
    for (const Store::EpochRows& epoch : *epochs)
      got.insert(got.end(), epoch.watermarks.begin(), epoch.watermarks.end());
    return got;
  };
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    REQUIRE((*store)->Seal(Frozen(1, 4, "kafka")).ok());  // as format 2 wrote it: no watermark
  }
  sqlite::OpenOptions options;
  options.vfs = world.env().sqlite_vfs;
  {
    auto database = sqlite::Database::Open("/state/state.db", options);
    REQUIRE(database);
    REQUIRE((*database)->Execute("PRAGMA user_version=2").ok());
  }
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
    FrozenEpoch second = Frozen(2, 3, "kafka");
    second.sinks[0].watermark = 1234567;
    FrozenSink other = second.sinks[0];
    other.sink = "other";
    other.watermark = -5;
    second.sinks.push_back(other);
    REQUIRE((*store)->Seal(second).ok());
    CHECK(watermarks(**store) ==
          std::vector<TimestampMs>{kWatermarkNone, kWatermarkNone, -5, 1234567});
  }
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  CHECK(watermarks(**store) ==
        std::vector<TimestampMs>{kWatermarkNone, kWatermarkNone, -5, 1234567});
  CHECK(testing::CheckChain(world.env()).ok());
  auto database = sqlite::Database::Open("/state/state.db", options);
  REQUIRE(database);
  CHECK((*database)->QueryInt("PRAGMA user_version").value() == kFormatVersion);
}

TEST_CASE("store: a directory of format 1 is upgraded by a start, whole or not at all") {
  for (uint64_t crash_at = 0; crash_at < 40; crash_at += 3) {
    World world;
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
      REQUIRE((*store)->Seal(Frozen(1, 4, "kafka")).ok());
      REQUIRE((*store)->WriteAcked({{"kafka", {1, 2}, std::nullopt}}).ok());
    }
    sqlite::OpenOptions options;
    options.vfs = world.env().sqlite_vfs;
    {
      auto database = sqlite::Database::Open("/state/state.db", options);
      REQUIRE(database);
      REQUIRE((*database)->Execute("DROP TABLE target").ok());
      REQUIRE((*database)->Execute("PRAGMA user_version=1").ok());
    }
    CAPTURE(crash_at);
    OpenOptions look = testing::Options();
    look.read_only = true;
    look.create = false;
    {
      const auto reader = Store::Open(world.env(), look);
      REQUIRE(reader);
      CHECK((*reader)->AckedNotes().size() == 1);
    }
    if (crash_at > 0) {
      world.files().CrashAt(world.files().operations() + crash_at);
      (void)Start(world.env(), AskedFor());
      world.PowerCut(crash_at);
    }
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE_MESSAGE(store, (store ? "" : store.error().message()));
      CHECK((*store)->AckedNotes()[0].position == protocol::TargetPosition{1, 2});
      REQUIRE((*store)->WriteInflight(Flight({{1, 2}}, {1, 4}, 10), {}).ok());
      CHECK((*store)->TargetNotes()[0].in_flight);
    }
  }
}

}  // namespace
}  // namespace weir::store
