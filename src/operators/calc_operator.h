// CalcOperator: filter and projections in one pass. The filter decides first; projections see the
// rows that passed. A row that fails, or that has NULL where the output says NOT NULL, leaves as a
// dead letter. A projection that is a plain column is lent on, not copied.
#ifndef WEIR_OPERATORS_CALC_OPERATOR_H_
#define WEIR_OPERATORS_CALC_OPERATOR_H_

#include <memory>
#include <span>
#include <vector>

#include "flow/dead_letters.h"
#include "flow/operator.h"
#include "operators/evaluator.h"
#include "plan/plan.h"

namespace weir::operators {

class CalcOperator final : public flow::Operator {
 public:
  // `filter` may be null. `output`: the names and types of the projections.
  static Result<std::unique_ptr<CalcOperator>> Make(const plan::Expr* filter,
                                                    const std::vector<plan::ExprPtr>& projections,
                                                    const Schema& input, const Schema& output,
                                                    const SessionZone& zone);

  void Push(const Batch& batch, flow::Outputs& out) override;
  // Stateless: time only passes through, and there is nothing to restore, freeze or evict.
  void AdvanceWatermark(TimestampMs, flow::Outputs&) override {}
  Status Restore(flow::StateReader&) override { return Status::Ok(); }
  void Freeze(std::vector<flow::BucketDelta>&) override {}
  uint64_t StateBytes() const override { return 0; }
  uint64_t Evict(uint64_t) override { return 0; }
  Status status() const override { return Status::Ok(); }
  void CountBooks(flow::NodeBooks&) const override {}
  flow::NodeBooks& books() override { return books_; }

 private:
  CalcOperator() = default;
  void Filter(const Batch& batch);
  void CheckNotNull(const Column& column, const Field& field);
  void DropFailed(size_t errors_before);
  void EmitDead(const Batch& batch, flow::Outputs& out);

  Schema input_;
  Schema output_schema_;
  std::unique_ptr<Evaluator> filter_;
  std::vector<std::unique_ptr<Evaluator>> projections_;
  std::vector<uint32_t> rows_;  // those still in, of the batch in hand
  RowErrors errors_;
  Batch output_;
  flow::DeadLetterBuilder dead_;
  flow::NodeBooks books_;
};

// Passes batches on as they are: gathers the dead edges of one subject.
class PassThroughOperator final : public flow::Operator {
 public:
  void Push(const Batch& batch, flow::Outputs& out) override {
    books_[flow::Count::kIn] += batch.selected_count();
    books_[flow::Count::kOut] += batch.selected_count();
    out.Main(batch);
  }
  // Stateless, as above.
  void AdvanceWatermark(TimestampMs, flow::Outputs&) override {}
  Status Restore(flow::StateReader&) override { return Status::Ok(); }
  void Freeze(std::vector<flow::BucketDelta>&) override {}
  uint64_t StateBytes() const override { return 0; }
  uint64_t Evict(uint64_t) override { return 0; }
  Status status() const override { return Status::Ok(); }
  void CountBooks(flow::NodeBooks&) const override {}
  flow::NodeBooks& books() override { return books_; }

 private:
  flow::NodeBooks books_;
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_CALC_OPERATOR_H_
