// SELECT .. FROM TUMBLE(..) | SESSION(..) GROUP BY window_start, window_end, keys.
#include <algorithm>
#include <map>
#include <utility>

#include "sql/bind_query.h"
#include "sql/types.h"

namespace weir::sql {

using plan::AggregateCall;
using plan::Edge;
using plan::Expr;
using plan::ExprPtr;

namespace {

constexpr std::string_view kWindowColumns[] = {"window_start", "window_end", "window_time"};

}  // namespace

// What a grouped query is made of. Columns of the window's input: the source's, then computed keys
// and arguments.
struct QueryBinder::Grouping {
  struct Aggregate {
    AggregateCall call;
    std::string canonical;
    std::string name;
  };
  Scope scope;          // the source's columns
  Schema scope_schema;  // the same as a schema, for texts
  std::string alias;
  std::vector<ExprPtr> computed;   // appended to the source's columns
  std::vector<std::string> names;  // of `computed`
  std::vector<int> keys;           // columns of the window's input
  std::vector<std::string> key_canonical;
  std::vector<Type> key_types;
  bool has_expression_key = false;
  bool has_start = false, has_end = false;
  std::vector<Aggregate> aggregates;
  std::map<const ExprAst*, int> aggregate_of;
  Type window_type;  // of window_start and its kind

  // The column of an expression among the window's input columns: an old one or a new one.
  int ColumnOf(ExprPtr expr) {
    if (expr->kind == Expr::Kind::kColumn) return expr->column;
    const std::string canonical = Canonical(*expr);
    for (size_t i = 0; i < computed.size(); ++i) {
      if (Canonical(*computed[i]) == canonical) {
        return static_cast<int>(scope.columns.size() + i);
      }
    }
    names.push_back(ToSql(*expr, scope_schema));
    computed.push_back(std::move(expr));
    return static_cast<int>(scope.columns.size() + computed.size() - 1);
  }

  // 0..2 when the name is window_start, window_end or window_time of this window, else -1.
  int WindowColumn(const ExprAst& ast) const {
    if (ast.kind != ExprAst::Kind::kColumn || ast.parts.size() > 2) return -1;
    if (ast.parts.size() == 2 && ast.parts[0].text != alias) return -1;
    for (int i = 0; i < 3; ++i) {
      if (ast.parts.back().text == kWindowColumns[i]) return i;
    }
    return -1;
  }

  bool HasColumn(std::string_view name) const {
    for (const ScopeColumn& column : scope.columns) {
      if (column.name == name) return true;
    }
    return false;
  }
};

// Binds over the window's output: keys, aggregates, window columns. Everything else must be made of
// these.
class QueryBinder::GroupBinder final : public ExprBinder {
 public:
  GroupBinder(Diagnostics& diagnostics, const SessionZone& zone, const Grouping& grouping)
      : ExprBinder(diagnostics, zone, grouping.scope), grouping_(grouping), zone_(zone) {}

 protected:
  bool Intercept(const ExprAst& ast, ExprPtr* out) override {
    if (ast.kind == ExprAst::Kind::kCall && IsAggregate(ast.name)) {
      const auto known = grouping_.aggregate_of.find(&ast);
      if (known != grouping_.aggregate_of.end() && known->second >= 0) {
        const auto index = static_cast<size_t>(known->second);
        *out = plan::MakeColumn(KeyCount() + known->second, grouping_.aggregates[index].call.type,
                                ast.at);
      }
      return true;  // null: reported when it was collected
    }
    const int window = grouping_.WindowColumn(ast);
    if (window >= 0) {
      *out = WindowColumnExpr(window, ast);
      return true;
    }
    if (ast.kind == ExprAst::Kind::kColumn) {
      *out = KeyColumn(ast);
      return true;
    }
    return grouping_.has_expression_key && MatchKey(ast, out);
  }

 private:
  int KeyCount() const { return static_cast<int>(grouping_.keys.size()); }

