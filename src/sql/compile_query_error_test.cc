// What is refused in INSERTs, SELECTs and windows. One string holds everything that a run finds.
#include <doctest/doctest.h>

#include <string>

#include "base/check.h"
#include "sql/testing/specs.h"

namespace weir::sql {
namespace {

// Lines 1 to 3 of every case.
constexpr const char* kTables =
    "CREATE TABLE src (k STRING, v INT, a DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - "
    "INTERVAL '5' SECOND) WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = "
    "'json');\n"
    "CREATE TABLE out (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', "
    "'format' = 'json');\n"
    "CREATE VIEW w AS SELECT k, COUNT(*) AS n, window_time AS rt FROM TUMBLE(TABLE src, "
    "DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, k;\n";

std::string Errors(const std::string& sql) {
  const CompileOutput out = Compile(TestInput(kTables + sql));
  std::string text;
  for (const plan::Diagnostic& d : out.diagnostics) {
    if (d.severity != plan::Diagnostic::Severity::kError) continue;
    if (!text.empty()) text += "\n";
    text += std::to_string(d.position.line - 3) + ":" + std::to_string(d.position.column) + " " +
            d.message;
    if (!d.hint.empty()) text += " | " + d.hint;
  }
  CHECK((out.plan == nullptr) == !text.empty());
  return text;
}

struct Case {
  const char* given;
  const char* want;
};

void Check(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    CAPTURE(c.given);
    CHECK(Errors(c.given) == c.want);
  }
}

TEST_CASE("a view that reads itself is an error, not a pipeline without input") {
  Check({
      {"CREATE VIEW x AS SELECT k FROM x; SELECT k FROM x",
       "1:32 the view x reads itself | a view reads what stands above it in the file"},
      {"CREATE VIEW x AS SELECT message FROM DEAD_LETTERS(x); SELECT * FROM x",
       "1:51 the view x reads itself | a view reads what stands above it in the file"},
      {"CREATE VIEW x AS SELECT k FROM y; CREATE VIEW y AS SELECT k FROM x; SELECT k FROM y",
       "1:32 y is defined further down, in line 4 | define it before it is used"},
  });
}

TEST_CASE("a comparison with NULL compiles, and is noted") {
  const CompileOutput out =
      Compile(TestInput(std::string(kTables) + "SELECT k FROM src WHERE v = NULL OR v IS NULL"));
  REQUIRE(out.plan != nullptr);
  int notes = 0;
  for (const plan::Diagnostic& d : out.diagnostics) {
    if (d.message.find("never true") == std::string::npos) continue;
    ++notes;
    CHECK(d.severity == plan::Diagnostic::Severity::kNote);
    CHECK(d.position.line == 4);
    CHECK(d.position.column == 27);
  }
  CHECK(notes == 1);
}

TEST_CASE("a name that is no column here is explained where it is known what was meant") {
  Check({
      {"SELECT v + 1 AS n FROM src WHERE n > 1",
       "1:34 unknown column n | n is an alias of the SELECT list, which only the result has: write "
       "its expression again"},
      {"SELECT k, COUNT(*) AS c FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP "
       "BY window_start, window_end, k HAVING c > 1",
       "1:129 unknown column c | c is an alias of the SELECT list, which only the result has: "
       "write its expression again"},
      {"SELECT raw, error FROM DEAD_LETTERS(src)",
       "1:13 unknown column error | did you mean "
       "message?"},
      {"SELECT x.k FROM src AS s", "1:8 there is no table x in FROM | there is s"},
  });
}

TEST_CASE("INSERT assigns by position, with casts that lose nothing") {
  Check({
      {"INSERT INTO out SELECT k, v FROM src", ""},
      {"INSERT INTO out (n) SELECT v FROM src", ""},
      {"INSERT INTO out SELECT k FROM src", "1:17 out takes 2 columns, this SELECT has 1"},
      {"INSERT INTO out SELECT v, k FROM src",
       "1:24 column k of out is STRING, this is INT | write CAST(.. AS STRING), or change the "
       "column\n"
       "1:27 column n of out is BIGINT, this is STRING | write CAST(.. AS BIGINT), or change the "
       "column"},
      {"INSERT INTO out SELECT k, a FROM src",
       "1:27 column n of out is BIGINT, this is DOUBLE | write CAST(.. AS BIGINT), or change the "
       "column"},
      {"INSERT INTO out SELECT k, ts FROM src",
       "1:27 column n of out is BIGINT, this is TIMESTAMP(3)"},
      {"INSERT INTO out (n, m) SELECT v, v FROM src", "1:21 out has no column m that is written"},
      {"INSERT INTO out (n, n) SELECT v, v FROM src", "1:21 column n stands twice"},
      {"INSERT INTO out (n) SELECT v, k FROM src", "1:21 1 columns are named, this SELECT has 2"},
      {"CREATE TABLE t (k STRING NOT NULL, n INT) WITH ('connector' = 'print'); INSERT INTO t (n) "
       "SELECT v FROM src",
       "1:85 column k of t is NOT NULL and has no value here"},
      {"CREATE TABLE t (k VARCHAR(3)) WITH ('connector' = 'print'); INSERT INTO t SELECT k FROM "
       "src",
       "1:82 column k of t is VARCHAR(3), this is STRING | write CAST(.. AS VARCHAR(3)), or change "
       "the column"},
      {"INSERT INTO oot SELECT k, v FROM src", "1:13 unknown table oot | did you mean out?"},
  });
}

TEST_CASE("names: unknown, ambiguous, too early") {
  Check({
      {"SELECT k, x, y FROM src",
       "1:11 unknown column x | there are k, v, a and ts\n1:14 unknown column y | there are k, v, "
       "a and ts"},
      {"SELECT z.* FROM src", "1:8 there is no table z in FROM"},
      {"SELECT k FROM srcc", "1:15 unknown table or view srcc | did you mean src?"},
      {"SELECT q FROM later;\nCREATE VIEW later AS SELECT k AS q FROM src",
       "1:15 later is defined further down, in line 5 | define it before it is used"},
      {"SELECT k, v AS k FROM src", "1:11 two columns are named k | give one an alias (AS ..)"},
      {"CREATE VIEW x (p, q) AS SELECT k FROM src", "1:16 2 names for 1 columns"},
      // A view with a mistake is known: its readers are not reported.
      {"CREATE VIEW x AS SELECT kk, v FROM src; SELECT kk, v FROM x; SELECT nope FROM x",
       "1:25 unknown column kk | there are k, v, a and ts\n1:69 unknown column nope | there are kk "
       "and v"},
      {"SELECT s.k FROM (SELECT k FROM src) AS s; SELECT s.v FROM (SELECT k FROM src) s",
       "1:52 s has no column v | there are k"},
      {"SELECT raw, wrong FROM DEAD_LETTERS(src); SELECT k FROM src",
       "1:13 unknown column wrong | dead letters have stage, code, message, raw, record, source, "
       "part, pos and ts"},
  });
}

TEST_CASE("windows") {
  Check({
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MONTH) GROUP BY "
       "window_start, window_end",
       "1:60 INTERVAL '1' MONTH has no fixed length and cannot be used here | use DAY: INTERVAL "
       "'30' DAY"},
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '0' SECOND) GROUP BY "
       "window_start, window_end",
       "1:60 the size of TUMBLE must be more than 0"},
      {"SELECT window_start FROM SESSION(TABLE src, DESCRIPTOR(ts), INTERVAL '-1' SECOND) GROUP BY "
       "window_start, window_end",
       "1:61 the gap of SESSION must be more than 0"},
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(ts), 10) GROUP BY window_start, "
       "window_end",
       "1:60 the size of a window is an interval, as in INTERVAL '10' SECOND"},
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(ts)) GROUP BY window_start, "
       "window_end",
       "1:26 TUMBLE is TUMBLE(TABLE t, DESCRIPTOR(ts), size [, offset])"},
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(v), INTERVAL '1' SECOND) GROUP BY "
       "window_start, window_end",
       "1:55 v of src has no watermark | its time column is ts"},
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(tss), INTERVAL '1' SECOND) GROUP BY "
       "window_start, window_end",
       "1:55 src has no column tss | did you mean ts?"},
      {"CREATE TABLE t (x TIMESTAMP(3)) WITH ('connector' = 'datagen'); SELECT window_start FROM "
       "TUMBLE(TABLE t, DESCRIPTOR(x), INTERVAL '1' SECOND) GROUP BY window_start, window_end",
       "1:117 x of t has no watermark | write WATERMARK FOR x AS x - INTERVAL '5' SECOND in its "
       "CREATE TABLE"},
      {"SELECT k FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)",
       "1:15 a window needs GROUP BY window_start, window_end | a window whose rows are not "
       "aggregated is not in this version"},
      {"SELECT window_start FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY "
       "window_start",
       "1:81 GROUP BY needs both window_start and window_end, window_end is missing"},
      {"SELECT k FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY "
       "window_start, window_end",
       "1:8 k is neither in GROUP BY nor in an aggregate"},
      {"SELECT * FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY "
       "window_start, window_end",
       "1:8 * cannot be used with GROUP BY | name the columns"},
      {"SELECT SUM(k), SUM(MAX(v)), MAX(v, v), SUM(*) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), "
       "INTERVAL '1' SECOND) GROUP BY window_start, window_end",
       "1:8 SUM of STRING is not possible\n1:20 MAX is an aggregate and has no place here | "
       "aggregates stand in the SELECT list and in HAVING of a query with GROUP BY window_start, "
       "window_end\n"
       "1:29 MAX(x) takes one argument\n1:40 SUM(x) takes one argument"},
      {"SELECT COUNT(*) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) WHERE COUNT(*) "
       "> 1 GROUP BY window_start, window_end, 1",
       "1:83 WHERE is asked before rows are aggregated | a condition on an aggregate is "
       "HAVING\n1:131 GROUP BY takes columns and expressions, not literals | the position of a "
       "column has no meaning here"},
      {"SELECT COUNT(*) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) WHERE "
       "window_start > ts GROUP BY window_start, window_end",
       "1:83 unknown column window_start | window_start, window_end and window_time are known in "
       "SELECT, GROUP BY and HAVING only"},
      {"SELECT k, COUNT(*) FROM SESSION(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND) GROUP BY "
       "window_start, window_end, k",
       "1:81 the keys of GROUP BY and of SESSION's PARTITION BY must be the same columns | write "
       "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), gap) GROUP BY window_start, window_end, k"},
      {"SELECT k, COUNT(*) FROM src GROUP BY k",
       "1:29 GROUP BY without a window keeps state for ever (unbounded state) | read from "
       "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL ..) and GROUP BY window_start, window_end, .."},
      {"SELECT TUMBLE_START(ts, INTERVAL '3' SECOND) AS s, k, COUNT(*) AS n\nFROM src\nGROUP BY "
       "TUMBLE(ts, INTERVAL '3' SECOND), k",
       "3:10 GROUP BY TUMBLE(..) is the old Flink syntax | write FROM TUMBLE(TABLE src, "
       "DESCRIPTOR(ts), INTERVAL '3' SECOND) GROUP BY window_start, window_end, k and select "
       "window_start or window_end instead of TUMBLE_START or TUMBLE_END"},
      {"SELECT n FROM FOO(TABLE src)",
       "1:15 unknown table function FOO | there are TUMBLE, SESSION, LATE and DEAD_LETTERS"},
      {"SELECT window_start FROM TUMBLE((SELECT * FROM src), DESCRIPTOR(ts), INTERVAL '1' SECOND) "
       "GROUP BY window_start, window_end",
       "1:33 a query inside TUMBLE is not in this version | make it a view"},
  });
}

