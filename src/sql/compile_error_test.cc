// What is refused, where, and with which words. One string holds everything that a run finds.
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

TEST_CASE(
    "syntax errors say what was expected, and one statement's error does not hide another's") {
  Check({
      {"SELECT k FROM src", ""},
      {"SELEC k FROM src",
       "1:1 expected a statement (SET, CREATE TABLE, CREATE VIEW, INSERT INTO or SELECT), found "
       "SELEC | did you mean SELECT?"},
      {"SELECT k FORM src", "1:15 expected ',' or FROM, found src"},
      {"SELECT k, * FORM src", "1:13 expected ',' or FROM, found FORM | did you mean FROM?"},
      {"SELECT k src;\nSELECT , FROM src;\nSELECT k FROM src WHERE;",
       "1:13 expected FROM (a SELECT reads a table), found ';'\n2:8 expected an expression, found "
       "','\n"
       "3:24 expected an expression, found ';'"},
      {"SELECT k FROM src SELECT k FROM src", "1:19 expected ';', found SELECT"},
      {"SELECT k FROM src GROUP k", "1:25 expected BY, found k"},
      {"CREATE TABLE t (a INT", "1:22 expected ',' or ')', found the end of the file"},
      {"CREATE TABLE t (a INT)",
       "1:23 expected WITH (...), which names the connector, found the end of the file"},
      {"CREATE TABLE t (a INT,) WITH ()",
       "1:23 expected a column, found ')' | the comma in front of it is one too many"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'print',)",
       "1:52 expected an option, found ')' | the comma in front of it is one too many"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem' 'path' = 'x')",
       "1:57 expected ',' or ')', found the text 'path'"},
      {"CREATE TABLE t AS SELECT k FROM src",
       "1:16 CREATE TABLE .. AS is not in this version | write CREATE TABLE and INSERT INTO"},
      {"CREATE TABLE t (a) WITH ('connector' = 'print')", "1:18 expected a type, found ')'"},
      {"SELECT CASE k END FROM src", "1:15 expected WHEN, found END"},
      {"SELECT 1 +", "1:11 expected an expression, found the end of the file"},
      {"SET a = 'b'",
       "1:5 the key of SET is written in single quotes | SET 'execution.checkpointing.interval' = "
       "'1 s';"},
      {"CREATE INDEX i", "1:8 expected TABLE or VIEW, found INDEX"},
      // A broken definition is known by name: its uses are not reported too.
      {"CREATE TABLE t (a INT b) WITH ('connector' = 'print');\nINSERT INTO t SELECT x FROM "
       "nowhere; INSERT INTO out SELECT * FROM t;",
       "1:23 expected ',' or ')', found b\n2:29 unknown table or view nowhere"},
  });
}

TEST_CASE("what other dialects and word processors write is named, with what to write here") {
  Check({
      {"SELECT k FROM src WHERE v == 1 && a > 2",
       "1:27 there is no operator == | write =\n1:32 there is no operator && | write AND"},
      {"SELECT k FROM src WHERE k ILIKE 'a%'",
       "1:27 the operator ILIKE is not in this version | use LOWER(text) LIKE 'pattern'"},
      {"SELECT k FROM src WHERE k NOT RLIKE 'a'",
       "1:31 the operator RLIKE is not in this version | use REGEXP(text, 'pattern')"},
      {"SELECT k AS ilike, v AS glob FROM src", ""},
      {"SELECT E'a' FROM src",
       "1:8 the text literal E'..' is not in this version | write '..'; bytes are CAST('..' AS "
       "BYTES)"},
      {"SELECT k FROM src WHERE k = \xe2\x80\x98x\xe2\x80\x99",
       "1:29 a typographic quote has no place in SQL | write ' for a text and ` for a name\n"
       "1:30 unknown column x | there are k, v, a and ts\n"
       "1:31 a typographic quote has no place in SQL | write ' for a text and ` for a name"},
      {"SELECT k\xc2\xa0"
       "FROM src",
       "1:9 a no-break space has no place in SQL | write a plain blank"},
      {"CREATE TABLE t (a TEXT, b NUMBER(5), c LONG) WITH ('connector' = 'print')",
       "1:19 unknown type TEXT | here it is STRING\n1:27 unknown type NUMBER | here it is "
       "DECIMAL(p, s)\n1:40 unknown type LONG | here it is BIGINT"},
  });
}

