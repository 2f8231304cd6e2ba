#include "sql/bind_expr.h"

#include <utility>

#include "base/text.h"
#include "sql/expr_parts.h"
#include "sql/keywords.h"
#include "sql/types.h"

namespace weir::sql {

using plan::Expr;
using plan::ExprPtr;
using plan::Fn;

namespace {

std::string JoinNames(const std::vector<std::string_view>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 == names.size() ? " and " : ", ";
    out += names[i];
  }
  return out;
}

}  // namespace

ExprPtr ExprBinder::Bind(const ExprAst& ast) {
  ExprPtr out;
  if (Intercept(ast, &out)) return out;
  switch (ast.kind) {
    case ExprAst::Kind::kColumn:
      return BindColumn(ast);
    case ExprAst::Kind::kStar:
      diagnostics_.Error(ast.at, "* stands alone in a SELECT list, or in COUNT(*)");
      return nullptr;
    case ExprAst::Kind::kNumber:
      return BindNumber(ast, false);
    case ExprAst::Kind::kString: {
      Value v;
      v.type = Type::Of(TypeKind::kString).NotNull();
      v.null = false;
      v.text = ast.text;
      return plan::MakeLiteral(std::move(v), ast.at);
    }
    case ExprAst::Kind::kNull:
      return NullLiteral(Type::Of(TypeKind::kNull), ast.at);
    case ExprAst::Kind::kBool: {
      Value v;
      v.type = BooleanType(false);
      v.null = false;
      v.boolean = ast.flag;
      return plan::MakeLiteral(std::move(v), ast.at);
    }
    case ExprAst::Kind::kTyped:
      return BindTyped(ast);
    case ExprAst::Kind::kInterval:
      return BindInterval(ast);
    case ExprAst::Kind::kCall:
      return BindCall(ast);
    case ExprAst::Kind::kUnary:
      return BindUnary(ast);
    case ExprAst::Kind::kBinary:
      return BindBinary(ast);
    case ExprAst::Kind::kCase:
      return BindCase(ast);
    case ExprAst::Kind::kCast:
      return BindCast(ast);
    case ExprAst::Kind::kIs:
      return BindIs(ast);
    case ExprAst::Kind::kIn:
      return BindIn(ast);
    case ExprAst::Kind::kBetween:
      return BindBetween(ast);
    case ExprAst::Kind::kLike:
      return BindLike(ast);
  }
  return nullptr;
}

ExprPtr ExprBinder::BindCondition(const ExprAst& ast, std::string_view what) {
  ExprPtr e = Bind(ast);
  if (e == nullptr) return nullptr;
  if (e->type.kind == TypeKind::kNull) return Coerce(std::move(e), BooleanType(true));
  if (e->type.kind == TypeKind::kBoolean) return e;
  diagnostics_.Error(ast.at, std::string(what) + " needs a BOOLEAN, this is " + Shown(e->type));
  return nullptr;
}

bool ExprBinder::BindArgs(const ExprAst& ast, Args* out) {
  bool ok = true;
  for (const ExprAstPtr& arg : ast.args) {
    out->push_back(Bind(*arg));
    ok = ok && out->back() != nullptr;  // all of them: each may have an error of its own
  }
  return ok;
}

const ScopeColumn* ExprBinder::FindColumn(const ExprAst& ast) {
  const Name& name = ast.parts.back();
  const std::string* table = ast.parts.size() > 1 ? &ast.parts[ast.parts.size() - 2].text : nullptr;
  if (ast.parts.size() > 2) {
    diagnostics_.Error(ast.at, "a column is named column or table.column here");
    return nullptr;
  }
  const ScopeColumn* found = nullptr;
  bool table_known = false;
  std::string ambiguous;
  std::vector<std::string_view> names;
  for (const ScopeColumn& column : scope_.columns) {
    if (table != nullptr && column.table != *table) continue;
    table_known = true;
    names.push_back(column.name);
    if (column.name != name.text) continue;
    if (found != nullptr) {
      if (ambiguous.empty()) ambiguous = found->table + "." + found->name;
      ambiguous += " or " + column.table + "." + column.name;
    }
    found = &column;
  }
  if (!ambiguous.empty()) {
    diagnostics_.Error(ast.at, "column " + name.text + " is ambiguous: " + ambiguous);
    return nullptr;
  }
  if (found != nullptr || !scope_.complete || name.reported) return found;
  if (table != nullptr && !table_known) {
    std::vector<std::string_view> tables;
    for (const ScopeColumn& column : scope_.columns) {
      if (tables.empty() || tables.back() != column.table) tables.push_back(column.table);
    }
    diagnostics_.Error(ast.at, "there is no table " + *table + " in FROM",
                       tables.empty() ? "" : "there is " + JoinNames(tables));
    return nullptr;
  }
  std::string hint;
  for (const auto& [misnomer, meant] : scope_.misnomers) {
    if (misnomer == name.text && table == nullptr) hint = meant;
  }
  if (hint.empty()) hint = DidYouMean(name.text, names);
  if (hint.empty()) hint = scope_.hint;
  if (hint.empty() && names.size() <= 12) hint = "there are " + JoinNames(names);
  diagnostics_.Error(
      name.at,
      table == nullptr ? "unknown column " + name.text : *table + " has no column " + name.text,
      std::move(hint));
  return nullptr;
}

