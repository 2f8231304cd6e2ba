#include "sql/bind_query.h"

#include <set>
#include <utility>

#include "sql/keywords.h"

namespace weir::sql {

using plan::Expr;
using plan::ExprPtr;

std::string QueryBinder::SubjectOf(const Relation& relation) const {
  return view_.empty() ? relation.subject : view_;
}

BoundSelect QueryBinder::Bind(const SelectAst& select) {
  if (RefuseOldWindow(select)) {
    BoundSelect out;
    out.at = select.at;
    return out;
  }
  std::vector<Source> sources;
  for (const TableRef& ref : select.from) sources.push_back(BindFrom(ref));
  if (sources.size() == 1 && sources[0].window) return BindGrouped(select, sources[0]);
  return BindPlain(select, sources);
}

// GROUP BY TUMBLE(ts, INTERVAL ..): the syntax of most old tutorials. One error with the query as
// it is written today.
bool QueryBinder::RefuseOldWindow(const SelectAst& select) {
  const ExprAst* old = nullptr;
  std::string keys;
  for (const ExprAstPtr& key : select.group_by) {
    const bool window = key->kind == ExprAst::Kind::kCall &&
                        (key->name == "TUMBLE" || key->name == "SESSION" || key->name == "HOP");
    if (window && old == nullptr) {
      old = key.get();
    } else if (key->kind == ExprAst::Kind::kColumn) {
      keys += ", " + key->parts.back().text;
    } else {
      keys += ", ..";
    }
  }
  if (old == nullptr) return false;
  const std::string table =
      select.from.empty() || select.from[0].name.text.empty() ? "t" : select.from[0].name.text;
  std::string time = "ts";
  std::string sizes;
  for (const ExprAstPtr& arg : old->args) {
    if (arg->kind == ExprAst::Kind::kColumn) time = arg->parts.back().text;
    if (arg->kind == ExprAst::Kind::kInterval) {
      sizes += ", INTERVAL '" + arg->text + "' " + arg->name;
    }
  }
  const std::string partition =
      old->name == "SESSION" && !keys.empty() ? " PARTITION BY " + keys.substr(2) : "";
  diagnostics_.Error(old->at, "GROUP BY " + old->name + "(..) is the old Flink syntax",
                     "write FROM " + old->name + "(TABLE " + table + partition + ", DESCRIPTOR(" +
                         time + ")" + sizes + ") GROUP BY window_start, window_end" + keys +
                         " and select window_start or window_end instead of " + old->name +
                         "_START or " + old->name + "_END");
  return true;
}

// An aggregate without a window would need state for ever.
bool QueryBinder::RefuseUnbounded(const SelectAst& select) {
  const char* hint =
      "read from TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL ..) and GROUP BY window_start, "
      "window_end, "
      "..";
  if (!select.group_by.empty()) {
    diagnostics_.Error(select.group_by_at,
                       "GROUP BY without a window keeps state for ever (unbounded state)", hint);
    return true;
  }
  for (const SelectItem& item : select.items) {
    const ExprAst* aggregate = FindAggregate(*item.expr);
    if (aggregate == nullptr) continue;
    diagnostics_.Error(aggregate->at,
                       "an aggregate without a window keeps state for ever (unbounded state)",
                       hint);
    return true;
  }
  if (select.having == nullptr) return false;
  diagnostics_.Error(select.having->at, "HAVING needs GROUP BY window_start, window_end",
                     "a filter on rows is WHERE");
  return true;
}

BoundSelect QueryBinder::BindPlain(const SelectAst& select, const std::vector<Source>& sources) {
  BoundSelect out;
  out.at = select.at;
  Scope scope;
  bool known = sources.size() == 1;  // a join is refused, and resolved for its other mistakes
  for (const Source& source : sources) {
    AddToScope(source, scope);
    known = known && source.relation.known;
  }
  if (select.from.size() == 1 && select.from[0].kind == TableRef::Kind::kDeadLetters) {
    scope.hint = "dead letters have stage, code, message, raw, record, source, part, pos and ts";
    for (const auto& [there, here] :
         std::initializer_list<std::pair<const char*, const char*>>{{"error", "message"},
                                                                    {"reason", "message"},
                                                                    {"line", "pos"},
                                                                    {"offset", "pos"},
                                                                    {"partition", "part"},
                                                                    {"payload", "raw"},
                                                                    {"table", "source"}}) {
      scope.misnomers.emplace_back(there, "did you mean " + std::string(here) + "?");
    }
  }
  AddAliasMisnomers(select, scope);
  const size_t before = diagnostics_.errors();
  ExprBinder binder(diagnostics_, context_.plan.zone, scope);
  for (const ExprAstPtr& on : select.on) binder.BindCondition(*on, "ON");
  if (select.where != nullptr) {
    if (const ExprAst* aggregate = FindAggregate(*select.where)) {
      diagnostics_.Error(aggregate->at, "WHERE is asked before rows are aggregated",
                         "a condition on an aggregate is HAVING");
    } else {
      out.filter = binder.BindCondition(*select.where, "WHERE");
    }
  }
  if (RefuseUnbounded(select)) return out;
  BindItems(select, scope, binder, out);
  out.ok = known && diagnostics_.errors() == before;
  if (sources.empty()) return out;
  out.input = sources[0].relation.input;
  out.subject = SubjectOf(sources[0].relation);
  return out;
}

void QueryBinder::ExpandStar(const ExprAst& star, const Scope& scope, BoundSelect& out) {
  bool any = false;
  for (const ScopeColumn& column : scope.columns) {
    if (!star.parts.empty() && column.table != star.parts[0].text) continue;
    any = true;
    BoundSelect::Item item;
    item.name = column.name;
    item.at = star.at;
    item.rowtime = column.rowtime;
    if (column.type.kind != TypeKind::kNull) {
      item.expr = plan::MakeColumn(column.index, column.type, star.at);
    }
    out.items.push_back(std::move(item));
  }
  if (!any && scope.complete) {
    diagnostics_.Error(star.at, star.parts.empty()
                                    ? "there is no column to select"
                                    : "there is no table " + star.parts[0].text + " in FROM");
  }
}

void QueryBinder::BindItems(const SelectAst& select, const Scope& scope, ExprBinder& binder,
                            BoundSelect& out) {
  for (const SelectItem& selected : select.items) {
    const ExprAst& ast = *selected.expr;
    if (ast.kind == ExprAst::Kind::kStar) {
      ExpandStar(ast, scope, out);
      continue;
    }
    BoundSelect::Item item;
    item.at = selected.at;
    item.expr = binder.Bind(ast);
    if (selected.alias) {
      item.name = selected.alias->text;
    } else if (ast.kind == ExprAst::Kind::kColumn) {
      item.name = ast.parts.back().text;
    }
    if (item.expr != nullptr && item.expr->type.kind == TypeKind::kInterval) {
      diagnostics_.Error(ast.at, "an INTERVAL cannot be a column",
                         "TIMESTAMPDIFF(SECOND, a, b) gives a number");
      item.expr = nullptr;
    }
    if (item.expr != nullptr && item.expr->kind == Expr::Kind::kColumn) {
      for (const ScopeColumn& column : scope.columns) {
        if (column.index == item.expr->column) item.rowtime = column.rowtime;
      }
    }
    out.items.push_back(std::move(item));
  }
}

Relation QueryBinder::Materialize(BoundSelect bound, const std::vector<Name>& names) {
  Relation relation;
  relation.subject = bound.subject;
  relation.known = bound.ok;
  if (!names.empty() && !bound.items.empty()) {
    if (names.size() != bound.items.size()) {
      diagnostics_.Error(names[0].at, std::to_string(names.size()) + " names for " +
                                          std::to_string(bound.items.size()) + " columns");
      relation.known = false;
    } else {
      for (size_t i = 0; i < names.size(); ++i) {
        bound.items[i].name = names[i].text;
        bound.items[i].at = names[i].at;
      }
    }
  }
  plan::CalcNode calc;
  Schema schema;
  std::set<std::string> seen;
  for (size_t i = 0; i < bound.items.size(); ++i) {
    BoundSelect::Item& item = bound.items[i];
    if (item.name.empty()) item.name = "EXPR$" + std::to_string(i);
    if (!seen.insert(item.name).second) {
      diagnostics_.Error(item.at, "two columns are named " + item.name,
                         "give one an alias (AS ..)");
      relation.known = false;
    }
    Type type = Type::Of(TypeKind::kNull);
    if (item.expr != nullptr && item.expr->type.kind == TypeKind::kNull) {
      diagnostics_.Error(item.at, "column " + item.name + " is NULL without a type",
                         "write CAST(NULL AS ..)");
      relation.known = false;
      item.expr = nullptr;
    }
    if (item.expr != nullptr) type = item.expr->type;
    relation.columns.push_back({item.name, type, item.rowtime});
    schema.fields.push_back({item.name, type});
    calc.projections.push_back(std::move(item.expr));
  }
  if (!relation.known) return relation;
  calc.filter = std::move(bound.filter);
  relation.input = {context_.builder.AddCalc(base_, bound.input, std::move(calc), std::move(schema),
                                             bound.subject, bound.at),
                    plan::Edge::kMain};
  return relation;
}

}  // namespace weir::sql