TEST_CASE("reserved words as names are all reported with backticks as the way out") {
  Check({
      {"CREATE TABLE t (timestamp TIMESTAMP(3), value INT, k STRING) WITH ('connector' = "
       "'filesystem', 'path' = 'x', 'format' = 'json');\nSELECT * FROM t;",
       "1:17 \"timestamp\" is a reserved word | write `timestamp` (with backticks)\n"
       "1:41 \"value\" is a reserved word | write `value` (with backticks)"},
      {"CREATE TABLE t (`timestamp` TIMESTAMP(3), `value` INT, any INT, out INT, method INT) WITH "
       "('connector' = 'filesystem', 'path' = 'x', 'format' = 'json');\nSELECT `timestamp`, "
       "`value`, any FROM t",
       ""},
      {"SELECT k AS user FROM src",
       "1:13 \"user\" is a reserved word | write `user` (with backticks)"},
      {"SELECT \"k\" FROM src",
       "1:8 double quotes are not used in this dialect: \"k\" | write `k` (with backticks) for a "
       "name, 'k' (with single quotes) for a text"},
  });
}

TEST_CASE("what comes in a later version is refused by name") {
  Check({
      {"SELECT DISTINCT k FROM src",
       "1:8 SELECT DISTINCT is not in this version | GROUP BY in a window does it"},
      {"SELECT k FROM src UNION ALL SELECT k FROM src",
       "1:19 UNION is not in this version | two INSERTs into one table do what UNION ALL does"},
      {"WITH x AS (SELECT 1) SELECT * FROM x",
       "1:1 WITH is not in this version | write CREATE VIEW name AS SELECT ..."},
      {"SELECT k FROM src ORDER BY k",
       "1:19 ORDER BY is not in this version | rows of windows leave in the order of window_end"},
      {"SELECT k FROM src LIMIT 1", "1:19 LIMIT is not in this version"},
      {"SELECT a.k, b.x FROM src a JOIN src b ON a.k = b.k",
       "1:15 b has no column x | there are k, v, a and ts\n1:28 JOIN is not in this version"},
      {"SELECT a.k FROM src a, src b", "1:22 a join by comma is not in this version"},
      {"SELECT k FROM src a LEFT JOIN src b ON TRUE",
       "1:8 column k is ambiguous: a.k or b.k\n1:21 JOIN is not in this version"},
      {"SELECT window_end, COUNT(*) FROM HOP(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, "
       "INTERVAL '10' SECOND) GROUP BY window_start, window_end",
       "1:34 the window HOP is not in this version"},
      {"SELECT window_end, COUNT(*) FROM CUMULATE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' SECOND, "
       "INTERVAL '10' SECOND) GROUP BY window_start, window_end",
       "1:34 the window CUMULATE is not in this version"},
      {"SELECT window_end, COUNT(DISTINCT k) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '5' "
       "SECOND) GROUP BY window_start, window_end",
       "1:26 COUNT(DISTINCT ..) is not in this version"},
      {"SELECT k, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS r FROM src",
       "1:24 ROW_NUMBER() OVER is not in this version"},
      {"SELECT k FROM src FOR SYSTEM_TIME AS OF ts",
       "1:19 FOR SYSTEM_TIME AS OF is not in this version"},
      {"SELECT k FROM LATERAL TABLE(f(k))", "1:15 LATERAL in FROM is not in this version"},
      {"INSERT INTO out VALUES ('a', 1)",
       "1:17 INSERT INTO .. VALUES is not in this version | select from a table"},
      {"INSERT OVERWRITE out SELECT k, 1 FROM src",
       "1:8 INSERT OVERWRITE is not in this version | delivered output is never replaced"},
      {"DROP TABLE src",
       "1:1 the statement DROP is not in this version | a table that no INSERT reads or writes is "
       "not part of the pipeline"},
      {"CREATE FUNCTION f AS 'x'", "1:8 CREATE FUNCTION is not in this version"},
      {"CREATE TABLE t (a ARRAY<ROW<x INT>>, b MAP<STRING, INT>, c TIME(3)) WITH ('connector' = "
       "'print')",
       "1:19 the type ARRAY is not in this version\n1:40 the type MAP is not in this version\n1:60 "
       "the type TIME is not in this version | use STRING, or TIMESTAMP with a date"},
      {"CREATE TABLE t (a INT) PARTITIONED BY (a) WITH ('connector' = 'print')",
       "1:24 PARTITIONED BY is not in this version"},
      {"SET 'table.exec.state.ttl' = '1 h'",
       "1:5 SET key table.exec.state.ttl is not in this version | state time to live comes with "
       "deduplication and joins"},
      {"SET 'table.local-time-zone' = 'Europe/Berlin'; SELECT k FROM src",
       "1:31 table.local-time-zone: time zone 'Europe/Berlin' is not supported: use 'UTC' or a "
       "fixed offset like '+02:00' | named zones are not in this version"},
  });
}