// CURRENT_TIMESTAMP and its kind look like columns. True: it was one, and is reported.
bool ExprBinder::BindNiladic(const ExprAst& ast) {
  static constexpr std::string_view kClock[] = {"CURRENT_TIMESTAMP", "CURRENT_DATE",
                                                "CURRENT_TIME",      "LOCALTIME",
                                                "LOCALTIMESTAMP",    "CURRENT_ROW_TIMESTAMP"};
  if (ast.parts.size() > 1 || ast.parts[0].quoted) return false;
  for (const ScopeColumn& column : scope_.columns) {
    if (column.name == ast.parts[0].text) return false;
  }
  const std::string upper = ToUpperAscii(ast.parts[0].text);
  for (const std::string_view name : kClock) {
    if (upper != name) continue;
    diagnostics_.Error(ast.at, upper + " would differ when rows are read again after a restart",
                       "use the event's own time column");
    return true;
  }
  return false;
}

void AddAliasMisnomers(const SelectAst& select, Scope& scope) {
  for (const SelectItem& item : select.items) {
    if (!item.alias) continue;
    scope.misnomers.emplace_back(item.alias->text,
                                 item.alias->text +
                                     " is an alias of the SELECT list, which only the result has: "
                                     "write its expression again");
  }
}

ExprPtr ExprBinder::BindColumn(const ExprAst& ast) {
  if (BindNiladic(ast)) return nullptr;
  const ScopeColumn* column = FindColumn(ast);
  if (column == nullptr || column->type.kind == TypeKind::kNull) return nullptr;
  return plan::MakeColumn(column->index, column->type, ast.at);
}

ExprPtr ExprBinder::BindUnary(const ExprAst& ast) {
  const ExprAst& operand = *ast.args[0];
  if (ast.name == "NOT") {
    ExprPtr e = BindCondition(operand, "NOT");
    if (e == nullptr) return nullptr;
    const Type type = e->type;
    return MakeCall(Fn::kNot, type, ast.at, std::move(e));
  }
  // -9223372036854775808 is one literal: its digits alone would not fit.
  if (operand.kind == ExprAst::Kind::kNumber) return BindNumber(operand, ast.name == "-");
  ExprPtr e = Bind(operand);
  if (e == nullptr) return nullptr;
  if (!e->type.IsNumeric() && e->type.kind != TypeKind::kInterval) {
    diagnostics_.Error(ast.at, "'" + ast.name + "' needs a number, this is " + Shown(e->type));
    return nullptr;
  }
  if (ast.name == "+") return e;
  if (e->kind == Expr::Kind::kLiteral && e->type.kind == TypeKind::kInterval) {
    e->literal.integer = -e->literal.integer;
    return e;
  }
  const Type type = e->type;
  return MakeCall(Fn::kNeg, type, ast.at, std::move(e));
}

