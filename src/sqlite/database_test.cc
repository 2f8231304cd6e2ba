#include "sqlite/database.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>

#include "io/posix_files.h"

namespace weir::sqlite {
namespace {

// A directory of its own for each case.
class TestDirectory {
 public:
  TestDirectory() {
    REQUIRE(InitializeSqlite().ok());
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_sqlite_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::unique_ptr<Database> MustOpen(const std::string& path, const OpenOptions& options = {}) {
  Result<std::unique_ptr<Database>> database = Database::Open(path, options);
  if (!database) FAIL(database.error().ToString());
  return std::move(*database);
}

TEST_CASE("values of every type read back, empty ones and NULL told apart") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db");
  REQUIRE(db->Execute("CREATE TABLE t(a, b, c, d, e, f)").ok());
  auto insert = db->Prepare("INSERT INTO t VALUES(?,?,?,?,?,?)").value();
  const std::string blob("\0\1x", 3);
  REQUIRE(insert.BindInt(1, INT64_MIN)
              .BindDouble(2, 0.1)
              .BindText(3, "gr\xc3\xbc")
              .BindBlob(4, blob)
              .BindText(5, {})
              .BindBlob(6, {})
              .Run()
              .ok());
  REQUIRE(insert.Run().ok());  // Run() has forgotten the values
  auto select = db->Prepare("SELECT * FROM t ORDER BY rowid").value();
  REQUIRE(select.Step().value());
  CHECK(select.ColumnCount() == 6);
  CHECK(select.Int(0) == INT64_MIN);
  CHECK(select.Double(1) == 0.1);
  CHECK(select.Text(2) == "gr\xc3\xbc");
  CHECK(select.Blob(3) == blob);
  CHECK(select.Type(4) == ColumnType::kText);
  CHECK(select.Text(4) == "");
  CHECK(select.Type(5) == ColumnType::kBlob);
  CHECK(select.Blob(5) == "");
  REQUIRE(select.Step().value());
  for (int column = 0; column < 6; ++column) CHECK(select.IsNull(column));
  CHECK_FALSE(select.Step().value());
}

TEST_CASE("the settings that guarantees rest on are in force after opening") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db", {.application_id = 77, .busy_timeout_ms = 250});
  CHECK(db->QueryText("PRAGMA journal_mode").value() == "wal");
  CHECK(db->QueryInt("PRAGMA synchronous").value() == 2);
  CHECK(db->QueryInt("PRAGMA application_id").value() == 77);
  CHECK(db->QueryInt("PRAGMA busy_timeout").value() == 250);
  CHECK(db->QueryInt("PRAGMA foreign_keys").value() == 1);
  CHECK(db->QueryInt("PRAGMA wal_autocheckpoint").value() == 0);
  CHECK(db->QueryInt("PRAGMA mmap_size").value_or(0) == 0);
}

TEST_CASE("a foreign database keeps its journal mode, and its commits stay durable") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db", {.use_wal = false});
  CHECK(db->QueryText("PRAGMA journal_mode").value() == "delete");
  CHECK(db->QueryInt("PRAGMA synchronous").value() == 3);
  REQUIRE(db->Execute("PRAGMA journal_mode=WAL").ok());
  db = nullptr;
  db = MustOpen(dir / "a.db", {.use_wal = false});
  CHECK(db->QueryText("PRAGMA journal_mode").value() == "wal");
  CHECK(db->QueryInt("PRAGMA synchronous").value() == 2);
}

TEST_CASE("a newer format and another program's database are refused before a byte changes") {
  const TestDirectory dir;
  MustOpen(dir / "a.db", {.use_wal = false, .application_id = 5})
      ->Execute("CREATE TABLE t(x); PRAGMA user_version=9")
      .ok();
  io::PosixFiles files;
  const std::string before = io::ReadFile(files, dir / "a.db", 1 << 20).value();
  struct Case {
    const char* name;
    OpenOptions given;
    Code want;
  };
  const Case cases[] = {
      {"newer", {.application_id = 5, .user_version_max = 8}, Code::kRefused},
      {"another program's", {.application_id = 6}, Code::kInvalid},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto db = Database::Open(dir / "a.db", c.given);
    REQUIRE_FALSE(db.has_value());
    CHECK(db.error().code() == c.want);
    CHECK(io::ReadFile(files, dir / "a.db", 1 << 20).value() == before);
  }
  auto db = MustOpen(dir / "a.db", {.application_id = 5, .user_version_max = 9});
  CHECK(db->user_version() == 9);
  CHECK_FALSE(db->was_empty());
}

TEST_CASE("an existing database without an id is not taken over") {
  const TestDirectory dir;
  REQUIRE(MustOpen(dir / "a.db")->Execute("CREATE TABLE t(x)").ok());
  CHECK(Database::Open(dir / "a.db", {.application_id = 5}).error().code() == Code::kInvalid);
}

TEST_CASE("what cannot be opened says why") {
  const TestDirectory dir;
  io::PosixFiles files;
  REQUIRE(io::WriteFileAtomically(files, dir / "text", std::string(5000, 'x')).ok());
  REQUIRE(io::WriteFileAtomically(files, dir / "zeros", std::string(8192, '\0')).ok());
  struct Case {
    const char* name;
    const char* path;
    OpenOptions options;
    Code want;
  };
  const Case cases[] = {
      {"no directory", "none/a.db", {}, Code::kCannotCreate},
      {"absent and not to be created", "b.db", {.access = Access::kReadWrite}, Code::kCannotCreate},
      {"not a database", "text", {}, Code::kCorruption},
      {"all zeros", "zeros", {}, Code::kCorruption},
      {"no such VFS", "c.db", {.vfs = "none"}, Code::kInvalid},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto db = Database::Open(dir / c.path, c.options);
    REQUIRE_FALSE(db.has_value());
    CHECK(db.error().code() == c.want);
    CHECK(db.error().message().find(c.path) != std::string::npos);
  }
}

TEST_CASE("a read-only look neither writes nor changes the file") {
  const TestDirectory dir;
  auto writer = MustOpen(dir / "a.db");
  REQUIRE(writer->Execute("CREATE TABLE t(x); INSERT INTO t VALUES(1)").ok());
  auto reader = MustOpen(dir / "a.db", {.access = Access::kReadOnly});
  CHECK(reader->QueryInt("SELECT x FROM t").value() == 1);
  CHECK(reader->Execute("INSERT INTO t VALUES(2)").code() == Code::kCannotCreate);
}

TEST_CASE("the write lock is taken by Begin, and another holder means busy, not failed") {
  const TestDirectory dir;
  auto one = MustOpen(dir / "a.db");
  auto two = MustOpen(dir / "a.db");
  REQUIRE(one->Execute("CREATE TABLE t(x)").ok());
  REQUIRE(one->Begin().ok());
  CHECK(one->InTransaction());
  CHECK(two->Begin().code() == Code::kBusy);
  CHECK_FALSE(two->failed());
  REQUIRE(one->Execute("INSERT INTO t VALUES(1)").ok());
  REQUIRE(one->Commit().ok());
  CHECK_FALSE(one->InTransaction());
  REQUIRE(two->Begin().ok());
  REQUIRE(two->Execute("DELETE FROM t").ok());
  CHECK(two->Changes() == 1);
  REQUIRE(two->Rollback().ok());
  CHECK(two->Rollback().ok());
  CHECK(two->QueryInt("SELECT count(*) FROM t").value() == 1);
}

TEST_CASE(
    "a checkpoint beside an open reader is incomplete, and cuts the log when the reader is gone") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db");
  REQUIRE(db->Execute("CREATE TABLE t(x); INSERT INTO t VALUES(1)").ok());
  CHECK(db->wal_bytes() > 4096);
  auto reader = MustOpen(dir / "a.db", {.access = Access::kReadOnly});
  REQUIRE(reader->BeginRead().ok());
  REQUIRE(reader->QueryInt("SELECT x FROM t").value() == 1);
  REQUIRE(db->Execute("INSERT INTO t VALUES(zeroblob(100000))").ok());
  const uint64_t before = db->wal_bytes();
  CheckpointResult result = db->Checkpoint(CheckpointMode::kTruncate).value();
  CHECK_FALSE(result.complete);
  CHECK(result.copied_frames < result.log_frames);
  CHECK(db->wal_bytes() == before);
  REQUIRE(reader->Rollback().ok());
  result = db->Checkpoint(CheckpointMode::kTruncate).value();
  CHECK(result.complete);
  CHECK(result.log_frames == 0);
  CHECK(db->wal_bytes() == 0);
  io::PosixFiles files;
  CHECK(files.Stat(dir / "a.db-wal").value().size == 0);
}

