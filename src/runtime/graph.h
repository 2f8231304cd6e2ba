// Graph: the nodes of a plan at run time and the edges between them. Batches and watermarks go
// down, depth first, on the loop thread; nothing is queued, so between two batches nothing is in
// flight.
#ifndef WEIR_RUNTIME_GRAPH_H_
#define WEIR_RUNTIME_GRAPH_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flow/books.h"
#include "flow/operator.h"
#include "plan/plan.h"
#include "runtime/factories.h"
#include "runtime/scan.h"
#include "store/spool.h"

namespace weir::runtime {

// One sink node: exactly one of stage and direct.
struct Sink {
  std::string name;  // node name
  const plan::Node* node = nullptr;
  std::unique_ptr<flow::SinkStage> stage;  // the spool's too
  store::Spool* spool = nullptr;           // == stage when the target is delivered to
  std::string target;                      // with spool
  std::unique_ptr<flow::DirectSink> direct;
  // Of its inputs at the last cut, or as restored: what the rows of the epoch since then carry.
  TimestampMs watermark_at_cut = kWatermarkNone;

  flow::NodeBooks& books() const { return stage != nullptr ? stage->books() : direct->books(); }
};

class Graph {
 public:
  // `fail_on_dead`: weir.on-error = fail.
  Graph(const plan::Plan& plan, bool fail_on_dead);
  ~Graph();

  // Makes every node. Spools are made through `new_spool`.
  using NewSpool = std::function<Result<std::unique_ptr<store::Spool>>(const plan::Node& sink,
                                                                       const std::string& target)>;
  Status Build(const Factories& factories, const ScanSettings& defaults, io::Clock& clock,
               const NewSpool& new_spool);

  std::vector<std::unique_ptr<Scan>>& scans() { return scans_; }
  std::vector<Sink>& sinks() { return sinks_; }
  struct OperatorRef {
    const plan::Node* node;
    flow::Operator* op;
  };
  std::vector<OperatorRef> operators();

  // Takes up a restored scan's watermark: what it had closed is closed, and the first rows that
  // fire now carry it.
  void Resume(size_t scan);
  // Every sink's watermark is taken: its lowest input's. Dead letters have none.
  void NoteWatermarks();
  // Reads and pushes one batch of `scan` through everything below it.
  Result<Scan::Outcome> Poll(size_t scan);
  // The first failure below a Poll; sticky.
  const Status& error() const { return error_; }

  // Books of every node, in plan order.
  struct NodeBooksRef {
    const plan::Node* node;
    flow::BooksKind kind;
    flow::NodeBooks books;  // a copy, gauges included
  };
  std::vector<NodeBooksRef> Books() const;
  void SetBooks(const plan::Node& node, flow::NodeBooks books);
  // Empty, or the equations that do not hold.
  std::string CheckBalance() const;
  uint64_t StateBytes() const;

 private:
  class Edge;
  struct NodeState {
    const plan::Node* node = nullptr;
    std::unique_ptr<Edge> out;
    std::unique_ptr<flow::Operator> op;
    bool fail_on_dead = false;  // weir.on-error of the file; of a scan its table's, where it says
    int scan = -1;
    int sink = -1;
    std::vector<plan::NodeId> consumers[3];  // by plan::Edge
    TimestampMs watermark = kWatermarkNone;
  };

  // Dead letters wait until the rows that a scan has pushed are through all nodes: nodes in a chain
  // fail one after the other, and what they refuse leaves in reading order all the same, however
  // many rows a batch has.
  struct WaitingDead {
    plan::NodeId to;
    Batch rows;
  };
  void KeepDead(plan::NodeId to, const Batch& batch);
  void FlushDead();
  void DeliverInOrder(std::vector<WaitingDead>& letters);  // all to one node

  void Emit(plan::NodeId from, plan::Edge edge, const Batch& batch);
  void Deliver(plan::NodeId to, const Batch& batch);
  void Advance(plan::NodeId from, TimestampMs watermark);
  TimestampMs WatermarkOf(plan::NodeId node) const;
  void CountWoke(NodeState& window, const Batch& late);
  void FailOnDead(const Batch& dead);
  void RecordError(Status status);

  const plan::Plan& plan_;
  bool fail_on_dead_;
  std::vector<NodeState> nodes_;
  std::vector<std::unique_ptr<Scan>> scans_;
  std::vector<Sink> sinks_;
  std::vector<WaitingDead> waiting_dead_;
  Status error_;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_GRAPH_H_
