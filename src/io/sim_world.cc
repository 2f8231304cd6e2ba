#include "io/sim_world.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "io/errno_status.h"

namespace weir::io {

Status SimulationStopped() {
  return Status(Code::kUnknownOutcome, "the simulated machine has stopped");
}

std::string NormalizeSimPath(std::string_view path) {
  std::vector<std::string_view> parts;
  for (const std::string_view part : Split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else if (!parts.empty()) {
      parts.pop_back();
    }
  }
  std::string out;
  for (const std::string_view part : parts) out.append("/").append(part);
  return out.empty() ? "/" : out;
}

bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.substr(0, directory.size()) == directory &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

FileStat StatOf(const SimNode& node) {
  FileStat out;
  out.device = 100 + node.mount;
  out.inode = node.inode;
  out.size = node.cached.size();
  out.mtime_ns = node.mtime_ns;
  out.ctime_ns = node.mtime_ns;
  out.mode = node.is_directory ? 0755 : 0644;
  out.is_directory = node.is_directory;
  out.is_regular = !node.is_directory;
  return out;
}

std::string_view SimOpName(SimOpKind kind) {
  switch (kind) {
    case SimOpKind::kCreate:
      return "create";
    case SimOpKind::kWrite:
      return "write";
    case SimOpKind::kTruncate:
      return "truncate";
    case SimOpKind::kSync:
      return "sync";
    case SimOpKind::kMakeDirectory:
      return "mkdir";
    case SimOpKind::kRename:
      return "rename";
    case SimOpKind::kRemove:
      return "remove";
    case SimOpKind::kSyncDirectory:
      return "sync directory";
  }
  return "";
}

SimFiles::World::Place SimFiles::World::Find(const std::string& normalized) const {
  Place place;
  if (normalized == "/") {
    place.node = kRootNode;
    return place;
  }
  const std::vector<std::string_view> parts = Split(std::string_view(normalized).substr(1), '/');
  NodeId at = kRootNode;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!disk.node(at).is_directory) {
      place.error = ENOTDIR;
      return place;
    }
    const auto& entries = disk.node(at).cached_entries;
    const auto entry = entries.find(std::string(parts[i]));
    const bool last = i + 1 == parts.size();
    if (last) {
      place.parent = at;
      place.name = parts[i];
      if (entry != entries.end()) place.node = entry->second;
      return place;
    }
    if (entry == entries.end()) {
      place.error = ENOENT;
      return place;
    }
    at = entry->second;
  }
  return place;
}

size_t SimFiles::World::MountOf(std::string_view path) const {
  size_t best = 0;
  for (size_t i = 0; i < disk.mounts().size(); ++i) {
    const std::string& directory = disk.mounts()[i].directory;
    if (IsAtOrBelow(path, directory) && directory.size() >= disk.mounts()[best].directory.size()) {
      best = i;
    }
  }
  return best;
}

bool SimFiles::World::IsReadOnly(std::string_view path) const {
  return std::any_of(read_only.begin(), read_only.end(),
                     [&](const std::string& directory) { return IsAtOrBelow(path, directory); });
}

NodeId SimFiles::World::Put(const std::string& full, bool is_directory) {
  NodeId at = kRootNode;
  if (full == "/") return at;
  std::string path;
  const std::vector<std::string_view> parts = Split(std::string_view(full).substr(1), '/');
  for (size_t i = 0; i < parts.size(); ++i) {
    path.append("/").append(parts[i]);
    const Place place = Find(path);
    if (place.node) {
      at = *place.node;
      continue;
    }
    const NodeId node = disk.NewNode(is_directory || i + 1 < parts.size(), MountOf(path));
    disk.Link(at, std::string(parts[i]), node);
    disk.SyncDirectory(at);
    at = node;
  }
  return at;
}

Status SimFiles::World::Before(SimOp op, bool* lost_pages) {
  if (crashed) return SimulationStopped();
  op.number = ++operations;
  trace.push_back(op);
  const SimFault fault = hook ? hook(op) : SimFault::kNone;
  const std::string what = std::string(SimOpName(op.kind)) + " (injected)";
  switch (fault) {
    case SimFault::kNone:
      return Status::Ok();
    case SimFault::kNoSpace:
      // As on a real disk: a sync has no error that means "wait for space".
      return ErrnoStatus(ENOSPC,
                         op.kind == SimOpKind::kSync || op.kind == SimOpKind::kSyncDirectory
                             ? CallKind::kSync
                             : CallKind::kOpenForWrite,
                         what, op.path);
    case SimFault::kSyncLosesPages:
      if (lost_pages != nullptr) *lost_pages = true;
      return ErrnoStatus(EIO, CallKind::kSync, what, op.path);
    case SimFault::kIoError:
      return ErrnoStatus(EIO, CallKind::kWrite, what, op.path);
    case SimFault::kCrash:
      crashed = true;
      return SimulationStopped();
  }
  return Status::Ok();
}

