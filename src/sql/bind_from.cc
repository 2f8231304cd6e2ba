// What stands in FROM: tables, views, derived tables, windows, LATE and DEAD_LETTERS.
#include <utility>

#include "base/units.h"
#include "sql/bind_query.h"
#include "sql/bind_table.h"
#include "sql/keywords.h"

namespace weir::sql {

using plan::Edge;
using plan::NodeId;

Entry* FindEntry(Context& context, const Name& name, std::string_view what) {
  const auto it = context.entries.find(name.text);
  if (it != context.entries.end()) {
    if (!it->second.being_defined) return &it->second;
    context.diagnostics.Error(name.at, "the view " + name.text + " reads itself",
                              "a view reads what stands above it in the file");
    return nullptr;
  }
  const auto later = context.later.find(name.text);
  if (later != context.later.end() && later->second.line >= name.at.line) {
    context.diagnostics.Error(
        name.at,
        name.text + " is defined further down, in line " + std::to_string(later->second.line),
        "define it before it is used");
    return nullptr;
  }
  std::vector<std::string_view> names;
  for (const auto& [known, entry] : context.entries) names.push_back(known);
  context.diagnostics.Error(name.at, "unknown " + std::string(what) + " " + name.text,
                            DidYouMean(name.text, names));
  return nullptr;
}

namespace {

Relation OfTable(const plan::TableDef& def) {
  Relation relation;
  for (size_t i = 0; i < def.columns.size(); ++i) {
    const bool rowtime = def.watermark && def.watermark->column == static_cast<int>(i);
    relation.columns.push_back({def.columns[i].name, def.columns[i].type, rowtime});
  }
  relation.subject = def.name;
  return relation;
}

}  // namespace

Relation QueryBinder::RelationOf(const Name& name) {
  Entry* entry = FindEntry(context_, name, "table or view");
  if (entry == nullptr) return {};
  if (entry->view) {
    if (reads_.empty()) reads_ = name.text;
    return entry->view->relation;
  }
  if (!entry->table) return {};
  Relation relation = OfTable(*entry->table->def);
  if (!CheckSource(*entry->table, name.at, context_)) return relation;
  relation.known = true;
  relation.input = {context_.builder.ScanOf(*entry->table->def, name.at), Edge::kMain};
  return relation;
}

// What the window of a view refused: the columns of its input, and which window it was.
Relation QueryBinder::LateOf(const TableRef& ref) {
  const std::string& name = ref.name.text;
  Entry* entry = FindEntry(context_, ref.name, "view");
  if (entry == nullptr || (!entry->table && !entry->view)) return {};
  if (entry->table) {
    diagnostics_.Error(ref.name.at, name + " is a table: only a view with a window has late rows",
                       "name the view that has the window");
    return {};
  }
  const View& view = *entry->view;
  if (view.windows.size() > 1) {
    diagnostics_.Error(
        ref.name.at,
        "LATE(" + name + "): " + name + " has " + std::to_string(view.windows.size()) + " windows",
        "make a view of each");
    return {};
  }
  if (view.windows.empty()) {
    if (!view.relation.known) return {};
    diagnostics_.Error(ref.name.at, "LATE(" + name + "): " + name + " has no window of its own",
                       view.reads.empty() ? "" : "did you mean LATE(" + view.reads + ")?");
    return {};
  }
  const auto& window = std::get<plan::WindowNode>(context_.builder.node(view.windows[0]).body);
  Relation relation;
  relation.input = {view.windows[0], Edge::kLate};
  relation.subject = name;
  relation.known = view.relation.known;
  const size_t inputs = window.late_columns.size();
  for (size_t i = 0; i < window.late_schema.fields.size(); ++i) {
    const Field& field = window.late_schema.fields[i];
    for (size_t j = inputs; i < inputs && j < window.late_schema.fields.size(); ++j) {
      if (window.late_schema.fields[j].name != field.name) continue;
      diagnostics_.Error(ref.name.at, "LATE(" + name + ") would have two columns " + field.name,
                         "give the column of the window's input another name (AS ..)");
      relation.known = false;
    }
    relation.columns.push_back({field.name, field.type, false});
  }
  return relation;
}

Relation QueryBinder::DeadLettersRelation(const TableRef& ref) {
  Entry* entry = FindEntry(context_, ref.name, "table or view");
  Relation relation;
  for (const Field& field : plan::DeadLetterSchema().fields) {
    relation.columns.push_back({field.name, field.type, false});
  }
  // Rows that fail over dead letters are not the same subject's again: that would never end.
  relation.subject = dead_subject_;
  if (entry == nullptr || (!entry->table && !entry->view)) return relation;
  relation.known = entry->table ? !entry->table->broken : entry->view->relation.known;
  if (relation.known) {
    relation.input = {context_.builder.DeadLettersOf(ref.name.text, ref.name.at), Edge::kMain};
  }
  return relation;
}

Relation QueryBinder::BindDerived(const TableRef& ref) {
  BoundSelect bound = Bind(*ref.query);
  return Materialize(std::move(bound), {});
}

void QueryBinder::RenameColumns(const TableRef& ref, Relation& relation) {
  if (ref.alias_columns.empty()) return;
  if (ref.alias_columns.size() != relation.columns.size()) {
    if (relation.known) {
      diagnostics_.Error(ref.alias_columns[0].at,
                         std::to_string(ref.alias_columns.size()) + " names for " +
                             std::to_string(relation.columns.size()) + " columns");
    }
    relation.known = false;
    return;
  }
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    relation.columns[i].name = ref.alias_columns[i].text;
  }
}

