// The plan that good SQL becomes: nodes, edges, names, dead letters, pruning.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "base/check.h"
#include "sql/testing/specs.h"

namespace weir::sql {
namespace {

constexpr const char* kTables =
    "CREATE TABLE src (id STRING NOT NULL, k STRING, v INT, unread DOUBLE, t BIGINT,\n"
    "  ts AS TO_TIMESTAMP_LTZ(t, 3), off BIGINT METADATA FROM 'file.offset' VIRTUAL,\n"
    "  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)\n"
    "  WITH ('connector' = 'filesystem', 'path' = 'in.jsonl', 'format' = 'json');\n"
    "CREATE TABLE out (k STRING, n BIGINT) WITH ('connector' = 'filesystem', 'path' = 'out.jsonl', "
    "'format' = 'json');\n"
    "CREATE TABLE late (v INT, window_end TIMESTAMP_LTZ(3)) WITH ('connector' = 'filesystem', "
    "'path' = 'late.jsonl', 'format' = 'json');\n"
    "CREATE TABLE bad (m STRING) WITH ('connector' = 'filesystem', 'path' = 'bad.jsonl', 'format' "
    "= 'json');\n"
    "CREATE VIEW w AS SELECT k, COUNT(*) AS n FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' "
    "SECOND) WHERE v > 0 GROUP BY window_start, window_end, k HAVING COUNT(*) > 1;\n";

CompileOutput Good(const std::string& sql) {
  const CompileInput input = TestInput(kTables + sql);
  CompileOutput out = Compile(input);
  INFO(FormatDiagnostics(input, out.diagnostics));
  REQUIRE(out.plan != nullptr);
  return out;
}

// "scan:src; calc:w.1 <- scan:src; ..": nodes with their inputs.
std::string Graph(const plan::Plan& plan) {
  static constexpr const char* kEdges[] = {"", "/late", "/dead"};
  std::string text;
  for (const plan::Node& node : plan.nodes) {
    if (!text.empty()) text += "; ";
    text += node.name;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      text += i == 0 ? " <- " : ", ";
      text += plan.nodes[static_cast<size_t>(node.inputs[i].node)].name;
      text += kEdges[static_cast<size_t>(node.inputs[i].edge)];
    }
  }
  return text;
}

const plan::Node& Find(const plan::Plan& plan, const std::string& name) {
  for (const plan::Node& node : plan.nodes) {
    if (node.name == name) return node;
  }
  FAIL("no node " << name);
  return plan.nodes[0];
}

std::string Columns(const Schema& schema) {
  std::string text;
  for (const Field& field : schema.fields) {
    text += (text.empty() ? "" : ", ") + field.name + " " + field.type.ToString();
  }
  return text;
}

TEST_CASE("an INSERT over a table is scan, calc, sink, and both have dead letters") {
  const CompileOutput out = Good("INSERT INTO out SELECT k, v FROM src WHERE v > 1");
  CHECK(Graph(*out.plan) ==
        "scan:src; calc:out.1 <- scan:src; sink:out <- calc:out.1; "
        "dead_letters:src <- scan:src/dead, calc:out.1/dead; dead_file:src <- dead_letters:src; "
        "dead_letters:out <- sink:out/dead; dead_file:out <- dead_letters:out");
  for (size_t i = 0; i < out.plan->nodes.size(); ++i) {
    CHECK(out.plan->nodes[i].id == static_cast<int>(i));
  }
  CHECK(Find(*out.plan, "calc:out.1").dead_letters_of == "src");
  CHECK(Find(*out.plan, "sink:out").dead_letters_of == "out");
  CHECK(out.plan->bounded);
  CHECK(out.plan->tables.size() == 2);  // late and bad are not part of the plan
}

TEST_CASE("a view is planned once however many read it, late rows are an edge of its window") {
  const CompileOutput out = Good(
      "INSERT INTO out SELECT k, n FROM w; INSERT INTO out SELECT k, n + 1 FROM w;\n"
      "INSERT INTO late SELECT v, window_end FROM LATE(w);\n"
      "INSERT INTO bad SELECT message FROM DEAD_LETTERS(w) WHERE stage = 'eval'");
  CHECK(Graph(*out.plan) ==
        "scan:src; calc:w.1 <- scan:src; window:w <- calc:w.1; calc:w.2 <- window:w; "
        "calc:out.1 <- calc:w.2; calc:out.2 <- calc:w.2; sink:out <- calc:out.1, calc:out.2; "
        "calc:late.1 <- window:w/late; sink:late <- calc:late.1; "
        "dead_letters:w <- calc:w.1/dead, window:w/dead, calc:w.2/dead, calc:out.1/dead, "
        "calc:out.2/dead, calc:late.1/dead; calc:bad.1 <- dead_letters:w; sink:bad <- calc:bad.1; "
        "dead_letters:src <- scan:src/dead; dead_file:src <- dead_letters:src; "
        "dead_letters:out <- sink:out/dead; dead_file:out <- dead_letters:out; "
        "dead_letters:late <- sink:late/dead; dead_file:late <- dead_letters:late; "
        "dead_letters:bad <- calc:bad.1/dead, sink:bad/dead; dead_file:bad <- dead_letters:bad");
  const auto& window = std::get<plan::WindowNode>(Find(*out.plan, "window:w").body);
  CHECK(window.kind == plan::WindowNode::Kind::kTumble);
  CHECK(window.size_ms == 10000);
  CHECK(window.offset_ms == 0);
  CHECK(window.view == "w");
  REQUIRE(window.aggregates.size() == 1);
  CHECK(window.aggregates[0].fn == plan::AggregateCall::Fn::kCountStar);
  CHECK(Columns(Find(*out.plan, "window:w").output) ==
        "k STRING, COUNT(*) BIGINT NOT NULL, window_start TIMESTAMP_LTZ(3) NOT NULL, window_end "
        "TIMESTAMP_LTZ(3) NOT NULL, window_time TIMESTAMP_LTZ(3) NOT NULL");
}

TEST_CASE("columns that nobody reads are dropped, those that must be checked are not") {
  const CompileOutput out = Good("INSERT INTO late SELECT v, window_end FROM LATE(w)");
  const auto& scan = std::get<plan::ScanNode>(Find(*out.plan, "scan:src").body);
  CHECK(scan.raw_columns == std::vector<int>{0, 1, 2, 4});  // id NOT NULL, k, v, t
  CHECK(Columns(Find(*out.plan, "scan:src").output) == "k STRING, v INT, ts TIMESTAMP_LTZ(3)");
  CHECK(scan.rowtime == 2);
  CHECK(scan.watermark_bound_ms == 5000);
  CHECK(Canonical(*scan.outputs[2]) == "TO_TIMESTAMP_LTZ($3, 3:INT):TIMESTAMP_LTZ(3)");
  CHECK(Columns(Find(*out.plan, "calc:w.1").output) == "k STRING, v INT, ts TIMESTAMP_LTZ(3)");
  const auto& window = std::get<plan::WindowNode>(Find(*out.plan, "window:w").body);
  CHECK(window.time_column == 2);
  CHECK(window.keys == std::vector<int>{0});
  CHECK(window.late_columns == std::vector<int>{1});
  CHECK(Columns(window.late_schema) ==
        "v INT, window_start TIMESTAMP_LTZ(3) NOT NULL, window_end TIMESTAMP_LTZ(3) NOT NULL, "
        "watermark TIMESTAMP_LTZ(3) NOT NULL");
  const auto& calc = std::get<plan::CalcNode>(Find(*out.plan, "calc:late.1").body);
  CHECK(Canonical(*calc.projections[0]) == "$0");
  CHECK(Canonical(*calc.projections[1]) == "$2");
}

TEST_CASE("keys and arguments that are expressions are computed below the window, once") {
  const CompileOutput out = Good(
      "SELECT UPPER(k) AS u, SUM(v + 1) AS s, SUM(v + 1) FILTER (WHERE v > 2) / COUNT(v) AS q,\n"
      "  COUNT(*) FILTER (WHERE v > 2) AS c, UPPER(k) || '!' AS x\n"
      "FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '-1' SECOND) AS s\n"
      "WHERE s.v IS NOT NULL GROUP BY window_start, s.window_end, UPPER(k) HAVING MAX(v) > 1");
  const auto& below = std::get<plan::CalcNode>(Find(*out.plan, "calc:print.1.1").body);
  CHECK(below.filter != nullptr);
  CHECK(
      Columns(Find(*out.plan, "calc:print.1.1").output) ==
      "v INT, ts TIMESTAMP_LTZ(3), UPPER(k) STRING, v + 1 INT, CASE WHEN v > 2 THEN v + 1 END INT, "
      "CASE WHEN v > 2 THEN TRUE END BOOLEAN");
  const auto& window = std::get<plan::WindowNode>(Find(*out.plan, "window:print.1").body);
  CHECK(window.offset_ms == 59000);
  CHECK(window.keys == std::vector<int>{2});
  CHECK(
      Columns(Find(*out.plan, "window:print.1").output) ==
      "UPPER(k) STRING, SUM(v + 1) BIGINT, SUM(v + 1) FILTER (WHERE v > 2) BIGINT, COUNT(v) BIGINT "
      "NOT NULL, COUNT(*) FILTER (WHERE v > 2) BIGINT NOT NULL, MAX(v) INT, window_start "
      "TIMESTAMP_LTZ(3) NOT NULL, window_end TIMESTAMP_LTZ(3) NOT NULL, window_time "
      "TIMESTAMP_LTZ(3) NOT NULL");
  const auto& above = std::get<plan::CalcNode>(Find(*out.plan, "calc:print.1.2").body);
  CHECK(Canonical(*above.filter) == "GT($5, 1:INT):BOOLEAN");
  CHECK(Canonical(*above.projections[2]) == "DIV($2, $3):BIGINT");
  CHECK(Canonical(*above.projections[4]) == "CONCAT($0, '!':STRING):STRING");
}

TEST_CASE("SESSION takes its keys from PARTITION BY; the older and the named forms mean the same") {
  const char* kQuery[] = {
      "SELECT k, COUNT(*) AS n FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL "
      "'12' SECOND) GROUP BY k, window_start, window_end",
      "SELECT k, COUNT(*) AS n FROM TABLE(SESSION(TABLE src PARTITION BY (k), DESCRIPTOR(ts), "
      "INTERVAL '12' SECOND)) GROUP BY k, window_start, window_end",
      "SELECT k, COUNT(*) AS n FROM SESSION(DATA => TABLE src PARTITION BY k, TIMECOL => "
      "DESCRIPTOR(ts), GAP => INTERVAL '12' SECOND) GROUP BY k, window_start, window_end",
  };
  const CompileOutput first = Good(kQuery[0]);
  const auto& window = std::get<plan::WindowNode>(Find(*first.plan, "window:print.1").body);
  CHECK(window.kind == plan::WindowNode::Kind::kSession);
  CHECK(window.gap_ms == 12000);
  for (const char* query : kQuery) CHECK(Good(query).canonical == first.canonical);
}

TEST_CASE("result types of aggregates") {
  const CompileOutput out = Good(
      "CREATE TABLE a (ti TINYINT, l BIGINT, f FLOAT, d DOUBLE, n DECIMAL(10, 2), m DECIMAL(20, "
      "8), s STRING, dt DATE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = "
      "'datagen');\n"
      "SELECT SUM(ti) AS a, SUM(l) AS b, SUM(f) AS c, SUM(d) AS d, SUM(n) AS e, AVG(ti) AS f, "
      "AVG(l) AS g, AVG(f) AS h, AVG(d) AS i, AVG(n) AS j, AVG(m) AS k,\n"
      "  MIN(s) AS l, MAX(dt) AS m, COUNT(s) AS n FROM TUMBLE(TABLE a, DESCRIPTOR(ts), INTERVAL "
      "'1' DAY) GROUP BY window_start, window_end");
  CHECK(Columns(Find(*out.plan, "sink:print.1").output) ==
        "a BIGINT, b BIGINT, c DOUBLE, d DOUBLE, e DECIMAL(38, 2), f TINYINT, g BIGINT, h FLOAT, i "
        "DOUBLE, j DECIMAL(38, 6), k DECIMAL(38, 8), l STRING, m DATE, n BIGINT NOT NULL");
}

TEST_CASE("casts to the sink's types are in the last calc, NOT NULL is enforced by a cast") {
  const CompileOutput out = Good(
      "CREATE TABLE t (a BIGINT NOT NULL, b STRING, c DOUBLE) WITH ('connector' = 'print');\n"
      "INSERT INTO t (c, a) SELECT v, v FROM src");
  const auto& calc = std::get<plan::CalcNode>(Find(*out.plan, "calc:t.1").body);
  REQUIRE(calc.projections.size() == 3);
  CHECK(Canonical(*calc.projections[0]) == "CAST(CAST($0):BIGINT):BIGINT NOT NULL");
  CHECK(Canonical(*calc.projections[1]) == "CAST(NULL AS STRING):STRING");
  CHECK(Canonical(*calc.projections[2]) == "CAST($0):DOUBLE");
}

TEST_CASE("two windows, one above the other") {
  const CompileOutput out = Good(
      "CREATE VIEW m AS SELECT k, COUNT(*) AS n, window_time AS t FROM TUMBLE(TABLE src, "
      "DESCRIPTOR(ts), INTERVAL '1' MINUTE) GROUP BY window_start, window_end, k;\n"
      "CREATE VIEW h AS SELECT k, SUM(n) AS n, window_end FROM TUMBLE(TABLE m, DESCRIPTOR(t), "
      "INTERVAL '1' HOUR) GROUP BY window_start, window_end, k;\n"
      "INSERT INTO out SELECT k, n FROM h; INSERT INTO bad SELECT k FROM LATE(h);");
  CHECK(Graph(*out.plan).starts_with(
      "scan:src; calc:m.1 <- scan:src; window:m <- calc:m.1; calc:m.2 <- window:m; calc:h.1 <- "
      "calc:m.2; window:h <- calc:h.1; calc:h.2 <- window:h; calc:out.1 <- calc:h.2; sink:out <- "
      "calc:out.1; calc:bad.1 <- window:h/late; sink:bad <- calc:bad.1; "));
}

TEST_CASE("options: expansion, origin, secrets stay out of everything that is shown") {
  CompileInput input = TestInput(
      "SET 'weir.memory.limit' = '64 MiB';\n"
      "CREATE TABLE a (k STRING) WITH ('connector' = 'sqlite', 'path' = '${X}/${cred:pw}$${Y}$', "
      "'table' = '${NESTED}');\n"
      "CREATE TABLE s (k STRING) WITH ('connector' = 'datagen', 'weir.on-error' = 'fail');\n"
      "INSERT INTO a SELECT k FROM s");
  input.set_defaults["weir.memory.limit"] = {"32 MiB", "[set]", "weir.toml:1:1"};
  input.set_defaults["weir.batch-rows"] = {"7", "[pipeline.test]", "weir.toml:2:1"};
  const CompileOutput out = Compile(input);
  REQUIRE(out.plan != nullptr);
  const plan::Options& settings = out.plan->settings;
  CHECK(settings.Integer("weir.memory.limit") == 64 << 20);
  CHECK(settings.Find("weir.memory.limit")->origin == "SET");
  CHECK(settings.Integer("weir.batch-rows") == 7);
  CHECK(settings.Find("weir.batch-rows")->origin == "[pipeline.test]");
  CHECK(settings.Find("weir.on-error")->origin == "default");
  CHECK(out.plan->pipeline_name == "test");
  const plan::Options& options = out.plan->tables[0]->options;
  CHECK(options.String("path") == "x-value/s3cret${Y}$");
  CHECK(options.Find("path")->secret);
  CHECK(options.String("table") == "${X}'; DROP");  // never expanded again
  CHECK_FALSE(options.Find("table")->secret);
  CHECK(out.canonical.find("s3cret") == std::string::npos);
  CHECK(out.canonical.find("${cred:pw}") != std::string::npos);
}

TEST_CASE("json.ignore-parse-errors is weir.on-error by its Flink name") {
  for (const auto& [flag, want] : {std::pair{"true", "dead-letter"}, std::pair{"false", "fail"}}) {
    const CompileOutput out = Good(
        "CREATE TABLE s (k STRING) WITH ('connector' = 'filesystem', 'path' = 's', 'format' = "
        "'json', 'json.ignore-parse-errors' = '" +
        std::string(flag) + "'); SELECT k FROM s");
    CHECK(out.plan->tables[0]->options.String("weir.on-error") == want);
  }
}

TEST_CASE("the fingerprint is over the meaning, not the text") {
  const std::string query =
      "INSERT INTO out SELECT k, SUM(v) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' "
      "SECOND) GROUP BY k, window_start, window_end";
  const CompileOutput first = Good(query);
  const CompileOutput same = Good(
      "-- comment\nSET 'weir.memory.limit' = '64 MiB'; CREATE VIEW nobody AS SELECT k FROM src;\n"
      "insert into out select k,\n sum( v ) AS s from table(tumble(table src, descriptor(ts), "
      "interval '10' second)) "
      "group by k, window_start, window_end;");
  CHECK(first.fingerprint == same.fingerprint);
  CHECK(first.canonical == same.canonical);
}

TEST_CASE("a different query is described by what differs") {
  struct Case {
    const char* name;
    const char* from;
    const char* to;
    const char* want;
  };
  const std::string base =
      "CREATE TABLE i (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' "
      "SECOND) WITH ('connector' = 'filesystem', 'path' = 'i', 'format' = 'json');\n"
      "CREATE TABLE o (k STRING, s BIGINT) WITH ('connector' = 'filesystem', 'path' = 'o', "
      "'format' = 'json');\n"
      "INSERT INTO o SELECT k, SUM(v) AS s FROM TUMBLE(TABLE i, DESCRIPTOR(ts), INTERVAL '10' "
      "SECOND) GROUP BY k, window_start, window_end;";
  const CompileOutput old_plan = Good(base);
  for (const Case& c : {
           Case{"window", "'10' SECOND", "'20' SECOND", "window o: size 10 s -> 20 s"},
           Case{"filter", " GROUP BY", " WHERE v > 1 GROUP BY", "calc o.1: filter added"},
           Case{"type", "v BIGINT", "v INT", "scan i: type of v BIGINT -> INT"},
           Case{"path", "'path' = 'o'", "'path' = 'p'", "sink o: option path o -> p"},
           Case{"aggregate", "SUM(v)", "MAX(v)",
                "window o: aggregate SUM($1):BIGINT -> MAX($1):BIGINT"},
           Case{"bound", "'5' SECOND", "'6' SECOND", "scan i: watermark ts - 5 s -> ts - 6 s"},
           Case{"kind", "TUMBLE(TABLE i,", "SESSION(TABLE i PARTITION BY k,",
                "window o: window TUMBLE -> SESSION; size removed; gap added"},
       }) {
    CAPTURE(c.name);
    std::string changed = base;
    changed.replace(changed.find(c.from), std::string(c.from).size(), c.to);
    const CompileOutput now = Good(changed);
    CHECK(now.fingerprint != old_plan.fingerprint);
    CHECK(plan::DescribeDifference(old_plan.canonical, now.canonical) == c.want);
  }
}

TEST_CASE("notes tell what nobody asked for") {
  const CompileOutput out = Good("SELECT k FROM w");
  REQUIRE(out.diagnostics.size() == 2);
  CHECK(out.diagnostics[0].message == "late rows of this window are counted and dropped");
  CHECK(out.diagnostics[1].message == "this SELECT prints at once: at least once after a restart");
  CHECK(out.plan->diagnostics.size() == 2);
}

}  // namespace
}  // namespace weir::sql
