// PosixFiles: the real file system. Every call that changes it passes the kill-at-write counter
// first (io/fault.h), so that a crash test can stop the process in front of each of them.
#ifndef WEIR_IO_POSIX_FILES_H_
#define WEIR_IO_POSIX_FILES_H_

#include <memory>
#include <string>
#include <vector>

#include "io/files.h"

namespace weir::io {

class PosixFiles : public Files {
 public:
  Result<std::unique_ptr<File>> Open(const std::string& path, OpenMode mode) override;
  Result<FileStat> Stat(const std::string& path) override;
  bool Exists(const std::string& path) override;
  Result<std::vector<std::string>> List(const std::string& directory) override;
  Result<std::vector<DirectoryEntry>> ListStats(
      const std::string& directory, const std::function<bool(std::string_view)>& wanted) override;
  Status MakeDirectory(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status RenameNoReplace(const std::string& from, const std::string& to) override;
  Status Remove(const std::string& path) override;
  Status SyncDirectory(const std::string& directory) override;
  Status CheckWritable(const std::string& directory) override;
  Result<SpaceInfo> Space(const std::string& path) override;
  std::string AbsolutePath(const std::string& path) override;
  std::string RealPath(const std::string& path) override;
};

}  // namespace weir::io

#endif  // WEIR_IO_POSIX_FILES_H_
