#include "plan/explain.h"

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "base/units.h"

namespace weir::plan {
namespace {

const Schema& InputSchema(const Plan& plan, const Node& node) {
  static const Schema* const none = new Schema;
  if (node.inputs.empty()) return *none;
  const Node& from = plan.nodes[static_cast<size_t>(node.inputs[0].node)];
  if (node.inputs[0].edge == Edge::kLate) return std::get<WindowNode>(from.body).late_schema;
  return node.inputs[0].edge == Edge::kDead ? DeadLetterSchema() : from.output;
}

std::string Columns(const Schema& schema) {
  std::string out;
  for (const Field& field : schema.fields) {
    if (!out.empty()) out += ", ";
    out += field.name + " " + field.type.ToString();
  }
  return out;
}

using Detail = std::pair<std::string, std::string>;
using Details = std::vector<Detail>;

// A value as people may see it: what a secret stands for is shown as the SQL wrote it.
std::string Safe(const OptionValue& value) { return value.secret ? value.written : value.text; }

// Whether an option means anything on this side of its table. A default that does not was chosen by
// nobody and changes nothing here.
bool Concerns(const TableDef& table, std::string_view name, bool as_sink) {
  const std::span<const OptionSpec> all[] = {table.connector->options, CommonTableOptionSpecs(),
                                             FormatOptionSpecs(table.format)};
  for (const auto& specs : all) {
    if (const OptionSpec* spec = FindOption(specs, name))
      return as_sink ? spec->sink : spec->source;
  }
  return true;
}

void DescribeTable(const TableDef& table, bool as_sink, Details& out) {
  out.push_back({"connector", std::string(table.connector->name)});
  if (!table.format.empty()) out.push_back({"format", table.format});
  for (const auto& [name, value] : table.options.all()) {
    if (value.origin == "default" && !Concerns(table, name, as_sink)) continue;
    out.push_back({name, Safe(value) + "  (" + value.origin + ")"});
  }
}

void Describe(const Plan&, const Node&, const ScanNode& scan, Details& out) {
  DescribeTable(*scan.table, /*as_sink=*/false, out);
  out.push_back({"bounded", scan.bounded ? "yes" : "no"});
  if (scan.rowtime >= 0) {
    const auto column = static_cast<size_t>(scan.table->watermark->column);
    out.push_back({"watermark", scan.table->columns[column].name + " - " +
                                    FormatDurationMs(scan.watermark_bound_ms)});
  }
}

void Describe(const Plan& plan, const Node& node, const CalcNode& calc, Details& out) {
  const Schema& input = InputSchema(plan, node);
  if (calc.filter != nullptr) out.push_back({"filter", ToSql(*calc.filter, input)});
  std::string list;
  for (size_t i = 0; i < calc.projections.size(); ++i) {
    const std::string text = ToSql(*calc.projections[i], input);
    const std::string& name = node.output.fields[i].name;
    list += (list.empty() ? "" : ", ") + text + (text == name ? "" : " AS " + name);
  }
  out.push_back({"project", list});
}

void Describe(const Plan& plan, const Node& node, const WindowNode& window, Details& out) {
  const Schema& input = InputSchema(plan, node);
  const auto name = [&](int column) { return input.fields[static_cast<size_t>(column)].name; };
  if (window.kind == WindowNode::Kind::kTumble) {
    std::string text =
        "TUMBLE on " + name(window.time_column) + ", size " + FormatDurationMs(window.size_ms);
    if (window.offset_ms != 0) text += ", offset " + std::to_string(window.offset_ms) + " ms";
    out.push_back({"window", text});
  } else {
    out.push_back({"window", "SESSION on " + name(window.time_column) + ", gap " +
                                 FormatDurationMs(window.gap_ms)});
  }
  std::string keys;
  for (const int key : window.keys) keys += (keys.empty() ? "" : ", ") + name(key);
  out.push_back({"keys", keys.empty() ? "(none)" : keys});
  std::string aggregates;
  for (size_t i = 0; i < window.aggregates.size(); ++i) {
    const Field& field = node.output.fields[window.keys.size() + i];
    aggregates += (aggregates.empty() ? "" : ", ") + field.name + " " + field.type.ToString();
  }
  out.push_back({"aggregates", aggregates.empty() ? "(none)" : aggregates});
  out.push_back({"state", "one entry for each open window and key"});
}

void Describe(const Plan&, const Node&, const SinkNode& sink, Details& out) {
  switch (sink.kind) {
    case SinkNode::Kind::kTable: {
      DescribeTable(*sink.table, /*as_sink=*/true, out);
      const ConnectorSpec& spec = *sink.table->connector;
      std::string guarantee =
          spec.sink_guarantee == Guarantee::kExactlyOnce ? "exactly once" : "at least once";
      if (!spec.sink_guarantee_reason.empty()) {
        guarantee += " (" + std::string(spec.sink_guarantee_reason) + ")";
      }
      if (spec.table_guarantee != nullptr) guarantee = spec.table_guarantee(*sink.table);
      out.push_back({"guarantee", guarantee});
      return;
    }
    case SinkNode::Kind::kPrint:
      out.push_back({"writes", "standard output, at once"});
      out.push_back({"guarantee", "at least once (what was printed cannot be taken back)"});
      return;
    case SinkNode::Kind::kDeadLetterFile:
      out.push_back({"writes", "dead/" + sink.subject + ".jsonl in the state directory"});
      out.push_back({"guarantee", "exactly once"});
      return;
  }
}

void Describe(const Plan&, const Node&, const DeadLettersNode& dead, Details& out) {
  out.push_back({"of", dead.subject});
}

Details DetailsOf(const Plan& plan, const Node& node) {
  Details out;
  std::visit([&](const auto& body) { Describe(plan, node, body, out); }, node.body);
  return out;
}

const char* EdgeSuffix(Edge edge) {
  switch (edge) {
    case Edge::kMain:
      return "";
    case Edge::kLate:
      return " (late)";
    case Edge::kDead:
      return " (dead)";
  }
  return "";
}

std::string InputsOf(const Plan& plan, const Node& node) {
  std::string out;
  for (const Input& input : node.inputs) {
    if (!out.empty()) out += ", ";
    out += plan.nodes[static_cast<size_t>(input.node)].name + EdgeSuffix(input.edge);
  }
  return out;
}

}  // namespace

std::string ExplainText(const Plan& plan, const std::string& fingerprint_hex) {
  std::string out = "pipeline " + plan.pipeline_name + "\n";
  out += "fingerprint " + fingerprint_hex + "\n";
  out += std::string("input ") + (plan.bounded ? "bounded" : "unbounded") + "\n\nsettings\n";
  for (const auto& [name, value] : plan.settings.all()) {
    out += "  " + name + " = " + Safe(value) + "  (" + value.origin + ")\n";
  }
  for (const Node& node : plan.nodes) {
    out += "\n" + node.name + "\n";
    if (!node.inputs.empty()) out += "  from: " + InputsOf(plan, node) + "\n";
    for (const Detail& detail : DetailsOf(plan, node)) {
      out += "  " + detail.first + ": " + detail.second + "\n";
    }
    if (!node.dead_letters_of.empty()) {
      out += "  failing rows: DEAD_LETTERS(" + node.dead_letters_of + ")\n";
    }
    // Dead letters have their one schema: said once, in docs/sql.md.
    if (!(node.output == DeadLetterSchema())) out += "  columns: " + Columns(node.output) + "\n";
  }
  return out;
}

namespace {

std::string JsonPair(std::string_view key, std::string_view value) {
  return JsonQuote(key) + ":" + JsonQuote(value);
}

std::string NodeJson(const Plan& plan, const Node& node) {
  std::string out = "{" + JsonPair("name", node.name) + ",\"id\":" + std::to_string(node.id);
  out += ",\"inputs\":[";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    static constexpr const char* kEdges[] = {"main", "late", "dead"};
    if (i > 0) out += ",";
    out += "{" + JsonPair("node", plan.nodes[static_cast<size_t>(node.inputs[i].node)].name) + "," +
           JsonPair("edge", kEdges[static_cast<size_t>(node.inputs[i].edge)]) + "}";
  }
  out += "],\"columns\":[";
  for (size_t i = 0; i < node.output.fields.size(); ++i) {
    const Field& field = node.output.fields[i];
    if (i > 0) out += ",";
    out += "{" + JsonPair("name", field.name) + "," + JsonPair("type", field.type.ToString()) + "}";
  }
  out += "],\"details\":{";
  bool first = true;
  for (const Detail& detail : DetailsOf(plan, node)) {
    if (!first) out += ",";
    first = false;
    out += JsonPair(detail.first, detail.second);
  }
  out += "}," + JsonPair("dead_letters_of", node.dead_letters_of);
  out += ",\"line\":" + std::to_string(node.position.line) +
         ",\"column\":" + std::to_string(node.position.column) + "}";
  return out;
}

}  // namespace

std::string ExplainJson(const Plan& plan, const std::string& fingerprint_hex) {
  std::string out = "{" + JsonPair("pipeline", plan.pipeline_name) + "," +
                    JsonPair("fingerprint", fingerprint_hex) +
                    ",\"bounded\":" + (plan.bounded ? "true" : "false") + ",\"settings\":{";
  bool first = true;
  for (const auto& [name, value] : plan.settings.all()) {
    if (!first) out += ",";
    first = false;
    out += JsonQuote(name) + ":{" + JsonPair("value", Safe(value)) + "," +
           JsonPair("origin", value.origin) + "}";
  }
  out += "},\"nodes\":[";
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    if (i > 0) out += ",";
    out += NodeJson(plan, plan.nodes[i]);
  }
  return out + "]}\n";
}

}  // namespace weir::plan