namespace {

class SimFile : public File {
 public:
  SimFile(SimFiles::World& world, NodeId id, std::string path, bool writable)
      : world_(world), id_(id), path_(std::move(path)), writable_(writable) {
    ++node().open_files;
  }

  ~SimFile() override {
    const std::lock_guard lock(world_.mutex);
    --node().open_files;
    if (node().lock_owner == this) node().lock_owner = nullptr;
  }

  Result<size_t> ReadAt(uint64_t offset, std::span<char> out) override {
    const std::lock_guard lock(world_.mutex);
    if (world_.crashed) return Fail(SimulationStopped());
    if (node().is_directory) return Fail(ErrnoStatus(EISDIR, CallKind::kRead, "read", path_));
    const std::string& content = node().cached;
    if (offset >= content.size()) return size_t{0};
    return content.copy(out.data(), out.size(), static_cast<size_t>(offset));
  }

  Status WriteAt(uint64_t offset, std::string_view bytes) override {
    const std::lock_guard lock(world_.mutex);
    if (bytes.empty()) return Status::Ok();
    if (!writable_) return ErrnoStatus(EBADF, CallKind::kWrite, "write", path_);
    SimOp op{0, SimOpKind::kWrite, path_, "", offset, bytes.size()};
    WEIR_RETURN_IF_ERROR(world_.Before(std::move(op)));
    const uint64_t room = RoomFor(offset + bytes.size());
    if (room >= offset + bytes.size()) {
      world_.disk.Write(id_, offset, bytes);
      return Status::Ok();
    }
    if (room > offset) world_.disk.Write(id_, offset, bytes.substr(0, room - offset));
    return ErrnoStatus(ENOSPC, CallKind::kWrite, "write", path_);
  }

  Status Truncate(uint64_t size) override {
    const std::lock_guard lock(world_.mutex);
    if (!writable_) return ErrnoStatus(EBADF, CallKind::kWrite, "truncate", path_);
    WEIR_RETURN_IF_ERROR(world_.Before({0, SimOpKind::kTruncate, path_, "", size, 0}));
    if (RoomFor(size) < size) return ErrnoStatus(ENOSPC, CallKind::kWrite, "truncate", path_);
    world_.disk.Truncate(id_, size);
    return Status::Ok();
  }

  Status Sync() override {
    const std::lock_guard lock(world_.mutex);
    bool lost_pages = false;
    const Status status = world_.Before({0, SimOpKind::kSync, path_, "", 0, 0}, &lost_pages);
    if (lost_pages) world_.disk.ForgetWaiting(id_);
    if (status.ok()) world_.disk.SyncFile(id_);
    return status;
  }

  Result<FileStat> Stat() override {
    const std::lock_guard lock(world_.mutex);
    if (world_.crashed) return Fail(SimulationStopped());
    return StatOf(node());
  }

  Status Lock() override {
    const std::lock_guard lock(world_.mutex);
    if (world_.crashed) return SimulationStopped();
    if (node().lock_owner != nullptr && node().lock_owner != this) {
      return ErrnoStatus(EWOULDBLOCK, CallKind::kOpenForWrite, "lock", path_);
    }
    node().lock_owner = this;
    return Status::Ok();
  }

 private:
  SimNode& node() { return world_.disk.node(id_); }

  // The size up to `wanted` that this file can have on its mount.
  uint64_t RoomFor(uint64_t wanted) {
    const uint64_t has = SimDisk::RoundUp(node().cached.size());
    const uint64_t capacity = world_.disk.mounts()[node().mount].capacity_bytes;
    if (wanted <= has || capacity == UINT64_MAX) return wanted;
    const uint64_t used = world_.disk.UsedBytes(node().mount);
    const uint64_t free = used < capacity ? capacity - used : 0;
    return std::min(wanted, has + free / SimDisk::kBlockBytes * SimDisk::kBlockBytes);
  }

  SimFiles::World& world_;
  const NodeId id_;
  const std::string path_;
  const bool writable_;
};

}  // namespace

std::unique_ptr<File> NewSimFile(SimFiles::World& world, NodeId node, std::string path,
                                 bool writable) {
  return std::make_unique<SimFile>(world, node, std::move(path), writable);
}

}  // namespace weir::io
