// Drops columns that nobody reads: a decoder converts only what is wanted, and a calc computes only
// what is read. State is never touched: a window keeps its keys and aggregates whoever reads them,
// so that a later version that prunes better still fits the state that an earlier one wrote.
#include <vector>

#include "base/check.h"
#include "plan/plan.h"

namespace weir::plan {
namespace {

using Wanted = std::vector<bool>;

struct Need {
  Wanted main;
  Wanted late;
};

void Mark(const Expr& expr, Wanted& wanted) {
  ForEachColumn(
      expr,
      [](int column, void* arg) {
        (*static_cast<Wanted*>(arg))[static_cast<size_t>(column)] = true;
      },
      &wanted);
}

// Old index -> new index of what stays; -1 for what goes.
std::vector<int> MapOf(const Wanted& keep) {
  std::vector<int> map(keep.size(), -1);
  int next = 0;
  for (size_t i = 0; i < keep.size(); ++i) {
    if (keep[i]) map[i] = next++;
  }
  return map;
}

template <class T>
void Keep(const Wanted& keep, std::vector<T>& items) {
  size_t to = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!keep[i]) continue;
    if (to != i) items[to] = std::move(items[i]);
    ++to;
  }
  items.erase(items.begin() + static_cast<std::ptrdiff_t>(to), items.end());
}

class Pruner {
 public:
  explicit Pruner(Plan& plan) : plan_(plan), needs_(plan.nodes.size()) {
    for (const Node& node : plan.nodes) {
      Need& need = needs_[static_cast<size_t>(node.id)];
      need.main.resize(node.output.fields.size());
      if (const auto* window = std::get_if<WindowNode>(&node.body)) {
        need.late.resize(window->late_schema.fields.size());
      }
    }
  }

  void Run() {
    // Readers have higher ids than what they read: backwards, a node's readers have all said what
    // they want.
    for (size_t i = plan_.nodes.size(); i-- > 0;) Shrink(plan_.nodes[i]);
    // Forwards, an input's columns have their final places.
    for (Node& node : plan_.nodes) Rewrite(node);
  }

 private:
  Need& NeedOf(const Node& node) { return needs_[static_cast<size_t>(node.id)]; }

  Wanted& InputOf(const Node& node) {
    const Input& input = node.inputs[0];
    Need& need = needs_[static_cast<size_t>(input.node)];
    CHECK(input.edge != Edge::kDead);
    return input.edge == Edge::kLate ? need.late : need.main;
  }

  void Shrink(Node& node) {
    Wanted& main = NeedOf(node).main;
    if (auto* scan = std::get_if<ScanNode>(&node.body)) {
      if (scan->rowtime >= 0) main[static_cast<size_t>(scan->rowtime)] = true;
    } else if (auto* calc = std::get_if<CalcNode>(&node.body)) {
      Wanted& input = InputOf(node);
      if (calc->filter != nullptr) Mark(*calc->filter, input);
      for (size_t i = 0; i < main.size(); ++i) {
        if (main[i]) Mark(*calc->projections[i], input);
      }
    } else if (auto* window = std::get_if<WindowNode>(&node.body)) {
      main.assign(main.size(), true);
      ShrinkWindow(node, *window);
    } else if (std::holds_alternative<SinkNode>(node.body)) {
      main.assign(main.size(), true);
      for (const Input& input : node.inputs) {
        Need& need = needs_[static_cast<size_t>(input.node)];
        Wanted& wanted = input.edge == Edge::kLate ? need.late : need.main;
        wanted.assign(wanted.size(), true);
      }
    } else {
      main.assign(main.size(), true);  // dead letters have their one schema
    }
  }

  void ShrinkWindow(const Node& node, const WindowNode& window) {
    Wanted& input = InputOf(node);
    const Wanted& late = NeedOf(node).late;
    input[static_cast<size_t>(window.time_column)] = true;
    for (const int key : window.keys) input[static_cast<size_t>(key)] = true;
    for (const AggregateCall& call : window.aggregates) {
      if (call.argument >= 0) input[static_cast<size_t>(call.argument)] = true;
    }
    for (size_t i = 0; i < window.late_columns.size(); ++i) {
      if (late[i]) input[static_cast<size_t>(window.late_columns[i])] = true;
    }
  }

  // The new places of the columns that this node reads.
  std::vector<int> InputMap(const Node& node) { return MapOf(InputOf(node)); }

  void Rewrite(Node& node) {
    if (auto* scan = std::get_if<ScanNode>(&node.body)) {
      RewriteScan(node, *scan);
    } else if (auto* calc = std::get_if<CalcNode>(&node.body)) {
      const std::vector<int> map = InputMap(node);
      const Wanted& keep = NeedOf(node).main;
      Keep(keep, calc->projections);
      Keep(keep, node.output.fields);
      if (calc->filter != nullptr) RemapColumns(*calc->filter, map);
      for (const ExprPtr& projection : calc->projections) RemapColumns(*projection, map);
    } else if (auto* window = std::get_if<WindowNode>(&node.body)) {
      RewriteWindow(node, *window);
    }
  }

  void RewriteScan(Node& node, ScanNode& scan) {
    const Wanted& keep = NeedOf(node).main;
    if (scan.rowtime >= 0) scan.rowtime = MapOf(keep)[static_cast<size_t>(scan.rowtime)];
    Keep(keep, scan.outputs);
    Keep(keep, node.output.fields);
    Wanted raw(scan.raw_columns.size());
    for (const ExprPtr& output : scan.outputs) Mark(*output, raw);
    // NOT NULL is enforced whether the column is read or not: which rows are accepted does not
    // depend on the query.
    for (size_t i = 0; i < raw.size(); ++i) {
      const auto& column = scan.table->columns[static_cast<size_t>(scan.raw_columns[i])];
      const bool physical = column.kind == ColumnDef::Kind::kPhysical;
      if (physical && !column.type.nullable) raw[i] = true;
    }
    const std::vector<int> map = MapOf(raw);
    for (const ExprPtr& output : scan.outputs) RemapColumns(*output, map);
    Keep(raw, scan.raw_columns);
  }

  void RewriteWindow(const Node& node, WindowNode& window) {
    const std::vector<int> map = InputMap(node);
    const auto moved = [&](int column) { return map[static_cast<size_t>(column)]; };
    window.time_column = moved(window.time_column);
    for (int& key : window.keys) key = moved(key);
    for (AggregateCall& call : window.aggregates) {
      if (call.argument >= 0) call.argument = moved(call.argument);
    }
    // The three columns after the input's (window_start, window_end, watermark) always stay.
    Wanted& late = NeedOf(node).late;
    for (size_t i = window.late_columns.size(); i < late.size(); ++i) late[i] = true;
    Keep(late, window.late_schema.fields);
    late.resize(window.late_columns.size());
    Keep(late, window.late_columns);
    late.resize(late.size() + 3, true);  // readers of the late edge, rewritten next, map by it
    for (int& column : window.late_columns) column = moved(column);
  }

  Plan& plan_;
  std::vector<Need> needs_;
};

}  // namespace

void PruneColumns(Plan& plan) { Pruner(plan).Run(); }

}  // namespace weir::plan
