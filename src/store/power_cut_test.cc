// A store and a spool on a disk that dies: killed or cut in front of every operation, and rerun.
// What was acknowledged as sealed must be there, whole: its chain, its state, its rows.
#include <doctest/doctest.h>

#include "store/testing/spool_world.h"
#include "store/testing/world.h"

namespace weir::store {
namespace {

using testing::AskedFor;
using testing::Options;
using testing::SpoolLife;
using testing::World;

constexpr EpochId kEpochs = 7;
constexpr uint32_t kRowsAnEpoch = 3;

// "0=..;" what the state of bucket b must be after `id` epochs (testing::Frozen).
std::string ExpectedState(EpochId id) {
  std::string out;
  for (uint32_t slot = 0; slot < 8; ++slot) {
    EpochId newest = 0;
    for (EpochId e = 1; e <= id; ++e) newest = e % 8 == slot ? e : newest;
    if (newest != 0) out += std::to_string(slot) + "=value " + std::to_string(newest) + ";";
  }
  return out;
}

std::string ExpectedRows(EpochId id) {
  std::string out;
  for (uint64_t row = 0; row < id * kRowsAnEpoch; ++row) {
    out += (row == 0 ? "" : ",") + std::to_string(row);
  }
  return out;
}

// Too small a disk for the reserve: writing it in each of a thousand lives would be most of the
// test.
constexpr uint64_t kDiskBytes = 6 << 20;

// What a start does up to "go on", and everything that must be true then. `sealed`: the last epoch
// that some life was told is sealed; grows here.
Status Live(World& world, EpochId& sealed, bool& fresh_again) {
  WEIR_ASSIGN_OR_RETURN(auto store, Store::Open(world.env(), Options()));
  WEIR_ASSIGN_OR_RETURN(const protocol::TakeoverFacts facts, store->GatherFacts(AskedFor()));
  const protocol::TakeoverDecision decision = protocol::DecideTakeover(facts);
  const bool fresh = decision.action == protocol::TakeoverAction::kFresh;
  if (!fresh && decision.action != protocol::TakeoverAction::kResume) {
    return Status(Code::kInternal, decision.reason);
  }
  if (fresh && sealed > 0) return Status(Code::kInternal, "restores nothing");
  SpoolLife life(world);
  life.options.segment_bytes = 300;
  const auto newest = store->NewestSealed();
  const std::vector<protocol::LineageRecord> lineages = store->Lineages();
  life.context.fresh = fresh;
  life.context.lineages = &lineages;
  if (!fresh) {
    if (newest->id < sealed || newest->id > sealed + 1) {
      return Status(Code::kInternal,
                    "sealed " + std::to_string(sealed) + ", found " + std::to_string(newest->id));
    }
    sealed = newest->id;
    life.context.lineage = lineages.back().lineage;
    life.sealed = newest->id;
    for (const SinkState& sink : newest->sinks) {
      if (sink.sink == "rows") life.blob = sink.blob;
    }
  }
  WEIR_RETURN_IF_ERROR(life.Inspect());
  WEIR_RETURN_IF_ERROR(store->BeginRun(AskedFor(), decision, life.spool().HighestEpochSeen(), {}));
  fresh_again |= fresh;
  life.context.lineage = store->run().lineage;
  life.context.base = store->run().base;
  WEIR_RETURN_IF_ERROR(life.spool().Recover(life.context));
  WEIR_ASSIGN_OR_RETURN(const std::string rows, life.Read({0, 0}, {1000, 1000}));
  WEIR_ASSIGN_OR_RETURN(const std::string state, testing::ReadState(*store, "window:w", "b"));
  if (rows != ExpectedRows(sealed)) return Status(Code::kInternal, "rows " + rows);
  if (state != ExpectedState(sealed)) return Status(Code::kInternal, "state " + state);

  // Ids may have gaps after a fresh start; the content is a function of how many were sealed.
  const EpochId shift = store->run().next_epoch - 1 - sealed;
  while (sealed < kEpochs) {
    const EpochId n = sealed + 1;
    FrozenEpoch epoch = testing::Frozen(n, 2);
    epoch.id = n + shift;
    WEIR_RETURN_IF_ERROR(
        life.Stage(static_cast<int64_t>((n - 1) * kRowsAnEpoch), kRowsAnEpoch, 40));
    const auto extent = life.spool().Freeze(epoch.id, n == kEpochs);
    WEIR_RETURN_IF_ERROR(life.spool().Sync());
    epoch.sinks.push_back({"rows", *extent, "db"});
    WEIR_RETURN_IF_ERROR(store->Seal(epoch));
    ++sealed;
    (void)life.spool().Sealed(epoch.id);
    WEIR_ASSIGN_OR_RETURN(const bool more, store->Compact(4 << 20));
    (void)more;
  }
  return Status::Ok();
}

bool IsInternal(const Status& status) { return status.code() == Code::kInternal; }

void CrashEverywhere(bool power_cut, uint64_t seed, int& lost) {
  uint64_t operations = 0;
  {
    World world;
    world.files().SetCapacity("/", kDiskBytes);
    EpochId sealed = 0;
    bool fresh = false;
    REQUIRE(Live(world, sealed, fresh).ok());
    operations = world.files().operations();
  }
  REQUIRE(operations > 50);
  for (uint64_t at = 1; at <= operations; ++at) {
    World world;
    world.files().SetCapacity("/", kDiskBytes);
    world.files().CrashAt(at);
    EpochId sealed = 0;
    bool fresh = false;
    const Status died = Live(world, sealed, fresh);
    CAPTURE(at);
    CAPTURE(seed);
    CAPTURE(died.ToString());
    REQUIRE(!IsInternal(died));
    io::PowerCutReport report;
    if (power_cut) {
      world.PowerCut(seed * 1000003 + at, &report);
    } else {
      world.Kill();
    }
    lost += report.writes_lost + report.writes_torn + report.directory_changes_lost;
    const Status lived = Live(world, sealed, fresh);
    CAPTURE(lived.ToString());
    REQUIRE(lived.ok());
    REQUIRE(testing::CheckChain(world.env()).ok());
  }
}

// "No space" at one operation: nothing is unknown, the same object is tried again, and what comes
// out is what would have come out.
Status LiveThroughFullDisk(World& world, const std::function<void()>& space_returns) {
  const auto patiently = [&](const std::function<Status()>& act) {
    for (int attempt = 0;; ++attempt) {
      const Status status = act();
      if (status.code() != Code::kNoSpace || attempt > 3) return status;
      space_returns();
    }
  };
  std::unique_ptr<Store> store;
  WEIR_RETURN_IF_ERROR(patiently([&]() -> Status {
    store.reset();
    WEIR_ASSIGN_OR_RETURN(store, testing::Start(world.env(), AskedFor()));
    return Status::Ok();
  }));
  SpoolLife life(world);
  life.context.fresh = true;
  life.context.lineage = store->run().lineage;
  WEIR_RETURN_IF_ERROR(patiently([&] { return life.Start(); }));
  for (EpochId id = 1; id <= 4; ++id) {
    WEIR_RETURN_IF_ERROR(life.Stage(static_cast<int64_t>((id - 1) * kRowsAnEpoch), kRowsAnEpoch));
    FrozenEpoch epoch = testing::Frozen(id, 2);
    epoch.sinks.push_back({"rows", *life.spool().Freeze(id, false), "db"});
    WEIR_RETURN_IF_ERROR(patiently([&] { return life.spool().Sync(); }));
    WEIR_RETURN_IF_ERROR(patiently([&] { return store->Seal(epoch); }));
    (void)life.spool().Sealed(id);
    WEIR_RETURN_IF_ERROR(patiently([&]() -> Status {
      WEIR_ASSIGN_OR_RETURN(const bool more, store->Compact(4 << 20));
      (void)more;
      return Status::Ok();
    }));
  }
  WEIR_RETURN_IF_ERROR(patiently([&] { return store->WriteAcked({{"db", {4, 3}, {}}}); }));
  WEIR_RETURN_IF_ERROR(patiently([&] { return store->WriteFinished(); }));
  WEIR_ASSIGN_OR_RETURN(const std::string rows, life.Read({0, 0}, {1000, 1000}));
  if (rows != ExpectedRows(4)) return Status(Code::kInternal, "rows " + rows);
  return testing::CheckChain(world.env());
}

TEST_CASE("full disk: at every operation, nothing is unknown and nothing is lost") {
  uint64_t operations = 0;
  {
    World world;
    world.files().SetCapacity("/", kDiskBytes);
    REQUIRE(LiveThroughFullDisk(world, [] {}).ok());
    operations = world.files().operations();
  }
  uint64_t met = 0;
  for (uint64_t at = 1; at <= operations; ++at) {
    World world;
    world.files().SetCapacity("/", kDiskBytes);
    bool full = false;
    world.files().OnOperation([&](const io::SimOp& op) {
      full |= op.number == at;
      const bool needs_space = op.kind == io::SimOpKind::kWrite ||
                               op.kind == io::SimOpKind::kCreate ||
                               op.kind == io::SimOpKind::kMakeDirectory;
      return full && needs_space ? io::SimFault::kNoSpace : io::SimFault::kNone;
    });
    const Status status = LiveThroughFullDisk(world, [&] {
      ++met;
      full = false;
      world.files().OnOperation(nullptr);
    });
    CAPTURE(at);
    CAPTURE(status.ToString());
    REQUIRE(status.ok());
  }
  CHECK(met > operations / 3);
}

TEST_CASE("full disk: a start lives on the reserve") {
  World world;
  {
    const auto store = testing::Start(world.env(), AskedFor());
    REQUIRE(store);
    REQUIRE((*store)->Seal(testing::Frozen(1)).ok());
    // Killed with a log, so that the next start has to write before it can do anything.
    world.files().CrashAt(world.files().operations() + 1);
  }
  world.Kill();
  REQUIRE(world.files().Exists("/state/reserve"));
  world.files().SetCapacity("/", world.files().UsedBytes("/") - (1 << 20));
  {
    const auto store = testing::Start(world.env(), AskedFor());
    REQUIRE(store);
    CHECK((*store)->run().sealed == 1);
    CHECK(!world.files().Exists("/state/reserve"));
    world.files().CrashAt(world.files().operations() + 1);
  }
  world.Kill();
  // Nothing left to free: known to have failed, nothing is unknown, and with room it goes on.
  world.files().SetCapacity("/", 4096);
  const auto full = testing::Start(world.env(), AskedFor());
  REQUIRE(!full);
  CHECK(full.error().code() == Code::kNoSpace);
  world.files().SetCapacity("/", 1 << 30);
  const auto store = testing::Start(world.env(), AskedFor());
  REQUIRE(store);
  CHECK((*store)->run().sealed == 1);
}

TEST_CASE("I/O error: sticks, and the next life has every acknowledged seal") {
  uint64_t operations = 0;
  EpochId sealed = 0;
  bool fresh = false;
  {
    World world;
    world.files().SetCapacity("/", kDiskBytes);
    REQUIRE(Live(world, sealed, fresh).ok());
    operations = world.files().operations();
  }
  for (uint64_t at = 20; at <= operations; at += 3) {
    for (const io::SimFault fault : {io::SimFault::kIoError, io::SimFault::kSyncLosesPages}) {
      World world;
      world.files().SetCapacity("/", kDiskBytes);
      world.files().FailAt(at, fault);
      sealed = 0;
      const Status died = Live(world, sealed, fresh);
      CAPTURE(at);
      CAPTURE(died.ToString());
      REQUIRE(!IsInternal(died));
      world.PowerCut(at);
      const Status lived = Live(world, sealed, fresh);
      CAPTURE(lived.ToString());
      REQUIRE(lived.ok());
    }
  }
}

TEST_CASE("power cut: whatever was lost, the acknowledged seal is there and whole") {
  int lost = 0;
  for (uint64_t seed = 1; seed <= 3; ++seed) CrashEverywhere(true, seed, lost);
  CHECK(lost > 100);  // else it proves nothing
}

TEST_CASE("kill: in front of every operation, and the rerun goes on") {
  int lost = 0;
  CrashEverywhere(false, 1, lost);
}

// The page cache shows a commit whose fsync failed. The next life believes it only once it has
// written it anew: a power cut among its first steps must not leave half of it.
TEST_CASE(
    "I/O error: a commit that only the page cache holds is written anew before it is believed") {
  std::vector<uint64_t> log_syncs;
  EpochId sealed = 0;
  bool fresh = false;
  {
    World world;
    world.files().SetCapacity("/", kDiskBytes);
    REQUIRE(Live(world, sealed, fresh).ok());
    for (const io::SimOp& op : world.files().trace()) {
      if (op.kind == io::SimOpKind::kSync && op.path.ends_with("state.db-wal")) {
        log_syncs.push_back(op.number);
      }
    }
  }
  REQUIRE(log_syncs.size() >= 5);
  for (const uint64_t lost : {log_syncs[2], log_syncs[3], log_syncs[4]}) {
    for (uint64_t steps = 1; steps <= 24; ++steps) {
      World world;
      world.files().SetCapacity("/", kDiskBytes);
      world.files().FailAt(lost, io::SimFault::kSyncLosesPages);
      sealed = 0;
      CHECK(Live(world, sealed, fresh).code() == Code::kUnknownOutcome);
      world.Kill();  // exit 74, and started again: the cache is still there
      world.files().CrashAt(world.files().operations() + steps);
      CHECK(!IsInternal(Live(world, sealed, fresh)));
      world.PowerCut(steps);
      const Status lived = Live(world, sealed, fresh);
      CAPTURE(lost);
      CAPTURE(steps);
      CAPTURE(lived.ToString());
      REQUIRE(lived.ok());
      REQUIRE(testing::CheckChain(world.env()).ok());
    }
  }
}

}  // namespace
}  // namespace weir::store
