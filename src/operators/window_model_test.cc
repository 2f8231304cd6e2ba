// Windows against a model that takes one row at a time and recomputes everything from the rows of a
// window, for random streams, in batches of several sizes, with freezes, restores and evictions at
// random points. All must agree to the row.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <optional>
#include <random>

#include "operators/factory.h"
#include "operators/testing/rows.h"
#include "state/blob.h"

namespace weir::operators {
namespace {

using flow::Count;
using plan::AggregateCall;

constexpr int64_t kSize = 1000;
constexpr int64_t kOffset = 300;
constexpr int64_t kGap = 400;

struct Row {
  std::optional<int64_t> time;
  std::optional<std::string> key;
  std::optional<int64_t> value;
  std::optional<std::string> text;
  TimestampMs watermark;  // made by the rows before it
};

Schema InputSchema() {
  return Schema{{{"k", Type::Of(TypeKind::kString)},
                 {"v", Type::Of(TypeKind::kBigInt)},
                 {"s", Type::Of(TypeKind::kString)},
                 {"ts", Type::Timestamp(3)}}};
}

plan::Node WindowNodeOf(plan::WindowNode::Kind kind) {
  plan::WindowNode w;
  w.kind = kind;
  w.size_ms = kSize;
  w.offset_ms = kOffset;
  w.gap_ms = kGap;
  w.time_column = 3;
  w.keys = {0};
  const Type bigint = Type::Of(TypeKind::kBigInt);
  const Type text = Type::Of(TypeKind::kString);
  w.aggregates = {
      {AggregateCall::Fn::kCountStar, -1, bigint}, {AggregateCall::Fn::kCount, 1, bigint},
      {AggregateCall::Fn::kSum, 1, bigint},        {AggregateCall::Fn::kMin, 2, text},
      {AggregateCall::Fn::kMax, 2, text},          {AggregateCall::Fn::kAvg, 1, bigint}};
  w.late_columns = {3, 0};
  const Type ts = Type::Timestamp(3);
  w.late_schema = Schema{
      {{"ts", ts}, {"k", text}, {"window_start", ts}, {"window_end", ts}, {"watermark", ts}}};
  w.view = "counts";
  plan::Node node;
  node.name = "window:counts";
  node.output = Schema{{{"k", text},
                        {"n", bigint},
                        {"c", bigint},
                        {"sum", bigint},
                        {"lo", text},
                        {"hi", text},
                        {"avg", bigint},
                        {"window_start", ts},
                        {"window_end", ts},
                        {"window_time", ts}}};
  node.body = std::move(w);
  return node;
}

// ---- the model

struct ModelWindow {
  int64_t start, end;
  std::string key;  // "NULL" for NULL: no key of the test is that text
  std::vector<Row> rows;
  uint64_t first;  // number of its first row
};

struct Model {
  bool sessions;
  std::vector<ModelWindow> open;
  TimestampMs watermark = kWatermarkNone;
  uint64_t number = 0;
  uint64_t null_times = 0;
  std::vector<std::string> main, late;
  std::vector<TimestampMs> main_watermarks;

  static std::string Result(const ModelWindow& w) {
    std::optional<std::string> lo, hi;
    int64_t count = 0, sum = 0;
    for (const Row& r : w.rows) {
      if (r.value) ++count, sum += *r.value;
      if (r.text && (!lo || *r.text < *lo)) lo = r.text;
      if (r.text && (!hi || *r.text > *hi)) hi = r.text;
    }
    return w.key + "," + std::to_string(w.rows.size()) + "," + std::to_string(count) + "," +
           (count ? std::to_string(sum) : "NULL") + "," + lo.value_or("NULL") + "," +
           hi.value_or("NULL") + "," + (count ? std::to_string(sum / count) : "NULL") + "," +
           std::to_string(w.start) + "," + std::to_string(w.end) + "," + std::to_string(w.end - 1);
  }

  void Advance(TimestampMs to) {
    if (to <= watermark) return;
    TimestampMs below = watermark;
    for (;;) {
      auto next = open.end();
      for (auto w = open.begin(); w != open.end(); ++w) {
        if (w->end - 1 > to) continue;
        if (next == open.end() || std::pair(w->end, w->first) < std::pair(next->end, next->first))
          next = w;
      }
      if (next == open.end()) break;
      main.push_back(Result(*next));
      const int64_t end = next->end;
      main_watermarks.push_back(below);
      open.erase(next);
      // Time goes on below only when no other of this end is left.
      bool more = false;
      for (const ModelWindow& w : open) more = more || w.end == end;
      if (!more) below = end - 1;
    }
    watermark = to;
  }

