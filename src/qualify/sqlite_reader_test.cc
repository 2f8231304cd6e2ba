#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>

#include "qualify/rows.h"
#include "sqlite/database.h"

namespace weir::qualify {
namespace {

struct Directory {
  Directory() {
    REQUIRE(sqlite::InitializeSqlite().ok());
    path = (std::filesystem::temp_directory_path() / "weir_qualify_XXXXXX").string();
    REQUIRE(::mkdtemp(path.data()) != nullptr);
    auto made = sqlite::Database::Open(path + "/a.db", {});
    REQUIRE(made.has_value());
    database = std::move(*made);
  }
  ~Directory() {
    database.reset();
    std::filesystem::remove_all(path);
  }
  std::string path;
  std::unique_ptr<sqlite::Database> database;
};

const std::vector<Wish> kWishes = {{"at", CellKind::kTime},
                                   {"na\"me", CellKind::kText},
                                   {"", CellKind::kInteger},
                                   {"n", CellKind::kInteger},
                                   {"raw", CellKind::kBytes}};

TEST_CASE("rows of a table are read as they are, beside the process that writes them") {
  Directory dir;
  REQUIRE(dir.database
              ->Execute("CREATE TABLE \"t t\" (n, \"na\"\"me\", at, raw);"
                        "INSERT INTO \"t t\" VALUES"
                        "(-5, 'x', '2026-01-01 00:00:00.250', x'00ff'), (NULL, NULL, NULL, NULL)")
              .ok());
  const auto reader = NewSqliteReader(dir.path + "/a.db", "t t", kWishes);
  CHECK(*reader->Mark() == 2);
  int rows = 0;
  REQUIRE(reader
              ->Read([&](const Row& row) {
                REQUIRE(row.broken.empty());
                CHECK(row.cells[2].null);
                if (++rows == 2) {
                  for (const Cell& cell : row.cells) CHECK(cell.null);
                  return;
                }
                CHECK(row.cells[0].number == 1'767'225'600'250);
                CHECK(row.cells[1].text == "x");
                CHECK(row.cells[3].number == -5);
                CHECK(row.cells[4].text == std::string_view("\0\xff", 2));
              })
              .ok());
  CHECK(rows == 2);
}

TEST_CASE("a value that is not what it must be makes the row broken, not absent") {
  Directory dir;
  REQUIRE(dir.database
              ->Execute("CREATE TABLE t (n, \"na\"\"me\", at, raw);"
                        "INSERT INTO t VALUES ('5','x','2026-01-01 00:00:00',x'00'),"
                        "(5,7,'2026-01-01 00:00:00',x'00'), (5,'x','2026-02-30 00:00:00',x'00'),"
                        "(5,'x',1767225600,x'00'), (5,'x','2026-01-01 00:00:00','00')")
              .ok());
  int broken = 0;
  REQUIRE(NewSqliteReader(dir.path + "/a.db", "t", kWishes)
              ->Read([&](const Row& row) { broken += !row.broken.empty(); })
              .ok());
  CHECK(broken == 5);
}

TEST_CASE("a table or column that is not there is an error, never text or no rows") {
  Directory dir;
  REQUIRE(dir.database->Execute("CREATE TABLE t (n)").ok());
  const auto none = [](const Row&) {};
  CHECK_FALSE(NewSqliteReader(dir.path + "/a.db", "u", kWishes)->Read(none).ok());
  CHECK_FALSE(NewSqliteReader(dir.path + "/a.db", "t", kWishes)->Read(none).ok());
  CHECK_FALSE(NewSqliteReader(dir.path + "/b.db", "t", kWishes)->Read(none).ok());
  CHECK_FALSE(std::filesystem::exists(dir.path + "/b.db"));
}

}  // namespace
}  // namespace weir::qualify