ExprPtr ExprBinder::BindBinary(const ExprAst& ast) {
  static constexpr struct {
    std::string_view name;
    Fn fn;
  } kOperators[] = {
      {"=", Fn::kEq},  {"<>", Fn::kNe}, {"<", Fn::kLt},  {"<=", Fn::kLe},
      {">", Fn::kGt},  {">=", Fn::kGe}, {"+", Fn::kAdd}, {"-", Fn::kSub},
      {"*", Fn::kMul}, {"/", Fn::kDiv}, {"%", Fn::kMod}, {"||", Fn::kConcat},
  };
  if (ast.name == "AND" || ast.name == "OR") return BindLogic(ast);
  Fn fn = Fn::kConcat;
  for (const auto& op : kOperators) {
    if (op.name == ast.name) fn = op.fn;
  }
  if (fn >= Fn::kAdd && fn <= Fn::kMod) return BindArithmetic(ast, fn);
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  if (fn != Fn::kConcat) return BindComparison(fn, std::move(args[0]), std::move(args[1]), ast.at);
  for (ExprPtr& arg : args) {
    if (arg->type.kind == TypeKind::kNull)
      arg = Coerce(std::move(arg), Type::Of(TypeKind::kString));
    if (arg->type.kind == TypeKind::kString) continue;
    diagnostics_.Error(ast.at, "|| joins texts, this is " + Shown(arg->type),
                       "write CAST(.. AS STRING)");
    return nullptr;
  }
  Type type = Type::Of(TypeKind::kString);
  type.nullable = args[0]->type.nullable || args[1]->type.nullable;
  return plan::MakeCall(Fn::kConcat, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::BindLogic(const ExprAst& ast) {
  Args args;
  bool ok = true;
  bool nullable = false;
  for (const ExprAstPtr& arg : ast.args) {
    args.push_back(BindCondition(*arg, ast.name));
    ok = ok && args.back() != nullptr;
    if (ok) nullable = nullable || args.back()->type.nullable;
  }
  if (!ok) return nullptr;
  return plan::MakeCall(ast.name == "AND" ? Fn::kAnd : Fn::kOr, BooleanType(nullable),
                        std::move(args), ast.at);
}

// ts + INTERVAL '1' MONTH: calendar arithmetic, the same as TIMESTAMPADD.
ExprPtr ExprBinder::BindMonths(const ExprAst& ast, bool minus) {
  const bool first = ast.args[0]->kind == ExprAst::Kind::kInterval;
  const ExprAst& interval = *ast.args[first ? 0 : 1];
  int64_t ms = 0;
  int64_t months = 0;
  if (!IntervalMs(interval, diagnostics_, &ms, &months)) return nullptr;
  ExprPtr time = Bind(*ast.args[first ? 1 : 0]);
  if (time == nullptr) return nullptr;
  if (!IsTimeType(time->type) || (first && minus)) {
    diagnostics_.Error(ast.at, "an interval is added to or taken from a TIMESTAMP or DATE, not " +
                                   Shown(time->type));
    return nullptr;
  }
  Value unit;
  unit.type = Type::Of(TypeKind::kString).NotNull();
  unit.null = false;
  unit.text = "MONTH";
  Value count;
  count.type = Type::Of(TypeKind::kInt).NotNull();
  count.null = false;
  count.integer = minus ? -months : months;
  const Type type = time->type;
  return MakeCall(Fn::kTimestampAdd, type, ast.at, plan::MakeLiteral(std::move(unit), interval.at),
                  plan::MakeLiteral(std::move(count), interval.at), std::move(time));
}

ExprPtr ExprBinder::BindArithmetic(const ExprAst& ast, Fn fn) {
  for (const ExprAstPtr& arg : ast.args) {
    const bool months = arg->kind == ExprAst::Kind::kInterval &&
                        (arg->name == "MONTH" || arg->name == "QUARTER" || arg->name == "YEAR");
    if (months && (fn == Fn::kAdd || fn == Fn::kSub)) return BindMonths(ast, fn == Fn::kSub);
  }
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  ExprPtr a = std::move(args[0]);
  ExprPtr b = std::move(args[1]);
  if (a->type.kind == TypeKind::kNull) a = Coerce(std::move(a), b->type);
  if (b->type.kind == TypeKind::kNull) b = Coerce(std::move(b), a->type);
  if (!a->type.IsNumeric() || !b->type.IsNumeric()) {
    return BindTimeArithmetic(fn, std::move(a), std::move(b), ast.at);
  }
  const Type type = ArithmeticType(fn, a->type, b->type);
  for (ExprPtr* side : {&a, &b}) {
    if (type.kind == TypeKind::kDecimal) {
      *side = Coerce(std::move(*side), AsDecimal((*side)->type));
    } else if (type.kind == TypeKind::kDouble || type.kind == TypeKind::kFloat) {
      *side = Coerce(std::move(*side), type);
    }
  }
  return MakeCall(fn, type, ast.at, std::move(a), std::move(b));
}

ExprPtr ExprBinder::BindTimeArithmetic(Fn fn, ExprPtr a, ExprPtr b, Position at) {
  const bool a_interval = a->type.kind == TypeKind::kInterval;
  const bool b_interval = b->type.kind == TypeKind::kInterval;
  if (fn == Fn::kAdd && a_interval && IsTimeType(b->type)) {
    return BindTimeArithmetic(fn, std::move(b), std::move(a), at);
  }
  if ((fn == Fn::kAdd || fn == Fn::kSub) && a->type.IsTimestamp() && b_interval) {
    Type type = a->type;
    type.nullable = type.nullable || b->type.nullable;
    return MakeCall(fn == Fn::kAdd ? Fn::kTimestampPlusInterval : Fn::kTimestampMinusInterval, type,
                    at, std::move(a), std::move(b));
  }
  std::string hint;
  if (IsTimeType(a->type) && IsTimeType(b->type)) {
    hint = "the time between two timestamps is TIMESTAMPDIFF(SECOND, a, b)";
  } else if (a->type.kind == TypeKind::kDate && b_interval) {
    hint = "write CAST(.. AS TIMESTAMP(3)) first";
  } else if (a->type.kind == TypeKind::kString || b->type.kind == TypeKind::kString) {
    hint = fn == Fn::kAdd ? "texts are joined with ||; a text is read as a number by CAST"
                          : "a text is read as a number by CAST";
  }
  static constexpr const char* kNames[] = {"+", "-", "*", "/", "%"};
  diagnostics_.Error(at,
                     std::string("there is no ") + Shown(a->type) + " " +
                         kNames[static_cast<int>(fn) - static_cast<int>(Fn::kAdd)] + " " +
                         Shown(b->type),
                     std::move(hint));
  return nullptr;
}

}  // namespace weir::sql
