// Followed files: growth, rotation, truncation, copies, reused inodes - while running and while
// stopped.
#include <doctest/doctest.h>

#include <algorithm>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

using Rows = std::vector<std::string>;

std::string Lines(int from, int to) {
  std::string out;
  for (int i = from; i <= to; ++i) out += "{\"v\":" + std::to_string(i) + "}\n";
  return out;
}

Rows Values(int from, int to) {
  Rows out;
  for (int i = from; i <= to; ++i) out.push_back("{\"v\":" + std::to_string(i) + "}");
  return out;
}

// A pipeline over one table that is stopped and started again as a case asks for.
class Follower {
 public:
  explicit Follower(std::string path)
      : table_(MakeTable(
            {.options = {{"path", std::move(path)}, {"source.monitor-interval", "1 s"}}})) {
    world.files().SetReuseInodes(true);
  }
  // Reads all there is now, polling once; seals.
  Rows Read(uint32_t max_rows = 100) {
    if (driver_ == nullptr) {
      driver_ = std::make_unique<SourceDriver>(world.Context(), *table_);
      REQUIRE(driver_->Open(saved_, state_).ok());
    } else {
      world.clock().AdvanceMs(1000);
    }
    Rows rows = driver_->ReadAll(max_rows);
    driver_->Seal();
    return rows;
  }
  // Several polls.
  Rows ReadLong() {
    Rows rows;
    for (int i = 0; i < 6; ++i) {
      for (std::string& row : Read()) rows.push_back(std::move(row));
    }
    return rows;
  }
  void Stop() {
    if (driver_ == nullptr) return;
    saved_ = driver_->saved;
    state_ = driver_->state;
    driver_.reset();
  }
  SourceDriver& driver() { return *driver_; }
  World world;

 private:
  std::unique_ptr<plan::TableDef> table_;
  std::unique_ptr<SourceDriver> driver_;
  std::map<std::string, std::string> saved_;
  std::string state_;
};

TEST_CASE("a last line without line feed waits: neither lost nor delivered") {
  Follower f("/log/app.log");
  f.world.Put("/log/app.log", Lines(1, 2) + "{\"v\":3}");
  CHECK(f.Read() == Values(1, 2));
  CHECK(f.driver().position(0) == 16);
  CHECK(f.Read().empty());
  SUBCASE("its line feed comes") {
    f.world.Append("/log/app.log", "\n");
    CHECK(f.Read() == Values(3, 3));
  }
  SUBCASE("more comes without one: one bad line, as the writer wrote it") {
    f.world.Append("/log/app.log", "{\"v\":4}\n");
    CHECK(f.Read() == Rows{"dead json.syntax"});
  }
  SUBCASE("stopped while held") {
    f.Stop();
    CHECK(f.Read().empty());
    f.Stop();
    f.world.Append("/log/app.log", "\n");
    CHECK(f.Read() == Values(3, 3));
  }
}

TEST_CASE("new files are found at the interval, and nothing is read again") {
  Follower f("/log/*.log");
  f.world.Put("/log/a.log", Lines(1, 2));
  CHECK(f.Read() == Values(1, 2));
  f.world.Put("/log/b.log", Lines(3, 4));
  CHECK(f.Read() == Values(3, 4));
  CHECK(f.Read().empty());
  f.Stop();
  f.world.Put("/log/c.log", Lines(5, 5));
  f.world.Append("/log/a.log", Lines(6, 6));
  const Rows rows = f.Read();
  CHECK(rows.size() == 2);
  CHECK(f.ReadLong().empty());
}

TEST_CASE("rotation: each row once, the rest of the old file first") {
  struct Case {
    const char* name;
    const char* path;
    void (*rotate)(World&);  // when the follower has read 1..8
    Rows want;               // read after the rotation
  };
  const auto remove_and_reuse = [](World& w) {
    REQUIRE(w.files().Remove("/log/app.log").ok());
    w.Put("/log/app.log", Lines(101, 102));
  };
  const auto remove_and_reuse_longer = [](World& w) {
    REQUIRE(w.files().Remove("/log/app.log").ok());
    w.Put("/log/app.log", Lines(201, 220));
  };
  const auto rename = [](World& w) {
    w.Append("/log/app.log", Lines(9, 10));
    REQUIRE(w.files().Rename("/log/app.log", "/log/app.log.1").ok());
    w.Put("/log/app.log", Lines(11, 12));
  };
  const auto copy_truncate = [](World& w) {
    w.Append("/log/app.log", Lines(9, 10));
    w.Put("/log/app.log.1", w.Content("/log/app.log"));
    w.Put("/log/app.log", Lines(11, 12));
  };
  const auto truncate = [](World& w) { w.Put("/log/app.log", Lines(11, 11)); };
  const auto truncate_and_outgrow = [](World& w) { w.Put("/log/app.log", Lines(11, 40)); };
  const auto move_across_file_systems = [](World& w) {
    const std::string bytes = w.Content("/log/app.log");
    w.Put("/log/app.log.1", bytes + Lines(9, 9));
    REQUIRE(w.files().Remove("/log/app.log").ok());
  };
  const Case cases[] = {
      {"removed, inode reused", "/log/app.log", remove_and_reuse, Values(101, 102)},
      {"removed, inode reused, longer than the old position", "/log/app.log",
       remove_and_reuse_longer, Values(201, 220)},
      {"renamed, both match", "/log/app.log*", rename, Values(9, 12)},
      {"renamed out of the pattern", "/log/app.log", rename, Values(9, 12)},
      {"copytruncate, both match", "/log/app.log*", copy_truncate, Values(9, 12)},
      {"copytruncate, the copy does not match", "/log/app.log", copy_truncate, Values(9, 12)},
      {"truncated", "/log/app.log", truncate, Values(11, 11)},
      {"truncated and outgrown", "/log/app.log", truncate_and_outgrow, Values(11, 40)},
      {"moved across file systems", "/log/app.log*", move_across_file_systems, Values(9, 9)},
  };
  for (const Case& c : cases) {
    for (const bool stopped : {false, true}) {
      CAPTURE(c.name);
      CAPTURE(stopped);
      Follower f(c.path);
      f.world.Put("/log/app.log", Lines(1, 8));
      CHECK(f.Read() == Values(1, 8));
      if (stopped) f.Stop();  // and with it the handle that keeps the inode from being reused
      const uint64_t inode = f.world.files().Stat("/log/app.log")->inode;
      c.rotate(f.world);
      const auto after = f.world.files().Stat("/log/app.log");
      if (stopped && std::string_view(c.name).find("reused") != std::string_view::npos)
        REQUIRE(after->inode == inode);
      Rows rows = f.ReadLong();
      std::sort(rows.begin(), rows.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
      });
      CHECK(rows == c.want);
      f.Stop();
      CHECK(f.ReadLong().empty());
    }
  }
}

