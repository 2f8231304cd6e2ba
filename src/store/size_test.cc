// What a seal costs, and that nothing grows with the length of a life: the log, the epoch rows, the
// deltas of a bucket.
#include <doctest/doctest.h>

#include "io/posix_files.h"
#include "io/real_clock.h"
#include "sqlite/database.h"
#include "state/blob.h"
#include "store/testing/world.h"

namespace weir::store {
namespace {

using testing::AskedFor;
using testing::Frozen;
using testing::Options;
using testing::ReadState;
using testing::Start;
using testing::StateBlob;
using testing::World;

uint64_t WrittenSince(World& world, uint64_t operation) {
  uint64_t bytes = 0;
  for (const io::SimOp& op : world.files().trace()) {
    if (op.number > operation && op.kind == io::SimOpKind::kWrite) bytes += op.bytes;
  }
  return bytes;
}

int64_t Count(World& world, const char* sql) {
  sqlite::OpenOptions options;
  options.vfs = world.env().sqlite_vfs;
  options.access = sqlite::Access::kReadOnly;
  const auto database = sqlite::Database::Open("/state/state.db", options);
  REQUIRE(database);
  return (*database)->QueryInt(sql).value_or(-1);
}

TEST_CASE("seal: the fixed cost is at most 16 KiB written, at every seal") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  // A usual pipeline: books of eight nodes, two sinks, one target, positions of a source.
  std::string body = "{\"watermark\":1700000000000,\"books\":{";
  while (body.size() < 1500) body += "\"in\":123456789,\"out\":123456789,";
  uint64_t worst = 0;
  uint64_t total = 0;
  for (EpochId id = 1; id <= 600; ++id) {
    FrozenEpoch epoch = Frozen(id, 10, "kafka");
    epoch.body = body;
    epoch.state.push_back({"scan:orders", {"p", false, StateBlob(1, "offset 1234567"), 1}});
    epoch.sinks.push_back({"dead", {}, ""});
    epoch.acked = {{"kafka", {id - 1, 10}, std::nullopt}};
    const uint64_t before = world.files().operations();
    REQUIRE((*store)->Seal(epoch).ok());
    const uint64_t bytes = WrittenSince(world, before);
    // A checkpoint copies what the log holds; it is not the seal's.
    if ((*store)->WalBytes() > 0) worst = std::max(worst, bytes);
    total += bytes;
    while (*(*store)->Compact(4 << 20)) {
    }
  }
  CAPTURE(total / 600);  // about 8.7 KiB

  CHECK(worst <= 16 << 10);
}

TEST_CASE("seal: rows that nobody can ask for any more go, those above A stay") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  const auto seal_to = [&](EpochId from, EpochId to) {
    for (EpochId id = from; id <= to; ++id) {
      FrozenEpoch epoch = Frozen(id, 1, "kafka");
      epoch.state.clear();
      REQUIRE((*store)->Seal(epoch).ok());
      REQUIRE((*store)->Compact(4 << 20).has_value());
    }
  };
  seal_to(1, 1600);
  CHECK(Count(world, "SELECT count(*) FROM epoch") == 1600);  // nothing is acked
  REQUIRE((*store)->WriteAcked({{"kafka", {400, 1}, std::nullopt}}).ok());
  seal_to(1601, 1602);
  CHECK(Count(world, "SELECT min(id) FROM epoch") == 400);  // the receipt's own hash stays
  CHECK((*store)->HashOf((*store)->run().lineage, 400).has_value());
  REQUIRE((*store)->WriteAcked({{"kafka", {1602, 1}, std::nullopt}}).ok());
  seal_to(1603, 4000);
  CHECK(Count(world, "SELECT min(id) FROM epoch") <= 1602);
  CHECK(Count(world, "SELECT min(id) FROM epoch") > 1602 - 256);
  REQUIRE((*store)->WriteAcked({{"kafka", {4000, 1}, std::nullopt}}).ok());
  seal_to(4001, 4001);
  CHECK(Count(world, "SELECT count(*) FROM epoch") <= 1000 + 256 + 1);
  CHECK(testing::CheckChain(world.env()).ok());
}

