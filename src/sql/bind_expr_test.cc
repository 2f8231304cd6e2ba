// Expressions: what they become, and of which type.
#include "sql/bind_expr.h"

#include <doctest/doctest.h>

#include <string>

#include "base/check.h"
#include "sql/testing/specs.h"

namespace weir::sql {
namespace {

constexpr const char* kTable =
    "CREATE TABLE t (b BOOLEAN, i INT, l BIGINT, ti TINYINT, d DOUBLE, f FLOAT, n DECIMAL(12,2),\n"
    "  m DECIMAL(38,10), s STRING, v VARCHAR(5), y BYTES, dt DATE, ts TIMESTAMP(3),\n"
    "  tz TIMESTAMP_LTZ(3), t6 TIMESTAMP(6), nn INT NOT NULL)\n"
    "WITH ('connector' = 'filesystem', 'path' = 'p', 'format' = 'json');\n";

// The canonical form and type of `expr` over t, or "ERROR " and the first message.
std::string Bound(const std::string& expr) {
  const CompileInput input = TestInput(std::string(kTable) + "SELECT " + expr + " AS x FROM t");
  const CompileOutput out = Compile(input);
  if (out.plan == nullptr) {
    const plan::Diagnostic& d = out.diagnostics.at(0);
    REQUIRE(d.position.line == 5);
    return "ERROR " + std::to_string(d.position.column - 7) + ": " + d.message;
  }
  const std::string key = "project 0 x=";
  const size_t start = out.canonical.find(key) + key.size();
  const size_t end = out.canonical.find_first_of("\t\n", start);
  for (const plan::Node& node : out.plan->nodes) {
    if (!std::holds_alternative<plan::SinkNode>(node.body)) continue;
    const auto& sink = std::get<plan::SinkNode>(node.body);
    if (sink.kind != plan::SinkNode::Kind::kPrint) continue;
    return out.canonical.substr(start, end - start) + " -> " +
           node.output.fields[0].type.ToString();
  }
  return "no print";
}

struct Case {
  const char* given;
  const char* want;
};

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    CAPTURE(c.given);
    CHECK(Bound(c.given) == c.want);
  }
}

TEST_CASE("arithmetic has Flink's result types") {
  Check({
      {"i + 1", "ADD($1, 1:INT):INT -> INT"},
      {"i + l", "ADD($1, $2):BIGINT -> BIGINT"},
      {"ti + ti", "ADD($3, $3):TINYINT -> TINYINT"},
      {"i / 2", "DIV($1, 2:INT):INT -> INT"},
      {"nn + 1", "ADD($15, 1:INT):INT -> INT NOT NULL"},
      {"i / 2.0",
       "DIV(CAST($1):DECIMAL(10, 0), 2.0:DECIMAL(2, 1)):DECIMAL(17, 6) -> DECIMAL(17, 6)"},
      {"n + i", "ADD($6, CAST($1):DECIMAL(10, 0)):DECIMAL(13, 2) -> DECIMAL(13, 2)"},
      {"n * n", "MUL($6, $6):DECIMAL(25, 4) -> DECIMAL(25, 4)"},
      {"m * m", "MUL($7, $7):DECIMAL(38, 6) -> DECIMAL(38, 6)"},
      {"m / n", "DIV($7, $6):DECIMAL(38, 8) -> DECIMAL(38, 8)"},
      {"MOD(i, l)", "MOD($1, $2):BIGINT -> BIGINT"},
      {"n % n", "MOD($6, $6):DECIMAL(12, 2) -> DECIMAL(12, 2)"},
      {"i + d", "ADD(CAST($1):DOUBLE, $4):DOUBLE -> DOUBLE"},
      {"f + i", "ADD($5, CAST($1):FLOAT):FLOAT -> FLOAT"},
      {"f + n", "ADD(CAST($5):DOUBLE, CAST($6):DOUBLE):DOUBLE -> DOUBLE"},
      {"-i", "NEG($1):INT -> INT"},
      {"NULL + 1", "ADD(CAST(NULL AS INT):INT, 1:INT):INT -> INT"},
      {"1 + 2 * 3 - 4", "SUB(ADD(1:INT, MUL(2:INT, 3:INT):INT):INT, 4:INT):INT -> INT NOT NULL"},
      {"(1 + 2) * 3", "MUL(ADD(1:INT, 2:INT):INT, 3:INT):INT -> INT NOT NULL"},
      {"s + 1", "ERROR 3: there is no STRING + INT"},
      {"-s", "ERROR 1: '-' needs a number, this is STRING"},
  });
}

