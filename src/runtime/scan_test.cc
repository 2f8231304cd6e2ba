// The scan over a source of rows in memory: whose turn it is, what each row sees, what is sealed.
#include "runtime/scan.h"

#include <doctest/doctest.h>

#include <map>

#include "io/sim_clock.h"

namespace weir::runtime {

namespace {

struct Row {
  int64_t ts;
  bool dead = false;  // a record that cannot be decoded
  int64_t record_ms = kNoRecordTime;
  TimestampMs upstream = kWatermarkNone;
};

using Files = std::vector<std::vector<Row>>;

// What a live source says of itself.
struct Live {
  bool woken = true;
  bool at_end = true;
  bool in_turns = false;
  bool by_broker = false;
  bool upstream = false;  // rows may carry a watermark
};

// Partition i is files[i]; a position is a row number; saved blobs are "POSITION".
class MemorySource : public flow::Source {
 public:
  // live: unbounded, what comes later is put into it.
  MemorySource(const Files& files, const Live* live)
      : files_(files), live_(live), at_(files.size(), 0) {}

  Status Open(const std::vector<flow::SavedPosition>& saved, std::string_view) override {
    for (const flow::SavedPosition& s : saved) saved_[s.key] = std::stoll(s.blob);
    return Status::Ok();
  }
  Status Discover(std::vector<flow::PartitionInfo>& found) override {
    for (; known_ < files_.size(); ++known_) {
      const std::string key = "f" + std::to_string(known_);
      const auto saved = saved_.find(key);
      if (saved != saved_.end()) at_[known_] = static_cast<size_t>(saved->second);
      found.push_back({static_cast<int32_t>(known_), key, key, saved != saved_.end(), false,
                       static_cast<int64_t>(at_[known_]), live_ != nullptr && live_->in_turns});
    }
    return Status::Ok();
  }
  bool Complete() const override { return true; }
  bool Woken() override { return live_ != nullptr && live_->woken; }
  bool AtEnd(flow::PartitionIndex) const override { return live_ == nullptr || live_->at_end; }
  Result<flow::ReadState> Read(flow::PartitionIndex p, uint32_t max_rows, Batch& out) override {
    Append(p, at_[p], max_rows, out);
    at_[p] = static_cast<size_t>(out.end_position);
    if (live_ != nullptr) return out.rows() > 0 ? flow::ReadState::kRows : flow::ReadState::kWait;
    return at_[p] == files_[p].size() ? flow::ReadState::kEnd : flow::ReadState::kRows;
  }
  bool MayRead(flow::PartitionIndex p) const override {
    return live_ == nullptr || at_[p] < files_[p].size();
  }
  Status Peek(flow::PartitionIndex p, Batch& out) override {
    Append(p, 0, 100, out);
    return Status::Ok();
  }
  Result<std::string> EncodePosition(flow::PartitionIndex, int64_t position) override {
    return std::to_string(position);
  }
  void Release(flow::PartitionIndex, int64_t) override {}
  std::optional<std::string> FreezeSourceState() override { return std::nullopt; }
  void TakeForgotten(std::vector<std::string>&) override {}
  std::vector<flow::SourcePark> parks() const override { return {}; }
  std::string Trouble() const override { return ""; }
  void AppendStatus(std::string&) const override {}
  void Progress(uint64_t* read, uint64_t* total) const override { *read = *total = 0; }
  int64_t PollIntervalMs() const override { return -1; }

 private:
  void Append(flow::PartitionIndex p, size_t from, uint32_t max_rows, Batch& out) {
    size_t at = from;
    uint32_t rows = 0;
    for (; at < files_[p].size() && rows < max_rows; ++at) {
      const Row& row = files_[p][at];
      if (row.dead) {
        out.non_rows.push_back(
            {rows, false, static_cast<int64_t>(at), static_cast<int64_t>(at + 1), "x", "bad", "?"});
        continue;
      }
      out.ResizeOwned(rows + 1);
      out.SetRows(rows + 1);
      out.mutable_column(0).valid[rows] = 1;
      out.mutable_column(0).ints[rows] = row.ts;
      out.positions.resize(rows + 1);
      out.positions[rows] = static_cast<int64_t>(at);
      if (live_ != nullptr && live_->upstream) out.upstream_watermarks.push_back(row.upstream);
      if (row.record_ms != kNoRecordTime) {
        out.record_ms.push_back(row.record_ms);
        out.record_by_broker.push_back(live_ != nullptr && live_->by_broker);
      }
      ++rows;
    }
    out.positions.resize(rows);
    out.end_position = static_cast<int64_t>(at);
  }

