// What the window operator costs: ns per row at 1 k and 100 k keys, the freeze of 100 k dirty keys,
// bytes per key. `window_bench [rows]`. CPU time of the thread; min, median and max of five runs.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "operators/factory.h"

namespace weir::operators {
namespace {

using plan::AggregateCall;

double CpuNanos() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

constexpr uint32_t kBatchRows = 2048;

Schema InputSchema() {
  return Schema{{{"page", Type::Of(TypeKind::kString)},
                 {"amount", Type::Decimal(12, 2)},
                 {"ts", Type::Timestamp(3)}}};
}

plan::Node NodeOf(plan::WindowNode::Kind kind, bool sum) {
  plan::WindowNode w;
  w.kind = kind;
  w.size_ms = 10000;
  w.gap_ms = 2000;
  w.time_column = 2;
  w.keys = {0};
  const Type ts = Type::Timestamp(3);
  plan::Node node;
  node.name = "window:bench";
  node.output.fields.push_back({"page", Type::Of(TypeKind::kString)});
  w.aggregates.push_back({AggregateCall::Fn::kCountStar, -1, Type::Of(TypeKind::kBigInt)});
  node.output.fields.push_back({"n", Type::Of(TypeKind::kBigInt)});
  if (sum) {
    w.aggregates.push_back({AggregateCall::Fn::kSum, 1, Type::Decimal(38, 2)});
    node.output.fields.push_back({"total", Type::Decimal(38, 2)});
  }
  for (const char* name : {"window_start", "window_end", "window_time"}) {
    node.output.fields.push_back({name, ts});
  }
  w.late_schema = Schema{{{"window_start", ts}, {"window_end", ts}, {"watermark", ts}}};
  node.body = std::move(w);
  return node;
}

struct Sink final : flow::Outputs {
  uint64_t rows = 0;
  void Main(const Batch& batch) override { rows += batch.selected_count(); }
  void Late(const Batch&) override {}
  void Dead(const Batch&) override {}
  void Watermark(TimestampMs) override {}
};

// 50,000 rows per second of event time, up to 3 s out of order, bound 5 s (docs/performance.md).
// One batch at a time, as a decoder leaves it: the operator finds it in the cache.
class Input {
 public:
  explicit Input(uint64_t keys) : keys_(keys) {}
  const Batch& Next() {
    batch_.Reset(InputSchema(), kBatchRows);
    batch_.watermarks.resize(kBatchRows);
    for (uint32_t r = 0; r < kBatchRows; ++r) {
      char key[24];
      const int n = std::snprintf(key, sizeof key, "/p/%llu",
                                  static_cast<unsigned long long>(random_() % keys_));
      batch_.mutable_column(0).strings[r] =
          batch_.arena().Copy(std::string_view(key, static_cast<size_t>(n)));
      batch_.mutable_column(1).decimals[r] = static_cast<int64_t>(random_() % 10000);
      const int64_t time = static_cast<int64_t>(1700000000000 + rows_++ / 50 - random_() % 3000);
      batch_.mutable_column(2).ints[r] = time;
      for (size_t c = 0; c < 3; ++c) batch_.mutable_column(c).valid[r] = 1;
      batch_.watermarks[r] = watermark_;
      highest_ = std::max(highest_, time);
      watermark_ = highest_ - 5000;
    }
    return batch_;
  }
  TimestampMs watermark() const { return watermark_; }

 private:
  uint64_t keys_;
  uint64_t rows_ = 0;
  std::mt19937_64 random_{1};
  TimestampMs watermark_ = kWatermarkNone;
  TimestampMs highest_ = 0;
  Batch batch_;
};

std::unique_ptr<flow::Operator> Make(const plan::Node& node) {
  static const plan::Plan plan;
  auto made = NewOperator(node, InputSchema(), plan);
  if (!made) std::abort();
  return std::move(*made);
}

std::string g_only;

void Report(const std::string& what, const std::function<double()>& run, const char* unit) {
  if (what.find(g_only) == std::string::npos) return;
  std::vector<double> figures;
  for (int i = 0; i < 5; ++i) figures.push_back(run());
  std::sort(figures.begin(), figures.end());
  std::printf("%-52s %8.1f %8.1f %8.1f %s\n", what.c_str(), figures[0], figures[2], figures[4],
              unit);
}

double NanosPerRow(const plan::Node& node, size_t rows, uint64_t keys, bool freeze) {
  std::unique_ptr<flow::Operator> op = Make(node);
  Input input(keys);
  Sink sink;
  double nanos = 0;
  const size_t batches = rows / kBatchRows;
  for (size_t n = 1; n <= batches; ++n) {
    const Batch& batch = input.Next();
    const double begin = CpuNanos();
    op->Push(batch, sink);
    op->AdvanceWatermark(input.watermark(), sink);
    if (freeze && n % 25 == 0) {  // one epoch per second of event time
      std::vector<flow::BucketDelta> deltas;
      op->Freeze(deltas);
    }
    nanos += CpuNanos() - begin;
  }
  const double begin = CpuNanos();
  op->AdvanceWatermark(kWatermarkMax, sink);
  nanos += CpuNanos() - begin;
  if (sink.rows == 0) std::abort();
  return nanos / static_cast<double>(batches * kBatchRows);
}

void Run(size_t rows) {
  std::printf("%-52s %8s %8s %8s\n", "", "min", "median", "max");
  const plan::Node tumble = NodeOf(plan::WindowNode::Kind::kTumble, true);
  const plan::Node session = NodeOf(plan::WindowNode::Kind::kSession, true);
  for (uint64_t keys : {1000, 100000}) {
    const std::string size = std::to_string(keys) + " keys";
    Report(("TUMBLE COUNT, SUM(DECIMAL), " + size),
           [&] { return NanosPerRow(tumble, rows, keys, false); }, "ns/row");
    Report(("... and a freeze per s of event time, " + size),
           [&] { return NanosPerRow(tumble, rows, keys, true); }, "ns/row");
    Report(("SESSION COUNT, SUM(DECIMAL), " + size),
           [&] { return NanosPerRow(session, rows, keys, false); }, "ns/row");
  }
  // 100 k dirty keys in one window.
  const plan::Node count = NodeOf(plan::WindowNode::Kind::kTumble, false);
  plan::Node wide = NodeOf(plan::WindowNode::Kind::kTumble, false);
  std::get<plan::WindowNode>(wide.body).size_ms = 86400000;
  Sink sink;
  double bytes_per_key = 0;
  size_t blob_bytes = 0;
  Report(
      "freeze of 100 k dirty keys",
      [&] {
        std::unique_ptr<flow::Operator> op = Make(wide);
        Input input(100000);
        for (size_t n = 0; n < (1 << 20) / kBatchRows; ++n) op->Push(input.Next(), sink);
        bytes_per_key = static_cast<double>(op->StateBytes()) / 100000;
        std::vector<flow::BucketDelta> deltas;
        const double begin = CpuNanos();
        op->Freeze(deltas);
        const double nanos = CpuNanos() - begin;
        blob_bytes = deltas.at(0).blob.size();
        return nanos / 1e6;
      },
      "ms");
  std::printf("%-52s %8.1f bytes\n", "state per key, one BIGINT count", bytes_per_key);
  std::printf("%-52s %8.1f bytes\n", "blob per key", static_cast<double>(blob_bytes) / 100000);
}

}  // namespace
}  // namespace weir::operators

int main(int argc, char** argv) {
  if (argc > 2) weir::operators::g_only = argv[2];
  weir::operators::Run(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2 << 20);
}
