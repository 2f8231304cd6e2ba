#include "data/convert.h"

#include <doctest/doctest.h>

#include <string>

#include "data/base64.h"
#include "data/testing/rows.h"
#include "data/utf8.h"

namespace weir {
namespace {

// The value as text, or why there is none.
std::string Convert(const std::string& text, const Type& type, TextRules rules,
                    const SessionZone& zone = {}) {
  Batch b;
  b.Reset(Schema{{{"c", type}}}, 1);
  const ConvertResult r = TextToColumn(text, type, zone, rules, b.mutable_column(0), 0, b.arena());
  CHECK(b.column(0).valid[0] == r.ok());
  return r.ok() ? RowText(b, 0) : DescribeProblem(text, type, r);
}

Type Varchar(uint32_t n) {
  Type t = Type::Of(TypeKind::kString);
  t.length = n;
  return t;
}

TEST_CASE("text into a type: fields and CAST") {
  const Type integer = Type::Of(TypeKind::kInt);
  const Type bytes = Type::Of(TypeKind::kBytes);
  const Type price = Type::Decimal(6, 2).NotNull();
  const struct {
    const char* given;
    Type type;
    const char* field;
    const char* cast;
  } cases[] = {
      {"12", integer, "12", "12"},
      {" 12 ", integer, "12", "12"},
      {"-0", integer, "0", "0"},
      {"+7", integer, "7", "7"},
      {"12x", integer, "\"12x\" is not an INT", "\"12x\" is not an INT"},
      {"", integer, "\"\" is not an INT", "\"\" is not an INT"},
      {"0x10", integer, "\"0x10\" is not an INT", "\"0x10\" is not an INT"},
      {"\xd9\xa3", integer, "\"\xd9\xa3\" is not an INT", "\"\xd9\xa3\" is not an INT"},
      {"1e3", integer, "1000", "\"1e3\" is not an INT"},
      {"1.0", integer, "1", "\"1.0\" is not an INT"},
      {"12.9", integer, "\"12.9\" is not an INT: it has a fraction", "\"12.9\" is not an INT"},
      {"2147483647", integer, "2147483647", "2147483647"},
      {"2147483648", integer, "\"2147483648\" is out of range for INT",
       "\"2147483648\" is out of range for INT"},
      {"-129", Type::Of(TypeKind::kTinyInt), "\"-129\" is out of range for TINYINT",
       "\"-129\" is out of range for TINYINT"},
      {"-32768", Type::Of(TypeKind::kSmallInt), "-32768", "-32768"},
      {"9223372036854775808", Type::Of(TypeKind::kBigInt),
       "\"9223372036854775808\" is out of range for BIGINT",
       "\"9223372036854775808\" is out of range for BIGINT"},
      {"0.1", Type::Of(TypeKind::kFloat), "0.10000000149011612", "0.10000000149011612"},
      {"1e39", Type::Of(TypeKind::kFloat), "\"1e39\" is out of range for FLOAT",
       "\"1e39\" is out of range for FLOAT"},
      {" -1.5e3", Type::Of(TypeKind::kDouble), "-1500.0", "-1500.0"},
      {"NaN", Type::Of(TypeKind::kDouble), "\"NaN\" is not a DOUBLE", "\"NaN\" is not a DOUBLE"},
      {"9999.99", price, "9999.99", "9999.99"},
      {"9999.994", price, "\"9999.994\" has more digits behind the point than DECIMAL(6, 2)",
       "9999.99"},
      {"9999.995", price, "\"9999.995\" has more digits behind the point than DECIMAL(6, 2)",
       "\"9999.995\" is out of range for DECIMAL(6, 2)"},
      {"10000", price, "\"10000\" is out of range for DECIMAL(6, 2)",
       "\"10000\" is out of range for DECIMAL(6, 2)"},
      {"TRUE", Type::Of(TypeKind::kBoolean), "true", "true"},
      {" false", Type::Of(TypeKind::kBoolean), "false", "false"},
      {"1", Type::Of(TypeKind::kBoolean), "\"1\" is not a BOOLEAN", "\"1\" is not a BOOLEAN"},
      {" 1970-01-02 ", Type::Of(TypeKind::kDate), "1", "1"},
      {"1970-02-30", Type::Of(TypeKind::kDate), "\"1970-02-30\" is not a DATE: no such day",
       "\"1970-02-30\" is not a DATE: no such day"},
      {"1970-01-01 00:00:01 ", Type::Timestamp(3), "1000", "1000"},
      {"1970-01-01T02:00:00+02:00", Type::TimestampLtz(3), "0", "0"},
      {" text ", Type::Of(TypeKind::kString), " text ", " text "},
      {"K\xc3\xb6ln", Varchar(4), "K\xc3\xb6ln", "K\xc3\xb6ln"},
      {"Essen", Varchar(4), "\"Essen\" is longer than VARCHAR(4)",
       "\"Essen\" is longer than VARCHAR(4)"},
      {"aGk=", bytes, "hi", "aGk="},
      {"aGk", bytes, "\"aGk\" is not base64, which is how text holds BYTES", "aGk"},
  };
  for (const auto& c : cases) {
    INFO(std::string(c.given));
    CHECK(Convert(c.given, c.type, TextRules::kField) == c.field);
    CHECK(Convert(c.given, c.type, TextRules::kCast) == c.cast);
  }
  CHECK(Convert("1970-01-01 02:00:00", Type::TimestampLtz(3), TextRules::kCast,
                SessionZone{7200000}) == "0");
}

TEST_CASE("values in messages are shortened on a character's edge and always well formed") {
  std::string long_text;
  for (int i = 0; i < 70; ++i) long_text += "\xc3\xb6";
  const std::string shown = ShownInMessage(long_text);
  CHECK(shown == "\"" + long_text.substr(0, 120) + "...\"");
  CHECK(ShownInMessage(std::string(60, 'a')) == "\"" + std::string(60, 'a') + "\"");
  CHECK(ShownInMessage("a\xf6z") == "\"a\xEF\xBF\xBDz\"");
}

TEST_CASE("well-formed UTF-8 is what table 3-7 says") {
  const struct {
    std::string given;
    size_t want;
    const char* problem;
  } cases[] = {
      {"", 0, ""},
      {"plain ascii that is longer than sixteen bytes", 45, ""},
      {"K\xc3\xb6ln \xe4\xb8\xad \xf0\x9f\x98\x80", 14, ""},
      {"\xed\x9f\xbf\xee\x80\x80", 6, ""},
      {"\xf4\x8f\xbf\xbf", 4, ""},
      {"K\xf6ln", 1, "invalid UTF-8"},
      {"a\xc0\xaf", 1, "invalid UTF-8 (overlong)"},
      {"\xc1\xbf", 0, "invalid UTF-8 (overlong)"},
      {"\xe0\x9f\xbf", 0, "invalid UTF-8 (overlong)"},
      {"\xf0\x8f\xbf\xbf", 0, "invalid UTF-8 (overlong)"},
      {"\xed\xa0\x80", 0, "invalid UTF-8 (surrogate)"},
      {"\xf4\x90\x80\x80", 0, "invalid UTF-8 (above U+10FFFF)"},
      {"\xf5\x80\x80\x80", 0, "invalid UTF-8"},
      {"sixteen ascii...\xff", 16, "invalid UTF-8"},
      {"\x80", 0, "invalid UTF-8"},
      {"cut \xe4\xb8", 4, "invalid UTF-8"},
      {"cut \xf0\x9f\x98", 4, "invalid UTF-8"},
      {"cut \xc3", 4, "invalid UTF-8"},
      {"\xe4\xb8z", 0, "invalid UTF-8"},
  };
  for (const auto& c : cases) {
    INFO(c.given);
    CHECK(ValidUtf8Length(c.given) == c.want);
    CHECK(IsWellFormedUtf8(c.given) == (c.want == c.given.size()));
    if (c.want < c.given.size())
      CHECK(Utf8Problem(c.given.substr(c.want)) == std::string(c.problem));
  }
}

TEST_CASE("text of another Unicode encoding is told by its mark or its zeros, a line of it too") {
  using std::string_literals::operator""s;
  struct Case {
    const char* name;
    std::string given;
    const char* want;  // "": nothing to say
  };
  const Case cases[] = {
      {"mark, little", "\xFF\xFE{"s, "UTF-16"},
      {"mark, big", "\xFE\xFF\0{"s, "UTF-16"},
      {"mark of 32 bits, little", "\xFF\xFE\0\0{\0\0\0"s, "UTF-32"},
      {"mark of 32 bits, big", "\0\0\xFE\xFF\0\0\0{"s, "UTF-32"},
      {"no mark, little", "{\0\"\0a\0\r\0"s, "UTF-16"},
      {"no mark, big", "\0{\0\"\0a"s, "UTF-16"},
      {"a later line", "\0{\0\"\0a\0\r\0"s, "UTF-16"},
      {"one character between two line feeds", "\0{\0"s, "UTF-16"},
      {"not all of it ASCII", "K\0\xf6\0l\0n\0-\0A\x4e"s, "UTF-16"},
      {"32 bits, no mark", "{\0\0\0\"\0\0\0"s, "UTF-32"},
      {"32 bits, a later line", "\0\0\0{\0\0\0\"\0\0\0"s, "UTF-32"},
      {"empty", "", ""},
      {"ASCII", "{\"a\":1}", ""},
      {"UTF-8 with its mark", "\xEF\xBB\xBF{}", ""},
      {"Latin-1", "K\xf6ln", ""},
      {"one zero in a text", "{\"a\":\0}"s, ""},
      {"a hole in a file", std::string(300, '\0'), ""},
      {"zeros behind a record", "{\"a\":1}" + std::string(300, '\0'), ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const char* const found = OtherUnicode(c.given);
    CHECK(std::string(found == nullptr ? "" : found) == c.want);
    CHECK(OtherUnicodeHint(c.given).empty() == (c.want[0] == '\0'));
  }
}

TEST_CASE("code points are counted and cut") {
  CHECK(CountCodePoints("") == 0);
  CHECK(CountCodePoints("K\xc3\xb6ln \xe4\xb8\xad \xf0\x9f\x98\x80 and some more text") == 27);
  CHECK(FirstCodePoints("K\xc3\xb6ln", 2) == "K\xc3\xb6");
  CHECK(FirstCodePoints("K\xc3\xb6ln", 4) == "K\xc3\xb6ln");
  CHECK(FirstCodePoints("K\xc3\xb6ln", 9) == "K\xc3\xb6ln");
  CHECK(FirstCodePoints("abc", 0).empty());
}

TEST_CASE("base64 has one text per value") {
  for (const char* text : {"", "aA==", "aGk=", "aGkh", "AP+/"}) {
    const auto bytes = DecodeBase64(text);
    REQUIRE(bytes.has_value());
    std::string back;
    AppendBase64(*bytes, back);
    CHECK(back == text);
  }
  for (const char* text : {"a", "aA", "aA=", "aB==", "aGl=", "a-_=", "aG k=", "====", "aA==aA=="}) {
    CHECK(!DecodeBase64(text).has_value());
  }
}

}  // namespace
}  // namespace weir
