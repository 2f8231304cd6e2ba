// Comparisons, IN, GREATEST and LEAST. Both sides have one type. Strings compare by byte, which is
// by code point in UTF-8; NaN equals itself and is above all numbers; 0.0 equals -0.0.
#include <algorithm>
#include <cmath>

#include "operators/kernels.h"

namespace weir::operators {
namespace {

using plan::Fn;

// -1, 0, 1.
template <class T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : a > b ? 1 : 0;
}
template <>
int Order(const double& a, const double& b) {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a == b) return 0;
  return std::isnan(a) - std::isnan(b);
}
template <>
int Order(const std::string_view& a, const std::string_view& b) {
  return Order(a.compare(b), 0);
}

template <class T, class Test>
KernelPtr Compare(const Call& call, Args& args, Test test) {
  return Strict<uint8_t, T, T>(call.type, std::move(args),
                               [test](OpState&, const T& a, const T& b, uint8_t* out) {
                                 *out = test(Order(a, b));
                                 return Outcome::kValue;
                               });
}

template <class T>
KernelPtr MakeCompare(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kEq:
      return Compare<T>(call, args, [](int o) { return o == 0; });
    case Fn::kNe:
      return Compare<T>(call, args, [](int o) { return o != 0; });
    case Fn::kLt:
      return Compare<T>(call, args, [](int o) { return o < 0; });
    case Fn::kLe:
      return Compare<T>(call, args, [](int o) { return o <= 0; });
    case Fn::kGt:
      return Compare<T>(call, args, [](int o) { return o > 0; });
    case Fn::kGe:
      return Compare<T>(call, args, [](int o) { return o >= 0; });
    default:
      return nullptr;
  }
}

// a IS [NOT] DISTINCT FROM b: NULL is a value like any other.
template <class T>
class DistinctKernel final : public ArgumentsKernel {
 public:
  DistinctKernel(const Type& type, Args args, bool distinct)
      : ArgumentsKernel(type, std::move(args)), distinct_(distinct) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    rows = EvaluateArguments(batch, rows, state);
    result_.Resize(batch.rows());
    const Column& a = *columns_[0];
    const Column& b = *columns_[1];
    const auto& x = Lane<T>::Of(a);
    const auto& y = Lane<T>::Of(b);
    for (uint32_t r : rows) {
      const bool same = a.valid[r] != b.valid[r] ? false : !a.valid[r] || Order<T>(x[r], y[r]) == 0;
      result_.valid[r] = 1;
      result_.bools[r] = same != distinct_;
    }
    return result_;
  }

 private:
  bool distinct_;
};

// value IN (items): TRUE when one is equal, else NULL when the value or an item is NULL, else
// FALSE.
template <class T>
class InKernel final : public ArgumentsKernel {
 public:
  InKernel(const Type& type, Args args) : ArgumentsKernel(type, std::move(args)) {
    // Many literals: sorted once.
    if (args_.size() < 8) return;
    for (size_t i = 1; i < args_.size(); ++i) {
      if (!args_[i]->literal()) return;
    }
    Batch one;
    one.ResetEmpty(1);
    RowErrors errors;
    errors.Start(1);
    Arena arena(64);
    EvalState state{errors, arena};
    const uint32_t row = 0;
    for (size_t i = 1; i < args_.size(); ++i) {
      const Column& c = args_[i]->Evaluate(one, Rows(&row, 1), state);
      if (c.valid[0]) sorted_.push_back(Lane<T>::Of(c)[0]);
      null_item_ = null_item_ || !c.valid[0];
    }
    std::sort(sorted_.begin(), sorted_.end(), Less);
    literals_ = true;
  }

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    result_.Resize(batch.rows());
    if (literals_) return EvaluateLiterals(batch, rows, state);
    rows = EvaluateArguments(batch, rows, state);
    const Column& value = *columns_[0];
    const auto& values = Lane<T>::Of(value);
    for (uint32_t r : rows) {
      bool null = !value.valid[r];
      bool found = false;
      for (size_t i = 1; i < columns_.size() && !null && !found; ++i) {
        if (columns_[i]->valid[r]) found = Order<T>(values[r], Lane<T>::Of(*columns_[i])[r]) == 0;
      }
      for (size_t i = 1; i < columns_.size() && !found; ++i) null = null || !columns_[i]->valid[r];
      result_.valid[r] = found || !null;
      result_.bools[r] = found;
    }
    return result_;
  }

 private:
  static bool Less(const T& a, const T& b) { return Order<T>(a, b) < 0; }

  const Column& EvaluateLiterals(const Batch& batch, Rows rows, EvalState& state) {
    const size_t errors = state.errors.size();
    const Column& value = args_[0]->Evaluate(batch, rows, state);
    const auto& values = Lane<T>::Of(value);
    for (uint32_t r : WithoutFailed(rows, errors, state.errors, survivors_)) {
      const bool found =
          value.valid[r] && std::binary_search(sorted_.begin(), sorted_.end(), values[r], Less);
      result_.valid[r] = found || (value.valid[r] && !null_item_);
      result_.bools[r] = found;
    }
    return result_;
  }
  bool literals_ = false;
  bool null_item_ = false;
  std::vector<T> sorted_;  // strings live in the literal kernels
};

