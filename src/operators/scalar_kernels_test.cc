// Every function over one row, with its arguments as columns and as literals: the two must agree.
// Values are Flink's, or the field's; where weir refuses instead of giving NULL, docs/sql.md says
// so.
#include <doctest/doctest.h>

#include "operators/testing/evaluate.h"

namespace weir::operators {
namespace {

using plan::Fn;

const Type kBool = Type::Of(TypeKind::kBoolean);
const Type kTiny = Type::Of(TypeKind::kTinyInt);
const Type kInt = Type::Of(TypeKind::kInt);
const Type kBig = Type::Of(TypeKind::kBigInt);
const Type kFloat = Type::Of(TypeKind::kFloat);
const Type kDouble = Type::Of(TypeKind::kDouble);
const Type kText = Type::Of(TypeKind::kString);
const Type kBytes = Type::Of(TypeKind::kBytes);
const Type kDate = Type::Of(TypeKind::kDate);
const Type kTs = Type::Timestamp(3);
const Type kLtz = Type::TimestampLtz(3);
const Type kMs = Type::Of(TypeKind::kInterval);
Type Dec(int p, int s) { return Type::Decimal(p, s); }

struct Case {
  Fn fn;
  Type type;
  std::vector<Argument> args;
  const char* want;  // "!" in front: an error of the row, with at least this text
};

void Check(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (bool literals : {false, true}) {
      const std::string got = Evaluate(c.fn, c.type, c.args, literals);
      std::string call = std::string(plan::FnName(c.fn)) + "(";
      for (const Argument& a : c.args) call += a.type.ToString() + " " + a.text + ", ";
      CAPTURE(call);
      CAPTURE(literals);
      const std::string want = c.want;
      if (want.starts_with("!")) {
        CAPTURE(got);
        CHECK(got.find(want.substr(1)) != std::string::npos);
        CHECK(got.starts_with("! "));
      } else {
        CHECK(got == want);
      }
    }
  }
}

TEST_CASE("arithmetic is exact, and an error where the result leaves its type") {
  Check({
      {Fn::kAdd, kInt, {{kInt, "2"}, {kInt, "3"}}, "5"},
      {Fn::kAdd, kInt, {{kInt, "2147483647"}, {kInt, "1"}}, "!2147483648 does not fit INT"},
      {Fn::kAdd,
       kBig,
       {{kBig, "9223372036854775807"}, {kBig, "1"}},
       "!9223372036854775808 does not fit BIGINT"},
      {Fn::kAdd, kBig, {{kBig, "NULL"}, {kBig, "1"}}, "NULL"},
      {Fn::kSub, kTiny, {{kTiny, "-128"}, {kTiny, "1"}}, "!-129 does not fit TINYINT"},
      {Fn::kMul,
       kBig,
       {{kBig, "4611686018427387904"}, {kBig, "2"}},
       "!9223372036854775808 does not fit BIGINT"},
      {Fn::kMul, kBig, {{kBig, "-4611686018427387904"}, {kBig, "2"}}, "-9223372036854775808"},
      {Fn::kNeg, kInt, {{kInt, "-2147483648"}}, "!2147483648 does not fit INT"},
      {Fn::kNeg, kBig, {{kBig, "5"}}, "-5"},
      {Fn::kNeg, Dec(5, 2), {{Dec(5, 2), "1.50"}}, "-1.50"},
      {Fn::kNeg, kDouble, {{kDouble, "1.5"}}, "-1.5"},
      // Field case: division by zero and infinity.
      {Fn::kDiv, kInt, {{kInt, "5"}, {kInt, "0"}}, "!division by zero"},
      {Fn::kDiv, kInt, {{kInt, "-7"}, {kInt, "2"}}, "-3"},
      {Fn::kDiv, kInt, {{kInt, "7"}, {kInt, "-2"}}, "-3"},
      {Fn::kDiv, kInt, {{kInt, "NULL"}, {kInt, "0"}}, "NULL"},
      {Fn::kDiv, kInt, {{kInt, "-2147483648"}, {kInt, "-1"}}, "!2147483648 does not fit INT"},
      {Fn::kDiv,
       kBig,
       {{kBig, "-9223372036854775808"}, {kBig, "-1"}},
       "!9223372036854775808 does not fit BIGINT"},
      {Fn::kMod, kInt, {{kInt, "-7"}, {kInt, "2"}}, "-1"},
      {Fn::kMod, kInt, {{kInt, "7"}, {kInt, "-2"}}, "1"},
      {Fn::kMod, kInt, {{kInt, "5"}, {kInt, "0"}}, "!division by zero"},
      {Fn::kMod, kBig, {{kBig, "-9223372036854775808"}, {kBig, "-1"}}, "0"},
      {Fn::kDiv, kDouble, {{kDouble, "1"}, {kDouble, "3"}}, "0.3333333333333333"},
      {Fn::kDiv, kDouble, {{kDouble, "5"}, {kDouble, "0"}}, "!division by zero"},
      {Fn::kDiv, kDouble, {{kDouble, "0"}, {kDouble, "0"}}, "!division by zero"},
      {Fn::kDiv, kDouble, {{kDouble, "1e308"}, {kDouble, "1e-308"}}, "!overflow"},
      {Fn::kMul, kDouble, {{kDouble, "1e200"}, {kDouble, "1e200"}}, "!overflow"},
      {Fn::kAdd, kDouble, {{kDouble, "Infinity"}, {kDouble, "1"}}, "Infinity"},
      {Fn::kMod, kDouble, {{kDouble, "-5.5"}, {kDouble, "2"}}, "-1.5"},
      {Fn::kMul, kFloat, {{kFloat, "3e38"}, {kFloat, "10"}}, "!overflow"},
      // Decimals: operands keep their scales, the result has its own.
      {Fn::kAdd, Dec(13, 3), {{Dec(12, 2), "1.25"}, {Dec(5, 3), "0.005"}}, "1.255"},
      {Fn::kSub, Dec(13, 3), {{Dec(12, 2), "1.25"}, {Dec(5, 3), "0.005"}}, "1.245"},
      {Fn::kAdd,
       Dec(3, 1),
       {{Dec(3, 1), "99.9"}, {Dec(3, 1), "0.1"}},
       "!100.0 does not fit DECIMAL(3, 1)"},
      {Fn::kAdd, Dec(3, 1), {{kInt, "2"}, {Dec(3, 1), "0.1"}}, "2.1"},
      {Fn::kMul, Dec(10, 4), {{Dec(5, 2), "1.50"}, {Dec(5, 2), "-2.25"}}, "-3.3750"},
      {Fn::kMul,
       Dec(38, 6),
       {{Dec(38, 10), "1234567890123456789.0123456789"}, {Dec(38, 10), "10"}},
       "12345678901234567890.123457"},
      {Fn::kDiv, Dec(20, 6), {{Dec(5, 2), "1.00"}, {Dec(5, 2), "3.00"}}, "0.333333"},
      {Fn::kDiv, Dec(20, 6), {{Dec(5, 2), "2.00"}, {Dec(5, 2), "-3.00"}}, "-0.666667"},
      {Fn::kDiv, Dec(20, 6), {{Dec(5, 2), "1.00"}, {Dec(5, 2), "0.00"}}, "!division by zero"},
      {Fn::kMod, Dec(5, 2), {{Dec(5, 2), "-7.50"}, {Dec(5, 1), "2.0"}}, "-1.50"},
      {Fn::kAdd, kDouble, {{kInt, "1"}, {kDouble, "0.5"}}, "1.5"},
      {Fn::kAdd, kDouble, {{Dec(5, 2), "1.25"}, {kDouble, "0.5"}}, "1.75"},
      {Fn::kTimestampPlusInterval,
       kTs,
       {{kTs, "2024-02-28 23:59:59.999"}, {kMs, "1"}},
       "1709164800000"},
      {Fn::kTimestampMinusInterval, kTs, {{kTs, "1970-01-01 00:00:00"}, {kMs, "5000"}}, "-5000"},
      {Fn::kTimestampPlusInterval, kDate, {{kDate, "2024-02-28"}, {kMs, "86400000"}}, "19782"},
      {Fn::kTimestampPlusInterval,
       kTs,
       {{kTs, "9999-12-31 23:59:59.999"}, {kMs, "1"}},
       "!outside TIMESTAMP(3)"},
  });
}

TEST_CASE("comparisons: NULL gives NULL, NaN is above all and equals itself, strings go by byte") {
  Check({
      {Fn::kEq, kBool, {{kBig, "1"}, {kBig, "1"}}, "true"},
      {Fn::kEq, kBool, {{kBig, "NULL"}, {kBig, "1"}}, "NULL"},
      {Fn::kNe, kBool, {{kText, "a"}, {kText, "b"}}, "true"},
      {Fn::kLt, kBool, {{kText, "Z"}, {kText, "a"}}, "true"},
      {Fn::kLt, kBool, {{kText, "\xc3\xa9"}, {kText, "z"}}, "false"},
      {Fn::kGt, kBool, {{kText, "\xf0\x9f\x98\x80"}, {kText, "\xef\xbf\xbd"}}, "true"},
      {Fn::kLe, kBool, {{Dec(5, 2), "-1.00"}, {Dec(5, 2), "-1.00"}}, "true"},
      {Fn::kGe, kBool, {{kDouble, "NaN"}, {kDouble, "Infinity"}}, "true"},
      {Fn::kEq, kBool, {{kDouble, "NaN"}, {kDouble, "NaN"}}, "true"},
      {Fn::kLt, kBool, {{kDouble, "NaN"}, {kDouble, "1"}}, "false"},
      {Fn::kEq, kBool, {{kDouble, "-0.0"}, {kDouble, "0.0"}}, "true"},
      {Fn::kLt, kBool, {{kBool, "false"}, {kBool, "true"}}, "true"},
      {Fn::kEq, kBool, {{kBig, "1"}, {Type::Of(TypeKind::kNull), "NULL"}}, "NULL"},
      {Fn::kIsDistinctFrom, kBool, {{kInt, "NULL"}, {kInt, "5"}}, "true"},
      {Fn::kIsDistinctFrom, kBool, {{kInt, "NULL"}, {kInt, "NULL"}}, "false"},
      {Fn::kIsNotDistinctFrom, kBool, {{kText, "x"}, {kText, "x"}}, "true"},
      // Field case: IN and NOT IN with NULL.
      {Fn::kIn, kBool, {{kInt, "5"}, {kInt, "5"}, {kInt, "NULL"}}, "true"},
      {Fn::kIn, kBool, {{kInt, "-7"}, {kInt, "5"}, {kInt, "NULL"}}, "NULL"},
      {Fn::kIn, kBool, {{kInt, "NULL"}, {kInt, "5"}, {kInt, "6"}}, "NULL"},
      {Fn::kIn, kBool, {{kInt, "4"}, {kInt, "5"}, {kInt, "6"}}, "false"},
      {Fn::kIn,
       kBool,
       {{kText, "i"},
        {kText, "a"},
        {kText, "b"},
        {kText, "c"},
        {kText, "d"},
        {kText, "e"},
        {kText, "f"},
        {kText, "g"},
        {kText, "h"},
        {kText, "i"}},
       "true"},
      {Fn::kIn,
       kBool,
       {{kText, "x"},
        {kText, "a"},
        {kText, "b"},
        {kText, "c"},
        {kText, "d"},
        {kText, "e"},
        {kText, "f"},
        {kText, "g"},
        {kText, "h"},
        {kText, "NULL"}},
       "NULL"},
      {Fn::kGreatest, kInt, {{kInt, "1"}, {kInt, "3"}, {kInt, "2"}}, "3"},
      {Fn::kLeast, kText, {{kText, "b"}, {kText, "a"}}, "a"},
      {Fn::kGreatest, kInt, {{kInt, "1"}, {kInt, "NULL"}}, "NULL"},
  });
}

TEST_CASE("three-valued logic") {
  const auto tri = [](const char* v) { return Argument{kBool, v}; };
  Check({
      {Fn::kAnd, kBool, {tri("true"), tri("true")}, "true"},
      {Fn::kAnd, kBool, {tri("NULL"), tri("false")}, "false"},
      {Fn::kAnd, kBool, {tri("false"), tri("NULL")}, "false"},
      {Fn::kAnd, kBool, {tri("true"), tri("NULL"), tri("true")}, "NULL"},
      {Fn::kOr, kBool, {tri("NULL"), tri("true")}, "true"},
      {Fn::kOr, kBool, {tri("false"), tri("NULL")}, "NULL"},
      {Fn::kOr, kBool, {tri("false"), tri("false")}, "false"},
      {Fn::kNot, kBool, {tri("NULL")}, "NULL"},
      {Fn::kNot, kBool, {tri("false")}, "true"},
      {Fn::kIsTrue, kBool, {tri("NULL")}, "false"},
      {Fn::kIsNotTrue, kBool, {tri("NULL")}, "true"},
      {Fn::kIsFalse, kBool, {tri("false")}, "true"},
      {Fn::kIsFalse, kBool, {tri("NULL")}, "false"},
      {Fn::kIsNotFalse, kBool, {tri("NULL")}, "true"},
      {Fn::kIsNotFalse, kBool, {tri("false")}, "false"},
      {Fn::kIsNull, kBool, {{kText, "NULL"}}, "true"},
      {Fn::kIsNull, kBool, {{kText, "x"}}, "false"},
      {Fn::kIsNotNull, kBool, {{kText, "x"}}, "true"},
      {Fn::kCase, kInt, {tri("false"), {kInt, "1"}, tri("true"), {kInt, "2"}, {kInt, "3"}}, "2"},
      {Fn::kCase, kInt, {tri("NULL"), {kInt, "1"}, {Type::Of(TypeKind::kNull), "NULL"}}, "NULL"},
      {Fn::kCoalesce, kText, {{kText, "NULL"}, {kText, "b"}, {kText, "c"}}, "b"},
      {Fn::kCoalesce, kText, {{kText, "NULL"}, {kText, "NULL"}}, "NULL"},
      {Fn::kNullIf, kInt, {{kInt, "1"}, {kInt, "1"}}, "NULL"},
      {Fn::kNullIf, kInt, {{kInt, "1"}, {kInt, "NULL"}}, "1"},
      {Fn::kNullIf, kText, {{kText, "a"}, {kText, "b"}}, "a"},
  });
}

TEST_CASE("casts: exact or refused, as Flink's where it has a value") {
  Check({
      // Field case: a text that is no number.
      {Fn::kCast, kInt, {{kText, "12x"}}, "!not an INT"},
      {Fn::kCast, kInt, {{kText, " 12 "}}, "12"},
      {Fn::kCast, kInt, {{kText, "NULL"}}, "NULL"},
      {Fn::kCast, kInt, {{kText, ""}}, "!not an INT"},
      {Fn::kCast, kInt, {{kText, "-0"}}, "0"},
      {Fn::kCast, kInt, {{kText, "2147483648"}}, "!INT"},
      {Fn::kCast, kInt, {{kText, "+7"}}, "7"},
      {Fn::kCast, kInt, {{kText, "0x10"}}, "!not an INT"},
      {Fn::kCast, kInt, {{kText, "1e3"}}, "!not an INT"},
      {Fn::kCast, kInt, {{kText, "\xd9\xa3"}}, "!not an INT"},
      {Fn::kTryCast, kInt, {{kText, "12x"}}, "NULL"},
      {Fn::kTryCast, kInt, {{kText, "2147483648"}}, "NULL"},
      {Fn::kTryCast, kInt, {{kText, "7"}}, "7"},
      // Field case: decimals that narrow.
      {Fn::kCast, Dec(6, 2), {{Dec(7, 3), "9999.995"}}, "!10000.00 does not fit DECIMAL(6, 2)"},
      {Fn::kCast, Dec(6, 2), {{Dec(7, 3), "9999.994"}}, "9999.99"},
      {Fn::kCast, Dec(6, 2), {{Dec(7, 3), "-0.005"}}, "-0.01"},
      {Fn::kCast, Dec(6, 2), {{Dec(7, 3), "0.005"}}, "0.01"},
      {Fn::kCast, Dec(6, 2), {{Dec(7, 3), "-9999.995"}}, "!-10000.00 does not fit DECIMAL(6, 2)"},
      {Fn::kCast, Dec(6, 2), {{Dec(7, 3), "0.004"}}, "0.00"},
      {Fn::kTryCast, Dec(6, 2), {{Dec(7, 3), "9999.995"}}, "NULL"},
      {Fn::kCast, Dec(38, 0), {{Dec(38, 38), "0.99999999999999999999999999999999999999"}}, "1"},
      {Fn::kCast, Dec(38, 38), {{Dec(38, 0), "1"}}, "!does not fit DECIMAL(38, 38)"},
      {Fn::kCast, kTiny, {{kInt, "128"}}, "!128 does not fit TINYINT"},
      {Fn::kCast, kBig, {{kInt, "-5"}}, "-5"},
      {Fn::kCast, kInt, {{kDouble, "-1.9"}}, "-1"},
      {Fn::kCast, kBig, {{kDouble, "9223372036854775808"}}, "!does not fit BIGINT"},
      {Fn::kCast, kBig, {{kDouble, "-9223372036854775808"}}, "-9223372036854775808"},
      {Fn::kCast, kInt, {{kDouble, "NaN"}}, "!NaN does not fit INT"},
      {Fn::kCast, kInt, {{Dec(5, 2), "-2.99"}}, "-2"},
      {Fn::kCast, kInt, {{kBool, "true"}}, "1"},
      {Fn::kCast, kBool, {{kInt, "0"}}, "false"},
      {Fn::kCast, kBool, {{kText, " Yes"}}, "true"},
      {Fn::kCast, kBool, {{kText, "0"}}, "false"},
      {Fn::kCast, kBool, {{kText, "maybe"}}, "!BOOLEAN"},
      {Fn::kCast, kDouble, {{Dec(3, 1), "0.1"}}, "0.1"},
      {Fn::kCast, kDouble, {{kBig, "9007199254740993"}}, "9.007199254740992E15"},
      {Fn::kCast, kDouble, {{kText, "1e3"}}, "1000.0"},
      {Fn::kCast, kFloat, {{kDouble, "1e300"}}, "!does not fit FLOAT"},
      {Fn::kCast, Dec(5, 2), {{kDouble, "0.125"}}, "0.13"},
      {Fn::kCast, Dec(5, 2), {{kDouble, "1000"}}, "!does not fit DECIMAL(5, 2)"},
      {Fn::kCast, Dec(5, 2), {{kInt, "1000"}}, "!1000.00 does not fit DECIMAL(5, 2)"},
      {Fn::kCast, Dec(5, 2), {{kText, "1.005"}}, "1.01"},
      {Fn::kCast, kText, {{kBool, "true"}}, "TRUE"},
      {Fn::kCast, kText, {{kDouble, "1"}}, "1.0"},
      {Fn::kCast, kText, {{kFloat, "0.1"}}, "0.1"},
      {Fn::kCast, kText, {{kDouble, "NaN"}}, "NaN"},
      {Fn::kCast, kText, {{Dec(5, 2), "-0.05"}}, "-0.05"},
      {Fn::kCast, kText, {{kBig, "-7"}}, "-7"},
      {Fn::kCast, kText, {{kTs, "2024-03-01 10:00:00.5"}}, "2024-03-01 10:00:00.500"},
      {Fn::kCast, kText, {{kDate, "2024-02-29"}}, "2024-02-29"},
      {Fn::kCast, Type{TypeKind::kString, 0, 0, 3, true}, {{kText, "a\xc3\xa9xyz"}}, "a\xc3\xa9x"},
      {Fn::kCast, kBytes, {{kText, "ab"}}, "ab"},
      {Fn::kCast, kText, {{kBytes, "\xff"}}, "!not valid UTF-8"},
      {Fn::kTryCast, kText, {{kBytes, "\xff"}}, "NULL"},
      {Fn::kCast, kTs, {{kText, "2024-02-30 00:00:00"}}, "!TIMESTAMP"},
      {Fn::kTryCast, kTs, {{kText, "2024-02-30 00:00:00"}}, "NULL"},
      {Fn::kCast, kDate, {{kTs, "1969-12-31 23:59:59.999"}}, "-1"},
      {Fn::kCast, kTs, {{kDate, "1970-01-02"}}, "86400000"},
      {Fn::kCast, Type::Timestamp(0), {{kTs, "1970-01-01 00:00:01.999"}}, "1000"},
      {Fn::kCast, Type::Timestamp(6), {{kTs, "1970-01-01 00:00:01.999"}}, "1999000"},
      {Fn::kCast, Type::Timestamp(9), {{kTs, "9999-01-01 00:00:00"}}, "!outside TIMESTAMP(9)"},
      {Fn::kCast, kInt, {{Type::Of(TypeKind::kNull), "NULL"}}, "NULL"},
  });
  // Between TIMESTAMP and TIMESTAMP_LTZ lies the session zone.
  const SessionZone zone{2 * 3600 * 1000};
  CHECK(Evaluate(Fn::kCast, kLtz, {{kTs, "1970-01-01 02:00:00"}}, false, zone) == "0");
  CHECK(Evaluate(Fn::kCast, kTs, {{kLtz, "1970-01-01 00:00:00"}}, false, zone) == "7200000");
  CHECK(Evaluate(Fn::kCast, kText, {{kLtz, "1970-01-01 00:00:00"}}, false, zone) ==
        "1970-01-01 02:00:00.000");
  CHECK(Evaluate(Fn::kCast, kTs, {{kInt, "1"}}, false).starts_with("!! there is no cast"));
  CHECK(Evaluate(Fn::kCast, kInt, {{kTs, "1970-01-01 00:00:00"}}, false)
            .starts_with("!! there is no cast"));
}

TEST_CASE("mathematics") {
  Check({
      {Fn::kAbs, kInt, {{kInt, "-5"}}, "5"},
      {Fn::kAbs, kInt, {{kInt, "-2147483648"}}, "!does not fit INT"},
      {Fn::kAbs, Dec(5, 2), {{Dec(5, 2), "-1.25"}}, "1.25"},
      {Fn::kSign, kInt, {{kInt, "-5"}}, "-1"},
      {Fn::kSign, Dec(5, 2), {{Dec(5, 2), "-1.25"}}, "-1.00"},
      {Fn::kSign, kDouble, {{kDouble, "0.1"}}, "1.0"},
      {Fn::kCeil, Dec(6, 0), {{Dec(5, 2), "-1.25"}}, "-1"},
      {Fn::kFloor, Dec(6, 0), {{Dec(5, 2), "-1.25"}}, "-2"},
      {Fn::kCeil, Dec(6, 0), {{Dec(5, 2), "1.25"}}, "2"},
      {Fn::kCeil, kDouble, {{kDouble, "1.2"}}, "2.0"},
      {Fn::kFloor, kBig, {{kBig, "3"}}, "3"},
      {Fn::kRound, Dec(5, 1), {{Dec(5, 2), "1.25"}, {kInt, "1"}}, "1.3"},
      {Fn::kRound, Dec(5, 2), {{Dec(5, 2), "-125.00"}, {kInt, "-1"}}, "-130.00"},
      {Fn::kRound, kInt, {{kInt, "155"}, {kInt, "-1"}}, "160"},
      {Fn::kRound, kInt, {{kInt, "155"}, {kInt, "-30"}}, "0"},
      {Fn::kRound, kInt, {{kInt, "2147483647"}, {kInt, "-1"}}, "!2147483650 does not fit INT"},
      {Fn::kRound, kDouble, {{kDouble, "2.675"}, {kInt, "2"}}, "2.68"},
      {Fn::kRound, kDouble, {{kDouble, "-2.5"}}, "-3.0"},
      {Fn::kRound, kDouble, {{kDouble, "1e300"}, {kInt, "2"}}, "1.0E300"},
      {Fn::kRound, kDouble, {{kDouble, "12345"}, {kInt, "-2"}}, "12300.0"},
      {Fn::kTruncate, kDouble, {{kDouble, "-2.679"}, {kInt, "2"}}, "-2.67"},
      {Fn::kTruncate, Dec(5, 1), {{Dec(5, 2), "-1.29"}, {kInt, "1"}}, "-1.2"},
      {Fn::kTruncate, kInt, {{kInt, "-159"}, {kInt, "-1"}}, "-150"},
      {Fn::kPower, kDouble, {{kInt, "2"}, {kInt, "10"}}, "1024.0"},
      {Fn::kPower, kDouble, {{kDouble, "0"}, {kDouble, "-1"}}, "!division by zero"},
      {Fn::kPower, kDouble, {{kDouble, "-8"}, {kDouble, "0.5"}}, "!no finite number"},
      {Fn::kSqrt, kDouble, {{kInt, "16"}}, "4.0"},
      {Fn::kSqrt, kDouble, {{kDouble, "-1"}}, "!no finite number"},
      {Fn::kExp, kDouble, {{kDouble, "0"}}, "1.0"},
      {Fn::kExp, kDouble, {{kDouble, "1000"}}, "!no finite number"},
      {Fn::kLn, kDouble, {{kDouble, "0"}}, "!no finite number"},
      {Fn::kLog10, kDouble, {{kDouble, "1000"}}, "3.0"},
      {Fn::kLog2, kDouble, {{kDouble, "8"}}, "3.0"},
      {Fn::kSqrt, kDouble, {{kDouble, "NULL"}}, "NULL"},
  });
}

TEST_CASE("times") {
  const auto unit = [](const char* u) { return Argument{kText, u}; };
  const auto check = [&](Fn fn, const Type& type, std::vector<Argument> args,
                         const std::string& want, const SessionZone& zone = {}) {
    // Units and patterns are literals: the columns are what is left.
    const std::string got = Evaluate(fn, type, args, true, zone);
    std::string call = plan::FnName(fn);
    for (const Argument& a : args) call += " " + a.text;
    CAPTURE(call);
    if (want.starts_with("!")) {
      CAPTURE(got);
      CHECK(got.find(want.substr(1)) != std::string::npos);
    } else {
      CHECK(got == want);
    }
  };
  const Argument at{kTs, "2024-12-30 23:45:56.789"};  // a Monday, in ISO week 1 of 2025
  const std::pair<const char*, const char*> parts[] = {
      {"YEAR", "2024"}, {"QUARTER", "4"}, {"MONTH", "12"},        {"WEEK", "1"},
      {"DAY", "30"},    {"DOY", "365"},   {"DOW", "2"},           {"HOUR", "23"},
      {"MINUTE", "45"}, {"SECOND", "56"}, {"MILLISECOND", "789"}, {"EPOCH", "1735602356"}};
  for (const auto& [name, want] : parts) check(Fn::kExtract, kBig, {unit(name), at}, want);
  check(Fn::kExtract, kBig, {unit("WEEK"), {kDate, "2021-01-03"}}, "53");
  check(Fn::kExtract, kBig, {unit("DOW"), {kDate, "1970-01-01"}}, "5");
  check(Fn::kExtract, kBig, {unit("SECOND"), {kTs, "1969-12-31 23:59:58.5"}}, "58");
  check(Fn::kExtract, kBig, {unit("HOUR"), {kLtz, "1970-01-01 23:00:00"}}, "1", {2 * 3600000});
  check(Fn::kExtract, kBig, {unit("CENTURY"), at}, "!no such time unit");
  check(Fn::kFloorTo, kTs, {at, unit("HOUR")}, "1735599600000");
  check(Fn::kCeilTo, kTs, {at, unit("DAY")}, "1735603200000");
  check(Fn::kFloorTo, kTs, {{kTs, "2024-05-15 10:00:00"}, unit("QUARTER")}, "1711929600000");
  check(Fn::kCeilTo, kTs, {{kTs, "2024-12-15 10:00:00"}, unit("YEAR")}, "1735689600000");
  check(Fn::kFloorTo, kTs, {{kTs, "2024-03-01 00:00:00"}, unit("WEEK")},
        "1708819200000");  // Sunday
  check(Fn::kCeilTo, kTs, {{kTs, "2024-03-03 00:00:00"}, unit("WEEK")}, "1709424000000");
  check(Fn::kFloorTo, kTs, {{kTs, "1969-12-31 23:59:59.999"}, unit("SECOND")}, "-1000");
  check(Fn::kCeilTo, kTs, {{kTs, "9999-12-15 10:00:00"}, unit("YEAR")}, "!outside TIMESTAMP(3)");
  check(Fn::kFloorTo, kLtz, {{kLtz, "1970-01-01 23:00:00"}, unit("DAY")}, "79200000",
        {2 * 3600000});
  const auto ts = [](const char* t) { return Argument{kTs, t}; };
  check(Fn::kTimestampDiff, kInt,
        {unit("SECOND"), ts("2024-01-01 00:00:00.9"), ts("2024-01-01 00:00:02")}, "1");
  check(Fn::kTimestampDiff, kInt,
        {unit("SECOND"), ts("2024-01-01 00:00:02"), ts("2024-01-01 00:00:00.9")}, "-1");
  check(Fn::kTimestampDiff, kInt,
        {unit("MONTH"), ts("2024-01-31 00:00:00"), ts("2024-02-29 00:00:00")}, "1");
  check(Fn::kTimestampDiff, kInt,
        {unit("MONTH"), ts("2024-01-15 12:00:00"), ts("2024-02-15 11:59:59")}, "0");
  check(Fn::kTimestampDiff, kInt,
        {unit("YEAR"), ts("2024-02-29 00:00:00"), ts("2020-02-29 00:00:00")}, "-4");
  check(Fn::kTimestampDiff, kInt,
        {unit("MILLISECOND"), ts("1970-01-01 00:00:00"), ts("2024-01-01 00:00:00")},
        "!does not fit INT");
  check(Fn::kTimestampAdd, kTs, {unit("MONTH"), {kInt, "1"}, ts("2024-01-31 10:00:00")},
        "1709200800000");
  check(Fn::kTimestampAdd, kTs, {unit("DAY"), {kInt, "-1"}, ts("1970-01-01 00:00:00")},
        "-86400000");
  check(Fn::kTimestampAdd, kTs, {unit("YEAR"), {kInt, "9000"}, ts("2024-01-01 00:00:00")},
        "!outside");
  check(Fn::kTimestampAdd, kTs,
        {unit("YEAR"), {kBig, "9223372036854775807"}, ts("2024-01-01 00:00:00")}, "!outside");
  check(Fn::kDateFormat, kText, {at, {kText, "yyyy/MM/dd HH:mm"}}, "2024/12/30 23:45");
  check(Fn::kDateFormat, kText, {{kDate, "2024-02-29"}, {kText, "yyyyMMdd"}}, "20240229");
  check(Fn::kDateFormat, kText, {at, {kText, "YYYY"}}, "!yyyy");
  check(Fn::kDateFormat, kText, {{kTs, "NULL"}, {kText, "yyyy"}}, "NULL");
  check(Fn::kToTimestamp, kTs, {{kText, "1970-01-01 00:00:01"}}, "1000");
  check(Fn::kToTimestamp, kTs, {{kText, "01.02.1970"}, {kText, "dd.MM.yyyy"}}, "2678400000");
  check(Fn::kToTimestamp, kTs, {{kText, "yesterday"}}, "!not understood");
  check(Fn::kToDate, kDate, {{kText, "1970-01-03"}}, "2");
  check(Fn::kToDate, kDate, {{kText, "1970-02-30"}}, "!not understood");
  // By a pattern it is days too, not the ticks of a timestamp.
  check(Fn::kToDate, kDate, {{kText, "03.01.1970"}, {kText, "dd.MM.yyyy"}}, "2");
  check(Fn::kToDate, kDate, {{kText, "31.12.1969 23:59"}, {kText, "dd.MM.yyyy HH:mm"}}, "-1");
  check(Fn::kToDate, kDate, {{kText, "30.02.1970"}, {kText, "dd.MM.yyyy"}}, "!no such day");
  check(Fn::kToDate, kDate, {{kText, "1970-01-01 00:30 +0100"}, {kText, "yyyy-MM-dd HH:mm Z"}},
        "-1");
  check(Fn::kToTimestampLtz, kLtz, {{kBig, "1709287200"}, {kInt, "0"}}, "1709287200000");
  check(Fn::kToTimestampLtz, kLtz, {{kBig, "-1"}, {kInt, "3"}}, "-1");
  check(Fn::kToTimestampLtz, kLtz, {{kDouble, "1.5"}, {kInt, "0"}}, "1500");
  check(Fn::kToTimestampLtz, kLtz, {{kBig, "9223372036854775807"}, {kInt, "0"}}, "!outside");
  check(Fn::kToTimestampLtz, kLtz, {{kBig, "1"}, {kInt, "6"}}, "!the precision is");
  check(Fn::kToTimestampLtz, kLtz, {{kText, "1970-01-01 02:00:00"}}, "0", {2 * 3600000});
  check(Fn::kUnixTimestamp, kBig, {{kText, "1970-01-01 02:00:01.9"}}, "1", {2 * 3600000});
  check(Fn::kUnixTimestamp, kBig, {{kText, "x"}}, "!not understood");
  // A pattern from a column is refused when the query is compiled.
  CHECK(Evaluate(Fn::kToTimestamp, kTs, {{kText, "x"}, {kText, "y"}}, false).find("literal") !=
        std::string::npos);
}

}  // namespace
}  // namespace weir::operators
