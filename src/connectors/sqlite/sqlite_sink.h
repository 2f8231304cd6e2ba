// The sqlite sink: rows of sealed epochs into tables of one database, together with the receipt, in
// one transaction.
//
//   CREATE TABLE weir_receipts (pipeline TEXT PRIMARY KEY, lineage TEXT, epoch INTEGER, rows
//   INTEGER, hash TEXT)
//
// One row per pipeline. The first statement of a delivery's transaction is a compare-and-set of it,
// from exactly what Fence read to the end of the range; an older session's COMMIT comes before that
// or fails on it, so nothing is written twice whoever else is still alive.
//
// How values are stored (docs/connectors.md): integers and DATE-free numbers as INTEGER, DOUBLE and
// FLOAT as REAL, DECIMAL as TEXT with all digits of its scale, BOOLEAN as INTEGER 0 or 1, STRING as
// TEXT, BYTES as BLOB, DATE, TIMESTAMP and TIMESTAMP_LTZ as TEXT like in JSON.
#ifndef WEIR_CONNECTORS_SQLITE_SQLITE_SINK_H_
#define WEIR_CONNECTORS_SQLITE_SQLITE_SINK_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "flow/delivery.h"
#include "io/files.h"
#include "plan/plan.h"
#include "sqlite/database.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kSqliteSpec;
inline constexpr std::string_view kReceiptsTable = "weir_receipts";

std::string SqliteTableName(const plan::TableDef& table);
std::function<std::string_view(const Batch&, uint32_t)> SqliteRowCheck(const plan::TableDef& table);

// One sink table of the target, reduced to what a delivery needs.
struct SqliteTable {
  std::string name;
  Schema schema;         // what the sink takes
  std::vector<int> key;  // fields of the schema; empty: append
  bool create = true;
};
SqliteTable MakeSqliteTable(const plan::TableDef& table);
std::string CreateTableSql(const SqliteTable& table);
std::string InsertSql(const SqliteTable& table);

// What a database says to a table, before the first row (sqlite_check.cc).
Result<bool> HasSqliteTable(sqlite::Database& database, std::string_view name);
Status NoSqliteTable(const std::string& path, const SqliteTable& table);
// kInvalid: the table that is there cannot take the rows, or would change them.
Result<sqlite::Statement> PrepareInsert(sqlite::Database& database, const SqliteTable& table);
// Whether the database at `path`, as it is now, takes rows of the table: kInvalid is a no. Writes
// nothing and makes no file; OK also where that cannot be told (no database yet, one that is locked
// or needs a recovery): the delivery will say so.
Status CheckSqliteTable(io::Files& files, const std::string& vfs, const std::string& path,
                        const plan::TableDef& table);

class SqliteDelivery : public flow::SinkDelivery {
 public:
  SqliteDelivery(std::string vfs, std::string path, std::string pipeline,
                 std::vector<SqliteTable> tables)
      : vfs_(std::move(vfs)),
        path_(std::move(path)),
        pipeline_(std::move(pipeline)),
        tables_(std::move(tables)) {}

  flow::DeliveryTraits Traits() const override { return {.kind = "sql"}; }
  std::string SessionName() const override { return ""; }  // the row lock of the receipt fences
  Result<protocol::Whereabouts> Look() override;
  Result<flow::Fenced> Fence(const std::vector<std::string>& ancestors) override;
  Result<protocol::ScanFacts> Scan(const flow::ScanRange& range) override;
  Result<protocol::Whereabouts> Deliver(const flow::SealedProof& proof,
                                        const flow::DeliveryRange& range,
                                        flow::RowReader& rows) override;
  Status Refresh(const protocol::Receipt& receipt) override;
  void Prepare() override {}  // a database opens in no time
  void Close() override;

 private:
  Status Open();
  Status MakeTables();
  Result<std::optional<protocol::Receipt>> ReadReceipt();
  Status SwapReceipt(const protocol::Receipt& to);
  Status WriteRows(flow::RowReader& rows);
  Status InTransaction(const protocol::Receipt& to, flow::RowReader& rows);

  const std::string vfs_, path_, pipeline_;
  const std::vector<SqliteTable> tables_;
  std::unique_ptr<sqlite::Database> database_;
  std::vector<sqlite::Statement> inserts_;  // by sink index; gone before database_
  std::optional<protocol::Receipt> seen_;   // what Fence read
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_SQLITE_SQLITE_SINK_H_
