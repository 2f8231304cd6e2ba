// Database: the one way in which weir opens and uses SQLite. Used by store/ for state.db and by the
// sqlite connector for its target.
//
// Invariants
//  1. Every setting that a guarantee rests on (WAL, synchronous, no mmap, ...) is read back after
//  it was set; a
//     database that did not take one is not opened.
//  2. Application id and format version are read before anything in the file is changed.
//  3. A COMMIT that failed for space or for a lock is known to have failed. Any other failure of a
//  COMMIT, and any
//     SQLITE_IOERR, is an unknown outcome and sticks: every later call returns it, nothing is
//     written or synced any more (not even by the destructor), and the next process finds out.
//  4. Nothing else in this process may open the file or its -wal and -shm: closing such a
//  descriptor would drop SQLite's
//     POSIX locks.
//
// A Database and its Statements belong to one thread at a time (Interrupt() excepted). No call
// throws.
#ifndef WEIR_SQLITE_DATABASE_H_
#define WEIR_SQLITE_DATABASE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "sqlite/statement.h"

struct sqlite3;

namespace weir::sqlite {

// Once in main (and in tests) before the first Open: initialises SQLite, which does not do so by
// itself in our build, and registers the VFS "weir" (sqlite/vfs.h). May be called again.
Status InitializeSqlite();
std::string_view SqliteVersion();  // "3.53.4"

enum class Access {
  kReadOnly,   // must exist; for a look beside a running process
  kReadWrite,  // must exist
  kReadWriteCreate,
};

struct OpenOptions {
  std::string vfs = "weir";
  Access access = Access::kReadWriteCreate;
  // True: the file is ours and is put into WAL mode with synchronous=FULL. False: the file is
  // somebody's; its journal mode is kept, with synchronous=FULL in WAL mode and EXTRA in the others
  // (there a commit is the removal of the journal, and only EXTRA makes that durable).
  bool use_wal = true;
  // With kReadOnly: takes the file as it is, without locks, and neither looks for a log nor makes
  // one. What another process commits meanwhile may be seen in part.
  bool frozen = false;
  // Not 0: a database with any other id is refused (kInvalid), an empty one gets it.
  int32_t application_id = 0;
  // A database with a larger user_version is refused (kRefused): a newer weir wrote it.
  int32_t user_version_max = INT32_MAX;
  int64_t busy_timeout_ms = 0;  // how long a call waits for another process's lock before kBusy
  int64_t cache_kib = 2048;     // page cache
  int64_t wal_size_limit_bytes = int64_t{16}
                                 << 20;  // a longer log is cut back to this once it starts over
  bool foreign_keys = true;
};

enum class CheckpointMode {
  kPassive,   // copies what it can without waiting for anyone
  kTruncate,  // everything, waits busy_timeout_ms for readers, then cuts the log to nothing
};

struct CheckpointResult {
  bool complete = false;      // false: a reader or another checkpoint was in the way; kTruncate has
                              // then not truncated
  int64_t log_frames = 0;     // in the log afterwards
  int64_t copied_frames = 0;  // of these, in the database file
};

class Database {
 public:
  // kCannotCreate: no such directory, no permission. kCorruption: not a database. kBusy: locked by
  // another process.
  static Result<std::unique_ptr<Database>> Open(const std::string& path,
                                                const OpenOptions& options);
  ~Database();  // rolls back what is open; checkpoints and removes the log as the last connection,
                // unless failed()
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One or several statements whose rows nobody wants.
  Status Execute(const std::string& sql);
  Result<Statement> Prepare(std::string_view sql);
  // Reads one integer: `PRAGMA x`, `SELECT count(*) ...`. kNotFound when there is no row.
  Result<int64_t> QueryInt(std::string_view sql);
  Result<std::string> QueryText(std::string_view sql);

  Status Begin();  // BEGIN IMMEDIATE: the write lock is taken here (or kBusy), not in the middle
  Status BeginRead();  // BEGIN: one consistent view for several reads
  // kNoSpace: rolled back by SQLite or not (InTransaction() says), in any case call Rollback() and
  // do the transaction again, unchanged. kBusy: the transaction is still open; Commit() again or
  // Rollback(). Anything else: kUnknownOutcome.
  Status Commit();
  Status Rollback();  // OK also when none is open
  bool InTransaction() const;

  // SQLite never checkpoints by itself here (a failure in the middle of a commit would be
  // swallowed): call this after commits, see wal_bytes().
  Result<CheckpointResult> Checkpoint(CheckpointMode mode);
  // Size of the log's live part after the last commit of this connection.
  uint64_t wal_bytes() const;
  // kCorruption with the first findings. Reads the whole file.
  Status QuickCheck();

  int64_t Changes() const;  // rows changed by the last INSERT, UPDATE or DELETE
  void Interrupt();         // from any thread: the running call returns kInterrupted
  bool was_empty() const { return was_empty_; }           // no table or other object when opened
  int32_t user_version() const { return user_version_; }  // as found when opened
  bool failed() const { return !failure_.ok(); }          // invariant 3
  const std::string& path() const { return path_; }

 private:
  friend class Statement;
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}

  Status ReadFacts(const OpenOptions& options);
  Status Configure(const OpenOptions& options);
  Status ConfigureJournal(const OpenOptions& options);
  Status SetPragma(std::string_view name, const std::string& value, std::string_view want);
  // Makes a Status of SQLite's result and remembers an unknown outcome.
  Status Outcome(int rc, std::string_view what);

  sqlite3* handle_ = nullptr;
  std::string path_;
  bool was_empty_ = false;
  int32_t user_version_ = 0;
  int64_t wal_frames_ = 0;  // written by SQLite's hook after each commit
  int64_t page_bytes_ = 4096;
  Status failure_;
};

}  // namespace weir::sqlite

#endif  // WEIR_SQLITE_DATABASE_H_
