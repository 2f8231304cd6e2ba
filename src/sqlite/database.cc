#include "sqlite/database.h"

#include <sqlite3.h>

#include "base/check.h"
#include "sqlite/result_code.h"
#include "sqlite/vfs.h"

namespace weir::sqlite {
namespace {

int OpenFlags(Access access) {
  // NOMUTEX: one thread at a time by contract. No URI: a path is a path, whatever characters it
  // has.
  const int common = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  switch (access) {
    case Access::kReadOnly:
      return common | SQLITE_OPEN_READONLY;
    case Access::kReadWrite:
      return common | SQLITE_OPEN_READWRITE;
    case Access::kReadWriteCreate:
      return common | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  }
  return common | SQLITE_OPEN_READONLY;
}

// SQLite gives "", ":memory:" and "file:..." meanings of their own.
std::string PlainPath(const std::string& path) {
  return path.empty() || path[0] == ':' ? "./" + path : path;
}

// Only there a path is a URI: nothing else says to SQLite that a file is not to be locked.
std::string FrozenUri(const std::string& path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = "file:";
  if (path.starts_with('/')) uri += "//";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      const auto byte = static_cast<unsigned char>(c);
      uri += {'%', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Status InitializeSqlite() {
  const int rc = sqlite3_initialize();
  if (rc != SQLITE_OK) return Status(Code::kInternal, std::string("SQLite: ") + sqlite3_errstr(rc));
  return RegisterVfs();
}

std::string_view SqliteVersion() { return sqlite3_libversion(); }

Result<std::unique_ptr<Database>> Database::Open(const std::string& path,
                                                 const OpenOptions& options) {
  sqlite3* handle = nullptr;
  CHECK(!options.frozen || options.access == Access::kReadOnly);
  const std::string name = options.frozen ? FrozenUri(path) : PlainPath(path);
  const int flags = OpenFlags(options.access) | (options.frozen ? SQLITE_OPEN_URI : 0);
  const int rc = sqlite3_open_v2(name.c_str(), &handle, flags, options.vfs.c_str());
  std::unique_ptr<Database> database(new Database(handle, path));
  if (rc != SQLITE_OK) return Fail(database->Outcome(rc, "open"));
  sqlite3_busy_timeout(handle, static_cast<int>(options.busy_timeout_ms));
  WEIR_RETURN_IF_ERROR(database->ReadFacts(options));
  WEIR_RETURN_IF_ERROR(database->Configure(options));
  return database;
}

Database::~Database() {
  if (handle_ == nullptr) return;
  // Closing the last connection would checkpoint: writes and a sync, on a file whose last sync
  // failed.
  if (failed()) sqlite3_db_config(handle_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  // A statement that outlives its database would make this fail, and is a bug.
  CHECK(sqlite3_close(handle_) == SQLITE_OK);
}

Status Database::ReadFacts(const OpenOptions& options) {
  WEIR_ASSIGN_OR_RETURN(const int64_t objects, QueryInt("SELECT count(*) FROM sqlite_schema"));
  WEIR_ASSIGN_OR_RETURN(const int64_t id, QueryInt("PRAGMA application_id"));
  WEIR_ASSIGN_OR_RETURN(const int64_t version, QueryInt("PRAGMA user_version"));
  was_empty_ = objects == 0;
  user_version_ = static_cast<int32_t>(version);
  // A crash between creating the file and its first table leaves an empty database without an id:
  // still new.
  const bool fresh = was_empty_ && version == 0 && id == 0;
  if (options.application_id != 0 && id != options.application_id && !fresh) {
    return Status(Code::kInvalid, path_ + " is a database of another program (application id " +
                                      std::to_string(id) + ")");
  }
  if (version > options.user_version_max) {
    return Status(Code::kRefused, path_ + " has format " + std::to_string(version) +
                                      ", written by a newer version; this one reads up to " +
                                      std::to_string(options.user_version_max));
  }
  return Status::Ok();
}

Status Database::SetPragma(std::string_view name, const std::string& value, std::string_view want) {
  const std::string pragma = "PRAGMA " + std::string(name);
  // The statement's own answer is not enough: some pragmas answer nothing, some the value that was
  // asked for.
  WEIR_RETURN_IF_ERROR(Execute(pragma + "=" + value));
  WEIR_ASSIGN_OR_RETURN(const std::string got, QueryText(pragma));
  if (got != want) {
    return Status(Code::kInvalid, path_ + ": SQLite keeps " + std::string(name) + " at '" + got +
                                      "' where '" + std::string(want) + "' is needed");
  }
  return Status::Ok();
}

Status Database::Configure(const OpenOptions& options) {
  struct Setting {
    std::string_view name;
    std::string value;
    std::string want;
  };
  const std::string cache = std::to_string(-options.cache_kib);
  const std::string timeout = std::to_string(options.busy_timeout_ms);
  const std::string foreign_keys = options.foreign_keys ? "1" : "0";
  const Setting settings[] = {
      {"locking_mode", "NORMAL", "normal"},  // an operator may look into it with the sqlite3 shell
      {"busy_timeout", timeout, timeout},   {"cache_size", cache, cache},
      {"temp_store", "MEMORY", "2"},        {"foreign_keys", foreign_keys, foreign_keys},
      {"trusted_schema", "0", "0"},   // a prepared file must not run functions of ours
      {"cell_size_check", "1", "1"},  // damage is seen where it is read
      {"wal_autocheckpoint", "0", "0"},
  };
  for (const Setting& setting : settings) {
    WEIR_RETURN_IF_ERROR(SetPragma(setting.name, setting.value, setting.want));
  }
  // mmap turns an I/O error into SIGBUS. A build without it answers with no row.
  WEIR_RETURN_IF_ERROR(Execute("PRAGMA mmap_size=0"));
  const Result<int64_t> mmap_bytes = QueryInt("PRAGMA mmap_size");
  if (mmap_bytes.value_or(0) != 0) {
    return Status(Code::kInvalid, path_ + ": SQLite insists on memory-mapped I/O");
  }
  WEIR_RETURN_IF_ERROR(ConfigureJournal(options));
  WEIR_ASSIGN_OR_RETURN(page_bytes_, QueryInt("PRAGMA page_size"));
  const auto remember_frames = [](void* self, sqlite3*, const char*, int frames) {
    static_cast<Database*>(self)->wal_frames_ = frames;
    return SQLITE_OK;
  };
  sqlite3_wal_hook(handle_, remember_frames, this);
  return Status::Ok();
}

Status Database::ConfigureJournal(const OpenOptions& options) {
  if (options.access == Access::kReadOnly) return Status::Ok();
  if (options.application_id != 0 && was_empty_) {
    const std::string id = std::to_string(options.application_id);
    WEIR_RETURN_IF_ERROR(SetPragma("application_id", id, id));
  }
  if (options.use_wal) WEIR_RETURN_IF_ERROR(SetPragma("journal_mode", "WAL", "wal"));
  WEIR_ASSIGN_OR_RETURN(const std::string mode, QueryText("PRAGMA journal_mode"));
  if (mode == "off" || mode == "memory") {
    return Status(Code::kInvalid, path_ + ": journal mode '" + mode + "' cannot survive a crash");
  }
  const std::string limit = std::to_string(options.wal_size_limit_bytes);
  if (mode == "wal") WEIR_RETURN_IF_ERROR(SetPragma("journal_size_limit", limit, limit));
  return mode == "wal" ? SetPragma("synchronous", "FULL", "2")
                       : SetPragma("synchronous", "EXTRA", "3");
}

Status Database::Outcome(int rc, std::string_view what) {
  const Code code = CodeOf(rc);
  if (code == Code::kOk) return Status::Ok();
  std::string message =
      path_ + ": " + (handle_ != nullptr ? sqlite3_errmsg(handle_) : sqlite3_errstr(rc));
  message.append(" (").append(std::to_string(rc)).append(") in: ").append(what);
  Status status(code, std::move(message));
  if (code == Code::kUnknownOutcome) failure_ = status;
  return status;
}

Status Database::Execute(const std::string& sql) {
  if (failed()) return failure_;
  return Outcome(sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr), sql);
}

Result<Statement> Database::Prepare(std::string_view sql) {
  if (failed()) return Fail(failure_);
  sqlite3_stmt* statement = nullptr;
  const int rc = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                    SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (rc != SQLITE_OK) return Fail(Outcome(rc, sql));
  CHECK(statement != nullptr);  // empty text
  return Statement(*this, statement);
}

Result<int64_t> Database::QueryInt(std::string_view sql) {
  WEIR_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  WEIR_ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return Fail(Code::kNotFound, "no row from: " + std::string(sql));
  return statement.Int(0);
}

Result<std::string> Database::QueryText(std::string_view sql) {
  WEIR_ASSIGN_OR_RETURN(Statement statement, Prepare(sql));
  WEIR_ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (!row) return Fail(Code::kNotFound, "no row from: " + std::string(sql));
  return std::string(statement.Text(0));
}

Status Database::Begin() { return Execute("BEGIN IMMEDIATE"); }
Status Database::BeginRead() { return Execute("BEGIN"); }

Status Database::Commit() {
  if (failed()) return failure_;
  // SQLite rolls back by itself on some failures. Its "no transaction is active" would read like an
  // unknown outcome, while it is known that nothing was committed: the caller has passed over an
  // error.
  if (!InTransaction()) return Status(Code::kInternal, path_ + ": COMMIT without a transaction");
  const int rc = sqlite3_exec(handle_, "COMMIT", nullptr, nullptr, nullptr);
  const Code code = CommitCodeOf(rc);
  if (code == Code::kOk) return Status::Ok();
  Status status(code, Outcome(rc, "COMMIT").message());
  if (code == Code::kUnknownOutcome) failure_ = status;
  return status;
}

Status Database::Rollback() {
  if (failed()) return failure_;
  // SQLite rolls back by itself on some failures; then there is nothing left to do.
  return InTransaction() ? Execute("ROLLBACK") : Status::Ok();
}

bool Database::InTransaction() const { return sqlite3_get_autocommit(handle_) == 0; }

Result<CheckpointResult> Database::Checkpoint(CheckpointMode mode) {
  if (failed()) return Fail(failure_);
  const int sqlite_mode =
      mode == CheckpointMode::kPassive ? SQLITE_CHECKPOINT_PASSIVE : SQLITE_CHECKPOINT_TRUNCATE;
  int log_frames = -1;
  int copied_frames = -1;
  const int rc =
      sqlite3_wal_checkpoint_v2(handle_, nullptr, sqlite_mode, &log_frames, &copied_frames);
  const Code code = CodeOf(rc);
  // Another process in the way is no failure of ours: the work is done at the next call.
  if (code != Code::kOk && code != Code::kBusy) return Fail(Outcome(rc, "checkpoint"));
  CheckpointResult result;
  result.log_frames = log_frames < 0 ? 0 : log_frames;
  result.copied_frames = copied_frames < 0 ? 0 : copied_frames;
  result.complete = code == Code::kOk && result.copied_frames == result.log_frames;
  // The next writer starts the log over.
  if (result.complete) wal_frames_ = 0;
  return result;
}

uint64_t Database::wal_bytes() const {
  // A header of 32 bytes, and 24 before each page.
  return wal_frames_ == 0 ? 0 : 32 + static_cast<uint64_t>(wal_frames_ * (24 + page_bytes_));
}

Status Database::QuickCheck() {
  WEIR_ASSIGN_OR_RETURN(Statement statement, Prepare("PRAGMA quick_check(5)"));
  std::string findings;
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) break;
    if (!findings.empty()) findings.append("; ");
    findings.append(statement.Text(0));
  }
  if (findings == "ok") return Status::Ok();
  return Status(Code::kCorruption, path_ + ": " + findings);
}

int64_t Database::Changes() const { return sqlite3_changes64(handle_); }
void Database::Interrupt() { sqlite3_interrupt(handle_); }

}  // namespace weir::sqlite