TEST_CASE("time attributes go through views by plain reference only") {
  Check({
      {"CREATE VIEW x AS SELECT ts AS t, v FROM src WHERE v > 1; SELECT window_end, SUM(v) FROM "
       "TUMBLE(TABLE x, DESCRIPTOR(t), INTERVAL '1' MINUTE) GROUP BY window_start, window_end",
       ""},
      {"CREATE VIEW x AS SELECT ts + INTERVAL '1' SECOND AS t FROM src; SELECT window_end FROM "
       "TUMBLE(TABLE x, DESCRIPTOR(t), INTERVAL '1' MINUTE) GROUP BY window_start, window_end",
       "1:115 t of x has no watermark | write WATERMARK FOR t AS t - INTERVAL '5' SECOND in its "
       "CREATE TABLE"},
      {"SELECT window_end, SUM(n) FROM TUMBLE(TABLE w, DESCRIPTOR(rt), INTERVAL '1' MINUTE) GROUP "
       "BY window_start, window_end",
       ""},
      {"CREATE VIEW x AS SELECT window_end, COUNT(*) AS n, window_time FROM TUMBLE(TABLE src, "
       "DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end;\n"
       "SELECT SUM(n) FROM TUMBLE(TABLE x, DESCRIPTOR(window_end), INTERVAL '1' MINUTE) GROUP BY "
       "window_start, window_end;\n"
       "SELECT SUM(n) FROM TUMBLE(TABLE x, DESCRIPTOR(window_time), INTERVAL '1' MINUTE) GROUP BY "
       "window_start, window_end;",
       "2:47 window_end of x has no watermark | select window_time in the view and use "
       "DESCRIPTOR(window_time)\n"
       "2:104 window_end is a column of the window and of its input | give the input's another "
       "name in its view (AS ..)\n"
       "3:105 window_end is a column of the window and of its input | give the input's another "
       "name in its view (AS ..)"},
  });
}

