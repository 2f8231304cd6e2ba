#include "sql/plan_builder.h"

#include <utility>

#include "base/check.h"

namespace weir::sql {

using plan::Edge;
using plan::Node;
using plan::NodeId;

std::string PlanBuilder::Unique(const std::string& name) {
  std::string unique = name;
  for (int i = 2; !names_.insert(unique).second; ++i) unique = name + "." + std::to_string(i);
  return unique;
}

Node& PlanBuilder::NewNode(std::string name, plan::Position at) {
  auto node = std::make_unique<Node>();
  node->id = static_cast<NodeId>(nodes_.size());
  node->name = Unique(name);
  node->position = at;
  nodes_.push_back(std::move(node));
  return *nodes_.back();
}

NodeId PlanBuilder::ScanOf(const plan::TableDef& table, plan::Position at) {
  const auto known = scans_.find(&table);
  if (known != scans_.end()) return known->second;
  plan::ScanNode scan;
  scan.table = &table;
  scan.bounded = table.connector->bounded == nullptr || table.connector->bounded(table);
  std::vector<int> raw_of(table.columns.size(), -1);  // table column -> raw column
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind == plan::ColumnDef::Kind::kComputed) continue;
    raw_of[i] = static_cast<int>(scan.raw_columns.size());
    scan.raw_columns.push_back(static_cast<int>(i));
  }
  Node& node = NewNode("scan:" + table.name, at);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const plan::ColumnDef& column = table.columns[i];
    if (column.kind == plan::ColumnDef::Kind::kComputed) {
      plan::ExprPtr computed = column.computed->Clone();
      plan::RemapColumns(*computed, raw_of);
      scan.outputs.push_back(std::move(computed));
    } else {
      scan.outputs.push_back(plan::MakeColumn(raw_of[i], column.type, column.position));
    }
    node.output.fields.push_back({column.name, column.type});
  }
  if (table.watermark) {
    scan.rowtime = table.watermark->column;
    scan.watermark_bound_ms = table.watermark->bound_ms;
  }
  node.body = std::move(scan);
  node.dead_letters_of = table.name;
  scans_.emplace(&table, node.id);
  return node.id;
}

NodeId PlanBuilder::AddCalc(const std::string& base, plan::Input input, plan::CalcNode calc,
                            Schema output, const std::string& dead_letters_of, plan::Position at) {
  Node& node = NewNode("calc:" + base + "." + std::to_string(++calcs_[base]), at);
  node.inputs = {input};
  node.body = std::move(calc);
  node.output = std::move(output);
  node.dead_letters_of = dead_letters_of;
  return node.id;
}

NodeId PlanBuilder::AddWindow(const std::string& base, plan::Input input, plan::WindowNode window,
                              Schema output, const std::string& dead_letters_of,
                              plan::Position at) {
  Node& node = NewNode("window:" + base, at);
  node.inputs = {input};
  node.body = std::move(window);
  node.output = std::move(output);
  node.dead_letters_of = dead_letters_of;
  return node.id;
}

void PlanBuilder::AddSinkInput(const plan::TableDef& table, const Schema& schema, NodeId input,
                               plan::Position at) {
  const auto known = sinks_.find(&table);
  if (known != sinks_.end()) {
    nodes_[static_cast<size_t>(known->second)]->inputs.push_back({input, Edge::kMain});
    return;
  }
  Node& node = NewNode("sink:" + table.name, at);
  plan::SinkNode sink;
  sink.table = &table;
  node.body = std::move(sink);
  node.output = schema;
  node.inputs = {{input, Edge::kMain}};
  node.dead_letters_of = table.name;
  sinks_.emplace(&table, node.id);
}

void PlanBuilder::AddPrint(const Schema& schema, NodeId input, plan::Position at) {
  Node& node = NewNode("sink:print." + std::to_string(++prints_), at);
  plan::SinkNode sink;
  sink.kind = plan::SinkNode::Kind::kPrint;
  node.body = std::move(sink);
  node.output = schema;
  node.inputs = {{input, Edge::kMain}};
  node.dead_letters_of = "print." + std::to_string(prints_);
}

NodeId PlanBuilder::DeadLettersOf(const std::string& subject, plan::Position at) {
  const auto known = dead_letters_.find(subject);
  if (known != dead_letters_.end()) return known->second;
  Node& node = NewNode("dead_letters:" + subject, at);
  node.body = plan::DeadLettersNode{subject};
  node.output = plan::DeadLetterSchema();
  dead_letters_.emplace(subject, node.id);
  return node.id;
}

