#include "plan/expr.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"

namespace weir::plan {
namespace {

const Type kInt = Type::Of(TypeKind::kInt);
const Type kText = Type::Of(TypeKind::kString);
const Type kBool = Type::Of(TypeKind::kBoolean);

ExprPtr Column(int i, Type type = kInt) { return MakeColumn(i, type, {}); }

ExprPtr Int(int64_t v) {
  Value value;
  value.type = kInt.NotNull();
  value.null = false;
  value.integer = v;
  return MakeLiteral(std::move(value), {});
}

ExprPtr Text(std::string v) {
  Value value;
  value.type = kText.NotNull();
  value.null = false;
  value.text = std::move(v);
  return MakeLiteral(std::move(value), {});
}

template <class... A>
ExprPtr Call(Fn fn, Type type, A... a) {
  std::vector<ExprPtr> args;
  (args.push_back(std::move(a)), ...);
  return MakeCall(fn, type, std::move(args), {});
}

TEST_CASE("every function has a name of its own") {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Fn::kFromBase64); ++i) {
    CHECK(names.insert(FnName(static_cast<Fn>(i))).second);
  }
  CHECK(FnName(Fn::kAnd) == std::string("AND"));
  CHECK(FnName(Fn::kCase) == std::string("CASE"));
  CHECK(FnName(Fn::kLike) == std::string("LIKE"));
  CHECK(FnName(Fn::kExtract) == std::string("EXTRACT"));
  CHECK(FnName(Fn::kFromBase64) == std::string("FROM_BASE64"));
}

TEST_CASE("the canonical form has no nullability, but where a CAST enforces it") {
  CHECK(Canonical(*Call(Fn::kAdd, kInt, Column(1), Int(5))) == "ADD($1, 5:INT):INT");
  CHECK(Canonical(*Call(Fn::kAdd, kInt.NotNull(), Column(1, kInt.NotNull()), Int(5))) ==
        "ADD($1, 5:INT):INT");
  CHECK(Canonical(*Call(Fn::kCast, kInt.NotNull(), Column(1))) == "CAST($1):INT NOT NULL");
  CHECK(Canonical(*Text("a'b")) == "'a''b':STRING");
}

TEST_CASE("SQL for people") {
  const Schema schema{{{"a", kInt}, {"b c", kText}, {"ts", Type::Timestamp(3)}}};
  const auto sql = [&](ExprPtr e) { return ToSql(*e, schema); };
  CHECK(sql(Call(Fn::kMul, kInt, Call(Fn::kAdd, kInt, Column(0), Int(1)), Int(2))) ==
        "(a + 1) * 2");
  CHECK(sql(Column(1, kText)) == "`b c`");
  CHECK(sql(Column(9)) == "$9");
  CHECK(sql(Call(Fn::kNot, kBool, Call(Fn::kEq, kBool, Column(0), Int(1)))) == "NOT (a = 1)");
  CHECK(sql(Call(Fn::kIsNotNull, kBool, Column(0))) == "a IS NOT NULL");
  CHECK(sql(Call(Fn::kIn, kBool, Column(0), Int(1), Int(2))) == "a IN (1, 2)");
  CHECK(sql(Call(Fn::kCase, kInt, Call(Fn::kGt, kBool, Column(0), Int(0)), Int(1),
                 MakeLiteral(Value::Null(kInt), {}))) == "CASE WHEN a > 0 THEN 1 END");
  CHECK(sql(Call(Fn::kCase, kInt, Call(Fn::kGt, kBool, Column(0), Int(0)), Int(1), Int(2))) ==
        "CASE WHEN a > 0 THEN 1 ELSE 2 END");
  CHECK(sql(Call(Fn::kTryCast, kText, Column(0))) == "TRY_CAST(a AS STRING)");
  CHECK(sql(Call(Fn::kLike, kBool, Column(1, kText), Text("%"), Text("\\"))) == "`b c` LIKE '%'");
  CHECK(sql(Call(Fn::kLike, kBool, Column(1, kText), Text("%"), Text("#"))) ==
        "`b c` LIKE '%' ESCAPE '#'");
  CHECK(sql(Call(Fn::kExtract, kInt, Text("HOUR"), Column(2))) == "EXTRACT(HOUR FROM ts)");
  CHECK(sql(Call(Fn::kFloorTo, kInt, Column(2), Text("DAY"))) == "FLOOR(ts TO DAY)");
  CHECK(sql(Call(Fn::kTimestampAdd, kInt, Text("DAY"), Int(1), Column(2))) ==
        "TIMESTAMPADD(DAY, 1, ts)");
  CHECK(sql(Call(Fn::kTrimLeading, kText, Column(1, kText), Text("x"))) ==
        "TRIM(LEADING 'x' FROM `b c`)");
  CHECK(sql(Call(Fn::kPosition, kInt, Text("x"), Column(1, kText))) == "POSITION('x' IN `b c`)");
  CHECK(sql(Call(Fn::kNeg, kInt, Column(0))) == "-a");
  CHECK(sql(Call(Fn::kUpper, kText, Column(1, kText))) == "UPPER(`b c`)");
}

TEST_CASE("clones are equal and independent, columns can be visited and moved") {
  const ExprPtr e = Call(Fn::kAdd, kInt, Column(2), Call(Fn::kMul, kInt, Column(0), Int(3)));
  const ExprPtr copy = e->Clone();
  RemapColumns(*copy, {5, -1, 7});
  CHECK(Canonical(*e) == "ADD($2, MUL($0, 3:INT):INT):INT");
  CHECK(Canonical(*copy) == "ADD($7, MUL($5, 3:INT):INT):INT");
  std::vector<int> seen;
  ForEachColumn(
      *e, [](int column, void* arg) { static_cast<std::vector<int>*>(arg)->push_back(column); },
      &seen);
  CHECK(seen == std::vector<int>{2, 0});
}

}  // namespace
}  // namespace weir::plan