TEST_CASE("LATE and DEAD_LETTERS") {
  Check({
      {"SELECT k, v, window_end FROM LATE(w); INSERT INTO out SELECT k, n FROM w", ""},
      {"SELECT * FROM LATE(src)",
       "1:20 src is a table: only a view with a window has late rows | name the view that has the "
       "window"},
      {"CREATE VIEW x AS SELECT k FROM w; SELECT * FROM LATE(x)",
       "1:54 LATE(x): x has no window of its own | did you mean LATE(w)?"},
      {"CREATE VIEW x AS SELECT window_end, SUM(n) AS s FROM TUMBLE(TABLE w, DESCRIPTOR(rt), "
       "INTERVAL '1' MINUTE) GROUP BY window_start, window_end; SELECT * FROM LATE(x)",
       ""},
      {"CREATE TABLE t (window_end STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
       "('connector' = 'datagen');\n"
       "CREATE VIEW x AS SELECT COUNT(*) AS n, window_start FROM TUMBLE(TABLE t, DESCRIPTOR(ts), "
       "INTERVAL '1' MINUTE) GROUP BY window_start, window_end;",
       "2:134 window_end is a column of the window and of its input | give the input's another "
       "name in its view (AS ..)"},
      {"CREATE TABLE t (`watermark` STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
       "('connector' = 'datagen');\n"
       "CREATE VIEW x AS SELECT COUNT(*) AS n FROM TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' "
       "MINUTE) GROUP BY window_start, window_end; SELECT ts FROM LATE(x)",
       "2:152 LATE(x) would have two columns watermark | give the column of the window's input "
       "another name (AS ..)"},
      {"SELECT * FROM DEAD_LETTERS(out)",
       "1:28 no INSERT reads or writes out: it cannot have dead letters"},
      {"INSERT INTO out SELECT k, v FROM src; CREATE TABLE p (m STRING) WITH ('connector' = "
       "'filesystem', 'path' = 'p', 'format' = 'json'); INSERT INTO p SELECT message FROM "
       "DEAD_LETTERS(out); INSERT INTO p SELECT message FROM DEAD_LETTERS(p)",
       "1:233 DEAD_LETTERS(p) goes into p again: a dead letter of a dead letter would never end | "
       "write them to another table"},
      {"SELECT * FROM DEAD_LETTERS(nope)", "1:28 unknown table or view nope"},
  });
}

