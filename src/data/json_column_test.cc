#include "data/json_column.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/testing/json_table.h"

namespace weir {
namespace {

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
      {Of(TypeKind::kInt), "\"1.5\"", "value: column v: \"1.5\" is not an INT: it has a fraction"},
      {Of(TypeKind::kInt), "\"1e3\"", "1000"},
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
       "value: column v: \"Zm9\" is not base64, which is how text holds BYTES"},
      {Of(TypeKind::kBytes), "1", "value: column v: 1 is not a BYTES"},

      {Of(TypeKind::kDate), "\"1970-01-03\"", "2"},
      {Of(TypeKind::kDate), "3", "value: column v: 3 is not a DATE"},
  };
  for (const Case& c : cases) {
    CAPTURE(std::string(c.json));
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
      {Type::Timestamp(9), "2262-04-11 23:47:16", "9223372036000000000"},
      {Type::Timestamp(9), "2262-04-11 23:48:00", "2262"},
      {Type::Timestamp(9), "1600-01-01T00:00:00Z", "1677"},
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
    CAPTURE(std::string(c.text));
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
        "'json.timestamp-unit' ('s', 'ms', 'us' or 'ns')");
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

}  // namespace
}  // namespace weir
