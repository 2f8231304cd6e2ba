#include "operators/evaluator.h"

#include <doctest/doctest.h>

#include "operators/testing/evaluate.h"

namespace weir::operators {
namespace {

using plan::ExprPtr;
using plan::Fn;

const Type kBool = Type::Of(TypeKind::kBoolean);
const Type kInt = Type::Of(TypeKind::kInt);
const Type kText = Type::Of(TypeKind::kString);

Schema TwoInts() { return Schema{{{"a", kInt}, {"b", kInt}}}; }
ExprPtr A() { return Column0(0, kInt); }
ExprPtr B() { return Column0(1, kInt); }
ExprPtr AOverB() { return CallOf(Fn::kDiv, kInt, A(), B()); }
ExprPtr Zero() { return Literal(kInt, "0"); }
ExprPtr OneOverZero() { return CallOf(Fn::kDiv, kInt, Literal(kInt, "1"), Zero()); }
ExprPtr BIsNotZero() { return CallOf(Fn::kNe, kBool, B(), Zero()); }

TEST_CASE("an error in a branch not taken never counts") {
  struct Case {
    const char* name;
    ExprPtr expr;
    TextRow row;
    const char* want;
  };
  std::vector<Case> cases;
  const auto add = [&](const char* name, ExprPtr e, TextRow row, const char* want) {
    cases.push_back({name, std::move(e), std::move(row), want});
  };
  const auto guarded = [] {
    return CallOf(Fn::kCase, kInt, BIsNotZero(), AOverB(),
                  Literal(Type::Of(TypeKind::kNull), "NULL"));
  };
  add("CASE guards the division", guarded(), {"6", "0"}, "NULL");
  add("CASE takes the division", guarded(), {"6", "2"}, "3");
  add("the else branch is not reached", CallOf(Fn::kCase, kInt, BIsNotZero(), A(), AOverB()),
      {"6", "2"}, "6");
  add("the else branch is reached", CallOf(Fn::kCase, kInt, BIsNotZero(), A(), AOverB()),
      {"6", "0"}, "!");
  add("a later condition is not reached",
      CallOf(Fn::kCase, kInt, BIsNotZero(), A(), CallOf(Fn::kGt, kBool, AOverB(), Zero()), B(),
             Zero()),
      {"6", "2"}, "6");
  add("a condition that fails",
      CallOf(Fn::kCase, kInt, CallOf(Fn::kGt, kBool, AOverB(), Zero()), A(), Zero()), {"6", "0"},
      "!");
  add("AND stops at FALSE",
      CallOf(Fn::kAnd, kBool, BIsNotZero(), CallOf(Fn::kGt, kBool, AOverB(), Zero())), {"6", "0"},
      "false");
  add("AND goes left to right",
      CallOf(Fn::kAnd, kBool, CallOf(Fn::kGt, kBool, AOverB(), Zero()), BIsNotZero()), {"6", "0"},
      "!");
  add("AND does not stop at NULL",
      CallOf(Fn::kAnd, kBool, Literal(kBool, "NULL"), CallOf(Fn::kGt, kBool, AOverB(), Zero())),
      {"6", "0"}, "!");
  add("OR stops at TRUE",
      CallOf(Fn::kOr, kBool, CallOf(Fn::kEq, kBool, B(), Zero()),
             CallOf(Fn::kGt, kBool, AOverB(), Zero())),
      {"6", "0"}, "true");
  add("COALESCE stops at a value", CallOf(Fn::kCoalesce, kInt, A(), AOverB()), {"6", "0"}, "6");
  add("COALESCE goes on at NULL",
      CallOf(Fn::kCoalesce, kInt, A(), CallOf(Fn::kDiv, kInt, B(), Zero())), {"NULL", "1"}, "!");
  add("NULLIF of NULL does not look further",
      CallOf(Fn::kNullIf, kInt, A(), CallOf(Fn::kDiv, kInt, B(), Zero())), {"NULL", "1"}, "NULL");
  add("NULLIF looks at its second argument", CallOf(Fn::kNullIf, kInt, A(), AOverB()), {"6", "0"},
      "!");
  // A literal that fails is not folded: it waits for a row that reaches it.
  add("a folded error in a branch not taken",
      CallOf(Fn::kCase, kInt, BIsNotZero(), A(), OneOverZero()), {"6", "2"}, "6");
  add("a folded error that is reached", CallOf(Fn::kCase, kInt, BIsNotZero(), A(), OneOverZero()),
      {"6", "0"}, "!");
  add("TRY_CAST forgives its own failure only",
      CallOf(Fn::kTryCast, Type::Of(TypeKind::kTinyInt), AOverB()), {"6", "0"}, "!");
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const std::string got = EvaluateExpr(*c.expr, TwoInts(), c.row);
    if (c.want == std::string("!")) {
      CAPTURE(got);
      CHECK(got.find("division by zero") != std::string::npos);
    } else {
      CHECK(got == c.want);
    }
  }
}

TEST_CASE(
    "rows that fail drop out of what follows, each with its first error; the others have their "
    "values") {
  // (a / b) + (b / a): row 1 fails on the left, row 2 on the right, row 3 on both.
  const ExprPtr expr = CallOf(Fn::kAdd, kInt, AOverB(), CallOf(Fn::kDiv, kInt, B(), A()));
  const auto evaluator = Evaluator::Compile(*expr, TwoInts(), {});
  REQUIRE(evaluator.has_value());
  Batch batch;
  FillBatch(TwoInts(), {{"4", "2"}, {"4", "0"}, {"0", "4"}, {"0", "0"}, {"3", "3"}}, batch);
  const std::vector<uint32_t> rows{0, 1, 2, 3, 4};
  RowErrors errors;
  for (int again = 0; again < 2; ++again) {
    errors.Start(batch.rows());
    const Column& column = (*evaluator)->Evaluate(batch, rows, errors);
    CHECK(column.ints[0] == 2);
    CHECK(column.ints[4] == 2);
    REQUIRE(errors.size() == 3);
    CHECK(!errors.failed(0));
    CHECK(errors.failed(2));
    const std::vector<RowError> taken = errors.TakeInRowOrder();
    CHECK(taken[0].row == 1);
    CHECK(taken[1].row == 2);
    CHECK(taken[2].row == 3);
    CHECK(errors.empty());
    CHECK(!errors.failed(2));
  }
}

TEST_CASE("rows that are not asked for are not evaluated") {
  const ExprPtr expr = AOverB();
  const auto evaluator = Evaluator::Compile(*expr, TwoInts(), {});
  REQUIRE(evaluator.has_value());
  Batch batch;
  FillBatch(TwoInts(), {{"1", "0"}, {"8", "2"}, {"1", "0"}}, batch);
  const uint32_t row = 1;
  RowErrors errors;
  errors.Start(3);
  CHECK((*evaluator)->Evaluate(batch, std::span(&row, 1), errors).ints[1] == 4);
  CHECK(errors.empty());
}

TEST_CASE("a plain column is the batch's own") {
  const ExprPtr expr = B();
  const auto evaluator = Evaluator::Compile(*expr, TwoInts(), {});
  REQUIRE(evaluator.has_value());
  CHECK((*evaluator)->is_column());
  CHECK((*evaluator)->column() == 1);
  Batch batch;
  FillBatch(TwoInts(), {{"1", "2"}}, batch);
  RowErrors errors;
  errors.Start(1);
  CHECK(&(*evaluator)->Evaluate(batch, {}, errors) == &batch.column(1));
}

TEST_CASE("literals grow with the batch, strings of one batch are gone with the next") {
  const Schema schema{{{"s", kText}}};
  const ExprPtr expr = CallOf(Fn::kConcat, kText, Column0(0, kText), Literal(kText, "-end"));
  const auto evaluator = Evaluator::Compile(*expr, schema, {});
  REQUIRE(evaluator.has_value());
  RowErrors errors;
  for (uint32_t n : {1u, 5000u, 3u}) {
    std::vector<TextRow> texts;
    std::vector<uint32_t> rows;
    for (uint32_t r = 0; r < n; ++r) {
      texts.push_back({std::to_string(r)});
      rows.push_back(r);
    }
    Batch batch;
    FillBatch(schema, texts, batch);
    errors.Start(n);
    const Column& column = (*evaluator)->Evaluate(batch, rows, errors);
    CHECK(column.strings[n - 1] == std::to_string(n - 1) + "-end");
    CHECK(column.strings[0] == "0-end");
  }
}

TEST_CASE("what no row could use is refused when it is compiled") {
  struct Case {
    const char* name;
    ExprPtr expr;
    const char* want;
  };
  std::vector<Case> cases;
  const auto s = [] { return Column0(0, kText); };
  cases.push_back({"a regular expression", CallOf(Fn::kRegexp, kBool, s(), Literal(kText, "(")),
                   "regular expression"});
  cases.push_back({"a LIKE pattern",
                   CallOf(Fn::kLike, kBool, s(), Literal(kText, "a#"), Literal(kText, "#")),
                   "escape"});
  cases.push_back({"a time pattern",
                   CallOf(Fn::kToTimestamp, Type::Timestamp(3), s(), Literal(kText, "YYYY")),
                   "yyyy"});
  cases.push_back({"a column that is not there", Column0(7, kText), "column 7"});
  cases.push_back(
      {"too few arguments", CallOf(Fn::kAdd, kInt, Literal(kInt, "1")), "wrong arguments"});
  cases.push_back(
      {"text where a number must be", CallOf(Fn::kLeft, kText, s(), s()), "wrong arguments"});
  cases.push_back({"a condition that is none",
                   CallOf(Fn::kNot, kBool, Literal(Type::Timestamp(3), "1970-01-01 00:00:00")),
                   "no cast"});
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto compiled = Evaluator::Compile(*c.expr, Schema{{{"s", kText}}}, {});
    REQUIRE(!compiled.has_value());
    CAPTURE(compiled.error().message());
    CHECK(compiled.error().message().find(c.want) != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::operators