TEST_CASE("statement sets only bracket INSERTs") {
  Check({
      {"EXECUTE STATEMENT SET BEGIN INSERT INTO out SELECT k, v FROM src; END;", ""},
      {"BEGIN STATEMENT SET; INSERT INTO out SELECT k, v FROM src; INSERT INTO out SELECT k, n "
       "FROM w; END",
       ""},
      {"EXECUTE STATEMENT SET BEGIN SELECT k FROM src; END;",
       "1:29 a statement set holds INSERT statements only"},
      {"EXECUTE STATEMENT SET BEGIN INSERT INTO out SELECT k, v FROM src;",
       "1:1 this statement set is never closed | end it with END;"},
      {"INSERT INTO out SELECT k, v FROM src; END;", "1:39 END without a statement set before it"},
  });
}

TEST_CASE("set defaults are checked with their place") {
  CompileInput input = TestInput(std::string(kTables) + "SELECT k FROM src");
  input.set_defaults["weir.memory.limit"] = {"64", "[set]", "weir.toml:3:1"};
  input.set_defaults["weir.memory.limt"] = {"64 MiB", "[set]", "weir.toml:4:1"};
  const CompileOutput out = Compile(input);
  CHECK(out.plan == nullptr);
  const std::string text = FormatDiagnostics(input, out.diagnostics);
  CHECK(text.find("weir.toml:3:1: weir.memory.limit: '64' is no size: the unit is missing") !=
        std::string::npos);
  CHECK(text.find("weir.toml:4:1: unknown SET key weir.memory.limt\n  hint: did you mean "
                  "weir.memory.limit?") != std::string::npos);
}

}  // namespace
}  // namespace weir::sql