  ExprPtr WindowColumnExpr(int window, const ExprAst& ast) {
    if (grouping_.HasColumn(kWindowColumns[window])) {
      diagnostics_.Error(
          ast.at,
          std::string(kWindowColumns[window]) + " is a column of the window and of its input",
          "give the input's another name in its view (AS ..)");
      return nullptr;
    }
    const int index = KeyCount() + static_cast<int>(grouping_.aggregates.size()) + window;
    return plan::MakeColumn(index, grouping_.window_type, ast.at);
  }

  int KeyIndex(const Expr& bound) const {
    const std::string canonical = Canonical(bound);
    for (size_t i = 0; i < grouping_.key_canonical.size(); ++i) {
      if (grouping_.key_canonical[i] == canonical) return static_cast<int>(i);
    }
    return -1;
  }

  ExprPtr KeyColumn(const ExprAst& ast) {
    ExprBinder plain(diagnostics_, zone_, scope_);
    const ExprPtr bound = plain.Bind(ast);
    if (bound == nullptr) return nullptr;
    const int key = KeyIndex(*bound);
    if (key >= 0) return plan::MakeColumn(key, bound->type, ast.at);
    diagnostics_.Error(ast.at,
                       ast.parts.back().text + " is neither in GROUP BY nor in an aggregate");
    return nullptr;
  }

  // An expression that is a key as a whole: GROUP BY UPPER(k) .. SELECT UPPER(k).
  bool MatchKey(const ExprAst& ast, ExprPtr* out) {
    if (HasAggregate(ast)) return false;
    ExprPtr bound;
    {
      Diagnostics::Quiet quiet(diagnostics_);
      ExprBinder plain(diagnostics_, zone_, scope_);
      bound = plain.Bind(ast);
    }
    if (bound == nullptr || bound->kind == Expr::Kind::kLiteral) return false;
    const int key = KeyIndex(*bound);
    if (key < 0) return false;
    *out = plan::MakeColumn(key, bound->type, ast.at);
    return true;
  }