TEST_CASE("compaction: deltas are merged when they outweigh their base, and read the same") {
  World world;
  std::string expected;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    for (EpochId id = 1; id <= 100; ++id) {
      REQUIRE((*store)->Seal(Frozen(id)).ok());
      const auto before = ReadState(**store, "window:w", "b");
      while (*(*store)->Compact(4 << 20)) {
      }
      REQUIRE(ReadState(**store, "window:w", "b") == *before);
      expected = *before;
    }
    CHECK(Count(world, "SELECT count(*) FROM blob") < 12);
    CHECK(!*(*store)->Compact(4 << 20));
  }
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  CHECK(ReadState(**store, "window:w", "b") == expected);
}

// A bucket much larger than a slice: entries 0.., each about a kilobyte, and deletions.
FrozenEpoch LargeEpoch(EpochId id, uint32_t slots) {
  FrozenEpoch epoch = Frozen(id);
  BlobWriter out("meta " + std::to_string(id));
  for (uint32_t slot = 0; slot < slots; ++slot) {
    if ((slot + id) % 7 == 0) {
      out.Delete(slot);
    } else {
      out.Put(slot, "k", "f", std::to_string(id) + std::string(1000, 'x'));
    }
  }
  epoch.state = {{"join:j", {"B", false, out.Take(), slots}}};
  return epoch;
}

TEST_CASE("compaction: a large bucket goes in slices, each within its bound, across deaths") {
  constexpr uint64_t kSlice = 64 << 10;
  constexpr uint32_t kSlots = 300;
  for (const bool die_in_between : {false, true}) {
    World world;
    auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    for (EpochId id = 1; id <= 3; ++id) REQUIRE((*store)->Seal(LargeEpoch(id, kSlots)).ok());
    const auto before = ReadState(**store, "join:j", "B");
    int slices = 0;
    for (;; ++slices) {
      const uint64_t operation = world.files().operations();
      const auto more = (*store)->Compact(kSlice);
      REQUIRE(more.has_value());
      if (!*more) break;
      CHECK(WrittenSince(world, operation) < kSlice + (32 << 10));
      REQUIRE(ReadState(**store, "join:j", "B") == *before);
      if (die_in_between && slices == 2) {
        store->reset();
        world.Kill();
        store = Start(world.env(), AskedFor());
        REQUIRE(store);
        REQUIRE(ReadState(**store, "join:j", "B") == *before);
      }
    }
    CHECK(slices > 3);
    CHECK(Count(world, "SELECT count(*) FROM blob WHERE part < 0") == 0);
    CHECK(Count(world, "SELECT sum(length(data)) FROM blob") < 1100 * kSlots);
  }
}

TEST_CASE("compaction: a seal in the middle of a merge goes behind it, or ends it") {
  constexpr uint64_t kSlice = 64 << 10;
  for (const bool drop : {false, true}) {
    World world;
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    for (EpochId id = 1; id <= 3; ++id) REQUIRE((*store)->Seal(LargeEpoch(id, 300)).ok());
    REQUIRE(*(*store)->Compact(kSlice));
    REQUIRE(*(*store)->Compact(kSlice));
    FrozenEpoch epoch = Frozen(4);
    epoch.state = {{"join:j", {"B", drop, drop ? "" : StateBlob(5, "newest"), 1}}};
    REQUIRE((*store)->Seal(epoch).ok());
    const auto after_seal = ReadState(**store, "join:j", "B");
    CHECK(after_seal->empty() == drop);
    while (*(*store)->Compact(kSlice)) {
    }
    CHECK(ReadState(**store, "join:j", "B") == *after_seal);
    if (drop) CHECK(Count(world, "SELECT count(*) FROM blob") == 0);
  }
}

