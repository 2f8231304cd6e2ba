#include "io/sim_files.h"

#include <doctest/doctest.h>

#include <set>

namespace weir::io {
namespace {

std::string Content(Files& files, const std::string& path) {
  const Result<std::string> bytes = ReadFile(files, path, 1 << 20);
  return bytes ? *bytes : "<" + bytes.error().ToString() + ">";
}

// Everything that can be left of `files` after a power cut, over many seeds.
template <class Look>
auto AllOutcomes(const SimFiles& files, Look look) {
  std::set<decltype(look(*files.AfterKill()))> outcomes;
  for (uint64_t seed = 0; seed < 300; ++seed) outcomes.insert(look(*files.AfterPowerCut(seed)));
  return outcomes;
}

TEST_CASE("a synced write survives every power cut") {
  SimFiles files;
  auto file = files.Open("/a", OpenMode::kCreateNew).value();
  REQUIRE(file->WriteAt(0, "kept").ok());
  REQUIRE(file->Sync().ok());
  REQUIRE(files.SyncDirectory("/").ok());
  CHECK(AllOutcomes(files, [](SimFiles& f) { return Content(f, "/a"); }) ==
        std::set<std::string>{"kept"});
}

TEST_CASE("an unsynced write may be there, gone, or only its length be there") {
  SimFiles files;
  files.PutFile("/a", "old.");
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  REQUIRE(file->WriteAt(4, "new").ok());
  CHECK(Content(files, "/a") == "old.new");
  CHECK(AllOutcomes(files, [](SimFiles& f) { return Content(f, "/a"); }) ==
        std::set<std::string>{"old.", "old.new", std::string("old.\0\0\0", 7)});
}

TEST_CASE("a large unsynced write tears between sectors and never within one") {
  SimFiles files;
  files.PutFile("/a", std::string(4096, 'o'));
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  REQUIRE(file->WriteAt(100, std::string(3000, 'n')).ok());
  bool torn = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    PowerCutReport report;
    const auto after = files.AfterPowerCut(seed, &report);
    const std::string content = Content(*after, "/a");
    REQUIRE(content.size() == 4096);
    CHECK(content.substr(0, 100) == std::string(100, 'o'));
    CHECK(content.substr(3100) == std::string(996, 'o'));
    int changes = 0;
    for (size_t i = 101; i < 3100; ++i) {
      if (content[i] == content[i - 1]) continue;
      CHECK(i % 512 == 0);
      ++changes;
    }
    torn = torn || changes > 0;
    CHECK((report.writes_torn == 1) == (changes > 0 || content[100] != content[3099]));
    if (report.writes_torn == 1) CHECK(report.damaged_paths == std::vector<std::string>{"/a"});
  }
  CHECK(torn);
}

TEST_CASE("a later write may survive an earlier one that is lost") {
  SimFiles files;
  files.PutFile("/a", "..");
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  REQUIRE(file->WriteAt(0, "1").ok());
  REQUIRE(file->WriteAt(1, "2").ok());
  CHECK(AllOutcomes(files, [](SimFiles& f) { return Content(f, "/a"); }) ==
        std::set<std::string>{"..", "1.", ".2", "12"});
}

TEST_CASE("a truncate waits like a write") {
  SimFiles files;
  files.PutFile("/a", "abcdef");
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  REQUIRE(file->Truncate(2).ok());
  CHECK(AllOutcomes(files, [](SimFiles& f) { return Content(f, "/a"); }) ==
        std::set<std::string>{"ab", "abcdef"});
  REQUIRE(file->Sync().ok());
  CHECK(AllOutcomes(files, [](SimFiles& f) { return Content(f, "/a"); }) ==
        std::set<std::string>{"ab"});
}

TEST_CASE("a new file's name is not durable before its directory is synced") {
  SimFiles files;
  auto file = files.Open("/a", OpenMode::kCreateNew).value();
  REQUIRE(file->WriteAt(0, "x").ok());
  REQUIRE(file->Sync().ok());
  const auto exists = [](SimFiles& f) { return f.Exists("/a"); };
  CHECK(AllOutcomes(files, exists) == std::set<bool>{false, true});
  REQUIRE(files.SyncDirectory("/").ok());
  CHECK(AllOutcomes(files, exists) == std::set<bool>{true});
}

TEST_CASE("a rename survives wholly or not at all") {
  SimFiles files;
  files.PutFile("/d/old", "1");
  files.PutFile("/d/target", "2");
  REQUIRE(files.Rename("/d/old", "/d/target").ok());
  const auto look = [](SimFiles& f) {
    return Content(f, "/d/old") + "|" + Content(f, "/d/target");
  };
  const std::string done = look(files);
  CHECK(AllOutcomes(files, look) == std::set<std::string>{"1|2", done});
  REQUIRE(files.SyncDirectory("/d").ok());
  CHECK(AllOutcomes(files, look) == std::set<std::string>{done});
}

TEST_CASE("a removed file may come back until its directory is synced") {
  SimFiles files;
  files.PutFile("/a", "1");
  REQUIRE(files.Remove("/a").ok());
  const auto look = [](SimFiles& f) { return f.Exists("/a") ? Content(f, "/a") : "gone"; };
  CHECK(AllOutcomes(files, look) == std::set<std::string>{"1", "gone"});
  REQUIRE(files.SyncDirectory("/").ok());
  CHECK(AllOutcomes(files, look) == std::set<std::string>{"gone"});
}

TEST_CASE("a kill keeps the page cache, what waits in it, and no lock") {
  SimFiles files;
  files.PutFile("/a", "old");
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  REQUIRE(file->Lock().ok());
  REQUIRE(file->WriteAt(0, "new").ok());
  const auto next = files.AfterKill();
  CHECK(Content(*next, "/a") == "new");
  CHECK(next->DurableContent("/a").value() == "old");
  CHECK(next->Open("/a", OpenMode::kReadWrite).value()->Lock().ok());
}

TEST_CASE("a sync that loses its pages leaves bytes that no later sync makes durable") {
  SimFiles files;
  files.PutFile("/a", "old");
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  REQUIRE(file->WriteAt(0, "new").ok());
  files.FailAt(files.operations() + 1, SimFault::kSyncLosesPages);
  CHECK(file->Sync().code() == Code::kUnknownOutcome);
  CHECK(Content(files, "/a") == "new");
  CHECK(file->Sync().ok());
  const auto look = [](SimFiles& f) { return Content(f, "/a"); };
  CHECK(AllOutcomes(files, look) == std::set<std::string>{"old"});
  // Writing it again does.
  REQUIRE(file->WriteAt(0, "new").ok());
  REQUIRE(file->Sync().ok());
  CHECK(AllOutcomes(files, look) == std::set<std::string>{"new"});
}

TEST_CASE("operations have numbers, and a fault hits the one that was named") {
  struct Case {
    const char* name;
    SimFault given;
    Code want;
    const char* content;
  };
  const Case cases[] = {
      {"no space", SimFault::kNoSpace, Code::kNoSpace, "1"},
      {"I/O error", SimFault::kIoError, Code::kUnknownOutcome, "1"},
      {"none", SimFault::kNone, Code::kOk, "12"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    SimFiles files;
    auto file = files.Open("/a", OpenMode::kCreate).value();  // 1
    files.FailAt(3, c.given);
    REQUIRE(file->WriteAt(0, "1").ok());            // 2
    CHECK(file->WriteAt(1, "2").code() == c.want);  // 3
    CHECK(Content(files, "/a") == c.content);
    CHECK(file->Sync().ok());  // 4
    const std::vector<SimOp> trace = files.trace();
    REQUIRE(trace.size() == 4);
    CHECK(files.operations() == 4);
    CHECK(trace[0].kind == SimOpKind::kCreate);
    CHECK(trace[2].kind == SimOpKind::kWrite);
    CHECK(trace[2].path == "/a");
    CHECK(trace[2].offset == 1);
    CHECK(trace[3].number == 4);
  }
}

TEST_CASE("after a crash nothing happens any more, and the world before it can be cut") {
  SimFiles files;
  auto file = files.Open("/a", OpenMode::kCreate).value();
  REQUIRE(file->WriteAt(0, "x").ok());
  files.CrashAt(3);
  CHECK(file->Sync().code() == Code::kUnknownOutcome);
  CHECK(files.crashed());
  CHECK(file->WriteAt(1, "y").code() == Code::kUnknownOutcome);
  CHECK(files.Open("/a", OpenMode::kRead).error().code() == Code::kUnknownOutcome);
  CHECK(files.Remove("/a").code() == Code::kUnknownOutcome);
  CHECK_FALSE(files.Exists("/a"));
  const auto next = files.AfterKill();
  CHECK_FALSE(next->crashed());
  CHECK(next->operations() == 0);
  CHECK(Content(*next, "/a") == "x");
}

TEST_CASE("a full mount takes what fits, says no space, and goes on when it grows") {
  SimFiles files;
  files.PutDirectory("/small");
  files.Mount("/small", 3 * 4096);
  auto file = files.Open("/small/a", OpenMode::kCreate).value();
  REQUIRE(file->WriteAt(0, std::string(4096, 'a')).ok());
  CHECK(files.Space("/small").value().free_bytes == 2 * 4096);
  CHECK(file->WriteAt(4096, std::string(10000, 'b')).code() == Code::kNoSpace);
  CHECK(file->Stat().value().size == 3 * 4096);
  CHECK(files.Space("/small/a").value().free_bytes == 0);
  CHECK(file->WriteAt(0, "over").ok());  // in place
  CHECK(file->Truncate(100'000).code() == Code::kNoSpace);
  auto other = files.Open("/elsewhere", OpenMode::kCreate).value();
  CHECK(other->WriteAt(0, std::string(100'000, 'c')).ok());
  files.SetCapacity("/small", 100 * 4096);
  CHECK(file->WriteAt(4096, std::string(10000, 'b')).ok());
  CHECK(files.UsedBytes("/small") == 4 * 4096);
  // A removed file gives its blocks back when the last handle goes.
  REQUIRE(files.Remove("/small/a").ok());
  CHECK(files.UsedBytes("/small") == 4 * 4096);
  file = nullptr;
  CHECK(files.UsedBytes("/small") == 0);
}

TEST_CASE("mounts are devices of their own") {
  SimFiles files;
  files.PutDirectory("/m");
  files.Mount("/m", 1 << 20);
  files.PutFile("/m/a", "1");
  files.PutFile("/b", "2");
  CHECK(files.Stat("/m/a").value().device == files.Stat("/m").value().device);
  CHECK(files.Stat("/m/a").value().device != files.Stat("/b").value().device);
  CHECK_FALSE(files.Rename("/b", "/m/b").ok());
  CHECK(Content(files, "/b") == "2");
}

TEST_CASE("inode numbers are new, or the smallest free one when asked for") {
  SimFiles files;
  files.PutFile("/a", "");
  const uint64_t first = files.Stat("/a").value().inode;
  REQUIRE(files.Remove("/a").ok());
  files.PutFile("/b", "");
  CHECK(files.Stat("/b").value().inode != first);
  files.SetReuseInodes(true);
  files.PutFile("/c", "");
  CHECK(files.Stat("/c").value().inode == first);
}

TEST_CASE("names fail as POSIX says") {
  SimFiles files;
  files.PutFile("/dir/file", "1");
  files.PutDirectory("/empty");
  CHECK(files.Open("/none", OpenMode::kRead).error().code() == Code::kNotFound);
  CHECK(files.Open("/none/x", OpenMode::kCreate).error().code() == Code::kNotFound);
  CHECK(files.Open("/dir/file", OpenMode::kCreateNew).error().code() == Code::kExists);
  CHECK(files.Open("/dir", OpenMode::kCreate).error().code() == Code::kCannotCreate);
  CHECK(files.Open("/dir/file/x", OpenMode::kCreate).error().code() == Code::kCannotCreate);
  CHECK(files.MakeDirectory("/dir").code() == Code::kExists);
  CHECK(files.MakeDirectory("/a/b").code() == Code::kNotFound);
  CHECK(files.Remove("/dir").code() == Code::kExists);
  CHECK(files.Remove("/empty").ok());
  CHECK(files.Remove("/empty").code() == Code::kNotFound);
  CHECK(files.List("/none").error().code() == Code::kNotFound);
  CHECK(files.RenameNoReplace("/dir/file", "/dir/file").code() == Code::kExists);
  CHECK(files.Rename("/none", "/x").code() == Code::kNotFound);
  CHECK(files.Rename("/dir", "/moved").ok());
  CHECK(files.List("/moved").value() == std::vector<std::string>{"file"});
  CHECK(files.AbsolutePath("a/./b/../c") == "/a/c");
  files.SetReadOnly("/moved", true);
  CHECK(files.Open("/moved/new", OpenMode::kCreate).error().code() == Code::kCannotCreate);
  CHECK(files.CheckWritable("/moved").code() == Code::kCannotCreate);
  CHECK(files.CheckWritable("/").ok());
  CHECK(files.Open("/moved/file", OpenMode::kRead).has_value());
}

TEST_CASE("the report of a cut says what waited and what was lost") {
  SimFiles files;
  files.PutFile("/a", "");
  auto file = files.Open("/a", OpenMode::kReadWrite).value();
  for (int i = 0; i < 10; ++i) REQUIRE(file->WriteAt(i * 600, std::string(600, 'x')).ok());
  REQUIRE(files.Rename("/a", "/b").ok());
  int all_lost = 0;
  int none_lost = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    PowerCutReport report;
    (void)files.AfterPowerCut(seed, &report);
    CHECK(report.writes_waiting == 10);
    CHECK(report.directory_changes_waiting == 1);
    const int lost = report.writes_lost + report.writes_torn;
    all_lost += lost == 10 ? 1 : 0;
    none_lost += lost == 0 ? 1 : 0;
  }
  CHECK(all_lost > 0);
  CHECK(none_lost > 0);
}

TEST_CASE("a cut repeats from its seed") {
  SimFiles files;
  auto file = files.Open("/a", OpenMode::kCreate).value();
  for (int i = 0; i < 20; ++i) REQUIRE(file->WriteAt(i * 700, std::string(700, 'a' + i)).ok());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(Content(*files.AfterPowerCut(seed), "/a") == Content(*files.AfterPowerCut(seed), "/a"));
  }
}

TEST_CASE("atomic writing of a small file leaves the old or the new content at every crash") {
  for (uint64_t at = 1;; ++at) {
    SimFiles files;
    files.PutFile("/d/f", std::string(2000, 'o'));
    files.CrashAt(at);
    const bool finished = WriteFileAtomically(files, "/d/f", std::string(3000, 'n')).ok();
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const std::string content = Content(*files.AfterPowerCut(seed), "/d/f");
      const bool is_new = content == std::string(3000, 'n');
      CHECK((is_new || (!finished && content == std::string(2000, 'o'))));
    }
    if (finished) {
      CHECK(at > 6);  // create, truncate, write, sync, rename, sync directory
      break;
    }
  }
}

}  // namespace
}  // namespace weir::io
