// What a start does with the log of a database before SQLite opens it.
//
// After an fsync of the -wal has failed, Linux shows the written bytes as if they were safe and
// never writes them again. A process that starts then reads a commit from the log that is not on
// the medium. A checkpoint alone does not mend it: it copies pages into the database file one by
// one, and a power cut among them leaves some pages of that commit in the file while the log on the
// medium does not have it. So the log is first written again, byte for byte, and synced.
#ifndef WEIR_SQLITE_WAL_REFRESH_H_
#define WEIR_SQLITE_WAL_REFRESH_H_

#include <string>

#include "base/status.h"
#include "io/files.h"

namespace weir::sqlite {

// Writes `database_path`-wal again in place and syncs it; OK when there is none. Before the process
// opens the database, under the lock of its directory. Harmless when nothing was wrong, and beside
// a reader in another process: no byte changes.
Status RefreshWal(io::Files& files, const std::string& database_path);

}  // namespace weir::sqlite

#endif  // WEIR_SQLITE_WAL_REFRESH_H_
