#include "io/posix_files.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "io/errno_status.h"

namespace weir::io {
namespace {

class TestDirectory {
 public:
  TestDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir_files_XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~TestDirectory() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST_CASE("what is written at an offset is read there, and the end of the file cuts a read") {
  const TestDirectory dir;
  PosixFiles files;
  auto file = files.Open(dir / "a", OpenMode::kCreateNew).value();
  REQUIRE(file->WriteAt(3, "defg").ok());
  REQUIRE(file->WriteAt(0, "abc").ok());
  char buffer[10];
  CHECK(file->ReadAt(2, buffer).value() == 5);
  CHECK(std::string(buffer, 5) == "cdefg");
  CHECK(file->ReadAt(7, buffer).value() == 0);
  CHECK(file->ReadAt(100, buffer).value() == 0);
  REQUIRE(file->Truncate(2).ok());
  REQUIRE(file->Sync().ok());
  CHECK(ReadFile(files, dir / "a", 10).value() == "ab");
  CHECK(file->Stat().value().size == 2);
}

TEST_CASE("each way to open keeps its promise about what is there") {
  const TestDirectory dir;
  PosixFiles files;
  CHECK(files.Open(dir / "a", OpenMode::kRead).error().code() == Code::kNotFound);
  CHECK(files.Open(dir / "a", OpenMode::kReadWrite).error().code() == Code::kNotFound);
  REQUIRE(files.Open(dir / "a", OpenMode::kCreate).value()->WriteAt(0, "kept").ok());
  CHECK(files.Open(dir / "a", OpenMode::kCreateNew).error().code() == Code::kExists);
  REQUIRE(files.Open(dir / "a", OpenMode::kCreate).has_value());
  CHECK(ReadFile(files, dir / "a", 10).value() == "kept");
  CHECK(files.Open(dir / "a", OpenMode::kRead).value()->WriteAt(0, "x").code() ==
        Code::kUnknownOutcome);
}

TEST_CASE("a failure names the path, the act and the reason") {
  const TestDirectory dir;
  PosixFiles files;
  CHECK(files.Open(dir / "none", OpenMode::kRead).error().message() ==
        "cannot open " + (dir / "none") + ": No such file or directory");
  CHECK(files.Open(dir.path(), OpenMode::kCreate).error().code() == Code::kCannotCreate);
  CHECK(files.Open(dir / "none/a", OpenMode::kCreate).error().code() == Code::kNotFound);
  CHECK(files.List(dir / "none").error().code() == Code::kNotFound);
  CHECK(files.SyncDirectory(dir / "none").code() == Code::kNotFound);
  CHECK(files.Space(dir / "none").error().code() == Code::kNotFound);
}

TEST_CASE("errno becomes the code that the next step depends on") {
  struct Case {
    int given;
    CallKind kind;
    Code want;
  };
  const Case cases[] = {
      {ENOSPC, CallKind::kWrite, Code::kNoSpace},
      {EDQUOT, CallKind::kOpenForWrite, Code::kNoSpace},
      {ENOSPC, CallKind::kSync, Code::kUnknownOutcome},  // the pages may be gone
      {EIO, CallKind::kRead, Code::kUnknownOutcome},
      {EIO, CallKind::kOpenForRead, Code::kUnknownOutcome},
      {EROFS, CallKind::kWrite, Code::kUnknownOutcome},  // remounted under an open file
      {EROFS, CallKind::kOpenForWrite, Code::kCannotCreate},
      {EACCES, CallKind::kOpenForWrite, Code::kCannotCreate},
      {EACCES, CallKind::kOpenForRead, Code::kInvalid},
      {ENOTDIR, CallKind::kOpenForWrite, Code::kCannotCreate},
      {ENOTDIR, CallKind::kOpenForRead, Code::kNotFound},
      {EISDIR, CallKind::kOpenForWrite, Code::kCannotCreate},
      {EEXIST, CallKind::kOpenForWrite, Code::kExists},
      {EWOULDBLOCK, CallKind::kOpenForWrite, Code::kBusy},
      {EMFILE, CallKind::kOpenForRead, Code::kInternal},
  };
  for (const Case& c : cases) {
    CAPTURE(ErrnoText(c.given));
    CHECK(ErrnoStatus(c.given, c.kind, "do", "p").code() == c.want);
  }
}

TEST_CASE("names are listed by byte value, without the two dots") {
  const TestDirectory dir;
  PosixFiles files;
  for (const char* name : {"b", "B", ".hidden", "a10", "a9"}) {
    REQUIRE(files.Open(dir / name, OpenMode::kCreate).has_value());
  }
  CHECK(files.List(dir.path()).value() ==
        std::vector<std::string>{".hidden", "B", "a10", "a9", "b"});
}

TEST_CASE("names are listed with what is behind them, those that are wanted") {
  const TestDirectory dir;
  PosixFiles files;
  REQUIRE(WriteFileAtomically(files, dir / "b", "12345").ok());
  REQUIRE(WriteFileAtomically(files, dir / "skipped", "1").ok());
  REQUIRE(files.MakeDirectory(dir / "a").ok());
  REQUIRE(::symlink("nowhere", (dir / "dangling").c_str()) == 0);
  const auto entries =
      files.ListStats(dir.path(), [](std::string_view name) { return name != "skipped"; });
  REQUIRE(entries.has_value());
  REQUIRE(entries->size() == 3);
  CHECK((*entries)[0].name == "a");
  CHECK((*entries)[0].stat.value().is_directory);
  CHECK((*entries)[1].name == "b");
  CHECK((*entries)[1].stat.value().size == 5);
  CHECK((*entries)[1].stat.value().inode == files.Stat(dir / "b").value().inode);
  CHECK((*entries)[2].name == "dangling");
  CHECK((*entries)[2].stat.error().code() == Code::kNotFound);
  CHECK((*entries)[2].stat.error().message().find(dir / "dangling") != std::string::npos);
  CHECK(files.ListStats(dir / "none", [](std::string_view) { return true; }).error().code() ==
        Code::kNotFound);
}

TEST_CASE("a rename replaces, unless it was asked not to") {
  const TestDirectory dir;
  PosixFiles files;
  REQUIRE(WriteFileAtomically(files, dir / "a", "1").ok());
  REQUIRE(WriteFileAtomically(files, dir / "b", "2").ok());
  const Status refused = files.RenameNoReplace(dir / "a", dir / "b");
  CHECK(refused.code() == Code::kExists);
  CHECK(refused.message().find(dir / "b") != std::string::npos);
  CHECK(ReadFile(files, dir / "b", 10).value() == "2");
  REQUIRE(files.RenameNoReplace(dir / "a", dir / "c").ok());
  CHECK_FALSE(files.Exists(dir / "a"));
  REQUIRE(files.Rename(dir / "c", dir / "b").ok());
  CHECK(ReadFile(files, dir / "b", 10).value() == "1");
  CHECK(files.Rename(dir / "c", dir / "b").code() == Code::kNotFound);
}

TEST_CASE("files and empty directories are removed, full ones are not") {
  const TestDirectory dir;
  PosixFiles files;
  REQUIRE(files.MakeDirectory(dir / "d").ok());
  CHECK(files.MakeDirectory(dir / "d").code() == Code::kExists);
  REQUIRE(WriteFileAtomically(files, dir / "d/f", "x").ok());
  CHECK(files.Remove(dir / "d").code() == Code::kExists);
  CHECK(files.Remove(dir / "d/f").ok());
  CHECK(files.Remove(dir / "d").ok());
  CHECK(files.Remove(dir / "d").code() == Code::kNotFound);
  REQUIRE(::symlink("nowhere", (dir / "link").c_str()) == 0);
  CHECK(files.Exists(dir / "link"));
  CHECK(files.Stat(dir / "link").error().code() == Code::kNotFound);
}

TEST_CASE("stat tells files, directories and identities apart") {
  const TestDirectory dir;
  PosixFiles files;
  REQUIRE(WriteFileAtomically(files, dir / "a", "123").ok());
  const FileStat file = files.Stat(dir / "a").value();
  const FileStat directory = files.Stat(dir.path()).value();
  CHECK(file.is_regular);
  CHECK_FALSE(file.is_directory);
  CHECK(directory.is_directory);
  CHECK(file.size == 3);
  CHECK(file.device == directory.device);
  CHECK(file.inode != directory.inode);
  CHECK(file.mtime_ns > 1'600'000'000'000'000'000);
  REQUIRE(files.Rename(dir / "a", dir / "b").ok());
  CHECK(files.Stat(dir / "b").value().inode == file.inode);
}

TEST_CASE("a lock excludes other opens until its file is closed") {
  const TestDirectory dir;
  PosixFiles files;
  auto one = files.Open(dir / "lock", OpenMode::kCreate).value();
  auto two = files.Open(dir / "lock", OpenMode::kCreate).value();
  REQUIRE(one->Lock().ok());
  CHECK(one->Lock().ok());
  CHECK(two->Lock().code() == Code::kBusy);
  one = nullptr;
  CHECK(two->Lock().ok());
}

TEST_CASE("descriptors are not inherited by a child") {
  const TestDirectory dir;
  PosixFiles files;
  auto file = files.Open(dir / "a", OpenMode::kCreate).value();
  int seen = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) != dir / "a") continue;
    ++seen;
    CHECK((::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(seen == 1);
}

TEST_CASE("an atomic write replaces the content and leaves no temporary file") {
  const TestDirectory dir;
  PosixFiles files;
  REQUIRE(WriteFileAtomically(files, dir / "a", std::string(100'000, 'x')).ok());
  REQUIRE(WriteFileAtomically(files, dir / "a", "short").ok());
  CHECK(ReadFile(files, dir / "a", 100).value() == "short");
  CHECK(files.List(dir.path()).value() == std::vector<std::string>{"a"});
  // A longer temporary file left by a crash does not show through.
  REQUIRE(files.Open(dir / ".a.tmp", OpenMode::kCreate).value()->WriteAt(0, "leftover").ok());
  REQUIRE(WriteFileAtomically(files, dir / "a", "new").ok());
  CHECK(ReadFile(files, dir / "a", 100).value() == "new");
}

TEST_CASE("reading a whole file has a limit, and /proc files have no size") {
  const TestDirectory dir;
  PosixFiles files;
  REQUIRE(WriteFileAtomically(files, dir / "a", "12345").ok());
  CHECK(ReadFile(files, dir / "a", 5).value() == "12345");
  CHECK(ReadFile(files, dir / "a", 4).error().code() == Code::kInvalid);
  CHECK(ReadFile(files, "/proc/self/status", 1 << 20).value().size() > 100);
  CHECK(ReadFile(files, dir.path(), 10).error().code() == Code::kInvalid);
}

TEST_CASE("paths are taken apart and made absolute by their text alone") {
  CHECK(JoinPath("a", "b") == "a/b");
  CHECK(JoinPath("a/", "b") == "a/b");
  CHECK(JoinPath("", "b") == "b");
  CHECK(JoinPath("/", "b") == "/b");
  CHECK(DirectoryOf("a/b") == "a");
  CHECK(DirectoryOf("/b") == "/");
  CHECK(DirectoryOf("b") == ".");
  CHECK(BaseName("a/b") == "b");
  CHECK(BaseName("b") == "b");
  PosixFiles files;
  CHECK(files.AbsolutePath("/a/./b/../c/") == "/a/c");
  CHECK(files.AbsolutePath("/") == "/");
  CHECK(files.AbsolutePath("x/y") == std::filesystem::current_path().string() + "/x/y");
}

TEST_CASE("a directory that cannot take files says so without being tried") {
  const TestDirectory dir;
  PosixFiles files;
  CHECK(files.CheckWritable(dir.path()).ok());
  CHECK(files.CheckWritable(dir / "none").code() == Code::kNotFound);
  REQUIRE(WriteFileAtomically(files, dir / "file", "x").ok());
  CHECK(files.CheckWritable(dir / "file/below").code() == Code::kCannotCreate);
  CHECK(files.List(dir.path()).value() == std::vector<std::string>{"file"});
}

TEST_CASE("free space is told for files and directories") {
  const TestDirectory dir;
  PosixFiles files;
  const SpaceInfo space = files.Space(dir.path()).value();
  CHECK(space.total_bytes > 0);
  CHECK(space.free_bytes <= space.total_bytes);
}

}  // namespace
}  // namespace weir::io