TEST_CASE("SET keys and values") {
  Check({
      {"SET 'execution.checkpointing.intervall' = '1 s'",
       "1:5 unknown SET key execution.checkpointing.intervall | did you mean "
       "execution.checkpointing.interval?"},
      {"SET 'execution.checkpointing.interval' = '1'",
       "1:42 execution.checkpointing.interval: '1' is no duration: the unit is missing, as in '2 "
       "s'"},
      {"SET 'weir.on-error' = 'dead-leter'",
       "1:23 weir.on-error: 'dead-leter' is not one of dead-letter, fail; did you mean "
       "'dead-letter'?"},
      {"SET 'weir.batch-rows' = '0'", "1:25 weir.batch-rows: '0' is too small: at least '1'"},
      {"SET 'weir.memory.limit' = '64 MiB'; SET 'weir.memory.limit' = '65 MiB'",
       "1:41 SET 'weir.memory.limit' stands twice, first in line 4 | a file is one job and has one "
       "value for it"},
      {"SET 'pipeline.name' = ''",
       "1:23 pipeline.name: the name is empty | receipts in databases and log lines carry it"},
      {"SET 'pipeline.name' = '../x'",
       "1:23 pipeline.name: the name begins with a dot | receipts in databases and log lines carry "
       "it"},
      {"SET 'pipeline.name' = '${NOPE}'", "1:23 ${NOPE}: is not set"},
      {"SET 'pipeline.name' = '${X:-y}'",
       "1:23 ${X:-y} is not understood | ${NAME}, ${cred:name} or ${file:/path}; there are no "
       "default values"},
      {"SET 'pipeline.name' = '${X'", "1:23 ${ without } | a literal ${ is written $${"},
      // What a ${} stands for is never shown.
      {"SET 'weir.batch-rows' = '${cred:pw}'",
       "1:25 weir.batch-rows: the value of ${cred:pw} is not allowed"},
  });
}

TEST_CASE("table options are checked with suggestions, all of them in one run") {
  Check({
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'pat' = 'x', 'format' = 'jsn', "
       "'source.monitor-interval' = '60')",
       "1:24 required option path is missing\n1:58 unknown option pat | did you mean path?\n1:82 "
       "unknown format 'jsn' | did you mean json?\n"
       "1:117 source.monitor-interval: '60' is no duration: the unit is missing, as in '2 s'"},
      {"CREATE TABLE t (a INT) WITH ('path' = 'x')", "1:24 the option connector is missing"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'pulsar', 'topic' = 't')",
       "1:44 the connector pulsar is not in this version | there are blackhole, datagen, "
       "filesystem, print, sqlite, stream"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesytem')",
       "1:44 unknown connector 'filesytem' | did you mean filesystem?"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x')",
       "1:24 the option format is missing | one of csv, json, raw, regex"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'avro')",
       "1:83 the format avro is not in this version | one of csv, json, raw, regex"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'print', 'format' = 'json')",
       "1:53 the connector print has no format"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'path' = 'y', "
       "'format' = 'json')",
       "1:72 option path stands twice"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json', "
       "'csv.header' = 'true')",
       "1:91 option csv.header belongs to the format csv, this table's is json"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json', "
       "'weir.memory.limit' = '1 GiB')",
       "1:91 weir.memory.limit is a SET key, no table option | SET 'weir.memory.limit' = '1 GiB';"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json', "
       "'monitor-interval' = '1 s', 'json.fail-on-missing-field' = 'true')",
       "1:91 unknown option monitor-interval | did you mean source.monitor-interval?\n"
       "1:119 option json.fail-on-missing-field is not in this version | a missing field is NULL; "
       "NOT NULL makes its record a dead letter"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'file', 'path' = 'x', 'format' = 'json')",
       "1:44 unknown connector 'file' | did you mean filesystem?"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'csv', "
       "'csv.field-delimiter' = '\"')",
       "1:24 csv.field-delimiter must differ from csv.quote-character and csv.escape-character"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json', "
       "'json.ignore-parse-errors' = 'true', 'weir.on-error' = 'fail')",
       "1:91 json.ignore-parse-errors and weir.on-error contradict each other"},
  });
}