TEST_CASE("the rest of a rotated file is read before its successor") {
  Follower f("/log/app.log");
  f.world.Put("/log/app.log", Lines(1, 8));
  CHECK(f.Read() == Values(1, 8));
  f.world.Append("/log/app.log", Lines(9, 10));
  REQUIRE(f.world.files().Rename("/log/app.log", "/log/app.log.1").ok());
  f.world.Put("/log/app.log", Lines(11, 12));
  CHECK(f.ReadLong() == Values(9, 12));
  // Its writer may still hold it.
  CHECK(f.driver().partitions().size() == 2);
}

TEST_CASE("copytruncate seen between copy and truncation is no second input") {
  Follower f("/log/app.log*");
  f.world.Put("/log/app.log", Lines(1, 8));
  CHECK(f.Read() == Values(1, 8));
  f.world.Put("/log/app.log.1", Lines(1, 8));
  CHECK(f.Read().empty());
  f.world.Put("/log/app.log", Lines(9, 9));
  CHECK(f.ReadLong() == Values(9, 9));
}

TEST_CASE("two full copies that both stay are two inputs") {
  Follower f("/log/app.log*");
  f.world.Put("/log/app.log", Lines(1, 3));
  CHECK(f.Read() == Values(1, 3));
  f.world.Put("/log/app.log.1", Lines(1, 3));
  CHECK(f.ReadLong() == Values(1, 3));
}

TEST_CASE("a finished file that nobody touches is not opened after a restart") {
  Follower f("/log/*");
  f.world.Put("/log/a", Lines(1, 2));
  CHECK(f.Read() == Values(1, 2));
  f.Stop();
  // Unreadable content would be noticed: the file is cut behind the back of its stat.
  CHECK(f.Read().empty());
  CHECK(f.driver().partitions().at(0).restored);
}

TEST_CASE("a path that is not there yet is waited for") {
  Follower f("/log/app.log");
  CHECK(f.Read().empty());
  f.world.Put("/log/app.log", Lines(1, 1));
  CHECK(f.Read() == Values(1, 1));
}

TEST_CASE("a file gone for 1,000 epochs is forgotten") {
  Follower f("/log/*");
  f.world.Put("/log/a", Lines(1, 2));
  f.world.Put("/log/b", Lines(3, 4));
  CHECK(f.Read().size() == 4);
  REQUIRE(f.world.files().Remove("/log/a").ok());
  f.ReadLong();
  for (int i = 0; i < 900; ++i) f.driver().Seal();
  CHECK(f.driver().saved.size() == 2);
  for (int i = 0; i < 300; ++i) f.driver().Seal();
  CHECK(f.driver().saved.size() == 1);
  CHECK(f.driver().saved.contains("f1"));
}

TEST_CASE(
    "the partition of a rotated file ends once it has been quiet, so that it holds nothing back") {
  Follower f("/log/app.log");
  f.world.Put("/log/app.log", Lines(1, 8));
  CHECK(f.Read() == Values(1, 8));
  REQUIRE(f.world.files().Rename("/log/app.log", "/log/app.log.1").ok());
  f.world.Put("/log/app.log", Lines(11, 12));
  CHECK(f.ReadLong() == Values(11, 12));
  CHECK_FALSE(f.driver().AllEnded());
  f.ReadLong();
  Rows rows;
  CHECK(f.driver().ReadOnce(0, 10, rows).value() == flow::ReadState::kEnd);
  CHECK(f.driver().ReadOnce(1, 10, rows).value() == flow::ReadState::kWait);
}

}  // namespace
}  // namespace weir::connectors
