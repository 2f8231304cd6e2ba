#include "data/line_decoder.h"

#include <doctest/doctest.h>

#include <string>

#include "data/testing/decode.h"

namespace weir {
namespace {

FormatSpec Raw(uint64_t max = 1 << 20) {
  FormatSpec s;
  s.kind = FormatSpec::Kind::kRaw;
  s.physical_columns = 1;
  s.max_record_bytes = max;
  return s;
}
FormatSpec Regex(std::string pattern) {
  FormatSpec s;
  s.kind = FormatSpec::Kind::kRegex;
  s.regex.pattern = std::move(pattern);
  s.physical_columns = 3;
  return s;
}
const Schema kLine{{{"line", Type::Of(TypeKind::kString)}}};

TEST_CASE("raw: a row is a line, whatever it holds") {
  const struct {
    const char* given;
    const char* want;
  } cases[] = {
      {"", ""},
      {"a\n", "0 a\n"},
      {"a\nb", "0 a\n2 b\n"},
      {"a\r\nb\r\n", "0 a\n3 b\n"},
      {"\n\nx\n", "0 \n1 \n2 x\n"},
      {"\xEF\xBB\xBFtext\n", "0 text\n"},
      {"a\n\xEF\xBB\xBF\n", "0 a\n2 \xEF\xBB\xBF\n"},
      {"\xEF\xBB\xBF", ""},
      {"ok\nK\xf6ln\nok\n", "0 ok\n3..8 dead raw.utf8 [invalid UTF-8 at byte 1] K\xf6ln\n8 ok\n"},
      {"a\rb\n", "0 a\rb\n"},
  };
  for (const auto& c : cases) {
    INFO(std::string(c.given));
    CHECK(DecodeEveryWay(Raw(), kLine, c.given) == c.want);
  }
}

TEST_CASE("raw bytes are taken as they are") {
  const Schema bytes{{{"line", Type::Of(TypeKind::kBytes)}}};
  CHECK(DecodeEveryWay(Raw(), bytes, "\xEF\xBB\xBFK\xf6ln\n") == "0 \xEF\xBB\xBFK\xf6ln\n");
}

TEST_CASE("a line beyond the limit is one dead letter, cut, and reading goes on") {
  const std::string dead =
      " dead record.too-long [the record is longer than weir.max-record-bytes (4)] 1234\n";
  CHECK(DecodeEveryWay(Raw(4), kLine, "1234\n12345\n1\n") == "0 1234\n5..11" + dead + "11 1\n");
  CHECK(DecodeEveryWay(Raw(4), kLine, "1234\r\n12345\r\n") == "0 1234\n6..13" + dead);
  CHECK(DecodeEveryWay(Raw(4), kLine, std::string("1234") + std::string(50, 'x')) ==
        "0..54" + dead);
  CHECK(DecodeEveryWay(Raw(4), kLine, std::string("1234") + std::string(50, 'x') + "\nab\n") ==
        "0..55" + dead + "55 ab\n");
}

TEST_CASE("raw: a decoder refuses what it cannot fill") {
  FormatSpec two = Raw();
  two.physical_columns = 2;
  CHECK(!NewRowDecoder(two, FieldsOf(kLine)).has_value());
  CHECK(!NewRowDecoder(Raw(), FieldsOf(Schema{{{"n", Type::Of(TypeKind::kInt)}}})).has_value());
  CHECK(NewRowDecoder(Raw(), {}).has_value());
  CHECK(DecodeEveryWay(Raw(), Schema{}, "a\nb\n") == "0 \n2 \n");
}

TEST_CASE("raw: one value from outside may hold line feeds") {
  Batch b;
  b.Reset(kLine);
  auto d = NewRowDecoder(Raw(), FieldsOf(kLine));
  REQUIRE(d.has_value());
  (*d)->DecodeValue("two\nlines\r\n", 7, b);
  (*d)->DecodeValue("K\xf6ln", 8, b);
  CHECK(Describe(b) == "7 two\nlines\r\n\n8..9 dead raw.utf8 [invalid UTF-8 at byte 1] K\xf6ln\n");
  CHECK(b.end_position == 9);
}

TEST_CASE("regex: named groups become columns, by name") {
  const Schema schema{{{"status", Type::Of(TypeKind::kInt)},
                       {"ip", Type::Of(TypeKind::kString)},
                       {"ts", Type::Timestamp(3)}}};
  const FormatSpec spec = Regex(R"((?P<ip>\S+) (?<ts>\d{4}\S+)?( (?P<status>\w*))?)");
  const struct {
    const char* given;
    const char* want;
  } cases[] = {
      {"10.0.0.1 1970-01-01T00:00:01 200\n", "0 200|10.0.0.1|1000\n"},
      {"10.0.0.1 \r\n", "0 NULL|10.0.0.1|NULL\n"},
      {"10.0.0.1  \n", "0 NULL|10.0.0.1|NULL\n"},
      {"\n10.0.0.1 1970-01-01T00:00:01 200", "0..1 skipped\n1 200|10.0.0.1|1000\n"},
      {"x\n", "0..2 dead regex.no-match [the line does not match regex.pattern] x\n"},
      {"10.0.0.1  ab c\n",
       "0..15 dead regex.no-match [the line does not match regex.pattern] 10.0.0.1  ab c\n"},
      {"a  20x\n", "0..7 dead value [column status: \"20x\" is not an INT] a  20x\n"},
      {"a 1970-02-30T00:00:00 1\n",
       "0..24 dead value [column ts: \"1970-02-30T00:00:00\" is not a TIMESTAMP(3): no such day] "
       "a 1970-02-30T00:00:00 1\n"},
      {"K\xf6ln  1\n", "0..8 dead regex.utf8 [invalid UTF-8 at byte 1] K\xf6ln  1\n"},
  };
  for (const auto& c : cases) {
    INFO(std::string(c.given));
    CHECK(DecodeEveryWay(spec, schema, c.given) == c.want);
  }
  Schema strict = schema;
  strict.fields[0].type = strict.fields[0].type.NotNull();
  CHECK(DecodeEveryWay(spec, strict, "a  \n") ==
        "0..4 dead null [column status: NULL, but the column is NOT NULL] a  \n");
}

TEST_CASE("regex: groups that no column reads change nothing") {
  const Schema schema{{{"b", Type::Of(TypeKind::kString)}}};
  const FormatSpec spec = Regex(R"((?P<a>x(y)?)(?i:z)[(](?P<b>[^]()]+)(\(|(?P<c>[)])))");
  CHECK(DecodeEveryWay(spec, schema, "xyZ(in)\nxz(2(\nxz()\n") ==
        "0 in\n8 2\n14..19 dead regex.no-match [the line does not match regex.pattern] xz()\n");
  CHECK(DecodeEveryWay(spec, Schema{}, "xyZ(in)\n") == "0 \n");
}

TEST_CASE("regex: a pattern that cannot fill the columns is refused") {
  const Schema schema{{{"status", Type::Of(TypeKind::kInt)}}};
  const auto error = [&](const char* pattern) {
    const auto d = NewRowDecoder(Regex(pattern), FieldsOf(schema));
    return d.has_value() ? std::string("none") : d.error().message();
  };
  CHECK(error("(?P<status>.)") == "none");
  CHECK(error("[(?<status>]\\(?<(?<status>x)\\Q(?<status>\\E") == "none");
  CHECK(error("(?P<statu>.)") ==
        "regex.pattern has no group 'status' for the column of this name; did you mean 'statu'?");
  CHECK(error("(") == "regex.pattern: missing ): (");
  CHECK(error("(?<=a)(?P<status>.)").find("regex.pattern: ") == 0);
}

}  // namespace
}  // namespace weir
