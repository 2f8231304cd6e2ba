#include "data/timestamp.h"
#include "qualify/rows.h"
#include "sqlite/database.h"

namespace weir::qualify {
namespace {

constexpr int64_t kBusyMs = 10'000;  // a sink's transaction is short

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

// Why the value is none of that kind; "" and the cell when it is.
std::string_view TakeCell(const sqlite::Statement& statement, int column, CellKind kind,
                          Cell* cell) {
  if (statement.IsNull(column)) return "";
  cell->null = false;
  const sqlite::ColumnType type = statement.Type(column);
  switch (kind) {
    case CellKind::kInteger:
      if (type != sqlite::ColumnType::kInteger) return "an integer is expected";
      cell->number = statement.Int(column);
      return "";
    case CellKind::kTime: {
      if (type != sqlite::ColumnType::kText) return "the text of a time is expected";
      const TimeParse time = ParseTimestamp(statement.Text(column), Type::Timestamp(3), {});
      cell->number = time.ticks;
      return time.ok ? "" : time.reason;
    }
    case CellKind::kText:
      if (type != sqlite::ColumnType::kText) return "text is expected";
      cell->text = statement.Text(column);
      return "";
    case CellKind::kBytes:
      if (type != sqlite::ColumnType::kBlob) return "a blob is expected";
      cell->text = statement.Blob(column);
      return "";
  }
  return "";
}

class SqliteReader : public LayerReader {
 public:
  SqliteReader(std::string path, std::string table, std::vector<Wish> wishes, std::string vfs)
      : path_(std::move(path)),
        table_(std::move(table)),
        wishes_(std::move(wishes)),
        vfs_(std::move(vfs)) {}

  Result<uint64_t> Mark() override {
    WEIR_ASSIGN_OR_RETURN(const std::unique_ptr<sqlite::Database> database, Open());
    WEIR_ASSIGN_OR_RETURN(const int64_t rows,
                          database->QueryInt("SELECT count(*) FROM " + Quoted(table_)));
    return static_cast<uint64_t>(rows);
  }

  Status Read(const RowHandler& handle) override {
    WEIR_ASSIGN_OR_RETURN(const std::unique_ptr<sqlite::Database> database, Open());
    std::string columns;
    for (const Wish& wish : wishes_) {
      if (!columns.empty()) columns += ", ";
      // t.: a name that the table does not have is an error, not a text in SQLite's way.
      columns += wish.column.empty() ? "NULL" : "t." + Quoted(wish.column);
    }
    WEIR_ASSIGN_OR_RETURN(
        sqlite::Statement statement,
        database->Prepare("SELECT " + columns + " FROM " + Quoted(table_) + " AS t"));
    const std::string source = path_ + ":" + table_;
    std::vector<Cell> cells;
    for (uint64_t number = 1;; ++number) {
      WEIR_ASSIGN_OR_RETURN(const bool more, statement.Step());
      if (!more) return Status::Ok();
      Row row{.broken = "", .cells = {}, .raw = "", .source = source, .number = number};
      cells.assign(wishes_.size(), {});
      for (size_t i = 0; i < wishes_.size() && row.broken.empty(); ++i)
        row.broken = TakeCell(statement, static_cast<int>(i), wishes_[i].kind, &cells[i]);
      row.cells = cells;
      handle(row);
    }
  }

 private:
  Result<std::unique_ptr<sqlite::Database>> Open() const {
    return sqlite::Database::Open(path_, {.vfs = vfs_,
                                          .access = sqlite::Access::kReadOnly,
                                          .use_wal = false,
                                          .busy_timeout_ms = kBusyMs});
  }

  const std::string path_, table_;
  const std::vector<Wish> wishes_;
  const std::string vfs_;
};

}  // namespace

std::unique_ptr<LayerReader> NewSqliteReader(std::string path, std::string table,
                                             std::vector<Wish> wishes, std::string vfs) {
  return std::make_unique<SqliteReader>(std::move(path), std::move(table), std::move(wishes),
                                        std::move(vfs));
}

}  // namespace weir::qualify
