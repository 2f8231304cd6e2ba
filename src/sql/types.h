// Type rules: what an operation gives, and what converts into what. Flink's, but where docs/sql.md
// lists a difference.
#ifndef WEIR_SQL_TYPES_H_
#define WEIR_SQL_TYPES_H_

#include <optional>
#include <string>

#include "data/types.h"
#include "plan/expr.h"

namespace weir::sql {

// The type that both convert to without being asked: for comparisons, CASE, COALESCE. Empty when
// there is none.
std::optional<Type> CommonType(const Type& a, const Type& b);
// The result of a op b (kAdd, kSub, kMul, kDiv, kMod) over numbers.
Type ArithmeticType(plan::Fn fn, const Type& a, const Type& b);
// A DECIMAL that holds every value of a number type without fraction; the type itself when it is a
// DECIMAL.
Type AsDecimal(const Type& type);
// CAST(from AS to) exists.
bool CanCast(const Type& from, const Type& to);
// INSERT may convert on its own: Flink's implicit casts that lose nothing but what fits or is a
// dead letter.
bool CanAssign(const Type& from, const Type& to);
// A type in a message: without NOT NULL, which is seldom what is wrong.
std::string Shown(Type type);
// Numbers, strings, times: things with an order.
bool IsOrdered(const Type& type);

// `e` as `type` (nullability stays e's): itself, a converted literal, or a cast.
plan::ExprPtr Coerce(plan::ExprPtr e, const Type& type);

}  // namespace weir::sql

#endif  // WEIR_SQL_TYPES_H_
