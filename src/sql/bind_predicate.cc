// Comparisons, predicates, conditionals and casts: where two or more values have to agree on a
// type.
#include <utility>

#include "sql/bind_expr.h"
#include "sql/expr_parts.h"
#include "sql/types.h"

namespace weir::sql {

using plan::Expr;
using plan::ExprPtr;
using plan::Fn;

namespace {

bool IsText(const Expr& e) {
  return e.kind == Expr::Kind::kLiteral && e.type.kind == TypeKind::kString && !e.literal.null;
}

bool IsNull(const Expr& e) { return e.kind == Expr::Kind::kLiteral && e.literal.null; }

}  // namespace

// A text literal that stands beside a time: '2024-03-01' in ts >= '2024-03-01' is read now, so that
// a mistake is found now.
ExprPtr ExprBinder::FoldTimeText(ExprPtr text, const Type& type) {
  TimeParse parsed = type.kind == TypeKind::kDate ? ParseDate(text->literal.text)
                                                  : ParseTimestamp(text->literal.text, type, zone_);
  if (!parsed.ok && type.kind != TypeKind::kDate && text->literal.text.size() == 10) {
    const TimeParse day = ParseDate(text->literal.text);  // a day alone is its first instant
    if (!day.ok) parsed.reason = day.reason;
    if (day.ok) parsed = ParseTimestamp(text->literal.text + " 00:00:00", type, zone_);
  }
  if (!parsed.ok) {
    diagnostics_.Error(text->position,
                       "'" + text->literal.text + "' is no " + Shown(type) + ": " + parsed.reason);
    return nullptr;
  }
  Value v;
  v.type = type.NotNull();
  v.null = false;
  v.integer = parsed.ticks;
  return plan::MakeLiteral(std::move(v), text->position);
}

bool ExprBinder::Unify(ExprPtr& a, ExprPtr& b, Position at, std::string_view what) {
  if (IsText(*a) && IsTimeType(b->type)) a = FoldTimeText(std::move(a), b->type);
  if (a != nullptr && IsText(*b) && IsTimeType(a->type)) b = FoldTimeText(std::move(b), a->type);
  if (a == nullptr || b == nullptr) return false;
  const std::optional<Type> type = CommonType(a->type, b->type);
  if (!type) {
    diagnostics_.Error(at,
                       std::string(what) + " of " + Shown(a->type) + " and " + Shown(b->type) +
                           ": there is no common type",
                       "write CAST(.. AS ..) on one side");
    return false;
  }
  a = Coerce(std::move(a), *type);
  b = Coerce(std::move(b), *type);
  return true;
}

bool ExprBinder::UnifyAll(std::vector<ExprPtr*> values, Position at, std::string_view what,
                          Type* out) {
  Type type = Type::Of(TypeKind::kNull);
  type.nullable = false;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<Type> common =
        i == 0 ? (*values[0])->type : CommonType(type, (*values[i])->type);
    if (!common) {
      diagnostics_.Error(at,
                         std::string(what) + " mixes " + Shown(type) + " and " +
                             Shown((*values[i])->type) + ": there is no common type",
                         "write CAST(.. AS ..)");
      return false;
    }
    type = *common;
  }
  for (ExprPtr* value : values) *value = Coerce(std::move(*value), type);
  *out = type;
  return true;
}

ExprPtr ExprBinder::BindComparison(Fn fn, ExprPtr a, ExprPtr b, Position at) {
  const bool distinct = fn == Fn::kIsDistinctFrom || fn == Fn::kIsNotDistinctFrom;
  if (!distinct && (IsNull(*a) || IsNull(*b))) {
    diagnostics_.Note(at, "a comparison with NULL is never true, nor false",
                      "IS NULL and IS NOT NULL ask for it");
  }
  if (!Unify(a, b, at, "a comparison")) return nullptr;
  if (a->type.kind == TypeKind::kNull) {
    const Type text = Type::Of(TypeKind::kString);  // NULL = NULL: any type does
    a = Coerce(std::move(a), text);
    b = Coerce(std::move(b), text);
  }
  if (!IsOrdered(a->type)) {
    diagnostics_.Error(at, "values of " + Shown(a->type) + " cannot be compared");
    return nullptr;
  }
  const Type type = BooleanType(!distinct && (a->type.nullable || b->type.nullable));
  return MakeCall(fn, type, at, std::move(a), std::move(b));
}

