#include "runtime/graph.h"

#include <algorithm>

#include "flow/dead_letters.h"

namespace weir::runtime {

// An operator's outputs: forwards to the consumers of each edge.
class Graph::Edge : public flow::Outputs {
 public:
  Edge(Graph& graph, plan::NodeId node) : graph_(graph), node_(node) {}
  void Main(const Batch& batch) override {
    graph_.Emit(node_, plan::Edge::kMain, batch);
    EndOfPass();
  }
  void Late(const Batch& batch) override { graph_.Emit(node_, plan::Edge::kLate, batch); }
  void Dead(const Batch& batch) override {
    graph_.Emit(node_, plan::Edge::kDead, batch);
    EndOfPass();
  }
  void Watermark(TimestampMs watermark) override {
    graph_.Advance(node_, watermark);
    EndOfPass();
  }

 private:
  void EndOfPass() {
    if (graph_.nodes_[node_].scan >= 0) graph_.FlushDead();
  }
  Graph& graph_;
  plan::NodeId node_;
};

Graph::Graph(const plan::Plan& plan, bool fail_on_dead)
    : plan_(plan), fail_on_dead_(fail_on_dead) {}
Graph::~Graph() = default;

namespace {

// What a node's input looks like: the main or late schema of the node above, or a dead letter.
const Schema& EdgeSchema(const plan::Plan& plan, const plan::Input& input) {
  const plan::Node& from = plan.nodes[input.node];
  switch (input.edge) {
    case plan::Edge::kMain:
      return from.output;
    case plan::Edge::kLate:
      return std::get<plan::WindowNode>(from.body).late_schema;
    case plan::Edge::kDead:
      return plan::DeadLetterSchema();
  }
  return from.output;
}

// A table's own options over the defaults from SET.
ScanSettings SettingsOf(const plan::ScanNode& scan, ScanSettings settings) {
  const plan::Options& options = scan.table->options;
  if (options.Has("scan.watermark.idle-timeout")) {
    settings.idle_timeout_ms = options.Integer("scan.watermark.idle-timeout");
  }
  settings.max_drift_ms = options.Has("scan.watermark.alignment.max-drift")
                              ? options.Integer("scan.watermark.alignment.max-drift")
                              : std::max<int64_t>(4 * scan.watermark_bound_ms, 30000);
  return settings;
}

// What a table says about rows that it cannot be read into goes before SET.
bool FailsOnDead(const plan::Node& node, bool file_says) {
  const auto* scan = std::get_if<plan::ScanNode>(&node.body);
  if (scan == nullptr || !scan->table->options.Has("weir.on-error")) return file_says;
  return scan->table->options.String("weir.on-error") == "fail";
}

}  // namespace

Status Graph::Build(const Factories& factories, const ScanSettings& defaults, io::Clock& clock,
                    const NewSpool& new_spool) {
  nodes_.resize(plan_.nodes.size());
  for (const plan::Node& node : plan_.nodes) {
    NodeState& state = nodes_[node.id];
    state.node = &node;
    state.out = std::make_unique<Edge>(*this, node.id);
    state.fail_on_dead = FailsOnDead(node, fail_on_dead_);
    for (const plan::Input& input : node.inputs) {
      CHECK(input.node < node.id || input.edge == plan::Edge::kDead);
      nodes_[input.node].consumers[static_cast<int>(input.edge)].push_back(node.id);
    }
    if (const auto* scan = std::get_if<plan::ScanNode>(&node.body)) {
      state.scan = static_cast<int>(scans_.size());
      scans_.push_back(std::make_unique<Scan>(node, factories, SettingsOf(*scan, defaults), clock));
    } else if (std::holds_alternative<plan::SinkNode>(node.body)) {
      WEIR_ASSIGN_OR_RETURN(SinkParts parts, factories.sink(node));
      Sink sink;
      sink.name = node.name;
      sink.node = &node;
      sink.stage = std::move(parts.stage);
      sink.direct = std::move(parts.direct);
      sink.target = std::move(parts.target);
      if (!sink.target.empty()) {
        WEIR_ASSIGN_OR_RETURN(std::unique_ptr<store::Spool> spool, new_spool(node, sink.target));
        if (parts.row_check) spool->SetRowCheck(std::move(parts.row_check));
        sink.spool = spool.get();
        sink.stage = std::move(spool);
      }
      CHECK((sink.stage == nullptr) != (sink.direct == nullptr));
      state.sink = static_cast<int>(sinks_.size());
      sinks_.push_back(std::move(sink));
    } else {
      WEIR_ASSIGN_OR_RETURN(state.op, factories.op(node, EdgeSchema(plan_, node.inputs.at(0))));
    }
  }
  return Status::Ok();
}

std::vector<Graph::OperatorRef> Graph::operators() {
  std::vector<OperatorRef> all;
  for (NodeState& state : nodes_) {
    if (state.op != nullptr) all.push_back({state.node, state.op.get()});
  }
  return all;
}

void Graph::Resume(size_t scan) {
  const TimestampMs watermark = scans_[scan]->watermark();
  if (watermark == kWatermarkNone || watermark == kWatermarkMax) return;
  for (const NodeState& state : nodes_) {
    if (state.scan == static_cast<int>(scan)) Advance(state.node->id, watermark);
  }
  FlushDead();
}

TimestampMs Graph::WatermarkOf(plan::NodeId node) const {
  const NodeState& state = nodes_[node];
  return state.scan >= 0 ? scans_[state.scan]->watermark() : state.watermark;
}

void Graph::NoteWatermarks() {
  for (Sink& sink : sinks_) {
    TimestampMs lowest = kWatermarkMax;
    for (const plan::Input& input : sink.node->inputs)
      lowest = std::min(lowest, WatermarkOf(input.node));
    sink.watermark_at_cut = lowest == kWatermarkMax ? kWatermarkNone : lowest;
  }
}

Result<Scan::Outcome> Graph::Poll(size_t scan) {
  for (NodeState& state : nodes_) {
    if (state.scan != static_cast<int>(scan)) continue;
    WEIR_ASSIGN_OR_RETURN(const Scan::Outcome outcome, scans_[scan]->Poll(*state.out));
    if (!error_.ok()) return ::weir::Fail(error_);
    return outcome;
  }
  CHECK(false);
  return Scan::Outcome::kEnded;
}

void Graph::RecordError(Status status) {
  if (error_.ok()) error_ = std::move(status);
}

void Graph::Emit(plan::NodeId from, plan::Edge edge, const Batch& batch) {
  if (!error_.ok() || batch.selected_count() == 0) return;
  NodeState& state = nodes_[from];
  if (edge == plan::Edge::kLate) CountWoke(state, batch);
  if (edge == plan::Edge::kDead && state.fail_on_dead) return FailOnDead(batch);
  for (const plan::NodeId to : state.consumers[static_cast<int>(edge)]) {
    if (edge == plan::Edge::kDead)
      KeepDead(to, batch);
    else
      Deliver(to, batch);
  }
}

void Graph::KeepDead(plan::NodeId to, const Batch& batch) {
  WaitingDead& waiting = waiting_dead_.emplace_back();
  waiting.to = to;
  waiting.rows.Reset(plan::DeadLetterSchema());
  batch.ForEachSelected([&](uint32_t row) { waiting.rows.AppendRow(batch, row); });
}

void Graph::FlushDead() {
  // What is delivered may fail in turn, into the dead letters of another table.
  while (!waiting_dead_.empty() && error_.ok()) {
    std::vector<WaitingDead> all = std::move(waiting_dead_);
    waiting_dead_.clear();
    std::ranges::stable_sort(all, {}, &WaitingDead::to);
    for (size_t from = 0, end = 0; from < all.size(); from = end) {
      while (end < all.size() && all[end].to == all[from].to) ++end;
      std::vector<WaitingDead> one(std::make_move_iterator(all.begin() + from),
                                   std::make_move_iterator(all.begin() + end));
      DeliverInOrder(one);
    }
  }
}

void Graph::DeliverInOrder(std::vector<WaitingDead>& letters) {
  const Batch& first = letters.front().rows;
  const bool of_one_partition = std::ranges::all_of(letters, [&](const WaitingDead& w) {
    return !w.rows.positions.empty() && w.rows.partition == first.partition &&
           w.rows.source == first.source && w.rows.watermarks.empty() == first.watermarks.empty();
  });
  if (letters.size() == 1 || !of_one_partition) {  // fired windows come in the order of their ends
    for (const WaitingDead& w : letters) Deliver(w.to, w.rows);
    return;
  }
  struct At {
    int64_t position;
    const Batch* batch;
    uint32_t row;
  };
  std::vector<At> order;
  for (const WaitingDead& w : letters) {
    for (uint32_t row = 0; row < w.rows.rows(); ++row)
      order.push_back({w.rows.positions[row], &w.rows, row});
  }
  std::ranges::stable_sort(order, {}, &At::position);
  Batch merged;
  merged.Reset(plan::DeadLetterSchema());
  for (const At& at : order) merged.AppendRow(*at.batch, at.row);
  Deliver(letters.front().to, merged);
}

void Graph::Deliver(plan::NodeId to, const Batch& batch) {
  NodeState& state = nodes_[to];
  if (state.op != nullptr) {
    state.op->Push(batch, *state.out);
    if (!state.op->status().ok()) RecordError(state.op->status());
    return;
  }
  Sink& sink = sinks_[state.sink];
  Status status = sink.stage != nullptr ? sink.stage->Stage(batch, *state.out)
                                        : sink.direct->Write(batch, *state.out);
  if (!status.ok()) RecordError(std::move(status));
}

void Graph::Advance(plan::NodeId from, TimestampMs watermark) {
  if (!error_.ok()) return;
  // Late rows and dead letters carry no time of their own: nothing with a window reads those edges.
  for (const plan::NodeId to : nodes_[from].consumers[static_cast<int>(plan::Edge::kMain)]) {
    NodeState& state = nodes_[to];
    if (state.op == nullptr || watermark <= state.watermark) continue;
    state.op->AdvanceWatermark(watermark, *state.out);
    state.watermark = watermark;
    if (!state.op->status().ok()) return RecordError(state.op->status());
    Advance(to, watermark);
  }
}

// A late row is excused when its partition did not hold the watermark while its window closed
// (time.md).
void Graph::CountWoke(NodeState& window, const Batch& late) {
  if (late.partition < 0) return;
  const auto& body = std::get<plan::WindowNode>(window.node->body);
  const Column& window_end = late.column(body.late_columns.size() + 1);
  for (const auto& scan : scans_) {
    if (scan->table_name() != late.source) continue;
    const TimestampMs since = scan->HoldsSince(late.partition);
    uint64_t woke = 0;
    late.ForEachSelected([&](uint32_t row) { woke += window_end.ints[row] - 1 <= since ? 1 : 0; });
    window.op->books()[flow::Count::kLateWoke] += woke;
    return;
  }
}

void Graph::FailOnDead(const Batch& dead) {
  const uint32_t row = dead.has_selection() ? dead.selection()[0] : 0;
  const auto text = [&](size_t column) {
    const Column& c = dead.column(column);
    return c.IsNull(row) ? std::string() : std::string(c.strings[row]);
  };
  std::string where = text(5);
  const Column& part = dead.column(6);
  for (const auto& scan : scans_) {
    if (scan->table_name() == where && !part.IsNull(row)) {
      where = scan->LabelOf(static_cast<int32_t>(part.ints[row]));
      break;
    }
  }
  const Column& pos = dead.column(7);
  if (!pos.IsNull(row)) where += " at position " + std::to_string(pos.ints[row]);
  RecordError(
      Status(Code::kBadRow, (where.empty() ? "" : where + ": ") + text(1) + ": " + text(2)));
}

std::vector<Graph::NodeBooksRef> Graph::Books() const {
  std::vector<NodeBooksRef> all;
  for (const NodeState& state : nodes_) {
    NodeBooksRef ref{state.node, flow::BooksKind::kPassThrough, {}};
    if (state.scan >= 0) {
      ref.kind = flow::BooksKind::kScan;
      ref.books = scans_[state.scan]->books();
    } else if (state.sink >= 0) {
      ref.kind = flow::BooksKind::kSink;
      ref.books = sinks_[state.sink].books();
    } else {
      if (std::holds_alternative<plan::CalcNode>(state.node->body))
        ref.kind = flow::BooksKind::kCalc;
      if (std::holds_alternative<plan::WindowNode>(state.node->body))
        ref.kind = flow::BooksKind::kWindow;
      ref.books = state.op->books();
      state.op->CountBooks(ref.books);
    }
    all.push_back(std::move(ref));
  }
  return all;
}

void Graph::SetBooks(const plan::Node& node, flow::NodeBooks books) {
  books[flow::Count::kOpen] = 0;  // a gauge: the operator counts what it has restored
  NodeState& state = nodes_[node.id];
  if (state.scan >= 0)
    scans_[state.scan]->books() = books;
  else if (state.sink >= 0)
    sinks_[state.sink].books() = books;
  else
    state.op->books() = books;
}

std::string Graph::CheckBalance() const {
  std::string wrong;
  for (const NodeBooksRef& ref : Books()) {
    const std::string text = flow::CheckBooks(ref.node->name, ref.kind, ref.books);
    if (!text.empty()) wrong += (wrong.empty() ? "" : "; ") + text;
  }
  return wrong;
}

uint64_t Graph::StateBytes() const {
  uint64_t bytes = 0;
  for (const NodeState& state : nodes_) {
    if (state.op != nullptr) bytes += state.op->StateBytes();
  }
  return bytes;
}

}  // namespace weir::runtime
