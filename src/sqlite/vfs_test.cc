// The VFS "weir" over the real file system, with the system calls below it made to fail: SQLite's
// unix VFS lets one replace them.
#include "sqlite/vfs.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "io/fault.h"
#include "sqlite/database.h"

namespace weir::sqlite {
namespace {

// What the replaced calls do; C function pointers cannot carry it.
int g_error = 0;
int g_calls = 0;

long FailingWrite(int, const void*, size_t) {
  ++g_calls;
  errno = g_error;
  return -1;
}
long FailingPositionedWrite(int, const void*, size_t, long) {
  ++g_calls;
  errno = g_error;
  return -1;
}
int FailingTruncate(int, long) {
  ++g_calls;
  errno = g_error;
  return -1;
}

class FailingCalls {
 public:
  FailingCalls(int error, bool writes, bool truncates) {
    g_error = error;
    g_calls = 0;
    if (writes) {
      Replace("write", reinterpret_cast<sqlite3_syscall_ptr>(FailingWrite));
      Replace("pwrite", reinterpret_cast<sqlite3_syscall_ptr>(FailingPositionedWrite));
      Replace("pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(FailingPositionedWrite));
    }
    if (truncates) Replace("ftruncate", reinterpret_cast<sqlite3_syscall_ptr>(FailingTruncate));
  }
  ~FailingCalls() {
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    vfs->xSetSystemCall(vfs, nullptr, nullptr);  // all back
  }

 private:
  static void Replace(const char* name, sqlite3_syscall_ptr call) {
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    (void)vfs->xSetSystemCall(vfs, name, call);  // pwrite64 exists on some builds only
  }
};

class TestDatabase {
 public:
  explicit TestDatabase(const OpenOptions& options = {}) {
    REQUIRE(InitializeSqlite().ok());
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_vfs_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    db_ = Database::Open(path(), options).value();
    REQUIRE(db_->Execute("CREATE TABLE t(x); INSERT INTO t VALUES(1)").ok());
  }
  ~TestDatabase() {
    db_ = nullptr;
    std::filesystem::remove_all(directory_);
  }
  Database& operator*() { return *db_; }
  Database* operator->() { return db_.get(); }
  void Close() { db_ = nullptr; }
  std::string path() const { return directory_ + "/a.db"; }

