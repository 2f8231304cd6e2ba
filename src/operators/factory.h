// The operators of a plan, by node: the only door to this folder for app/, which hands them to
// runtime/.
#ifndef WEIR_OPERATORS_FACTORY_H_
#define WEIR_OPERATORS_FACTORY_H_

#include <memory>

#include "base/status.h"
#include "data/types.h"
#include "flow/operator.h"
#include "plan/plan.h"

namespace weir::operators {

// Calc, Window and DeadLetters nodes. `input`: the schema of the edge that the node reads (the
// producer's output, or its late_schema on the late edge). The plan outlives the operator. Errors:
// an expression that cannot be compiled (a regular expression literal, a pattern), kInvalid with a
// message for people.
Result<std::unique_ptr<flow::Operator>> NewOperator(const plan::Node& node, const Schema& input,
                                                    const plan::Plan& plan);

// The output columns of a scan, from its raw batches. Rows that fail leave on the dead edge (stage
// eval). Its books count kIn, kOut and kDead; the scan adds them to its own (decoded = out).
Result<std::unique_ptr<flow::Operator>> NewScanOutputs(const plan::Node& scan_node,
                                                       const Schema& raw, const plan::Plan& plan);

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_FACTORY_H_