TEST_CASE("literals have the type of their digits") {
  Check({
      {"2147483647", "2147483647:INT -> INT NOT NULL"},
      {"2147483648", "CAST(2147483648 AS BIGINT):BIGINT -> BIGINT NOT NULL"},
      {"-9223372036854775808", "CAST(-9223372036854775808 AS BIGINT):BIGINT -> BIGINT NOT NULL"},
      {"9223372036854775808",
       "CAST(9223372036854775808 AS DECIMAL(19, 0)):DECIMAL(19, 0) -> DECIMAL(19, 0) NOT NULL"},
      {"1.50", "1.50:DECIMAL(3, 2) -> DECIMAL(3, 2) NOT NULL"},
      {".5", "CAST(0.5 AS DECIMAL(1, 1)):DECIMAL(1, 1) -> DECIMAL(1, 1) NOT NULL"},
      {"1e3", "1.0E3:DOUBLE -> DOUBLE NOT NULL"},
      {"DATE '2024-02-29'", "DATE '2024-02-29':DATE -> DATE NOT NULL"},
      {"DATE '2023-02-29'", "ERROR 1: '2023-02-29' is no DATE: no such day"},
      {"TIMESTAMP '2024-02-28 10:00:00.123456'",
       "TIMESTAMP '2024-02-28 10:00:00.123456':TIMESTAMP(6) -> TIMESTAMP(6) NOT NULL"},
      {"123456789012345678901234567890123456789",
       "ERROR 1: the number 123456789012345678901234567890123456789 has more than 38 digits"},
      {"1e999", "ERROR 1: the number 1e999 does not fit DOUBLE"},
      {"NULL", "ERROR 1: column x is NULL without a type"},
  });
}

TEST_CASE("both sides of a comparison get one type") {
  Check({
      {"i = l", "EQ(CAST($1):BIGINT, $2):BOOLEAN -> BOOLEAN"},
      {"d > 0.5", "GT($4, 5.0E-1:DOUBLE):BOOLEAN -> BOOLEAN"},
      {"i = 1.5",
       "EQ(CAST($1):DECIMAL(11, 1), CAST(1.5 AS DECIMAL(11, 1)):DECIMAL(11, 1)):BOOLEAN -> "
       "BOOLEAN"},
      {"ts >= '2024-03-01'",
       "GE($12, TIMESTAMP '2024-03-01 00:00:00.000':TIMESTAMP(3)):BOOLEAN -> BOOLEAN"},
      {"ts >= '2024-02-30'", "ERROR 7: '2024-02-30' is no TIMESTAMP(3): no such day"},
      {"ts = tz", "EQ(CAST($12):TIMESTAMP_LTZ(3), $13):BOOLEAN -> BOOLEAN"},
      {"s = 1", "ERROR 3: a comparison of STRING and INT: there is no common type"},
      {"i IS DISTINCT FROM NULL",
       "IS_DISTINCT_FROM($1, CAST(NULL AS INT):INT):BOOLEAN -> BOOLEAN NOT NULL"},
      {"i IN (1, 2, l)",
       "IN(CAST($1):BIGINT, CAST(1 AS BIGINT):BIGINT, CAST(2 AS BIGINT):BIGINT, $2):BOOLEAN -> "
       "BOOLEAN"},
      {"i NOT IN (1, NULL)",
       "NOT(IN($1, 1:INT, CAST(NULL AS INT):INT):BOOLEAN):BOOLEAN -> BOOLEAN"},
      {"i NOT BETWEEN 1 AND 10",
       "NOT(AND(GE($1, 1:INT):BOOLEAN, LE($1, 10:INT):BOOLEAN):BOOLEAN):BOOLEAN -> BOOLEAN"},
      {"i IN (SELECT i FROM t)", "ERROR 7: IN (SELECT ..) is not in this version"},
  });
}

TEST_CASE("logic is three-valued, chains are one node, and NOT binds looser than =") {
  Check({
      {"b AND i > 1 AND d < 2 OR NOT b",
       "OR(AND($0, GT($1, 1:INT):BOOLEAN, LT($4, 2.0E0:DOUBLE):BOOLEAN):BOOLEAN, "
       "NOT($0):BOOLEAN):BOOLEAN -> BOOLEAN"},
      {"NOT i = 1", "NOT(EQ($1, 1:INT):BOOLEAN):BOOLEAN -> BOOLEAN"},
      {"b IS NOT TRUE", "IS_NOT_TRUE($0):BOOLEAN -> BOOLEAN NOT NULL"},
      {"b IS UNKNOWN", "IS_NULL($0):BOOLEAN -> BOOLEAN NOT NULL"},
      {"i AND b", "ERROR 1: AND needs a BOOLEAN, this is INT"},
  });
}