  void Take(const Row& row) {
    Advance(row.watermark);
    if (!row.time) {
      ++null_times;
      return;
    }
    const std::string key = row.key.value_or("NULL");
    int64_t start, end;
    std::vector<ModelWindow> joined;
    if (sessions) {
      start = *row.time;
      end = start + kGap;
      for (size_t i = 0; i < open.size();) {
        if (open[i].key == key && *row.time <= open[i].end && open[i].start <= *row.time + kGap) {
          joined.push_back(open[i]);
          open.erase(open.begin() + static_cast<ptrdiff_t>(i));
        } else {
          ++i;
        }
      }
    } else {
      int64_t k = (*row.time - kOffset) / kSize;
      if ((*row.time - kOffset) % kSize < 0) --k;
      start = kOffset + k * kSize;
      end = start + kSize;
      for (size_t i = 0; i < open.size(); ++i) {
        if (open[i].key == key && open[i].end == end) {
          joined.push_back(open[i]);
          open.erase(open.begin() + static_cast<ptrdiff_t>(i));
          break;
        }
      }
    }
    ModelWindow w{start, end, key, {}, ++number};
    for (const ModelWindow& j : joined) {
      w.start = std::min(w.start, j.start);
      w.end = std::max(w.end, j.end);
      w.first = std::min(w.first, j.first);
      w.rows.insert(w.rows.end(), j.rows.begin(), j.rows.end());
    }
    if (w.end - 1 <= watermark) {
      late.push_back(std::to_string(*row.time) + "," + key + "," + std::to_string(start) + "," +
                     std::to_string(end) + "," + std::to_string(watermark));
      return;
    }
    w.rows.push_back(row);
    open.push_back(std::move(w));
  }
};

// ---- the store

class Store final : public flow::StateReader {
 public:
  void Seal(std::vector<flow::BucketDelta> deltas, std::mt19937_64& random) {
    for (flow::BucketDelta& d : deltas) {
      std::vector<std::string>& blobs = blobs_[d.bucket];
      if (d.dropped) {
        CHECK(!blobs.empty());  // only what was sealed is dropped
        blobs_.erase(d.bucket);
        continue;
      }
      CHECK(d.entries > 0);
      blobs.push_back(std::move(d.blob));
      if (blobs.size() > 1 && random() % 3 == 0) {  // compaction
        std::vector<std::string_view> views(blobs.begin(), blobs.end());
        const Result<std::string> merged = MergeBlobs(views);
        REQUIRE(merged.has_value());
        blobs.assign(1, *merged);
      }
    }
  }
  Status ReadBucket(std::string_view bucket,
                    const std::function<Status(std::string_view)>& f) override {
    for (const std::string& blob : blobs_[std::string(bucket)]) WEIR_RETURN_IF_ERROR(f(blob));
    return Status::Ok();
  }
  Status ListBuckets(const std::function<void(std::string_view, uint64_t)>& f) override {
    for (const auto& [bucket, blobs] : blobs_) f(bucket, blobs.size());
    return Status::Ok();
  }

