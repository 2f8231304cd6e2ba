// The canonical text of a plan: one line for each node, fields between tabs, each "key=value". What
// a state directory holds belongs to this text; a start under another text is refused with what
// differs.
#include <string>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/units.h"
#include "plan/plan.h"

namespace weir::plan {
namespace {

// Tabs and line feeds separate; those of names and literals are escaped.
std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

class Line {
 public:
  explicit Line(std::string_view node) : text_(Escaped(node)) {}
  void Add(std::string_view key, std::string_view value) {
    text_ += '\t';
    text_ += Escaped(key);
    text_ += '=';
    text_ += Escaped(value);
  }
  std::string Finish() && { return std::move(text_) + "\n"; }

 private:
  std::string text_;
};

const char* EdgeName(Edge edge) {
  switch (edge) {
    case Edge::kMain:
      return "main";
    case Edge::kLate:
      return "late";
    case Edge::kDead:
      return "dead";
  }
  return "";
}

// Connector, format and what they name: paths and topics as the SQL says them, never what ${} stood
// for.
void AddTable(const TableDef& table, Line& line) {
  line.Add("connector", table.connector == nullptr ? "" : table.connector->name);
  if (!table.format.empty()) line.Add("format", table.format);
  if (!table.key_format.empty()) line.Add("key format", table.key_format);
  const auto add = [&](std::span<const OptionSpec> specs) {
    for (const auto& [name, value] : table.options.all()) {
      const OptionSpec* spec = FindOption(specs, name);
      if (spec == nullptr || !spec->identity || value.origin == "default") continue;
      line.Add("option " + name, value.written);
    }
  };
  if (table.connector != nullptr) add(table.connector->options);
  add(FormatOptionSpecs(table.format));
}

void AddColumns(const TableDef& table, Line& line) {
  for (const ColumnDef& column : table.columns) {
    std::string value = column.type.ToString();
    if (column.kind == ColumnDef::Kind::kMetadata) {
      value += " METADATA FROM '" + column.metadata_key + "'";
      if (column.is_virtual) value += " VIRTUAL";
    }
    if (column.kind == ColumnDef::Kind::kComputed) value += " AS " + Canonical(*column.computed);
    line.Add("column " + column.name, value);
  }
}

void AddBody(const ScanNode& scan, const Node&, Line& line) {
  AddTable(*scan.table, line);
  AddColumns(*scan.table, line);
  if (scan.table->watermark) {
    const auto column = static_cast<size_t>(scan.table->watermark->column);
    line.Add("watermark", scan.table->columns[column].name + " - " +
                              FormatDurationMs(scan.table->watermark->bound_ms));
  }
}

void AddBody(const CalcNode& calc, const Node& node, Line& line) {
  if (calc.filter != nullptr) line.Add("filter", Canonical(*calc.filter));
  for (size_t i = 0; i < calc.projections.size(); ++i) {
    line.Add("project " + std::to_string(i) + " " + node.output.fields[i].name,
             Canonical(*calc.projections[i]));
  }
}

const char* AggregateName(AggregateCall::Fn fn) {
  switch (fn) {
    case AggregateCall::Fn::kCountStar:
      return "COUNT_STAR";
    case AggregateCall::Fn::kCount:
      return "COUNT";
    case AggregateCall::Fn::kSum:
      return "SUM";
    case AggregateCall::Fn::kAvg:
      return "AVG";
    case AggregateCall::Fn::kMin:
      return "MIN";
    case AggregateCall::Fn::kMax:
      return "MAX";
  }
  return "";
}

void AddBody(const WindowNode& window, const Node&, Line& line) {
  const bool tumble = window.kind == WindowNode::Kind::kTumble;
  line.Add("window", tumble ? "TUMBLE" : "SESSION");
  if (tumble) line.Add("size", FormatDurationMs(window.size_ms));
  if (window.offset_ms != 0) line.Add("offset", std::to_string(window.offset_ms) + " ms");
  if (!tumble) line.Add("gap", FormatDurationMs(window.gap_ms));
  line.Add("time", "$" + std::to_string(window.time_column));
  std::string keys;
  for (const int key : window.keys) keys += (keys.empty() ? "$" : ", $") + std::to_string(key);
  line.Add("keys", keys);
  for (size_t i = 0; i < window.aggregates.size(); ++i) {
    const AggregateCall& call = window.aggregates[i];
    Type type = call.type;
    type.nullable = true;
    std::string value = AggregateName(call.fn);
    if (call.argument >= 0) value += "($" + std::to_string(call.argument) + ")";
    line.Add("aggregate " + std::to_string(i), value + ":" + type.ToString());
  }
}

void AddBody(const SinkNode& sink, const Node& node, Line& line) {
  switch (sink.kind) {
    case SinkNode::Kind::kTable:
      AddTable(*sink.table, line);
      for (const int key : sink.table->primary_key) {
        line.Add("key " + sink.table->columns[static_cast<size_t>(key)].name, "");
      }
      break;
    case SinkNode::Kind::kPrint:
      line.Add("connector", "(standard output)");
      break;
    case SinkNode::Kind::kDeadLetterFile:
      line.Add("connector", "(dead letter file)");
      break;
  }
  for (const Field& field : node.output.fields) {
    line.Add("column " + field.name, field.type.ToString());
  }
}

void AddBody(const DeadLettersNode& dead, const Node&, Line& line) { line.Add("of", dead.subject); }

}  // namespace

std::string CanonicalPlan(const Plan& plan, int version) {
  CHECK(version == kFingerprintVersion);
  std::string out = "weir plan " + std::to_string(version) + "\n";
  Line settings("settings");
  settings.Add("zone", std::to_string(plan.zone.offset_ms / 60000) + " min");
  out += std::move(settings).Finish();
  for (const Node& node : plan.nodes) {
    Line line(node.name);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Input& input = node.inputs[i];
      line.Add("input " + std::to_string(i),
               plan.nodes[static_cast<size_t>(input.node)].name + " " + EdgeName(input.edge));
    }
    std::visit([&](const auto& body) { AddBody(body, node, line); }, node.body);
    out += std::move(line).Finish();
  }
  return out;
}

Digest256 Fingerprint(std::string_view canonical_plan, int version) {
  // The version is hashed too: two rules may well give one text with two meanings.
  return Sha256("weir fingerprint " + std::to_string(version) + "\n" + std::string(canonical_plan));
}

}  // namespace weir::plan
