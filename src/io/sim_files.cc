#include "io/sim_files.h"

#include <cerrno>

#include "base/check.h"
#include "base/text.h"
#include "io/errno_status.h"
#include "io/sim_world.h"

namespace weir::io {

SimFiles::SimFiles() : world_(std::make_unique<World>()) {}
SimFiles::SimFiles(std::unique_ptr<World> world) : world_(std::move(world)) {}
SimFiles::~SimFiles() = default;

Result<std::unique_ptr<File>> SimFiles::Open(const std::string& path, OpenMode mode) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return Fail(SimulationStopped());
  const bool writable = mode != OpenMode::kRead;
  const bool creates = mode == OpenMode::kCreate || mode == OpenMode::kCreateNew;
  const CallKind kind = writable ? CallKind::kOpenForWrite : CallKind::kOpenForRead;
  const auto fail = [&](int error) {
    return Fail(ErrnoStatus(error, kind, creates ? "create" : "open", path));
  };
  const std::string full = NormalizeSimPath(path);
  World::Place place = world_->Find(full);
  if (place.error != 0) return fail(place.error);
  if (!place.node && !creates) return fail(ENOENT);
  if (place.node && mode == OpenMode::kCreateNew) return fail(EEXIST);
  if (writable && world_->IsReadOnly(full)) return fail(EROFS);
  if (place.node && writable && world_->disk.node(*place.node).is_directory) return fail(EISDIR);
  if (!place.node) {
    if (Status s = world_->Before({0, SimOpKind::kCreate, full, "", 0, 0}); !s.ok()) return Fail(s);
    place.node = world_->disk.NewNode(/*is_directory=*/false, world_->MountOf(full));
    world_->disk.Link(place.parent, place.name, *place.node);
  }
  return NewSimFile(*world_, *place.node, full, writable);
}

Result<FileStat> SimFiles::Stat(const std::string& path) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return Fail(SimulationStopped());
  const World::Place place = world_->Find(NormalizeSimPath(path));
  if (!place.node) {
    const int error = place.error != 0 ? place.error : ENOENT;
    return Fail(ErrnoStatus(error, CallKind::kRead, "stat", path));
  }
  return StatOf(world_->disk.node(*place.node));
}

bool SimFiles::Exists(const std::string& path) {
  const std::lock_guard lock(world_->mutex);
  return !world_->crashed && world_->Find(NormalizeSimPath(path)).node.has_value();
}

Result<std::vector<std::string>> SimFiles::List(const std::string& directory) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return Fail(SimulationStopped());
  const World::Place place = world_->Find(NormalizeSimPath(directory));
  int error = place.error;
  if (error == 0 && !place.node) error = ENOENT;
  if (error == 0 && !world_->disk.node(*place.node).is_directory) error = ENOTDIR;
  if (error != 0) return Fail(ErrnoStatus(error, CallKind::kOpenForRead, "list", directory));
  std::vector<std::string> names;
  for (const auto& [name, id] : world_->disk.node(*place.node).cached_entries) {
    names.push_back(name);
  }
  return names;
}

Result<std::vector<DirectoryEntry>> SimFiles::ListStats(
    const std::string& directory, const std::function<bool(std::string_view)>& wanted) {
  WEIR_ASSIGN_OR_RETURN(const std::vector<std::string> names, List(directory));
  std::vector<DirectoryEntry> entries;
  for (const std::string& name : names) {
    if (wanted(name)) entries.push_back({name, Stat(JoinPath(directory, name))});
  }
  return entries;
}

Status SimFiles::MakeDirectory(const std::string& path) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return SimulationStopped();
  const std::string full = NormalizeSimPath(path);
  const World::Place place = world_->Find(full);
  int error = place.error;
  if (error == 0 && place.node) error = EEXIST;
  if (error == 0 && world_->IsReadOnly(full)) error = EROFS;
  if (error != 0) return ErrnoStatus(error, CallKind::kOpenForWrite, "create directory", path);
  WEIR_RETURN_IF_ERROR(world_->Before({0, SimOpKind::kMakeDirectory, full, "", 0, 0}));
  const NodeId node = world_->disk.NewNode(/*is_directory=*/true, world_->MountOf(full));
  world_->disk.Link(place.parent, place.name, node);
  return Status::Ok();
}

namespace {

// Whether a rename onto something that exists may replace it.
int ReplaceError(const SimNode& from, const SimNode& to) {
  if (from.is_directory && !to.is_directory) return ENOTDIR;
  if (!from.is_directory && to.is_directory) return EISDIR;
  if (to.is_directory && !to.cached_entries.empty()) return ENOTEMPTY;
  return 0;
}

}  // namespace