TEST_CASE("SQLite does not checkpoint by itself") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db");
  REQUIRE(db->Execute("CREATE TABLE t(x)").ok());
  for (int i = 0; i < 20; ++i) {
    REQUIRE(db->Execute("INSERT INTO t VALUES(zeroblob(1000000))").ok());
  }
  CHECK(db->wal_bytes() > 20'000'000);
}

TEST_CASE("damage in a page is found by the quick check, and named") {
  const TestDirectory dir;
  {
    auto db = MustOpen(dir / "a.db");
    REQUIRE(db->Execute("CREATE TABLE t(x PRIMARY KEY); CREATE TABLE u(x)").ok());
    REQUIRE(db->Begin().ok());
    for (int i = 0; i < 2000; ++i) {
      REQUIRE(db->Execute("INSERT INTO t VALUES(" + std::to_string(i) + ")").ok());
    }
    REQUIRE(db->Commit().ok());
    CHECK(db->QuickCheck().ok());
  }
  io::PosixFiles files;
  {
    auto file = files.Open(dir / "a.db", io::OpenMode::kReadWrite).value();
    REQUIRE(file->WriteAt(4096 * 3, std::string(4096, '\xee')).ok());
  }
  auto db = MustOpen(dir / "a.db");
  const Status status = db->QuickCheck();
  CHECK(status.code() == Code::kCorruption);
  CHECK(status.message().find("a.db") != std::string::npos);
}

