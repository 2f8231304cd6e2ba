// Named fault points:
// WEIR_FAULT="point=kill[@n][,point2=fail@3][,point3=delay:20][,point4=torn:100]". Compiled only
// into builds with WEIR_FAULTS=1 (presets fault and tsan); elsewhere WEIR_FAULT_POINT is an empty
// statement and fault arguments cannot be given at all.
//
//   kill         SIGKILL to ourselves          fail        the call site's operation fails with EIO
//   nospace      ... fails with ENOSPC         delay:MS    sleeps
//   torn:BYTES   the write at this point writes BYTES bytes, then SIGKILL
//   wait:MS      sleeps, and the call site waits for what is under way: reading (scan.after_batch)
//                for the seal in flight, so that a small input has many epochs on any disk
//   @n           only the n-th time the point is reached in this life (default 1); @every for each
//   time
//
// Firing appends one line "point action occurrence pid" to the file named by WEIR_FAULT_WITNESS
// (before it acts), so that a test can prove that the fault happened. The list of declared points
// is kFaultPoints; the tidy test fails when a declared point has no call site.
#ifndef WEIR_IO_FAULT_H_
#define WEIR_IO_FAULT_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"
#include "io/files.h"

namespace weir::io {

enum class FaultAction { kNone, kFail, kNoSpace, kTorn, kWait };

struct FaultResult {
  FaultAction action = FaultAction::kNone;
  uint64_t torn_bytes = 0;
  // OK for kNone and kWait; the Status that the operation at this point must return otherwise
  // (kTorn is handled by the writer).
  Status ToStatus(std::string_view point) const;
};

std::span<const std::string_view> DeclaredFaultPoints();

// The write at a fault point: `file.WriteAt(offset, bytes)`, or what `fault` asks for instead. The
// torn form writes the first torn_bytes and dies.
Status WriteWithFault(FaultResult fault, std::string_view point, File& file, uint64_t offset,
                      std::string_view bytes);

#if defined(WEIR_FAULTS) && WEIR_FAULTS
FaultResult FireFault(std::string_view point);  // thread-safe; kills or sleeps inside
// Parses WEIR_FAULT; an unknown point or action is an error, never ignored.
Status ConfigureFaults(const char* spec, const char* witness_path);
// Kills the process (SIGKILL) just before the n-th call that changes the file system, by PosixFiles
// or by SQLite through our VFS: WEIR_KILL_AT_WRITE=n. null or "": never. The witness line is
// "fs.KIND kill n pid path".
Status ConfigureKillAtWrite(const char* n);
// All three from the environment: WEIR_FAULT, WEIR_FAULT_WITNESS, WEIR_KILL_AT_WRITE. For main.
Status ConfigureFaultsFromEnvironment();
// Called before each such call; counts, and kills at the n-th. Thread-safe.
void BeforeFileSystemChange(std::string_view kind, std::string_view path);
uint64_t FileSystemChanges();  // how many were counted in this life
#define WEIR_FAULT_POINT(name) (::weir::io::FireFault(name))
#define WEIR_BEFORE_FS_CHANGE(kind, path) (::weir::io::BeforeFileSystemChange(kind, path))
#else
inline FaultResult NoFault() { return {}; }
#define WEIR_FAULT_POINT(name) (::weir::io::NoFault())
#define WEIR_BEFORE_FS_CHANGE(kind, path) ((void)0)
#endif

}  // namespace weir::io

#endif  // WEIR_IO_FAULT_H_
