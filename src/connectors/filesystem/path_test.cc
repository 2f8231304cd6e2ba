#include "connectors/filesystem/path.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>

#include "connectors/filesystem/file_identity.h"
#include "io/posix_files.h"
#include "io/sim_files.h"

namespace weir::connectors {
namespace {

TEST_CASE("patterns match as in a shell") {
  struct Case {
    const char *pattern, *name;
    bool want;
  };
  const Case cases[] = {
      {"*", "a", true},
      {"*", ".a", false},
      {".*", ".a", true},
      {"a*c", "abbc", true},
      {"a*c", "abbd", false},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"[ab]x", "bx", true},
      {"[!ab]x", "bx", false},
      {"[a-c]", "b", true},
      {"[a-c]", "d", false},
      {"[]]", "]", true},
      {"[a", "[a", true},
      {"\\*", "*", true},
      {"\\*", "x", false},
      {"*a*b*c", "xxaxxbxxc", true},
      {"*.log", "a.log.1", false},
      {"", "", true},
      {"a", "", false},
      {"**", "ab", true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.pattern);
    CAPTURE(c.name);
    CHECK(MatchComponent(c.pattern, c.name) == c.want);
  }
  // Not exponential.
  CHECK_FALSE(MatchComponent(std::string(200, '*') + "b", std::string(5000, 'a')));
}

TEST_CASE("paths of options") {
  struct Case {
    const char *option, *want;  // want "": refused
  };
  const Case cases[] = {{"a/b", "a/b"},
                        {"/a", "/a"},
                        {"file:///a", "/a"},
                        {"file:/a", "/a"},
                        {"file://localhost/a", "/a"},
                        {"file://host/a", ""},
                        {"file:a", ""},
                        {"s3://b/a", ""},
                        {"", ""},
                        {"a:b", "a:b"}};
  for (const Case& c : cases) {
    CAPTURE(c.option);
    const auto path = LocalPath(c.option);
    CHECK(path.value_or("") == c.want);
    if (*c.want == '\0') CHECK(path.error().code() == Code::kInvalid);
  }
}

TEST_CASE("a file whose name looks like a pattern is read as such") {
  io::SimFiles files;
  files.PutFile("/a[1]", "x");
  files.PutFile("/a1", "y");
  CHECK(ListInputs(files, "/a[1]").files.at(0).path == "/a[1]");
  CHECK(ListInputs(files, "/a[1").base_missing == false);
}

TEST_CASE("a file with two names is one input; links that lead nowhere and pipes are left out") {
  namespace fs = std::filesystem;
  const fs::path dir =
      fs::temp_directory_path() / ("weir-path-test-" + std::to_string(std::random_device()()));
  REQUIRE(fs::create_directories(dir / "d"));
  io::PosixFiles files;
  REQUIRE(io::WriteFileAtomically(files, dir / "b", "x").ok());
  REQUIRE(io::WriteFileAtomically(files, dir / "copy", "x").ok());
  fs::create_symlink("b", dir / "a");
  fs::create_hard_link(dir / "b", dir / "c");
  fs::create_symlink("nowhere", dir / "gone");
  fs::create_symlink("loop", dir / "loop");
  fs::create_symlink("..", dir / "d/up");
  fs::create_symlink("/dev/null", dir / "pipe");
  const Listing all = ListInputs(files, dir.string());
  REQUIRE(all.files.size() == 2);
  CHECK(all.files[0].path == (dir / "a").string());
  CHECK(all.files[1].path == (dir / "copy").string());
  CHECK(all.unreadable.empty());
  REQUIRE(all.left_out.size() == 1);
  CHECK(all.left_out[0] == (dir / "pipe").string() + " is neither a file nor a directory");
  CHECK(ListInputs(files, dir / "*").files.size() == 2);
  CHECK(ListInputs(files, dir / "loop").base_missing);
  CHECK(ListInputs(files, dir / "pipe").unreadable.size() == 1);
  // The real path is one text for all names of a place, also of what is not there yet.
  CHECK(files.RealPath(dir / "a") == (dir / "b").string());
  CHECK(files.RealPath(dir / "d/up/d/../gone") == (dir / "nowhere").string());
  CHECK(files.RealPath(dir / "d/new") == (dir / "d/new").string());
  fs::remove_all(dir);
}

TEST_CASE("saved positions and lists survive, damaged ones do not") {
  const SavedFile files[] = {
      {"/a", {1, 2}, 0, {}, {}, std::nullopt, false, 0},
      {"/a", {1, 2}, 100, {3, 4}, {3, 4}, EndMark{5, -6, 7}, true, 8},
      {"/a/b", {UINT64_MAX, UINT64_MAX}, 5000, {3, 4}, {5, 6}, std::nullopt, false, 1},
  };
  for (const SavedFile& file : files) {
    const std::string blob = EncodeSavedFile(file);
    CHECK(DecodeSavedFile(blob) == file);
    for (size_t n = 0; n < blob.size(); ++n) CHECK_FALSE(DecodeSavedFile(blob.substr(0, n)));
    CHECK_FALSE(DecodeSavedFile(blob + "x"));
  }
  const std::vector<ListedFile> list = {{0, "/dir/a1", {1, 2}, 3, 4, false},
                                        {7, "/dir/a2", {1, 5}, 6, -7, true}};
  const std::string blob = EncodeFileList(list);
  CHECK(DecodeFileList(blob) == list);
  for (size_t n = 0; n < blob.size(); ++n) CHECK_FALSE(DecodeFileList(blob.substr(0, n)));
  CHECK(DecodeFileList(EncodeFileList({}))->empty());
  CHECK(PartitionNumber("f17") == 17);
  CHECK_FALSE(PartitionNumber("f"));
  CHECK_FALSE(PartitionNumber("f-1"));
  CHECK_FALSE(PartitionNumber("x1"));
}

}  // namespace
}  // namespace weir::connectors
