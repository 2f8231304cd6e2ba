// What is found in a database before the first row: whether its tables are there and can take what
// is delivered. Asked by each delivery, and by a start and `weir check` while nothing has been
// read.
#include <map>

#include "base/text.h"
#include "connectors/sqlite/sqlite_sink.h"

namespace weir::connectors {
namespace {

// SQLite's rule for the affinity of a declared type: whether text that looks like a number would be
// made one.
bool MakesNumbers(std::string_view declared) {
  const std::string type = ToUpperAscii(declared);
  const auto has = [&](std::string_view word) { return type.find(word) != std::string::npos; };
  if (has("INT")) return true;
  if (has("CHAR") || has("CLOB") || has("TEXT")) return false;
  return !(type.empty() || has("BLOB"));
}

// A column that would change our values must be known before the first row is lost in it.
Status CheckColumns(sqlite::Database& database, const SqliteTable& table) {
  const std::string& path = database.path();
  std::map<std::string, std::string> types;
  WEIR_ASSIGN_OR_RETURN(auto columns,
                        database.Prepare("SELECT name, type FROM pragma_table_info(?1)"));
  columns.BindText(1, table.name);
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const bool more, columns.Step());
    if (!more) break;
    types[ToLowerAscii(columns.Text(0))] = std::string(columns.Text(1));
  }
  for (const Field& field : table.schema.fields) {
    const auto found = types.find(ToLowerAscii(field.name));
    if (found == types.end())
      return Status(Code::kInvalid,
                    "table " + table.name + " in " + path + " has no column " + field.name);
    if (field.type.kind == TypeKind::kDecimal && MakesNumbers(found->second)) {
      return Status(Code::kInvalid, "column " + field.name + " of table " + table.name + " in " +
                                        path + " is declared " + found->second +
                                        ": SQLite would store " + field.type.ToString() +
                                        " as a floating point number; declare it TEXT");
    }
  }
  return Status::Ok();
}

// The 19th byte of a database: 2 in WAL mode. Nothing: there is no database yet. The file is closed
// again before SQLite opens it (sqlite/database.h, invariant 4).
std::optional<char> WriteVersion(io::Files& files, const std::string& path) {
  constexpr size_t kWriteVersion = 18;
  char header[kWriteVersion + 1];
  const auto file = files.Open(path, io::OpenMode::kRead);
  if (!file) return std::nullopt;
  const Result<size_t> n = (*file)->ReadAt(0, header);
  return n && *n == sizeof header ? std::optional<char>(header[kWriteVersion]) : std::nullopt;
}

}  // namespace

Result<bool> HasSqliteTable(sqlite::Database& database, std::string_view name) {
  WEIR_ASSIGN_OR_RETURN(
      auto look, database.Prepare("SELECT type FROM sqlite_master WHERE name = ?1 COLLATE NOCASE"));
  look.BindText(1, name);
  return look.Step();
}

Status NoSqliteTable(const std::string& path, const SqliteTable& table) {
  return Status(Code::kInvalid,
                path + " has no table " + table.name + ", and 'create-table' is false");
}

Result<sqlite::Statement> PrepareInsert(sqlite::Database& database, const SqliteTable& table) {
  WEIR_RETURN_IF_ERROR(CheckColumns(database, table));
  auto insert = database.Prepare(InsertSql(table));
  if (insert) return insert;
  return Fail(insert.error().WithContext("table " + table.name + " in " + database.path()));
}

Status CheckSqliteTable(io::Files& files, const std::string& vfs, const std::string& path,
                        const plan::TableDef& definition) {
  const std::optional<char> version = WriteVersion(files, path);
  if (!version) return Status::Ok();
  sqlite::OpenOptions options;
  options.vfs = vfs;
  options.access = sqlite::Access::kReadOnly;
  // A reader of a database in WAL mode makes the log where there is none.
  options.frozen = *version == 2 && !files.Exists(path + "-wal");
  const auto database = sqlite::Database::Open(path, options);
  if (!database) return Status::Ok();
  const SqliteTable table = MakeSqliteTable(definition);
  const Result<bool> found = HasSqliteTable(**database, table.name);
  if (!found) return Status::Ok();
  if (!*found) return table.create ? Status::Ok() : NoSqliteTable(path, table);
  const auto insert = PrepareInsert(**database, table);
  const bool unfit = !insert && insert.error().code() == Code::kInvalid;
  return unfit ? insert.error() : Status::Ok();
}

}  // namespace weir::connectors
