#include "sql/bind_table.h"

#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "sql/bind_expr.h"
#include "sql/keywords.h"
#include "sql/types.h"

namespace weir::sql {

using plan::ColumnDef;
using plan::TableDef;

namespace {

class TableBinder {
 public:
  TableBinder(const StatementAst& ast, Context& context, TableDef& table)
      : ast_(ast), context_(context), diagnostics_(context.diagnostics), table_(table) {}

  void BindColumns() {
    for (const ColumnAst& column : ast_.columns) {
      if (Find(column.name.text) >= 0) {
        diagnostics_.Error(column.name.at, "column " + column.name.text + " stands twice");
        continue;
      }
      ColumnDef def;
      def.name = column.name.text;
      def.position = column.name.at;
      def.type = column.type;
      switch (column.kind) {
        case ColumnAst::Kind::kPhysical:
          def.kind = ColumnDef::Kind::kPhysical;
          break;
        case ColumnAst::Kind::kComputed:
          def.kind = ColumnDef::Kind::kComputed;
          break;
        case ColumnAst::Kind::kMetadata:
          def.kind = ColumnDef::Kind::kMetadata;
          def.metadata_key = column.metadata_key.empty() ? column.name.text : column.metadata_key;
          def.is_virtual = column.is_virtual;
          break;
      }
      table_.columns.push_back(std::move(def));
    }
    BindComputed();
    BindWatermark();
    BindPrimaryKey();
  }

  void CheckMetadata() {
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const ColumnDef& column = table_.columns[i];
      if (column.kind != ColumnDef::Kind::kMetadata) continue;
      const ColumnAst* ast = AstOf(column.name);
      const plan::MetadataSpec* spec = nullptr;
      std::vector<std::string_view> keys;
      for (const plan::MetadataSpec& known : table_.connector->metadata) {
        keys.push_back(known.key);
        if (known.key == column.metadata_key) spec = &known;
      }
      if (spec == nullptr) {
        std::string hint = DidYouMean(column.metadata_key, keys);
        if (hint.empty()) {
          for (const std::string_view key : keys) {
            hint += (hint.empty() ? "there are " : ", ") + std::string(key);
          }
        }
        diagnostics_.Error(ast->metadata_at,
                           "the connector " + std::string(table_.connector->name) +
                               " has no metadata '" + column.metadata_key + "'",
                           std::move(hint));
      } else if (!spec->type.SameAs(column.type) && column.type.kind != TypeKind::kNull) {
        diagnostics_.Error(column.position,
                           "metadata '" + column.metadata_key + "' is " + Shown(spec->type) +
                               ", not " + Shown(column.type),
                           "declare it so, and cast in a computed column");
      }
    }
  }

 private:
  int Find(std::string_view name) const {
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      if (table_.columns[i].name == name) return static_cast<int>(i);
    }
    return -1;
  }

  const ColumnAst* AstOf(std::string_view name) const {
    for (const ColumnAst& column : ast_.columns) {
      if (column.name.text == name) return &column;
    }
    return nullptr;
  }

