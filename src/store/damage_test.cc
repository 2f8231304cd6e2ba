// Files of the state that are not what was written: found, named, kept - never a silent fresh
// start, never a crash. (Field cases: a zero-length or zero-filled file, a backup without its log,
// an older binary on a newer directory.)
#include <doctest/doctest.h>

#include "base/log.h"
#include "sqlite/database.h"
#include "store/segment.h"
#include "store/testing/spool_world.h"
#include "store/testing/world.h"

namespace weir::store {
namespace {

using testing::AskedFor;
using testing::Frozen;
using testing::kSpoolDirectory;
using testing::Options;
using testing::SpoolLife;
using testing::Start;
using testing::World;

std::string Content(World& world, const std::string& path) {
  const auto bytes = io::ReadFile(world.files(), path, 64 << 20);
  return bytes ? *bytes : "<missing>";
}

// Every file below /state but the readers' index, by name, with its bytes.
std::string Snapshot(World& world) {
  std::string out;
  for (const char* const directory : {"/state", "/state/spool", kSpoolDirectory}) {
    const auto names = world.files().List(directory);
    if (!names) continue;
    for (const std::string& name : *names) {
      if (name == "state.db-shm") continue;
      const auto stat = world.files().Stat(io::JoinPath(directory, name));
      out += io::JoinPath(directory, name) + " " + std::to_string(stat->mtime_ns) + " " +
             (stat->is_directory ? "dir" : Content(world, io::JoinPath(directory, name))) + "\n";
    }
  }
  return out;
}

// A run that sealed `epochs` epochs and was killed, or stopped cleanly (then there is no log).
void OldRun(World& world, EpochId epochs, bool clean) {
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    for (EpochId id = 1; id <= epochs; ++id) REQUIRE((*store)->Seal(Frozen(id)).ok());
    if (clean) REQUIRE((*store)->WriteCleanStop().ok());
    if (!clean) world.files().CrashAt(world.files().operations() + 1);  // no checkpoint at the end
  }
  world.Kill();
}

using Damage =
    std::optional<std::string> (*)(std::string);  // new content; nullopt: the file is gone
std::string Zeros(size_t n) { return std::string(n, '\0'); }
std::optional<std::string> Empty(std::string) { return ""; }
std::optional<std::string> Gone(std::string) { return std::nullopt; }
std::optional<std::string> AllZeros(std::string s) { return Zeros(s.size()); }
std::optional<std::string> HeadZeros(std::string s) {
  const size_t n = std::min<size_t>(s.size(), 4096);
  return s.replace(0, n, Zeros(n));
}
std::optional<std::string> TailZeros(std::string s) {
  const size_t n = std::min<size_t>(s.size(), 4096);
  return s.replace(s.size() - n, n, Zeros(n));
}
std::optional<std::string> Half(std::string s) { return s.substr(0, s.size() / 2); }

void Apply(World& world, const std::string& path, Damage damage) {
  const std::optional<std::string> bytes = damage(Content(world, path));
  REQUIRE(world.files().Remove(path).ok());
  if (bytes) world.files().PutFile(path, *bytes);
}

TEST_CASE("damage: state.db that is not what was written is refused, named and kept") {
  struct Case {
    const char* name;
    Damage damage;
    bool reboot;
  };
  const Case cases[] = {{"0 bytes", Empty, false},
                        {"missing", Gone, false},
                        {"zeros", AllZeros, false},
                        {"first 4096 zeros", HeadZeros, false},
                        {"last 4096 zeros", TailZeros, true},
                        {"cut in half", Half, true}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    OldRun(world, 40, false);
    Apply(world, "/state/state.db-wal", Gone);
    Apply(world, "/state/state.db", c.damage);
    if (c.reboot) world.PowerCut(1);
    const std::string before = Content(world, "/state/state.db");
    for (int attempt = 0; attempt < 2; ++attempt) {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(!store);
      CHECK(store.error().code() == Code::kCorruption);
      CHECK(store.error().message().find("state.db") != std::string::npos);
      CHECK(store.error().message().find("--quarantine") != std::string::npos);
    }
    CHECK(Content(world, "/state/state.db") == before);
  }
}

TEST_CASE("damage: a log that is short, zero or missing gives the last epoch that is left") {
  for (const Damage damage : {Empty, Gone, AllZeros, HeadZeros, TailZeros, Half}) {
    World world;
    OldRun(world, 12, false);
    const bool has_log = Content(world, "/state/state.db-wal").size() > 32;
    REQUIRE(has_log);
    Apply(world, "/state/state.db-wal", damage);
    world.PowerCut(3);
    const auto store = Start(world.env(), AskedFor());
    // Where nothing is left that was sealed, the run row is gone too: then a run was here, and no
    // fresh start follows by itself.
    if (!store) {
      CAPTURE(store.error().ToString());
      CHECK(store.error().code() == Code::kCorruption);
      continue;
    }
    CHECK(testing::CheckChain(world.env()).ok());
  }
}

TEST_CASE("damage: quarantine never takes a name that is in use") {
  World world;
  OldRun(world, 1, true);
  world.files().PutDirectory("/state.damaged-5");
  CHECK(Quarantine(world.files(), "/state", 5) == "/state.damaged-5-1");
  CHECK(Quarantine(world.files(), "/state", 5).error().code() == Code::kNotFound);
}

TEST_CASE("damage: a state blob whose bytes changed is found when it is read") {
  World world;
  OldRun(world, 3, true);
  std::string bytes = Content(world, "/state/state.db");
  const size_t at = bytes.find("value 2");
  REQUIRE(at != std::string::npos);
  bytes[at] = 'V';
  REQUIRE(world.files().Remove("/state/state.db").ok());
  world.files().PutFile("/state/state.db", bytes);
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  const auto state = testing::ReadState(**store, "window:w", "b");
  REQUIRE(!state);
  CHECK(state.error().code() == Code::kCorruption);
  for (const char* part : {"state.db", "window:w", "epoch 2", "CRC"}) {
    CAPTURE(part);
    CHECK(state.error().message().find(part) != std::string::npos);
  }
}

TEST_CASE(
    "newer format: refused, both versions named, not a byte changed, and read again by its own") {
  World world;
  OldRun(world, 3, true);
  const auto set_version = [&](const char* version) {
    sqlite::OpenOptions options;
    options.vfs = world.env().sqlite_vfs;
    const auto database = sqlite::Database::Open("/state/state.db", options);
    REQUIRE(database);
    REQUIRE((*database)->Execute(std::string("PRAGMA user_version=") + version).ok());
  };
  const std::string current = std::to_string(kFormatVersion);
  const std::string newer = std::to_string(kFormatVersion + 1);
  set_version(newer.c_str());
  const std::string before = Snapshot(world);
  OpenOptions look = Options();
  look.read_only = true;
  for (const OpenOptions& options : {Options(), look}) {
    const auto store = Store::Open(world.env(), options);
    REQUIRE(!store);
    CHECK(store.error().code() == Code::kRefused);
    for (const std::string& part :
         {"format " + newer, std::string("weir 0.1.0"), "up to " + current}) {
      CAPTURE(part);
      CHECK(store.error().message().find(part) != std::string::npos);
    }
    CHECK(Snapshot(world) == before);
  }
  set_version(current.c_str());
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  CHECK((*store)->run().sealed == 3);
}

TEST_CASE("newer format: of a spool segment alone, the same") {
  World world;
  OldRun(world, 3, true);
  std::string segment = EncodeSegmentHeader({Lineage{{1}}, 1, 0, 0, "out"});
  segment[8] = 9;  // the version
  world.files().PutFile(io::JoinPath(kSpoolDirectory, SegmentName(1)), segment);
  const std::string before = Snapshot(world);
  const auto store = Store::Open(world.env(), Options());
  REQUIRE(!store);
  CHECK(store.error().code() == Code::kRefused);
  CHECK(store.error().message().find("segment format 9") != std::string::npos);
  CHECK(Snapshot(world) == before);
  SpoolLife life(world);
  life.context.fresh = true;
  CHECK(life.Inspect().code() == Code::kRefused);
}

TEST_CASE("another program's database is not touched") {
  World world;
  world.files().PutDirectory("/state");
  sqlite::OpenOptions options;
  options.vfs = world.env().sqlite_vfs;
  options.application_id = 77;
  {
    const auto database = sqlite::Database::Open("/state/state.db", options);
    REQUIRE(database);
    REQUIRE((*database)->Execute("CREATE TABLE theirs(x)").ok());
  }
  const std::string before = Content(world, "/state/state.db");
  CHECK(Store::Open(world.env(), Options()).error().code() == Code::kInvalid);
  CHECK(Content(world, "/state/state.db") == before);
}

TEST_CASE("a directory that cannot be one is refused") {
  World world;
  world.files().PutFile("/state", "a file");
  CHECK(Store::Open(world.env(), Options()).error().code() == Code::kCannotCreate);
  OpenOptions options = Options();
  options.directory = "/nowhere/state";
  CHECK(!Store::Open(world.env(), options));
  options.directory = "/other";
  options.create = false;
  CHECK(Store::Open(world.env(), options).error().code() == Code::kNotFound);
}

// ---- spool ----

// Segments 1..4 with one epoch each (5 rows of 100 bytes), epoch 4 newest; A at `acked`.
void FourSegments(World& world, SpoolLife& life) {
  world.files().PutDirectory("/state");
  life.context.fresh = true;
  life.context.lineage = Lineage{{1}};
  life.options.segment_bytes = 1;
  REQUIRE(life.Start().ok());
  for (EpochId id = 1; id <= 4; ++id) {
    REQUIRE(life.Epoch(id, static_cast<int64_t>(id * 5), 5, 1000).ok());
  }
  life.End();
  life.context.fresh = false;
}

TEST_CASE("spool damage: below A reported and dropped, above A refused with what is lost") {
  for (const Damage damage : {Empty, Gone, AllZeros, HeadZeros, TailZeros, Half}) {
    for (uint64_t segment = 1; segment <= 4; ++segment) {
      for (EpochId acked = 0; acked <= 4; ++acked) {
        World world;
        SpoolLife life(world);
        FourSegments(world, life);
        Apply(world, io::JoinPath(kSpoolDirectory, SegmentName(segment)), damage);
        life.options.acked = acked;
        const Status status = life.Inspect();
        CAPTURE(segment);
        CAPTURE(acked);
        CAPTURE(status.ToString());
        if (segment > acked) {
          CHECK(status.code() == Code::kCorruption);
          // Of a missing one only the next is known.
          const std::string named =
              SegmentName(damage == Gone && segment < 4 ? segment + 1 : segment);
          CHECK(status.message().find(named) != std::string::npos);
          CHECK(status.message().find("epochs") != std::string::npos);
          CHECK(status.message().find("--quarantine") != std::string::npos);
          continue;
        }
        REQUIRE(status.ok());
        REQUIRE(life.Start().ok());
        std::string want;
        for (EpochId id = acked + 1; id <= 4; ++id) {
          for (EpochId row = 0; row < 5; ++row) {
            want += (want.empty() ? "" : ",") + std::to_string(id * 5 + row);
          }
        }
        CHECK(life.Read({acked, 5}, {4, 5}) == want);
        // And it goes on behind whatever was dropped, also after one more death.
        REQUIRE(life.Epoch(5, 100, 1).ok());
        CHECK(life.Read({4, 5}, {5, 1}) == "100");
        life.End();
        life.options.acked = 4;
        REQUIRE(life.Start().ok());
        CHECK(life.Read({4, 5}, {5, 1}) == "100");
      }
    }
  }
}

TEST_CASE("spool damage: of the staged tail is normal") {
  for (const Damage damage : {TailZeros, Half}) {
    World world;
    SpoolLife life(world);
    FourSegments(world, life);
    REQUIRE(life.Start().ok());
    REQUIRE(life.Stage(50, 9, 20000).ok());
    REQUIRE(life.Cut(5).ok());  // in a segment of its own, never sealed
    life.End();
    Apply(world, io::JoinPath(kSpoolDirectory, SegmentName(5)), damage);
    life.options.acked = 0;
    REQUIRE(life.Start().ok());
    CHECK(life.Read({0, 0}, {9, 9}).has_value());
  }
}

TEST_CASE(
    "spool damage: in a backlog too large to check at the start it is found by the delivery") {
  World world;
  SpoolLife life(world);
  FourSegments(world, life);
  REQUIRE(life.Start().ok());
  const std::string path = io::JoinPath(kSpoolDirectory, SegmentName(2));
  std::string bytes = Content(world, path);
  bytes[bytes.size() / 2] ^= 1;
  REQUIRE(world.files().Remove(path).ok());
  world.files().PutFile(path, bytes);
  const auto rows = life.Read({0, 0}, {4, 5});
  REQUIRE(!rows);
  CHECK(rows.error().code() == Code::kCorruption);
  CHECK(rows.error().message().find(SegmentName(2)) != std::string::npos);
}

TEST_CASE("backup: an old state.db beside a newer spool is refused, nothing is cut") {
  World world;
  SpoolLife life(world);
  FourSegments(world, life);
  const std::string newer = life.blob;
  life.blob = "1:5200:1:5";
  life.sealed = 1;
  const std::string before = Snapshot(world);
  CHECK(life.Inspect().code() == Code::kRefused);
  life.blob = "";  // older than the first row
  CHECK(life.Inspect().code() == Code::kRefused);
  CHECK(Snapshot(world) == before);
  life.blob = newer;
  life.sealed = 4;
  CHECK(life.Inspect().ok());
}

}  // namespace
}  // namespace weir::store
