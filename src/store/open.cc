// Takeover step 1: from a path to a database that may be trusted.
#include "base/log.h"
#include "base/text.h"
#include "io/fault.h"
#include "sqlite/wal_refresh.h"
#include "store/schema.h"
#include "store/store_impl.h"

namespace weir::store {
namespace {

// Small pages: a seal touches a handful of them, and its fixed cost is at most 16 KiB.
constexpr int kPageBytes = 2048;
constexpr int64_t kBusyTimeoutMs = 1000;  // an operator's shell; the caller tries again
constexpr int64_t kWalKeptBytes = kWalDegradedBytes / 4;

sqlite::OpenOptions DatabaseOptions(const io::Env& env, sqlite::Access access) {
  sqlite::OpenOptions options;
  options.vfs = env.sqlite_vfs;
  options.access = access;
  options.application_id = kApplicationId;
  options.user_version_max = kFormatVersion;
  options.busy_timeout_ms = kBusyTimeoutMs;
  options.wal_size_limit_bytes = kWalKeptBytes;
  options.foreign_keys = false;
  return options;
}

uint64_t SizeOf(io::Files& files, const std::string& path) {
  const Result<io::FileStat> stat = files.Stat(path);
  return stat ? stat->size : 0;
}

}  // namespace

Status Store::Impl::Damage(const Status& found) const {
  if (found.code() != Code::kCorruption) return found;
  return Status(Code::kCorruption,
                found.message() +
                    ". Everything is kept as it is. Lost with it: operator state, input positions "
                    "and what is not delivered yet; delivered output is not touched. Restore the "
                    "whole directory, or 'weir resolve --quarantine' moves it aside and the next "
                    "start is fresh");
}

Status Store::Impl::Open() {
  WEIR_RETURN_IF_ERROR(EnterDirectory());
  if (!options.read_only) {
    WEIR_RETURN_IF_ERROR(TakeLock());
    WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("takeover.after_lock").ToStatus("takeover.after_lock"));
  }
  const std::string path = Path("state.db");
  const std::string artifacts = Artifacts();
  if (SizeOf(env.files, path) == 0) {
    // A lost database is never taken for a new directory. Its log alone cannot be read either.
    const bool log_left = SizeOf(env.files, path + "-wal") > 0;
    if (!artifacts.empty() || log_left) {
      return Damage(Status(Code::kCorruption,
                           path + (env.files.Exists(path) ? " has 0 bytes" : " is missing") +
                               ", but a run was here: " + (log_left ? "state.db-wal" : artifacts)));
    }
    if (!options.create || options.read_only) {
      return Status(Code::kNotFound, "no state in " + directory);
    }
  } else {
    WEIR_RETURN_IF_ERROR(CheckFormat());
  }
  WEIR_RETURN_IF_ERROR(CheckSpoolFormats());
  WEIR_RETURN_IF_ERROR(io::Beat(env.heartbeat, "opening", path));
  if (!options.read_only) {
    // Before SQLite reads it: a commit in the log whose fsync failed is only in the page cache, and
    // a checkpoint alone could carry half of it over.
    WEIR_RETURN_IF_ERROR(sqlite::RefreshWal(env.files, path));
    WEIR_RETURN_IF_ERROR(OpenDatabase());
    WEIR_RETURN_IF_ERROR(WritePid());
  }
  WEIR_RETURN_IF_ERROR(Damage(Load()));
  if (!newest_run && !artifacts.empty()) {
    return Damage(
        Status(Code::kCorruption, path + " holds no run, but a run was here: " + artifacts));
  }
  if (options.read_only) return Status::Ok();
  return Damage(SettleUncleanEnd());
}

// Through a connection that cannot write: a directory of a newer format stays as it is.
Status Store::Impl::CheckFormat() {
  const std::string path = Path("state.db");
  // Dying while the database was made leaves a rollback journal, which only a writer can undo. No
  // format of ours keeps one, so there is no newer format to find either.
  if (SizeOf(env.files, path + "-journal") > 0 && !options.read_only) return Status::Ok();
  const bool had_log = env.files.Exists(path + "-wal");
  const sqlite::OpenOptions read_only = DatabaseOptions(env, sqlite::Access::kReadOnly);
  auto opened = sqlite::Database::Open(path, read_only);
  if (opened && options.read_only) {
    database = std::move(*opened);
    return Status::Ok();
  }
  Status status = opened ? Status::Ok() : opened.error();
  if (status.code() == Code::kRefused) status = RefuseNewerFormat(read_only);
  if (opened) opened->reset();
  // Even a reader leaves an empty log and its index behind; they were not there before.
  if (!status.ok() && !had_log && SizeOf(env.files, path + "-wal") == 0) {
    for (const char* tail : {"-wal", "-shm"}) {
      if (env.files.Exists(path + tail)) (void)env.files.Remove(path + tail);
    }
  }
  return Damage(status);
}