TEST_CASE("compaction: a damaged blob stops it, nothing is merged over it") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  FrozenEpoch bad = Frozen(1);
  bad.state[0].delta.blob = "no blob of ours";
  REQUIRE((*store)->Seal(bad).ok());
  REQUIRE((*store)->Seal(Frozen(2)).ok());
  const auto compacted = (*store)->Compact(4 << 20);
  REQUIRE(!compacted);
  CHECK(compacted.error().code() == Code::kCorruption);
  CHECK(Count(world, "SELECT count(*) FROM blob") == 2);
}

// ---- on real files: SQLite's own locks are needed ----

std::unique_ptr<io::Worker> Inline(const char*, io::CompletionQueue& queue) {
  return io::NewInlineWorker(queue);
}

struct RealWorld {
  io::PosixFiles files;
  io::RealClock clock;
  io::RealRandom random;
  io::RealMachine machine{files};
  io::CompletionQueue completions;
  std::string directory;
  RealWorld() {
    REQUIRE(sqlite::InitializeSqlite().ok());
    uint64_t name = 0;
    random.Fill(&name, sizeof name);
    directory = "/tmp/weir-store-test-" + std::to_string(name);
  }
  ~RealWorld() {
    const auto names = files.List(directory);
    for (const std::string& file : names.value_or(std::vector<std::string>())) {
      (void)files.Remove(io::JoinPath(directory, file));
    }
    (void)files.Remove(directory);
  }
  io::Env env() { return {files, clock, random, machine, completions, &Inline, "weir"}; }
  Result<std::unique_ptr<Store>> Begin() {
    OpenOptions options = Options();
    options.directory = directory;
    WEIR_ASSIGN_OR_RETURN(auto store, Store::Open(env(), options));
    WEIR_ASSIGN_OR_RETURN(const auto facts, store->GatherFacts(AskedFor()));
    WEIR_RETURN_IF_ERROR(store->BeginRun(AskedFor(), protocol::DecideTakeover(facts), 0, {}));
    return store;
  }
  uint64_t LogBytes() {
    const auto stat = files.Stat(directory + "/state.db-wal");
    return stat ? stat->size : 0;
  }
};

TEST_CASE("log: grows behind a reader, is seen to, and shrinks when the reader has left") {
  RealWorld world;
  const auto store = world.Begin();
  REQUIRE(store);
  EpochId id = 0;
  const auto seal = [&](int count) {
    for (int i = 0; i < count; ++i) {
      FrozenEpoch epoch = Frozen(++id);
      epoch.state = {{"w", {"b", false, StateBlob(0, std::string(1 << 20, 'x')), 1}}};
      REQUIRE((*store)->Seal(epoch).ok());
      while (*(*store)->Compact(4 << 20)) {
      }
    }
  };
  uint64_t largest = 0;
  for (int i = 0; i < 30; ++i) {
    seal(1);
    largest = std::max(largest, (*store)->WalBytes());
  }
  CHECK(largest < kWalDegradedBytes / 4);
  {
    sqlite::OpenOptions shell;
    shell.access = sqlite::Access::kReadOnly;
    const auto reader = sqlite::Database::Open(world.directory + "/state.db", shell);
    REQUIRE(reader);
    REQUIRE((*reader)->BeginRead().ok());
    REQUIRE((*reader)->QueryInt("SELECT count(*) FROM epoch").has_value());
    seal(30);
    CHECK((*store)->WalBytes() > 40u << 20);
    REQUIRE((*reader)->Rollback().ok());
  }
  seal(3);
  CHECK((*store)->WalBytes() < kWalDegradedBytes / 4);
  CHECK(world.LogBytes() <= kWalDegradedBytes / 4);
}

TEST_CASE("real files: a life after a life, and a busy directory names its holder") {
  RealWorld world;
  for (EpochId id = 1; id <= 3; ++id) {
    const auto store = world.Begin();
    REQUIRE(store);
    CHECK((*store)->run().sealed == id - 1);
    REQUIRE((*store)->Seal(Frozen(id)).ok());
    const auto second = world.Begin();
    REQUIRE(!second);
    CHECK(second.error().code() == Code::kBusy);
    CHECK(second.error().message().find(std::to_string(world.machine.ProcessId())) !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace weir::store
