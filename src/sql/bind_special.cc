// Functions whose arguments or result type follow a rule of their own.
#include <utility>

#include "data/regex_check.h"
#include "sql/bind_expr.h"
#include "sql/types.h"

namespace weir::sql {

using plan::Expr;
using plan::ExprPtr;
using plan::Fn;

namespace {

Value TextValue(std::string text) {
  Value v;
  v.type = Type::Of(TypeKind::kString).NotNull();
  v.null = false;
  v.text = std::move(text);
  return v;
}

Value IntValue(int64_t number) {
  Value v;
  v.type = Type::Of(TypeKind::kInt).NotNull();
  v.null = false;
  v.integer = number;
  return v;
}

// YEAR(ts) and its kind are EXTRACT.
std::string_view UnitOfFunction(std::string_view name) {
  static constexpr struct {
    std::string_view name, unit;
  } kUnits[] = {{"YEAR", "YEAR"},     {"QUARTER", "QUARTER"}, {"MONTH", "MONTH"},
                {"WEEK", "WEEK"},     {"DAYOFYEAR", "DOY"},   {"DAYOFMONTH", "DAY"},
                {"DAYOFWEEK", "DOW"}, {"HOUR", "HOUR"},       {"MINUTE", "MINUTE"},
                {"SECOND", "SECOND"}};
  for (const auto& entry : kUnits) {
    if (entry.name == name) return entry.unit;
  }
  return {};
}

constexpr std::string_view kExtractUnits =
    "YEAR QUARTER MONTH WEEK DAY DOY DOW HOUR MINUTE SECOND MILLISECOND EPOCH";
constexpr std::string_view kRoundUnits =
    "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND";
constexpr std::string_view kStepUnits = "YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND";

}  // namespace

bool ExprBinder::BindSpecial(const ExprAst& ast, ExprPtr* out) {
  const std::string& name = ast.name;
  const std::string_view unit = UnitOfFunction(name);
  if (name == "IF" || name == "IFNULL" || name == "NULLIF" || name == "COALESCE" ||
      name == "GREATEST" || name == "LEAST") {
    *out = BindConditional(ast);
  } else if (name == "TRIM_BOTH" || name == "BTRIM") {
    *out = BindTrim(ast, Fn::kTrimBoth);
  } else if (name == "TRIM_LEADING" || name == "LTRIM") {
    *out = BindTrim(ast, Fn::kTrimLeading);
  } else if (name == "TRIM_TRAILING" || name == "RTRIM") {
    *out = BindTrim(ast, Fn::kTrimTrailing);
  } else if (name == "ROUND" || name == "TRUNCATE" || name == "FLOOR" || name == "CEIL") {
    *out = BindRounding(ast);
  } else if (name == "FLOOR_TO" || name == "CEIL_TO") {
    *out = BindRoundingTo(ast);
  } else if (name == "MOD") {
    *out = CheckCount(ast, 2, 2) ? BindArithmetic(ast, Fn::kMod) : nullptr;
  } else if (name == "EXTRACT" && ast.is_operator) {
    ExprPtr literal = UnitLiteral(*ast.args[0], kExtractUnits);
    *out = literal == nullptr ? nullptr : BindExtract(ast, literal->literal.text, *ast.args[1]);
  } else if (!unit.empty()) {
    *out = CheckCount(ast, 1, 1) ? BindExtract(ast, unit, *ast.args[0]) : nullptr;
  } else if (name == "TIMESTAMPDIFF") {
    *out = BindTimestampDiff(ast);
  } else if (name == "TIMESTAMPADD") {
    *out = BindTimestampAdd(ast);
  } else if (name == "TO_TIMESTAMP_LTZ") {
    *out = BindToTimestampLtz(ast);
  } else if (name == "REGEXP_EXTRACT") {
    *out = BindRegexpExtract(ast);
  } else if (name == "INSTR") {
    *out = BindInstr(ast);
  } else {
    return false;
  }
  return true;
}

// IF, IFNULL, NULLIF, COALESCE, GREATEST, LEAST.
ExprPtr ExprBinder::BindConditional(const ExprAst& ast) {
  const std::string& name = ast.name;
  const size_t low = name == "IF" ? 3 : name == "IFNULL" || name == "NULLIF" ? 2 : 1;
  const bool open = name == "COALESCE" || name == "GREATEST" || name == "LEAST";
  if (!CheckCount(ast, low, open ? SIZE_MAX : low)) return nullptr;
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  std::vector<ExprPtr*> values;
  for (size_t i = name == "IF" ? 1 : 0; i < args.size(); ++i) values.push_back(&args[i]);
  Type type;
  if (!UnifyAll(values, ast.at, name, &type)) return nullptr;
  Fn fn = Fn::kCoalesce;
  if (name == "IF") {
    if (args[0]->type.kind == TypeKind::kNull) {
      args[0] = Coerce(std::move(args[0]), Type::Of(TypeKind::kBoolean));
    }
    if (args[0]->type.kind != TypeKind::kBoolean) {
      return WrongArgument(ast, 0, "a BOOLEAN", *args[0]);
    }
    fn = Fn::kCase;
  } else if (name == "NULLIF") {
    fn = Fn::kNullIf;
    type.nullable = true;
  } else if (name == "GREATEST" || name == "LEAST") {
    fn = name == "GREATEST" ? Fn::kGreatest : Fn::kLeast;
  } else {
    bool all_nullable = true;
    for (const ExprPtr& arg : args) all_nullable = all_nullable && arg->type.nullable;
    type.nullable = all_nullable;
  }
  if (fn != Fn::kCoalesce && fn != Fn::kCase && type.kind == TypeKind::kNull) {
    diagnostics_.Error(ast.at, name + " of nothing but NULL has no type", "write CAST(NULL AS ..)");
    return nullptr;
  }
  return plan::MakeCall(fn, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::BindTrim(const ExprAst& ast, Fn fn) {
  if (!CheckCount(ast, 1, 2)) return nullptr;
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  if (args.size() == 1) args.push_back(plan::MakeLiteral(TextValue(" "), ast.at));
  for (size_t i = 0; i < 2; ++i) {
    if (!CheckArgument(ast, i, 's', args[i])) return nullptr;
  }
  Type type = Type::Of(TypeKind::kString);
  type.nullable = args[0]->type.nullable || args[1]->type.nullable;
  return plan::MakeCall(fn, type, std::move(args), ast.at);
}

// INSTR(text, needle): POSITION with its arguments the other way round.
ExprPtr ExprBinder::BindInstr(const ExprAst& ast) {
  if (!CheckCount(ast, 2, 2)) return nullptr;
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  for (size_t i = 0; i < 2; ++i) {
    if (!CheckArgument(ast, i, 's', args[i])) return nullptr;
  }
  std::swap(args[0], args[1]);
  Type type = Type::Of(TypeKind::kInt);
  type.nullable = args[0]->type.nullable || args[1]->type.nullable;
  return plan::MakeCall(Fn::kPosition, type, std::move(args), ast.at);
}

// ROUND(x [, n]), TRUNCATE(x [, n]), FLOOR(x), CEIL(x).
ExprPtr ExprBinder::BindRounding(const ExprAst& ast) {
  const bool digits = ast.name == "ROUND" || ast.name == "TRUNCATE";
  if (!CheckCount(ast, 1, digits ? 2 : 1)) return nullptr;
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  if (!CheckArgument(ast, 0, 'n', args[0])) return nullptr;
  if (args.size() == 2 && !CheckArgument(ast, 1, 'i', args[1])) return nullptr;
  if (digits && args.size() == 1) args.push_back(plan::MakeLiteral(IntValue(0), ast.at));
  Type type = args[0]->type;
  if (digits) type.nullable = type.nullable || args[1]->type.nullable;
  Fn fn = ast.name == "FLOOR" ? Fn::kFloor : Fn::kCeil;
  if (digits) fn = ast.name == "ROUND" ? Fn::kRound : Fn::kTruncate;
  if (type.kind == TypeKind::kDecimal) {
    const int p = type.precision, s = type.scale;
    if (!digits) {
      type.precision = static_cast<uint8_t>(std::min(p - s + 1, 38));
      type.scale = 0;
    } else if (fn == Fn::kRound && args[1]->kind == Expr::Kind::kLiteral &&
               !args[1]->literal.null) {
      // Flink's: one more digit before the point, as many after it as asked for.
      const int64_t n = args[1]->literal.integer;
      if (n < s) {
        const int scale = static_cast<int>(std::max<int64_t>(n, 0));
        type.precision = static_cast<uint8_t>(std::min(1 + p - s + scale, 38));
        type.scale = static_cast<uint8_t>(scale);
      }
    }
  }
  return plan::MakeCall(fn, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::UnitLiteral(const ExprAst& ast, std::string_view allowed) {
  std::string name = ast.kind == ExprAst::Kind::kColumn && ast.parts.size() == 1 ? ast.name : "";
  if (name.starts_with("SQL_TSI_")) name.erase(0, 8);
  std::vector<std::string_view> words;
  for (size_t start = 0; start < allowed.size();) {
    const size_t end = std::min(allowed.find(' ', start), allowed.size());
    words.push_back(allowed.substr(start, end - start));
    start = end + 1;
  }
  for (const std::string_view word : words) {
    if (word == name) return plan::MakeLiteral(TextValue(name), ast.at);
  }
  std::string hint = DidYouMean(name, words);
  diagnostics_.Error(ast.at, "expected a unit: " + std::string(allowed), std::move(hint));
  return nullptr;
}

ExprPtr ExprBinder::BindRoundingTo(const ExprAst& ast) {
  ExprPtr time = Bind(*ast.args[0]);
  ExprPtr unit = UnitLiteral(*ast.args[1], kRoundUnits);
  if (time == nullptr || unit == nullptr) return nullptr;
  // Of a DATE it is a DATE again, as Flink's.
  if (time->type.kind != TypeKind::kDate && !CheckArgument(ast, 0, 't', time)) return nullptr;
  const Type type = time->type;
  Args args;
  args.push_back(std::move(time));
  args.push_back(std::move(unit));
  return plan::MakeCall(ast.name == "FLOOR_TO" ? Fn::kFloorTo : Fn::kCeilTo, type, std::move(args),
                        ast.at);
}

ExprPtr ExprBinder::BindExtract(const ExprAst& ast, std::string_view unit, const ExprAst& value) {
  ExprPtr time = Bind(value);
  if (time == nullptr) return nullptr;
  if (time->type.kind != TypeKind::kDate && !CheckArgument(ast, ast.args.size() - 1, 't', time)) {
    return nullptr;
  }
  Type type = Type::Of(TypeKind::kBigInt);
  type.nullable = time->type.nullable;
  Args args;
  args.push_back(plan::MakeLiteral(TextValue(std::string(unit)), ast.at));
  args.push_back(std::move(time));
  return plan::MakeCall(Fn::kExtract, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::BindTimestampDiff(const ExprAst& ast) {
  if (!CheckCount(ast, 3, 3)) return nullptr;
  ExprPtr unit = UnitLiteral(*ast.args[0], kStepUnits);
  ExprPtr a = Bind(*ast.args[1]);
  ExprPtr b = Bind(*ast.args[2]);
  if (unit == nullptr || a == nullptr || b == nullptr) return nullptr;
  if (!CheckArgument(ast, 1, 't', a) || !CheckArgument(ast, 2, 't', b)) return nullptr;
  if (!Unify(a, b, ast.at, "TIMESTAMPDIFF")) return nullptr;
  Type type = Type::Of(TypeKind::kInt);
  type.nullable = a->type.nullable || b->type.nullable;
  Args args;
  args.push_back(std::move(unit));
  args.push_back(std::move(a));
  args.push_back(std::move(b));
  return plan::MakeCall(Fn::kTimestampDiff, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::BindTimestampAdd(const ExprAst& ast) {
  if (!CheckCount(ast, 3, 3)) return nullptr;
  ExprPtr unit = UnitLiteral(*ast.args[0], kStepUnits);
  ExprPtr count = Bind(*ast.args[1]);
  ExprPtr time = Bind(*ast.args[2]);
  if (unit == nullptr || count == nullptr || time == nullptr) return nullptr;
  if (!CheckArgument(ast, 1, 'i', count) || !CheckArgument(ast, 2, 't', time)) return nullptr;
  Type type = time->type;
  type.nullable = type.nullable || count->type.nullable;
  Args args;
  args.push_back(std::move(unit));
  args.push_back(std::move(count));
  args.push_back(std::move(time));
  return plan::MakeCall(Fn::kTimestampAdd, type, std::move(args), ast.at);
}

// (number [, 0 | 3]) or (text [, pattern]).
ExprPtr ExprBinder::BindToTimestampLtz(const ExprAst& ast) {
  if (!CheckCount(ast, 1, 2)) return nullptr;
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  if (args[0]->type.kind == TypeKind::kString) {
    if (args.size() == 2 && !CheckArgument(ast, 1, 'P', args[1])) return nullptr;
  } else {
    if (!CheckArgument(ast, 0, 'n', args[0])) return nullptr;
    if (args.size() == 1) args.push_back(plan::MakeLiteral(IntValue(3), ast.at));
    const Expr& precision = *args[1];
    const bool literal = precision.kind == Expr::Kind::kLiteral && precision.type.IsInteger();
    if (!literal || (precision.literal.integer != 0 && precision.literal.integer != 3)) {
      diagnostics_.Error(precision.position,
                         "the precision of TO_TIMESTAMP_LTZ is 0 (seconds) or 3 (milliseconds)");
      return nullptr;
    }
  }
  Type type = Type::TimestampLtz(3);
  type.nullable = args[0]->type.nullable;
  return plan::MakeCall(Fn::kToTimestampLtz, type, std::move(args), ast.at);
}

ExprPtr ExprBinder::BindRegexpExtract(const ExprAst& ast) {
  if (!CheckCount(ast, 2, 3)) return nullptr;
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  if (args.size() == 2) args.push_back(plan::MakeLiteral(IntValue(0), ast.at));
  if (!CheckArgument(ast, 0, 's', args[0]) || !CheckArgument(ast, 1, 'R', args[1]) ||
      !CheckArgument(ast, 2, 'i', args[2])) {
    return nullptr;
  }
  int groups = 0;
  const Status status = CheckRegex(args[1]->literal.text, &groups);
  const Expr& group = *args[2];
  const bool literal = group.kind == Expr::Kind::kLiteral && !group.literal.null;
  if (status.ok() && literal && (group.literal.integer < 0 || group.literal.integer > groups)) {
    diagnostics_.Error(group.position, "the pattern has " + std::to_string(groups) +
                                           " groups, there is no group " +
                                           std::to_string(group.literal.integer));
    return nullptr;
  }
  return plan::MakeCall(Fn::kRegexpExtract, Type::Of(TypeKind::kString), std::move(args), ast.at);
}

namespace {

// Where a LIKE pattern is wrong, or "": an escape takes a wildcard or itself, nothing else.
std::string LikeMistake(std::string_view pattern, std::string_view escape) {
  if (escape.empty()) return "";
  for (size_t i = 0; i < pattern.size();) {
    if (pattern.substr(i).starts_with(escape)) {
      const std::string_view next = pattern.substr(i + escape.size());
      if (next.empty()) return "the escape character stands at the end";
      const bool good = next[0] == '_' || next[0] == '%' || next.starts_with(escape);
      if (!good) return "the escape character stands before an ordinary character";
      i += escape.size() + (next.starts_with(escape) ? escape.size() : 1);
    } else {
      ++i;
    }
  }
  return "";
}

size_t CodePoints(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

}  // namespace

ExprPtr ExprBinder::BindLike(const ExprAst& ast) {
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  // Without ESCAPE it is the backslash, as in Flink.
  if (args.size() == 2) args.push_back(plan::MakeLiteral(TextValue("\\"), ast.at));
  for (size_t i = 0; i < 3; ++i) {
    if (args[i]->type.kind == TypeKind::kNull) {
      args[i] = Coerce(std::move(args[i]), Type::Of(TypeKind::kString));
    }
    if (args[i]->type.kind == TypeKind::kString) continue;
    diagnostics_.Error(ast.at, "LIKE compares texts, this is " + Shown(args[i]->type),
                       "write CAST(.. AS STRING)");
    return nullptr;
  }
  const auto literal = [](const Expr& e) {
    return e.kind == Expr::Kind::kLiteral && !e.literal.null;
  };
  if (!literal(*args[2])) {
    diagnostics_.Error(args[2]->position, "the ESCAPE of LIKE must be a text literal");
    return nullptr;
  }
  const std::string& escape = args[2]->literal.text;
  if (CodePoints(escape) > 1) {
    diagnostics_.Error(args[2]->position, "the ESCAPE of LIKE is one character");
    return nullptr;
  }
  if (literal(*args[1])) {
    const std::string mistake = LikeMistake(args[1]->literal.text, escape);
    if (!mistake.empty()) {
      diagnostics_.Error(args[1]->position, "the pattern '" + args[1]->literal.text +
                                                "' of LIKE is wrong: " + mistake);
      return nullptr;
    }
  }
  Type type = Type::Of(TypeKind::kBoolean);
  type.nullable = args[0]->type.nullable || args[1]->type.nullable;
  ExprPtr like = plan::MakeCall(Fn::kLike, type, std::move(args), ast.at);
  if (!ast.flag) return like;
  Args negated;
  negated.push_back(std::move(like));
  return plan::MakeCall(Fn::kNot, type, std::move(negated), ast.at);
}

}  // namespace weir::sql
