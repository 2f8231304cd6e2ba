#include "operators/calc_operator.h"

#include <doctest/doctest.h>

#include "operators/factory.h"
#include "operators/testing/evaluate.h"

namespace weir::operators {
namespace {

using flow::Count;
using plan::ExprPtr;
using plan::Fn;

const Type kBool = Type::Of(TypeKind::kBoolean);
const Type kInt = Type::Of(TypeKind::kInt);
const Type kText = Type::Of(TypeKind::kString);

Schema Input() { return Schema{{{"a", kInt}, {"b", kInt}, {"s", kText}}}; }

// WHERE filter SELECT a / b AS q, s, from (a, b, s).
std::unique_ptr<flow::Operator> Calc(ExprPtr filter, const Type& second = kText) {
  static plan::Plan plan;
  plan::CalcNode calc;
  calc.filter = std::move(filter);
  calc.projections.push_back(CallOf(Fn::kDiv, kInt, Column0(0, kInt), Column0(1, kInt)));
  calc.projections.push_back(Column0(2, kText));
  plan::Node node;
  node.name = "calc:x";
  node.output = Schema{{{"q", kInt}, {"s", second}}};
  node.body = std::move(calc);
  auto made = NewOperator(node, Input(), plan);
  REQUIRE(made.has_value());
  return std::move(*made);
}

std::string Balance(flow::Operator& op) {
  return flow::CheckBooks("x", flow::BooksKind::kCalc, op.books());
}

TEST_CASE(
    "the filter decides first; rows that fail are dead letters in reading order, with their "
    "record") {
  auto op =
      Calc(CallOf(Fn::kGt, kBool, CallOf(Fn::kDiv, kInt, Literal(kInt, "10"), Column0(0, kInt)),
                  Literal(kInt, "1")));
  Batch batch;
  FillBatch(Input(),
            {{"4", "2", "x"},
             {"4", "0", "y"},
             {"10", "0", "filtered"},
             {"0", "1", "z"},
             {"5", "NULL", "n"},
             {"NULL", "1", "unknown"}},
            batch);
  batch.partition = 1;
  batch.source = "src";
  batch.positions = {10, 20, 30, 40, 50, 60};
  Collector out;
  op->Push(batch, out);
  CHECK(out.main == std::vector<std::string>{"2,x", "NULL,n"});
  CHECK(out.dead == std::vector<std::string>{
                        R"(eval eval.division-by-zero division by zero {"a":4,"b":0,"s":"y"})",
                        R"(eval eval.division-by-zero division by zero {"a":0,"b":1,"s":"z"})"});
  CHECK(op->books()[Count::kIn] == 6);
  CHECK(op->books()[Count::kFiltered] == 2);
  CHECK(op->books()[Count::kDead] == 2);
  CHECK(Balance(*op) == "");
}

TEST_CASE("rows outside the selection are not there") {
  auto op = Calc(nullptr);
  Batch batch;
  FillBatch(Input(), {{"4", "0", "x"}, {"6", "2", "y"}, {"4", "0", "z"}}, batch);
  batch.SetSelection({1});
  Collector out;
  op->Push(batch, out);
  CHECK(out.main == std::vector<std::string>{"3,y"});
  CHECK(out.dead.empty());
  CHECK(op->books()[Count::kIn] == 1);
  CHECK(Balance(*op) == "");
}

TEST_CASE("NULL in a NOT NULL column of the output is a dead letter") {
  auto op = Calc(nullptr, kText.NotNull());
  Batch batch;
  FillBatch(Input(), {{"4", "2", "NULL"}, {"4", "2", "x"}, {"4", "0", "NULL"}}, batch);
  Collector out;
  op->Push(batch, out);
  CHECK(out.main == std::vector<std::string>{"2,x"});
  REQUIRE(out.dead.size() == 2);
  CHECK(out.dead[0] == R"(eval eval.not-null NULL in s, which is NOT NULL {"a":4,"b":2,"s":null})");
  CHECK(out.dead[1].starts_with("eval eval.division-by-zero"));  // the first error of the row
  CHECK(Balance(*op) == "");
}

struct Borrowing final : flow::Outputs {
  const Column* second = nullptr;
  uint32_t selected = 0;
  std::vector<TimestampMs> watermarks;
  std::vector<int64_t> positions;
  void Main(const Batch& batch) override {
    second = &batch.column(1);
    selected = batch.selected_count();
    watermarks = batch.watermarks;
    positions = batch.positions;
  }
  void Late(const Batch&) override {}
  void Dead(const Batch&) override {}
  void Watermark(TimestampMs) override {}
};

TEST_CASE(
    "a plain column is lent on, provenance goes with the rows, and time goes on without any") {
  auto op = Calc(CallOf(Fn::kGt, kBool, Column0(0, kInt), Literal(kInt, "5")));
  Batch batch;
  FillBatch(Input(), {{"4", "2", "x"}, {"8", "2", "y"}}, batch);
  batch.watermarks = {1, 2};
  batch.positions = {7, 8};
  Borrowing out;
  op->Push(batch, out);
  CHECK(out.second == &batch.column(2));
  CHECK(out.selected == 1);
  CHECK(out.watermarks == batch.watermarks);
  CHECK(out.positions == batch.positions);
  Batch none;
  FillBatch(Input(), {{"4", "2", "x"}}, none);
  none.watermarks = {3};
  op->Push(none, out);
  CHECK(out.selected == 0);
  CHECK(out.watermarks == std::vector<TimestampMs>{3});
}

TEST_CASE("the outputs of a scan are computed, and its bad rows die at the scan") {
  plan::Plan plan;
  plan::ScanNode scan;
  scan.outputs.push_back(Column0(1, kText));
  scan.outputs.push_back(CallOf(Fn::kCast, kInt, Column0(1, kText)));
  plan::Node node;
  node.name = "scan:t";
  node.output = Schema{{{"s", kText}, {"n", kInt}}};
  node.body = std::move(scan);
  const Schema raw{{{"unused", kInt}, {"s", kText}}};
  auto op = NewScanOutputs(node, raw, plan);
  REQUIRE(op.has_value());
  Batch batch;
  FillBatch(raw, {{"1", "12"}, {"1", "12x"}}, batch);
  Collector out;
  (*op)->Push(batch, out);
  CHECK(out.main == std::vector<std::string>{"12,12"});
  REQUIRE(out.dead.size() == 1);
  CHECK(out.dead[0].starts_with("eval eval.cast \"12x\" is not an INT"));
}

TEST_CASE("dead letters pass through; other nodes are no operators") {
  plan::Plan plan;
  plan::Node node;
  node.name = "dead:t";
  node.body = plan::DeadLettersNode{"t"};
  auto op = NewOperator(node, Input(), plan);
  REQUIRE(op.has_value());
  Batch batch;
  FillBatch(Input(), {{"1", "2", "x"}}, batch);
  Collector out;
  (*op)->Push(batch, out);
  CHECK(out.main == std::vector<std::string>{"1,2,x"});
  CHECK(flow::CheckBooks("x", flow::BooksKind::kPassThrough, (*op)->books()) == "");
  node.body = plan::SinkNode{};
  CHECK(!NewOperator(node, Input(), plan).has_value());
  CHECK(!NewScanOutputs(node, Input(), plan).has_value());
}

TEST_CASE("a plan whose types do not fit is refused, not run") {
  plan::Plan plan;
  plan::Node node;
  node.name = "calc:x";
  node.output = Schema{{{"s", kText}}};
  plan::CalcNode calc;
  calc.projections.push_back(Column0(0, kInt));
  node.body = std::move(calc);
  CHECK(!NewOperator(node, Input(), plan).has_value());
  node.output.fields.push_back({"more", kText});
  CHECK(!NewOperator(node, Input(), plan).has_value());
  plan::CalcNode filter;
  filter.filter = Column0(0, kInt);
  node.output.fields.clear();
  node.body = std::move(filter);
  CHECK(!NewOperator(node, Input(), plan).has_value());
}

}  // namespace
}  // namespace weir::operators
