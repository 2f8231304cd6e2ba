// The files of a state directory around state.db: lock, reserve, what only a run makes, and moving
// all of it aside.
#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "io/fault.h"
#include "store/segment.h"
#include "store/store_impl.h"

namespace weir::store {
namespace {

constexpr char kReserveName[] = "reserve";

std::string PidIn(io::Files& files, const std::string& path) {
  const Result<std::string> text = io::ReadFile(files, path, 64);
  if (!text) return "unknown";
  const std::string pid(TrimAscii(*text));
  return pid.empty() ? "unknown" : pid;
}

// A file of zeros may cost a compressing file system nothing, and then frees nothing.
Status WriteReserve(io::Env& env, const std::string& path) {
  WEIR_ASSIGN_OR_RETURN(const auto file, env.files.Open(path, io::OpenMode::kCreate));
  std::string block(64 << 10, '\0');
  env.random.Fill(block.data(), static_cast<int>(block.size()));
  for (uint64_t at = 0; at < kReserveBytes; at += block.size()) {
    WEIR_RETURN_IF_ERROR(file->WriteAt(at, block));
  }
  return file->Sync();
}

}  // namespace

Status Store::Impl::EnterDirectory() {
  const Result<io::FileStat> stat = env.files.Stat(directory);
  if (stat) {
    if (stat->is_directory) return Status::Ok();
    return Status(Code::kCannotCreate, directory + " is not a directory");
  }
  if (stat.error().code() != Code::kNotFound) return stat.error();
  if (!options.create || options.read_only) {
    return Status(Code::kNotFound, "no state directory at " + directory);
  }
  if (Status made = env.files.MakeDirectory(directory); !made.ok()) {
    // The directory above is missing: 73, as for any place that nothing can be created in.
    if (made.code() != Code::kNotFound) return made;
    return Status(Code::kCannotCreate, made.message());
  }
  // Else a power cut could take the whole directory with everything that is synced inside it.
  return env.files.SyncDirectory(io::DirectoryOf(directory));
}

Status Store::Impl::TakeLock() {
  const std::string path = Path("lock");
  WEIR_ASSIGN_OR_RETURN(lock, env.files.Open(path, io::OpenMode::kCreate));
  const Status locked = lock->Lock();
  if (locked.code() == Code::kBusy) {
    return Status(Code::kBusy, "the state directory " + directory + " is in use by process " +
                                   PidIn(env.files, path));
  }
  return locked;
}

// Not in TakeLock: a directory of a newer format must stay as it is to the last byte.
Status Store::Impl::WritePid() {
  const std::string pid = std::to_string(env.machine.ProcessId()) + "\n";
  // A full disk must not keep the process from freeing the reserve: the pid is for people.
  Status written = lock->Truncate(0);
  if (written.ok()) written = lock->WriteAt(0, pid);
  return written.code() == Code::kNoSpace ? Status::Ok() : written;
}

std::string Store::Impl::Artifacts() const {
  std::string found;
  for (const char* name : {"spool", "dead", kReserveName}) {
    if (!env.files.Exists(Path(name))) continue;
    if (!found.empty()) found += ", ";
    found += name;
  }
  return found;
}

Status Store::Impl::CheckSpoolFormats() {
  const Result<std::vector<std::string>> sinks = env.files.List(Path("spool"));
  if (!sinks) return Status::Ok();
  for (const std::string& sink : *sinks) {
    WEIR_RETURN_IF_ERROR(CheckSegmentFormats(env.files, io::JoinPath(Path("spool"), sink)));
  }
  return Status::Ok();
}

EpochId Store::Impl::HighestSpoolName() const {
  EpochId highest = 0;
  const Result<std::vector<std::string>> sinks = env.files.List(Path("spool"));
  if (!sinks) return 0;
  for (const std::string& sink : *sinks) {
    for (const uint64_t number : ListSegments(env.files, io::JoinPath(Path("spool"), sink))) {
      highest = std::max(highest, number);
    }
  }
  return highest;
}

void Store::FreeReserve() {
  if (!impl_->env.files.Exists(impl_->Path(kReserveName))) return;
  const Status removed = impl_->env.files.Remove(impl_->Path(kReserveName));
  if (!removed.ok()) {
    LogWarning("reserve_not_freed", {{"error", removed.message()}});
    return;
  }
  LogWarning("reserve_freed", {{"directory", impl_->directory}});
}

void Store::RestoreReserve() {
  Impl& impl = *impl_;
  const std::string path = impl.Path(kReserveName);
  const Result<io::FileStat> there = impl.env.files.Stat(path);
  if (there && there->size >= kReserveBytes) return;
  const Result<io::SpaceInfo> space = impl.env.files.Space(impl.directory);
  // Twice: taking the last of the room back would only be freed again at once.
  if (space && space->free_bytes < 2 * kReserveBytes) return;
  const Status written = WriteReserve(impl.env, path);
  if (written.ok()) return;
  (void)impl.env.files.Remove(path);  // half a reserve is no promise
  LogWarning("reserve_not_written", {{"error", written.message()}});
}

Result<std::string> Quarantine(io::Files& files, const std::string& directory, int64_t wall_ms) {
  const std::string stem = directory + ".damaged-" + std::to_string(wall_ms);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string name = attempt == 0 ? stem : stem + "-" + std::to_string(attempt);
    const Status moved = files.RenameNoReplace(directory, name);
    if (moved.code() == Code::kExists) continue;
    WEIR_RETURN_IF_ERROR(moved);
    WEIR_RETURN_IF_ERROR(files.SyncDirectory(io::DirectoryOf(directory)));
    LogWarning("quarantined", {{"from", directory}, {"to", name}});
    return name;
  }
  return Fail(Code::kExists, "no free name beside " + stem);
}

}  // namespace weir::store
