#include "sqlite/sim_vfs.h"

#include <sqlite3.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "base/check.h"
#include "io/sim_clock.h"

namespace weir::sqlite {
namespace {

struct SimFile;

// What all connections to one path share.
struct SharedFile {
  // Locks of the database file, as SQLite's documentation of xLock tells them.
  int shared_locks = 0;
  const SimFile* reserved = nullptr;
  const SimFile* pending = nullptr;
  const SimFile* exclusive = nullptr;
  // Shared memory of the log. The region's memory must not move.
  std::vector<std::unique_ptr<std::vector<char>>> regions;
  int mappers = 0;
  struct Slot {
    int shared = 0;
    const SimFile* exclusive = nullptr;
  };
  std::array<Slot, SQLITE_SHM_NLOCK> slots;
};

}  // namespace

struct SimVfs::State {
  State(io::Files& f, const char* n, int seed) : files(f), name(n), random(seed) {}
  io::Files& files;
  std::string name;
  io::SimRandom random;
  sqlite3_vfs vfs{};
  std::mutex mutex;  // guards `shared` and what is in it
  std::map<std::string, SharedFile> shared;
  std::atomic<int> open_files{0};
};

namespace {

struct SimFile {
  sqlite3_file base;  // first: SQLite casts
  SimVfs::State* state;
  std::unique_ptr<io::File> file;
  std::string path;
  SharedFile* shared;
  int lock_level;
  bool maps_memory;
  uint32_t shared_slots;  // bits
  bool sync_directory;    // at the first sync: a new log's or journal's name
  bool failed;            // a sync or write failed: see sqlite/vfs.h
};

SimFile* Self(sqlite3_file* file) { return reinterpret_cast<SimFile*>(file); }
SimVfs::State& StateOf(sqlite3_vfs* vfs) { return *static_cast<SimVfs::State*>(vfs->pAppData); }

// The result of a call that changes the file.
int Outcome(sqlite3_file* file, const Status& status, int error) {
  if (status.ok()) return SQLITE_OK;
  if (status.code() == Code::kNoSpace) return SQLITE_FULL;
  Self(file)->failed = true;
  return error;
}

int SimUnlock(sqlite3_file* file, int level);
int SimShmUnmap(sqlite3_file* file, int remove);

int SimClose(sqlite3_file* file) {
  SimUnlock(file, SQLITE_LOCK_NONE);
  SimShmUnmap(file, 0);
  --Self(file)->state->open_files;
  Self(file)->~SimFile();
  return SQLITE_OK;
}

int SimRead(sqlite3_file* file, void* out, int bytes, sqlite3_int64 offset) {
  char* to = static_cast<char*>(out);
  const Result<size_t> n =
      Self(file)->file->ReadAt(static_cast<uint64_t>(offset), {to, static_cast<size_t>(bytes)});
  if (!n) return SQLITE_IOERR_READ;
  if (*n == static_cast<size_t>(bytes)) return SQLITE_OK;
  std::memset(to + *n, 0, static_cast<size_t>(bytes) - *n);  // SQLite relies on the zeros
  return SQLITE_IOERR_SHORT_READ;
}

int SimWrite(sqlite3_file* file, const void* in, int bytes, sqlite3_int64 offset) {
  if (Self(file)->failed) return SQLITE_IOERR_WRITE;
  const std::string_view data(static_cast<const char*>(in), static_cast<size_t>(bytes));
  return Outcome(file, Self(file)->file->WriteAt(static_cast<uint64_t>(offset), data),
                 SQLITE_IOERR_WRITE);
}

int SimTruncate(sqlite3_file* file, sqlite3_int64 size) {
  if (Self(file)->failed) return SQLITE_IOERR_TRUNCATE;
  return Outcome(file, Self(file)->file->Truncate(static_cast<uint64_t>(size)),
                 SQLITE_IOERR_TRUNCATE);
}

int SimSync(sqlite3_file* file, int /*flags*/) {
  SimFile* self = Self(file);
  if (self->failed) return SQLITE_IOERR_FSYNC;
  const int rc = Outcome(file, self->file->Sync(), SQLITE_IOERR_FSYNC);
  if (rc != SQLITE_OK || !self->sync_directory) return rc;
  // As the unix VFS does: the name of a new log is made durable with its first content.
  self->sync_directory = false;
  return Outcome(file, self->state->files.SyncDirectory(io::DirectoryOf(self->path)),
                 SQLITE_IOERR_DIR_FSYNC);
}

int SimFileSize(sqlite3_file* file, sqlite3_int64* size) {
  const Result<io::FileStat> stat = Self(file)->file->Stat();
  if (!stat) return SQLITE_IOERR_FSTAT;
  *size = static_cast<sqlite3_int64>(stat->size);
  return SQLITE_OK;
}

bool HeldByOther(const SimFile* holder, const SimFile* self) {
  return holder != nullptr && holder != self;
}

int SimLock(sqlite3_file* file, int level) {
  SimFile* self = Self(file);
  const std::lock_guard lock(self->state->mutex);
  SharedFile& shared = *self->shared;
  if (self->lock_level >= level) return SQLITE_OK;
  if (HeldByOther(shared.exclusive, self)) return SQLITE_BUSY;
  if (level == SQLITE_LOCK_SHARED) {
    if (HeldByOther(shared.pending, self)) return SQLITE_BUSY;
    ++shared.shared_locks;
  } else if (HeldByOther(shared.reserved, self) || HeldByOther(shared.pending, self)) {
    return SQLITE_BUSY;
  } else if (level == SQLITE_LOCK_RESERVED) {
    shared.reserved = self;
  } else {
    shared.pending = self;  // kept when others still read: no new reader comes in
    self->lock_level = SQLITE_LOCK_PENDING;
    if (shared.shared_locks > 1) return SQLITE_BUSY;
    shared.exclusive = self;
  }
  self->lock_level = level;
  return SQLITE_OK;
}

int SimUnlock(sqlite3_file* file, int level) {
  SimFile* self = Self(file);
  const std::lock_guard lock(self->state->mutex);
  if (self->lock_level <= level) return SQLITE_OK;
  SharedFile& shared = *self->shared;
  if (shared.reserved == self) shared.reserved = nullptr;
  if (shared.pending == self) shared.pending = nullptr;
  if (shared.exclusive == self) shared.exclusive = nullptr;
  if (level == SQLITE_LOCK_NONE) --shared.shared_locks;
  self->lock_level = level;
  return SQLITE_OK;
}

int SimCheckReservedLock(sqlite3_file* file, int* held) {
  const std::lock_guard lock(Self(file)->state->mutex);
  *held = Self(file)->shared->reserved != nullptr ? 1 : 0;
  return SQLITE_OK;
}

int SimFileControl(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int SimSectorSize(sqlite3_file*) { return 4096; }
// What the unix VFS says: a torn write never harms bytes that were not written.
int SimDeviceCharacteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int SimShmMap(sqlite3_file* file, int region, int bytes, int extend, void volatile** out) {
  SimFile* self = Self(file);
  const std::lock_guard lock(self->state->mutex);
  if (!self->maps_memory) {
    self->maps_memory = true;
    ++self->shared->mappers;
  }
  auto& regions = self->shared->regions;
  *out = nullptr;
  if (regions.size() <= static_cast<size_t>(region)) {
    if (extend == 0) return SQLITE_OK;
    while (regions.size() <= static_cast<size_t>(region)) {
      regions.push_back(std::make_unique<std::vector<char>>(static_cast<size_t>(bytes), '\0'));
    }
  }
  *out = regions[static_cast<size_t>(region)]->data();
  return SQLITE_OK;
}

int SimShmLock(sqlite3_file* file, int offset, int count, int flags) {
  SimFile* self = Self(file);
  const std::lock_guard lock(self->state->mutex);
  const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
  const auto mine = [&](int i) { return (self->shared_slots >> i & 1) != 0; };
  if ((flags & SQLITE_SHM_LOCK) != 0) {
    for (int i = offset; i < offset + count; ++i) {
      const SharedFile::Slot& slot = self->shared->slots[i];
      const int others = slot.shared - (mine(i) ? 1 : 0);
      if (HeldByOther(slot.exclusive, self) || (exclusive && others > 0)) return SQLITE_BUSY;
    }
  }
  for (int i = offset; i < offset + count; ++i) {
    SharedFile::Slot& slot = self->shared->slots[i];
    if (exclusive) {
      slot.exclusive = (flags & SQLITE_SHM_LOCK) != 0 ? self : nullptr;
    } else if (mine(i) != ((flags & SQLITE_SHM_LOCK) != 0)) {
      slot.shared += mine(i) ? -1 : 1;
      self->shared_slots ^= 1u << i;
    }
  }
  return SQLITE_OK;
}

void SimShmBarrier(sqlite3_file*) {  // A read-modify-write is a full barrier on its own word, and
                                     // one that ThreadSanitizer understands.
  static std::atomic<int> word;
  word.fetch_add(1);
}

int SimShmUnmap(sqlite3_file* file, int /*remove*/) {
  SimFile* self = Self(file);
  const std::lock_guard lock(self->state->mutex);
  for (int i = 0; i < SQLITE_SHM_NLOCK; ++i) {
    SharedFile::Slot& slot = self->shared->slots[i];
    if (slot.exclusive == self) slot.exclusive = nullptr;
    if ((self->shared_slots >> i & 1) != 0) --slot.shared;
  }
  self->shared_slots = 0;
  if (self->maps_memory && --self->shared->mappers == 0) self->shared->regions.clear();
  self->maps_memory = false;
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kSimMethods = {
    2,
    SimClose,
    SimRead,
    SimWrite,
    SimTruncate,
    SimSync,
    SimFileSize,
    SimLock,
    SimUnlock,
    SimCheckReservedLock,
    SimFileControl,
    SimSectorSize,
    SimDeviceCharacteristics,
    SimShmMap,
    SimShmLock,
    SimShmBarrier,
    SimShmUnmap,
    nullptr,
    nullptr,
};

int SimOpen(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  SimVfs::State& state = StateOf(vfs);
  file->pMethods = nullptr;
  CHECK(name != nullptr);  // temporary files stay in memory: SQLITE_TEMP_STORE=2
  const bool existed = state.files.Exists(name);
  io::OpenMode mode = io::OpenMode::kRead;
  if ((flags & SQLITE_OPEN_READWRITE) != 0) mode = io::OpenMode::kReadWrite;
  if ((flags & SQLITE_OPEN_CREATE) != 0) mode = io::OpenMode::kCreate;
  Result<std::unique_ptr<io::File>> opened = state.files.Open(name, mode);
  if (!opened && existed && opened.error().code() == Code::kCannotCreate) {
    // As the unix VFS does: what cannot be written may still be read.
    mode = io::OpenMode::kRead;
    opened = state.files.Open(name, mode);
  }
  if (!opened) {
    if (opened.error().code() == Code::kNoSpace) return SQLITE_FULL;
    return opened.error().code() == Code::kUnknownOutcome ? SQLITE_IOERR : SQLITE_CANTOPEN;
  }
  SimFile* self = new (file) SimFile{};
  self->state = &state;
  self->file = std::move(*opened);
  self->path = name;
  constexpr int kNeedsDirectorySync =
      SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  self->sync_directory = !existed && (flags & kNeedsDirectorySync) != 0;
  {
    const std::lock_guard lock(state.mutex);
    self->shared = &state.shared[self->path];
  }
  ++state.open_files;
  if (out_flags != nullptr) {
    *out_flags = flags;
    if (mode == io::OpenMode::kRead) {
      *out_flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
  }
  file->pMethods = &kSimMethods;
  return SQLITE_OK;
}

int SimDelete(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  io::Files& files = StateOf(vfs).files;
  const Status removed = files.Remove(name);
  if (removed.code() == Code::kNotFound) return SQLITE_IOERR_DELETE_NOENT;
  if (removed.code() == Code::kNoSpace) return SQLITE_FULL;
  if (!removed.ok()) return SQLITE_IOERR_DELETE;
  if (sync_directory == 0) return SQLITE_OK;
  return files.SyncDirectory(io::DirectoryOf(name)).ok() ? SQLITE_OK : SQLITE_IOERR_DIR_FSYNC;
}

int SimAccess(sqlite3_vfs* vfs, const char* name, int flags, int* result) {
  const Result<io::FileStat> stat = StateOf(vfs).files.Stat(name);
  // The unix VFS: an empty file does not count as existing (a journal of no bytes is no journal).
  *result = stat && (flags != SQLITE_ACCESS_EXISTS || stat->is_directory || stat->size > 0) ? 1 : 0;
  return SQLITE_OK;
}

int SimFullPathname(sqlite3_vfs* vfs, const char* name, int size, char* out) {
  const std::string full = StateOf(vfs).files.AbsolutePath(name);
  if (full.size() + 1 > static_cast<size_t>(size)) return SQLITE_CANTOPEN;
  std::memcpy(out, full.c_str(), full.size() + 1);
  return SQLITE_OK;
}

int SimRandomness(sqlite3_vfs* vfs, int bytes, char* out) {
  StateOf(vfs).random.Fill(out, bytes);
  return bytes;
}

int SimSleep(sqlite3_vfs*, int microseconds) { return microseconds; }  // nobody else would let go

int SimCurrentTimeInt64(sqlite3_vfs*, sqlite3_int64* out) {
  *out = 212'800'000'000'000;  // some day, in ms of the Julian calendar
  return SQLITE_OK;
}

int SimCurrentTime(sqlite3_vfs*, double* out) {
  *out = 212'800'000'000'000 / 86'400'000.0;
  return SQLITE_OK;
}

int SimGetLastError(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

SimVfs::SimVfs(io::Files& files, const char* name, int seed)
    : state_(std::make_unique<State>(files, name, seed)) {
  sqlite3_vfs& vfs = state_->vfs;
  CHECK(sqlite3_vfs_find(name) == nullptr);
  vfs.iVersion = 2;
  vfs.szOsFile = sizeof(SimFile);
  vfs.mxPathname = 1024;
  vfs.zName = state_->name.c_str();
  vfs.pAppData = state_.get();
  vfs.xOpen = SimOpen;
  vfs.xDelete = SimDelete;
  vfs.xAccess = SimAccess;
  vfs.xFullPathname = SimFullPathname;
  vfs.xRandomness = SimRandomness;
  vfs.xSleep = SimSleep;
  vfs.xCurrentTime = SimCurrentTime;
  vfs.xGetLastError = SimGetLastError;
  vfs.xCurrentTimeInt64 = SimCurrentTimeInt64;
  CHECK(sqlite3_vfs_register(&vfs, /*makeDflt=*/0) == SQLITE_OK);
  // SQLite draws the salts of its log from one generator per process, whatever the VFS.
  CHECK(sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed, nullptr) == SQLITE_OK);
}

SimVfs::~SimVfs() {
  CHECK(state_->open_files == 0);
  sqlite3_vfs_unregister(&state_->vfs);
}

const char* SimVfs::name() const { return state_->name.c_str(); }

}  // namespace weir::sqlite