 private:
  std::map<std::string, std::vector<std::string>> blobs_;
};

// ---- the run

std::vector<Row> RandomRows(std::mt19937_64& random, size_t n) {
  std::vector<Row> rows;
  int64_t now = static_cast<int64_t>(random() % 5000) - 2500;  // before 1970 too
  int64_t highest = INT64_MIN;
  TimestampMs watermark = kWatermarkNone;
  for (size_t i = 0; i < n; ++i) {
    now += static_cast<int64_t>(random() % (random() % 50 == 0 ? 3000 : 30));
    Row row;
    row.watermark = watermark;
    if (random() % 50 != 0) {
      // Mostly within the bound of 500 ms, sometimes far behind; some exactly on multiples, to hit
      // the boundaries.
      int64_t t = now - static_cast<int64_t>(random() % (random() % 10 == 0 ? 3000 : 500));
      if (random() % 5 == 0) t -= t % 100;
      row.time = t;
    }
    if (random() % 20 != 0)
      row.key = std::string(random() % 20, 'k') + std::to_string(random() % 6);
    if (random() % 5 != 0) row.value = static_cast<int64_t>(random() % 2001) - 1000;
    if (random() % 5 != 0)
      row.text = std::string(random() % 40, static_cast<char>('a' + random() % 5));
    if (row.time && *row.time > highest) {
      highest = *row.time;
      watermark = highest - 500;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

TextRow Texts(const Row& r) {
  std::string time = "NULL";
  if (r.time) {
    time.clear();
    AppendTimestamp(*r.time, Type::Timestamp(3), TimestampStyle::kSql, SessionZone{}, time);
  }
  return {r.key.value_or("NULL"), r.value ? std::to_string(*r.value) : "NULL",
          r.text.value_or("NULL"), time};
}

struct Run {
  const plan::Node& node;
  const plan::Plan plan;
  Store store;
  std::unique_ptr<flow::Operator> op;
  Collector out;
  TimestampMs watermark = kWatermarkNone;

  explicit Run(const plan::Node& n) : node(n) { Open(); }
  void Open() {
    flow::NodeBooks books;
    if (op) books = op->books();
    Result<std::unique_ptr<flow::Operator>> made = NewOperator(node, InputSchema(), plan);
    REQUIRE(made.has_value());
    op = std::move(*made);
    op->books() = books;
    const Status restored = op->Restore(store);
    REQUIRE(restored.ok());
    op->AdvanceWatermark(watermark, out);
  }
  void Push(std::span<const Row> rows, TimestampMs after) {
    std::vector<TextRow> texts;
    std::vector<TimestampMs> watermarks;
    for (const Row& r : rows) {
      texts.push_back(Texts(r));
      watermarks.push_back(r.watermark);
    }
    Batch batch;
    FillBatch(InputSchema(), texts, batch);
    batch.watermarks = watermarks;
    op->Push(batch, out);
    op->AdvanceWatermark(after, out);
    watermark = after;
    CheckBalance();
  }
  void CheckBalance() {
    REQUIRE(op->status().ok());
    flow::NodeBooks books = op->books();
    op->CountBooks(books);
    CHECK(flow::CheckBooks("w", flow::BooksKind::kWindow, books) == "");
  }
  void Freeze(std::mt19937_64& random) {
    std::vector<flow::BucketDelta> deltas;
    op->Freeze(deltas);
    store.Seal(std::move(deltas), random);
    std::vector<flow::BucketDelta> again;
    op->Freeze(again);
    CHECK(again.empty());
  }
};

void CompareWithModel(plan::WindowNode::Kind kind, uint64_t seed) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::vector<Row> rows = RandomRows(random, 600);
  Model model{kind == plan::WindowNode::Kind::kSession, {}, kWatermarkNone, 0, 0, {}, {}, {}};
  for (const Row& row : rows) model.Take(row);
  model.Advance(kWatermarkMax);
  const plan::Node node = WindowNodeOf(kind);
  for (size_t batch_rows : {1, 7, 2048}) {
    for (bool disturbed : {false, true}) {
      CAPTURE(batch_rows);
      CAPTURE(disturbed);
      Run run(node);
      for (size_t at = 0; at < rows.size(); at += batch_rows) {
        const size_t end = std::min(rows.size(), at + batch_rows);
        // The watermark after the batch is what the next row sees; after the last row it does not
        // move.
        const TimestampMs after = end < rows.size() ? rows[end].watermark : rows.back().watermark;
        run.Push(std::span(rows).subspan(at, end - at), after);
        if (!disturbed) continue;
        if (random() % 4 == 0) {
          run.Freeze(random);
          if (random() % 2 == 0) run.op->Evict(random() % 2 == 0 ? 0 : run.op->StateBytes() / 2);
          if (random() % 3 == 0) run.Open();
        }
        run.CheckBalance();
      }
      run.op->AdvanceWatermark(kWatermarkMax, run.out);
      run.CheckBalance();
      CHECK(run.out.main == model.main);
      CHECK(run.out.late == model.late);
      CHECK(run.out.dead.size() == model.null_times);
      CHECK(std::is_sorted(run.out.watermarks.begin(), run.out.watermarks.end()));
      // After a restore the trail of watermarks within the epoch is told anew; the rows' watermarks
      // are the same all the same.
      CHECK(run.out.main_watermarks == model.main_watermarks);
      const flow::NodeBooks& books = run.op->books();
      CHECK(books[Count::kResults] == model.main.size());
      CHECK(books[Count::kLate] == model.late.size());
      CHECK(books[Count::kFired] == books[Count::kAssigned]);
    }
  }
  REQUIRE(model.late.size() > 5);  // the stream must have what it is to test
}

TEST_CASE(
    "TUMBLE equals the row by row model, whatever the batches, freezes, restores and evictions") {
  for (uint64_t seed = 1; seed <= 12; ++seed)
    CompareWithModel(plan::WindowNode::Kind::kTumble, seed);
}

TEST_CASE(
    "SESSION equals the row by row model, whatever the batches, freezes, restores and evictions") {
  for (uint64_t seed = 1; seed <= 12; ++seed)
    CompareWithModel(plan::WindowNode::Kind::kSession, seed);
}

}  // namespace
}  // namespace weir::operators