TEST_CASE("an option with # is one for each column") {
  Check({
      {"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'fields.a.kind' = 'sequence'); "
       "SELECT a FROM t",
       ""},
      {"CREATE TABLE t (abc INT) WITH ('connector' = 'datagen', 'fields.abd.kind' = 'random', "
       "'fields..kind' = 'random')",
       "1:57 t has no column abd | did you mean abc?\n1:87 unknown option fields..kind | did you "
       "mean fields.#.kind?"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'fields.a.kind' = 'sequenc')",
       "1:73 fields.a.kind: 'sequenc' is not one of random, sequence; did you mean 'sequence'?"},
  });
}

TEST_CASE("CREATE TABLE") {
  Check({
      {"CREATE TABLE out (a INT) WITH ('connector' = 'print')",
       "1:14 out is defined twice, first in line 2"},
      {"CREATE TABLE IF NOT EXISTS out (a INT) WITH ('connector' = 'print'); SELECT k FROM src",
       ""},
      {"CREATE TABLE `a/b` (a INT) WITH ('connector' = 'print')",
       "1:14 the name a/b holds a slash or a control character | it becomes part of file names"},
      {"CREATE TABLE c.d (a INT) WITH ('connector' = 'print')",
       "1:15 there are no catalogs or databases here | write the table's name alone"},
      {"CREATE TABLE t (a INT, a STRING) WITH ('connector' = 'print')",
       "1:24 column a stands twice"},
      {"CREATE TABLE t (a VARCHAR) WITH ('connector' = 'print')",
       "1:19 VARCHAR without a length would mean VARCHAR(1) | write STRING, or VARCHAR(n)"},
      {"CREATE TABLE t (a INT, b AS c + 1, c AS a + 1) WITH ('connector' = 'datagen')",
       "1:29 unknown column c | a computed column reads the table's physical and METADATA columns"},
      {"CREATE TABLE t (a INT, b AS SUM(a)) WITH ('connector' = 'datagen')",
       "1:29 a computed column has no aggregates"},
      {"CREATE TABLE t (a INT METADATA FROM 'file.pth') WITH ('connector' = 'filesystem', 'path' = "
       "'x', 'format' = 'json')",
       "1:37 the connector filesystem has no metadata 'file.pth' | did you mean file.path?"},
      {"CREATE TABLE t (`file.offset` INT METADATA VIRTUAL) WITH ('connector' = 'filesystem', "
       "'path' = 'x', 'format' = 'json')",
       "1:17 metadata 'file.offset' is BIGINT, not INT | declare it so, and cast in a computed "
       "column"},
      {"CREATE TABLE t (a STRING, WATERMARK FOR a AS a) WITH ('connector' = 'datagen')",
       "1:41 a watermark needs TIMESTAMP(3) or TIMESTAMP_LTZ(3), a is STRING | a computed column "
       "can convert it, as in t AS TO_TIMESTAMP(a)"},
      {"CREATE TABLE t (a TIMESTAMP(6), WATERMARK FOR a AS a) WITH ('connector' = 'datagen')",
       "1:47 a watermark needs TIMESTAMP(3) or TIMESTAMP_LTZ(3), a is TIMESTAMP(6) | event time is "
       "in milliseconds: declare it a TIMESTAMP(3)"},
      {"CREATE TABLE t (a BIGINT, WATERMARK FOR a AS a) WITH ('connector' = 'datagen')",
       "1:41 a watermark needs TIMESTAMP(3) or TIMESTAMP_LTZ(3), a is BIGINT | a computed column "
       "can convert it: t AS TO_TIMESTAMP_LTZ(a, 0) from seconds, 3 from milliseconds"},
      {"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR b AS b) WITH ('connector' = 'datagen')",
       "1:47 unknown column b"},
      {"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a + INTERVAL '1' SECOND) WITH "
       "('connector' = 'datagen')",
       "1:54 the watermark of a is a or a - INTERVAL '5' SECOND | another expression goes into a "
       "computed column"},
      {"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a - INTERVAL '-1' SECOND) WITH "
       "('connector' = 'datagen')",
       "1:56 the bound of a watermark cannot be negative"},
      {"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a - INTERVAL '1' MONTH) WITH "
       "('connector' = 'datagen')",
       "1:56 INTERVAL '1' MONTH has no fixed length and cannot be used here | use DAY: INTERVAL "
       "'30' DAY"},
      {"CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED) WITH ('connector' = 'print')",
       "1:37 unknown column b"},
      {"CREATE TABLE t (a INT PRIMARY KEY) WITH ('connector' = 'print')",
       "1:34 PRIMARY KEY must be NOT ENFORCED | weir does not look for duplicates: write PRIMARY "
       "KEY (..) NOT ENFORCED"},
  });
}

