// Expressions as SQL for people: explain, messages and the names of unnamed columns.
#include <string>
#include <string_view>

#include "plan/expr.h"

namespace weir::plan {
namespace {

bool NeedsQuotes(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return true;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || (c & 0x80) != 0;
    if (!plain) return true;
  }
  return false;
}

std::string ColumnName(int column, const Schema& input) {
  if (column < 0 || static_cast<size_t>(column) >= input.fields.size()) {
    return "$" + std::to_string(column);
  }
  const std::string& name = input.fields[static_cast<size_t>(column)].name;
  return NeedsQuotes(name) ? "`" + name + "`" : name;
}

const char* InfixOf(Fn fn) {
  switch (fn) {
    case Fn::kAnd:
      return " AND ";
    case Fn::kOr:
      return " OR ";
    case Fn::kEq:
      return " = ";
    case Fn::kNe:
      return " <> ";
    case Fn::kLt:
      return " < ";
    case Fn::kLe:
      return " <= ";
    case Fn::kGt:
      return " > ";
    case Fn::kGe:
      return " >= ";
    case Fn::kIsDistinctFrom:
      return " IS DISTINCT FROM ";
    case Fn::kIsNotDistinctFrom:
      return " IS NOT DISTINCT FROM ";
    case Fn::kAdd:
    case Fn::kTimestampPlusInterval:
      return " + ";
    case Fn::kSub:
    case Fn::kTimestampMinusInterval:
      return " - ";
    case Fn::kMul:
      return " * ";
    case Fn::kDiv:
      return " / ";
    case Fn::kMod:
      return " % ";
    default:
      return nullptr;
  }
}

const char* PostfixOf(Fn fn) {
  switch (fn) {
    case Fn::kIsNull:
      return " IS NULL";
    case Fn::kIsNotNull:
      return " IS NOT NULL";
    case Fn::kIsTrue:
      return " IS TRUE";
    case Fn::kIsNotTrue:
      return " IS NOT TRUE";
    case Fn::kIsFalse:
      return " IS FALSE";
    case Fn::kIsNotFalse:
      return " IS NOT FALSE";
    default:
      return nullptr;
  }
}

std::string SqlOf(const Expr& e, const Schema& input);

// An operand of an operator: in parentheses when it is an operator itself.
std::string OperandOf(const Expr& e, const Schema& input) {
  const bool infix = e.kind == Expr::Kind::kCall &&
                     (InfixOf(e.fn) != nullptr || PostfixOf(e.fn) != nullptr || e.fn == Fn::kNot ||
                      e.fn == Fn::kNeg || e.fn == Fn::kIn || e.fn == Fn::kLike);
  std::string text = SqlOf(e, input);
  return infix ? "(" + text + ")" : text;
}

std::string CaseSql(const Expr& e, const Schema& input) {
  std::string out = "CASE";
  for (size_t i = 0; i + 1 < e.args.size(); i += 2) {
    out += " WHEN " + SqlOf(*e.args[i], input) + " THEN " + SqlOf(*e.args[i + 1], input);
  }
  const Expr& otherwise = *e.args.back();
  const bool implied = otherwise.kind == Expr::Kind::kLiteral && otherwise.literal.null;
  if (!implied) out += " ELSE " + SqlOf(otherwise, input);
  return out + " END";
}

std::string JoinArgs(const Expr& e, const Schema& input, size_t first) {
  std::string out;
  for (size_t i = first; i < e.args.size(); ++i) {
    if (i > first) out += ", ";
    out += SqlOf(*e.args[i], input);
  }
  return out;
}

std::string UnitOf(const Expr& e) { return e.literal.text; }

std::string SqlOf(const Expr& e, const Schema& input) {
  if (e.kind == Expr::Kind::kColumn) return ColumnName(e.column, input);
  if (e.kind == Expr::Kind::kLiteral) return e.literal.null ? "NULL" : e.literal.ToSql();
  if (const char* infix = InfixOf(e.fn)) {
    std::string out;
    for (size_t i = 0; i < e.args.size(); ++i) {
      if (i > 0) out += infix;
      out += OperandOf(*e.args[i], input);
    }
    return out;
  }
  if (const char* postfix = PostfixOf(e.fn)) return OperandOf(*e.args[0], input) + postfix;
  switch (e.fn) {
    case Fn::kNot:
      return "NOT " + OperandOf(*e.args[0], input);
    case Fn::kNeg:
      return "-" + OperandOf(*e.args[0], input);
    case Fn::kIn:
      return OperandOf(*e.args[0], input) + " IN (" + JoinArgs(e, input, 1) + ")";
    case Fn::kCase:
      return CaseSql(e, input);
    case Fn::kCast:
    case Fn::kTryCast: {
      Type type = e.type;
      type.nullable = true;
      return std::string(FnName(e.fn)) + "(" + SqlOf(*e.args[0], input) + " AS " + type.ToString() +
             ")";
    }
    case Fn::kLike: {
      std::string out = OperandOf(*e.args[0], input) + " LIKE " + SqlOf(*e.args[1], input);
      const Expr& escape = *e.args[2];
      const bool is_default = escape.kind == Expr::Kind::kLiteral && escape.literal.text == "\\";
      if (!is_default) out += " ESCAPE " + SqlOf(escape, input);
      return out;
    }
    case Fn::kExtract:
      return "EXTRACT(" + UnitOf(*e.args[0]) + " FROM " + SqlOf(*e.args[1], input) + ")";
    case Fn::kFloorTo:
    case Fn::kCeilTo:
      return std::string(e.fn == Fn::kFloorTo ? "FLOOR(" : "CEIL(") + SqlOf(*e.args[0], input) +
             " TO " + UnitOf(*e.args[1]) + ")";
    case Fn::kTimestampDiff:
    case Fn::kTimestampAdd:
      return std::string(FnName(e.fn)) + "(" + UnitOf(*e.args[0]) + ", " + JoinArgs(e, input, 1) +
             ")";
    case Fn::kTrimBoth:
    case Fn::kTrimLeading:
    case Fn::kTrimTrailing:
      return std::string("TRIM(") +
             (e.fn == Fn::kTrimBoth      ? "BOTH "
              : e.fn == Fn::kTrimLeading ? "LEADING "
                                         : "TRAILING ") +
             SqlOf(*e.args[1], input) + " FROM " + SqlOf(*e.args[0], input) + ")";
    case Fn::kPosition:
      return "POSITION(" + SqlOf(*e.args[0], input) + " IN " + SqlOf(*e.args[1], input) + ")";
    default:
      return std::string(FnName(e.fn)) + "(" + JoinArgs(e, input, 0) + ")";
  }
}

}  // namespace

std::string ToSql(const Expr& expr, const Schema& input) { return SqlOf(expr, input); }

}  // namespace weir::plan
