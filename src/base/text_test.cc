#include "base/text.h"

#include <doctest/doctest.h>

namespace weir {
namespace {

TEST_CASE("case is folded for ASCII only") {
  CHECK(EqualsIgnoreCase("Select", "sELECT"));
  CHECK_FALSE(EqualsIgnoreCase("select", "selec"));
  CHECK_FALSE(EqualsIgnoreCase("[", "{"));  // they differ in the same bit as letters do
  CHECK(ToLowerAscii("ABZ[\xc3\x84") == "abz[\xc3\x84");
  CHECK(ToUpperAscii("abz{\xc3\xa4") == "ABZ{\xc3\xa4");
}

TEST_CASE("trimming takes blanks at the ends only") {
  CHECK(TrimAscii(" \t a b\r\n") == "a b");
  CHECK(TrimAscii(" \n ") == "");
  CHECK(TrimAscii("") == "");
}

TEST_CASE("splitting keeps empty parts, so that joining gives the text again") {
  CHECK(Split("a,,b,", ',') == std::vector<std::string_view>{"a", "", "b", ""});
  CHECK(Split("", ',') == std::vector<std::string_view>{""});
}

TEST_CASE("an integer is the whole text or none") {
  CHECK(ParseInt64("-9223372036854775808") == INT64_MIN);
  CHECK(ParseInt64("9223372036854775807") == INT64_MAX);
  for (const char* bad : {"", "-", "+1", " 1", "1 ", "1.0", "0x10", "9223372036854775808"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseInt64(bad).has_value());
  }
}

TEST_CASE("the nearest candidate is one within a third of the word's length") {
  struct Case {
    const char* name;
    std::string_view given;
    std::string_view want;
  };
  const Case cases[] = {
      {"a letter missing", "conector", "connector"},
      {"two letters swapped", "fromat", "format"},
      {"one too many, other case", "FORMATT", "format"},
      {"the same in another case", "Path", "path"},
      {"too short to be guessed", "pa", ""},
      {"too far", "topic", ""},
      {"empty", "", ""},
  };
  const std::string_view candidates[] = {"connector", "format", "path"};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(Nearest(c.given, candidates) == c.want);
  }
}

TEST_CASE("of two candidates as near the first wins") {
  const std::string_view candidates[] = {"abcd", "abce"};
  CHECK(Nearest("abc", candidates) == "abcd");
}

TEST_CASE("a JSON string escapes what must be escaped and repairs bad UTF-8") {
  struct Case {
    const char* name;
    std::string_view given;
    std::string_view want;
  };
  const Case cases[] = {
      {"plain", "a/b", "\"a/b\""},
      {"quote and backslash", "\"\\", "\"\\\"\\\\\""},
      {"named controls", "\n\r\t", "\"\\n\\r\\t\""},
      {"other controls", std::string_view("\0\x1f", 2), "\"\\u0000\\u001f\""},
      {"UTF-8 as it is", "\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\""},
      {"one replacement for each cut sequence", "\xe2\x82|\xf0\x9f",
       "\"\xef\xbf\xbd|\xef\xbf\xbd\""},
      {"a stray continuation", "\x80", "\"\xef\xbf\xbd\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(JsonQuote(c.given) == c.want);
  }
}

TEST_CASE("UTF-8 is valid as Unicode's table 3-7 says") {
  struct Case {
    const char* name;
    std::string_view given;
    bool want;
  };
  const Case cases[] = {
      {"empty", "", true},
      {"ASCII with NUL", std::string_view("a\0", 2), true},
      {"first of two bytes", "\xc2\x80", true},
      {"overlong NUL", "\xc0\x80", false},
      {"overlong of three", "\xe0\x9f\xbf", false},
      {"smallest of three", "\xe0\xa0\x80", true},
      {"last before the surrogates", "\xed\x9f\xbf", true},
      {"a surrogate", "\xed\xa0\x80", false},
      {"overlong of four", "\xf0\x8f\xbf\xbf", false},
      {"U+10FFFF", "\xf4\x8f\xbf\xbf", true},
      {"above U+10FFFF", "\xf4\x90\x80\x80", false},
      {"lead byte F5", "\xf5\x80\x80\x80", false},
      {"cut off", "\xe2\x82", false},
      {"lead where a continuation belongs", "\xe2\x82\xe2", false},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(IsValidUtf8(c.given) == c.want);
  }
}

TEST_CASE("hex reads both cases and refuses the rest") {
  CHECK(HexEncode(std::string_view("\x00\xff\x1a", 3)) == "00ff1a");
  CHECK(HexDecode("00Ff1A") == std::string("\x00\xff\x1a", 3));
  CHECK(HexDecode("") == "");
  CHECK_FALSE(HexDecode("0").has_value());
  CHECK_FALSE(HexDecode("0g").has_value());
}

}  // namespace
}  // namespace weir