  const Files& files_;
  const Live* live_;
  std::vector<size_t> at_;
  size_t known_ = 0;
  std::map<std::string, int64_t> saved_;
};

// The scan's outputs: the columns as they are.
class PassThrough : public flow::Operator {
 public:
  void Push(const Batch& batch, flow::Outputs& out) override { out.Main(batch); }
  void AdvanceWatermark(TimestampMs, flow::Outputs&) override {}
  Status Restore(flow::StateReader&) override { return Status::Ok(); }
  void Freeze(std::vector<flow::BucketDelta>&) override {}
  uint64_t StateBytes() const override { return 0; }
  uint64_t Evict(uint64_t) override { return 0; }
  Status status() const override { return Status::Ok(); }
  void CountBooks(flow::NodeBooks&) const override {}
  flow::NodeBooks& books() override { return books_; }

 private:
  flow::NodeBooks books_;
};

// What came out, in order: "ts@watermark", "dead", "w<watermark>" left out.
class Collector : public flow::Outputs {
 public:
  void Main(const Batch& batch) override {
    batch.ForEachSelected([&](uint32_t r) {
      const TimestampMs w = batch.watermarks[r];
      text.push_back(std::to_string(batch.column(0).ints[r]) + "@" +
                     (w == kWatermarkNone ? "-" : std::to_string(w)));
    });
  }
  void Late(const Batch&) override {}
  void Dead(const Batch& batch) override {
    batch.ForEachSelected([&](uint32_t) { text.push_back("dead"); });
  }
  void Watermark(TimestampMs w) override { last = w; }
  std::vector<std::string> text;
  TimestampMs last = kWatermarkNone;
};

class NoState : public flow::StateReader {
 public:
  Status ReadBucket(std::string_view bucket,
                    const std::function<Status(std::string_view)>& f) override {
    for (const auto& delta : deltas) {
      if (delta.bucket == bucket && !delta.dropped) {
        if (Status status = f(delta.blob); !status.ok()) return status;
      }
    }
    return Status::Ok();
  }
  Status ListBuckets(const std::function<void(std::string_view, uint64_t)>& f) override {
    std::map<std::string, uint64_t> buckets;
    for (const auto& delta : deltas) buckets[delta.bucket] += delta.blob.size();
    for (const auto& [bucket, bytes] : buckets) f(bucket, bytes);
    return Status::Ok();
  }
  std::vector<flow::BucketDelta> deltas;
};

struct World {
  explicit World(Files f) : files(std::move(f)) {
    table.name = "t";
    table.columns.push_back(
        {plan::ColumnDef::Kind::kPhysical, "ts", Type::Timestamp(3), {}, nullptr, "", false});
    plan::ScanNode scan;
    scan.table = &table;
    scan.raw_columns = {0};
    scan.rowtime = 0;
    scan.watermark_bound_ms = 5;
    scan.bounded = true;
    node.id = 0;
    node.name = "scan:t";
    node.body = std::move(scan);
    factories.source = [this](const plan::Node&,
                              const Schema&) -> Result<std::unique_ptr<flow::Source>> {
      return std::make_unique<MemorySource>(files, live ? &*live : nullptr);
    };
    factories.scan_outputs = [](const plan::Node&,
                                const Schema&) -> Result<std::unique_ptr<flow::Operator>> {
      return std::make_unique<PassThrough>();
    };
    clock.SetWallMs(1893456000000);
  }

  std::unique_ptr<Scan> NewScan(uint32_t batch_rows, int64_t max_drift_ms) {
    ScanSettings settings;
    settings.batch_rows = batch_rows;
    settings.max_drift_ms = max_drift_ms;
    return std::make_unique<Scan>(node, factories, settings, clock);
  }

