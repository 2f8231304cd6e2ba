#include "io/posix_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "io/errno_status.h"
#include "io/fault.h"

namespace weir::io {
namespace {

template <class Call>
auto RetryOnSignal(Call call) {
  decltype(call()) result;
  do {
    result = call();
  } while (result == -1 && errno == EINTR);
  return result;
}

FileStat FromPosix(const struct stat& st) {
  FileStat out;
  out.device = st.st_dev;
  out.inode = st.st_ino;
  out.size = static_cast<uint64_t>(st.st_size);
  out.mtime_ns = int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec;
  out.ctime_ns = int64_t{st.st_ctim.tv_sec} * 1'000'000'000 + st.st_ctim.tv_nsec;
  out.mode = st.st_mode & 07777;
  out.is_directory = S_ISDIR(st.st_mode);
  out.is_regular = S_ISREG(st.st_mode);
  return out;
}

class PosixFile : public File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  ~PosixFile() override {
    ::close(fd_);
  }  // what counts was synced; a failed close says nothing new
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;

  Result<size_t> ReadAt(uint64_t offset, std::span<char> out) override {
    size_t done = 0;
    while (done < out.size()) {
      const ssize_t n = RetryOnSignal([&] {
        return ::pread(fd_, out.data() + done, out.size() - done,
                       static_cast<off_t>(offset + done));
      });
      if (n < 0) return Fail(ErrnoStatus(errno, CallKind::kRead, "read", path_));
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  Status WriteAt(uint64_t offset, std::string_view bytes) override {
    WEIR_BEFORE_FS_CHANGE("write", path_);
    while (!bytes.empty()) {
      const ssize_t n = RetryOnSignal(
          [&] { return ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
      if (n < 0) return ErrnoStatus(errno, CallKind::kWrite, "write", path_);
      bytes.remove_prefix(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
    return Status::Ok();
  }

  Status Truncate(uint64_t size) override {
    WEIR_BEFORE_FS_CHANGE("truncate", path_);
    if (RetryOnSignal([&] { return ::ftruncate(fd_, static_cast<off_t>(size)); }) != 0) {
      return ErrnoStatus(errno, CallKind::kWrite, "truncate", path_);
    }
    return Status::Ok();
  }

  Status Sync() override {
    WEIR_BEFORE_FS_CHANGE("sync", path_);
    // No retry, not even on EINTR: after any failure the kernel may have marked the lost pages
    // clean.
    if (::fdatasync(fd_) != 0) return ErrnoStatus(errno, CallKind::kSync, "sync", path_);
    return Status::Ok();
  }

  Result<FileStat> Stat() override {
    struct stat st;
    if (::fstat(fd_, &st) != 0) return Fail(ErrnoStatus(errno, CallKind::kRead, "stat", path_));
    return FromPosix(st);
  }

  Status Lock() override {
    if (RetryOnSignal([&] { return ::flock(fd_, LOCK_EX | LOCK_NB); }) != 0) {
      return ErrnoStatus(errno, CallKind::kOpenForWrite, "lock", path_);
    }
    return Status::Ok();
  }

 private:
  const int fd_;
  const std::string path_;
};

// Calls `visit` with the directory's descriptor and every name but "." and "..", in no order. A
// name ends with a zero byte.
template <class Visit>
Status ForEachName(const std::string& directory, Visit&& visit) {
  DIR* dir = ::opendir(directory.c_str());
  if (dir == nullptr) return ErrnoStatus(errno, CallKind::kOpenForRead, "list", directory);
  errno = 0;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") visit(::dirfd(dir), name);
    errno = 0;
  }
  const int error = errno;
  ::closedir(dir);
  if (error != 0) return ErrnoStatus(error, CallKind::kRead, "list", directory);
  return Status::Ok();
}

int OpenFlags(OpenMode mode) {
  switch (mode) {
    case OpenMode::kRead:
      return O_RDONLY;
    case OpenMode::kReadWrite:
      return O_RDWR;
    case OpenMode::kCreate:
      return O_RDWR | O_CREAT;
    case OpenMode::kCreateNew:
      return O_RDWR | O_CREAT | O_EXCL;
  }
  return O_RDONLY;
}

}  // namespace

Result<std::unique_ptr<File>> PosixFiles::Open(const std::string& path, OpenMode mode) {
  const int flags = OpenFlags(mode);
  if ((flags & O_CREAT) != 0) WEIR_BEFORE_FS_CHANGE("create", path);
  const int fd = RetryOnSignal([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); });
  if (fd < 0) {
    const bool read_only = mode == OpenMode::kRead;
    return Fail(ErrnoStatus(errno, read_only ? CallKind::kOpenForRead : CallKind::kOpenForWrite,
                            (flags & O_CREAT) != 0 ? "create" : "open", path));
  }
  return std::make_unique<PosixFile>(fd, path);
}

Result<FileStat> PosixFiles::Stat(const std::string& path) {
  struct stat st;
  if (::stat(path.c_str(), &st) != 0) {
    return Fail(ErrnoStatus(errno, CallKind::kRead, "stat", path));
  }
  return FromPosix(st);
}

bool PosixFiles::Exists(const std::string& path) {
  struct stat st;
  // lstat: a dangling link is a thing that a creation would write through or fail on.
  return ::lstat(path.c_str(), &st) == 0;
}

Result<std::vector<std::string>> PosixFiles::List(const std::string& directory) {
  std::vector<std::string> names;
  const Status status =
      ForEachName(directory, [&](int, std::string_view name) { names.emplace_back(name); });
  if (!status.ok()) return Fail(status);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<DirectoryEntry>> PosixFiles::ListStats(
    const std::string& directory, const std::function<bool(std::string_view)>& wanted) {
  std::vector<DirectoryEntry> entries;
  const Status status = ForEachName(directory, [&](int fd, std::string_view name) {
    if (!wanted(name)) return;
    // Relative to the open directory: its own path is not walked again for every name.
    struct stat st;
    if (::fstatat(fd, name.data(), &st, 0) == 0) {
      entries.push_back({std::string(name), FromPosix(st)});
    } else {
      const int error = errno;
      entries.push_back({std::string(name), Fail(ErrnoStatus(error, CallKind::kRead, "stat",
                                                             JoinPath(directory, name)))});
    }
  });
  if (!status.ok()) return Fail(status);
  std::sort(entries.begin(), entries.end(),
            [](const DirectoryEntry& a, const DirectoryEntry& b) { return a.name < b.name; });
  return entries;
}

Status PosixFiles::MakeDirectory(const std::string& path) {
  WEIR_BEFORE_FS_CHANGE("mkdir", path);
  if (::mkdir(path.c_str(), 0777) != 0) {
    return ErrnoStatus(errno, CallKind::kOpenForWrite, "create directory", path);
  }
  return Status::Ok();
}

Status PosixFiles::Rename(const std::string& from, const std::string& to) {
  WEIR_BEFORE_FS_CHANGE("rename", from);
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return ErrnoStatus(errno, CallKind::kOpenForWrite, "rename " + from + " to", to);
  }
  return Status::Ok();
}

Status PosixFiles::RenameNoReplace(const std::string& from, const std::string& to) {
  WEIR_BEFORE_FS_CHANGE("rename", from);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return Status::Ok();
  }
  int error = errno;
  if (error == EINVAL || error == ENOSYS) {
    // A file system without the flag (NFS, older FUSE). A hard link never replaces either; dying
    // between the two calls leaves both names on one file, which the caller recognises by length
    // and digest.
    if (::link(from.c_str(), to.c_str()) == 0 && ::unlink(from.c_str()) == 0) return Status::Ok();
    error = errno;
  }
  return ErrnoStatus(error, CallKind::kOpenForWrite, "rename " + from + " to", to);
}

Status PosixFiles::Remove(const std::string& path) {
  WEIR_BEFORE_FS_CHANGE("remove", path);
  int rc = ::unlink(path.c_str());
  if (rc != 0 && errno == EISDIR) rc = ::rmdir(path.c_str());
  if (rc != 0) return ErrnoStatus(errno, CallKind::kOpenForWrite, "remove", path);
  return Status::Ok();
}

Status PosixFiles::SyncDirectory(const std::string& directory) {
  WEIR_BEFORE_FS_CHANGE("sync", directory);
  const int fd =
      RetryOnSignal([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd < 0) return ErrnoStatus(errno, CallKind::kOpenForRead, "open directory", directory);
  const int rc = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  if (rc != 0) return ErrnoStatus(error, CallKind::kSync, "sync directory", directory);
  return Status::Ok();
}

Result<SpaceInfo> PosixFiles::Space(const std::string& path) {
  struct statvfs st;
  if (RetryOnSignal([&] { return ::statvfs(path.c_str(), &st); }) != 0) {
    return Fail(ErrnoStatus(errno, CallKind::kRead, "ask for the free space of", path));
  }
  SpaceInfo out;
  out.free_bytes =
      uint64_t{st.f_bavail} * st.f_frsize;  // bavail, not bfree: root's reserve is not ours
  out.total_bytes = uint64_t{st.f_blocks} * st.f_frsize;
  return out;
}

Status PosixFiles::CheckWritable(const std::string& directory) {
  if (RetryOnSignal([&] { return ::access(directory.c_str(), W_OK | X_OK); }) == 0)
    return Status::Ok();
  return ErrnoStatus(errno, CallKind::kOpenForWrite, "create files in", directory);
}

std::string PosixFiles::AbsolutePath(const std::string& path) {
  std::error_code error;
  std::filesystem::path full(path);
  if (full.is_relative()) full = std::filesystem::current_path(error) / full;
  std::string out = full.lexically_normal().string();
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

std::string PosixFiles::RealPath(const std::string& path) {
  constexpr int kLinksMax = 40;  // as the kernel; beyond it the path cannot be opened either
  namespace fs = std::filesystem;
  std::error_code error;
  // Not normalised first: "link/.." is the parent of what the link points at.
  fs::path full = fs::path(path).is_relative() ? fs::current_path(error) / path : fs::path(path);
  for (int links = 0; links < kLinksMax; ++links) {
    const fs::path real = fs::weakly_canonical(full, error);
    if (error) break;
    full = real;
    // What is left of links points at what does not exist yet.
    const fs::path target = fs::read_symlink(full, error);
    if (error) break;
    full = target.is_relative() ? full.parent_path() / target : target;
  }
  return AbsolutePath(full.string());
}

}  // namespace weir::io