ExprPtr ExprBinder::BindCase(const ExprAst& ast) {
  Args args;
  const size_t first = ast.has_operand ? 1 : 0;
  const size_t end = ast.args.size() - (ast.has_else ? 1 : 0);
  bool ok = true;
  ExprPtr operand;
  if (ast.has_operand) {
    operand = Bind(*ast.args[0]);
    ok = operand != nullptr;
  }
  for (size_t i = first; i < end; i += 2) {
    ExprPtr when;
    if (ast.has_operand) {
      when = Bind(*ast.args[i]);
      if (operand != nullptr && when != nullptr) {
        when = BindComparison(Fn::kEq, operand->Clone(), std::move(when), ast.args[i]->at);
      }
    } else {
      when = BindCondition(*ast.args[i], "WHEN");
    }
    ok = ok && when != nullptr;
    args.push_back(std::move(when));
    args.push_back(Bind(*ast.args[i + 1]));
    ok = ok && args.back() != nullptr;
  }
  args.push_back(ast.has_else ? Bind(*ast.args.back())
                              : NullLiteral(Type::Of(TypeKind::kNull), ast.at));
  if (!ok || args.back() == nullptr) return nullptr;
  std::vector<ExprPtr*> values;
  for (size_t i = 1; i + 1 < args.size(); i += 2) values.push_back(&args[i]);
  values.push_back(&args.back());
  Type type;
  if (!UnifyAll(std::move(values), ast.at, "CASE", &type)) return nullptr;
  return plan::MakeCall(Fn::kCase, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::BindCast(const ExprAst& ast) {
  ExprPtr e = Bind(*ast.args[0]);
  if (e == nullptr || ast.type.kind == TypeKind::kNull) return nullptr;
  if (!CanCast(e->type, ast.type)) {
    diagnostics_.Error(ast.at,
                       "there is no CAST from " + Shown(e->type) + " to " + Shown(ast.type));
    return nullptr;
  }
  Type type = ast.type;
  type.nullable = ast.flag || e->type.nullable;
  if (e->type.kind == TypeKind::kNull) return Coerce(std::move(e), type);
  if (e->type.SameAs(type)) return e;
  return MakeCall(ast.flag ? Fn::kTryCast : Fn::kCast, type, ast.at, std::move(e));
}

ExprPtr ExprBinder::BindIs(const ExprAst& ast) {
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  if (ast.name == "DISTINCT") {
    return BindComparison(ast.flag ? Fn::kIsNotDistinctFrom : Fn::kIsDistinctFrom,
                          std::move(args[0]), std::move(args[1]), ast.at);
  }
  Fn fn = ast.flag ? Fn::kIsNotNull : Fn::kIsNull;
  if (ast.name == "TRUE") fn = ast.flag ? Fn::kIsNotTrue : Fn::kIsTrue;
  if (ast.name == "FALSE") fn = ast.flag ? Fn::kIsNotFalse : Fn::kIsFalse;
  if (args[0]->type.kind == TypeKind::kNull)
    args[0] = Coerce(std::move(args[0]), BooleanType(true));
  if (ast.name != "NULL" && args[0]->type.kind != TypeKind::kBoolean) {
    diagnostics_.Error(ast.at,
                       "IS " + ast.name + " needs a BOOLEAN, this is " + Shown(args[0]->type));
    return nullptr;
  }
  return plan::MakeCall(fn, BooleanType(false), std::move(args), ast.at);
}

ExprPtr ExprBinder::BindIn(const ExprAst& ast) {
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  for (size_t i = 1; i < args.size(); ++i) {
    if (IsText(*args[i]) && IsTimeType(args[0]->type)) {
      args[i] = FoldTimeText(std::move(args[i]), args[0]->type);
      if (args[i] == nullptr) return nullptr;
    }
  }
  std::vector<ExprPtr*> values;
  for (ExprPtr& arg : args) values.push_back(&arg);
  Type type;
  if (!UnifyAll(std::move(values), ast.at, "IN", &type)) return nullptr;
  if (!IsOrdered(type)) {
    diagnostics_.Error(ast.at, "values of " + Shown(type) + " cannot be compared");
    return nullptr;
  }
  const Type boolean = BooleanType(type.nullable);
  ExprPtr in = plan::MakeCall(Fn::kIn, boolean, std::move(args), ast.at);
  return ast.flag ? MakeCall(Fn::kNot, boolean, ast.at, std::move(in)) : std::move(in);
}

ExprPtr ExprBinder::BindBetween(const ExprAst& ast) {
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  ExprPtr low = BindComparison(Fn::kGe, args[0]->Clone(), std::move(args[1]), ast.at);
  ExprPtr high = BindComparison(Fn::kLe, std::move(args[0]), std::move(args[2]), ast.at);
  if (low == nullptr || high == nullptr) return nullptr;
  const Type type = BooleanType(low->type.nullable || high->type.nullable);
  ExprPtr both = MakeCall(Fn::kAnd, type, ast.at, std::move(low), std::move(high));
  return ast.flag ? MakeCall(Fn::kNot, type, ast.at, std::move(both)) : std::move(both);
}

}  // namespace weir::sql