void PlanBuilder::MarkUsed(NodeId id, std::vector<bool>& used) const {
  std::vector<NodeId> todo = {id};
  while (!todo.empty()) {
    const NodeId next = todo.back();
    todo.pop_back();
    if (used[static_cast<size_t>(next)]) continue;
    used[static_cast<size_t>(next)] = true;
    for (const plan::Input& input : node(next).inputs) todo.push_back(input.node);
  }
}

// Every dead edge gets its one consumer: the DeadLettersNode of its subject, which somebody selects
// or a file takes.
void PlanBuilder::GatherDeadLetters(std::vector<bool>& used) {
  const size_t count = nodes_.size();
  for (size_t i = 0; i < count; ++i) {
    const Node& failing = *nodes_[i];
    if (!used[i] || failing.dead_letters_of.empty()) continue;
    const std::string subject = failing.dead_letters_of;
    const bool selected =
        dead_letters_.contains(subject) && used[static_cast<size_t>(dead_letters_.at(subject))];
    const NodeId letters = DeadLettersOf(subject, failing.position);
    used.resize(nodes_.size());
    if (!selected && !used[static_cast<size_t>(letters)]) {
      Node& file = NewNode("dead_file:" + subject, failing.position);
      plan::SinkNode sink;
      sink.kind = plan::SinkNode::Kind::kDeadLetterFile;
      sink.subject = subject;
      file.body = std::move(sink);
      file.output = plan::DeadLetterSchema();
      file.inputs = {{letters, Edge::kMain}};
      used.resize(nodes_.size());
      used[static_cast<size_t>(letters)] = true;
      used[static_cast<size_t>(file.id)] = true;
    }
    nodes_[static_cast<size_t>(letters)]->inputs.push_back({failing.id, Edge::kDead});
  }
}

// The smallest provisional id that is ready comes next: stable, and close to the order of the file.
bool PlanBuilder::Order(const std::vector<bool>& used, std::vector<NodeId>* order) {
  std::vector<size_t> missing(nodes_.size());
  std::vector<std::vector<NodeId>> readers(nodes_.size());
  std::set<NodeId> ready;
  size_t total = 0;
  for (const auto& node : nodes_) {
    const auto id = static_cast<size_t>(node->id);
    if (!used[id]) continue;
    ++total;
    missing[id] = node->inputs.size();
    if (missing[id] == 0) ready.insert(node->id);
    for (const plan::Input& input : node->inputs) {
      readers[static_cast<size_t>(input.node)].push_back(node->id);
    }
  }
  while (!ready.empty()) {
    const NodeId next = *ready.begin();
    ready.erase(ready.begin());
    order->push_back(next);
    for (const NodeId reader : readers[static_cast<size_t>(next)]) {
      if (--missing[static_cast<size_t>(reader)] == 0) ready.insert(reader);
    }
  }
  if (order->size() == total) return true;
  for (const auto& [subject, id] : dead_letters_) {
    if (!used[static_cast<size_t>(id)] || missing[static_cast<size_t>(id)] == 0) continue;
    diagnostics_.Error(node(id).position,
                       "DEAD_LETTERS(" + subject + ") goes into " + subject +
                           " again: a dead letter of a dead letter would never end",
                       "write them to another table");
    break;
  }
  return false;
}

void PlanBuilder::Finish(plan::Plan& plan) {
  std::vector<bool> used(nodes_.size());
  for (const auto& node : nodes_) {
    if (std::holds_alternative<plan::SinkNode>(node->body)) MarkUsed(node->id, used);
  }
  GatherDeadLetters(used);
  used.resize(nodes_.size());
  for (const auto& [subject, id] : dead_letters_) {
    if (!used[static_cast<size_t>(id)] || !node(id).inputs.empty()) continue;
    diagnostics_.Error(node(id).position,
                       "no INSERT reads or writes " + subject + ": it cannot have dead letters");
    return;
  }
  std::vector<NodeId> order;
  if (!Order(used, &order)) return;
  std::vector<NodeId> new_id(nodes_.size(), -1);
  for (size_t i = 0; i < order.size(); ++i)
    new_id[static_cast<size_t>(order[i])] = static_cast<NodeId>(i);
  plan.bounded = true;
  for (const NodeId id : order) {
    Node node = std::move(*nodes_[static_cast<size_t>(id)]);
    node.id = new_id[static_cast<size_t>(id)];
    for (plan::Input& input : node.inputs) {
      input.node = new_id[static_cast<size_t>(input.node)];
      CHECK(input.node >= 0 && input.node < node.id);
    }
    if (const auto* scan = std::get_if<plan::ScanNode>(&node.body)) {
      plan.bounded = plan.bounded && scan->bounded;
    }
    plan.nodes.push_back(std::move(node));
  }
}

}  // namespace weir::sql