TEST_CASE("conditionals bring their values to one type") {
  Check({
      {"CASE WHEN b THEN 1 ELSE 2.5 END",
       "CASE($0, CAST(1.0 AS DECIMAL(11, 1)):DECIMAL(11, 1), CAST(2.5 AS DECIMAL(11, "
       "1)):DECIMAL(11, 1)):DECIMAL(11, 1) -> DECIMAL(11, 1) NOT NULL"},
      {"CASE i WHEN 1 THEN 'a' END",
       "CASE(EQ($1, 1:INT):BOOLEAN, 'a':STRING, CAST(NULL AS STRING):STRING):STRING -> STRING"},
      {"IF(b, i, l)", "CASE($0, CAST($1):BIGINT, $2):BIGINT -> BIGINT"},
      {"IFNULL(i, 0)", "COALESCE($1, 0:INT):INT -> INT NOT NULL"},
      {"NULLIF(nn, 0)", "NULLIF($15, 0:INT):INT -> INT"},
      {"GREATEST(i, d)", "GREATEST(CAST($1):DOUBLE, $4):DOUBLE -> DOUBLE"},
      {"CASE WHEN b THEN 1 ELSE 'a' END",
       "ERROR 1: CASE mixes INT and STRING: there is no common type"},
      {"IF(i, 1, 2)", "ERROR 4: argument 1 of IF is a BOOLEAN, not INT"},
  });
}

TEST_CASE("casts") {
  Check({
      {"CAST(s AS INT)", "CAST($8):INT -> INT"},
      {"CAST(nn AS BIGINT)", "CAST($15):BIGINT NOT NULL -> BIGINT NOT NULL"},
      {"TRY_CAST(s AS DECIMAL(10, 2))", "TRY_CAST($8):DECIMAL(10, 2) -> DECIMAL(10, 2)"},
      {"CAST(i AS INTEGER)", "$1 -> INT"},
      {"CAST(NULL AS VARCHAR(3))", "CAST(NULL AS VARCHAR(3)):VARCHAR(3) -> VARCHAR(3)"},
      {"CAST(ts AS INT)", "ERROR 1: there is no CAST from TIMESTAMP(3) to INT"},
      {"CAST(i AS ARRAY<INT>)", "ERROR 11: the type ARRAY is not in this version"},
      {"CAST(i AS UINT)", "ERROR 11: unknown type UINT"},
      {"CAST(i AS DECIMAL(39, 0))", "ERROR 19: the precision of DECIMAL must be 1 to 38, not 39"},
  });
}

TEST_CASE("text functions") {
  Check({
      {"s || 'x' || v", "CONCAT(CONCAT($8, 'x':STRING):STRING, $9):STRING -> STRING"},
      {"s || 1", "ERROR 3: || joins texts, this is INT"},
      {"TRIM(s)", "TRIM_BOTH($8, ' ':STRING):STRING -> STRING"},
      {"TRIM(LEADING 'x' FROM s)", "TRIM_LEADING($8, 'x':STRING):STRING -> STRING"},
      {"SUBSTRING(s FROM 2 FOR 3)", "SUBSTRING($8, 2:INT, 3:INT):STRING -> STRING"},
      {"POSITION('a' IN s)", "POSITION('a':STRING, $8):INT -> INT"},
      {"INSTR(s, 'a')", "POSITION('a':STRING, $8):INT -> INT"},
      {"LEFT(s, 2)", "LEFT($8, 2:INT):STRING -> STRING"},
      {"SPLIT_INDEX('a,b', ',', 0)",
       "SPLIT_INDEX('a,b':STRING, ',':STRING, 0:INT):STRING -> STRING"},
      {"UPPER(i)", "ERROR 7: argument 1 of UPPER is a text, not INT"},
      {"UPPER()", "ERROR 1: UPPER takes 1 argument, not 0"},
      {"CONCAT_WS(',')", "ERROR 1: CONCAT_WS takes at least 2 arguments, not 1"},
  });
}

