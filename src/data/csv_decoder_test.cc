#include "data/csv_decoder.h"

#include <doctest/doctest.h>

#include <string>

#include "data/testing/decode.h"

namespace weir {
namespace {

const Schema kNotes{{{"id", Type::Of(TypeKind::kInt)},
                     {"note", Type::Of(TypeKind::kString)},
                     {"v", Type::Of(TypeKind::kDouble)}}};

FormatSpec Csv(uint64_t max = 1 << 20) {
  FormatSpec s;
  s.kind = FormatSpec::Kind::kCsv;
  s.physical_columns = 3;
  s.max_record_bytes = max;
  return s;
}

FormatSpec Raw(uint64_t max) {
  FormatSpec s = Csv(max);
  s.kind = FormatSpec::Kind::kRaw;
  s.physical_columns = 1;
  return s;
}
const Schema kLine{{{"line", Type::Of(TypeKind::kString)}}};

std::string Read(std::string_view input) { return DecodeEveryWay(Csv(), kNotes, input); }

TEST_CASE("records of RFC 4180") {
  const struct {
    std::string_view given;
    const char* want;
  } cases[] = {
      {"", ""},
      {"1,a,2.5\n", "0 1|a|2.5\n"},
      {"1,a,2.5", "0 1|a|2.5\n"},
      {"1,a,2.5\r\n2,b,3\r\n", "0 1|a|2.5\n9 2|b|3.0\n"},
      {"1,\"line one\nline two\",10\r\n2,x,0\n", "0 1|line one\nline two|10.0\n26 2|x|0.0\n"},
      {"1,\"he said \"\"hi\"\", ok\",20\n", "0 1|he said \"hi\", ok|20.0\n"},
      {"1,\"ends with CRLF\r\n\",30\n", "0 1|ends with CRLF\r\n|30.0\n"},
      {"\"1\",\"\",\"2\"\r\n", "0 1||2.0\n"},
      {"1,\"\"\"\",2\n", "0 1|\"|2.0\n"},
      {"1,5\" pipe,2\n", "0 1|5\" pipe|2.0\n"},
      {" 1 , b , 2 \n", "0 1| b |2.0\n"},
      {",,\n", "0 NULL||NULL\n"},
      {"1,a,", "0 1|a|NULL\n"},
      {"1,a,\"2\"", "0 1|a|2.0\n"},
      {"\n1,a,2\n\r\n", "0..1 skipped\n1 1|a|2.0\n7..9 skipped\n"},
      {"\xEF\xBB\xBF"
       "1,a,2\r\n",
       "0 1|a|2.0\n"},
      {"\xEF\xBB\xBF\"1\",a,2\r\n", "0 1|a|2.0\n"},
      {"\xEF\xBB\xBF", ""},
      {"1,a\rb,2\n", "0 1|a\rb|2.0\n"},
      {"1e1,a,1e1\n", "0 10|a|10.0\n"},
  };
  for (const auto& c : cases) {
    INFO(c.given);
    CHECK(Read(c.given) == c.want);
  }
}

TEST_CASE("a bad record is one dead letter and the next line is read") {
  const struct {
    std::string_view given;
    const char* want;
  } cases[] = {
      {"1,a\n2,b,3\n", "0..4 dead csv.fields [2 fields, expected 3] 1,a\n4 2|b|3.0\n"},
      {"1,a,2,3\r\n2,b,3\n", "0..9 dead csv.fields [4 fields, expected 3] 1,a,2,3\n9 2|b|3.0\n"},
      {"x\n", "0..2 dead csv.fields [1 field, expected 3] x\n"},
      {"1x,a,2\n2,b,3\n", "0..7 dead value [column id: \"1x\" is not an INT] 1x,a,2\n7 2|b|3.0\n"},
      {"\"\",a,2\n", "0..7 dead value [column id: \"\" is not an INT] \"\",a,2\n"},
      {"1.5,a,2\n",
       "0..8 dead value [column id: \"1.5\" is not an INT: it has a fraction] 1.5,a,2\n"},
      {"1,K\xf6ln,2\n2,b,3\n",
       "0..9 dead csv.utf8 [invalid UTF-8 at byte 3] 1,K\xf6ln,2\n9 2|b|3.0\n"},
      {"1,\"a\"b,2\n2,b,3\n",
       "0..9 dead csv.quote [text behind a closing quote at byte 5] 1,\"a\"b,2\n9 2|b|3.0\n"},
      {"1,\"a,2\n2,b,3\n",
       "0..7 dead csv.quote [a quote is not closed before the end of the input] 1,\"a,2\n"
       "7 2|b|3.0\n"},
      {"1,\"a,2\r\n2,b,3\n3,\"c\",4",
       "0..8 dead csv.quote [text behind a closing quote at byte 17] 1,\"a,2\n"
       "8 2|b|3.0\n14 3|c|4.0\n"},
      {"1,\"", "0..3 dead csv.quote [a quote is not closed before the end of the input] 1,\"\n"},
  };
  for (const auto& c : cases) {
    INFO(c.given);
    CHECK(Read(c.given) == c.want);
  }
}

TEST_CASE("a record beyond the limit: its first line is the dead letter") {
  const std::string dead =
      "dead record.too-long [the record is longer than weir.max-record-bytes (12)] ";
  const struct {
    std::string given;
    std::string want;
  } cases[] = {
      {"1,12345678,9\n", "0 1|12345678|9.0\n"},
      {"1,12345678,9\r\n", "0 1|12345678|9.0\n"},
      {"1,123456789,9\n2,b,3\n", "0..14 " + dead + "1,123456789,\n14 2|b|3.0\n"},
      {"1,\"234567\",9\n", "0 1|234567|9.0\n"},
      {"1,\"2345678\",9\n2,b,3\n", "0..14 " + dead + "1,\"2345678\",\n14 2|b|3.0\n"},
      {"1,\"2\n2,b,3\n3,c,4\n4,d,5\n",
       "0..5 " + dead + "1,\"2\n5 2|b|3.0\n11 3|c|4.0\n17 4|d|5.0\n"},
      {"1,\"" + std::string(40, 'x') + "\n2,b,3\n",
       "0..44 " + dead + "1,\"xxxxxxxxx\n44 2|b|3.0\n"},
      {std::string(40, 'x'), "0..40 " + dead + "xxxxxxxxxxxx\n"},
  };
  for (const auto& c : cases) {
    INFO(c.given);
    CHECK(DecodeEveryWay(Csv(12), kNotes, c.given) == c.want);
  }
}

TEST_CASE("NULL: empty unquoted fields of other types, and the literal") {
  FormatSpec spec = Csv();
  spec.csv.has_null_literal = true;
  CHECK(DecodeEveryWay(spec, kNotes, "1,,\n2,\"\",\n") == "0 1|NULL|NULL\n4 2||NULL\n");
  spec.csv.null_literal = "n/a";
  CHECK(DecodeEveryWay(spec, kNotes, "1,n/a,n/a\n2,\"n/a\",\n,,\n") ==
        "0 1|NULL|NULL\n10 2|n/a|NULL\n19 NULL||NULL\n");
  Schema strict = kNotes;
  strict.fields[0].type = strict.fields[0].type.NotNull();
  CHECK(DecodeEveryWay(Csv(), strict, ",a,1\n") ==
        "0..5 dead null [column id: NULL, but the column is NOT NULL] ,a,1\n");
}

TEST_CASE("options: delimiter, quote, escape, comments") {
  FormatSpec spec = Csv();
  spec.csv.delimiter = '\t';
  spec.csv.quote = '\'';
  CHECK(DecodeEveryWay(spec, kNotes, "1\t'a\t''b\"'\t2\n") == "0 1|a\t'b\"|2.0\n");
  spec = Csv();
  spec.csv.quote = 0;
  CHECK(DecodeEveryWay(spec, kNotes, "1,\"a\",2\n") == "0 1|\"a\"|2.0\n");
  spec = Csv();
  spec.csv.escape = '\\';
  CHECK(DecodeEveryWay(spec, kNotes, "1,\"a\\\"b\\\\\\n\",2\n2,x\\,y,3\n") ==
        "0 1|a\"b\\\n|2.0\n15 2|x,y|3.0\n");
  CHECK(DecodeEveryWay(spec, kNotes, "1,a,2\\") ==
        "0..6 dead value [column v: \"2\\\" is not a DOUBLE] 1,a,2\\\n");
  spec = Csv();
  spec.csv.allow_comments = true;
  CHECK(DecodeEveryWay(spec, kNotes, "# it's a \"comment\n1,#a,2\n#end") ==
        "0..18 skipped\n18 1|#a|2.0\n25..29 skipped\n");
}

TEST_CASE("a header maps by name; the table may read some of its columns in another order") {
  FormatSpec spec = Csv();
  spec.csv.header = true;
  CHECK(DecodeEveryWay(spec, kNotes,
                       "\xEF\xBB\xBFv,\"no\"\"x\",note,id\r\n2.5,skipped,\"a\nb\",1\r\n") ==
        "22 1|a\nb|2.5\n");
  CHECK(DecodeEveryWay(spec, kNotes, "id,note,v\n1,a\n") ==
        "10..14 dead csv.fields [2 fields, expected 3] 1,a\n");
  CHECK(DecodeEveryWay(spec, kNotes, "id,note,v") == "");
  CHECK(DecodeEveryWay(spec, kNotes, "") == "");
  CHECK(DecodeEveryWay(spec, kNotes, "id,notes,v\n1,a,2\n") ==
        "the CSV header has no column 'note'; did you mean 'notes'?");
  CHECK(DecodeEveryWay(spec, kNotes, "id,note,v,id\n") == "the CSV header has column 'id' twice");
  CHECK(DecodeEveryWay(spec, kNotes, "id,\"note,v\n") == "the CSV header is not a record");
}

TEST_CASE("header: more bytes are asked for until the record is whole") {
  FormatSpec spec = Csv();
  spec.csv.header = true;
  auto d = NewRowDecoder(spec, FieldsOf(kNotes));
  REQUIRE(d.has_value());
  CHECK((*d)->BeginPartition("id,note", false).error().code() == Code::kUnavailable);
  CHECK((*d)->BeginPartition("id,note,v\n1,", false).value() == 10);
  // After a restart in the middle of the file.
  Batch b;
  b.Reset(kNotes);
  std::string block = "7,x,8\n" + std::string(kDecodePadding, '\0');
  (*d)->Decode(std::string_view(block).substr(0, 6), 1000, true, 10, b);
  CHECK(Describe(b) == "1000 7|x|8.0\n");
}

TEST_CASE("one record that is the whole value") {
  auto d = NewRowDecoder(Csv(), FieldsOf(kNotes));
  REQUIRE(d.has_value());
  Batch b;
  b.Reset(kNotes);
  (*d)->DecodeValue("1,\"a\nb\",2", 4, b);
  (*d)->DecodeValue("2,b,3\r\n", 5, b);
  (*d)->DecodeValue("", 6, b);
  (*d)->DecodeValue("1,a,2\n2,b,3", 7, b);
  (*d)->DecodeValue("1,\"a", 8, b);
  (*d)->DecodeValue("x,a,2", 9, b);
  (*d)->DecodeValue("3,c,4", 10, b);
  CHECK(Describe(b) ==
        "4 1|a\nb|2.0\n5 2|b|3.0\n6..7 skipped\n"
        "7..8 dead csv.trailing [the value holds more than one record] 1,a,2\n2,b,3\n"
        "8..9 dead csv.quote [a quote is not closed before the end of the value] 1,\"a\n"
        "9..10 dead value [column id: \"x\" is not an INT] x,a,2\n10 3|c|4.0\n");
  auto small = NewRowDecoder(Csv(4), FieldsOf(kNotes));
  b.Reset(kNotes);
  (*small)->DecodeValue("1,a,2", 0, b);
  CHECK(Describe(b) ==
        "0..1 dead record.too-long [the record is longer than weir.max-record-bytes (4)] 1,a,\n");
}

TEST_CASE("random records: the outcome depends on the bytes alone, not on blocks and batches") {
  FormatSpec spec = Csv(9);
  spec.csv.escape = '\\';
  spec.csv.allow_comments = true;
  uint64_t state = 42;
  const auto next = [&state](uint64_t n) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (state >> 33) % n;
  };
  for (int i = 0; i < 3000; ++i) {
    std::string input;
    for (uint64_t n = next(40); n > 0; --n) input += "1,,,\"\"\n\r\\#a\xf6"[next(13)];
    INFO(input);
    const std::string got = DecodeEveryWay(spec, kNotes, input);
    CHECK((got.starts_with("blocks of") ? got : "") == "");
    CHECK(!DecodeEveryWay(Raw(9), kLine, input).starts_with("blocks of"));
  }
}

TEST_CASE("options that contradict each other are refused") {
  FormatSpec spec = Csv();
  spec.csv.delimiter = '"';
  CHECK(!NewRowDecoder(spec, FieldsOf(kNotes)).has_value());
  spec.csv.delimiter = '\n';
  CHECK(!NewRowDecoder(spec, FieldsOf(kNotes)).has_value());
  spec = Csv();
  spec.physical_columns = 2;
  CHECK(!NewRowDecoder(spec, FieldsOf(kNotes)).has_value());
}

}  // namespace
}  // namespace weir
