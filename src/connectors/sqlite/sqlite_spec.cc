// The connector 'sqlite' as data.
#include "base/text.h"
#include "connectors/filesystem/path.h"
#include "connectors/sqlite/sqlite_sink.h"
#include "plan/plan.h"

namespace weir::connectors {
namespace {

using plan::Diagnostic;

constexpr plan::OptionSpec kOptions[] = {
    {.name = "path",
     .doc = "The database file; file:// is accepted; relative to the working directory.",
     .required = true,
     .identity = true,
     .source = false},
    {.name = "table",
     .doc = "Table in the database (default: the name of this one).",
     .identity = true,
     .source = false,
     .default_is_table_name = true},
    {.name = "create-table",
     .type = plan::OptionType::kBoolean,
     .default_value = "true",
     .doc = "Create the table when the database has none of this name.",
     .source = false},
};

void Check(const plan::TableDef& table, bool, std::vector<Diagnostic>& out) {
  const auto error = [&](plan::Position at, std::string message, std::string hint = "") {
    out.push_back({Diagnostic::Severity::kError, at, std::move(message), std::move(hint)});
  };
  if (const plan::OptionValue* path = table.options.Find("path")) {
    const auto local = LocalPath(path->text);
    if (!local.has_value()) error(path->value_position, local.error().message());
  }
  const std::string name = SqliteTableName(table);
  if (name.empty() || ToLowerAscii(name).starts_with("sqlite_") ||
      EqualsIgnoreCase(name, kReceiptsTable)) {
    error(plan::Position{}, "'" + name + "' cannot be the name of a table in SQLite");
  }
  for (const plan::ColumnDef& column : table.columns) {
    if (column.kind == plan::ColumnDef::Kind::kMetadata && !column.is_virtual) {
      error(column.position, "column " + column.name + ": the connector has no metadata to write",
            "declare it VIRTUAL, or leave it out");
    }
  }
}

}  // namespace

const plan::ConnectorSpec kSqliteSpec = {
    .name = "sqlite",
    .doc = "A table of an SQLite database: appended to, or upserted by PRIMARY KEY.",
    .sink = true,
    .options = kOptions,
    .sink_accepts_updates = true,
    .check = Check,
};

}  // namespace weir::connectors