TEST_CASE("errors in SQL and in data are told apart from those of the machine") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db");
  REQUIRE(
      db->Execute("CREATE TABLE t(x INTEGER PRIMARY KEY, y NOT NULL); INSERT INTO t VALUES(1,1)")
          .ok());
  struct Case {
    const char* given;
    Code want;
  };
  const Case cases[] = {
      {"INSERT INTO t VALUES(1,1)", Code::kExists},
      {"INSERT INTO t VALUES(2,NULL)", Code::kInvalid},
      {"INSERT INTO nowhere VALUES(1)", Code::kInvalid},
      {"SELEKT", Code::kInvalid},
  };
  for (const Case& c : cases) {
    CAPTURE(c.given);
    CHECK(db->Execute(c.given).code() == c.want);
    CHECK_FALSE(db->failed());
  }
  CHECK(db->Prepare("SELECT z FROM t").error().code() == Code::kInvalid);
  CHECK(db->QueryInt("SELECT x FROM t WHERE x > 5").error().code() == Code::kNotFound);
}

TEST_CASE("a value beyond SQLite's limit fails the statement and leaves it usable") {
  const TestDirectory dir;
  auto db = MustOpen(dir / "a.db");
  REQUIRE(db->Execute("CREATE TABLE t(x)").ok());
  auto insert = db->Prepare("INSERT INTO t VALUES(?)").value();
  // Only the length is looked at before the value is refused.
  CHECK(insert.BindBlob(1, std::string_view("x", 2'000'000'000)).Run().code() == Code::kInvalid);
  CHECK(insert.BindBlob(1, "y").Run().ok());
}

TEST_CASE("the log of an unclean end is kept for the next opening") {
  const TestDirectory dir;
  std::filesystem::create_directory(dir / "copy");
  auto db = MustOpen(dir / "a.db");
  REQUIRE(db->Execute("CREATE TABLE t(x); INSERT INTO t VALUES(7)").ok());
  // As a kill -9 would leave it: copied while open.
  std::filesystem::copy_file(dir / "a.db", dir / "copy/a.db");
  std::filesystem::copy_file(dir / "a.db-wal", dir / "copy/a.db-wal");
  auto copy = MustOpen(dir / "copy/a.db");
  CHECK(copy->QueryInt("SELECT x FROM t").value() == 7);
}

}  // namespace
}  // namespace weir::sqlite
