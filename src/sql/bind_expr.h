// ExprBinder: an expression's AST over a scope -> a typed plan::Expr, with every implicit
// conversion inserted and every shorthand written out.
#ifndef WEIR_SQL_BIND_EXPR_H_
#define WEIR_SQL_BIND_EXPR_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/timestamp.h"
#include "plan/expr.h"
#include "sql/ast.h"
#include "sql/diagnostics.h"

namespace weir::sql {

struct ScopeColumn {
  std::string table;  // its alias or name
  std::string name;
  Type type;       // kNull: its definition was refused; whoever uses it is not reported again
  int index = -1;  // into the input's schema
  bool rowtime = false;
};

struct Scope {
  std::vector<ScopeColumn> columns;
  // False: a part of it could not be resolved, so that unknown names are not reported.
  bool complete = true;
  // What a hint may say when a name is not found ("" = nothing).
  std::string hint;
  // Names that are no columns here, and what is meant by them.
  std::vector<std::pair<std::string, std::string>> misnomers;
};

// Aliases of the SELECT list, which no other clause knows.
void AddAliasMisnomers(const SelectAst& select, Scope& scope);

class ExprBinder {
 public:
  ExprBinder(Diagnostics& diagnostics, const SessionZone& zone, const Scope& scope)
      : diagnostics_(diagnostics), zone_(zone), scope_(scope) {}
  virtual ~ExprBinder() = default;
  ExprBinder(const ExprBinder&) = delete;
  ExprBinder& operator=(const ExprBinder&) = delete;

  // Null: an error was reported (here or where a poisoned column was defined).
  plan::ExprPtr Bind(const ExprAst& ast);
  // A BOOLEAN; `what` ("WHERE") is for the message.
  plan::ExprPtr BindCondition(const ExprAst& ast, std::string_view what);

 protected:
  // Before anything else is tried. True: handled, *out is the result (null: error reported).
  virtual bool Intercept(const ExprAst&, plan::ExprPtr*) { return false; }
  // The column that a name means, or null: reported.
  const ScopeColumn* FindColumn(const ExprAst& ast);

  Diagnostics& diagnostics_;
  const SessionZone& zone_;
  const Scope& scope_;

 private:
  using Args = std::vector<plan::ExprPtr>;
  struct FunctionDef;

  // bind_expr.cc
  plan::ExprPtr BindColumn(const ExprAst& ast);
  bool BindNiladic(const ExprAst& ast);
  plan::ExprPtr BindUnary(const ExprAst& ast);
  plan::ExprPtr BindBinary(const ExprAst& ast);
  plan::ExprPtr BindLogic(const ExprAst& ast);
  plan::ExprPtr BindArithmetic(const ExprAst& ast, plan::Fn fn);
  plan::ExprPtr BindComparison(plan::Fn fn, plan::ExprPtr a, plan::ExprPtr b, Position at);
  plan::ExprPtr BindTimeArithmetic(plan::Fn fn, plan::ExprPtr a, plan::ExprPtr b, Position at);
  plan::ExprPtr BindMonths(const ExprAst& ast, bool minus);
  plan::ExprPtr BindCase(const ExprAst& ast);
  plan::ExprPtr BindCast(const ExprAst& ast);
  plan::ExprPtr BindIs(const ExprAst& ast);
  plan::ExprPtr BindIn(const ExprAst& ast);
  plan::ExprPtr BindBetween(const ExprAst& ast);
  plan::ExprPtr BindLike(const ExprAst& ast);
  bool BindArgs(const ExprAst& ast, Args* out);
  // Both to their common type; false: reported.
  bool Unify(plan::ExprPtr& a, plan::ExprPtr& b, Position at, std::string_view what);
  bool UnifyAll(std::vector<plan::ExprPtr*> values, Position at, std::string_view what, Type* out);
  plan::ExprPtr FoldTimeText(plan::ExprPtr text, const Type& type);

  // bind_literal.cc
  plan::ExprPtr BindNumber(const ExprAst& ast, bool negative);
  plan::ExprPtr BindTyped(const ExprAst& ast);
  plan::ExprPtr BindInterval(const ExprAst& ast);

  // bind_function.cc, bind_special.cc
  plan::ExprPtr BindCall(const ExprAst& ast);
  plan::ExprPtr UnknownFunction(const ExprAst& ast);
  plan::ExprPtr BindSimple(const ExprAst& ast, const FunctionDef& def);
  bool CheckArgument(const ExprAst& call, size_t index, char code, plan::ExprPtr& arg);
  bool CheckPattern(const ExprAst& call, char code, const plan::Expr& arg);
  bool BindSpecial(const ExprAst& ast, plan::ExprPtr* out);
  plan::ExprPtr BindConditional(const ExprAst& ast);
  plan::ExprPtr BindTrim(const ExprAst& ast, plan::Fn fn);
  plan::ExprPtr BindRounding(const ExprAst& ast);
  plan::ExprPtr BindRoundingTo(const ExprAst& ast);
  plan::ExprPtr BindExtract(const ExprAst& ast, std::string_view unit, const ExprAst& value);
  plan::ExprPtr BindTimestampDiff(const ExprAst& ast);
  plan::ExprPtr BindTimestampAdd(const ExprAst& ast);
  plan::ExprPtr BindToTimestampLtz(const ExprAst& ast);
  plan::ExprPtr BindRegexpExtract(const ExprAst& ast);
  plan::ExprPtr BindInstr(const ExprAst& ast);
  plan::ExprPtr UnitLiteral(const ExprAst& ast, std::string_view allowed);
  bool CheckCount(const ExprAst& ast, size_t low, size_t high);
  plan::ExprPtr WrongArgument(const ExprAst& call, size_t index, std::string_view wanted,
                              const plan::Expr& arg);
};

// Whether a function is an aggregate ("SUM"); `upper` in capitals.
bool IsAggregate(std::string_view upper);
// The first aggregate in the tree, or null.
const ExprAst* FindAggregate(const ExprAst& ast);
inline bool HasAggregate(const ExprAst& ast) { return FindAggregate(ast) != nullptr; }
// The milliseconds of a day-time INTERVAL; false: reported. `months`, when not null, takes a
// year-month interval instead.
bool IntervalMs(const ExprAst& ast, Diagnostics& diagnostics, int64_t* ms, int64_t* months);

}  // namespace weir::sql

#endif  // WEIR_SQL_BIND_EXPR_H_
