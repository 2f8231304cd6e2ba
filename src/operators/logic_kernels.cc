// Three-valued logic, and the conditional functions that are lazy: AND, OR, CASE, COALESCE, NULLIF.
#include "operators/kernels.h"

namespace weir::operators {
namespace {

using plan::Fn;

// Copies one value of one row between columns of the same physical type.
void CopyRows(const Column& from, Column& to, Rows rows) {
  const auto copy = [&](const auto& source, auto& target) {
    for (uint32_t r : rows) {
      to.valid[r] = from.valid[r];
      if (from.valid[r]) target[r] = source[r];
    }
  };
  switch (to.type.physical()) {
    case Physical::kBool:
      copy(from.bools, to.bools);
      return;
    case Physical::kInt64:
      copy(from.ints, to.ints);
      return;
    case Physical::kDouble:
      copy(from.doubles, to.doubles);
      return;
    case Physical::kInt128:
      copy(from.decimals, to.decimals);
      return;
    case Physical::kString:
      copy(from.strings, to.strings);
      return;
  }
}

// AND and OR. A row that has met the deciding value (FALSE for AND, TRUE for OR) goes no further.
class JunctionKernel final : public Kernel {
 public:
  JunctionKernel(const Type& type, Args args, bool deciding)
      : Kernel(type), args_(std::move(args)), deciding_(deciding) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    result_.Resize(batch.rows());
    for (uint32_t r : rows) {
      result_.valid[r] = 1;
      result_.bools[r] = !deciding_;
    }
    pending_.assign(rows.begin(), rows.end());
    for (const KernelPtr& arg : args_) {
      if (pending_.empty()) break;
      const Column& column = arg->Evaluate(batch, pending_, state);
      size_t kept = 0;
      for (uint32_t r : pending_) {
        if (state.errors.failed(r)) continue;
        if (column.valid[r] && (column.bools[r] != 0) == deciding_) {
          result_.valid[r] = 1;
          result_.bools[r] = deciding_;
          continue;
        }
        if (!column.valid[r]) result_.valid[r] = 0;
        pending_[kept++] = r;
      }
      pending_.resize(kept);
    }
    return result_;
  }

 private:
  Args args_;
  bool deciding_;
  std::vector<uint32_t> pending_;
};

// IS [NOT] NULL, IS [NOT] TRUE, IS [NOT] FALSE: what a NULL, a TRUE and a FALSE become.
class TruthTestKernel final : public ArgumentsKernel {
 public:
  TruthTestKernel(const Type& type, Args args, bool any_type, bool on_null, bool on_true,
                  bool on_false)
      : ArgumentsKernel(type, std::move(args)),
        any_type_(any_type),
        on_null_(on_null),
        on_true_(on_true),
        on_false_(on_false) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    rows = EvaluateArguments(batch, rows, state);
    result_.Resize(batch.rows());
    const Column& in = *columns_[0];
    for (uint32_t r : rows) {
      result_.valid[r] = 1;
      if (!in.valid[r]) {
        result_.bools[r] = on_null_;
      } else {
        result_.bools[r] = any_type_ || in.bools[r] ? on_true_ : on_false_;
      }
    }
    return result_;
  }

 private:
  bool any_type_, on_null_, on_true_, on_false_;
};

class CaseKernel final : public Kernel {
 public:
  CaseKernel(const Type& type, Args args) : Kernel(type), args_(std::move(args)) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    result_.Resize(batch.rows());
    rest_.assign(rows.begin(), rows.end());
    size_t i = 0;
    for (; i + 1 < args_.size() && !rest_.empty(); i += 2) {
      const Column& condition = args_[i]->Evaluate(batch, rest_, state);
      taken_.clear();
      size_t kept = 0;
      for (uint32_t r : rest_) {
        if (state.errors.failed(r)) continue;
        if (condition.valid[r] && condition.bools[r]) {
          taken_.push_back(r);
        } else {
          rest_[kept++] = r;
        }
      }
      rest_.resize(kept);
      Take(i + 1, batch, taken_, state);
    }
    if (!rest_.empty()) Take(args_.size() - 1, batch, rest_, state);
    return result_;
  }

 private:
  void Take(size_t arg, const Batch& batch, Rows rows, EvalState& state) {
    if (rows.empty()) return;
    const size_t errors = state.errors.size();
    const Column& value = args_[arg]->Evaluate(batch, rows, state);
    CopyRows(value, result_, WithoutFailed(rows, errors, state.errors, survivors_));
  }
  Args args_;
  std::vector<uint32_t> rest_, taken_, survivors_;
};

class CoalesceKernel final : public Kernel {
 public:
  CoalesceKernel(const Type& type, Args args) : Kernel(type), args_(std::move(args)) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    result_.Resize(batch.rows());
    rest_.assign(rows.begin(), rows.end());
    for (const KernelPtr& arg : args_) {
      if (rest_.empty()) break;
      const size_t errors = state.errors.size();
      const Column& value = arg->Evaluate(batch, rest_, state);
      const Rows good = WithoutFailed(rest_, errors, state.errors, survivors_);
      CopyRows(value, result_, good);
      next_.clear();
      for (uint32_t r : good) {
        if (!value.valid[r]) next_.push_back(r);
      }
      rest_.swap(next_);
    }
    return result_;
  }

 private:
  Args args_;
  std::vector<uint32_t> rest_, next_, survivors_;
};

