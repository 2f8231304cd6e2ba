#include <algorithm>

#include "base/check.h"
#include "connectors/sqlite/sqlite_sink.h"
#include "connectors/sqlite/sqlite_values.h"
#include "io/fault.h"

namespace weir::connectors {
namespace {

constexpr int64_t kBusyTimeoutMs = 2000;
constexpr uint64_t kCheckpointBytes = 4 << 20;

constexpr const char* kCreateReceipts =
    "CREATE TABLE weir_receipts (pipeline TEXT NOT NULL PRIMARY KEY, lineage TEXT NOT NULL, epoch "
    "INTEGER NOT NULL, rows INTEGER NOT NULL, hash TEXT NOT NULL)";
constexpr std::string_view kInsertReceipt =
    "INSERT INTO weir_receipts (lineage, epoch, rows, hash, pipeline) VALUES (?1, ?2, ?3, ?4, ?5)";
constexpr std::string_view kSwapReceipt =
    "UPDATE weir_receipts SET lineage = ?1, epoch = ?2, rows = ?3, hash = ?4 "
    "WHERE pipeline = ?5 AND lineage = ?6 AND epoch = ?7 AND rows = ?8 AND hash = ?9";

}  // namespace

Status SqliteDelivery::Open() {
  Close();
  sqlite::OpenOptions options;
  options.vfs = vfs_;
  options.use_wal = false;  // the file is somebody's: its journal mode is kept
  options.busy_timeout_ms = kBusyTimeoutMs;
  WEIR_ASSIGN_OR_RETURN(database_, sqlite::Database::Open(path_, options));
  WEIR_RETURN_IF_ERROR(MakeTables());
  for (const SqliteTable& table : tables_) {
    WEIR_ASSIGN_OR_RETURN(auto insert, PrepareInsert(*database_, table));
    inserts_.push_back(std::move(insert));
  }
  return Status::Ok();
}

// Creates what is missing, in one transaction; a database that has it all is not written.
Status SqliteDelivery::MakeTables() {
  std::vector<std::string> missing;
  WEIR_ASSIGN_OR_RETURN(const bool receipts, HasSqliteTable(*database_, kReceiptsTable));
  if (!receipts) missing.emplace_back(kCreateReceipts);
  for (const SqliteTable& table : tables_) {
    WEIR_ASSIGN_OR_RETURN(const bool found, HasSqliteTable(*database_, table.name));
    if (found) continue;
    if (!table.create) return NoSqliteTable(path_, table);
    // Two sinks may write one table.
    const std::string sql = CreateTableSql(table);
    if (std::find(missing.begin(), missing.end(), sql) == missing.end()) missing.push_back(sql);
  }
  if (missing.empty()) return Status::Ok();
  WEIR_RETURN_IF_ERROR(database_->Begin());
  for (const std::string& sql : missing) {
    const Status made = database_->Execute(sql);
    if (!made.ok()) {
      (void)database_->Rollback();
      return made;
    }
  }
  const Status committed = database_->Commit();
  if (!committed.ok()) (void)database_->Rollback();
  return committed;
}

Result<protocol::Whereabouts> SqliteDelivery::Look() {
  WEIR_RETURN_IF_ERROR(Open());
  return protocol::Whereabouts();  // a database is its path
}

Result<flow::Fenced> SqliteDelivery::Fence(const std::vector<std::string>&) {
  CHECK(database_ != nullptr);
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.after_fence").ToStatus("deliver.after_fence"));
  WEIR_ASSIGN_OR_RETURN(seen_, ReadReceipt());
  WEIR_RETURN_IF_ERROR(
      WEIR_FAULT_POINT("deliver.after_receipt_read").ToStatus("deliver.after_receipt_read"));
  return flow::Fenced{seen_, {}, {}, 0};
}

// The receipt lies in the transaction itself: nobody needs a second proof, and it never expires.
Result<protocol::ScanFacts> SqliteDelivery::Scan(const flow::ScanRange&) {
  return Fail(Code::kInternal, path_ + ": a database is never scanned");
}
Status SqliteDelivery::Refresh(const protocol::Receipt&) {
  return Status(Code::kInternal, path_ + ": a receipt in a database does not expire");
}

Result<std::optional<protocol::Receipt>> SqliteDelivery::ReadReceipt() {
  WEIR_ASSIGN_OR_RETURN(
      auto select, database_->Prepare(
                       "SELECT lineage, epoch, rows, hash FROM weir_receipts WHERE pipeline = ?1"));
  select.BindText(1, pipeline_);
  WEIR_ASSIGN_OR_RETURN(const bool found, select.Step());
  if (!found) return std::optional<protocol::Receipt>();
  const auto lineage = Lineage::FromHex(select.Text(0));
  const auto hash = Digest256::FromHex(select.Text(3));
  if (!lineage || !hash || select.Int(1) < 0 || select.Int(2) < 0) {
    return Fail(Code::kCorruption, "the row of pipeline " + pipeline_ + " in weir_receipts of " +
                                       path_ + " is damaged");
  }
  protocol::Receipt receipt{
      *lineage, {static_cast<EpochId>(select.Int(1)), static_cast<uint64_t>(select.Int(2))}, *hash};
  return std::optional<protocol::Receipt>(receipt);
}

// From what Fence read to `to`, or nothing: whoever has delivered since then has changed the row.
Status SqliteDelivery::SwapReceipt(const protocol::Receipt& to) {
  WEIR_ASSIGN_OR_RETURN(auto swap, database_->Prepare(seen_ ? kSwapReceipt : kInsertReceipt));
  const std::string lineage = to.lineage.ToHex(), hash = to.hash.ToHex();
  swap.BindText(1, lineage)
      .BindInt(2, static_cast<int64_t>(to.position.epoch))
      .BindInt(3, static_cast<int64_t>(to.position.rows))
      .BindText(4, hash)
      .BindText(5, pipeline_);
  std::string seen_lineage, seen_hash;
  if (seen_) {
    seen_lineage = seen_->lineage.ToHex();
    seen_hash = seen_->hash.ToHex();
    swap.BindText(6, seen_lineage)
        .BindInt(7, static_cast<int64_t>(seen_->position.epoch))
        .BindInt(8, static_cast<int64_t>(seen_->position.rows))
        .BindText(9, seen_hash);
  }
  const Status done = swap.Run();
  if (!done.ok() && done.code() != Code::kInvalid && done.code() != Code::kExists) return done;
  // An INSERT that meets a row of this pipeline fails on the primary key.
  if (!done.ok() || database_->Changes() != 1) {
    return Status(Code::kUnavailable,
                  "the receipt of pipeline " + pipeline_ + " in " + path_ +
                      " has changed since it was read: another session delivered");
  }
  return Status::Ok();
}

Status SqliteDelivery::WriteRows(flow::RowReader& rows) {
  ValueTexts texts;
  Batch batch;
  for (;;) {
    flow::RowsAt at;
    WEIR_ASSIGN_OR_RETURN(const bool more, rows.Next(&at, batch));
    const int sink = at.sink;
    if (!more) return Status::Ok();
    CHECK(sink >= 0 && static_cast<size_t>(sink) < tables_.size());
    const SqliteTable& table = tables_[static_cast<size_t>(sink)];
    Status status;
    batch.ForEachSelected([&](uint32_t row) {
      if (!status.ok()) return;
      status = WEIR_FAULT_POINT("deliver.during_produce").ToStatus("deliver.during_produce");
      if (!status.ok()) return;
      BindRow(table.schema, batch, row, texts, inserts_[static_cast<size_t>(sink)]);
      status = inserts_[static_cast<size_t>(sink)].Run();
    });
    // A constraint of the table that we cannot know (CHECK, UNIQUE): waited out, like a missing
    // permission; somebody has to change the table.
    if (status.code() == Code::kInvalid || status.code() == Code::kExists)
      return Status(Code::kUnavailable,
                    "table " + table.name + " in " + path_ + " refuses a row: " + status.message());
    WEIR_RETURN_IF_ERROR(status);
  }
}

Status SqliteDelivery::InTransaction(const protocol::Receipt& to, flow::RowReader& rows) {
  WEIR_RETURN_IF_ERROR(
      WEIR_FAULT_POINT("deliver.before_receipt").ToStatus("deliver.before_receipt"));
  WEIR_RETURN_IF_ERROR(SwapReceipt(to));
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.after_receipt").ToStatus("deliver.after_receipt"));
  WEIR_RETURN_IF_ERROR(WriteRows(rows));
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.before_commit").ToStatus("deliver.before_commit"));
  return database_->Commit();
}

Result<protocol::Whereabouts> SqliteDelivery::Deliver(const flow::SealedProof& proof,
                                                      const flow::DeliveryRange& range,
                                                      flow::RowReader& rows) {
  CHECK(database_ != nullptr && range.to.epoch <= proof.through());
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("deliver.before_begin").ToStatus("deliver.before_begin"));
  WEIR_RETURN_IF_ERROR(database_->Begin());
  const Status done = InTransaction({proof.lineage(), range.to, range.hash}, rows);
  if (!done.ok()) {
    (void)database_->Rollback();
    return Fail(done);
  }
  seen_ = protocol::Receipt{proof.lineage(), range.to, range.hash};
  // The rows are committed; a log that grows is only a nuisance.
  if (database_->wal_bytes() > kCheckpointBytes)
    (void)database_->Checkpoint(sqlite::CheckpointMode::kPassive);
  return protocol::Whereabouts();
}

void SqliteDelivery::Close() {
  inserts_.clear();
  database_.reset();
  seen_.reset();
}

}  // namespace weir::connectors
