#include "plan/expr.h"

#include <iterator>
#include <utility>

#include "base/check.h"

namespace weir::plan {

ExprPtr Expr::Clone() const {
  auto copy = std::make_unique<Expr>();
  copy->kind = kind;
  copy->type = type;
  copy->position = position;
  copy->column = column;
  copy->literal = literal;
  copy->fn = fn;
  copy->args.reserve(args.size());
  for (const ExprPtr& arg : args) copy->args.push_back(arg->Clone());
  return copy;
}

ExprPtr MakeColumn(int column, const Type& type, Position at) {
  auto e = std::make_unique<Expr>();
  e->kind = Expr::Kind::kColumn;
  e->column = column;
  e->type = type;
  e->position = at;
  return e;
}

ExprPtr MakeLiteral(Value value, Position at) {
  auto e = std::make_unique<Expr>();
  e->kind = Expr::Kind::kLiteral;
  e->type = value.type;
  e->literal = std::move(value);
  e->position = at;
  return e;
}

ExprPtr MakeCall(Fn fn, const Type& type, std::vector<ExprPtr> args, Position at) {
  auto e = std::make_unique<Expr>();
  e->kind = Expr::Kind::kCall;
  e->fn = fn;
  e->type = type;
  e->args = std::move(args);
  e->position = at;
  return e;
}

namespace {

// In the order of Fn. The names are part of fingerprints: never changed.
constexpr const char* kFnNames[] = {
    "AND",
    "OR",
    "NOT",
    "IS_NULL",
    "IS_NOT_NULL",
    "IS_TRUE",
    "IS_NOT_TRUE",
    "IS_FALSE",
    "IS_NOT_FALSE",
    "IS_DISTINCT_FROM",
    "IS_NOT_DISTINCT_FROM",
    "EQ",
    "NE",
    "LT",
    "LE",
    "GT",
    "GE",
    "IN",
    "ADD",
    "SUB",
    "MUL",
    "DIV",
    "MOD",
    "NEG",
    "TIMESTAMP_PLUS_INTERVAL",
    "TIMESTAMP_MINUS_INTERVAL",
    "CASE",
    "COALESCE",
    "NULLIF",
    "GREATEST",
    "LEAST",
    "CAST",
    "TRY_CAST",
    "CONCAT",
    "CONCAT_WS",
    "UPPER",
    "LOWER",
    "TRIM_BOTH",
    "TRIM_LEADING",
    "TRIM_TRAILING",
    "SUBSTRING",
    "POSITION",
    "REPLACE",
    "SPLIT_INDEX",
    "LPAD",
    "RPAD",
    "LEFT",
    "RIGHT",
    "REPEAT",
    "REVERSE",
    "INITCAP",
    "CHAR_LENGTH",
    "OCTET_LENGTH",
    "STARTSWITH",
    "ENDSWITH",
    "LIKE",
    "REGEXP",
    "REGEXP_EXTRACT",
    "REGEXP_REPLACE",
    "ABS",
    "CEIL",
    "FLOOR",
    "ROUND",
    "TRUNCATE",
    "POWER",
    "SQRT",
    "EXP",
    "LN",
    "LOG10",
    "LOG2",
    "SIGN",
    "EXTRACT",
    "FLOOR_TO",
    "CEIL_TO",
    "TIMESTAMPDIFF",
    "TIMESTAMPADD",
    "DATE_FORMAT",
    "TO_TIMESTAMP",
    "TO_TIMESTAMP_LTZ",
    "TO_DATE",
    "UNIX_TIMESTAMP",
    "MD5",
    "SHA256",
    "TO_BASE64",
    "FROM_BASE64",
};
static_assert(std::size(kFnNames) == static_cast<size_t>(Fn::kFromBase64) + 1);

}  // namespace

const char* FnName(Fn fn) { return kFnNames[static_cast<size_t>(fn)]; }

namespace {

// Nullability is inferred and may be inferred better one day, so it is no part of the meaning,
// except where a CAST enforces it.
void AppendType(const Expr& e, std::string& out) {
  Type type = e.type;
  if (e.kind != Expr::Kind::kCall || e.fn != Fn::kCast) type.nullable = true;
  out += ':';
  out += type.ToString();
}

void AppendCanonical(const Expr& e, std::string& out) {
  switch (e.kind) {
    case Expr::Kind::kColumn:
      out += '$';
      out += std::to_string(e.column);
      return;
    case Expr::Kind::kLiteral:
      out += e.literal.ToSql();
      AppendType(e, out);
      return;
    case Expr::Kind::kCall:
      out += FnName(e.fn);
      out += '(';
      for (size_t i = 0; i < e.args.size(); ++i) {
        if (i > 0) out += ", ";
        AppendCanonical(*e.args[i], out);
      }
      out += ')';
      AppendType(e, out);
      return;
  }
}

}  // namespace

std::string Canonical(const Expr& expr) {
  std::string out;
  AppendCanonical(expr, out);
  return out;
}

void ForEachColumn(const Expr& expr, void (*f)(int column, void* arg), void* arg) {
  if (expr.kind == Expr::Kind::kColumn) f(expr.column, arg);
  for (const ExprPtr& child : expr.args) ForEachColumn(*child, f, arg);
}

void RemapColumns(Expr& expr, const std::vector<int>& map) {
  if (expr.kind == Expr::Kind::kColumn) {
    CHECK(expr.column >= 0 && static_cast<size_t>(expr.column) < map.size());
    expr.column = map[static_cast<size_t>(expr.column)];
    CHECK(expr.column >= 0);
  }
  for (const ExprPtr& child : expr.args) RemapColumns(*child, map);
}

}  // namespace weir::plan
