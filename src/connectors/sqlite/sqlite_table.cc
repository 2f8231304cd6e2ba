// A sink table as SQL text, its checks, and its rows as parameters.
#include <algorithm>

#include "connectors/registry.h"
#include "connectors/sqlite/sqlite_sink.h"
#include "connectors/sqlite/sqlite_values.h"
#include "data/value_text.h"

namespace weir::connectors {
namespace {

constexpr const char* kNan = "NaN cannot be stored: SQLite makes it NULL";

const char* ColumnTypeSql(const Type& type) {
  switch (type.kind) {
    case TypeKind::kBoolean:
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return "INTEGER";
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return "REAL";
    case TypeKind::kBytes:
      return "BLOB";
    case TypeKind::kDecimal:  // NUMERIC would make a double of it
    case TypeKind::kString:
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kNull:
    case TypeKind::kInterval:
      return "TEXT";
  }
  return "TEXT";
}

std::string NameList(const SqliteTable& table, const std::vector<int>& fields) {
  std::string out;
  for (const int field : fields) {
    if (!out.empty()) out += ", ";
    out += QuoteName(table.schema.fields[static_cast<size_t>(field)].name);
  }
  return out;
}

}  // namespace

std::string QuoteName(std::string_view name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + "\"";
}

std::string SqliteTableName(const plan::TableDef& table) {
  const plan::OptionValue* name = table.options.Find("table");
  return name == nullptr ? table.name : name->text;
}

SqliteTable MakeSqliteTable(const plan::TableDef& table) {
  SqliteTable out{
      SqliteTableName(table), SinkSchema(table), {}, table.options.Boolean("create-table")};
  for (const int column : table.primary_key) {
    if (const auto field = out.schema.Find(table.columns[static_cast<size_t>(column)].name))
      out.key.push_back(*field);
  }
  return out;
}

std::string CreateTableSql(const SqliteTable& table) {
  std::string sql = "CREATE TABLE " + QuoteName(table.name) + " (";
  for (size_t i = 0; i < table.schema.fields.size(); ++i) {
    const Field& field = table.schema.fields[i];
    if (i > 0) sql += ", ";
    sql += QuoteName(field.name) + " " + ColumnTypeSql(field.type);
    const bool key =
        std::find(table.key.begin(), table.key.end(), static_cast<int>(i)) != table.key.end();
    if (!field.type.nullable || key) sql += " NOT NULL";
  }
  if (!table.key.empty()) sql += ", PRIMARY KEY (" + NameList(table, table.key) + ")";
  return sql + ")";
}

std::string InsertSql(const SqliteTable& table) {
  std::vector<int> all;
  std::string parameters, updates;
  for (size_t i = 0; i < table.schema.fields.size(); ++i) {
    all.push_back(static_cast<int>(i));
    parameters += i == 0 ? "?" : ", ?";
    if (std::find(table.key.begin(), table.key.end(), static_cast<int>(i)) != table.key.end())
      continue;
    const std::string name = QuoteName(table.schema.fields[i].name);
    updates += (updates.empty() ? "" : ", ") + name + " = excluded." + name;
  }
  std::string sql = "INSERT INTO " + QuoteName(table.name) + " (" + NameList(table, all) +
                    ") VALUES (" + parameters + ")";
  if (table.key.empty()) return sql;
  sql += " ON CONFLICT (" + NameList(table, table.key) + ") DO ";
  return sql + (updates.empty() ? "NOTHING" : "UPDATE SET " + updates);
}

std::function<std::string_view(const Batch&, uint32_t)> SqliteRowCheck(
    const plan::TableDef& table) {
  const SqliteTable target = MakeSqliteTable(table);
  std::vector<std::string> null_key(target.schema.fields.size());
  for (const int field : target.key) {
    null_key[static_cast<size_t>(field)] =
        "NULL in PRIMARY KEY column " + target.schema.fields[static_cast<size_t>(field)].name;
  }
  return [null_key = std::move(null_key)](const Batch& batch, uint32_t row) -> std::string_view {
    for (size_t i = 0; i < null_key.size(); ++i) {
      const Column& column = batch.column(i);
      if (column.IsNull(row)) {
        if (!null_key[i].empty()) return null_key[i];
      } else if (column.type.physical() == Physical::kDouble &&
                 column.doubles[row] != column.doubles[row]) {
        return kNan;
      }
    }
    return {};
  };
}

void BindRow(const Schema& schema, const Batch& batch, uint32_t row, ValueTexts& texts,
             sqlite::Statement& insert) {
  texts.Begin(schema.fields.size());
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const int parameter = static_cast<int>(i) + 1;
    const Column& column = batch.column(i);
    const Type& type = schema.fields[i].type;
    if (column.IsNull(row)) {
      insert.BindNull(parameter);
      continue;
    }
    switch (type.physical()) {
      case Physical::kBool:
        insert.BindInt(parameter, column.bools[row] != 0);
        break;
      case Physical::kInt64:
        if (type.IsInteger()) {
          insert.BindInt(parameter, column.ints[row]);
        } else {
          std::string& text = texts.Next();
          AppendScalarText(column, row, TimestampStyle::kSql, text);
          insert.BindText(parameter, text);
        }
        break;
      case Physical::kDouble:
        insert.BindDouble(parameter, column.doubles[row]);
        break;
      case Physical::kInt128: {
        std::string& text = texts.Next();
        AppendScalarText(column, row, TimestampStyle::kSql, text);
        insert.BindText(parameter, text);
        break;
      }
      case Physical::kString:
        if (type.kind == TypeKind::kBytes) {
          insert.BindBlob(parameter, column.strings[row]);
        } else {
          insert.BindText(parameter, column.strings[row]);
        }
        break;
    }
  }
}

}  // namespace weir::connectors
