#include "sql/lexer.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/check.h"

namespace weir::sql {
namespace {

std::string Kinds(const std::vector<Token>& tokens) {
  std::string out;
  for (const Token& token : tokens) {
    switch (token.kind) {
      case Token::Kind::kWord:
        out += "w:" + token.upper;
        break;
      case Token::Kind::kQuoted:
        out += "q:" + token.text;
        break;
      case Token::Kind::kString:
        out += "s:" + token.text;
        break;
      case Token::Kind::kNumber:
        out += "n:" + token.text;
        break;
      case Token::Kind::kSymbol:
        out += token.text;
        break;
      case Token::Kind::kEnd:
        return out;
    }
    out += ' ';
  }
  return out;
}

TEST_CASE("text is cut into words, names, texts, numbers and symbols") {
  struct Case {
    const char* name;
    std::string given;
    std::string want;
  };
  for (const Case& c : {
           Case{"keywords have no case", "Select a_1", "w:SELECT w:A_1 "},
           Case{"two quotes in a text are one", "'it''s'", "s:it's "},
           Case{"two backticks in a name are one", "`a``b c`", "q:a`b c "},
           Case{"a text keeps ${} and $", "'${X}$$'", "s:${X}$$ "},
           Case{"a text may span lines", "'a\nb'", "s:a\nb "},
           Case{"numbers", "1 1.5 .5 1. 1e3 1E-3 2.5e+7",
                "n:1 n:1.5 n:.5 n:1. n:1e3 n:1E-3 n:2.5e+7 "},
           Case{"symbols of two characters", "<> != <= >= || => < =", "<> != <= >= || => < = "},
           Case{"line comment", "a -- b 'c\nd", "w:A w:D "},
           Case{"block comment", "a /* b ; \n ' */ c", "w:A w:C "},
           Case{"no minus minus in a text", "'--' /* */", "s:-- "},
           Case{"letters of all scripts make words", "größe", "w:GRößE "},
           Case{"an e that is no exponent", "1 e", "n:1 w:E "},
           Case{"byte order mark", "\xef\xbb\xbfSELECT", "w:SELECT "},
           Case{"nothing", "", ""},
       }) {
    CAPTURE(c.name);
    Diagnostics diagnostics;
    CHECK(Kinds(Lex(c.given, diagnostics)) == c.want);
    CHECK(diagnostics.errors() == 0);
  }
}

TEST_CASE("positions are 1-based and columns count code points") {
  Diagnostics diagnostics;
  const std::vector<Token> tokens = Lex("\xef\xbb\xbf'ü€😀' a\r\n\tb /*\n*/ c", diagnostics);
  REQUIRE(tokens.size() == 5);
  CHECK(tokens[0].at.line == 1);
  CHECK(tokens[0].at.column == 1);
  CHECK(tokens[1].at.column == 7);
  CHECK(tokens[2].at.line == 2);
  CHECK(tokens[2].at.column == 2);
  CHECK(tokens[3].at.line == 3);
  CHECK(tokens[3].at.column == 4);
}

TEST_CASE("what is no token is an error with its place") {
  struct Case {
    const char* name;
    std::string given;
    int line, column;
    std::string message;
  };
  for (const Case& c : {
           Case{"double quotes", "a\n \"b\"", 2, 2,
                "double quotes are not used in this dialect: \"b\""},
           Case{"open text", "a 'b", 1, 3, "this ' is never closed"},
           Case{"open name", "`b", 1, 1, "this ` is never closed"},
           Case{"open comment", "a /* b", 1, 3, "this comment is never closed"},
           Case{"digit first", "12ab", 1, 1, "'12ab' is neither a number nor a name"},
           Case{"stray character", "a # b", 1, 3, "unexpected character '#'"},
           Case{"control character", std::string("a \x01", 3), 1, 3,
                "a control character that has no place in SQL"},
           Case{"NUL", std::string("a \0b", 4), 1, 3,
                "a control character that has no place in SQL"},
           Case{"empty name", "``", 1, 1, "a name cannot be empty"},
           Case{"not UTF-8", "a\nb \xff", 2, 1, "the file is not valid UTF-8"},
       }) {
    CAPTURE(c.name);
    Diagnostics diagnostics;
    const std::vector<Token> tokens = Lex(c.given, diagnostics);
    CHECK(tokens.back().kind == Token::Kind::kEnd);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all()[0].position.line == c.line);
    CHECK(diagnostics.all()[0].position.column == c.column);
    CHECK(diagnostics.all()[0].message == c.message);
  }
}

}  // namespace
}  // namespace weir::sql
