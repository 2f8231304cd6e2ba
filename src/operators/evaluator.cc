#include "operators/evaluator.h"

#include <algorithm>

#include "operators/kernels.h"

namespace weir::operators {
namespace {

using plan::Expr;
using plan::Fn;

class ColumnKernel final : public Kernel {
 public:
  ColumnKernel(int column, const Type& type) : Kernel(type), column_(static_cast<size_t>(column)) {}
  const Column& Evaluate(const Batch& batch, Rows, EvalState&) override {
    return batch.column(column_);
  }

 private:
  size_t column_;
};

class LiteralKernel final : public Kernel {
 public:
  explicit LiteralKernel(Value value) : Kernel(value.type), value_(std::move(value)) {}
  const Value* literal() const override { return &value_; }
  const Column& Evaluate(const Batch& batch, Rows, EvalState&) override {
    // Filled once for the largest batch; it stays filled.
    const size_t before = result_.size();
    if (before < batch.rows()) Fill(before, batch.rows());
    return result_;
  }

 private:
  void Fill(size_t from, size_t to) {
    result_.Resize(to);
    std::fill(result_.valid.begin() + static_cast<ptrdiff_t>(from), result_.valid.end(),
              value_.null ? 0 : 1);
    if (value_.null) return;
    for (size_t i = from; i < to; ++i) {
      switch (value_.type.physical()) {
        case Physical::kBool:
          result_.bools[i] = value_.boolean;
          break;
        case Physical::kInt64:
          result_.ints[i] = value_.integer;
          break;
        case Physical::kDouble:
          result_.doubles[i] = value_.number;
          break;
        case Physical::kInt128:
          result_.decimals[i] = value_.decimal;
          break;
        case Physical::kString:
          result_.strings[i] = value_.text;
          break;
      }
    }
  }
  Value value_;
};

Value ValueAt(const Column& column, uint32_t row) {
  Value v = Value::Null(column.type);
  if (column.IsNull(row)) return v;
  v.null = false;
  switch (column.type.physical()) {
    case Physical::kBool:
      v.boolean = column.bools[row] != 0;
      break;
    case Physical::kInt64:
      v.integer = column.ints[row];
      break;
    case Physical::kDouble:
      v.number = column.doubles[row];
      break;
    case Physical::kInt128:
      v.decimal = column.decimals[row];
      break;
    case Physical::kString:
      v.text = std::string(column.strings[row]);
      break;
  }
  return v;
}

// A call whose arguments are all literals becomes a literal, unless it fails: then the error must
// wait for a row that reaches it.
KernelPtr Fold(KernelPtr kernel) {
  Batch one;
  one.ResetEmpty(1);
  RowErrors errors;
  errors.Start(1);
  Arena arena(1 << 10);
  EvalState state{errors, arena};
  const uint32_t row = 0;
  const Column& column = kernel->Evaluate(one, Rows(&row, 1), state);
  if (!errors.empty()) return kernel;
  Value value = ValueAt(column, 0);
  value.type = kernel->type();
  return MakeLiteralKernel(std::move(value));
}

Result<KernelPtr> CompileCall(const Call& call, Args& args) {
  using Make = Result<KernelPtr> (*)(const Call&, Args&);
  constexpr Make kThemes[] = {MakeLogic, MakeComparison, MakeArithmetic, MakeCast,
                              MakeText,  MakePattern,    MakeMath,       MakeTime};
  for (Make make : kThemes) {
    WEIR_ASSIGN_OR_RETURN(KernelPtr kernel, make(call, args));
    if (kernel) return kernel;
  }
  return BadArguments(call);
}

Result<KernelPtr> CompileExpr(const Expr& expr, const Schema& input, const SessionZone& zone) {
  switch (expr.kind) {
    case Expr::Kind::kColumn: {
      if (expr.column < 0 || static_cast<size_t>(expr.column) >= input.fields.size()) {
        return Fail(Code::kInternal,
                    "column " + std::to_string(expr.column) + " is not in the input");
      }
      // The type of the input: the column itself says what it holds.
      return MakeColumnKernel(expr.column, input.fields[static_cast<size_t>(expr.column)].type);
    }
    case Expr::Kind::kLiteral: {
      Value value = expr.literal;
      value.type = expr.type;
      return MakeLiteralKernel(std::move(value));
    }
    case Expr::Kind::kCall:
      break;
  }
  Args args;
  bool literals = true;
  for (const plan::ExprPtr& arg : expr.args) {
    WEIR_ASSIGN_OR_RETURN(KernelPtr kernel, CompileExpr(*arg, input, zone));
    literals = literals && kernel->literal() != nullptr;
    args.push_back(std::move(kernel));
  }
  WEIR_ASSIGN_OR_RETURN(KernelPtr kernel, CompileCall(Call{expr.fn, expr.type, zone}, args));
  return literals ? Fold(std::move(kernel)) : std::move(kernel);
}

}  // namespace

KernelPtr MakeLiteralKernel(Value value) {
  return std::make_unique<LiteralKernel>(std::move(value));
}
KernelPtr MakeColumnKernel(int column, const Type& type) {
  return std::make_unique<ColumnKernel>(column, type);
}

void RowErrors::Start(uint32_t rows) {
  for (const RowError& e : errors_) {
    if (e.row < failed_.size()) failed_[e.row] = 0;
  }
  errors_.clear();
  if (failed_.size() < rows) failed_.resize(rows, 0);
}

void RowErrors::Add(uint32_t row, std::string_view code, std::string_view message) {
  if (failed_[row]) return;
  failed_[row] = 1;
  errors_.push_back({row, std::string(code), std::string(message)});
}

std::vector<RowError> RowErrors::TakeInRowOrder() {
  for (const RowError& e : errors_) failed_[e.row] = 0;
  std::vector<RowError> taken = std::move(errors_);
  errors_.clear();
  std::sort(taken.begin(), taken.end(),
            [](const RowError& a, const RowError& b) { return a.row < b.row; });
  return taken;
}

Evaluator::Evaluator() = default;
Evaluator::~Evaluator() = default;

Result<std::unique_ptr<Evaluator>> Evaluator::Compile(const plan::Expr& expr, const Schema& input,
                                                      const SessionZone& zone) {
  std::unique_ptr<Evaluator> evaluator(new Evaluator());
  WEIR_ASSIGN_OR_RETURN(evaluator->kernel_, CompileExpr(expr, input, zone));
  if (expr.kind == Expr::Kind::kColumn) evaluator->column_ = expr.column;
  return evaluator;
}

const Column& Evaluator::Evaluate(const Batch& batch, std::span<const uint32_t> rows,
                                  RowErrors& errors) {
  arena_.Clear();
  EvalState state{errors, arena_};
  return kernel_->Evaluate(batch, rows, state);
}

const Type& Evaluator::type() const { return kernel_->type(); }

}  // namespace weir::operators
