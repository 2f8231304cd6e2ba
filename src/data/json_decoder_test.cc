#include "data/json_decoder.h"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "data/testing/json_table.h"

namespace weir {
namespace {

TEST_CASE(
    "fields are found by name in any order; a missing one is NULL, of duplicates the last counts") {
  struct Case {
    const char* name;
    const char* row;
    const char* want;
  };
  const Case cases[] = {
      {"in order", R"({"a":"x","b":2})", "x|2\n"},
      {"other order", R"({"b":2,"a":"x"})", "x|2\n"},
      {"missing", R"({"b":2})", "NULL|2\n"},
      {"null", R"({"a":null,"b":null})", "NULL|NULL\n"},
      {"none", R"({})", "NULL|NULL\n"},
      {"unread between", R"({"u":[1,{"b":7}],"a":"x","v":"\u00e9","b":2,"w":{"b":[]}})", "x|2\n"},
      {"last counts", R"({"b":1,"b":2})", "NULL|2\n"},
      {"last counts after an error", R"({"b":"x","b":2})", "NULL|2\n"},
      {"last counts after a value", R"({"b":1,"b":null})", "NULL|NULL\n"},
      {"escaped key", R"({"\u0062":2,"\u0061":"x"})", "x|2\n"},
      {"key with the same begin", R"({"bb":1,"b":2,"":3})", "NULL|2\n"},
      {"blanks", " \t{ \"a\" :\t\"x\" , \"b\":\r2 } \r", "x|2\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.name));
    Table table({{"a", kString}, {"b", kBigInt}});
    table.Decode(std::string(c.row) + "\n");
    CHECK(table.Rows() == c.want);
    CHECK(table.NonRows() == "");
  }
}

TEST_CASE(
    "NULL or no field in a NOT NULL column is a dead letter, unless a later duplicate has a "
    "value") {
  const std::vector<Field> fields = {
      {"a", kString.NotNull()}, {"b", kBigInt.NotNull()}, {"c", kBigInt}};
  Table table(fields);
  table.Decode(
      "{\"a\":\"x\",\"b\":1}\n{\"a\":\"x\"}\n{\"a\":null,\"b\":1}\n{\"b\":1}\n{\"a\":null,\"b\":1,"
      "\"a\":\"y\"}\n"
      "{\"a\":\"x\",\"a\":null,\"b\":1}\n{\"b\":\"q\"}\n");
  CHECK(table.Rows() == "x|1|NULL\ny|1|NULL\n");
  CHECK(table.NonRows() ==
        "1 16-26 null: column b: NULL or missing, but the column is NOT NULL\n"
        "1 26-43 null: column a: NULL or missing, but the column is NOT NULL\n"
        "1 43-51 null: column a: NULL or missing, but the column is NOT NULL\n"
        "2 76-101 null: column a: NULL or missing, but the column is NOT NULL\n"
        "2 101-111 value: column b: \"q\" is not a BIGINT\n");
}

TEST_CASE("rows know where they begin; empty lines are counted and nothing else") {
  Table table({{"b", kBigInt}});
  const DecodeResult result = table.Decode("\n{\"b\":1}\r\n \t\r\n\n{\"b\":2}\n{\"b\":3", 1000);
  CHECK(result.consumed == 23);
  CHECK(result.need_more);
  CHECK(table.Rows() == "1\n2\n");
  CHECK(table.batch.positions == std::vector<int64_t>{1001, 1015});
  CHECK(table.batch.end_position == 1023);
  CHECK(table.NonRows() == "0 1000-1001 skipped\n1 1010-1014 skipped\n1 1014-1015 skipped\n");
}

TEST_CASE("the last row needs no line feed at the end of the input, and only there") {
  for (const bool final : {false, true}) {
    Table table({{"b", kBigInt}});
    const DecodeResult result = table.Decode("{\"b\":1}\n{\"b\":2}", 0, final);
    CHECK(result.consumed == (final ? 15 : 8));
    CHECK(result.need_more);
    CHECK(table.Rows() == (final ? "1\n2\n" : "1\n"));
    CHECK(table.batch.end_position == (final ? 15 : 8));
  }
  struct Case {
    const char* tail;
    const char* non_rows;
  };
  const Case cases[] = {
      {"{\"b\":", "1 8-13 json.syntax: invalid JSON at byte 5: expected a value\n"},
      {"  ", "1 8-10 skipped\n"},
      {"{\"b\":1}{\"b\":2}",
       "1 8-22 json.syntax: invalid JSON at byte 7: something follows the object\n"}};
  for (const Case& c : cases) {
    Table table({{"b", kBigInt}});
    table.Decode("{\"b\":1}\n" + std::string(c.tail), 0, true);
    CHECK(table.Rows() == "1\n");
    CHECK(table.NonRows() == c.non_rows);
  }
}

TEST_CASE("any cut into blocks gives the same rows and the same other records") {
  std::string bytes = "\xEF\xBB\xBF{\"a\":\"x\",\"b\":1}\n";
  for (int i = 0; i < 40; ++i) {
    bytes += i % 7 == 3   ? "\n"
             : i % 7 == 5 ? "{bad}\n"
                          : "{\"a\":\"" + std::string(static_cast<size_t>(i), 'y') +
                                "\",\"b\":" + std::to_string(i) + "}\n";
  }
  bytes += "{\"a\":\"" + std::string(300, 'z') + "\"}\n{\"b\":77}";
  FormatSpec spec;
  spec.max_record_bytes = 200;
  std::string want_rows, want_others;
  for (const size_t step :
       {bytes.size(), size_t{1}, size_t{2}, size_t{7}, size_t{64}, size_t{150}}) {
    for (const uint32_t max_rows : {1u, 3u, 1000u}) {
      CAPTURE(step);
      CAPTURE(max_rows);
      Table table({{"a", kString}, {"b", kBigInt}}, spec);
      std::string rows, others;
      size_t at = 0, have = 0;
      bool done = false;
      while (!done) {
        // As a reader does: more bytes when asked for, the rest again.
        const bool final = have == bytes.size();
        table.Clear();
        const DecodeResult result = table.Decode(std::string_view(bytes).substr(at, have - at),
                                                 static_cast<int64_t>(at), final, max_rows);
        REQUIRE(table.batch.rows() <= max_rows);
        at += result.consumed;
        for (uint32_t row = 0; row < table.batch.rows(); ++row) {
          rows +=
              std::to_string(table.batch.positions[row]) + " " + RowText(table.batch, row) + "\n";
        }
        for (const NonRow& n : table.batch.non_rows) {
          others += std::to_string(n.pos) + "-" + std::to_string(n.next_pos) + n.code + n.message +
                    n.raw + "\n";
        }
        if (result.need_more) {
          done = final;
          have = std::min(bytes.size(), have + step);
        }
      }
      CHECK(at == bytes.size());
      if (want_rows.empty()) {
        want_rows = rows;
        want_others = others;
      }
      CHECK(rows == want_rows);
      CHECK(others == want_others);
    }
  }
  CHECK(want_rows.starts_with("0 x|1\n"));
  CHECK(want_others.find("record.too-long") != std::string::npos);
}

TEST_CASE("max_rows is kept, and the next call goes on; rows already there count") {
  Table table({{"b", kBigInt}});
  const std::string block = "{\"b\":1}\n{\"b\":2}\n\n{\"b\":3}\n";
  DecodeResult result = table.Decode(block, 0, true, 2);
  CHECK(result.consumed == 16);
  CHECK_FALSE(result.need_more);
  result = table.Decode(block.substr(16), 16, true, 2);
  CHECK(result.consumed == 0);
  CHECK_FALSE(result.need_more);
  result = table.Decode(block.substr(16), 16, true, 5);
  CHECK(result.consumed == 9);
  CHECK(result.need_more);
  CHECK(table.Rows() == "1\n2\n3\n");
  CHECK(table.NonRows() == "2 16-17 skipped\n");
  CHECK(table.batch.positions == std::vector<int64_t>{0, 8, 17});
}

TEST_CASE("empty lines and dead letters do not pile up without a bound") {
  Table table({{"b", kBigInt}});
  const DecodeResult result = table.Decode(std::string(1000, '\n'), 0, true, 100);
  CHECK(result.consumed == 100);
  CHECK_FALSE(result.need_more);
  CHECK(table.batch.non_rows.size() == 100);
}

TEST_CASE("a byte order mark is skipped where the partition begins, and only there") {
  Table table({{"b", kBigInt}});
  table.Decode("\xEF\xBB\xBF{\"b\":1}\n", 0);
  CHECK(table.Rows() == "1\n");
  CHECK(table.batch.positions == std::vector<int64_t>{0});
  table.Clear();
  table.Decode("\xEF\xBB\xBF{\"b\":1}\n", 10);
  CHECK(table.batch.rows() == 0);
  table.Clear();
  // The mark alone is not taken apart from its row.
  CHECK(table.Decode("\xEF\xBB\xBF{\"b\"", 0).consumed == 0);
  CHECK(table.Decode("\xEF\xBB", 0).consumed == 0);
  CHECK(table.Decode("\xEF\xBB\xBF{\"b\":1}", 0, true).consumed == 10);
}

TEST_CASE("a record that is too long is one dead letter with the begin of its bytes") {
  FormatSpec spec;
  spec.max_record_bytes = 16;
  const std::string sixteen = "{\"b\":1         }", seventeen = "{\"b\":1          }";
  Table table({{"b", kBigInt}}, spec);
  table.Decode(sixteen + "\n" + seventeen + "\n{}\n");
  CHECK(table.Rows() == "1\nNULL\n");
  CHECK(table.NonRows() ==
        "1 17-35 record.too-long: the record is longer than weir.max-record-bytes (16)\n");
  CHECK(table.batch.non_rows.at(0).raw == seventeen.substr(0, 16));

  Table tail({{"b", kBigInt}}, spec);
  CHECK(tail.Decode(seventeen, 0, true).consumed == 17);
  CHECK(tail.NonRows() ==
        "0 0-17 record.too-long: the record is longer than weir.max-record-bytes (16)\n");
}

TEST_CASE("a line longer than the block is consumed in silence until its line feed") {
  FormatSpec spec;
  spec.max_record_bytes = 16;
  for (const bool ends : {true, false}) {
    Table table({{"b", kBigInt}}, spec);
    DecodeResult result = table.Decode("{\"b\":1}\n{\"b\":\"xxxxxxxxxx", 100);
    CHECK(result.consumed == 8);  // 16 bytes might still become a record
    CHECK(result.need_more);
    result = table.Decode("{\"b\":\"xxxxxxxxxxx", 108);
    CHECK(result.consumed == 17);
    CHECK(result.need_more);
    CHECK(table.batch.end_position == 108);
    CHECK(table.batch.non_rows.empty());
    result = table.Decode("{\"b\":2}yyyyyyyyyyyyyyyyyyyyyy", 125);
    CHECK(result.consumed == 29);
    CHECK(table.batch.end_position == 108);
    CHECK(table.batch.non_rows.empty());
    result = table.Decode(ends ? "z\n{\"b\":3}\n" : "z", 154, !ends);
    CHECK(result.need_more);
    CHECK(table.Rows() == (ends ? "1\n3\n" : "1\n"));
    CHECK(table.batch.end_position == (ends ? 164 : 155));
    CHECK(table.NonRows() ==
          "1 108-" + std::string(ends ? "156" : "155") +
              " record.too-long: the record is longer than weir.max-record-bytes (16)\n");
    CHECK(table.batch.non_rows.at(0).raw == "{\"b\":\"xxxxxxxxxx");
  }
}

TEST_CASE("a long line begun is forgotten when reading goes on elsewhere") {
  FormatSpec spec;
  spec.max_record_bytes = 16;
  Table table({{"b", kBigInt}}, spec);
  const std::string part(20, 'x');
  table.Decode(part, 0);
  table.Clear();
  table.Decode("{\"b\":1}\n", 500);
  CHECK(table.Rows() == "1\n");
  CHECK(table.NonRows() == "");
  table.Decode(part, 0);
  CHECK(table.decoder().BeginPartition("", true).value() == 0);
  table.Clear();
  table.Decode("{\"b\":1}\n", 20);
  CHECK(table.Rows() == "1\n");
  CHECK(table.NonRows() == "");
}

// `room`: rows announced by BeginValues; nullopt: it is not called.
void CheckValues(std::optional<uint32_t> room) {
  CAPTURE(room.value_or(999));
  Table table({{"a", kString}, {"b", kBigInt}});
  RowDecoder& decoder = table.decoder();
  if (room) decoder.BeginValues(*room, table.batch);
  decoder.DecodeValue("{\n  \"a\": \"x\",\r\n  \"b\": 2\n}\n", 7, table.batch);
  decoder.DecodeValue("{\"b\":3}", 8, table.batch);
  decoder.DecodeValue("", 9, table.batch);
  decoder.DecodeValue(" \n ", 10, table.batch);
  decoder.DecodeValue("{\"a\":\"x\ny\"}", 11, table.batch);
  decoder.DecodeValue("{\"b\":1}\n{\"b\":2}", 12, table.batch);
  decoder.DecodeValue("{\"a\":[1,\n2]}", 13, table.batch);
  decoder.DecodeValue("{\"b\":[1,\n2]}", 14, table.batch);
  decoder.DecodeValue("{\"b\":1", 15, table.batch);
  if (room) decoder.EndValues(table.batch);
  CHECK(table.batch.column(0).size() == 3);
  CHECK(table.Rows() == "x|2\nNULL|3\n[1,\n2]|NULL\n");
  CHECK(table.batch.positions == std::vector<int64_t>{7, 8, 13});
  CHECK(table.batch.end_position == 16);
  CHECK(table.NonRows() ==
        "2 9-10 skipped\n"
        "2 10-11 skipped\n"
        "2 11-12 json.syntax: invalid JSON at byte 7: control character in a string\n"
        "2 12-13 json.syntax: invalid JSON at byte 8: something follows the object\n"
        "3 14-15 value: column b: [1,\n2] is not a BIGINT\n"
        "3 15-16 json.syntax: invalid JSON at byte 6: expected ',' or '}'\n");
  CHECK(table.batch.non_rows[2].raw == "{\"a\":\"x\ny\"}");
}

TEST_CASE("one value is one record: lines inside it are white space") { CheckValues(std::nullopt); }

TEST_CASE("values in a run: the same rows, also when more come than room was made for") {
  for (const uint32_t room : {0U, 1U, 2U, 3U, 64U}) CheckValues(room);
}

TEST_CASE("a value that is too long is one dead letter") {
  FormatSpec spec;
  spec.max_record_bytes = 8;
  Table table({{"b", kBigInt}}, spec);
  table.decoder().DecodeValue("{\"b\": 1}", 1, table.batch);
  table.decoder().DecodeValue("{\"b\": 12}", 2, table.batch);
  CHECK(table.Rows() == "1\n");
  CHECK(table.NonRows() ==
        "1 2-3 record.too-long: the record is longer than weir.max-record-bytes (8)\n");
  CHECK(table.batch.non_rows.at(0).raw == "{\"b\": 12");
}

TEST_CASE("columns that nobody asked the decoder for are left to their owner") {
  const Schema schema{{{"part", kBigInt}, {"b", kBigInt}}};
  const std::unique_ptr<RowDecoder> decoder = NewJsonDecoder({}, {{"b", kBigInt, 1, 0}});
  Batch batch;
  batch.Reset(schema);
  const std::string block = "{\"b\":1,\"part\":5}\n{\"b\":2}\n" + std::string(kDecodePadding, '\0');
  decoder->Decode(std::string_view(block).substr(0, 25), 0, false, 10, batch);
  REQUIRE(batch.rows() == 2);
  CHECK(batch.column(0).size() == 2);
  CHECK(batch.column(1).ints == std::vector<int64_t>{1, 2});
}

}  // namespace
}  // namespace weir