  const Grouping& grouping_;
  const SessionZone& zone_;
};

void QueryBinder::CollectAggregates(const ExprAst& ast, Grouping& grouping) {
  if (ast.kind == ExprAst::Kind::kCall && IsAggregate(ast.name)) {
    BindAggregate(ast, grouping);
    return;
  }
  for (const ExprAstPtr& arg : ast.args) CollectAggregates(*arg, grouping);
}

namespace {

// The result type by Flink's rules; empty: the argument does not fit.
std::optional<Type> ResultType(AggregateCall::Fn fn, const Type& argument) {
  Type type;
  switch (fn) {
    case AggregateCall::Fn::kCountStar:
    case AggregateCall::Fn::kCount:
      return Type::Of(TypeKind::kBigInt).NotNull();
    case AggregateCall::Fn::kSum:
      if (!argument.IsNumeric()) return std::nullopt;
      // Flink keeps INT, where a sum soon overflows; weir sums all whole numbers into BIGINT.
      type = argument.IsInteger() ? Type::Of(TypeKind::kBigInt) : Type::Of(TypeKind::kDouble);
      if (argument.kind == TypeKind::kDecimal) type = Type::Decimal(38, argument.scale);
      return type;
    case AggregateCall::Fn::kAvg:
      if (!argument.IsNumeric()) return std::nullopt;
      type = argument;
      if (argument.kind == TypeKind::kDecimal) {
        type = Type::Decimal(38, std::max<int>(6, argument.scale));
      }
      type.nullable = true;
      return type;
    case AggregateCall::Fn::kMin:
    case AggregateCall::Fn::kMax:
      if (!IsOrdered(argument) || argument.kind == TypeKind::kBytes ||
          argument.kind == TypeKind::kBoolean || argument.kind == TypeKind::kInterval) {
        return std::nullopt;
      }
      type = argument;
      type.nullable = true;
      return type;
  }
  return std::nullopt;
}

AggregateCall::Fn FunctionOf(const ExprAst& ast) {
  if (ast.name == "SUM") return AggregateCall::Fn::kSum;
  if (ast.name == "AVG") return AggregateCall::Fn::kAvg;
  if (ast.name == "MIN") return AggregateCall::Fn::kMin;
  if (ast.name == "MAX") return AggregateCall::Fn::kMax;
  return ast.star_argument ? AggregateCall::Fn::kCountStar : AggregateCall::Fn::kCount;
}

// FILTER (WHERE c): CASE WHEN c THEN argument END, so that other rows count as NULL and their
// argument is not evaluated.
ExprPtr Filtered(ExprPtr condition, ExprPtr argument, Position at) {
  if (argument == nullptr) {
    Value yes;
    yes.type = Type::Of(TypeKind::kBoolean).NotNull();
    yes.null = false;
    yes.boolean = true;
    argument = plan::MakeLiteral(std::move(yes), at);
  }
  Type type = argument->type;
  type.nullable = true;
  std::vector<ExprPtr> args;
  args.push_back(std::move(condition));
  args.push_back(std::move(argument));
  args.push_back(plan::MakeLiteral(Value::Null(type), at));
  return plan::MakeCall(plan::Fn::kCase, type, std::move(args), at);
}

}  // namespace

void QueryBinder::BindAggregate(const ExprAst& ast, Grouping& grouping) {
  grouping.aggregate_of[&ast] = -1;
  AggregateCall call;
  call.fn = FunctionOf(ast);
  const bool star = ast.star_argument;
  if ((star && ast.name != "COUNT") || ast.args.size() != (star ? 0u : 1u)) {
    diagnostics_.Error(ast.at, ast.name + (ast.name == "COUNT" ? "(*) or COUNT(x)" : "(x)") +
                                   " takes one argument");
    return;
  }
  ExprBinder binder(diagnostics_, context_.plan.zone, grouping.scope);
  ExprPtr argument;
  std::string name = ast.name + "(*)";
  Type argument_type;
  if (!star) {
    argument = binder.Bind(*ast.args[0]);
    if (argument == nullptr) return;
    argument_type = argument->type;
    name = ast.name + "(" + ToSql(*argument, grouping.scope_schema) + ")";
  }
  const std::optional<Type> type = ResultType(call.fn, argument_type);
  if (!type) {
    diagnostics_.Error(ast.at, ast.name + " of " + Shown(argument_type) + " is not possible");
    return;
  }
  call.type = *type;
  if (ast.filter != nullptr) {
    ExprPtr condition = binder.BindCondition(*ast.filter, "FILTER");
    if (condition == nullptr) return;
    name += " FILTER (WHERE " + ToSql(*condition, grouping.scope_schema) + ")";
    argument = Filtered(std::move(condition), std::move(argument), ast.at);
    call.fn = call.fn == AggregateCall::Fn::kCountStar ? AggregateCall::Fn::kCount : call.fn;
  }
  if (argument != nullptr && argument->type.kind == TypeKind::kNull) {
    argument = Coerce(std::move(argument), Type::Of(TypeKind::kString));  // COUNT(NULL)
  }
  std::string canonical = std::to_string(static_cast<int>(call.fn));
  if (argument != nullptr) canonical += Canonical(*argument);
  for (size_t i = 0; i < grouping.aggregates.size(); ++i) {
    if (grouping.aggregates[i].canonical != canonical) continue;
    grouping.aggregate_of[&ast] = static_cast<int>(i);  // written twice, computed once
    return;
  }
  if (argument != nullptr) call.argument = grouping.ColumnOf(std::move(argument));
  grouping.aggregate_of[&ast] = static_cast<int>(grouping.aggregates.size());
  grouping.aggregates.push_back({call, std::move(canonical), std::move(name)});
}

void QueryBinder::BindKey(const ExprAst& key, Grouping& grouping) {
  if (HasAggregate(key)) {
    diagnostics_.Error(key.at, "an aggregate cannot be a key");
    return;
  }
  ExprBinder binder(diagnostics_, context_.plan.zone, grouping.scope);
  ExprPtr bound = binder.Bind(key);
  if (bound == nullptr) return;
  if (bound->kind == Expr::Kind::kLiteral) {
    diagnostics_.Error(
        key.at, "GROUP BY takes columns and expressions, not literals",
        bound->type.IsInteger() ? "the position of a column has no meaning here" : "");
    return;
  }
  if (bound->type.kind == TypeKind::kInterval) {
    diagnostics_.Error(key.at, "an INTERVAL cannot be a key");
    return;
  }
  std::string canonical = Canonical(*bound);
  for (const std::string& known : grouping.key_canonical) {
    if (known == canonical) return;
  }
  grouping.has_expression_key = grouping.has_expression_key || bound->kind != Expr::Kind::kColumn;
  grouping.key_types.push_back(bound->type);
  grouping.key_canonical.push_back(std::move(canonical));
  grouping.keys.push_back(grouping.ColumnOf(std::move(bound)));
}

bool QueryBinder::BindKeys(const SelectAst& select, const Source& source, Grouping& grouping) {
  for (const ExprAstPtr& key : select.group_by) {
    const int window = grouping.WindowColumn(*key);
    if (window < 0) {
      BindKey(*key, grouping);
    } else if (grouping.HasColumn(kWindowColumns[window])) {
      diagnostics_.Error(
          key->at,
          std::string(kWindowColumns[window]) + " is a column of the window and of its input",
          "give the input's another name in its view (AS ..)");
      return false;
    } else if (window < 2) {
      (window == 0 ? grouping.has_start : grouping.has_end) = true;
    }
  }
  if (select.group_by.empty()) {
    diagnostics_.Error(source.window->at, "a window needs GROUP BY window_start, window_end",
                       "a window whose rows are not aggregated is not in this version");
    return false;
  }
  if (grouping.has_start && grouping.has_end) return true;
  diagnostics_.Error(select.group_by_at,
                     std::string("GROUP BY needs both window_start and window_end, ") +
                         (grouping.has_start ? "window_end is missing"
                          : grouping.has_end ? "window_start is missing"
                                             : "both are missing"));
  return false;
}

bool QueryBinder::CheckSessionKeys(const Source& source, const Grouping& grouping, Position at) {
  const WindowSpec& spec = *source.window;
  if (spec.kind != plan::WindowNode::Kind::kSession) return true;
  std::vector<int> partition = spec.partition_by;
  std::vector<int> keys = grouping.keys;
  std::sort(partition.begin(), partition.end());
  std::sort(keys.begin(), keys.end());
  partition.erase(std::unique(partition.begin(), partition.end()), partition.end());
  if (partition == keys) return true;
  diagnostics_.Error(at,
                     "the keys of GROUP BY and of SESSION's PARTITION BY must be the same columns",
                     "write SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), gap) GROUP BY "
                     "window_start, window_end, k");
  return false;
}

// Calc below the window (WHERE, keys, arguments), and the window.
void QueryBinder::MakeWindow(const Source& source, Grouping& grouping, BoundSelect& out) {
  const Relation& relation = source.relation;
  const WindowSpec& spec = *source.window;
  plan::CalcNode calc;
  Schema input;
  plan::WindowNode window;
  for (size_t i = 0; i < relation.columns.size(); ++i) {
    const RelationColumn& column = relation.columns[i];
    calc.projections.push_back(plan::MakeColumn(static_cast<int>(i), column.type, spec.at));
    input.fields.push_back({column.name, column.type});
    window.late_columns.push_back(static_cast<int>(i));
    window.late_schema.fields.push_back({column.name, column.type});
  }
  for (size_t i = 0; i < grouping.computed.size(); ++i) {
    input.fields.push_back({grouping.names[i], grouping.computed[i]->type});
    calc.projections.push_back(std::move(grouping.computed[i]));
  }
  calc.filter = std::move(out.filter);
  for (const char* name : {"window_start", "window_end", "watermark"}) {
    window.late_schema.fields.push_back({name, grouping.window_type});
  }
  window.kind = spec.kind;
  window.size_ms = spec.size_ms;
  window.offset_ms = spec.offset_ms;
  window.gap_ms = spec.gap_ms;
  window.time_column = spec.time_column;
  window.keys = grouping.keys;
  window.view = view_;
  Schema output;
  for (const int key : grouping.keys)
    output.fields.push_back(input.fields[static_cast<size_t>(key)]);
  for (const Grouping::Aggregate& aggregate : grouping.aggregates) {
    window.aggregates.push_back(aggregate.call);
    output.fields.push_back({aggregate.name, aggregate.call.type});
  }
  for (const std::string_view name : kWindowColumns) {
    output.fields.push_back({std::string(name), grouping.window_type});
  }
  PlanBuilder& builder = context_.builder;
  const plan::NodeId below = builder.AddCalc(base_, relation.input, std::move(calc),
                                             std::move(input), out.subject, spec.at);
  const plan::NodeId id = builder.AddWindow(base_, {below, Edge::kMain}, std::move(window),
                                            std::move(output), out.subject, spec.at);
  windows_.push_back(id);
  out.input = {id, Edge::kMain};
}

BoundSelect QueryBinder::BindGrouped(const SelectAst& select, const Source& source) {
  BoundSelect out;
  out.at = select.at;
  out.subject = SubjectOf(source.relation);
  Grouping grouping;
  AddToScope(source, grouping.scope);
  grouping.alias = source.alias;
  for (const char* name : {"window_start", "window_end", "window_time"}) {
    grouping.scope.misnomers.emplace_back(
        name,
        "window_start, window_end and window_time are known in SELECT, GROUP BY and HAVING only");
  }
  AddAliasMisnomers(select, grouping.scope);
  for (const ScopeColumn& column : grouping.scope.columns) {
    grouping.scope_schema.fields.push_back({column.name, column.type});
  }
  grouping.window_type = source.window->time_kind == TypeKind::kTimestampLtz
                             ? Type::TimestampLtz(3).NotNull()
                             : Type::Timestamp(3).NotNull();
  const size_t before = diagnostics_.errors();
  if (select.where != nullptr) {
    if (const ExprAst* aggregate = FindAggregate(*select.where)) {
      diagnostics_.Error(aggregate->at, "WHERE is asked before rows are aggregated",
                         "a condition on an aggregate is HAVING");
    } else {
      ExprBinder binder(diagnostics_, context_.plan.zone, grouping.scope);
      out.filter = binder.BindCondition(*select.where, "WHERE");
    }
  }
  if (!BindKeys(select, source, grouping)) return out;
  CheckSessionKeys(source, grouping, select.group_by_at);
  for (const SelectItem& item : select.items) CollectAggregates(*item.expr, grouping);
  if (select.having != nullptr) CollectAggregates(*select.having, grouping);

  Scope result;  // of the window's output, for * (refused) and for the time attribute
  GroupBinder binder(diagnostics_, context_.plan.zone, grouping);
  for (const SelectItem& item : select.items) {
    if (item.expr->kind != ExprAst::Kind::kStar) continue;
    diagnostics_.Error(item.expr->at, "* cannot be used with GROUP BY", "name the columns");
    return out;
  }
  const int window_time = static_cast<int>(grouping.keys.size() + grouping.aggregates.size()) + 2;
  result.columns.push_back({"", "window_time", grouping.window_type, window_time, true});
  BindItems(select, result, binder, out);
  ExprPtr having;
  if (select.having != nullptr) having = binder.BindCondition(*select.having, "HAVING");
  out.ok = source.relation.known && diagnostics_.errors() == before;
  if (!out.ok) return out;
  MakeWindow(source, grouping, out);
  out.filter = std::move(having);
  return out;
}

}  // namespace weir::sql
