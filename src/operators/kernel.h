// Kernel: one node of a compiled expression. Evaluates over columns, for a list of rows; results
// lie at each row's own index, in a column that the kernel owns and uses again for the next batch.
// Nothing allocates per row.
//
// A row that fails is added to RowErrors and is not in the lists of what is evaluated after it; its
// slot in the result holds anything. Lazy kernels (AND, CASE, ...) split the list of rows, so that
// an error counts only for a row that reaches it.
#ifndef WEIR_OPERATORS_KERNEL_H_
#define WEIR_OPERATORS_KERNEL_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/batch.h"
#include "data/types.h"
#include "operators/evaluator.h"

namespace weir::operators {

using Rows = std::span<const uint32_t>;

struct EvalState {
  RowErrors& errors;
  Arena& arena;  // strings of results, until the evaluator's next batch
};

class Kernel {
 public:
  explicit Kernel(const Type& type) : result_(type) {}
  virtual ~Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // Values for `rows` (ascending) but for those that failed.
  virtual const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) = 0;
  // Known when compiling: the same value for every row.
  virtual const Value* literal() const { return nullptr; }
  const Type& type() const { return result_.type; }

 protected:
  Column result_;
};
using KernelPtr = std::unique_ptr<Kernel>;

// `rows` without those that failed since `errors_before`; `scratch` holds the list when there are
// any.
inline Rows WithoutFailed(Rows rows, size_t errors_before, const RowErrors& errors,
                          std::vector<uint32_t>& scratch) {
  if (errors.size() == errors_before) return rows;
  std::vector<uint32_t> kept;
  kept.reserve(rows.size());
  for (uint32_t r : rows) {
    if (!errors.failed(r)) kept.push_back(r);
  }
  scratch = std::move(kept);  // `rows` may lie in scratch
  return scratch;
}

// What an operation says of one row.
enum class Outcome : uint8_t { kValue, kNull, kError };
struct OpState {
  Arena& arena;
  std::string_view code = {};
  std::string message = {};
  Outcome Fail(std::string_view c, std::string m) {
    code = c;
    message = std::move(m);
    return Outcome::kError;
  }
};

inline constexpr std::string_view kOverflow = "eval.overflow";
inline constexpr std::string_view kDivisionByZero = "eval.division-by-zero";
inline constexpr std::string_view kArgument = "eval.argument";
inline constexpr std::string_view kCastError = "eval.cast";

// The vector of a column that holds values of T.
template <class T>
struct Lane;
template <>
struct Lane<uint8_t> {
  static auto& Of(auto& column) { return column.bools; }
};
template <>
struct Lane<int64_t> {
  static auto& Of(auto& column) { return column.ints; }
};
template <>
struct Lane<double> {
  static auto& Of(auto& column) { return column.doubles; }
};
template <>
struct Lane<Int128> {
  static auto& Of(auto& column) { return column.decimals; }
};
template <>
struct Lane<std::string_view> {
  static auto& Of(auto& column) { return column.strings; }
};

// A kernel that evaluates all its arguments first.
class ArgumentsKernel : public Kernel {
 public:
  ArgumentsKernel(const Type& type, std::vector<KernelPtr> args)
      : Kernel(type), args_(std::move(args)), columns_(args_.size()) {}

 protected:
  // Fills columns_; returns the rows for which all arguments have a value.
  Rows EvaluateArguments(const Batch& batch, Rows rows, EvalState& state) {
    for (size_t i = 0; i < args_.size(); ++i) {
      const size_t errors = state.errors.size();
      columns_[i] = &args_[i]->Evaluate(batch, rows, state);
      rows = WithoutFailed(rows, errors, state.errors, survivors_);
    }
    return rows;
  }
  std::vector<KernelPtr> args_;
  std::vector<const Column*> columns_;
  std::vector<uint32_t> survivors_;
};

// Applies `Op` to the rows whose arguments are all not NULL: Outcome op(OpState&, A..., R*). NULL
// for the others.
template <class Op, class R, class... A>
class StrictKernel final : public ArgumentsKernel {
 public:
  StrictKernel(const Type& type, std::vector<KernelPtr> args, Op op)
      : ArgumentsKernel(type, std::move(args)), op_(std::move(op)) {
    WEIR_CHECK(args_.size() == sizeof...(A));
  }

  const Column& Evaluate(const Batch& batch, Rows rows, EvalState& state) override {
    rows = EvaluateArguments(batch, rows, state);
    result_.Resize(batch.rows());
    OpState s{state.arena};
    Run(rows, state, s, std::index_sequence_for<A...>{});
    return result_;
  }

 private:
  template <size_t... I>
  void Run(Rows rows, EvalState& state, OpState& s, std::index_sequence<I...>) {
    const std::array<const uint8_t*, sizeof...(A)> valid{columns_[I]->valid.data()...};
    const std::tuple<const A*...> in{Lane<A>::Of(*columns_[I]).data()...};
    uint8_t* const out_valid = result_.valid.data();
    R* const out = Lane<R>::Of(result_).data();
    for (uint32_t r : rows) {
      if (!(valid[I][r] & ...)) {
        out_valid[r] = 0;
        continue;
      }
      const Outcome outcome = op_(s, std::get<I>(in)[r]..., &out[r]);
      out_valid[r] = outcome == Outcome::kValue;
      if (outcome == Outcome::kError) state.errors.Add(r, s.code, s.message);
    }
  }
  Op op_;
};

// Strict<R, A...>(type, args, op): a StrictKernel of the operation.
template <class R, class... A, class Op>
KernelPtr Strict(const Type& type, std::vector<KernelPtr> args, Op op) {
  return std::make_unique<StrictKernel<Op, R, A...>>(type, std::move(args), std::move(op));
}

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_KERNEL_H_