  Files files;
  std::optional<Live> live;
  plan::TableDef table;
  plan::Node node;
  Factories factories;
  io::SimClock clock;
};

std::vector<std::string> RunAll(Scan& scan, Collector& out) {
  while (true) {
    const Result<Scan::Outcome> outcome = scan.Poll(out);
    REQUIRE(outcome.has_value());
    if (*outcome == Scan::Outcome::kEnded) return out.text;
    REQUIRE(*outcome == Scan::Outcome::kProgress);
  }
}

const Files kThreeFiles = {{{100}, {130}, {90}, {200}, {205}, {300}},
                           {{101}, {0, true}, {110}, {111}, {250}},
                           {{95}, {96}, {400}, {401}, {150}}};

}  // namespace

TEST_CASE("reading order and watermarks depend on event time only, not on the batch size") {
  World world(kThreeFiles);
  std::vector<std::string> want;
  for (const uint32_t batch : {2048u, 1u, 2u, 7u}) {
    CAPTURE(batch);
    NoState state;
    Collector out;
    auto scan = world.NewScan(batch, 20);
    REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
    const auto got = RunAll(*scan, out);
    if (want.empty()) want = got;
    std::string got_text, want_text;
    // A dead letter leaves on an edge of its own: only its place among its own kind counts.
    for (const std::string& t : got) got_text += t == "dead" ? "" : t + " ";
    for (const std::string& t : want) want_text += t == "dead" ? "" : t + " ";
    CHECK(got_text == want_text);
    CHECK(got.size() == 16);
    CHECK(out.last == kWatermarkMax);
    CHECK(scan->books()[flow::Count::kRead] == 16);
    CHECK(scan->books()[flow::Count::kDead] == 1);
  }
}

TEST_CASE("the lowest file is read first, until it is max-drift ahead of the next lowest") {
  World world({{{100}, {110}, {131}, {132}}, {{105}, {140}}});
  NoState state;
  Collector out;
  auto scan = world.NewScan(2048, 20);
  REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
  // f1 stands at 105 - 5 by its peek: f0 goes on until it is more than 20 above that.
  CHECK(RunAll(*scan, out) ==
        std::vector<std::string>{"100@95", "110@95", "131@100", "105@100", "140@100", "132@126"});
}

TEST_CASE("a restart at any epoch goes on with the same rows, watermarks and turn") {
  World world(kThreeFiles);
  NoState none;
  Collector straight;
  auto scan = world.NewScan(2, 20);
  REQUIRE(scan->Open(none, kWatermarkNone, "").ok());
  const auto want = RunAll(*scan, straight);
  NoState state;
  std::vector<std::string> got;
  TimestampMs watermark = kWatermarkNone;
  std::string current;
  for (int life = 0; life < 100; ++life) {
    Collector out;
    auto again = world.NewScan(2, 20);
    REQUIRE(again->Open(state, watermark, current).ok());
    const Result<Scan::Outcome> outcome = again->Poll(out);  // one batch a life
    REQUIRE(outcome.has_value());
    got.insert(got.end(), out.text.begin(), out.text.end());
    REQUIRE(again->Freeze(state.deltas).ok());
    watermark = again->watermark();
    current = again->CurrentKey();
    if (*outcome == Scan::Outcome::kEnded) break;
  }
  CHECK(got == want);
}

TEST_CASE("a row far ahead of its arrival goes on, and does not move the watermark") {
  const Files one_file = {
      {{1893456000000 - 1000}, {1893456000000 + 400000}, {1893456000000 - 900}}};
  World world(one_file);
  NoState state;
  Collector out;
  auto scan = world.NewScan(2048, 30000);
  REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
  CHECK(RunAll(*scan, out) == std::vector<std::string>{"1893455999000@1893455998995",
                                                       "1893456400000@1893455998995",
                                                       "1893455999100@1893455998995"});
  CHECK(scan->books()[flow::Count::kFutureSkew] == 1);
}

// Polls until nothing comes.
std::vector<std::string> Take(Scan& scan, Collector& out) {
  out.text.clear();
  for (int quiet = 0; quiet < 3;) {
    const Result<Scan::Outcome> outcome = scan.Poll(out);
    REQUIRE(outcome.has_value());
    quiet = *outcome == Scan::Outcome::kProgress ? 0 : quiet + 1;
  }
  return out.text;
}

TEST_CASE("a restored partition that becomes idle before it is read keeps its position") {
  World world(Files{{{100}, {110}, {120}}});
  world.live.emplace();
  NoState state;
  Collector out;
  auto scan = world.NewScan(2048, 30000);
  REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
  CHECK(Take(*scan, out).size() == 3);
  REQUIRE(scan->Freeze(state.deltas).ok());
  // The next life reads nothing, and finds the partition idle.
  auto second = world.NewScan(2048, 30000);
  REQUIRE(second->Open(state, 115, "").ok());
  CHECK(Take(*second, out).empty());
  world.clock.AdvanceMs(61'000);
  CHECK(Take(*second, out).empty());
  CHECK(second->dirty());
  REQUIRE(second->Freeze(state.deltas).ok());
  auto third = world.NewScan(2048, 30000);
  REQUIRE(third->Open(state, 115, "").ok());
  CHECK(Take(*third, out).empty());
}

TEST_CASE("idle is proven: a partition of which nobody knows the end holds the watermark") {
  World world(Files{{{100}, {110}}, {{100}}});
  world.live.emplace();
  NoState state;
  Collector out;
  auto scan = world.NewScan(2048, 30000);
  REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
  Take(*scan, out);
  CHECK(scan->watermark() == 95);
  world.live->at_end = false;
  world.clock.AdvanceMs(61'000);
  world.files[0].push_back({200});
  Take(*scan, out);
  CHECK(scan->watermark() == 95);
  // Its end is known again: it is idle, and holds nothing back.
  world.live->at_end = true;
  world.clock.AdvanceMs(61'000);
  world.files[0].push_back({210});
  Take(*scan, out);
  CHECK(scan->watermark() == 205);
  // Its leader cannot be reached any more: it holds again, the watermark stays where it is.
  world.live->at_end = false;
  world.clock.AdvanceMs(200);
  world.files[0].push_back({300});
  Take(*scan, out);
  CHECK(scan->watermark() == 205);
}

TEST_CASE("arrival is the broker's time where it set one, else the earlier of record and clock") {
  constexpr int64_t kNow = 1893456000000;
  struct Case {
    const char* name;
    int64_t record_ms;
    bool by_broker, believed;
    uint64_t skewed;  // a row 400 s ahead of the clock, 5 min being allowed
  };
  const Case cases[] = {
      {"the clock", kNoRecordTime, false, true, 1},
      {"the record says later: the clock", kNow + 900'000, false, true, 1},
      {"the record says earlier", kNow - 1, false, true, 1},
      {"the broker's later time counts", kNow + 900'000, true, true, 0},
      {"a clock that is not believed guards nothing", kNow, false, false, 0},
      {"but the broker's does", kNow, true, false, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world(Files{{{kNow + 400'000, false, c.record_ms}}});
    world.live.emplace();
    world.live->by_broker = c.by_broker;
    if (!c.believed) world.clock.SetWallMs(0);
    NoState state;
    Collector out;
    auto scan = world.NewScan(2048, 30000);
    REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
    CHECK(Take(*scan, out).size() == 1);
    CHECK(scan->books()[flow::Count::kFutureSkew] == c.skewed);
  }
}

TEST_CASE("a watermark that came with a row stands for its event time, and is guarded like one") {
  // Event times of a topic that was written by key: in no order. The bound is 5.
  const std::vector<Row> one = {{300, false, kNoRecordTime, 90},
                                {120, false, kNoRecordTime, 95},
                                {110, false, kNoRecordTime, kWatermarkNone},
                                {140, false, kNoRecordTime, 80},
                                {500, false, kNoRecordTime, 1893457000000},
                                {140, false, kNoRecordTime, 130}};
  for (const uint32_t batch_rows : {1u, 4u, 2048u}) {
    CAPTURE(batch_rows);
    World world(Files{one, {{100, false, kNoRecordTime, 125}, {160, false, kNoRecordTime, 140}}});
    world.live.emplace();
    world.live->upstream = true;
    NoState state;
    Collector out;
    auto scan = world.NewScan(batch_rows, 30000);
    REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
    Take(*scan, out);
    // Of the first partition: 90, 95, then 110 - 5 by the bound; 80 is behind; the far one is not
    // believed; 130. Of the second: 125, 140.
    CHECK(scan->watermark() == 130);
    CHECK(scan->books()[flow::Count::kFutureSkew] == 1);
  }
}

TEST_CASE("without event time partitions are read in turns where the source wants it") {
  for (const bool in_turns : {false, true}) {
    World world(Files{{{1}, {2}, {3}}, {{11}, {12}}});
    world.live.emplace();
    world.live->in_turns = in_turns;
    std::get<plan::ScanNode>(world.node.body).rowtime = -1;
    NoState state;
    Collector out;
    auto scan = world.NewScan(1, 0);
    REQUIRE(scan->Open(state, kWatermarkNone, "").ok());
    CHECK(Take(*scan, out) ==
          (in_turns ? std::vector<std::string>{"1@-", "11@-", "2@-", "12@-", "3@-"}
                    : std::vector<std::string>{"1@-", "2@-", "3@-", "11@-", "12@-"}));
  }
}

TEST_CASE("a clock before the build or behind the sealed time is not believed") {
  CHECK(!ClockBelieved(0, kWatermarkNone));
  CHECK(ClockBelieved(1893456000000, kWatermarkNone));
  CHECK(!ClockBelieved(1893456000000, 1893456000001));
  CHECK(ClockBelieved(1893456000000, kWatermarkMax));
}

}  // namespace weir::runtime
