// Windows by example: the field's cases, every type of aggregate, the dead letters, the edges,
// damaged state.
#include <doctest/doctest.h>

#include <map>

#include "operators/factory.h"
#include "operators/testing/evaluate.h"
#include "state/blob.h"

namespace weir::operators {
namespace {

using flow::Count;
using plan::AggregateCall;
using Fn = AggregateCall::Fn;
using Kind = plan::WindowNode::Kind;

const Type kBig = Type::Of(TypeKind::kBigInt);
const Type kText = Type::Of(TypeKind::kString);
const Type kTs = Type::Timestamp(3);

struct Call {
  Fn fn;
  int argument;
  Type type;
};

// Keys: the columns of `keys`; the last column of `input` is the time.
plan::Node Window(Kind kind, const Schema& input, std::vector<int> keys,
                  const std::vector<Call>& calls) {
  plan::WindowNode w;
  w.kind = kind;
  w.size_ms = 10000;
  w.gap_ms = 12000;
  w.time_column = static_cast<int>(input.fields.size()) - 1;
  w.keys = keys;
  w.view = "w";
  plan::Node node;
  node.name = "window:w";
  for (int k : keys) node.output.fields.push_back(input.fields[static_cast<size_t>(k)]);
  for (const Call& c : calls) {
    w.aggregates.push_back({c.fn, c.argument, c.type});
    node.output.fields.push_back({"r" + std::to_string(w.aggregates.size()), c.type});
  }
  for (const char* name : {"window_start", "window_end", "window_time"})
    node.output.fields.push_back({name, kTs});
  for (size_t i = 0; i < input.fields.size(); ++i) w.late_columns.push_back(static_cast<int>(i));
  w.late_schema = input;
  for (const char* name : {"window_start", "window_end", "watermark"})
    w.late_schema.fields.push_back({name, kTs});
  node.body = std::move(w);
  return node;
}

struct Store final : flow::StateReader {
  std::map<std::string, std::vector<std::string>> blobs;
  Status failure;
  Status ReadBucket(std::string_view bucket,
                    const std::function<Status(std::string_view)>& f) override {
    WEIR_RETURN_IF_ERROR(failure);
    for (const std::string& blob : blobs[std::string(bucket)]) WEIR_RETURN_IF_ERROR(f(blob));
    return Status::Ok();
  }
  Status ListBuckets(const std::function<void(std::string_view, uint64_t)>& f) override {
    for (const auto& [bucket, list] : blobs) f(bucket, list.size());
    return Status::Ok();
  }
  void Take(flow::Operator& op) {
    std::vector<flow::BucketDelta> deltas;
    op.Freeze(deltas);
    for (flow::BucketDelta& d : deltas) {
      if (d.dropped) {
        blobs.erase(d.bucket);
      } else {
        blobs[d.bucket].push_back(d.blob);
      }
    }
  }
};

std::unique_ptr<flow::Operator> Make(const plan::Node& node, const Schema& input) {
  static const plan::Plan plan;
  auto made = NewOperator(node, input, plan);
  REQUIRE(made.has_value());
  return std::move(*made);
}

// All rows in one batch (watermarks: made by the rows before, bound 5 s), then the end of the
// input.
Collector RunAll(const plan::Node& node, const Schema& input, const std::vector<TextRow>& rows,
                 int64_t bound_ms = 5000) {
  auto op = Make(node, input);
  Batch batch;
  FillBatch(input, rows, batch);
  TimestampMs watermark = kWatermarkNone;
  const Column& times = batch.column(input.fields.size() - 1);
  for (uint32_t r = 0; r < batch.rows(); ++r) {
    batch.watermarks.push_back(watermark);
    if (!times.IsNull(r)) watermark = std::max(watermark, times.ints[r] - bound_ms);
  }
  Collector out;
  op->Push(batch, out);
  op->AdvanceWatermark(watermark, out);
  op->AdvanceWatermark(kWatermarkMax, out);
  CHECK(op->status().ok());
  flow::NodeBooks books = op->books();
  op->CountBooks(books);
  CHECK(flow::CheckBooks("w", flow::BooksKind::kWindow, books) == "");
  return out;
}

TEST_CASE("a row exactly at the watermark: a window fires when it reaches end - 1 ms") {
  const Schema input{{{"v", kBig}, {"ts", kTs}}};
  const plan::Node node =
      Window(Kind::kTumble, input, {}, {{Fn::kCountStar, -1, kBig}, {Fn::kSum, 0, kBig}});
  const Collector out = RunAll(node, input,
                               {{"1", "1970-01-01 00:00:03.000"},
                                {"2", "1970-01-01 00:00:14.999"},
                                {"4", "1970-01-01 00:00:09.999"},
                                {"8", "1970-01-01 00:00:15.000"},
                                {"16", "1970-01-01 00:00:09.998"}});
  CHECK(out.events == std::vector<std::string>{"1,1,0,10000,9999", "wm 9999",
                                               "2,10,10000,20000,19999", "wm 19999"});
  CHECK(out.late == std::vector<std::string>{"4,9999,0,10000,9999", "16,9998,0,10000,10000"});
}

TEST_CASE("a late row bridges two sessions, and a session touches another at its very end") {
  const Schema input{{{"k", kText}, {"v", kBig}, {"ts", kTs}}};
  const plan::Node node =
      Window(Kind::kSession, input, {0}, {{Fn::kCountStar, -1, kBig}, {Fn::kSum, 1, kBig}});
  const Collector out = RunAll(node, input,
                               {{"a", "1", "1970-01-01 00:00:00"},
                                {"a", "2", "1970-01-01 00:00:20"},
                                {"b", "4", "1970-01-01 00:00:00"},
                                {"a", "8", "1970-01-01 00:00:10"},
                                {"b", "16", "1970-01-01 00:00:40"},
                                {"b", "32", "1970-01-01 00:00:52"}},
                               60000);
  CHECK(out.main == std::vector<std::string>{"b,1,4,0,12000,11999", "a,3,11,0,32000,31999",
                                             "b,2,48,40000,64000,63999"});
}

TEST_CASE(
    "SUM of BIGINT is exact on the way; a result that does not fit is a dead letter with keys and "
    "window") {
  const Schema input{{{"k", kText}, {"b", kBig}, {"ts", kTs}}};
  for (Kind kind : {Kind::kTumble, Kind::kSession}) {
    const plan::Node node =
        Window(kind, input, {0}, {{Fn::kSum, 1, kBig}, {Fn::kCountStar, -1, kBig}});
    const char* const at = "1970-01-01 00:00:00";
    const Collector out = RunAll(node, input,
                                 {{"over", "9223372036854775807", at},
                                  {"over", "1", at},
                                  {"passing", "9223372036854775807", at},
                                  {"passing", "1", at},
                                  {"passing", "-5", at},
                                  {"under", "-9223372036854775808", at},
                                  {"under", "-1", at},
                                  {"ok", "9223372036854775807", at},
                                  {"ok", "0", at}});
    const std::string tail = kind == Kind::kTumble ? ",0,10000,9999" : ",0,12000,11999";
    CHECK(out.main == std::vector<std::string>{"passing,9223372036854775803,3" + tail,
                                               "ok,9223372036854775807,2" + tail});
    REQUIRE(out.dead.size() == 2);
    CHECK(out.dead[0].starts_with(
        "result window.overflow w: r1 = SUM(b): 9223372036854775808 does not fit BIGINT "
        "{\"k\":\"over\",\"window_start\":\"1970-01-01 00:00:00.000\""));
    CHECK(out.dead[1].find("-9223372036854775809 does not fit BIGINT") != std::string::npos);
  }
}

TEST_CASE(
    "AVG keeps an integer's type, cut towards zero; a decimal's has more digits; NULLs do not "
    "count") {
  const Type cents = Type::Decimal(12, 2);
  const Schema input{{{"k", kText},
                      {"i", Type::Of(TypeKind::kInt)},
                      {"d", Type::Of(TypeKind::kDouble)},
                      {"c", cents},
                      {"ts", kTs}}};
  const plan::Node node = Window(Kind::kTumble, input, {0},
                                 {{Fn::kAvg, 1, Type::Of(TypeKind::kInt)},
                                  {Fn::kAvg, 2, Type::Of(TypeKind::kDouble)},
                                  {Fn::kAvg, 3, Type::Decimal(38, 6)},
                                  {Fn::kSum, 2, Type::Of(TypeKind::kDouble)},
                                  {Fn::kCount, 1, kBig}});
  const char* const at = "1970-01-01 00:00:00";
  const Collector out = RunAll(node, input,
                               {{"p", "1", "1", "1.00", at},
                                {"p", "2", "2", "2.00", at},
                                {"n", "-1", "-1", "-1.00", at},
                                {"n", "-2", "-2", "-2.00", at},
                                {"z", "NULL", "NULL", "NULL", at},
                                {"m", "7", "7", "7.00", at},
                                {"m", "NULL", "NULL", "NULL", at}});
  CHECK(out.main == std::vector<std::string>{"p,1,1.5,1.500000,3.0,2,0,10000,9999",
                                             "n,-1,-1.5,-1.500000,-3.0,2,0,10000,9999",
                                             "z,NULL,NULL,NULL,NULL,0,0,10000,9999",
                                             "m,7,7.0,7.000000,7.0,1,0,10000,9999"});
}

TEST_CASE("MIN and MAX of every kind, in windows and through merged sessions") {
  struct Case {
    Type type;
    std::vector<std::string>
        values;  // in order of arrival; the last joins the sessions of the others
    const char* lo;
    const char* hi;
  };
  const Case cases[] = {
      {Type::Of(TypeKind::kBoolean), {"true", "NULL", "false"}, "false", "true"},
      {kBig, {"3", "-7", "5"}, "-7", "5"},
      {Type::Of(TypeKind::kDouble), {"1.5", "NaN", "-2"}, "-2.0", "NaN"},
      {Type::Of(TypeKind::kDouble), {"NaN", "NULL", "1"}, "1.0", "NaN"},
      {Type::Decimal(38, 2),
       {"1.50", "-99999999999999999999.99", "2"},
       "-99999999999999999999.99",
       "2.00"},
      {kText,
       {"b", "a long text that is not kept inline", "c"},
       "a long text that is not kept inline",
       "c"},
      {kText, {"", "NULL", "NULL"}, "", ""},
      {Type::Of(TypeKind::kDate), {"1970-01-03", "1970-01-02", "NULL"}, "1", "2"},
      {kTs, {"1970-01-01 00:00:01", "1969-12-31 23:59:59", "NULL"}, "-1000", "1000"},
      {kBig, {"NULL", "NULL", "NULL"}, "NULL", "NULL"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.lo);
    const Schema input{{{"v", c.type}, {"ts", kTs}}};
    const plan::Node tumble =
        Window(Kind::kTumble, input, {}, {{Fn::kMin, 0, c.type}, {Fn::kMax, 0, c.type}});
    const plan::Node session =
        Window(Kind::kSession, input, {}, {{Fn::kMin, 0, c.type}, {Fn::kMax, 0, c.type}});
    const std::string want = std::string(c.lo) + "," + c.hi;
    CHECK(RunAll(tumble, input,
                 {{c.values[0], "1970-01-01 00:00:00"},
                  {c.values[1], "1970-01-01 00:00:01"},
                  {c.values[2], "1970-01-01 00:00:02"}})
              .main == std::vector<std::string>{want + ",0,10000,9999"});
    CHECK(RunAll(session, input,
                 {{c.values[0], "1970-01-01 00:00:00"},
                  {c.values[1], "1970-01-01 00:00:20"},
                  {c.values[2], "1970-01-01 00:00:10"}},
                 60000)
              .main == std::vector<std::string>{want + ",0,32000,31999"});
  }
}

TEST_CASE("every sum is merged with a session, and checked") {
  const Type cents = Type::Decimal(38, 2);
  const Type dbl = Type::Of(TypeKind::kDouble);
  const Schema input{{{"i", kBig}, {"c", cents}, {"d", dbl}, {"ts", kTs}}};
  const std::vector<Call> calls{{Fn::kSum, 0, kBig},  {Fn::kAvg, 0, kBig},
                                {Fn::kSum, 1, cents}, {Fn::kAvg, 1, Type::Decimal(38, 6)},
                                {Fn::kSum, 2, dbl},   {Fn::kAvg, 2, dbl},
                                {Fn::kCount, 0, kBig}};
  const plan::Node node = Window(Kind::kSession, input, {}, calls);
  const auto run = [&](const char* c1, const char* c2, const char* d1, const char* d2) {
    return RunAll(node, input,
                  {{"1", c1, d1, "1970-01-01 00:00:00"},
                   {"2", c2, d2, "1970-01-01 00:00:20"},
                   {"NULL", "NULL", "NULL", "1970-01-01 00:00:10"}},
                  60000);
  };
  CHECK(run("1.50", "2.50", "0.5", "1").main ==
        std::vector<std::string>{"3,1,4.00,2.000000,1.5,0.75,2,0,32000,31999"});
  const char* const most = "999999999999999999999999999999999999.99";
  CHECK(run(most, "0.01", "1", "1")
            .dead.at(0)
            .find("r3 = SUM(c): the sum does not fit DECIMAL(38, 2)") != std::string::npos);
  CHECK(
      run("1", "1", "1e308", "1e308").dead.at(0).find("r5 = SUM(d): the sum does not fit DOUBLE") !=
      std::string::npos);
  CHECK(run("1", "1", "Infinity", "1").main ==
        std::vector<std::string>{"3,1,2.00,1.000000,Infinity,Infinity,2,0,32000,31999"});
}

TEST_CASE(
    "a DECIMAL sum that leaves 128 bits stays an error though later rows would bring it back") {
  const Type whole = Type::Decimal(38, 0);
  const Schema input{{{"c", whole}, {"ts", kTs}}};
  const plan::Node node = Window(Kind::kTumble, input, {}, {{Fn::kSum, 0, whole}});
  const std::string most(38, '9');
  const char* const at = "1970-01-01 00:00:00";
  CHECK(RunAll(node, input, {{most, at}, {most, at}, {"-" + most, at}, {"-" + most, at}})
            .dead.size() == 1);
  CHECK(RunAll(node, input, {{most, at}, {"1", at}, {"-1", at}}).main.at(0).starts_with(most));
}

TEST_CASE("a row without a time is a dead letter; keys may be NULL, of any type, and many") {
  const Schema input{{{"k", kText},
                      {"n", Type::Of(TypeKind::kInt)},
                      {"d", Type::Of(TypeKind::kDouble)},
                      {"ts", kTs}}};
  const plan::Node node = Window(Kind::kTumble, input, {1, 0, 2}, {{Fn::kCountStar, -1, kBig}});
  const char* const at = "1970-01-01 00:00:00";
  const Collector out = RunAll(node, input,
                               {{"a", "1", "0.0", at},
                                {"a", "1", "-0.0", at},
                                {"NULL", "1", "NaN", at},
                                {"NULL", "1", "NaN", at},
                                {"", "1", "NaN", at},
                                {"x", "1", "1", "NULL"}});
  CHECK(out.main == std::vector<std::string>{"1,a,0.0,2,0,10000,9999", "1,NULL,NaN,2,0,10000,9999",
                                             "1,,NaN,1,0,10000,9999"});
  CHECK(
      out.dead ==
      std::vector<std::string>{
          R"(eval window.null-time NULL in ts, the time of the window {"k":"x","n":1,"d":1.0,"ts":null})"});
}

TEST_CASE("a row whose window ends after the year 9999 is a dead letter") {
  const Schema input{{{"ts", kTs}}};
  for (const Kind kind : {Kind::kTumble, Kind::kSession}) {
    plan::Node node = Window(kind, input, {}, {{Fn::kCountStar, -1, kBig}});
    auto& w = std::get<plan::WindowNode>(node.body);
    w.size_ms = w.gap_ms = 7 * 86400000;
    const Collector out = RunAll(node, input,
                                 {{"2024-03-01 10:00:00"},
                                  {"2024-03-01 10:00:00.001"},
                                  {"9999-12-31 00:00:00"},
                                  {"9999-12-31 23:59:59.998"}});
    CHECK(out.main.size() == 1);
    REQUIRE(out.dead.size() == 2);
    CHECK(out.dead.at(1) ==
          "eval window.out-of-range the window of ts is not within years 0001 to 9999 "
          R"({"ts":"9999-12-31 23:59:59.998"})");
  }
}

TEST_CASE(
    "windows begin at the offset, before 1970 too, and offsets that are congruent are the same") {
  const Schema input{{{"ts", kTs}}};
  for (int64_t hours : {-2, 22, 46}) {
    plan::Node node = Window(Kind::kTumble, input, {}, {{Fn::kCountStar, -1, kBig}});
    auto& w = std::get<plan::WindowNode>(node.body);
    w.size_ms = 86400000;
    w.offset_ms = hours * 3600000;
    const Collector out = RunAll(node, input,
                                 {{"1969-12-30 21:59:59.999"},
                                  {"1969-12-30 22:00:00"},
                                  {"1969-12-31 21:59:59.999"},
                                  {"1969-12-31 22:00:00"}});
    CHECK(out.main.size() == 3);
    CHECK(out.main.at(1) == "2,-93600000,-7200000,-7200001");
  }
}

TEST_CASE("a window that fired never opens again, whatever a row's own watermark says") {
  const Schema input{{{"ts", kTs}}};
  for (Kind kind : {Kind::kTumble, Kind::kSession}) {
    const plan::Node node = Window(kind, input, {}, {{Fn::kCountStar, -1, kBig}});
    auto op = Make(node, input);
    Collector out;
    op->AdvanceWatermark(50000, out);
    op->AdvanceWatermark(40000, out);  // never back
    Batch batch;
    FillBatch(input, {{"1970-01-01 00:00:09"}}, batch);
    op->Push(batch, out);
    batch.watermarks = {kWatermarkNone};
    op->Push(batch, out);
    CHECK(out.late.size() == 2);
    CHECK(op->books()[Count::kLate] == 2);
  }
}

// One row, sealed; then the operator is made anew on the store.
struct Sealed {
  Schema input{{{"k", kText}, {"ts", kTs}}};
  plan::Node node;
  Store store;
  std::unique_ptr<flow::Operator> op;
  Collector out;
  explicit Sealed(Kind kind) : node(Window(kind, input, {0}, {{Fn::kCountStar, -1, kBig}})) {
    op = Make(node, input);
    REQUIRE(op->Restore(store).ok());
    Push();
    store.Take(*op);
  }
  void Push() {
    Batch batch;
    FillBatch(input, {{"a", "1970-01-01 00:00:01"}}, batch);
    op->Push(batch, out);
  }
  Status Reopen() {
    op = Make(node, input);
    return op->Restore(store);
  }
};

TEST_CASE(
    "what was evicted costs nothing, is dropped only when clean, and comes back when touched") {
  for (Kind kind : {Kind::kTumble, Kind::kSession}) {
    Sealed s(kind);
    const uint64_t before = s.op->StateBytes();
    s.Push();  // dirty: must stay
    s.op->Evict(0);
    s.store.Take(*s.op);
    CHECK(s.op->Evict(0) > 0);
    CHECK(s.op->StateBytes() < before);
    flow::NodeBooks books;
    s.op->CountBooks(books);
    CHECK(books[Count::kOpen] == 2);  // still known
    s.op->AdvanceWatermark(kWatermarkMax, s.out);
    REQUIRE(s.out.main.size() == 1);
    CHECK(s.out.main[0].starts_with("a,2,"));
    s.store.Take(*s.op);
    CHECK(s.store.blobs.empty());  // the bucket is dropped
  }
}

TEST_CASE("state that cannot be read is an error for good, at the restore and when it is touched") {
  for (Kind kind : {Kind::kTumble, Kind::kSession}) {
    Sealed s(kind);
    s.op->Evict(0);
    s.store.failure = Status(Code::kCorruption, "crc");
    s.Push();
    CHECK(s.op->status().code() == Code::kCorruption);
    s.Push();
    CHECK(s.op->status().code() == Code::kCorruption);

    Sealed fired(kind);
    fired.op->Evict(0);
    fired.store.failure = Status(Code::kCorruption, "crc");
    fired.op->AdvanceWatermark(kWatermarkMax, fired.out);
    CHECK(fired.op->status().code() == Code::kCorruption);
    CHECK(fired.out.main.empty());
    CHECK(fired.Reopen().code() == Code::kCorruption);

    Sealed damaged(kind);
    damaged.store.blobs.begin()->second[0] = "nonsense";
    CHECK(damaged.Reopen().code() == Code::kCorruption);

    Sealed foreign(kind);
    foreign.store.blobs["abc"] = {BlobWriter("").Take()};
    CHECK(foreign.Reopen().code() == Code::kCorruption);

    Sealed gone(kind);
    gone.op->Evict(0);
    gone.store.blobs.clear();
    gone.Push();
    CHECK(gone.op->status().code() == Code::kCorruption);

    Sealed key(kind);
    // A slot whose key is none of this plan's.
    std::string& blob = key.store.blobs.begin()->second[0];
    BlobReader reader(blob);
    REQUIRE(reader.Open().ok());
    BlobEntry entry;
    REQUIRE(reader.Next(&entry));
    BlobWriter writer(reader.meta());
    writer.Put(0, "\x07", entry.fixed, entry.variable);
    blob = writer.Take();
    REQUIRE(key.Reopen().ok());
    key.op->AdvanceWatermark(kWatermarkMax, key.out);
    CHECK(key.op->status().code() == Code::kCorruption);
  }
}

TEST_CASE("many results leave in batches, a failure in each where it belongs") {
  const Schema input{{{"k", kBig}, {"v", kBig}, {"ts", kTs}}};
  for (Kind kind : {Kind::kTumble, Kind::kSession}) {
    const plan::Node node = Window(kind, input, {0}, {{Fn::kSum, 1, Type::Of(TypeKind::kInt)}});
    std::vector<TextRow> rows;
    for (int k = 0; k < 5000; ++k) {
      rows.push_back({std::to_string(k), k % 1000 == 999 ? "3000000000" : std::to_string(k),
                      "1970-01-01 00:00:00"});
    }
    const Collector out = RunAll(node, input, rows);
    CHECK(out.main.size() == 4995);
    CHECK(out.dead.size() == 5);
    CHECK(out.main[1000].starts_with("1001,1001,"));
    CHECK(out.watermarks.size() == 1);
  }
}

TEST_CASE("a node that the binder would never make is refused") {
  const Schema input{{{"k", kText}, {"ts", kTs}}};
  const plan::Plan plan;
  const plan::Node good = Window(Kind::kTumble, input, {0}, {{Fn::kCountStar, -1, kBig}});
  REQUIRE(NewOperator(good, input, plan).has_value());
  const auto refused = [&](auto change) {
    plan::Node node = Window(Kind::kTumble, input, {0}, {{Fn::kCountStar, -1, kBig}});
    change(node, std::get<plan::WindowNode>(node.body));
    return !NewOperator(node, input, plan).has_value();
  };
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.time_column = 0; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.time_column = 9; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.size_ms = 0; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.keys = {4}; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.late_columns = {4}; }));
  CHECK(refused([](plan::Node& n, plan::WindowNode&) { n.output.fields.pop_back(); }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.late_schema.fields.pop_back(); }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.aggregates[0] = {Fn::kSum, 0, kBig}; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.aggregates[0] = {Fn::kAvg, 0, kBig}; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.aggregates[0] = {Fn::kMin, 0, kBig}; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) { w.aggregates[0] = {Fn::kCount, 7, kBig}; }));
  CHECK(refused([](plan::Node&, plan::WindowNode& w) {
    w.kind = Kind::kSession;
    w.gap_ms = 0;
  }));
}

}  // namespace
}  // namespace weir::operators
