// SimFiles: a disk in memory that can lose its power. For tests only (library weir_io_testing).
//
// What is modelled
//  * Each file has what the page cache says and what the medium holds. Writes and truncates change
//  the cache and wait in
//    the file's list; Sync() carries them to the medium.
//  * Creations, renames and removals change the cache's directories at once and wait in the world's
//  list;
//    SyncDirectory() makes those of one directory durable.
//  * AfterPowerCut(seed): a new world that holds what a power cut could have left. Each waiting
//  write is there, gone, or
//    torn (some of its 512-byte sectors), or only its length is there (zeros); each waiting
//    directory change is there or not (a rename wholly or not at all); the older changes of one
//    file need not win over the newer ones.
//  * AfterKill(): a new world that holds what a kill -9 leaves: the page cache, with the same
//  things still waiting.
//  * A failed sync (SimFault::kSyncLosesPages) leaves the bytes readable and forgets that they must
//  be written: a later
//    successful Sync() does not bring them, a power cut loses them.
//  * Locks as flock gives them: per open file, gone with the file and with the world.
//
// What is not: links, permissions, access times, holes.
//
// Every operation that changes something has a number, counted from 1 in each world, and passes the
// hook set with OnOperation, which may make it fail or stop the world: kCrash means that this
// operation and all later ones do not happen and fail with kUnknownOutcome, so that the code under
// test ends the way it ends on a dead disk; the test then asks for AfterPowerCut() or AfterKill().
// Nothing is thrown.
//
// Thread-safe, as Files asks; the hook runs under the lock and must not call back.
#ifndef WEIR_IO_SIM_FILES_H_
#define WEIR_IO_SIM_FILES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/files.h"

namespace weir::io {

enum class SimOpKind {
  kCreate,
  kWrite,
  kTruncate,
  kSync,
  kMakeDirectory,
  kRename,
  kRemove,
  kSyncDirectory,
};
std::string_view SimOpName(SimOpKind kind);

struct SimOp {
  uint64_t number = 0;  // from 1
  SimOpKind kind = SimOpKind::kWrite;
  std::string path;     // absolute; of a rename the old name
  std::string to;       // of a rename
  uint64_t offset = 0;  // of a write; of a truncate the new size
  uint64_t bytes = 0;   // of a write
};

enum class SimFault {
  kNone,
  kNoSpace,  // nothing is changed
  kIoError,  // nothing is changed; of a sync: nothing is carried over, everything still waits
  kSyncLosesPages,  // of a sync: see above. Of another operation: as kIoError
  kCrash,
};

// What a power cut did: a run in which nothing was lost proves nothing.
struct PowerCutReport {
  int writes_waiting = 0;
  int writes_lost = 0;
  int writes_torn = 0;
  int directory_changes_waiting = 0;
  int directory_changes_lost = 0;
  std::vector<std::string>
      damaged_paths;  // names (in the cut world's cache) of files that lost something
};

class SimFiles : public Files {
 public:
  SimFiles();
  ~SimFiles() override;

  // Files
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
  std::string AbsolutePath(const std::string& path) override;  // the working directory is "/"
  std::string RealPath(const std::string& path) override;      // there are no links

  // The next worlds. This one stays as it is; handles into it belong to it.
  std::unique_ptr<SimFiles> AfterPowerCut(uint64_t seed, PowerCutReport* report = nullptr) const;
  std::unique_ptr<SimFiles> AfterKill() const;

  // Faults
  using Hook = std::function<SimFault(const SimOp&)>;
  void OnOperation(Hook hook);                             // null: no faults
  void CrashAt(uint64_t operation_number);                 // instead of a hook
  void FailAt(uint64_t operation_number, SimFault fault);  // instead of a hook
  bool crashed() const;
  uint64_t operations() const;
  // All operations so far, those that failed included.
  std::vector<SimOp> trace() const;

  // A file system mounted at `directory` (which must exist): its own device number and capacity.
  // Paths outside of all mounts are on the root device, which has no limit until SetCapacity("/",
  // ...).
  void Mount(const std::string& directory, uint64_t capacity_bytes);
  void SetCapacity(const std::string& directory, uint64_t capacity_bytes);
  uint64_t UsedBytes(const std::string& directory) const;  // of that mount, in whole blocks of 4096
  // True: creating, opening for writing and changing anything at or below `directory` fails as on a
  // read-only mount.
  void SetReadOnly(const std::string& directory, bool read_only);
  // True: a new file gets the smallest inode number that is free, as ext4 does. False (default):
  // never used ones.
  void SetReuseInodes(bool reuse);

  // For the set-up of a case: not counted, no faults, durable at once. Makes the directories above
  // as well.
  void PutFile(const std::string& path, std::string_view bytes);
  void PutDirectory(const std::string& path);
  // What the medium holds under this name now, had the directory changes that wait all been lost.
  // kNotFound if nothing.
  Result<std::string> DurableContent(const std::string& path) const;

  struct World;  // io/sim_world.h

 private:
  explicit SimFiles(std::unique_ptr<World> world);
  Status RenameImpl(const std::string& from, const std::string& to, bool replace);
  std::unique_ptr<World> world_;
};

}  // namespace weir::io

#endif  // WEIR_IO_SIM_FILES_H_
