// Expr: a bound, typed scalar expression. Made by sql/, compiled into columnar kernels by
// operators/, printed here.
//
// The binder has already inserted every implicit conversion: both sides of a comparison, all
// branches of a CASE and all operands of an arithmetic operation that must share a type do so. It
// has also desugared: BETWEEN, IF, IFNULL, `a <> b`'s operand casts, FILTER (WHERE c) of an
// aggregate (its argument becomes CASE WHEN c THEN arg END), simple CASE, NOT IN, NOT LIKE.
#ifndef WEIR_PLAN_EXPR_H_
#define WEIR_PLAN_EXPR_H_

#include <memory>
#include <string>
#include <vector>

#include "data/types.h"
#include "data/value.h"

namespace weir::plan {

// A place in the SQL file, 1-based; line 0: none. Columns count code points.
struct Position {
  int line = 0;
  int column = 0;
};

// Arguments in order. "lazy": later arguments are evaluated only for the rows that need them, so
// that an error in a branch not taken never counts. All others are strict in evaluation and return
// NULL when an argument is NULL unless said otherwise.
enum class Fn : uint8_t {
  // Logic, three-valued. And/Or: n arguments, lazy left to right (a row decided by FALSE / TRUE
  // goes no further).
  kAnd,
  kOr,
  kNot,
  kIsNull,
  kIsNotNull,
  kIsTrue,
  kIsNotTrue,
  kIsFalse,
  kIsNotFalse,  // never NULL
  kIsDistinctFrom,
  kIsNotDistinctFrom,  // never NULL
  // Comparison: two arguments of one type (strings by code point = by byte; NaN equals itself and
  // is above all).
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kIn,  // (value, item...) same type; NULL by SQL's rule
  // Arithmetic: result type decides the range; integer overflow and division by zero are errors.
  // Operands: integers
  // any widths; decimals with their own scales; doubles. Timestamp +- interval: (timestamp,
  // interval); timestamp - timestamp is TIMESTAMPDIFF only.
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kNeg,
  kTimestampPlusInterval,
  kTimestampMinusInterval,
  // Conditional, lazy.
  kCase,  // (cond1, value1, cond2, value2, ..., else): else always present (NULL literal when not
          // written)
  kCoalesce,  // (a, b, ...)
  kNullIf,    // (a, b)
  kGreatest,
  kLeast,  // NULL when any is NULL (Flink)
  // Conversion to the expression's type. kTryCast: NULL where kCast is an error. A kCast whose type
  // is NOT NULL makes NULL an
  // error too (the binder writes one where a nullable value goes into a NOT NULL column, with equal
  // types otherwise).
  kCast,
  kTryCast,
  // Strings.
  kConcat,
  kConcatWs,  // || and CONCAT; CONCAT_WS(sep, ...) skips NULLs
  kUpper,
  kLower,
  kTrimBoth,
  kTrimLeading,
  kTrimTrailing,  // (s, characters)
  kSubstring,     // (s, start[, length]) code points; Flink's rules for start <= 0
  kPosition,      // (needle, s) -> INT, 1-based, 0 = none
  kReplace,       // (s, from, to)
  kSplitIndex,    // (s, separator, index from 0) -> NULL when there is none
  kLpad,
  kRpad,  // (s, length, pad)
  kLeft,
  kRight,
  kRepeat,
  kReverse,
  kInitcap,
  kCharLength,
  kOctetLength,
  kStartsWith,
  kEndsWith,
  kLike,    // (s, pattern, escape): escape '' = none; pattern and escape literals are checked when
            // binding
  kRegexp,  // (s, pattern) -> BOOLEAN, RE2 partial match
  kRegexpExtract,  // (s, pattern, group) -> NULL without a match
  kRegexpReplace,  // (s, pattern, replacement)
  // Mathematics.
  kAbs,
  kCeil,
  kFloor,
  kRound,
  kTruncate,
  kPower,
  kSqrt,
  kExp,
  kLn,
  kLog10,
  kLog2,
  kSign,
  // Time. `unit` is a STRING literal: YEAR QUARTER MONTH WEEK DAY DOY DOW HOUR MINUTE SECOND
  // MILLISECOND EPOCH.
  kExtract,  // (unit, ts or date) -> BIGINT
  kFloorTo,
  kCeilTo,          // (ts, unit)
  kTimestampDiff,   // (unit, a, b) -> INT: b - a in whole units
  kTimestampAdd,    // (unit, n, ts)
  kDateFormat,      // (ts, pattern literal)
  kToTimestamp,     // (text[, pattern literal]) -> TIMESTAMP(3), NULL is an error here: unparsable
                    // text is an error of the row
  kToTimestampLtz,  // (number, precision 0 | 3) or (text[, pattern])
  kToDate,          // (text[, pattern])
  kUnixTimestamp,   // (text[, pattern literal]) -> BIGINT seconds
  // Digests and encodings.
  kMd5,
  kSha256,
  kToBase64,
  kFromBase64,
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Expr {
  enum class Kind : uint8_t { kColumn, kLiteral, kCall };
  Kind kind = Kind::kLiteral;
  Type type;
  Position position;
  int column = -1;   // kColumn: index into the input schema
  Value literal;     // kLiteral
  Fn fn = Fn::kAnd;  // kCall
  std::vector<ExprPtr> args;

  ExprPtr Clone() const;
};

ExprPtr MakeColumn(int column, const Type& type, Position at);
ExprPtr MakeLiteral(Value value, Position at);
ExprPtr MakeCall(Fn fn, const Type& type, std::vector<ExprPtr> args, Position at);

// Canonical text, the same for the same meaning: `ADD($1, 5:INT):BIGINT`. Part of the fingerprint:
// never changed without a new rule version.
std::string Canonical(const Expr& expr);
// Text for people, with column names.
std::string ToSql(const Expr& expr, const Schema& input);
const char* FnName(Fn fn);  // "SUBSTRING"
// Calls `f` for each column index that the expression reads.
void ForEachColumn(const Expr& expr, void (*f)(int column, void* arg), void* arg);
// Rewrites column indexes: new = map[old].
void RemapColumns(Expr& expr, const std::vector<int>& map);

}  // namespace weir::plan

#endif  // WEIR_PLAN_EXPR_H_
