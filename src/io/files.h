// Files: the one door to the file system. Two implementations: PosixFiles (io/posix_files.h) and
// the simulated disk of the power-cut tests (io/sim_files.h), where unsynced writes, renames and
// unlinks vanish, tear or survive in any order.
//
// Errors: ENOSPC and EDQUOT are Code::kNoSpace and never an unknown outcome. A failed Sync, and EIO
// from anywhere, is Code::kUnknownOutcome: the caller stops using the file and never syncs again.
// ENOENT is kNotFound, EEXIST kExists, EACCES/EPERM/EROFS/ENOTDIR/EISDIR on opening for write
// kCannotCreate. Every message names the path. Thread-safe: the loop and the disk worker use one
// Files at once, never one File at once (a File's owner says who).
#ifndef WEIR_IO_FILES_H_
#define WEIR_IO_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace weir::io {

struct FileStat {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;     // bytes
  int64_t mtime_ns = 0;  // since 1970
  int64_t ctime_ns = 0;
  uint32_t mode = 0;  // permission bits
  bool is_directory = false;
  bool is_regular = false;
};

enum class OpenMode {
  kRead,       // must exist
  kReadWrite,  // must exist
  kCreate,     // read-write, created when absent, kept as it is when present
  kCreateNew,  // read-write, kExists when present
};

class File {
 public:
  virtual ~File() = default;  // closes; never syncs
  // Reads up to out.size() bytes at `offset`; fewer only at the end of the file.
  virtual Result<size_t> ReadAt(uint64_t offset, std::span<char> out) = 0;
  // Writes all bytes, or fails; after kNoSpace a prefix may have been written (writing the whole
  // again is right).
  virtual Status WriteAt(uint64_t offset, std::string_view bytes) = 0;
  virtual Status Truncate(uint64_t size) = 0;
  // Data and size durable (fdatasync). Never retried after a failure.
  virtual Status Sync() = 0;
  virtual Result<FileStat> Stat() = 0;
  // An exclusive advisory lock that lives as long as the File; kBusy when held. For the state
  // directory's lock file.
  virtual Status Lock() = 0;
};

// One name of a directory and what is behind it (links followed).
struct DirectoryEntry {
  std::string name;
  Result<FileStat> stat;
};

struct SpaceInfo {
  uint64_t free_bytes = 0;  // available to us
  uint64_t total_bytes = 0;
};

class Files {
 public:
  virtual ~Files() = default;
  virtual Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) = 0;
  virtual Result<FileStat> Stat(const std::string& path) = 0;  // follows links
  virtual bool Exists(const std::string& path) = 0;
  // Names (not paths), sorted by byte value; "." and ".." left out.
  virtual Result<std::vector<std::string>> List(const std::string& directory) = 0;
  // List and Stat in one pass over the names that are wanted: a directory of 100,000 files is
  // looked at in half the time.
  virtual Result<std::vector<DirectoryEntry>> ListStats(
      const std::string& directory, const std::function<bool(std::string_view)>& wanted) = 0;
  virtual Status MakeDirectory(const std::string& path) = 0;  // one level; kExists when present
  virtual Status Rename(const std::string& from, const std::string& to) = 0;  // replaces
  virtual Status RenameNoReplace(const std::string& from,
                                 const std::string& to) = 0;  // kExists when `to` exists
  virtual Status Remove(const std::string& path) = 0;         // a file or an empty directory
  // Makes creations, renames and removals in a directory durable. Never retried after a failure.
  virtual Status SyncDirectory(const std::string& directory) = 0;
  // Whether files can be created in this directory; nothing is tried. kCannotCreate with the
  // reason.
  virtual Status CheckWritable(const std::string& directory) = 0;
  virtual Result<SpaceInfo> Space(const std::string& path) = 0;
  virtual std::string AbsolutePath(
      const std::string& path) = 0;  // lexical, against the working directory
  // Absolute, and with every link followed as far as the path exists; what does not exist yet is
  // kept as it is written (a link to a file that is still to be made is followed). Two names of one
  // place are one text.
  virtual std::string RealPath(const std::string& path) = 0;
};

// Whole small files. WriteFileAtomically: temporary name in the same directory, sync, rename, sync
// of the directory.
Result<std::string> ReadFile(Files& files, const std::string& path, uint64_t max_bytes);
Status WriteFileAtomically(Files& files, const std::string& path, std::string_view bytes);
std::string JoinPath(std::string_view directory, std::string_view name);
std::string DirectoryOf(std::string_view path);  // "." when there is none
std::string BaseName(std::string_view path);

}  // namespace weir::io

#endif  // WEIR_IO_FILES_H_
