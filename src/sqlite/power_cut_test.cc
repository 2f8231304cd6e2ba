// A small database workload on the simulated disk: crashed in front of every operation, cut by many seeds, and rerun. What
// was committed must be there, whole, whatever was lost; and the simulation must have lost something.
#include <doctest/doctest.h>

#include <functional>

#include "io/sim_files.h"
#include "sqlite/database.h"
#include "sqlite/sim_vfs.h"
#include "sqlite/wal_refresh.h"

namespace weir::sqlite {
namespace {

constexpr char kPath[] = "/state/state.db";

// Commits rows 1, 2, 3, ... of very different sizes, updates one page again and again, checkpoints now and then.
// `committed` is what SQLite has confirmed.
Status RunWorkload(io::Files& files, const char* vfs, int rows, int64_t& committed) {
  (void)files;
  WEIR_ASSIGN_OR_RETURN(auto db, Database::Open(kPath, {.vfs = vfs, .application_id = 9}));
  if (db->was_empty()) {
    WEIR_RETURN_IF_ERROR(db->Begin());
    WEIR_RETURN_IF_ERROR(
        db->Execute("CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB);"
                    "CREATE TABLE last(one INTEGER PRIMARY KEY, id); PRAGMA user_version=1"));
    WEIR_RETURN_IF_ERROR(db->Commit());
  }
  WEIR_ASSIGN_OR_RETURN(int64_t id, db->QueryInt("SELECT ifnull(max(id), 0) FROM t"));
  committed = id;
  WEIR_ASSIGN_OR_RETURN(auto insert, db->Prepare("INSERT INTO t VALUES(?, ?)"));
  WEIR_ASSIGN_OR_RETURN(auto update, db->Prepare("REPLACE INTO last VALUES(1, ?)"));
  for (int i = 0; i < rows; ++i) {
    ++id;
    WEIR_RETURN_IF_ERROR(db->Begin());
    const std::string blob(static_cast<size_t>(id * id * 97 % 9000), static_cast<char>('a' + id % 26));
    WEIR_RETURN_IF_ERROR(insert.BindInt(1, id).BindBlob(2, blob).Run());
    WEIR_RETURN_IF_ERROR(update.BindInt(1, id).Run());
    WEIR_RETURN_IF_ERROR(db->Commit());
    committed = id;
    if (id % 3 == 0) {
      const auto mode = id % 2 == 0 ? CheckpointMode::kPassive : CheckpointMode::kTruncate;
      WEIR_ASSIGN_OR_RETURN(const CheckpointResult unused, db->Checkpoint(mode));
      (void)unused;
    }
  }
  return Status::Ok();
}

// What a start does, and what must then be true. Returns the newest row.
int64_t RecoverAndCheck(io::Files& files, const char* vfs) {
  REQUIRE(RefreshWal(files, kPath).ok());
  auto opened = Database::Open(kPath, {.vfs = vfs, .application_id = 9});
  if (!opened) FAIL(opened.error().ToString());
  Database& db = **opened;
  REQUIRE(db.Checkpoint(CheckpointMode::kTruncate).has_value());
  if (const Status check = db.QuickCheck(); !check.ok()) FAIL(check.ToString());
  if (db.was_empty()) return 0;
  auto select = db.Prepare("SELECT id, b FROM t ORDER BY id").value();
  int64_t id = 0;
  for (Result<bool> row = select.Step(); row.value(); row = select.Step()) {
    ++id;
    REQUIRE(select.Int(0) == id);
    const std::string want(static_cast<size_t>(id * id * 97 % 9000), static_cast<char>('a' + id % 26));
    REQUIRE(select.Blob(1) == want);
  }
  REQUIRE(db.QueryInt("SELECT ifnull(max(id), 0) FROM last").value() == id);
  return id;
}

struct Tally {
  int runs = 0;
  int lost_in_log = 0;  // cuts that damaged the -wal
  int lost_in_db = 0;
};

void Count(const io::PowerCutReport& report, Tally& tally) {
  ++tally.runs;
  for (const std::string& path : report.damaged_paths) {
    if (path == std::string(kPath) + "-wal") ++tally.lost_in_log;
    if (path == kPath) ++tally.lost_in_db;
  }
}

std::unique_ptr<io::SimFiles> NewWorld() {
  REQUIRE(InitializeSqlite().ok());
  auto files = std::make_unique<io::SimFiles>();
  files->PutDirectory("/state");
  return files;
}

// Cuts the world's power `seeds` times and checks each result, with one more commit after it.
void CutAndCheck(const io::SimFiles& world, uint64_t at, int seeds, int64_t committed, Tally& tally) {
  for (int seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    io::PowerCutReport report;
    const auto next = world.AfterPowerCut(at * 1000 + static_cast<uint64_t>(seed), &report);
    Count(report, tally);
    const SimVfs vfs(*next);
    const int64_t found = RecoverAndCheck(*next, vfs.name());
    CHECK(found >= committed);
    CHECK(found <= committed + 1);
    int64_t after = 0;
    REQUIRE(RunWorkload(*next, vfs.name(), 1, after).ok());
    CHECK(RecoverAndCheck(*next, vfs.name()) == found + 1);
  }
}

TEST_CASE("a power cut in front of every operation loses no committed row and breaks nothing") {
  Tally tally;
  bool finished = false;
  for (uint64_t at = 1; !finished; ++at) {
    CAPTURE(at);
    auto world = NewWorld();
    int64_t committed = 0;
    {
      const SimVfs vfs(*world);
      world->CrashAt(at);
      finished = RunWorkload(*world, vfs.name(), 12, committed).ok() && !world->crashed();
    }
    CutAndCheck(*world, at, 6, committed, tally);
  }
  // Otherwise the disk was too kind to prove anything.
  CHECK(tally.runs > 300);
  CHECK(tally.lost_in_log > 50);
  CHECK(tally.lost_in_db > 10);
}

TEST_CASE("a kill in front of every operation loses no committed row") {
  bool finished = false;
  for (uint64_t at = 1; !finished; ++at) {
    CAPTURE(at);
    auto world = NewWorld();
    int64_t committed = 0;
    {
      const SimVfs vfs(*world);
      world->CrashAt(at);
      finished = RunWorkload(*world, vfs.name(), 12, committed).ok() && !world->crashed();
    }
    const auto next = world->AfterKill();
    const SimVfs vfs(*next);
    const int64_t found = RecoverAndCheck(*next, vfs.name());
    CHECK(found >= committed);
    CHECK(found <= committed + 1);
  }
}

// A failure of operation `at`, then a restart on the same page cache, then a power cut at every point of the recovery.
void FailRestartCut(io::SimFault fault, uint64_t at, bool& reached, Tally& tally) {
  auto world = NewWorld();
  int64_t committed = 0;
  {
    const SimVfs vfs(*world);
    world->FailAt(at, fault);
    const Status status = RunWorkload(*world, vfs.name(), 9, committed);
    reached = world->operations() >= at;
    if (status.ok()) return;  // a failure while closing
    CHECK(status.code() == Code::kUnknownOutcome);
  }
  bool recovered = false;
  for (uint64_t cut_at = 1; !recovered; ++cut_at) {
    CAPTURE(cut_at);
    const auto restarted = world->AfterKill();
    int64_t seen = committed;
    {
      const SimVfs vfs(*restarted);
      restarted->CrashAt(cut_at);
      const Status refreshed = RefreshWal(*restarted, kPath);
      auto db = Database::Open(kPath, {.vfs = vfs.name(), .application_id = 9});
      recovered = refreshed.ok() && db.has_value() &&
                  (*db)->Checkpoint(CheckpointMode::kTruncate).has_value();
      // Only now may the start believe what it reads and build on it.
      if (recovered && !(*db)->was_empty()) seen = (*db)->QueryInt("SELECT max(id) FROM last").value();
      recovered = recovered && !restarted->crashed();
    }
    for (uint64_t seed = 0; seed < 4; ++seed) {
      CAPTURE(seed);
      io::PowerCutReport report;
      const auto cut = restarted->AfterPowerCut(at * 1000 + cut_at * 10 + seed, &report);
      Count(report, tally);
      const SimVfs vfs(*cut);
      const int64_t found = RecoverAndCheck(*cut, vfs.name());
      CHECK(found >= seen);
      CHECK(found <= committed + 1);
    }
  }
}

TEST_CASE("a sync that fails while the cache keeps the bytes, a restart, a power cut: nothing is lost") {
  Tally tally;
  bool reached = true;
  for (uint64_t at = 1; reached; ++at) {
    CAPTURE(at);
    FailRestartCut(io::SimFault::kSyncLosesPages, at, reached, tally);
  }
  CHECK(tally.runs > 300);
}

TEST_CASE("an I/O error of any operation, a restart, a power cut: nothing is lost") {
  Tally tally;
  bool reached = true;
  for (uint64_t at = 1; reached; ++at) {
    CAPTURE(at);
    FailRestartCut(io::SimFault::kIoError, at, reached, tally);
  }
  CHECK(tally.runs > 300);
}

}  // namespace
}  // namespace weir::sqlite