 private:
  std::string directory_;
  std::unique_ptr<Database> db_;
};

TEST_CASE("a commit that has no space is known to have failed, and succeeds when done again") {
  for (const int error : {ENOSPC, EDQUOT}) {
    CAPTURE(error);
    TestDatabase db;
    {
      const FailingCalls calls(error, /*writes=*/true, /*truncates=*/false);
      REQUIRE(db->Begin().ok());
      REQUIRE(db->Execute("INSERT INTO t VALUES(2)").ok());
      const Status status = db->Commit();
      CHECK(status.code() == Code::kNoSpace);
      CHECK(g_calls > 0);
      CHECK_FALSE(db->failed());
      CHECK(db->Rollback().ok());
    }
    REQUIRE(db->Begin().ok());
    REQUIRE(db->Execute("INSERT INTO t VALUES(2)").ok());
    REQUIRE(db->Commit().ok());
    CHECK(db->QueryInt("SELECT count(*) FROM t").value() == 2);
  }
}

TEST_CASE("a commit that fails for another reason is unknown, and nothing is written after it") {
  TestDatabase db;
  {
    const FailingCalls calls(EIO, /*writes=*/true, /*truncates=*/true);
    REQUIRE(db->Begin().ok());
    REQUIRE(db->Execute("INSERT INTO t VALUES(2)").ok());
    const Status status = db->Commit();
    CHECK(status.code() == Code::kUnknownOutcome);
    CHECK(status.message().find(db.path()) != std::string::npos);
    CHECK(db->failed());
    const int calls_before = g_calls;
    CHECK(calls_before > 0);
    CHECK(db->Rollback().code() == Code::kUnknownOutcome);
    CHECK(db->Begin().code() == Code::kUnknownOutcome);
    CHECK(db->Execute("INSERT INTO t VALUES(3)").code() == Code::kUnknownOutcome);
    CHECK(db->Prepare("SELECT 1").error().code() == Code::kUnknownOutcome);
    CHECK(db->Checkpoint(CheckpointMode::kTruncate).error().code() == Code::kUnknownOutcome);
    db.Close();
    CHECK(g_calls == calls_before);
  }
  auto again = Database::Open(db.path(), {}).value();
  CHECK(again->QueryInt("SELECT count(*) FROM t").value() == 1);
}

TEST_CASE("a checkpoint without space is waited out") {
  TestDatabase db;
  {
    const FailingCalls calls(ENOSPC, /*writes=*/true, /*truncates=*/true);
    CHECK(db->Checkpoint(CheckpointMode::kTruncate).error().code() == Code::kNoSpace);
    CHECK(g_calls > 0);
  }
  CHECK(db->Checkpoint(CheckpointMode::kTruncate).value().complete);
}

TEST_CASE("a checkpoint with an I/O error is an unknown outcome") {
  TestDatabase db;
  const FailingCalls calls(EIO, /*writes=*/true, /*truncates=*/true);
  CHECK(db->Checkpoint(CheckpointMode::kTruncate).error().code() == Code::kUnknownOutcome);
  CHECK(db->failed());
}

TEST_CASE("a database in rollback mode tells a full disk apart as well") {
  TestDatabase db({.use_wal = false});
  {
    const FailingCalls calls(ENOSPC, /*writes=*/true, /*truncates=*/false);
    REQUIRE(db->Begin().ok());
    Status status = db->Execute("INSERT INTO t VALUES(2)");
    if (status.ok()) status = db->Commit();
    CHECK(status.code() == Code::kNoSpace);
    CHECK(db->Rollback().ok());
  }
  CHECK(db->Execute("INSERT INTO t VALUES(2)").ok());
  CHECK(db->QueryInt("SELECT count(*) FROM t").value() == 2);
}

#if defined(WEIR_FAULTS) && WEIR_FAULTS

// One process life: commits `rows` rows, telling each through the pipe once it is confirmed.
void CommitRows(const std::string& path, int rows, int pipe) {
  auto db = Database::Open(path, {});
  if (!db) ::_exit(1);
  if (!(*db)->Execute("CREATE TABLE IF NOT EXISTS t(x)").ok()) ::_exit(2);
  for (int i = 0; i < rows; ++i) {
    const bool done = (*db)->Begin().ok() &&
                      (*db)->Execute("INSERT INTO t VALUES(zeroblob(5000))").ok() &&
                      (*db)->Commit().ok();
    if (!done || ::write(pipe, "x", 1) != 1) ::_exit(3);
    if (i == 1 && !(*db)->Checkpoint(CheckpointMode::kTruncate)) ::_exit(4);
  }
  db->reset();
  ::_exit(0);
}

TEST_CASE("killed in front of each of SQLite's writes, the database has every confirmed row") {
  TestDatabase directory;
  directory.Close();
  int state = 0;
  int n = 1;
  for (;; ++n) {
    CAPTURE(n);
    const std::string path = directory.path() + std::to_string(n);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(io::ConfigureKillAtWrite(std::to_string(n).c_str()).ok());
    const pid_t child = ::fork();
    if (child == 0) CommitRows(path, 3, ends[1]);
    REQUIRE(::waitpid(child, &state, 0) == child);
    REQUIRE(io::ConfigureKillAtWrite(nullptr).ok());
    ::close(ends[1]);
    char confirmed[8];
    const int64_t rows = ::read(ends[0], confirmed, sizeof(confirmed));
    ::close(ends[0]);
    if (WIFEXITED(state)) break;
    CHECK(WTERMSIG(state) == SIGKILL);
    auto db = Database::Open(path, {}).value();
    CHECK(db->QuickCheck().ok());
    const int64_t found = db->QueryInt("SELECT count(*) FROM t").value_or(0);
    CHECK(found >= rows);
    CHECK(found <= rows + 1);
  }
  CHECK(WEXITSTATUS(state) == 0);
  CHECK(n > 20);
}

#endif

TEST_CASE("registering again changes nothing") {
  REQUIRE(InitializeSqlite().ok());
  sqlite3_vfs* before = sqlite3_vfs_find("weir");
  REQUIRE(before != nullptr);
  CHECK(RegisterVfs().ok());
  CHECK(sqlite3_vfs_find("weir") == before);
  CHECK(sqlite3_vfs_find(nullptr) != before);  // not the default: one asks for it
}

}  // namespace
}  // namespace weir::sqlite