// GREATEST and LEAST: NULL when any argument is NULL.
template <class T>
class ExtremeKernel final : public ArgumentsKernel {
 public:
  ExtremeKernel(const Type& type, Args args, int wanted)
      : ArgumentsKernel(type, std::move(args)), wanted_(wanted) {}

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    rows = EvaluateArguments(batch, rows, state);
    result_.Resize(batch.rows());
    auto& out = Lane<T>::Of(result_);
    for (uint32_t r : rows) {
      uint8_t valid = columns_[0]->valid[r];
      for (size_t i = 1; i < columns_.size(); ++i) valid &= columns_[i]->valid[r];
      result_.valid[r] = valid;
      if (!valid) continue;
      out[r] = Lane<T>::Of(*columns_[0])[r];
      for (size_t i = 1; i < columns_.size(); ++i) {
        const T& candidate = Lane<T>::Of(*columns_[i])[r];
        if (Order<T>(candidate, out[r]) == wanted_) out[r] = candidate;
      }
    }
    return result_;
  }

 private:
  int wanted_;
};

template <class T>
KernelPtr MakeOf(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kIsDistinctFrom:
    case Fn::kIsNotDistinctFrom:
      return std::make_unique<DistinctKernel<T>>(call.type, std::move(args),
                                                 call.fn == Fn::kIsDistinctFrom);
    case Fn::kIn:
      return std::make_unique<InKernel<T>>(call.type, std::move(args));
    case Fn::kGreatest:
      return std::make_unique<ExtremeKernel<T>>(call.type, std::move(args), 1);
    case Fn::kLeast:
      return std::make_unique<ExtremeKernel<T>>(call.type, std::move(args), -1);
    default:
      return MakeCompare<T>(call, args);
  }
}

// The type in which the arguments are compared: that of the first one that has a type.
const Type* ComparedType(const Args& args) {
  for (const KernelPtr& a : args) {
    if (a->type().kind != TypeKind::kNull) return &a->type();
  }
  return nullptr;
}

}  // namespace

Result<KernelPtr> MakeComparison(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kEq:
    case Fn::kNe:
    case Fn::kLt:
    case Fn::kLe:
    case Fn::kGt:
    case Fn::kGe:
    case Fn::kIsDistinctFrom:
    case Fn::kIsNotDistinctFrom:
      if (args.size() != 2) return BadArguments(call);
      break;
    case Fn::kIn:
    case Fn::kGreatest:
    case Fn::kLeast:
      if (args.empty()) return BadArguments(call);
      break;
    default:
      return nullptr;
  }
  const Type* found = ComparedType(args);
  const Type type = found ? *found : Type::Of(TypeKind::kBoolean);
  for (KernelPtr& arg : args) {
    WEIR_ASSIGN_OR_RETURN(arg, ConvertTo(std::move(arg), type, call.zone));
    // Decimals and timestamps of another scale hold other numbers for the same value.
    const Type& t = arg->type();
    if (t.physical() != type.physical()) return BadArguments(call);
    if (type.kind == TypeKind::kDecimal && t.scale != type.scale) return BadArguments(call);
    if (type.IsTimestamp() && TicksPerMs(t) != TicksPerMs(type)) return BadArguments(call);
  }
  switch (type.physical()) {
    case Physical::kBool:
      return MakeOf<uint8_t>(call, args);
    case Physical::kInt64:
      return MakeOf<int64_t>(call, args);
    case Physical::kDouble:
      return MakeOf<double>(call, args);
    case Physical::kInt128:
      return MakeOf<Int128>(call, args);
    case Physical::kString:
      return MakeOf<std::string_view>(call, args);
  }
  return BadArguments(call);
}

}  // namespace weir::operators
