// The kernels of all functions, by theme. Each Make function takes a call and its compiled
// arguments, and returns null for a function that is not of its theme.
#ifndef WEIR_OPERATORS_KERNELS_H_
#define WEIR_OPERATORS_KERNELS_H_

#include <vector>

#include "base/status.h"
#include "data/timestamp.h"
#include "operators/kernel.h"
#include "plan/expr.h"

namespace weir::operators {

using Args = std::vector<KernelPtr>;

// A call that is being compiled.
struct Call {
  plan::Fn fn;
  const Type& type;  // of the result
  const SessionZone& zone;
};

Result<KernelPtr> MakeLogic(const Call& call,
                            Args& args);  // AND .. IS DISTINCT FROM, CASE, COALESCE, NULLIF
Result<KernelPtr> MakeComparison(const Call& call,
                                 Args& args);  // = <> < <= > >=, IN, GREATEST, LEAST, DISTINCT FROM
Result<KernelPtr> MakeArithmetic(const Call& call,
                                 Args& args);  // + - * / MOD, unary -, timestamp +- interval
Result<KernelPtr> MakeCast(const Call& call, Args& args);
Result<KernelPtr> MakeText(const Call& call, Args& args);     // strings, digests, encodings
Result<KernelPtr> MakePattern(const Call& call, Args& args);  // LIKE and regular expressions
Result<KernelPtr> MakeMath(const Call& call, Args& args);
Result<KernelPtr> MakeTime(const Call& call, Args& args);

KernelPtr MakeLiteralKernel(Value value);
KernelPtr MakeColumnKernel(int column, const Type& type);
// `arg` converted to `type` where it is of another kind; as it is otherwise.
Result<KernelPtr> ConvertTo(KernelPtr arg, const Type& type, const SessionZone& zone);

// The arguments of a call do not have the types that the binder promises: a bug, but not worth a
// crash.
inline tl::unexpected<Status> BadArguments(const Call& call) {
  return Fail(Code::kInternal, std::string("wrong arguments for ") + plan::FnName(call.fn));
}

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_KERNELS_H_
