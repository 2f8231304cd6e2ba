#include "data/json_row.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/testing/json_table.h"

namespace weir {
namespace {

TEST_CASE("keys of every length are told apart") {
  std::vector<Field> fields;
  std::string row = "{", want;
  for (int n = 0; n < 70; ++n) {
    // Lengths 0 .. 69, equal but for the last letter where the length is the same.
    for (const char last : {'p', 'q'}) {
      if (n == 0 && last == 'q') continue;
      const std::string name = n == 0 ? "" : std::string(static_cast<size_t>(n - 1), 'k') + last;
      fields.push_back({name, kBigInt});
      row += (row.size() > 1 ? ",\"" : "\"") + name + "\":" + std::to_string(fields.size());
      want += (want.empty() ? "" : "|") + std::to_string(fields.size());
    }
  }
  Table table(fields);
  table.Decode(row + "}\n" + row + "}\n");
  CHECK(table.Rows() == want + "\n" + want + "\n");
}

TEST_CASE("what a value before was does not matter: rows of all shapes mixed") {
  // Each row alone, then all in one block, forwards and backwards, often enough that prediction is
  // given up and resumed.
  const std::vector<std::string> rows = {
      R"({"a":"x","b":2})",
      R"({"b":2,"a":"y"})",
      R"({"b":3})",
      R"({})",
      R"({ "a" : "z" , "b" : 4 })",
      R"({"a":"x","b":2} )",
      R"({"a":"x" ,"b":2})",
      R"({"a":"x","u":1,"b":2})",
      R"({"a":"x","b":2)",
      R"({"a":"x","b":2}})",
      R"({"a":"x" "b":2})",
      R"({"a":"x","b" 2})",
      R"([])",
      R"({"a":"x","b":"y"})",
  };
  std::string block, want;
  std::vector<std::string> outcomes;
  for (const std::string& row : rows) {
    Table table({{"a", kString}, {"b", kBigInt}});
    table.Decode(row + "\n");
    outcomes.push_back(table.Rows());
  }
  Table table({{"a", kString}, {"b", kBigInt}});
  uint64_t random = 1;
  for (int i = 0; i < 20000; ++i) {
    random = random * 6364136223846793005 + 1442695040888963407;
    // Long runs of one shape, then long runs of a mix.
    const size_t k =
        (i / 3000) % 2 == 0 ? static_cast<size_t>(i / 3000) : (random >> 33) % rows.size();
    block += rows[k] + "\n";
    want += outcomes[k];
  }
  const DecodeResult result = table.Decode(block, 0, true, 1000000);
  CHECK(result.consumed == block.size());
  CHECK((table.Rows() == want));
}

TEST_CASE("a row is refused as a whole, whichever field is bad, and no other row with it") {
  struct Case {
    const char* name;
    std::string row;
    const char* want;
  };
  const Case cases[] = {
      {"no colon", R"({"a" "x"})", "json.syntax: invalid JSON at byte 5: expected ':'"},
      {"no comma", R"({"a":"x""b":2})", "json.syntax: invalid JSON at byte 8: expected ',' or '}'"},
      {"comma at the end", R"({"a":"x",})",
       "json.syntax: invalid JSON at byte 9: expected a key in quotes"},
      {"key without quotes", R"({a:1})",
       "json.syntax: invalid JSON at byte 1: expected a key in quotes"},
      {"no value", R"({"a":})", "json.syntax: invalid JSON at byte 5: expected a value"},
      {"not closed", R"({"a":"x")", "json.syntax: invalid JSON at byte 8: expected ',' or '}'"},
      {"open string", R"({"a":"x)", "json.syntax: invalid JSON at byte 7: the string has no end"},
      {"two objects", R"({"a":"x"}{"a":"y"})",
       "json.syntax: invalid JSON at byte 9: something follows the object"},
      {"trailing letter", R"({"a":"x"} x)",
       "json.syntax: invalid JSON at byte 10: something follows the object"},
      {"array", R"([1])", "json.root: invalid JSON at byte 0: expected a JSON object"},
      {"number", R"(12)", "json.root: invalid JSON at byte 0: expected a JSON object"},
      {"text", R"(hello)", "json.root: invalid JSON at byte 0: expected a JSON object"},
      {"unread: bad number", R"({"u":01})",
       "json.syntax: invalid JSON at byte 5: not a number as JSON writes it"},
      {"unread: NaN", R"({"u":NaN})", "json.syntax: invalid JSON at byte 5: expected a value"},
      {"unread: True", R"({"u":tru})",
       "json.syntax: invalid JSON at byte 5: expected true, false or null"},
      {"unread: nulls", R"({"u":nulls})",
       "json.syntax: invalid JSON at byte 9: expected ',' or '}'"},
      {"unread: bad escape", R"({"u":"\x"})",
       "json.syntax: invalid JSON at byte 6: unknown escape in a string"},
      {"unread: lone surrogate", R"({"u":"\ud800"})",
       "json.syntax: invalid JSON at byte 6: half of a surrogate pair in a string"},
      {"unread: bad UTF-8", "{\"u\":\"a\xC0\xAF\"}",
       "json.utf8: invalid UTF-8 (overlong) at byte 7"},
      {"read: bad UTF-8", "{\"a\":\"a\xED\xA0\x80\"}",
       "json.utf8: invalid UTF-8 (surrogate) at byte 7"},
      {"key: bad UTF-8", "{\"\xFF\":1}", "json.utf8: invalid UTF-8 at byte 2"},
      {"unread: tab in string", "{\"u\":\"a\tb\"}",
       "json.syntax: invalid JSON at byte 7: control character in a string"},
      {"NUL", std::string("{\"u\":\0 1}", 9),
       "json.syntax: invalid JSON at byte 5: expected a value"},
      {"form feed is no blank", "{\"u\":1\f}",
       "json.syntax: invalid JSON at byte 6: expected ',' or '}'"},
      {"nested: open array", R"({"u":[1})",
       "json.syntax: invalid JSON at byte 7: expected ',' or ']'"},
      {"nested: open object", R"({"u":{"a":1])",
       "json.syntax: invalid JSON at byte 11: expected ',' or '}'"},
      {"nested: comma", R"({"u":[1,]})", "json.syntax: invalid JSON at byte 8: expected a value"},
      {"nested: no key", R"({"u":{1:2}})",
       "json.syntax: invalid JSON at byte 6: expected a key in quotes"},
      {"nested: no colon", R"({"u":{"a",1}})", "json.syntax: invalid JSON at byte 9: expected ':'"},
      {"mark not at the begin", "\xEF\xBB\xBF{}",
       "json.root: invalid JSON at byte 0: expected a JSON object"},
      {"value, then grammar", R"({"b":"x","u":01})",
       "json.syntax: invalid JSON at byte 13: not a number as JSON writes it"},
      {"two values", R"({"c":"no","b":"x"})", "value: column c: \"no\" is not an INT"},
      {"two values, other order", R"({"b":"x","c":"no"})",
       "value: column b: \"x\" is not a BIGINT"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Table table({{"a", kString}, {"b", kBigInt}, {"c", Of(TypeKind::kInt)}});
    const std::string good = "{\"a\":\"g\",\"b\":1,\"c\":2}\n";
    table.Decode(good + c.row + "\n" + good);
    CHECK(table.Rows() == "g|1|2\ng|1|2\n");
    const size_t begin = good.size(), end = begin + c.row.size() + 1;
    CHECK(table.NonRows() ==
          "1 " + std::to_string(begin) + "-" + std::to_string(end) + " " + c.want + "\n");
    REQUIRE(table.batch.non_rows.size() == 1);
    CHECK(table.batch.non_rows[0].raw == c.row);
  }
}

TEST_CASE("a refused row leaves nothing behind in the next") {
  Table table({{"a", kString}, {"b", kBigInt}});
  table.Decode("{\"a\":\"x\",\"b\":1,}\n{}\n{\"a\":\"y\",\"b\":\"z\"}\n{}\n");
  CHECK(table.Rows() == "NULL|NULL\nNULL|NULL\n");
}

TEST_CASE("1024 levels are read, 1025 refused, whether read or not") {
  for (const char* key : {"a", "u"}) {
    for (const std::string& kind : {std::string("[]"), std::string("{}")}) {
      // The row's own object is the first level.
      for (const int levels : {1, 1023, 1024, 100000}) {
        std::string open, close;
        for (int i = 0; i < levels; ++i) {
          open += kind[0] == '[' ? "[" : i + 1 < levels ? "{\"k\":" : "{";
          close += kind[1];
        }
        Table table({{"a", kString}});
        table.Decode("{\"" + std::string(key) + "\":" + open + close + "}\n");
        CHECK(table.batch.rows() == (levels < 1024 ? 1 : 0));
        if (levels >= 1024) CHECK(table.batch.non_rows.at(0).code == "json.depth");
      }
    }
  }
}

}  // namespace
}  // namespace weir
