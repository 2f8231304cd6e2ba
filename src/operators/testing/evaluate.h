// One call of a function over one row, as columns and as literals: for table-driven tests of
// kernels.
#ifndef WEIR_OPERATORS_TESTING_EVALUATE_H_
#define WEIR_OPERATORS_TESTING_EVALUATE_H_

#include <string>
#include <vector>

#include "data/timestamp.h"
#include "operators/testing/rows.h"
#include "plan/expr.h"

namespace weir::operators {

struct Argument {
  Type type;
  std::string text;  // "NULL" is NULL
};

// The value of `column`'s row 0 as a literal.
Value LiteralOf(const Column& column);
plan::ExprPtr Literal(const Type& type, const std::string& text);
plan::ExprPtr Column0(int column, const Type& type);
template <class... E>
plan::ExprPtr CallOf(plan::Fn fn, const Type& type, E... args) {
  std::vector<plan::ExprPtr> list;
  (list.push_back(std::move(args)), ...);
  return plan::MakeCall(fn, type, std::move(list), {});
}

// The result of fn(args) as ShowValue has it, or "! code: message" for an error of the row, or "!!
// message" when it does not compile. `literals`: the arguments are literals instead of columns.
std::string Evaluate(plan::Fn fn, const Type& type, const std::vector<Argument>& args,
                     bool literals, const SessionZone& zone = {});
// Row 0 of `input` under `expr`.
std::string EvaluateExpr(const plan::Expr& expr, const Schema& schema, const TextRow& input,
                         const SessionZone& zone = {});

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_TESTING_EVALUATE_H_