TEST_CASE("LIKE: the escape is the backslash by default, and escapes are checked now") {
  Check({
      {"s LIKE 'a%'", "LIKE($8, 'a%':STRING, '\\\\':STRING):BOOLEAN -> BOOLEAN"},
      {"s NOT LIKE 'a#_b' ESCAPE '#'",
       "NOT(LIKE($8, 'a#_b':STRING, '#':STRING):BOOLEAN):BOOLEAN -> BOOLEAN"},
      {"s LIKE '##' ESCAPE '#'", "LIKE($8, '##':STRING, '#':STRING):BOOLEAN -> BOOLEAN"},
      {"s LIKE 'ab#' ESCAPE '#'",
       "ERROR 8: the pattern 'ab#' of LIKE is wrong: the escape character stands at the end"},
      {"s LIKE 'a#b' ESCAPE '#'",
       "ERROR 8: the pattern 'a#b' of LIKE is wrong: the escape character stands before an "
       "ordinary character"},
      {"s LIKE 'a' ESCAPE 'xy'", "ERROR 19: the ESCAPE of LIKE is one character"},
      {"i LIKE 'a'", "ERROR 3: LIKE compares texts, this is INT"},
  });
}

TEST_CASE("patterns are literals and are compiled now") {
  Check({
      {"REGEXP(s, 'a+')", "REGEXP($8, 'a+':STRING):BOOLEAN -> BOOLEAN"},
      {"REGEXP(s, '(a')", "ERROR 11: the pattern '(a' of REGEXP is wrong: missing ): (a"},
      {"REGEXP(s, v)", "ERROR 11: the pattern of REGEXP must be a text literal"},
      {"REGEXP_EXTRACT(s, '(a)(b)')",
       "REGEXP_EXTRACT($8, '(a)(b)':STRING, 0:INT):STRING -> STRING"},
      {"REGEXP_EXTRACT(s, '(a)(b)', 3)", "ERROR 29: the pattern has 2 groups, there is no group 3"},
      {"DATE_FORMAT(ts, 'yyyy-MM-dd')", "DATE_FORMAT($12, 'yyyy-MM-dd':STRING):STRING -> STRING"},
      {"DATE_FORMAT(ts, s)", "ERROR 17: the pattern of DATE_FORMAT must be a text literal"},
  });
  const std::string week_year = Bound("DATE_FORMAT(ts, 'YYYY')");
  CHECK(week_year.starts_with("ERROR 17: DATE_FORMAT: pattern 'YYYY': "));
  CHECK(week_year.find("'yyyy'") != std::string::npos);
}

TEST_CASE("time functions and intervals") {
  Check({
      {"ts + INTERVAL '1' DAY",
       "TIMESTAMP_PLUS_INTERVAL($12, INTERVAL '1' DAY:INTERVAL DAY TO SECOND):TIMESTAMP(3) -> "
       "TIMESTAMP(3)"},
      {"INTERVAL '1 02:03:04.5' DAY TO SECOND + ts",
       "TIMESTAMP_PLUS_INTERVAL($12, INTERVAL '93784.500' SECOND:INTERVAL DAY TO "
       "SECOND):TIMESTAMP(3) -> TIMESTAMP(3)"},
      {"ts - INTERVAL '1' MONTH",
       "TIMESTAMPADD('MONTH':STRING, -1:INT, $12):TIMESTAMP(3) -> TIMESTAMP(3)"},
      {"ts - t6", "ERROR 4: there is no TIMESTAMP(3) - TIMESTAMP(6)"},
      {"TIMESTAMPDIFF(SECOND, ts, t6)",
       "TIMESTAMPDIFF('SECOND':STRING, CAST($12):TIMESTAMP(6), $14):INT -> INT"},
      {"EXTRACT(HOUR FROM ts)", "EXTRACT('HOUR':STRING, $12):BIGINT -> BIGINT"},
      {"DAYOFWEEK(dt)", "EXTRACT('DOW':STRING, $11):BIGINT -> BIGINT"},
      {"FLOOR(ts TO HOUR)", "FLOOR_TO($12, 'HOUR':STRING):TIMESTAMP(3) -> TIMESTAMP(3)"},
      {"FLOOR(CAST(ts AS DATE) TO MONTH)", "FLOOR_TO(CAST($12):DATE, 'MONTH':STRING):DATE -> DATE"},
      {"FLOOR(ts TO HUOR)",
       "ERROR 13: expected a unit: YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND"},
      {"TO_TIMESTAMP_LTZ(l, 3)",
       "TO_TIMESTAMP_LTZ($2, 3:INT):TIMESTAMP_LTZ(3) -> TIMESTAMP_LTZ(3)"},
      {"TO_TIMESTAMP_LTZ(l, 4)",
       "ERROR 21: the precision of TO_TIMESTAMP_LTZ is 0 (seconds) or 3 (milliseconds)"},
      {"INTERVAL '1' DAY", "ERROR 1: an INTERVAL cannot be a column"},
      {"INTERVAL 'x' DAY", "ERROR 1: 'x' is no INTERVAL .. DAY"},
      {"INTERVAL '1' FORTNIGHT", "ERROR 1: unknown interval unit FORTNIGHT"},
  });
}

