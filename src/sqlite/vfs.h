// The VFS "weir": SQLite's own unix VFS with three things added.
//
//  1. "No space" is always SQLITE_FULL, from write, truncate, sync and growing the -shm, and for
//  quotas too: SQLITE_IOERR
//     is left for what is unknown.
//  2. After a failed sync, or a write that failed for another reason than space, every later write,
//  truncate and sync of
//     that file fails: nothing is built on pages that the kernel may have dropped.
//  3. With WEIR_FAULTS, each call that changes the file system passes the kill-at-write counter
//  (io/fault.h).
//
// Locks, shared memory and paths stay those of the unix VFS, so that an operator's sqlite3 shell
// can look in.
#ifndef WEIR_SQLITE_VFS_H_
#define WEIR_SQLITE_VFS_H_

#include "base/status.h"

namespace weir::sqlite {

// Called by InitializeSqlite(). Not the default VFS: one names it to get it. May be called again.
Status RegisterVfs();

}  // namespace weir::sqlite

#endif  // WEIR_SQLITE_VFS_H_