TEST_CASE("sources and sinks must be able to do what they are used for") {
  Check({
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'print'); SELECT k FROM t",
       "1:71 t cannot be read: print is a sink only"},
      {"CREATE TABLE t (k STRING, n BIGINT) WITH ('connector' = 'datagen'); INSERT INTO t SELECT * "
       "FROM out",
       "1:81 t cannot be written: datagen is a source only"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = "
       "'json', 'source.monitor-interval' = '1 s'); INSERT INTO t SELECT k FROM src",
       "1:94 option source.monitor-interval is for sources, and t is written"},
      {"CREATE TABLE t (k STRING, o BIGINT METADATA FROM 'file.offset') WITH ('connector' = "
       "'filesystem', 'path' = 'x', 'format' = 'json'); INSERT INTO t SELECT k, 1 FROM src",
       "1:27 METADATA column o cannot be written by filesystem | make it VIRTUAL: it is then left "
       "out of the sink"},
      {"CREATE TABLE t (k STRING, n INT) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' "
       "= 'raw'); SELECT * FROM t",
       "1:14 the format raw needs a table of one physical column, t has 2"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = "
       "'regex', 'regex.pattern' = '(?P<x>a)'); INSERT INTO t SELECT k FROM src",
       "1:95 option regex.pattern is for sources, and t is written"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = "
       "'regex'); SELECT k FROM t",
       "1:14 required option regex.pattern is missing | t is used in line 4"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = "
       "'regex', 'regex.pattern' = '(?P<k>a'); SELECT k FROM t",
       "1:113 the format regex cannot read t: regex.pattern: missing ): (?P<k>a"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'sqlite', 'path' = 'x', 'table' = "
       "'forbidden'); INSERT INTO t SELECT k FROM src",
       "1:81 this table is forbidden"},
      {"INSERT INTO src SELECT * FROM src",
       "1:13 src is read and written by one pipeline | write to another table, or make two "
       "pipelines"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'file://./out.jsonl', "
       "'format' = 'json'); INSERT INTO t SELECT k FROM src; INSERT INTO out SELECT k, v FROM src",
       "1:14 t and out have one output | several INSERTs into one table share its output"},
      {"CREATE TABLE t (k STRING) WITH ('connector' = 'filesystem', 'path' = 'dir/', 'format' = "
       "'json'); CREATE TABLE u (k STRING) WITH ('connector' = 'filesystem', 'path' = './dir/x', "
       "'format' = 'json'); INSERT INTO u SELECT k FROM t",
       "1:111 u writes where t reads | the pipeline would read its own output"},
      {"INSERT INTO w SELECT k, v FROM src", "1:13 w is a view, and a view cannot be written"},
      {"SET 'pipeline.name' = 'x'",
       "-2:1 the file has no INSERT and no SELECT: there is nothing to run"},
  });
}

}  // namespace
}  // namespace weir::sql