// NULLIF(a, b): `equal` compares the two arguments; b is evaluated where a is not NULL.
class NullIfKernel final : public Kernel {
 public:
  NullIfKernel(const Type& type, Args args) : Kernel(type), args_(std::move(args)) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    result_.Resize(batch.rows());
    size_t errors = state.errors.size();
    const Column& a = args_[0]->Evaluate(batch, rows, state);
    rows = WithoutFailed(rows, errors, state.errors, survivors_);
    CopyRows(a, result_, rows);
    not_null_.clear();
    for (uint32_t r : rows) {
      if (a.valid[r]) not_null_.push_back(r);
    }
    errors = state.errors.size();
    const Column& b = args_[1]->Evaluate(batch, not_null_, state);
    for (uint32_t r : WithoutFailed(not_null_, errors, state.errors, survivors_)) {
      if (b.valid[r] && Equal(a, b, r)) result_.valid[r] = 0;
    }
    return result_;
  }

 private:
  static bool Equal(const Column& a, const Column& b, uint32_t r) {
    switch (a.type.physical()) {
      case Physical::kBool:
        return (a.bools[r] != 0) == (b.bools[r] != 0);
      case Physical::kInt64:
        return a.ints[r] == b.ints[r];
      case Physical::kDouble:
        return a.doubles[r] == b.doubles[r] ||
               (a.doubles[r] != a.doubles[r] && b.doubles[r] != b.doubles[r]);
      case Physical::kInt128:
        return a.decimals[r] == b.decimals[r];
      case Physical::kString:
        return a.strings[r] == b.strings[r];
    }
    return false;
  }
  Args args_;
  std::vector<uint32_t> not_null_, survivors_;
};

bool AllBoolean(const Args& args) {
  for (const KernelPtr& a : args) {
    if (a->type().physical() != Physical::kBool && a->type().kind != TypeKind::kNull) return false;
  }
  return true;
}

KernelPtr MakeTruthTest(const Call& call, Args& args) {
  const auto make = [&](bool any, bool on_null, bool on_true, bool on_false) {
    return std::make_unique<TruthTestKernel>(call.type, std::move(args), any, on_null, on_true,
                                             on_false);
  };
  switch (call.fn) {
    case Fn::kIsNull:
      return make(true, true, false, false);
    case Fn::kIsNotNull:
      return make(true, false, true, true);
    case Fn::kIsTrue:
      return make(false, false, true, false);
    case Fn::kIsNotTrue:
      return make(false, true, false, true);
    case Fn::kIsFalse:
      return make(false, false, false, true);
    case Fn::kIsNotFalse:
      return make(false, true, true, false);
    default:
      return nullptr;
  }
}

// The branches of a lazy function, each as the result's physical type: a NULL literal has no type
// of its own.
Status ConvertBranches(const Call& call, Args& args, size_t first, size_t step) {
  for (size_t i = first; i < args.size(); i += step) {
    WEIR_ASSIGN_OR_RETURN(args[i], ConvertTo(std::move(args[i]), call.type, call.zone));
  }
  return Status::Ok();
}

}  // namespace

Result<KernelPtr> MakeLogic(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kAnd:
    case Fn::kOr:
    case Fn::kNot:
      for (KernelPtr& arg : args) {
        WEIR_ASSIGN_OR_RETURN(arg,
                              ConvertTo(std::move(arg), Type::Of(TypeKind::kBoolean), call.zone));
      }
      if (args.empty() || !AllBoolean(args)) return BadArguments(call);
      if (call.fn == Fn::kNot) {
        return Strict<uint8_t, uint8_t>(call.type, std::move(args),
                                        [](OpState&, uint8_t a, uint8_t* out) {
                                          *out = !a;
                                          return Outcome::kValue;
                                        });
      }
      return std::make_unique<JunctionKernel>(call.type, std::move(args), call.fn == Fn::kOr);
    case Fn::kIsTrue:
    case Fn::kIsNotTrue:
    case Fn::kIsFalse:
    case Fn::kIsNotFalse:
      if (args.size() != 1 || !AllBoolean(args)) return BadArguments(call);
      return MakeTruthTest(call, args);
    case Fn::kIsNull:
    case Fn::kIsNotNull:
      if (args.size() != 1) return BadArguments(call);
      return MakeTruthTest(call, args);
    case Fn::kCase: {
      if (args.size() < 3 || args.size() % 2 == 0) return BadArguments(call);
      KernelPtr otherwise = std::move(args.back());
      args.pop_back();
      WEIR_RETURN_IF_ERROR(ConvertBranches(call, args, 1, 2));
      WEIR_ASSIGN_OR_RETURN(otherwise, ConvertTo(std::move(otherwise), call.type, call.zone));
      for (size_t i = 0; i < args.size(); i += 2) {
        WEIR_ASSIGN_OR_RETURN(
            args[i], ConvertTo(std::move(args[i]), Type::Of(TypeKind::kBoolean), call.zone));
      }
      args.push_back(std::move(otherwise));
      return std::make_unique<CaseKernel>(call.type, std::move(args));
    }
    case Fn::kCoalesce:
      if (args.empty()) return BadArguments(call);
      WEIR_RETURN_IF_ERROR(ConvertBranches(call, args, 0, 1));
      return std::make_unique<CoalesceKernel>(call.type, std::move(args));
    case Fn::kNullIf:
      if (args.size() != 2) return BadArguments(call);
      WEIR_RETURN_IF_ERROR(ConvertBranches(call, args, 0, 1));
      return std::make_unique<NullIfKernel>(call.type, std::move(args));
    default:
      return nullptr;
  }
}

}  // namespace weir::operators
