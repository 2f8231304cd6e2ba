// Small pieces that the parts of ExprBinder share.
#ifndef WEIR_SQL_EXPR_PARTS_H_
#define WEIR_SQL_EXPR_PARTS_H_

#include <utility>
#include <vector>

#include "plan/expr.h"

namespace weir::sql {

inline Type BooleanType(bool nullable) {
  Type t = Type::Of(TypeKind::kBoolean);
  t.nullable = nullable;
  return t;
}

inline plan::ExprPtr MakeCall(plan::Fn fn, const Type& type, plan::Position at, plan::ExprPtr a,
                              plan::ExprPtr b = nullptr, plan::ExprPtr c = nullptr) {
  std::vector<plan::ExprPtr> args;
  args.push_back(std::move(a));
  if (b != nullptr) args.push_back(std::move(b));
  if (c != nullptr) args.push_back(std::move(c));
  return plan::MakeCall(fn, type, std::move(args), at);
}

inline plan::ExprPtr NullLiteral(const Type& type, plan::Position at) {
  Type nullable = type;
  nullable.nullable = true;
  return plan::MakeLiteral(Value::Null(nullable), at);
}

inline bool IsTimeType(const Type& t) { return t.IsTimestamp() || t.kind == TypeKind::kDate; }

}  // namespace weir::sql

#endif  // WEIR_SQL_EXPR_PARTS_H_
