#include "operators/factory.h"

#include "operators/calc_operator.h"
#include "operators/session_operator.h"
#include "operators/tumble_operator.h"

namespace weir::operators {

Result<std::unique_ptr<flow::Operator>> NewOperator(const plan::Node& node, const Schema& input,
                                                    const plan::Plan& plan) {
  if (const auto* calc = std::get_if<plan::CalcNode>(&node.body)) {
    WEIR_ASSIGN_OR_RETURN(auto op, CalcOperator::Make(calc->filter.get(), calc->projections, input,
                                                      node.output, plan.zone));
    return op;
  }
  if (const auto* window = std::get_if<plan::WindowNode>(&node.body)) {
    if (window->kind == plan::WindowNode::Kind::kTumble) {
      WEIR_ASSIGN_OR_RETURN(auto op, TumbleOperator::Make(node, input));
      return op;
    }
    WEIR_ASSIGN_OR_RETURN(auto op, SessionOperator::Make(node, input));
    return op;
  }
  if (std::holds_alternative<plan::DeadLettersNode>(node.body)) {
    return std::make_unique<PassThroughOperator>();
  }
  return Fail(Code::kInternal, node.name + " is no operator");
}

Result<std::unique_ptr<flow::Operator>> NewScanOutputs(const plan::Node& scan_node,
                                                       const Schema& raw, const plan::Plan& plan) {
  const auto* scan = std::get_if<plan::ScanNode>(&scan_node.body);
  if (!scan) return Fail(Code::kInternal, scan_node.name + " is no scan");
  WEIR_ASSIGN_OR_RETURN(
      auto op, CalcOperator::Make(nullptr, scan->outputs, raw, scan_node.output, plan.zone));
  return op;
}

}  // namespace weir::operators
