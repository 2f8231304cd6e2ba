#include "operators/calc_operator.h"

#include <numeric>
#include <string>

namespace weir::operators {

using flow::Count;

Result<std::unique_ptr<CalcOperator>> CalcOperator::Make(
    const plan::Expr* filter, const std::vector<plan::ExprPtr>& projections, const Schema& input,
    const Schema& output, const SessionZone& zone) {
  if (projections.size() != output.fields.size()) {
    return Fail(Code::kInternal, "calc: projections and output schema differ");
  }
  std::unique_ptr<CalcOperator> calc(new CalcOperator());
  calc->input_ = input;
  calc->output_schema_ = output;
  if (filter) {
    WEIR_ASSIGN_OR_RETURN(calc->filter_, Evaluator::Compile(*filter, input, zone));
    if (calc->filter_->type().physical() != Physical::kBool) {
      return Fail(Code::kInternal, "calc: the filter is not a condition");
    }
  }
  for (size_t i = 0; i < projections.size(); ++i) {
    WEIR_ASSIGN_OR_RETURN(std::unique_ptr<Evaluator> e,
                          Evaluator::Compile(*projections[i], input, zone));
    if (e->type().physical() != output.fields[i].type.physical()) {
      return Fail(Code::kInternal, "calc: column " + output.fields[i].name + " is " +
                                       e->type().ToString() + ", not " +
                                       output.fields[i].type.ToString());
    }
    calc->projections_.push_back(std::move(e));
  }
  return calc;
}

void CalcOperator::DropFailed(size_t errors_before) {
  if (errors_.size() == errors_before) return;
  std::erase_if(rows_, [this](uint32_t r) { return errors_.failed(r); });
}

void CalcOperator::Filter(const Batch& batch) {
  const Column& condition = filter_->Evaluate(batch, rows_, errors_);
  DropFailed(0);
  const size_t before = rows_.size();
  // Branch-free: whether a row passes is rarely predictable.
  size_t kept = 0;
  for (uint32_t r : rows_) {
    rows_[kept] = r;
    kept += static_cast<size_t>((condition.valid[r] != 0) & (condition.bools[r] != 0));
  }
  rows_.resize(kept);
  books_[Count::kFiltered] += before - kept;
}

void CalcOperator::CheckNotNull(const Column& column, const Field& field) {
  const size_t errors = errors_.size();
  for (uint32_t r : rows_) {
    if (!column.valid[r])
      errors_.Add(r, "eval.not-null", "NULL in " + field.name + ", which is NOT NULL");
  }
  DropFailed(errors);
}

void CalcOperator::EmitDead(const Batch& batch, flow::Outputs& out) {
  if (errors_.empty()) return;
  dead_.Clear();
  for (const RowError& e : errors_.TakeInRowOrder()) {
    dead_.AddRow(flow::DeadStage::kEval, e.code, e.message, batch, e.row, input_);
  }
  books_[Count::kDead] += dead_.batch().rows();
  out.Dead(dead_.batch());
}

void CalcOperator::Push(const Batch& batch, flow::Outputs& out) {
  books_[Count::kIn] += batch.selected_count();
  if (batch.has_selection()) {
    rows_.assign(batch.selection().begin(), batch.selection().end());
  } else {
    rows_.resize(batch.rows());
    std::iota(rows_.begin(), rows_.end(), 0u);
  }
  errors_.Start(batch.rows());
  if (filter_) Filter(batch);
  output_.ResetEmpty(batch.rows());
  for (size_t i = 0; i < projections_.size(); ++i) {
    const size_t errors = errors_.size();
    const Column& column = projections_[i]->Evaluate(batch, rows_, errors_);
    DropFailed(errors);
    const Field& field = output_schema_.fields[i];
    if (!field.type.nullable) CheckNotNull(column, field);
    output_.Borrow(column);
  }
  // A batch without rows still tells a window how time went on (WatermarkTrail).
  if (!rows_.empty() || !batch.watermarks.empty()) {
    output_.InheritProvenance(batch);
    books_[Count::kOut] += rows_.size();
    if (rows_.size() < batch.rows()) output_.SetSelection(rows_);
    out.Main(output_);
  }
  EmitDead(batch, out);
}

}  // namespace weir::operators
