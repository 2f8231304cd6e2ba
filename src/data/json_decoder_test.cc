#include "data/json_decoder.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/testing/rows.h"

namespace weir {
namespace {

// A decoder with its columns, and what it was told so far.
class Table {
 public:
  explicit Table(const std::vector<Field>& fields, const FormatSpec& spec = {}) {
    std::vector<DecodeField> wanted;
    for (const Field& field : fields) {
      const int at = static_cast<int>(wanted.size());
      wanted.push_back({field.name, field.type, at, at});
      schema_.fields.push_back(field);
    }
    decoder_ = NewJsonDecoder(spec, wanted);
    batch.Reset(schema_);
  }

  DecodeResult Decode(std::string_view bytes, int64_t position = 0, bool final = false,
                      uint32_t max_rows = 1000) {
    block_.assign(bytes);
    block_.append(kDecodePadding, '}');  // padding may hold anything
    return decoder_->Decode({block_.data(), bytes.size()}, position, final, max_rows, batch);
  }
  void Clear() { batch.Reset(schema_); }
  RowDecoder& decoder() { return *decoder_; }
  std::string Rows() const { return RowsText(batch); }
  // "before_row pos-next_pos code: message", or "... skipped", one a line.
  std::string NonRows() const {
    std::string text;
    for (const NonRow& n : batch.non_rows) {
      text += std::to_string(n.before_row) + " " + std::to_string(n.pos) + "-" +
              std::to_string(n.next_pos) + " ";
      text += n.skipped ? "skipped" : n.code + ": " + n.message;
      text += "\n";
    }
    return text;
  }

  Batch batch;