// Which weir wrote it, if the newer format still says so where this one does.
Status Store::Impl::RefuseNewerFormat(const sqlite::OpenOptions& read_only) {
  sqlite::OpenOptions any = read_only;
  any.user_version_max = INT32_MAX;
  WEIR_ASSIGN_OR_RETURN(const auto newer, sqlite::Database::Open(Path("state.db"), any));
  const Result<std::string> version = newer->QueryText("SELECT value FROM meta WHERE key = 'weir'");
  return Status(Code::kRefused,
                directory + " was written by format " + std::to_string(newer->user_version()) +
                    (version && !version->empty() ? " (weir " + *version + ")" : "") +
                    ", this binary reads up to " + std::to_string(kFormatVersion) +
                    ": run the weir that wrote it; nothing was changed");
}

// In rollback-journal mode and before WAL, because only there the page size can be chosen. All
// tables and the format version come in one transaction: there is no half database.
Status Store::Impl::CreateDatabase() {
  sqlite::OpenOptions create = DatabaseOptions(env, sqlite::Access::kReadWriteCreate);
  create.use_wal = false;
  WEIR_ASSIGN_OR_RETURN(const auto made, sqlite::Database::Open(Path("state.db"), create));
  if (!made->was_empty()) return Status::Ok();
  WEIR_RETURN_IF_ERROR(made->Execute("PRAGMA page_size=" + std::to_string(kPageBytes)));
  WEIR_RETURN_IF_ERROR(made->Execute("VACUUM"));
  WEIR_RETURN_IF_ERROR(made->Begin());
  WEIR_RETURN_IF_ERROR(made->Execute(kSchemaSql));
  {
    WEIR_ASSIGN_OR_RETURN(auto meta, made->Prepare("INSERT INTO meta VALUES (?, ?)"));
    const std::pair<const char*, const std::string*> rows[] = {{"pipeline", &options.pipeline},
                                                               {"instance", &options.instance},
                                                               {"weir", &options.weir_version}};
    for (const auto& [key, value] : rows) {
      WEIR_RETURN_IF_ERROR(meta.BindText(1, key).BindText(2, *value).Run());
    }
  }
  WEIR_RETURN_IF_ERROR(made->Execute("PRAGMA user_version=" + std::to_string(kFormatVersion)));
  return made->Commit();
}

Status Store::Impl::OpenDatabase() {
  const std::string path = Path("state.db");
  if (SizeOf(env.files, path) == 0) WEIR_RETURN_IF_ERROR(CreateDatabase());
  auto opened = sqlite::Database::Open(path, DatabaseOptions(env, sqlite::Access::kReadWrite));
  if (opened && (*opened)->was_empty()) {
    // Died between the file and its tables.
    opened->reset();
    WEIR_RETURN_IF_ERROR(CreateDatabase());
    opened = sqlite::Database::Open(path, DatabaseOptions(env, sqlite::Access::kReadWrite));
  }
  if (!opened) return Damage(opened.error());
  database = std::move(*opened);
  return Status::Ok();
}

// What the page cache claims is written anew first: a commit frame whose fsync failed can be read
// back from the cache, and a later fsync would say OK without carrying it to the disk.
Status Store::Impl::SettleUncleanEnd() {
  if (!newest_run || !newest_run->ended.empty()) return Status::Ok();
  WEIR_ASSIGN_OR_RETURN(const sqlite::CheckpointResult done,
                        database->Checkpoint(sqlite::CheckpointMode::kTruncate));
  if (done.copied_frames < done.log_frames) {
    return Status(Code::kBusy, "another process holds " + Path("state.db") + " open");
  }
  // kill -9 cannot tear a page; a power cut on a lying disk can.
  const std::string boot = env.machine.BootId();
  if (!boot.empty() && boot == newest_run->boot_id) return Status::Ok();
  // One step of SQLite's, which cannot be asked how far it is: it is said before that it takes
  // long.
  WEIR_RETURN_IF_ERROR(io::Beat(env.heartbeat, "checking", Path("state.db")));
  LogInfo("quick_check", {{"reason", "power cut or reboot"}, {"file", Path("state.db")}});
  return database->QuickCheck();
}

Result<std::unique_ptr<Store>> Store::Open(const io::Env& env, const OpenOptions& options) {
  for (bool freed = false;;) {
    std::unique_ptr<Store> store(new Store());
    store->impl_ = std::make_unique<Impl>(env, options);
    const Status opened = store->impl_->Open();
    if (opened.ok()) return store;
    // SQLite needs a few pages only to look at its log: that is what the reserve is for.
    if (opened.code() == Code::kNoSpace && !options.read_only && !freed) {
      store->impl_->database.reset();
      store->FreeReserve();
      freed = true;
      continue;
    }
    return Fail(opened);
  }
}

Store::Store() = default;
Store::~Store() = default;

}  // namespace weir::store
