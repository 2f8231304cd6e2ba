// A small database workload on the simulated disk: crashed in front of every operation, cut by many
// seeds, and rerun. What was committed must be there, whole, whatever was lost; and the simulation
// must have lost something.
#include <doctest/doctest.h>

#include "base/text.h"
#include "io/sim_files.h"
#include "sqlite/database.h"
#include "sqlite/sim_vfs.h"
#include "sqlite/wal_refresh.h"

namespace weir::sqlite {
namespace {

constexpr char kPath[] = "/state/state.db";

std::string BlobOf(int64_t id) {
  return std::string(static_cast<size_t>(id * id * 97 % 9000), static_cast<char>('a' + id % 26));
}

// Commits rows 1, 2, 3, ... of very different sizes, updates one page again and again, checkpoints
// now and then. `committed` is what SQLite has confirmed.
Status RunWorkload(const char* vfs, int rows, int64_t& committed) {
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
    const std::string blob = BlobOf(id);
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

// What a start does, and what must then be true. The newest row, or what is wrong.
Result<int64_t> Recover(io::Files& files, const char* vfs, bool refresh = true) {
  if (refresh) WEIR_RETURN_IF_ERROR(RefreshWal(files, kPath));
  WEIR_ASSIGN_OR_RETURN(auto db, Database::Open(kPath, {.vfs = vfs, .application_id = 9}));
  WEIR_ASSIGN_OR_RETURN(const CheckpointResult checkpoint,
                        db->Checkpoint(CheckpointMode::kTruncate));
  if (!checkpoint.complete) return Fail(Code::kInternal, "the checkpoint is incomplete");
  WEIR_RETURN_IF_ERROR(db->QuickCheck());
  if (db->was_empty()) return 0;
  WEIR_ASSIGN_OR_RETURN(auto select, db->Prepare("SELECT id, b FROM t ORDER BY id"));
  for (int64_t id = 0;; ++id) {
    WEIR_ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) {
      WEIR_ASSIGN_OR_RETURN(const int64_t last,
                            db->QueryInt("SELECT ifnull(max(id), 0) FROM last"));
      if (last != id) return Fail(Code::kCorruption, "the two tables are of different commits");
      return id;
    }
    if (select.Int(0) != id + 1 || select.Blob(1) != BlobOf(id + 1)) {
      return Fail(Code::kCorruption,
                  "row " + std::to_string(id + 1) + " is not what was committed");
    }
  }
}

int64_t MustRecover(io::Files& files, const char* vfs) {
  const Result<int64_t> newest = Recover(files, vfs);
  if (!newest) FAIL(newest.error().ToString());
  return *newest;
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
void CutAndCheck(const io::SimFiles& world, uint64_t at, int seeds, int64_t committed,
                 Tally& tally) {
  for (int seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    io::PowerCutReport report;
    const auto next = world.AfterPowerCut(at * 1000 + static_cast<uint64_t>(seed), &report);
    Count(report, tally);
    const SimVfs vfs(*next);
    const int64_t found = MustRecover(*next, vfs.name());
    CHECK(found >= committed);
    CHECK(found <= committed + 1);
    int64_t after = 0;
    REQUIRE(RunWorkload(vfs.name(), 1, after).ok());
    CHECK(MustRecover(*next, vfs.name()) == found + 1);
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
      finished = RunWorkload(vfs.name(), 12, committed).ok() && !world->crashed();
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
      finished = RunWorkload(vfs.name(), 12, committed).ok() && !world->crashed();
    }
    const auto next = world->AfterKill();
    const SimVfs vfs(*next);
    const int64_t found = MustRecover(*next, vfs.name());
    CHECK(found >= committed);
    CHECK(found <= committed + 1);
  }
}

// A failure of operation `at`, a restart on the same page cache, then a power cut at every point of
// the recovery. Returns how many of the cuts lost or broke something; `reached`: the workload has
// so many operations.
int FailRestartCut(io::SimFault fault, uint64_t at, bool refresh, bool& reached, Tally& tally) {
  auto world = NewWorld();
  int64_t committed = 0;
  {
    const SimVfs vfs(*world);
    world->FailAt(at, fault);
    const Status status = RunWorkload(vfs.name(), 7, committed);
    reached = world->operations() >= at;
    if (status.ok()) return 0;  // a failure while closing
    CHECK(status.code() == Code::kUnknownOutcome);
  }
  int bad = 0;
  bool recovered = false;
  for (uint64_t cut_at = 1; !recovered; ++cut_at) {
    const auto restarted = world->AfterKill();
    int64_t seen = committed;
    {
      const SimVfs vfs(*restarted);
      restarted->CrashAt(cut_at);
      // Only when the recovery is through may the start believe what it reads and build on it.
      const Result<int64_t> newest = Recover(*restarted, vfs.name(), refresh);
      recovered = newest.has_value() && !restarted->crashed();
      if (recovered) seen = *newest;
    }
    for (uint64_t seed = 0; seed < 3; ++seed) {
      io::PowerCutReport report;
      const auto cut = restarted->AfterPowerCut(at * 1000 + cut_at * 10 + seed, &report);
      Count(report, tally);
      const SimVfs vfs(*cut);
      const Result<int64_t> found = Recover(*cut, vfs.name(), refresh);
      if (!found || *found < seen || *found > committed + 1) ++bad;
    }
  }
  return bad;
}

int FailRestartCutEverywhere(io::SimFault fault, bool refresh) {
  Tally tally;
  int bad = 0;
  bool reached = true;
  // Of the mutant one broken database is enough.
  for (uint64_t at = 1; reached && bad == 0; ++at) {
    bad += FailRestartCut(fault, at, refresh, reached, tally);
  }
  CHECK(tally.runs > 300);
  CHECK(tally.lost_in_db > 10);
  return bad;
}

TEST_CASE(
    "a sync that fails while the cache keeps the bytes, a restart, a power cut: nothing is lost") {
  CHECK(FailRestartCutEverywhere(io::SimFault::kSyncLosesPages, /*refresh=*/true) == 0);
}

TEST_CASE("without writing the log again the same power cuts do break the database") {
  CHECK(FailRestartCutEverywhere(io::SimFault::kSyncLosesPages, /*refresh=*/false) > 0);
}

TEST_CASE("an I/O error of any operation, a restart, a power cut: nothing is lost") {
  CHECK(FailRestartCutEverywhere(io::SimFault::kIoError, /*refresh=*/true) == 0);
}

// Runs the workload on a disk that is too small and grows it by one block whenever it is full,
// doing the same transaction again. Counts how often that was needed.
int RunOnTightDisk(io::SimFiles& files, const char* vfs, int rows, uint64_t capacity_bytes) {
  files.SetCapacity("/state", capacity_bytes);
  int waits = 0;
  const auto grow = [&] {
    ++waits;
    files.SetCapacity("/state", capacity_bytes += 4096);
  };
  auto opened = Database::Open(kPath, {.vfs = vfs, .application_id = 9});
  for (; !opened; opened = Database::Open(kPath, {.vfs = vfs, .application_id = 9})) {
    REQUIRE(opened.error().code() == Code::kNoSpace);
    grow();
  }
  Database& db = **opened;
  const auto transaction = [&](const std::string& sql) {
    for (;;) {
      Status status = db.Begin();
      if (status.ok()) status = db.Execute(sql);
      if (status.ok()) status = db.Commit();
      if (status.ok()) return;
      CAPTURE(status.ToString());
      REQUIRE(status.code() == Code::kNoSpace);
      REQUIRE(db.Rollback().ok());
      grow();
    }
  };
  transaction(
      "CREATE TABLE t(id INTEGER PRIMARY KEY, b BLOB);"
      "CREATE TABLE last(one INTEGER PRIMARY KEY, id); PRAGMA user_version=1");
  for (int64_t id = 1; id <= rows; ++id) {
    const std::string n = std::to_string(id);
    transaction("INSERT INTO t VALUES(" + n + ",x'" + HexEncode(BlobOf(id)) +
                "'); REPLACE INTO last VALUES(1," + n + ")");
    if (id % 3 != 0) continue;
    for (auto done = db.Checkpoint(CheckpointMode::kTruncate); !done;
         done = db.Checkpoint(CheckpointMode::kTruncate)) {
      REQUIRE(done.error().code() == Code::kNoSpace);
      grow();
    }
  }
  return waits;
}

TEST_CASE(
    "a full disk is known to be full wherever it stops: the transaction is done again unchanged") {
  REQUIRE(InitializeSqlite().ok());
  auto files = std::make_unique<io::SimFiles>();
  files->PutDirectory("/state");
  files->Mount("/state", 0);
  {
    const SimVfs vfs(*files);
    CHECK(RunOnTightDisk(*files, vfs.name(), 20, 0) > 10);
    CHECK(MustRecover(*files, vfs.name()) == 20);
  }
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const auto cut = files->AfterPowerCut(seed);
    const SimVfs vfs(*cut);
    CHECK(MustRecover(*cut, vfs.name()) == 20);
  }
}

}  // namespace
}  // namespace weir::sqlite