Status SimFiles::RenameImpl(const std::string& from, const std::string& to, bool replace) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return SimulationStopped();
  const std::string full_from = NormalizeSimPath(from);
  const std::string full_to = NormalizeSimPath(to);
  const World::Place source = world_->Find(full_from);
  const World::Place target = world_->Find(full_to);
  const SimDisk& disk = world_->disk;
  int error = source.error != 0 ? source.error : target.error;
  if (error == 0 && !source.node) error = ENOENT;
  if (error == 0 && (full_from == "/" || full_to == "/")) error = EBUSY;
  if (error == 0 && (world_->IsReadOnly(full_from) || world_->IsReadOnly(full_to))) error = EROFS;
  if (error == 0 && target.node && !replace) error = EEXIST;
  if (error == 0 && disk.node(source.parent).mount != disk.node(target.parent).mount) error = EXDEV;
  if (error == 0 && full_from != full_to && IsAtOrBelow(full_to, full_from)) error = EINVAL;
  if (error == 0 && target.node)
    error = ReplaceError(disk.node(*source.node), disk.node(*target.node));
  if (error != 0) {
    return ErrnoStatus(error, CallKind::kOpenForWrite, "rename " + from + " to", to);
  }
  WEIR_RETURN_IF_ERROR(world_->Before({0, SimOpKind::kRename, full_from, full_to, 0, 0}));
  if (source.node != target.node) {
    world_->disk.Rename(source.parent, source.name, target.parent, target.name);
  }
  return Status::Ok();
}

Status SimFiles::Rename(const std::string& from, const std::string& to) {
  return RenameImpl(from, to, /*replace=*/true);
}

Status SimFiles::RenameNoReplace(const std::string& from, const std::string& to) {
  return RenameImpl(from, to, /*replace=*/false);
}

Status SimFiles::Remove(const std::string& path) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return SimulationStopped();
  const std::string full = NormalizeSimPath(path);
  const World::Place place = world_->Find(full);
  int error = place.error;
  if (error == 0 && !place.node) error = ENOENT;
  if (error == 0 && full == "/") error = EBUSY;
  if (error == 0 && world_->IsReadOnly(full)) error = EROFS;
  if (error == 0 && !world_->disk.node(*place.node).cached_entries.empty()) error = ENOTEMPTY;
  if (error != 0) return ErrnoStatus(error, CallKind::kOpenForWrite, "remove", path);
  WEIR_RETURN_IF_ERROR(world_->Before({0, SimOpKind::kRemove, full, "", 0, 0}));
  world_->disk.Unlink(place.parent, place.name);
  return Status::Ok();
}

Status SimFiles::SyncDirectory(const std::string& directory) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return SimulationStopped();
  const std::string full = NormalizeSimPath(directory);
  const World::Place place = world_->Find(full);
  int error = place.error;
  if (error == 0 && !place.node) error = ENOENT;
  if (error == 0 && !world_->disk.node(*place.node).is_directory) error = ENOTDIR;
  if (error != 0) return ErrnoStatus(error, CallKind::kOpenForRead, "open directory", directory);
  WEIR_RETURN_IF_ERROR(world_->Before({0, SimOpKind::kSyncDirectory, full, "", 0, 0}));
  world_->disk.SyncDirectory(*place.node);
  return Status::Ok();
}

Status SimFiles::CheckWritable(const std::string& directory) {
  const std::lock_guard lock(world_->mutex);
  const std::string full = NormalizeSimPath(directory);
  const int error = !world_->Find(full).node ? ENOENT : world_->IsReadOnly(full) ? EROFS : 0;
  return error == 0 ? Status::Ok()
                    : ErrnoStatus(error, CallKind::kOpenForWrite, "create files in", directory);
}

Result<SpaceInfo> SimFiles::Space(const std::string& path) {
  const std::lock_guard lock(world_->mutex);
  if (world_->crashed) return Fail(SimulationStopped());
  const std::string full = NormalizeSimPath(path);
  if (!world_->Find(full).node) {
    return Fail(ErrnoStatus(ENOENT, CallKind::kRead, "ask for the free space of", path));
  }
  const size_t mount = world_->MountOf(full);
  const uint64_t capacity = world_->disk.mounts()[mount].capacity_bytes;
  const uint64_t used = world_->disk.UsedBytes(mount);
  SpaceInfo out;
  // A disk without a limit shows a terabyte: a share of it in percent still means something.
  out.total_bytes = capacity == UINT64_MAX ? uint64_t{1} << 40 : capacity;
  out.free_bytes = used < out.total_bytes ? out.total_bytes - used : 0;
  return out;
}

