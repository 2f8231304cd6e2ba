// Evaluator: a plan::Expr compiled once into columnar kernels, evaluated batch by batch.
#ifndef WEIR_OPERATORS_EVALUATOR_H_
#define WEIR_OPERATORS_EVALUATOR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/batch.h"
#include "data/timestamp.h"
#include "plan/expr.h"

namespace weir::operators {

class Kernel;

struct RowError {
  uint32_t row = 0;
  std::string code;     // short stable word: "eval.cast"
  std::string message;  // for people: "2147483648 does not fit INT"
};

// The rows of one batch that failed, each with its first error.
class RowErrors {
 public:
  // Forgets all; the next batch has `rows` rows.
  void Start(uint32_t rows);
  void Add(uint32_t row, std::string_view code, std::string_view message);
  bool failed(uint32_t row) const { return failed_[row] != 0; }
  size_t size() const { return errors_.size(); }
  bool empty() const { return errors_.empty(); }
  const std::vector<RowError>& errors() const {
    return errors_;
  }  // in the order in which they came up
  std::vector<RowError> TakeInRowOrder();

 private:
  std::vector<uint8_t> failed_;
  std::vector<RowError> errors_;
};

class Evaluator {
 public:
  ~Evaluator();
  // kInvalid: a literal argument that no row could use (a regular expression that does not
  // compile).
  static Result<std::unique_ptr<Evaluator>> Compile(const plan::Expr& expr, const Schema& input,
                                                    const SessionZone& zone);
  // Values for `rows` of the batch, at their own index, but for those that fail: they are in
  // `errors` then. Rows that had failed before must not be in `rows`. The column lives until the
  // next call; a plain column is the batch's own.
  const Column& Evaluate(const Batch& batch, std::span<const uint32_t> rows, RowErrors& errors);
  const Type& type() const;
  bool is_column() const { return column_ >= 0; }
  int column() const { return column_; }

 private:
  Evaluator();
  std::unique_ptr<Kernel> kernel_;
  Arena arena_;
  int column_ = -1;
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_EVALUATOR_H_