TEST_CASE("number functions") {
  Check({
      {"ROUND(n, 1)", "ROUND($6, 1:INT):DECIMAL(12, 1) -> DECIMAL(12, 1)"},
      {"ROUND(n)", "ROUND($6, 0:INT):DECIMAL(11, 0) -> DECIMAL(11, 0)"},
      {"FLOOR(n)", "FLOOR($6):DECIMAL(11, 0) -> DECIMAL(11, 0)"},
      {"CEIL(i)", "CEIL($1):INT -> INT"},
      {"POWER(i, 2)", "POWER(CAST($1):DOUBLE, 2.0E0:DOUBLE):DOUBLE -> DOUBLE"},
      {"ABS(n)", "ABS($6):DECIMAL(12, 2) -> DECIMAL(12, 2)"},
  });
}

TEST_CASE("what would differ in a second reading is refused, what is not built yet is named") {
  Check({
      {"NOW()", "ERROR 1: NOW() would differ when rows are read again after a restart"},
      {"CURRENT_TIMESTAMP",
       "ERROR 1: CURRENT_TIMESTAMP would differ when rows are read again after a restart"},
      {"UUID()", "ERROR 1: UUID() would differ when rows are read again after a restart"},
      {"UNIX_TIMESTAMP()",
       "ERROR 1: UNIX_TIMESTAMP() is the wall clock: it would differ when rows are read again "
       "after a restart"},
      {"CURRENT_WATERMARK(ts)",
       "ERROR 1: CURRENT_WATERMARK would differ from what the window decides"},
      {"JSON_VALUE(s, '$.a')", "ERROR 1: the function JSON_VALUE is not in this version"},
      {"STDDEV(i)", "ERROR 1: the function STDDEV is not in this version"},
      {"ROW(1, 2)", "ERROR 1: ROW(..) is not in this version"},
      {"ARRAY[1]", "ERROR 1: ARRAY[..] is not in this version"},
      {"s[1]", "ERROR 2: element access with [..] is not in this version"},
      {"EXISTS(SELECT 1)", "ERROR 1: EXISTS(..) is not in this version"},
      {"s SIMILAR TO 'a'", "ERROR 3: SIMILAR TO is not in this version"},
      {"LAG(i) OVER (ORDER BY ts)", "ERROR 8: OVER is not in this version"},
      {"LENGHT(s)", "ERROR 1: unknown function LENGHT"},
      {"foo(i)", "ERROR 1: unknown function foo"},
      {"TUMBLE_START(ts, INTERVAL '1' DAY)",
       "ERROR 1: TUMBLE_START(..) is the old Flink syntax of group windows"},
      {"value", "ERROR 1: \"value\" is a reserved word"},
      {"iota", "ERROR 1: unknown column iota"},
      {"I", "ERROR 1: unknown column I"},
      {"x.i", "ERROR 1: there is no table x in FROM"},
      {"t.i", "$1 -> INT"},
      {"a.b.c", "ERROR 1: a column is named column or table.column here"},
  });
}

TEST_CASE("deep expressions are refused, long chains are not deep") {
  std::string deep(3000, '(');
  CHECK(Bound(deep + "1").find("nested too deeply") != std::string::npos);
  std::string minus;
  for (int i = 0; i < 3000; ++i) minus += "- ";
  CHECK(Bound(minus + "i").find("nested too deeply") != std::string::npos);
  std::string sum = "1";
  for (int i = 0; i < 3000; ++i) sum += " + 1";
  CHECK(Bound(sum).find("nested too deeply") != std::string::npos);
  std::string chain = "b";
  for (int i = 0; i < 3000; ++i) chain += " AND b";
  CHECK(Bound(chain).starts_with("AND($0, $0, "));
}

}  // namespace
}  // namespace weir::sql