std::string SimFiles::AbsolutePath(const std::string& path) { return NormalizeSimPath(path); }
std::string SimFiles::RealPath(const std::string& path) { return NormalizeSimPath(path); }

std::unique_ptr<SimFiles> SimFiles::AfterKill() const {
  const std::lock_guard lock(world_->mutex);
  auto next = std::make_unique<World>();
  next->disk = world_->disk;
  next->disk.EndProcess();
  next->read_only = world_->read_only;
  return std::unique_ptr<SimFiles>(new SimFiles(std::move(next)));
}

std::unique_ptr<SimFiles> SimFiles::AfterPowerCut(uint64_t seed, PowerCutReport* report) const {
  std::unique_ptr<SimFiles> next = AfterKill();
  next->world_->disk.CutPower(seed, report);
  return next;
}

void SimFiles::OnOperation(Hook hook) {
  const std::lock_guard lock(world_->mutex);
  world_->hook = std::move(hook);
}

void SimFiles::CrashAt(uint64_t operation_number) { FailAt(operation_number, SimFault::kCrash); }

void SimFiles::FailAt(uint64_t operation_number, SimFault fault) {
  OnOperation(
      [=](const SimOp& op) { return op.number == operation_number ? fault : SimFault::kNone; });
}

bool SimFiles::crashed() const {
  const std::lock_guard lock(world_->mutex);
  return world_->crashed;
}

uint64_t SimFiles::operations() const {
  const std::lock_guard lock(world_->mutex);
  return world_->operations;
}

std::vector<SimOp> SimFiles::trace() const {
  const std::lock_guard lock(world_->mutex);
  return world_->trace;
}

void SimFiles::Mount(const std::string& directory, uint64_t capacity_bytes) {
  const std::lock_guard lock(world_->mutex);
  const std::string full = NormalizeSimPath(directory);
  const World::Place place = world_->Find(full);
  CHECK(place.node && world_->disk.node(*place.node).cached_entries.empty());
  world_->disk.mounts().push_back({full, capacity_bytes});
  world_->disk.node(*place.node).mount = world_->disk.mounts().size() - 1;
}

void SimFiles::SetCapacity(const std::string& directory, uint64_t capacity_bytes) {
  const std::lock_guard lock(world_->mutex);
  world_->disk.mounts()[world_->MountOf(NormalizeSimPath(directory))].capacity_bytes =
      capacity_bytes;
}

uint64_t SimFiles::UsedBytes(const std::string& directory) const {
  const std::lock_guard lock(world_->mutex);
  return world_->disk.UsedBytes(world_->MountOf(NormalizeSimPath(directory)));
}

void SimFiles::SetReadOnly(const std::string& directory, bool read_only) {
  const std::lock_guard lock(world_->mutex);
  if (read_only) {
    world_->read_only.insert(NormalizeSimPath(directory));
  } else {
    world_->read_only.erase(NormalizeSimPath(directory));
  }
}

void SimFiles::SetReuseInodes(bool reuse) {
  const std::lock_guard lock(world_->mutex);
  world_->disk.set_reuse_inodes(reuse);
}

void SimFiles::PutDirectory(const std::string& path) {
  const std::lock_guard lock(world_->mutex);
  (void)world_->Put(NormalizeSimPath(path), /*is_directory=*/true);
}

void SimFiles::PutFile(const std::string& path, std::string_view bytes) {
  const std::lock_guard lock(world_->mutex);
  const NodeId node = world_->Put(NormalizeSimPath(path), /*is_directory=*/false);
  CHECK(!world_->disk.node(node).is_directory);
  world_->disk.Truncate(node, 0);
  world_->disk.Write(node, 0, bytes);
  world_->disk.SyncFile(node);
}

Result<std::string> SimFiles::DurableContent(const std::string& path) const {
  const std::lock_guard lock(world_->mutex);
  NodeId at = kRootNode;
  const std::string full = NormalizeSimPath(path);
  for (const std::string_view part : Split(std::string_view(full).substr(1), '/')) {
    const auto& entries = world_->disk.node(at).durable_entries;
    const auto entry = entries.find(std::string(part));
    if (entry == entries.end()) return Fail(Code::kNotFound, path + " is not on the medium");
    at = entry->second;
  }
  return world_->disk.node(at).durable;
}

}  // namespace weir::io
