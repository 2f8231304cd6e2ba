// Functions with a plain argument list, as a table.
#include <utility>

#include "base/text.h"
#include "data/regex_check.h"
#include "data/timestamp.h"
#include "sql/bind_expr.h"
#include "sql/keywords.h"
#include "sql/types.h"

namespace weir::sql {

using plan::Expr;
using plan::ExprPtr;
using plan::Fn;

// One row of the table. `args`: a letter an argument - s text, x text or bytes, i whole number, n
// number, d number taken as DOUBLE, t timestamp, P time pattern literal, R regular expression
// literal; the rest after ? is optional, * repeats the one before it.
struct ExprBinder::FunctionDef {
  std::string_view name;
  Fn fn;
  std::string_view args;
  enum Result { kText, kInt, kBigInt, kDouble, kBool, kDate, kTimestamp3, kFirst } result;
  bool may_be_null = false;  // NULL without a NULL argument
};

namespace {

constexpr std::string_view kAggregates[] = {"COUNT", "SUM", "AVG", "MIN", "MAX"};

// Of sql.md or Flink, and not built yet.
constexpr std::string_view kLater[] = {
    "HOP",
    "CUMULATE",
    "STDDEV",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "VAR_POP",
    "VAR_SAMP",
    "VARIANCE",
    "FIRST_VALUE",
    "LAST_VALUE",
    "STRING_AGG",
    "LISTAGG",
    "ARRAY_AGG",
    "APPROX_COUNT_DISTINCT",
    "PERCENTILE",
    "COLLECT",
    "ROW_NUMBER",
    "RANK",
    "DENSE_RANK",
    "LAG",
    "LEAD",
    "NTILE",
    "JSON_VALUE",
    "JSON_QUERY",
    "JSON_EXISTS",
    "JSON_OBJECT",
    "JSON_ARRAY",
    "JSON_STRING",
    "JSON_OBJECTAGG",
    "JSON_ARRAYAGG",
    "FROM_UNIXTIME",
    "CONVERT_TZ",
    "TO_CHAR",
    "OVERLAY",
    "REGEXP_COUNT",
    "REGEXP_INSTR",
    "REGEXP_SUBSTR",
    "REGEXP_EXTRACT_ALL",
    "PARSE_URL",
    "SHA1",
    "SHA2",
    "SHA224",
    "SHA384",
    "SHA512",
    "STR_TO_MAP",
    "CARDINALITY",
    "ELEMENT",
    "ASCII",
    "CHR",
    "ENCODE",
    "DECODE",
    "HEX",
    "UNHEX",
    "BIN",
    "LOG",
    "SIN",
    "COS",
    "TAN",
    "COT",
    "ASIN",
    "ACOS",
    "ATAN",
    "ATAN2",
    "SINH",
    "COSH",
    "TANH",
    "DEGREES",
    "RADIANS",
    "PI",
    "E",
    "TYPEOF",
    "URL_ENCODE",
    "URL_DECODE",
    "TRY_SUM",
    "GROUPING",
    "GROUP_ID",
    "ARRAY",
    "MAP",
    "IS_DECIMAL",
    "IS_DIGIT",
    "IS_ALPHA",
    "SOURCE_WATERMARK",
    "HASH_CODE",
    "UNNEST",
    "TRANSLATE",
    "PRINTF",
};

// Their value would differ when the same rows are read again.
constexpr std::string_view kUnrepeatable[] = {"NOW",
                                              "RAND",
                                              "RAND_INTEGER",
                                              "UUID",
                                              "PROCTIME",
                                              "CURRENT_TIMESTAMP",
                                              "CURRENT_DATE",
                                              "CURRENT_TIME",
                                              "LOCALTIME",
                                              "LOCALTIMESTAMP",
                                              "CURRENT_ROW_TIMESTAMP"};

constexpr std::string_view kOldWindows[] = {
    "TUMBLE",      "TUMBLE_START",    "TUMBLE_END",      "TUMBLE_ROWTIME", "HOP",
    "HOP_START",   "HOP_END",         "HOP_ROWTIME",     "SESSION",        "SESSION_START",
    "SESSION_END", "SESSION_ROWTIME", "TUMBLE_PROCTIME", "HOP_PROCTIME",   "SESSION_PROCTIME"};

// Those that bind_special.cc knows; here for suggestions.
constexpr std::string_view kSpecials[] = {"IF",
                                          "IFNULL",
                                          "NULLIF",
                                          "COALESCE",
                                          "GREATEST",
                                          "LEAST",
                                          "TRIM",
                                          "LTRIM",
                                          "RTRIM",
                                          "BTRIM",
                                          "ABS",
                                          "SIGN",
                                          "ROUND",
                                          "TRUNCATE",
                                          "MOD",
                                          "FLOOR",
                                          "CEIL",
                                          "POWER",
                                          "EXTRACT",
                                          "YEAR",
                                          "QUARTER",
                                          "MONTH",
                                          "WEEK",
                                          "DAYOFYEAR",
                                          "DAYOFMONTH",
                                          "DAYOFWEEK",
                                          "HOUR",
                                          "MINUTE",
                                          "SECOND",
                                          "TIMESTAMPDIFF",
                                          "TIMESTAMPADD",
                                          "TO_TIMESTAMP_LTZ",
                                          "REGEXP_EXTRACT",
                                          "POSITION",
                                          "SUBSTRING",
                                          "LOCATE",
                                          "INSTR",
                                          "CAST",
                                          "TRY_CAST",
                                          "COUNT",
                                          "SUM",
                                          "AVG",
                                          "MIN",
                                          "MAX"};

template <size_t N>
bool Has(const std::string_view (&list)[N], std::string_view name) {
  for (const std::string_view entry : list) {
    if (entry == name) return true;
  }
  return false;
}

}  // namespace

bool IsAggregate(std::string_view upper) { return Has(kAggregates, upper); }

const ExprAst* FindAggregate(const ExprAst& ast) {
  if (ast.kind == ExprAst::Kind::kCall && IsAggregate(ast.name)) return &ast;
  for (const ExprAstPtr& arg : ast.args) {
    if (const ExprAst* found = FindAggregate(*arg)) return found;
  }
  return nullptr;
}

ExprPtr ExprBinder::BindCall(const ExprAst& ast) {
  static constexpr FunctionDef kFunctions[] = {
      {"UPPER", Fn::kUpper, "s", FunctionDef::kText},
      {"LOWER", Fn::kLower, "s", FunctionDef::kText},
      {"INITCAP", Fn::kInitcap, "s", FunctionDef::kText},
      {"REVERSE", Fn::kReverse, "s", FunctionDef::kText},
      {"REPEAT", Fn::kRepeat, "si", FunctionDef::kText},
      {"LEFT", Fn::kLeft, "si", FunctionDef::kText},
      {"RIGHT", Fn::kRight, "si", FunctionDef::kText},
      {"LPAD", Fn::kLpad, "sis", FunctionDef::kText, true},
      {"RPAD", Fn::kRpad, "sis", FunctionDef::kText, true},
      {"SUBSTRING", Fn::kSubstring, "si?i", FunctionDef::kText},
      {"POSITION", Fn::kPosition, "ss", FunctionDef::kInt},
      {"LOCATE", Fn::kPosition, "ss", FunctionDef::kInt},
      {"REPLACE", Fn::kReplace, "sss", FunctionDef::kText},
      {"SPLIT_INDEX", Fn::kSplitIndex, "ssi", FunctionDef::kText, true},
      {"CONCAT", Fn::kConcat, "s*", FunctionDef::kText},
      {"CONCAT_WS", Fn::kConcatWs, "ss*", FunctionDef::kText},
      {"CHAR_LENGTH", Fn::kCharLength, "s", FunctionDef::kInt},
      {"CHARACTER_LENGTH", Fn::kCharLength, "s", FunctionDef::kInt},
      {"LENGTH", Fn::kCharLength, "s", FunctionDef::kInt},
      {"OCTET_LENGTH", Fn::kOctetLength, "x", FunctionDef::kInt},
      {"STARTSWITH", Fn::kStartsWith, "ss", FunctionDef::kBool},
      {"ENDSWITH", Fn::kEndsWith, "ss", FunctionDef::kBool},
      {"REGEXP", Fn::kRegexp, "sR", FunctionDef::kBool},
      {"REGEXP_REPLACE", Fn::kRegexpReplace, "sRs", FunctionDef::kText},
      {"SQRT", Fn::kSqrt, "d", FunctionDef::kDouble},
      {"EXP", Fn::kExp, "d", FunctionDef::kDouble},
      {"LN", Fn::kLn, "d", FunctionDef::kDouble},
      {"LOG10", Fn::kLog10, "d", FunctionDef::kDouble},
      {"LOG2", Fn::kLog2, "d", FunctionDef::kDouble},
      {"POWER", Fn::kPower, "dd", FunctionDef::kDouble},
      {"ABS", Fn::kAbs, "n", FunctionDef::kFirst},
      {"SIGN", Fn::kSign, "n", FunctionDef::kFirst},
      {"DATE_FORMAT", Fn::kDateFormat, "tP", FunctionDef::kText},
      {"TO_TIMESTAMP", Fn::kToTimestamp, "s?P", FunctionDef::kTimestamp3},
      {"TO_DATE", Fn::kToDate, "s?P", FunctionDef::kDate},
      {"UNIX_TIMESTAMP", Fn::kUnixTimestamp, "s?P", FunctionDef::kBigInt},
      {"MD5", Fn::kMd5, "x", FunctionDef::kText},
      {"SHA256", Fn::kSha256, "x", FunctionDef::kText},
      {"TO_BASE64", Fn::kToBase64, "x", FunctionDef::kText},
      {"FROM_BASE64", Fn::kFromBase64, "s", FunctionDef::kText},
  };
  if (ast.name.empty()) return nullptr;  // refused by the parser
  if (ast.filter != nullptr && !IsAggregate(ast.name)) {
    diagnostics_.Error(ast.filter->at, "FILTER belongs to an aggregate, " + ast.name + " is none");
  }
  ExprPtr out;
  if (BindSpecial(ast, &out)) return out;
  for (const FunctionDef& def : kFunctions) {
    if (def.name == ast.name) return BindSimple(ast, def);
  }
  // What is wrong in the arguments is worth knowing too.
  Args ignored;
  if (!Has(kOldWindows, ast.name) && !IsAggregate(ast.name)) BindArgs(ast, &ignored);
  std::vector<std::string_view> names;
  for (const FunctionDef& def : kFunctions) names.push_back(def.name);
  names.insert(names.end(), std::begin(kSpecials), std::end(kSpecials));
  const std::string hint = DidYouMean(ast.name, names);
  if (!hint.empty() && !Has(kOldWindows, ast.name) && !IsAggregate(ast.name) &&
      !Has(kLater, ast.name) && !Has(kUnrepeatable, ast.name)) {
    diagnostics_.Error(ast.at, "unknown function " + ast.parts[0].text, hint);
    return nullptr;
  }
  return UnknownFunction(ast);
}

ExprPtr ExprBinder::UnknownFunction(const ExprAst& ast) {
  if (ast.name == "CURRENT_WATERMARK") {
    diagnostics_.Error(ast.at, "CURRENT_WATERMARK would differ from what the window decides",
                       "use LATE(view): the window decides once");
  } else if (Has(kUnrepeatable, ast.name)) {
    diagnostics_.Error(ast.at,
                       ast.name + "() would differ when rows are read again after a restart",
                       "use the event's own columns");
  } else if (IsAggregate(ast.name)) {
    diagnostics_.Error(ast.at, ast.name + " is an aggregate and has no place here",
                       "aggregates stand in the SELECT list and in HAVING of a query with GROUP BY "
                       "window_start, window_end");
  } else if (Has(kOldWindows, ast.name)) {
    const std::string window = ast.name.substr(0, ast.name.find('_'));
    diagnostics_.Error(ast.at, ast.name + "(..) is the old Flink syntax of group windows",
                       "write FROM " + window +
                           "(TABLE t, DESCRIPTOR(ts), INTERVAL ..) GROUP BY window_start, "
                           "window_end and select window_start or window_end");
  } else if (Has(kLater, ast.name)) {
    diagnostics_.Error(ast.at, NotInThisVersion("the function " + ast.name));
  } else {
    diagnostics_.Error(ast.at, "unknown function " + ast.parts[0].text);
  }
  return nullptr;
}

bool ExprBinder::CheckCount(const ExprAst& ast, size_t low, size_t high) {
  const size_t count = ast.args.size();
  if (count >= low && count <= high && !ast.star_argument) return true;
  std::string wanted = std::to_string(low);
  if (high == SIZE_MAX) {
    wanted = "at least " + wanted;
  } else if (high != low) {
    wanted += " to " + std::to_string(high);
  }
  if (ast.name == "UNIX_TIMESTAMP" && count == 0) {
    diagnostics_.Error(ast.at,
                       "UNIX_TIMESTAMP() is the wall clock: it would differ when rows are "
                       "read again after a restart",
                       "UNIX_TIMESTAMP(text) reads a text");
    return false;
  }
  diagnostics_.Error(ast.at, ast.name + " takes " + wanted +
                                 (wanted == "1" ? " argument, not " : " arguments, not ") +
                                 (ast.star_argument ? "*" : std::to_string(count)));
  return false;
}

ExprPtr ExprBinder::WrongArgument(const ExprAst& call, size_t index, std::string_view wanted,
                                  const Expr& arg) {
  diagnostics_.Error(index < call.args.size() ? call.args[index]->at : call.at,
                     "argument " + std::to_string(index + 1) + " of " + call.name + " is " +
                         std::string(wanted) + ", not " + Shown(arg.type),
                     arg.type.kind == TypeKind::kInterval ? "" : "write CAST(.. AS ..)");
  return nullptr;
}

// A pattern must be a literal: it is compiled once, and a mistake in it is found now.
bool ExprBinder::CheckPattern(const ExprAst& call, char code, const Expr& arg) {
  if (arg.type.kind == TypeKind::kString && arg.kind == Expr::Kind::kLiteral && !arg.literal.null) {
    Status status;
    if (code == 'P') {
      const Result<TimePattern> pattern = TimePattern::Compile(arg.literal.text);
      if (!pattern) status = pattern.error();
    } else {
      status = CheckRegex(arg.literal.text);
    }
    if (status.ok()) return true;
    const std::string what =
        code == 'P' ? call.name : "the pattern '" + arg.literal.text + "' of " + call.name;
    diagnostics_.Error(arg.position,
                       what + (code == 'P' ? ": " : " is wrong: ") + status.message());
    return false;
  }
  diagnostics_.Error(arg.position, "the pattern of " + call.name + " must be a text literal");
  return false;
}

bool ExprBinder::CheckArgument(const ExprAst& call, size_t index, char code, ExprPtr& arg) {
  const Type& type = arg->type;
  std::string_view wanted;
  bool ok = true;
  Type target = type;
  switch (code) {
    case 's':
    case 'P':
    case 'R':
      ok = type.kind == TypeKind::kString;
      wanted = "a text";
      target = Type::Of(TypeKind::kString);
      break;
    case 'x':
      ok = type.kind == TypeKind::kString || type.kind == TypeKind::kBytes;
      wanted = "a text or BYTES";
      target = Type::Of(TypeKind::kString);
      break;
    case 'i':
      ok = type.IsInteger();
      wanted = "a whole number";
      target = Type::Of(TypeKind::kInt);
      break;
    case 'n':
    case 'd':
      ok = type.IsNumeric();
      wanted = "a number";
      target = Type::Of(TypeKind::kDouble);
      break;
    case 't':
      ok = type.IsTimestamp() || type.kind == TypeKind::kDate;
      wanted = "a timestamp";
      target = Type::Timestamp(3);
      break;
    default:
      break;
  }
  const bool untyped = type.kind == TypeKind::kNull;
  if (!ok && !untyped) {
    WrongArgument(call, index, wanted, *arg);
    return false;
  }
  if (untyped || code == 'd') arg = Coerce(std::move(arg), target);
  if (code == 't' && arg->type.kind == TypeKind::kDate) {
    arg = Coerce(std::move(arg), Type::Timestamp(0));
  }
  return (code != 'P' && code != 'R') || CheckPattern(call, code, *arg);
}

ExprPtr ExprBinder::BindSimple(const ExprAst& ast, const FunctionDef& def) {
  std::string codes;
  size_t low = 0;
  bool optional = false;
  bool repeat = false;
  for (const char c : def.args) {
    if (c == '?') {
      optional = true;
    } else if (c == '*') {
      repeat = true;
    } else {
      codes += c;
      low += optional ? 0 : 1;
    }
  }
  if (!CheckCount(ast, low, repeat ? SIZE_MAX : codes.size())) {
    Args ignored;
    BindArgs(ast, &ignored);
    return nullptr;
  }
  Args args;
  if (!BindArgs(ast, &args)) return nullptr;
  bool nullable = def.may_be_null;
  for (size_t i = 0; i < args.size(); ++i) {
    const char code = i < codes.size() ? codes[i] : codes.back();
    if (!CheckArgument(ast, i, code, args[i])) return nullptr;
    nullable = nullable || args[i]->type.nullable;
  }
  Type type;
  switch (def.result) {
    case FunctionDef::kText:
      type = Type::Of(TypeKind::kString);
      break;
    case FunctionDef::kInt:
      type = Type::Of(TypeKind::kInt);
      break;
    case FunctionDef::kBigInt:
      type = Type::Of(TypeKind::kBigInt);
      break;
    case FunctionDef::kDouble:
      type = Type::Of(TypeKind::kDouble);
      break;
    case FunctionDef::kBool:
      type = Type::Of(TypeKind::kBoolean);
      break;
    case FunctionDef::kDate:
      type = Type::Of(TypeKind::kDate);
      break;
    case FunctionDef::kTimestamp3:
      type = Type::Timestamp(3);
      break;
    case FunctionDef::kFirst:
      type = args[0]->type;
      break;
  }
  type.nullable = nullable;
  return plan::MakeCall(def.fn, type, std::move(args), ast.at);
}

}  // namespace weir::sql
