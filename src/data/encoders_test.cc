#include "data/encoders.h"

#include <doctest/doctest.h>

#include <limits>
#include <string>

#include "data/testing/decode.h"
#include "data/testing/rows.h"

namespace weir {
namespace {

FormatSpec Spec(FormatSpec::Kind kind, size_t columns = 1) {
  FormatSpec s;
  s.kind = kind;
  s.physical_columns = columns;
  return s;
}
const FormatSpec kJson = Spec(FormatSpec::Kind::kJson);

std::string Encode(const FormatSpec& spec, const Schema& schema,
                   const std::vector<std::string_view>& values) {
  auto e = NewRowEncoder(spec, schema);
  REQUIRE(e.has_value());
  Batch b;
  b.Reset(schema, 1);
  SetRow(b, 0, values);
  const std::string_view why = (*e)->Check(b, 0);
  if (!why.empty()) return std::string(why);
  std::string out;
  (*e)->Append(b, 0, out);
  return out;
}

Schema One(Type type) { return Schema{{{"c", type}}}; }

TEST_CASE("json: every type has one text") {
  const struct {
    Type type;
    std::string_view given;
    const char* want;
  } cases[] = {
      {Type::Of(TypeKind::kBoolean), "true", "true"},
      {Type::Of(TypeKind::kTinyInt), "-128", "-128"},
      {Type::Of(TypeKind::kBigInt), "1709287200123456789", "1709287200123456789"},
      {Type::Of(TypeKind::kDouble), "1", "1.0"},
      {Type::Of(TypeKind::kDouble), "-0.0", "-0.0"},
      {Type::Of(TypeKind::kDouble), "1e20", "1.0E20"},
      {Type::Of(TypeKind::kFloat), "0.10000000149011612", "0.1"},
      {Type::Decimal(12, 2), "5", "5.00"},
      {Type::Decimal(38, 18), "-12345678901234567890.123456789012345678",
       "-12345678901234567890.123456789012345678"},
      {Type::Of(TypeKind::kString), "plain", "\"plain\""},
      {Type::Of(TypeKind::kString), "a\"b\\c\n\r\t\b\f\x01\x1f/K\xc3\xb6ln\x7f",
       "\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001f/K\xc3\xb6ln\x7f\""},
      {Type::Of(TypeKind::kString), "K\xf6ln", "column c: the text is not UTF-8"},
      {Type::Of(TypeKind::kBytes), "K\xf6ln", "\"S/Zsbg==\""},
      {Type::Of(TypeKind::kDate), "0", "\"1970-01-01\""},
      {Type::Timestamp(3), "1", "\"1970-01-01 00:00:00.001\""},
      {Type::Timestamp(0), "1000", "\"1970-01-01 00:00:01\""},
      {Type::TimestampLtz(3), "1", "\"1970-01-01 00:00:00.001Z\""},
      {Type::Of(TypeKind::kInt), "NULL", "null"},
      {Type::Of(TypeKind::kString), "NULL", "null"},
  };
  for (const auto& c : cases) {
    const std::string got = Encode(kJson, One(c.type), {c.given});
    const bool refused = got.starts_with("column");
    CHECK(got == (refused ? std::string(c.want) : "{\"c\":" + std::string(c.want) + "}\n"));
  }
  FormatSpec iso = kJson;
  iso.json.timestamp_style = TimestampStyle::kIso8601;
  CHECK(Encode(iso, One(Type::Timestamp(3)), {"1"}) == "{\"c\":\"1970-01-01T00:00:00.001\"}\n");
  CHECK(Encode(iso, One(Type::TimestampLtz(3)), {"1"}) == "{\"c\":\"1970-01-01T00:00:00.001Z\"}\n");
}

TEST_CASE("json: keys in the order of the schema, no blanks, names escaped") {
  const Schema s{{{"b", Type::Of(TypeKind::kInt)}, {"a\"", Type::Of(TypeKind::kString)}}};
  CHECK(Encode(kJson, s, {"1", "x"}) == "{\"b\":1,\"a\\\"\":\"x\"}\n");
}

TEST_CASE("no format writes NaN or infinity") {
  const Schema s = One(Type::Of(TypeKind::kDouble));
  Batch b;
  b.Reset(s, 1);
  b.mutable_column(0).valid[0] = 1;
  for (const double v :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    b.mutable_column(0).doubles[0] = v;
    for (const auto kind : {FormatSpec::Kind::kJson, FormatSpec::Kind::kCsv}) {
      auto e = NewRowEncoder(Spec(kind), s);
      REQUIRE(e.has_value());
      CHECK((*e)->Check(b, 0).starts_with("column c: NaN and infinity cannot be written to "));
      b.mutable_column(0).valid[0] = 0;
      CHECK((*e)->Check(b, 0).empty());
      b.mutable_column(0).valid[0] = 1;
    }
  }
}

TEST_CASE("the record of a dead letter always has a text") {
  const Schema s{{{"d", Type::Of(TypeKind::kDouble)},
                  {"s", Type::Of(TypeKind::kString)},
                  {"n", Type::Of(TypeKind::kInt)}}};
  Batch b;
  b.Reset(s, 1);
  SetRow(b, 0, {"1", "K\xf6ln \xe4\xb8", "NULL"});
  const double inf = std::numeric_limits<double>::infinity();
  std::string out;
  AppendRecordJson(b, 0, s, out);
  CHECK(out == "{\"d\":1.0,\"s\":\"K\xEF\xBF\xBDln \xEF\xBF\xBD\xEF\xBF\xBD\",\"n\":null}");
  for (const auto& [v, text] : {std::pair(inf, "\"Infinity\""), std::pair(-inf, "\"-Infinity\""),
                                std::pair(inf - inf, "\"NaN\"")}) {
    b.mutable_column(0).doubles[0] = v;
    out.clear();
    AppendRecordJson(b, 0, s, out);
    CHECK(out.starts_with(std::string("{\"d\":") + text + ",\"s\""));
  }
}

TEST_CASE("csv: quotes only where they are needed") {
  const Schema s{{{"a", Type::Of(TypeKind::kString)}, {"b", Type::Of(TypeKind::kString)}}};
  FormatSpec spec = Spec(FormatSpec::Kind::kCsv, 2);
  const auto line = [&](std::string_view a, std::string_view b) { return Encode(spec, s, {a, b}); };
  CHECK(line("x", "y z") == "x,y z\n");
  CHECK(line("a,b", "say \"hi\"") == "\"a,b\",\"say \"\"hi\"\"\"\n");
  CHECK(line("two\nlines", "cr\r") == "\"two\nlines\",\"cr\r\"\n");
  CHECK(line("", "NULL") == ",\n");
  CHECK(line("#x", "#y") == "#x,#y\n");
  CHECK(line("K\xf6ln", "x") == "column a: the text is not UTF-8");
  spec.csv.has_null_literal = true;
  CHECK(line("", "NULL") == "\"\",\n");
  spec.csv.null_literal = "n/a";
  CHECK(line("n/a", "NULL") == "\"n/a\",n/a\n");
  CHECK(line("", "x") == ",x\n");
  spec.csv.allow_comments = true;
  CHECK(line("#x", "#y") == "\"#x\",#y\n");
  spec.csv.escape = '\\';
  CHECK(line("a\\b", "x") == "\"a\\\\b\",x\n");
  spec = Spec(FormatSpec::Kind::kCsv, 2);
  spec.csv.quote = 0;
  CHECK(line("a\"b", "x") == "a\"b,x\n");
  CHECK(line("a,b", "x") ==
        "column a: the value needs quotes, and csv.disable-quote-character is set");
  spec.csv.quote = '"';
  spec.csv.delimiter = '-';
  CHECK(Encode(spec, Schema{{{"d", Type::Of(TypeKind::kDate)}, {"i", Type::Of(TypeKind::kInt)}}},
               {"0", "5"}) == "\"1970-01-01\"-5\n");
}

TEST_CASE("csv: the header names the columns") {
  const Schema s{{{"a,b", Type::Of(TypeKind::kInt)}, {"c", Type::Of(TypeKind::kInt)}}};
  FormatSpec spec = Spec(FormatSpec::Kind::kCsv, 2);
  CHECK((*NewRowEncoder(spec, s))->Header().empty());
  spec.csv.header = true;
  CHECK((*NewRowEncoder(spec, s))->Header() == "\"a,b\",c\n");
}

TEST_CASE("what is written is read back as the same row") {
  Schema all{{{"b", Type::Of(TypeKind::kBoolean)},
              {"i", Type::Of(TypeKind::kBigInt)},
              {"d", Type::Of(TypeKind::kDouble)},
              {"f", Type::Of(TypeKind::kFloat)},
              {"m", Type::Decimal(38, 18)},
              {"s", Type::Of(TypeKind::kString)},
              {"y", Type::Of(TypeKind::kBytes)},
              {"t", Type::Timestamp(3)},
              {"z", Type::TimestampLtz(9)},
              {"day", Type::Of(TypeKind::kDate)}}};
  FormatSpec json = Spec(FormatSpec::Kind::kJson, all.fields.size());
  FormatSpec csv = Spec(FormatSpec::Kind::kCsv, all.fields.size());
  csv.csv.has_null_literal = true;
  const std::vector<std::vector<std::string_view>> rows = {
      {"true", "-9223372036854775808", "5e-324", "0.10000000149011612",
       "-12345678901234567890.123456789012345678", "a \"quoted\",\r\n\\K\xc3\xb6ln\xf0\x9f\x98\x80",
       std::string_view("\0\xff\n", 3), "-62135596800000", "-9223372036854775808", "-719162"},
      {"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"},
      {"false", "0", "-0.0", "0", "0", "", "", "253402300799999", "9223372036854775807", "2932896"},
  };
  for (FormatSpec spec : {json, csv}) {
    for (const int64_t zone_ms : {0, 7200000}) {
      spec.zone.offset_ms = zone_ms;
      std::string text, want;
      for (const auto& values : rows) {
        Batch b;
        b.Reset(all, 1);
        SetRow(b, 0, values);
        want += std::to_string(text.size()) + " " + RowText(b, 0) + "\n";
        text += Encode(spec, all, values);
      }
      CHECK(DecodeInBlocks(spec, all, text, 1 << 20, 100) == want);
    }
  }
}

TEST_CASE("csv: a table of one column has no empty lines") {
  const Schema s = One(Type::Of(TypeKind::kString));
  const FormatSpec spec = Spec(FormatSpec::Kind::kCsv);
  const std::string text = Encode(spec, s, {""}) + Encode(spec, s, {"x"});
  CHECK(text == "\"\"\nx\n");
  CHECK(DecodeEveryWay(spec, s, text) == "0 \n3 x\n");
}

TEST_CASE("raw: one value is one line, or refused") {
  const Schema s = One(Type::Of(TypeKind::kString));
  const FormatSpec raw = Spec(FormatSpec::Kind::kRaw);
  CHECK(Encode(raw, s, {"any, \"text\""}) == "any, \"text\"\n");
  CHECK(Encode(raw, s, {""}) == "\n");
  CHECK(Encode(raw, s, {"NULL"}) == "NULL cannot be written in format raw");
  CHECK(Encode(raw, s, {"a\nb"}) == "a value with a line feed cannot be written in format raw");
  CHECK(Encode(raw, s, {"a\r"}) ==
        "a value that ends with a carriage return cannot be written in format raw");
  CHECK(Encode(raw, One(Type::Of(TypeKind::kBytes)), {"\xff"}) == "\xff\n");
  CHECK((*NewRowEncoder(raw, s))->Header().empty());
}

TEST_CASE("a format says what it cannot write") {
  CHECK(!NewRowEncoder(Spec(FormatSpec::Kind::kRaw), One(Type::Of(TypeKind::kInt))).has_value());
  CHECK(!NewRowEncoder(Spec(FormatSpec::Kind::kRegex), One(Type::Of(TypeKind::kInt))).has_value());
  CHECK(!NewRowEncoder(kJson, One(Type::Of(TypeKind::kInterval))).has_value());
  CHECK(!NewRowEncoder(Spec(FormatSpec::Kind::kCsv), Schema{}).has_value());
  CHECK(!NewRowDecoder(kJson, FieldsOf(One(Type::Of(TypeKind::kInterval)))).has_value());
}

}  // namespace
}  // namespace weir