 private:
  Schema schema_;
  std::unique_ptr<RowDecoder> decoder_;
  std::string block_;
};

Type Of(TypeKind kind) { return Type::Of(kind); }
Type Varchar(uint32_t n) {
  Type type = Of(TypeKind::kString);
  type.length = n;
  return type;
}
const Type kString = Of(TypeKind::kString);
const Type kBigInt = Of(TypeKind::kBigInt);

// What column v becomes: its value's text; or of a dead letter, "code: message".
std::string Value(const Type& type, const std::string& json, const FormatSpec& spec = {}) {
  Table table({{"v", type}}, spec);
  const DecodeResult result = table.Decode("{\"v\":" + json + "}\n");
  CHECK(result.consumed == json.size() + 7);
  CHECK(table.batch.rows() + table.batch.non_rows.size() == 1);
  if (table.batch.rows() == 1)
    return table.batch.column(0).IsNull(0) ? "NULL" : RowText(table.batch, 0);
  return table.batch.non_rows[0].code + ": " + table.batch.non_rows[0].message;
}

TEST_CASE("a value becomes its column's type, exactly or not at all") {
  struct Case {
    Type type;
    const char* json;
    const char* want;
  };
  const Case cases[] = {
      {kBigInt, "12", "12"},
      {kBigInt, "-0", "0"},
      {kBigInt, "1.0", "1"},
      {kBigInt, "1e3", "1000"},
      {kBigInt, "100000000000000000000e-2", "1000000000000000000"},
      {kBigInt, "0e99999999999", "0"},
      {kBigInt, "1.5", "value: column v: 1.5 is not a BIGINT: it has a fraction"},
      {kBigInt, "1e99999999999", "value: column v: 1e99999999999 is out of range for BIGINT"},
      {kBigInt, "1709287200123456789", "1709287200123456789"},
      {kBigInt, "9007199254740993", "9007199254740993"},
      {kBigInt, "9223372036854775807", "9223372036854775807"},
      {kBigInt, "-9223372036854775808", "-9223372036854775808"},
      {kBigInt, "9223372036854775808",
       "value: column v: 9223372036854775808 is out of range for BIGINT"},
      {kBigInt, "-9223372036854775809",
       "value: column v: -9223372036854775809 is out of range for BIGINT"},
      {kBigInt, "18446744073709551616",
       "value: column v: 18446744073709551616 is out of range for BIGINT"},
      {Of(TypeKind::kInt), "2147483647", "2147483647"},
      {Of(TypeKind::kInt), "2147483648", "value: column v: 2147483648 is out of range for INT"},
      {Of(TypeKind::kInt), "12345678901234567",
       "value: column v: 12345678901234567 is out of range for INT"},
      {Of(TypeKind::kSmallInt), "-32768", "-32768"},
      {Of(TypeKind::kSmallInt), "-32769", "value: column v: -32769 is out of range for SMALLINT"},
      {Of(TypeKind::kTinyInt), "127", "127"},
      {Of(TypeKind::kTinyInt), "128", "value: column v: 128 is out of range for TINYINT"},
      {Of(TypeKind::kInt), "true", "value: column v: true is not an INT"},
      {Of(TypeKind::kInt), "[1]", "value: column v: [1] is not an INT"},
      {Of(TypeKind::kInt), "{\"a\":1}", "value: column v: {\"a\":1} is not an INT"},

      {Of(TypeKind::kInt), "\"12\"", "12"},
      {Of(TypeKind::kInt), "\" 12 \"", "12"},
      {Of(TypeKind::kInt), "\"+7\"", "7"},
      {Of(TypeKind::kInt), "\"-0\"", "0"},
      {Of(TypeKind::kInt), "\"\\u0031\"", "1"},
      {Of(TypeKind::kInt), "\"12x\"", "value: column v: \"12x\" is not an INT"},
      {Of(TypeKind::kInt), "\"1,5\"", "value: column v: \"1,5\" is not an INT"},
      {Of(TypeKind::kInt), "\"1.5\"", "value: column v: \"1.5\" is not an INT"},
      {Of(TypeKind::kInt), "\"1e3\"", "value: column v: \"1e3\" is not an INT"},
      {Of(TypeKind::kInt), "\"\"", "value: column v: \"\" is not an INT"},
      {Of(TypeKind::kInt), "\"0x10\"", "value: column v: \"0x10\" is not an INT"},
      {Of(TypeKind::kInt), "\"\xD9\xA3\"", "value: column v: \"\xD9\xA3\" is not an INT"},
      {Of(TypeKind::kInt), "\"2147483648\"",
       "value: column v: \"2147483648\" is out of range for INT"},

      {Type::Decimal(12, 2), "45.47", "45.47"},
      {Type::Decimal(12, 2), "-45.4", "-45.40"},
      {Type::Decimal(12, 2), "7", "7.00"},
      {Type::Decimal(12, 2), "1.100", "1.10"},
      {Type::Decimal(12, 2), "1.005",
       "value: column v: 1.005 has more digits behind the point than DECIMAL(12, 2)"},
      {Type::Decimal(12, 2), "9999999999.99", "9999999999.99"},
      {Type::Decimal(12, 2), "10000000000.00",
       "value: column v: 10000000000.00 is out of range for DECIMAL(12, 2)"},
      {Type::Decimal(12, 2), "1e2", "100.00"},
      {Type::Decimal(18, 0), "999999999999999999", "999999999999999999"},
      {Type::Decimal(18, 18), "0.999999999999999999", "0.999999999999999999"},
      {Type::Decimal(20, 2), "123456789012345.67", "123456789012345.67"},
      {Type::Decimal(38, 18), "12345678901234567890.123456789012345678",
       "12345678901234567890.123456789012345678"},
      {Type::Decimal(12, 2), "\"45.47\"", "45.47"},
      {Type::Decimal(12, 2), "\" 1e1 \"", "10.00"},
      {Type::Decimal(12, 2), "\"1,5\"", "value: column v: \"1,5\" is not a DECIMAL(12, 2)"},
      {Type::Decimal(12, 2), "false", "value: column v: false is not a DECIMAL(12, 2)"},

      {Of(TypeKind::kDouble), "0.1", "0.1"},
      {Of(TypeKind::kDouble), "1e400", "value: column v: 1e400 is out of range for DOUBLE"},
      {Of(TypeKind::kDouble), "1e-400", "0.0"},
      {Of(TypeKind::kDouble), "\"2.5\"", "2.5"},
      {Of(TypeKind::kDouble), "\"NaN\"", "value: column v: \"NaN\" is not a DOUBLE"},
      {Of(TypeKind::kDouble), "\"1e400\"", "value: column v: \"1e400\" is out of range for DOUBLE"},
      {Of(TypeKind::kFloat), "0.1", "0.10000000149011612"},
      {Of(TypeKind::kFloat), "\"+0.1\"", "0.10000000149011612"},
      {Of(TypeKind::kFloat), "\"1e39\"", "value: column v: \"1e39\" is out of range for FLOAT"},
      {Of(TypeKind::kFloat), "1e39", "value: column v: 1e39 is out of range for FLOAT"},

      {Of(TypeKind::kBoolean), "true", "true"},
      {Of(TypeKind::kBoolean), "false", "false"},
      {Of(TypeKind::kBoolean), "\"true\"", "true"},
      {Of(TypeKind::kBoolean), "\" False \"", "false"},
      {Of(TypeKind::kBoolean), "\"yes\"", "value: column v: \"yes\" is not a BOOLEAN"},
      {Of(TypeKind::kBoolean), "1", "value: column v: 1 is not a BOOLEAN"},

      {kString, "\"abc\"", "abc"},
      {kString, "\"\"", ""},
      {kString, "\"a\\u00e9\\n\"", "a\xC3\xA9\n"},
      {kString, "12.50e1", "12.50e1"},
      {kString, "true", "true"},
      {kString, "[1, {\"a\":\"\\n\"}]", "[1, {\"a\":\"\\n\"}]"},
      {Varchar(3), "\"\xC3\xA9\xC3\xA9\xC3\xA9\"", "\xC3\xA9\xC3\xA9\xC3\xA9"},
      {Varchar(3), "\"abcd\"", "value: column v: \"abcd\" is longer than VARCHAR(3)"},
      {Varchar(3), "1234", "value: column v: 1234 is longer than VARCHAR(3)"},
      {Of(TypeKind::kBytes), "\"Zm9v\"", "foo"},
      {Of(TypeKind::kBytes), "\"Zm\\u0039v\"", "foo"},
      {Of(TypeKind::kBytes), "\"Zm9\"",
       "value: column v: \"Zm9\" is not base64, which is how JSON holds BYTES"},
      {Of(TypeKind::kBytes), "1", "value: column v: 1 is not a BYTES"},

      {Of(TypeKind::kDate), "\"1970-01-03\"", "2"},
      {Of(TypeKind::kDate), "3", "value: column v: 3 is not a DATE"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.json);
    CAPTURE(c.type.ToString());
    CHECK(Value(c.type, c.json) == c.want);
    CHECK(Value(c.type, "null") == "NULL");
  }
}

TEST_CASE("a long value is shortened in the message, between characters") {
  const std::string text = std::string(58, 'x') + "\xE2\x82\xAC\xE2\x82\xAC";
  CHECK(Value(Of(TypeKind::kInt), "\"" + text + "\"") ==
        "value: column v: \"" + std::string(58, 'x') + "... is not an INT");
}

TEST_CASE("timestamps: the usual forms and the others give the same ticks") {
  struct Case {
    Type type;
    const char* text;
    const char* want;  // ticks, or how the message ends
  };
  const char* const k2024 = "1709287200";  // 2024-03-01T10:00:00Z
  const std::string base = k2024;
  const Type ts3 = Type::Timestamp(3), ltz3 = Type::TimestampLtz(3);
  const Case cases[] = {
      {ts3, "2024-03-01 10:00:00", "1709287200000"},
      {ts3, "2024-03-01T10:00:00", "1709287200000"},
      {ts3, "2024-03-01T10:00:00Z", "1709287200000"},
      {ts3, "2024-03-01T10:00:07.089Z", "1709287207089"},
      {ts3, "2024-03-01 10:00:07.089", "1709287207089"},
      {ltz3, "2024-03-01T10:00:07.089Z", "1709287207089"},
      {ltz3, "2024-03-01 10:00:07.089", "1709287207089"},
      {ts3, "2024-03-01 10:00:07.5", "1709287207500"},
      {ts3, "2024-03-01 10:00:07.123456", "1709287207123"},
      {ts3, "2024-03-01T10:00:00+02:00", "1709280000000"},
      {ts3, "1969-12-31 23:59:59.999", "-1"},
      {ts3, "0001-01-01 00:00:00", "-62135596800000"},
      {ts3, "9999-12-31 23:59:59.999", "253402300799999"},
      {Type::Timestamp(0), "2024-03-01 10:00:07.999", "1709287207000"},
      {Type::Timestamp(1), "2024-03-01 10:00:07.999", "1709287207900"},
      {Type::Timestamp(6), "2024-03-01 10:00:07.089", "1709287207089000"},
      {Type::Timestamp(6), "2024-03-01 10:00:07.123456", "1709287207123456"},
      {Type::Timestamp(9), "2024-03-01 10:00:07.089", "1709287207089000000"},
      {ts3, "2023-02-29 10:00:00", "no such day"},
      {ts3, "2024-03-01 24:00:00", "hour 24"},
      {ts3, "2024-13-01 00:00:00", "month 13"},
      {ts3, "2024-04-31 00:00:00", "no such day"},
      {ts3, "2024-03-01 10:60:00", "minute 60"},
      {ts3, "0000-01-01 00:00:00", "year 0"},
      {ts3, "2024-03-01 10:00:60", "second 60"},
      {ts3, "2024-3-1 1:2:3", "not yyyy-MM-dd HH:mm:ss"},
      {ts3, "2024-03-01 10:00:0x.000Z", "not yyyy-MM-dd HH:mm:ss"},
      {ts3, "2024-03-01 10:00:00.00:Z", "not yyyy-MM-dd HH:mm:ss"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CAPTURE(c.type.ToString());
    const std::string got = Value(c.type, std::string("\"") + c.text + "\"");
    const bool refused = got.starts_with("value: column v: ");
    if (refused) {
      CHECK(got.find(c.want) != std::string::npos);
    } else {
      CHECK(got == c.want);
    }
  }
}

TEST_CASE("timestamps: the minute before does not leak into the next row") {
  Table table({{"v", Type::Timestamp(3)}});
  table.Decode(
      "{\"v\":\"2024-03-01 10:00:01.000\"}\n{\"v\":\"2024-03-01 "
      "10:00:02\"}\n{\"v\":\"2024-03-01T10:01:00Z\"}\n"
      "{\"v\":\"2024-02-30 10:01:00\"}\n{\"v\":\"2024-03-01 "
      "10:01:03\"}\n{\"v\":\"1970-01-01T00:00:01Z\"}\n");
  CHECK(table.Rows() == "1709287201000\n1709287202000\n1709287260000\n1709287263000\n1000\n");
  CHECK(table.batch.non_rows.size() == 1);
}

TEST_CASE("timestamps: sixteen equal bytes are no minute when they are no text") {
  // Zero bytes, and those of an empty memory, must not match a text of the same bytes.
  for (const char byte : {'\0', '\xFF'}) {
    Table table({{"v", Type::Timestamp(3)}});
    table.Decode("{\"v\":\"" + std::string(16, byte) + ":00.000Z\"}\n");
    CHECK(table.batch.rows() == 0);
  }
}

TEST_CASE("timestamps: the session zone decides what text with and without an offset means") {
  FormatSpec spec;
  spec.zone.offset_ms = 2 * 3600 * 1000;
  CHECK(Value(Type::Timestamp(3), "\"2024-03-01T10:00:00Z\"", spec) == "1709294400000");
  CHECK(Value(Type::Timestamp(3), "\"2024-03-01T10:00:00\"", spec) == "1709287200000");
  CHECK(Value(Type::TimestampLtz(3), "\"2024-03-01T10:00:00\"", spec) == "1709280000000");
  CHECK(Value(Type::TimestampLtz(3), "\"2024-03-01T10:00:00Z\"", spec) == "1709287200000");
}

TEST_CASE("a number is a timestamp only with a unit") {
  FormatSpec spec;
  CHECK(Value(Type::Timestamp(3), "1709287200") ==
        "value: column v: 1709287200 is a number, not the text of a TIMESTAMP(3): for epoch "
        "numbers set "
        "'json.timestamp-unit' ('s', 'ms', 'us', 'ns')");
  spec.json.has_timestamp_unit = true;
  CHECK(Value(Type::TimestampLtz(3), "1709287200123", spec) == "1709287200123");
  spec.json.timestamp_unit = EpochUnit::kSeconds;
  CHECK(Value(Type::TimestampLtz(3), "1709287200", spec) == "1709287200000");
  CHECK(Value(Type::TimestampLtz(3), "1709287261.5", spec) == "1709287261500");
  CHECK(Value(Type::TimestampLtz(3), "-0.001", spec) == "-1");
  CHECK(Value(Type::TimestampLtz(3), "1709287200123", spec) ==
        "value: column v: 1709287200123 s is year 56135, outside TIMESTAMP 0001..9999; did you "
        "mean milliseconds?");
  CHECK(Value(Type::TimestampLtz(3), std::string(80, '9'), spec)
            .starts_with("value: column v: 9999"));
  spec.zone.offset_ms = 3600 * 1000;
  CHECK(Value(Type::Timestamp(3), "1709287200", spec) == "1709290800000");
  CHECK(
      Value(Type::Timestamp(3), "253402300799", spec).starts_with("value: column v: 253402300799"));
}

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
    CAPTURE(c.name);
    Table table({{"a", kString}, {"b", kBigInt}});
    table.Decode(std::string(c.row) + "\n");
    CHECK(table.Rows() == c.want);
    CHECK(table.NonRows() == "");
  }
}

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
       "json.utf8: invalid JSON at byte 7: invalid UTF-8"},
      {"read: bad UTF-8", "{\"a\":\"a\xED\xA0\x80\"}",
       "json.utf8: invalid JSON at byte 7: invalid UTF-8"},
      {"key: bad UTF-8", "{\"\xFF\":1}", "json.utf8: invalid JSON at byte 2: invalid UTF-8"},
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
    CAPTURE(c.name);
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
  CHECK(want_rows.starts_with("3 x|1\n"));
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
  CHECK(table.batch.positions == std::vector<int64_t>{3});
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

TEST_CASE("one value is one record: lines inside it are white space") {
  Table table({{"a", kString}, {"b", kBigInt}});
  RowDecoder& decoder = table.decoder();
  decoder.DecodeValue("{\n  \"a\": \"x\",\r\n  \"b\": 2\n}\n", 7, table.batch);
  decoder.DecodeValue("{\"b\":3}", 8, table.batch);
  decoder.DecodeValue("", 9, table.batch);
  decoder.DecodeValue(" \n ", 10, table.batch);
  decoder.DecodeValue("{\"a\":\"x\ny\"}", 11, table.batch);
  decoder.DecodeValue("{\"b\":1}\n{\"b\":2}", 12, table.batch);
  decoder.DecodeValue("{\"a\":[1,\n2]}", 13, table.batch);
  decoder.DecodeValue("{\"b\":[1,\n2]}", 14, table.batch);
  decoder.DecodeValue("{\"b\":1", 15, table.batch);
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
