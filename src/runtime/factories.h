// Factories: how runtime makes nodes without naming a connector or an operator. app/ fills the
// table from plan nodes.
#ifndef WEIR_RUNTIME_FACTORIES_H_
#define WEIR_RUNTIME_FACTORIES_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flow/delivery.h"
#include "flow/direct_sink.h"
#include "flow/operator.h"
#include "flow/sink.h"
#include "flow/source.h"
#include "plan/plan.h"

namespace weir::runtime {

// What a sink node turns into: exactly one of `stage` (a local file), `direct` (print, blackhole)
// or `target` (delivered from the spool).
struct SinkParts {
  std::unique_ptr<flow::SinkStage> stage;
  std::unique_ptr<flow::DirectSink> direct;
  std::string target;  // delivered: what a delivery is atomic over (a database's path)
  // Delivered: rows that the target can never accept are dead letters when they are staged; "" =
  // acceptable.
  std::function<std::string_view(const Batch&, uint32_t row)> row_check;
};

// A sink of a target, in plan order.
struct TargetSink {
  std::string name;  // node name
  const plan::TableDef* table = nullptr;
  Schema schema;
};

struct Factories {
  std::function<Result<std::unique_ptr<flow::Source>>(const plan::Node& scan, const Schema& raw)>
      source;
  // Raw rows of a source -> the scan's output columns. One per partition that is being read.
  std::function<Result<std::unique_ptr<flow::Operator>>(const plan::Node& scan, const Schema& raw)>
      scan_outputs;
  std::function<Result<std::unique_ptr<flow::Operator>>(const plan::Node& node,
                                                        const Schema& input)>
      op;
  std::function<Result<SinkParts>(const plan::Node& sink)> sink;
  std::function<Result<std::unique_ptr<flow::SinkDelivery>>(const std::string& target,
                                                            const std::vector<TargetSink>& sinks)>
      delivery;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_FACTORIES_H_