  // Over physical and metadata columns only, as in Flink: the order of columns does not matter
  // then.
  void BindComputed() {
    Scope scope;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      const ColumnDef& column = table_.columns[i];
      if (column.kind == ColumnDef::Kind::kComputed) continue;
      scope.columns.push_back({table_.name, column.name, column.type, static_cast<int>(i), false});
    }
    scope.hint = "a computed column reads the table's physical and METADATA columns";
    for (ColumnDef& column : table_.columns) {
      if (column.kind != ColumnDef::Kind::kComputed) continue;
      const ColumnAst* ast = AstOf(column.name);
      if (HasAggregate(*ast->computed)) {
        diagnostics_.Error(ast->computed->at, "a computed column has no aggregates");
        continue;
      }
      ExprBinder binder(diagnostics_, context_.plan.zone, scope);
      plan::ExprPtr expr = binder.Bind(*ast->computed);
      if (expr == nullptr) continue;
      if (expr->type.kind == TypeKind::kNull || expr->type.kind == TypeKind::kInterval) {
        diagnostics_.Error(ast->computed->at,
                           "column " + column.name + " cannot be of type " + Shown(expr->type),
                           "write CAST(.. AS ..)");
        continue;
      }
      column.type = expr->type;
      column.computed = std::move(expr);
    }
  }

  void BindWatermark() {
    if (!ast_.watermark_column) return;
    const Name& name = *ast_.watermark_column;
    const int index = Find(name.text);
    if (index < 0) {
      std::vector<std::string_view> names;
      for (const ColumnDef& column : table_.columns) names.push_back(column.name);
      diagnostics_.Error(name.at, "unknown column " + name.text, DidYouMean(name.text, names));
      return;
    }
    const Type& type = table_.columns[static_cast<size_t>(index)].type;
    if (type.kind == TypeKind::kNull) return;  // reported where the column is defined
    if (!type.IsTimestamp() || type.precision > 3) {
      diagnostics_.Error(
          name.at,
          "a watermark needs TIMESTAMP(3) or TIMESTAMP_LTZ(3), " + name.text + " is " + Shown(type),
          type.IsTimestamp()
              ? "event time is in milliseconds: declare it " + name.text + " " +
                    (type.kind == TypeKind::kTimestamp ? "TIMESTAMP(3)" : "TIMESTAMP_LTZ(3)")
          : type.IsNumeric()
              ? "a computed column can convert it: t AS TO_TIMESTAMP_LTZ(" + name.text +
                    ", 0) from seconds, 3 from milliseconds"
              : "a computed column can convert it, as in t AS TO_TIMESTAMP(" + name.text + ")");
      return;
    }
    plan::WatermarkDef watermark;
    watermark.column = index;
    watermark.position = ast_.watermark_at;
    if (BindBound(*ast_.watermark, name.text, &watermark.bound_ms)) table_.watermark = watermark;
  }

  // c, or c - INTERVAL.
  bool BindBound(const ExprAst& ast, const std::string& column, int64_t* bound_ms) {
    const auto is_column = [&](const ExprAst& e) {
      return e.kind == ExprAst::Kind::kColumn && e.parts.size() == 1 && e.parts[0].text == column;
    };
    if (is_column(ast)) return true;
    const bool minus = ast.kind == ExprAst::Kind::kBinary && ast.name == "-" &&
                       is_column(*ast.args[0]) && ast.args[1]->kind == ExprAst::Kind::kInterval;
    if (!minus) {
      diagnostics_.Error(ast.at,
                         "the watermark of " + column + " is " + column + " or " + column +
                             " - INTERVAL '5' SECOND",
                         "another expression goes into a computed column");
      return false;
    }
    if (!IntervalMs(*ast.args[1], diagnostics_, bound_ms, nullptr)) return false;
    if (*bound_ms >= 0) return true;
    diagnostics_.Error(ast.args[1]->at, "the bound of a watermark cannot be negative");
    return false;
  }

  void BindPrimaryKey() {
    for (const Name& name : ast_.primary_key) {
      const int index = Find(name.text);
      if (index < 0) {
        std::vector<std::string_view> names;
        for (const ColumnDef& column : table_.columns) names.push_back(column.name);
        diagnostics_.Error(name.at, "unknown column " + name.text, DidYouMean(name.text, names));
        continue;
      }
      if (table_.columns[static_cast<size_t>(index)].kind != ColumnDef::Kind::kPhysical) {
        diagnostics_.Error(name.at, "a PRIMARY KEY is made of physical columns");
        continue;
      }
      for (const int known : table_.primary_key) {
        if (known == index) diagnostics_.Error(name.at, "column " + name.text + " stands twice");
      }
      table_.primary_key.push_back(index);
    }
  }

  const StatementAst& ast_;
  Context& context_;
  Diagnostics& diagnostics_;
  TableDef& table_;
};

}  // namespace

Entry* AddEntry(const StatementAst& ast, Context& context) {
  const std::string mistake = NameMistake(ast.name.text);
  if (!mistake.empty()) {
    context.diagnostics.Error(ast.name.at, "the name " + ast.name.text + " " + mistake,
                              "it becomes part of file names");
  }
  const auto [it, fresh] = context.entries.emplace(ast.name.text, Entry{ast.name.at, {}, {}});
  if (fresh) return &it->second;
  if (!ast.if_not_exists) {
    context.diagnostics.Error(ast.name.at, ast.name.text + " is defined twice, first in line " +
                                               std::to_string(it->second.at.line));
  }
  return nullptr;
}

void BindCreateTable(const StatementAst& ast, OptionBinder& options, Context& context) {
  Entry* entry = AddEntry(ast, context);
  if (entry == nullptr || ast.broken) return;
  const size_t errors_before = context.diagnostics.errors();
  auto table = std::make_unique<TableDef>();
  table->name = ast.name.text;
  table->position = ast.name.at;
  TableBinder binder(ast, context, *table);
  binder.BindColumns();
  const bool has_connector = options.BindTable(ast, context.plan, *table);
  if (has_connector) binder.CheckMetadata();
  entry->table.emplace();
  entry->table->def = table.get();
  entry->table->broken = !has_connector || context.diagnostics.errors() > errors_before;
  for (const ColumnDef& column : table->columns) {
    // A type that was refused by the parser was counted before.
    if (column.type.kind == TypeKind::kNull) entry->table->broken = true;
  }
  context.plan.tables.push_back(std::move(table));
}

}  // namespace weir::sql