QueryBinder::Source QueryBinder::BindFrom(const TableRef& ref) {
  Source source;
  source.alias = ref.alias ? ref.alias->text : ref.name.text;
  switch (ref.kind) {
    case TableRef::Kind::kName:
      source.relation = RelationOf(ref.name);
      break;
    case TableRef::Kind::kLate:
      source.relation = LateOf(ref);
      break;
    case TableRef::Kind::kDeadLetters:
      source.relation = DeadLettersRelation(ref);
      break;
    case TableRef::Kind::kQuery:
      source.relation = BindDerived(ref);
      break;
    case TableRef::Kind::kWindow:
      source.relation = RelationOf(ref.name);
      BindWindow(ref, source);
      break;
  }
  if (!source.window) RenameColumns(ref, source.relation);
  return source;
}

void QueryBinder::AddToScope(const Source& source, Scope& scope) const {
  for (size_t i = 0; i < source.relation.columns.size(); ++i) {
    const RelationColumn& column = source.relation.columns[i];
    scope.columns.push_back(
        {source.alias, column.name, column.type, static_cast<int>(i), column.rowtime});
  }
  // Columns of a table that is not known at all, or of which some are missing.
  if (source.relation.columns.empty()) scope.complete = false;
}

bool QueryBinder::BindSizes(const TableRef& ref, WindowSpec& spec) {
  const bool tumble = spec.kind == plan::WindowNode::Kind::kTumble;
  const size_t most = tumble ? 2 : 1;
  if (ref.sizes.empty() || ref.sizes.size() > most) {
    diagnostics_.Error(ref.sizes.empty() ? ref.at : ref.sizes.back()->at,
                       ref.function + " is " + ref.function +
                           (tumble ? "(TABLE t, DESCRIPTOR(ts), size [, offset])"
                                   : "(TABLE t [PARTITION BY k], DESCRIPTOR(ts), gap)"));
    return false;
  }
  std::vector<int64_t> values;
  for (const ExprAstPtr& size : ref.sizes) {
    int64_t ms = 0;
    if (size->kind != ExprAst::Kind::kInterval) {
      diagnostics_.Error(size->at, "the " + std::string(tumble ? "size" : "gap") +
                                       " of a window is an interval, as in INTERVAL '10' SECOND");
      return false;
    }
    if (!IntervalMs(*size, diagnostics_, &ms, nullptr)) return false;
    values.push_back(ms);
  }
  if (values[0] <= 0) {
    diagnostics_.Error(ref.sizes[0]->at, "the " + std::string(tumble ? "size" : "gap") + " of " +
                                             ref.function + " must be more than 0");
    return false;
  }
  if (!tumble) {
    spec.gap_ms = values[0];
    return true;
  }
  spec.size_ms = values[0];
  // Offsets that differ by whole sizes mean the same windows.
  const int64_t offset = values.size() > 1 ? values[1] % spec.size_ms : 0;
  spec.offset_ms = offset < 0 ? offset + spec.size_ms : offset;
  return true;
}

