#include "sql/compile.h"

#include <utility>

#include "sql/bind_options.h"
#include "sql/bind_query.h"
#include "sql/bind_table.h"
#include "sql/catalog.h"
#include "sql/diagnostics.h"
#include "sql/lexer.h"
#include "sql/parser.h"
#include "sql/plan_builder.h"
#include "sql/types.h"

namespace weir::sql {

using plan::ExprPtr;

namespace {

void BindCreateView(const StatementAst& ast, Context& context) {
  Entry* entry = AddEntry(ast, context);
  if (entry == nullptr || ast.broken) return;
  const std::string& name = ast.name.text;
  QueryBinder binder(context, name, name, name);
  entry->being_defined = true;
  BoundSelect bound = binder.Bind(*ast.select);
  entry->being_defined = false;
  View view;
  view.relation = binder.Materialize(std::move(bound), ast.column_names);
  view.relation.subject = name;
  view.windows = binder.windows();
  view.reads = binder.reads();
  entry->view = std::move(view);
}

// The select item for each column that the sink takes: -1 = left out of (a, b), which means NULL.
// False: reported.
bool MatchColumns(const StatementAst& ast, const plan::TableDef& table,
                  const std::vector<int>& taken, size_t items, Diagnostics& diagnostics,
                  std::vector<int>* out) {
  out->assign(taken.size(), -1);
  if (ast.column_names.empty()) {
    for (size_t i = 0; i < taken.size(); ++i) (*out)[i] = static_cast<int>(i);
    if (items == taken.size()) return true;
    diagnostics.Error(ast.select->at, ast.name.text + " takes " + std::to_string(taken.size()) +
                                          " columns, this SELECT has " + std::to_string(items));
    return false;
  }
  bool ok = true;
  std::vector<std::string_view> names;
  for (const int column : taken) names.push_back(table.columns[static_cast<size_t>(column)].name);
  for (size_t i = 0; i < ast.column_names.size(); ++i) {
    const Name& name = ast.column_names[i];
    bool found = false;
    for (size_t j = 0; j < names.size(); ++j) {
      if (names[j] != name.text) continue;
      found = true;
      if ((*out)[j] >= 0) {
        diagnostics.Error(name.at, "column " + name.text + " stands twice");
        ok = false;
      }
      (*out)[j] = static_cast<int>(i);
    }
    if (found) continue;
    diagnostics.Error(name.at, ast.name.text + " has no column " + name.text + " that is written",
                      DidYouMean(name.text, names));
    ok = false;
  }
  if (ok && items != ast.column_names.size()) {
    diagnostics.Error(ast.select->at, std::to_string(ast.column_names.size()) +
                                          " columns are named, this SELECT has " +
                                          std::to_string(items));
    ok = false;
  }
  return ok;
}

// A value as the type of a sink's column; null: reported.
ExprPtr Assign(ExprPtr value, const plan::ColumnDef& column, Position at, const std::string& table,
               Diagnostics& diagnostics) {
  const Type from = value->type;
  if (!CanAssign(from, column.type)) {
    diagnostics.Error(at,
                      "column " + column.name + " of " + table + " is " + Shown(column.type) +
                          ", this is " + Shown(from),
                      CanCast(from, column.type)
                          ? "write CAST(.. AS " + Shown(column.type) + "), or change the column"
                          : "");
    return nullptr;
  }
  if (from.kind == TypeKind::kDecimal && column.type.kind == TypeKind::kDecimal &&
      from.scale > column.type.scale) {
    diagnostics.Warning(at, "column " + column.name + " of " + table + " rounds " +
                                std::to_string(static_cast<int>(from.scale)) +
                                " digits after the point to " +
                                std::to_string(static_cast<int>(column.type.scale)));
  }
  value = Coerce(std::move(value), column.type);
  if (column.type.nullable || !value->type.nullable) return value;
  // NOT NULL: a cast that makes NULL an error of the row.
  std::vector<ExprPtr> args;
  args.push_back(std::move(value));
  return plan::MakeCall(plan::Fn::kCast, column.type, std::move(args), at);
}

void BindInsert(const StatementAst& ast, Context& context) {
  Diagnostics& diagnostics = context.diagnostics;
  Entry* entry = FindEntry(context, ast.name, "table");
  if (entry != nullptr && entry->view) {
    diagnostics.Error(ast.name.at, ast.name.text + " is a view, and a view cannot be written");
    entry = nullptr;
  }
  QueryBinder binder(context, ast.name.text, "", ast.name.text);
  BoundSelect bound = binder.Bind(*ast.select);
  if (entry == nullptr || !entry->table) return;
  const bool sink_ok = CheckSink(*entry->table, ast.name.at, context);
  const plan::TableDef& table = *entry->table->def;
  const std::vector<int> taken = SinkColumns(table);
  // Without a known source the number of columns is not known either.
  if (bound.items.empty() || (!bound.ok && taken.size() != bound.items.size())) return;
  std::vector<int> item_of;
  if (!MatchColumns(ast, table, taken, bound.items.size(), diagnostics, &item_of)) return;
  plan::CalcNode calc;
  Schema schema;
  bool ok = bound.ok && sink_ok;
  for (size_t i = 0; i < taken.size(); ++i) {
    const plan::ColumnDef& column = table.columns[static_cast<size_t>(taken[i])];
    schema.fields.push_back({column.name, column.type});
    Position at = ast.name.at;
    ExprPtr value;
    if (item_of[i] >= 0) {
      BoundSelect::Item& item = bound.items[static_cast<size_t>(item_of[i])];
      at = item.at;
      value = std::move(item.expr);
    } else {
      value = plan::MakeLiteral(Value::Null(Type::Of(TypeKind::kNull)), at);
      if (!column.type.nullable) {
        diagnostics.Error(at, "column " + column.name + " of " + table.name +
                                  " is NOT NULL and has no value here");
        value = nullptr;
      }
    }
    if (value != nullptr && column.type.kind != TypeKind::kNull) {
      value = Assign(std::move(value), column, at, table.name, diagnostics);
    }
    ok = ok && value != nullptr;
    calc.projections.push_back(std::move(value));
  }
  if (!ok) return;
  calc.filter = std::move(bound.filter);
  const plan::NodeId node = context.builder.AddCalc(table.name, bound.input, std::move(calc),
                                                    schema, bound.subject, ast.at);
  context.builder.AddSinkInput(table, schema, node, ast.at);
}

void BindBareSelect(const StatementAst& ast, int number, Context& context) {
  const std::string base = "print." + std::to_string(number);
  QueryBinder binder(context, base, "", base);
  const Relation relation = binder.Materialize(binder.Bind(*ast.select), {});
  if (!relation.known) return;
  Schema schema;
  for (const RelationColumn& column : relation.columns) {
    schema.fields.push_back({column.name, column.type});
  }
  context.builder.AddPrint(schema, relation.input.node, ast.at);
}

bool BindStatements(const std::vector<StatementAst>& script, OptionBinder& options,
                    Context& context) {
  bool writes = false;
  int selects = 0;
  for (const StatementAst& ast : script) {
    switch (ast.kind) {
      case StatementAst::Kind::kSet:
        break;
      case StatementAst::Kind::kCreateTable:
        BindCreateTable(ast, options, context);
        break;
      case StatementAst::Kind::kCreateView:
        BindCreateView(ast, context);
        break;
      case StatementAst::Kind::kInsert:
        writes = true;
        BindInsert(ast, context);
        break;
      case StatementAst::Kind::kSelect:
        writes = true;
        BindBareSelect(ast, ++selects, context);
        break;
    }
  }
  return writes;
}

// What is true of the plan and worth saying, though it is no mistake.
void AddNotes(const plan::Plan& plan, Diagnostics& diagnostics) {
  std::vector<bool> late_read(plan.nodes.size());
  for (const plan::Node& node : plan.nodes) {
    for (const plan::Input& input : node.inputs) {
      if (input.edge == plan::Edge::kLate) late_read[static_cast<size_t>(input.node)] = true;
    }
  }
  for (const plan::Node& node : plan.nodes) {
    if (std::holds_alternative<plan::WindowNode>(node.body) &&
        !late_read[static_cast<size_t>(node.id)]) {
      const std::string& view = std::get<plan::WindowNode>(node.body).view;
      diagnostics.Note(node.position, "late rows of this window are counted and dropped",
                       view.empty() ? "make it a view v and INSERT INTO .. SELECT * FROM LATE(v)"
                                    : "INSERT INTO .. SELECT * FROM LATE(" + view + ") keeps them");
    }
    const auto* sink = std::get_if<plan::SinkNode>(&node.body);
    if (sink == nullptr || sink->kind != plan::SinkNode::Kind::kPrint) continue;
    diagnostics.Note(node.position, "this SELECT prints at once: at least once after a restart");
  }
}

// Tables that nothing reads or writes are not part of the plan.
void DropUnusedTables(plan::Plan& plan) {
  std::erase_if(plan.tables, [&](const std::unique_ptr<plan::TableDef>& table) {
    for (const plan::Node& node : plan.nodes) {
      const auto* scan = std::get_if<plan::ScanNode>(&node.body);
      const auto* sink = std::get_if<plan::SinkNode>(&node.body);
      if (scan != nullptr && scan->table == table.get()) return false;
      if (sink != nullptr && sink->table == table.get()) return false;
    }
    return true;
  });
}

}  // namespace

CompileOutput Compile(const CompileInput& input) {
  CompileOutput out;
  Diagnostics diagnostics;
  const std::vector<Token> tokens = Lex(input.text, diagnostics);
  const std::vector<StatementAst> script = Parser(tokens, diagnostics).ParseScript();

  auto plan = std::make_unique<plan::Plan>();
  PlanBuilder builder(diagnostics);
  Context context{diagnostics, builder, *plan, {}, {}};
  OptionBinder options(input, diagnostics);
  options.BindSettings(script, *plan);
  for (const StatementAst& ast : script) {
    const bool defines =
        ast.kind == StatementAst::Kind::kCreateTable || ast.kind == StatementAst::Kind::kCreateView;
    if (defines) context.later.emplace(ast.name.text, ast.name.at);
  }
  const bool writes = BindStatements(script, options, context);
  CheckOutputs(context);
  if (!writes && diagnostics.errors() == 0) {
    diagnostics.Error({1, 1}, "the file has no INSERT and no SELECT: there is nothing to run");
  }
  if (diagnostics.errors() == 0) builder.Finish(*plan);
  if (diagnostics.errors() == 0) {
    AddNotes(*plan, diagnostics);
    DropUnusedTables(*plan);
    out.canonical = plan::CanonicalPlan(*plan, plan::kFingerprintVersion);
    out.fingerprint = plan::Fingerprint(out.canonical, plan::kFingerprintVersion);
    plan::PruneColumns(*plan);
    out.plan = std::move(plan);
  }
  out.diagnostics = diagnostics.TakeSorted();
  if (out.plan != nullptr) out.plan->diagnostics = out.diagnostics;
  return out;
}

std::string FormatDiagnostics(const CompileInput& input,
                              const std::vector<plan::Diagnostic>& diagnostics) {
  return FormatText(input.file_name, input.text, diagnostics);
}

std::string FormatDiagnosticsJson(const CompileInput& input,
                                  const std::vector<plan::Diagnostic>& diagnostics) {
  return FormatJson(input.file_name, diagnostics);
}

}  // namespace weir::sql
