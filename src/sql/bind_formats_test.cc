// Records with a key and a value: which columns are where, how the formats' options are spelled,
// and what is refused.
#include <doctest/doctest.h>

#include <string>

#include "sql/testing/specs.h"

namespace weir::sql {
namespace {

std::string With(const std::string& columns, const std::string& options) {
  return "CREATE TABLE s (" + columns + ") WITH ('connector' = 'stream', 'topic' = 't', " +
         options + ");\n";
}

const plan::TableDef& TableOf(const CompileOutput& out) { return *out.plan->tables.front(); }

CompileOutput Good(const std::string& sql) {
  const CompileInput input = TestInput(sql);
  CompileOutput out = Compile(input);
  INFO(FormatDiagnostics(input, out.diagnostics));
  REQUIRE(out.plan != nullptr);
  return out;
}

std::string Errors(const std::string& sql) {
  const CompileOutput out = Compile(TestInput(sql));
  std::string text;
  for (const plan::Diagnostic& d : out.diagnostics) {
    if (d.severity != plan::Diagnostic::Severity::kError) continue;
    text += (text.empty() ? "" : "\n") + d.message + (d.hint.empty() ? "" : " | " + d.hint);
  }
  return text;
}

constexpr const char* kRead = "SELECT a FROM s;";

TEST_CASE("without a key the value holds every physical column") {
  const CompileOutput out =
      Good(With("a INT, o BIGINT METADATA FROM 'offset', b STRING", "'format' = 'json'") + kRead);
  CHECK(TableOf(out).value_columns == std::vector<int>{0, 2});
  CHECK(TableOf(out).key_columns.empty());
  CHECK(TableOf(out).format_spec.physical_columns == 2);
}

TEST_CASE("EXCEPT_KEY takes the key's columns out of the value, ALL leaves them") {
  const std::string columns = "a INT, k_b STRING, k_c STRING";
  const std::string key = "'format' = 'json', 'key.format' = 'csv', 'key.fields' = 'k_c;k_b'";
  const CompileOutput all = Good(With(columns, key) + kRead);
  CHECK(TableOf(all).key_columns == std::vector<int>{2, 1});
  CHECK(TableOf(all).value_columns == std::vector<int>{0, 1, 2});
  const CompileOutput except = Good(
      With(columns, key + ", 'value.fields-include' = 'EXCEPT_KEY', 'key.fields-prefix' = 'k_'") +
      kRead);
  CHECK(TableOf(except).key_columns == std::vector<int>{2, 1});
  CHECK(TableOf(except).value_columns == std::vector<int>{0});
  CHECK(TableOf(except).key_format == "csv");
  CHECK(TableOf(except).key_format_spec.physical_columns == 2);
  CHECK(all.fingerprint != except.fingerprint);
}

TEST_CASE("the options of both formats are spelled as Flink does") {
  const CompileOutput out =
      Good(With("a INT, b STRING",
                "'value.format' = 'csv', 'value.csv.field-delimiter' = ';', 'key.format' = 'csv', "
                "'key.fields' = 'b', 'key.csv.field-delimiter' = '|', 'properties.x.y' = '1'") +
           kRead);
  CHECK(TableOf(out).format_spec.csv.delimiter == ';');
  CHECK(TableOf(out).key_format_spec.csv.delimiter == '|');
  CHECK(TableOf(out).options.all().find("properties.x.y")->second.text == "1");
}

TEST_CASE("a sink takes writable metadata, and a raw value beside a key") {
  (void)Good(With("a STRING, k STRING, ts TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', "
                  "o BIGINT METADATA FROM 'offset' VIRTUAL",
                  "'format' = 'raw', 'key.format' = 'raw', 'key.fields' = 'k', "
                  "'value.fields-include' = 'EXCEPT_KEY'") +
             "CREATE TABLE g (a STRING, ts TIMESTAMP_LTZ(3)) WITH ('connector' = 'datagen');\n"
             "INSERT INTO s SELECT a, a, ts FROM g;");
  CHECK(Errors(With("a STRING, o BIGINT METADATA FROM 'offset'", "'format' = 'json'") +
               "CREATE TABLE g (a STRING, o BIGINT) WITH ('connector' = 'datagen');\n"
               "INSERT INTO s SELECT a, o FROM g;")
            .starts_with("METADATA column o cannot be written by stream"));
}

TEST_CASE("keys that make no sense are named") {
  struct Case {
    const char* options;
    const char* want;
  };
  const Case cases[] = {
      {"'format' = 'json', 'value.format' = 'json'",
       "format and value.format are two words for one thing | give one of them"},
      {"'format' = 'json', 'key.format' = 'jsno', 'key.fields' = 'a'",
       "unknown format 'jsno' | did you mean json?"},
      {"'format' = 'json', 'key.format' = 'json'",
       "key.format needs key.fields, the columns in the key"},
      {"'format' = 'json', 'key.fields' = 'a'", "key.fields needs key.format, the key's format"},
      {"'format' = 'json', 'value.fields-include' = 'EXCEPT_KEY'",
       "value.fields-include = 'EXCEPT_KEY' needs key.format and key.fields"},
      {"'format' = 'json', 'key.format' = 'json', 'key.fields' = 'a;x'",
       "key.fields: s has no physical column x"},
      {"'format' = 'json', 'key.format' = 'json', 'key.fields' = 'a;a'",
       "key.fields names a twice"},
      {"'format' = 'json', 'key.format' = 'json', 'key.fields' = 'a', 'key.fields-prefix' = 'k_'",
       "key.fields-prefix needs value.fields-include = 'EXCEPT_KEY' | with 'ALL' the value would "
       "hold the prefixed names as well"},
      {"'format' = 'json', 'key.format' = 'json', 'key.fields' = 'a', 'key.fields-prefix' = 'k_', "
       "'value.fields-include' = 'EXCEPT_KEY'",
       "key.fields: a does not begin with key.fields-prefix 'k_'"},
      {"'format' = 'raw', 'key.format' = 'raw', 'key.fields' = 'a;b', 'value.fields-include' = "
       "'EXCEPT_KEY'",
       "the format raw needs a table of one physical column, s has 0\n"
       "the format raw as key needs a table of one physical column, s has 2"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.options);
    CHECK(Errors(With("a STRING, b STRING", c.options) + kRead) == c.want);
  }
  CHECK(Errors("CREATE TABLE s (a STRING) WITH ('connector' = 'filesystem', 'path' = 'p', 'format' "
               "= 'json', 'key.format' = 'json');" +
               std::string(kRead))
            .starts_with("unknown option key.format"));
}

}  // namespace
}  // namespace weir::sql