bool QueryBinder::BindTimeColumn(const TableRef& ref, const Relation& relation, WindowSpec& spec) {
  int found = -1;
  const RelationColumn* rowtime = nullptr;
  std::vector<std::string_view> names;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    const RelationColumn& column = relation.columns[i];
    names.push_back(column.name);
    if (column.rowtime) rowtime = &column;
    if (column.name == ref.time.text) found = static_cast<int>(i);
  }
  if (found < 0) {
    if (relation.columns.empty()) return false;  // an unknown table: reported
    diagnostics_.Error(ref.time.at, ref.name.text + " has no column " + ref.time.text,
                       DidYouMean(ref.time.text, names));
    return false;
  }
  const RelationColumn& column = relation.columns[static_cast<size_t>(found)];
  if (column.type.kind == TypeKind::kNull) return false;
  if (!column.rowtime) {
    std::string hint = "write WATERMARK FOR " + ref.time.text + " AS " + ref.time.text +
                       " - INTERVAL '5' SECOND in its CREATE TABLE";
    if (rowtime != nullptr) hint = "its time column is " + rowtime->name;
    if (ref.time.text == "window_end" || ref.time.text == "window_start") {
      hint = "select window_time in the view and use DESCRIPTOR(window_time)";
    }
    diagnostics_.Error(ref.time.at, ref.time.text + " of " + ref.name.text + " has no watermark",
                       std::move(hint));
    return false;
  }
  spec.time_column = found;
  spec.time_kind = column.type.kind;
  return true;
}

// HOP(.., slide, size) and CUMULATE(.., step, max) are not here yet; what is wrong with their
// intervals would be wrong then too, and is said now.
void QueryBinder::CheckLaterSizes(const TableRef& ref) {
  const bool hop = ref.function == "HOP";
  const char* const small = hop ? "slide" : "step";
  const char* const large = hop ? "size" : "max size";
  if (ref.sizes.size() < 2) return;
  int64_t ms[2] = {0, 0};
  for (size_t i = 0; i < 2; ++i) {
    if (ref.sizes[i]->kind != ExprAst::Kind::kInterval) return;
    if (!IntervalMs(*ref.sizes[i], diagnostics_, &ms[i], nullptr)) return;
  }
  bool positive = true;
  for (size_t i = 0; i < 2; ++i) {
    if (ms[i] > 0) continue;
    positive = false;
    diagnostics_.Error(ref.sizes[i]->at, std::string("the ") + (i == 0 ? small : large) + " of " +
                                             ref.function + " must be more than 0");
  }
  if (!positive) return;
  const std::string order =
      "the order is " + ref.function + "(TABLE t, DESCRIPTOR(ts), " + small + ", " + large + ")";
  const std::string both = std::string("the ") + large + " of " + ref.function + " (" +
                           FormatDurationMs(ms[1]) + ") must ";
  const std::string than = std::string("its ") + small + " (" + FormatDurationMs(ms[0]) + ")";
  if (ms[1] < ms[0]) {
    diagnostics_.Error(ref.sizes[1]->at, both + "not be shorter than " + than, order);
  } else if (ms[1] % ms[0] != 0) {
    diagnostics_.Error(ref.sizes[1]->at, both + "be a whole multiple of " + than, order);
  }
}

void QueryBinder::BindWindow(const TableRef& ref, Source& source) {
  WindowSpec spec;
  spec.function = ref.function;
  spec.at = ref.at;
  if (source.alias.empty()) source.alias = ref.name.text;
  bool ok = true;
  if (ref.function == "HOP" || ref.function == "CUMULATE") {
    diagnostics_.Error(ref.at, NotInThisVersion("the window " + ref.function));
    CheckLaterSizes(ref);
    ok = false;
  } else {
    spec.kind = ref.function == "SESSION" ? plan::WindowNode::Kind::kSession
                                          : plan::WindowNode::Kind::kTumble;
    if (ref.time.text.empty()) {
      diagnostics_.Error(ref.at, ref.function + " needs DESCRIPTOR(time column)");
      ok = false;
    } else {
      ok = BindSizes(ref, spec);
      ok = BindTimeColumn(ref, source.relation, spec) && ok;
    }
  }
  for (const Name& key : ref.partition_by) {
    int found = -1;
    std::vector<std::string_view> names;
    for (size_t i = 0; i < source.relation.columns.size(); ++i) {
      names.push_back(source.relation.columns[i].name);
      if (names.back() == key.text) found = static_cast<int>(i);
    }
    if (found < 0 && !source.relation.columns.empty()) {
      diagnostics_.Error(key.at, ref.name.text + " has no column " + key.text,
                         DidYouMean(key.text, names));
      ok = false;
    }
    spec.partition_by.push_back(found);
    spec.partition_names.push_back(key);
  }
  if (!ref.partition_by.empty() && ref.function == "TUMBLE") {
    diagnostics_.Error(ref.partition_by[0].at, "TUMBLE has no PARTITION BY",
                       "the keys stand in GROUP BY");
    ok = false;
  }
  if (!ok) source.relation.known = false;
  source.window = std::move(spec);
}

}  // namespace weir::sql
