#include "app/node_table.h"

#include "operators/factory.h"

namespace weir::app {

namespace {

Result<runtime::SinkParts> MakeSink(const connectors::ConnectorContext& context,
                                    const plan::Plan& plan, const plan::Node& node) {
  const auto& sink = std::get<plan::SinkNode>(node.body);
  runtime::SinkParts parts;
  switch (sink.kind) {
    case plan::SinkNode::Kind::kDeadLetterFile: {
      const uint64_t max =
          static_cast<uint64_t>(plan.settings.Integer("weir.dead-letters.max-bytes"));
      WEIR_ASSIGN_OR_RETURN(parts.stage,
                            connectors::NewDeadLetterStage(context, sink.subject, max));
      return parts;
    }
    case plan::SinkNode::Kind::kPrint: {
      WEIR_ASSIGN_OR_RETURN(parts.direct, connectors::NewDirectSink(context, nullptr, node.output));
      return parts;
    }
    case plan::SinkNode::Kind::kTable:
      break;
  }
  const plan::TableDef& table = *sink.table;
  if (connectors::IsDirectSink(table)) {
    WEIR_ASSIGN_OR_RETURN(parts.direct, connectors::NewDirectSink(context, &table, node.output));
  } else if (connectors::NeedsDelivery(table)) {
    parts.target = connectors::TargetOf(context, plan, table);
    parts.row_check = connectors::NewRowCheck(context, table);
  } else {
    WEIR_ASSIGN_OR_RETURN(parts.stage, connectors::NewStage(context, table, table.name));
  }
  return parts;
}

}  // namespace

runtime::Factories MakeFactories(const io::Env& env, const plan::Plan& plan,
                                 const std::string& state_directory, const std::string& pipeline,
                                 const std::string& instance,
                                 const std::vector<protocol::Resolution>& words,
                                 const std::shared_ptr<const plan::References>& references) {
  connectors::ConnectorContext context{
      env,       state_directory,
      pipeline,  instance,
      plan.zone, nullptr,
      words,     static_cast<uint64_t>(plan.settings.Integer("weir.memory.limit"))};
  context.references = references;
  runtime::Factories make;
  make.source = [context](const plan::Node& node, const Schema& raw) {
    const auto& scan = std::get<plan::ScanNode>(node.body);
    return connectors::NewSource(context, *scan.table, raw, scan.raw_columns);
  };
  make.scan_outputs = [&plan](const plan::Node& node, const Schema& raw) {
    return operators::NewScanOutputs(node, raw, plan);
  };
  make.op = [&plan](const plan::Node& node, const Schema& input) {
    return operators::NewOperator(node, input, plan);
  };
  make.sink = [context, &plan](const plan::Node& node) { return MakeSink(context, plan, node); };
  make.delivery = [context](const std::string&, const std::vector<runtime::TargetSink>& sinks) {
    std::vector<const plan::TableDef*> tables;
    for (const runtime::TargetSink& sink : sinks) tables.push_back(sink.table);
    return connectors::NewDelivery(context, tables);
  };
  return make;
}

}  // namespace weir::app
