#include <doctest/doctest.h>

#include "operators/like.h"
#include "operators/testing/evaluate.h"

namespace weir::operators {
namespace {

using plan::Fn;

const Type kBool = Type::Of(TypeKind::kBoolean);
const Type kInt = Type::Of(TypeKind::kInt);
const Type kText = Type::Of(TypeKind::kString);
const Type kBytes = Type::Of(TypeKind::kBytes);

// Arguments: texts are STRING, those with a leading '=' INT.
struct Case {
  Fn fn;
  std::vector<std::string> args;
  const char* want;
};

std::vector<Argument> ArgumentsOf(const std::vector<std::string>& texts) {
  std::vector<Argument> args;
  for (const std::string& t : texts) {
    args.push_back(t.starts_with("=") ? Argument{kInt, t.substr(1)} : Argument{kText, t});
  }
  return args;
}

void Check(const Type& type, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (bool literals : {false, true}) {
      std::string call = plan::FnName(c.fn);
      for (const std::string& a : c.args) call += " [" + a + "]";
      CAPTURE(call);
      CAPTURE(literals);
      const std::string got = Evaluate(c.fn, type, ArgumentsOf(c.args), literals);
      const std::string want = c.want;
      if (want.starts_with("!")) {
        CAPTURE(got);
        CHECK(got.starts_with("!"));
        CHECK(got.find(want.substr(1)) != std::string::npos);
      } else {
        CHECK(got == want);
      }
    }
  }
}

TEST_CASE("SUBSTRING counts from 1, takes 0 as 1, and a negative start from the end") {
  Check(kText, {
                   {Fn::kSubstring, {"weirstream", "=0"}, "weirstream"},
                   {Fn::kSubstring, {"weirstream", "=0", "=3"}, "wei"},
                   {Fn::kSubstring, {"weirstream", "=-3"}, "eam"},
                   {Fn::kSubstring, {"weirstream", "=-3", "=2"}, "ea"},
                   {Fn::kSubstring, {"weirstream", "=5", "=100"}, "stream"},
                   {Fn::kSubstring, {"weirstream", "=11", "=1"}, ""},
                   {Fn::kSubstring, {"ab", "=-3"}, ""},
                   {Fn::kSubstring, {"ab", "=-3", "=2"}, ""},
                   {Fn::kSubstring, {"ab", "=5", "=100"}, ""},
                   {Fn::kSubstring, {"", "=0"}, ""},
                   {Fn::kSubstring, {"NULL", "=0"}, "NULL"},
                   {Fn::kSubstring, {"ab", "=1", "=-1"}, "!negative length"},
                   {Fn::kSubstring,
                    {"a\xf0\x9f\x98\x80"
                     "b",
                     "=2", "=1"},
                    "\xf0\x9f\x98\x80"},
                   {Fn::kSubstring, {"\xc3\xa4\xc3\xb6\xc3\xbc", "=-2", "=1"}, "\xc3\xb6"},
                   {Fn::kSubstring, {"\xc3\xa4\xc3\xb6", "=4"}, ""},
               });
}

TEST_CASE("cutting, padding, trimming and joining count code points") {
  Check(kText, {
                   {Fn::kLeft,
                    {"\xc3\xa4"
                     "bc",
                     "=2"},
                    "\xc3\xa4"
                    "b"},
                   {Fn::kLeft, {"abc", "=-1"}, ""},
                   {Fn::kRight, {"ab\xc3\xa4", "=2"}, "b\xc3\xa4"},
                   {Fn::kRight, {"abc", "=9"}, "abc"},
                   {Fn::kLpad, {"hi", "=5", "xy"}, "xyxhi"},
                   {Fn::kRpad, {"hi", "=5", "xy"}, "hixyx"},
                   {Fn::kLpad, {"hello", "=2", "xy"}, "he"},
                   {Fn::kLpad, {"hi", "=-1", "x"}, "NULL"},
                   {Fn::kLpad, {"hi", "=5", ""}, "NULL"},
                   {Fn::kLpad, {"hi", "=0", "x"}, ""},
                   {Fn::kRpad, {"hi", "=100000000", "x"}, "!16 MiB"},
                   {Fn::kRepeat, {"ab", "=3"}, "ababab"},
                   {Fn::kRepeat, {"ab", "=0"}, ""},
                   {Fn::kRepeat, {"ab", "=2147483647"}, "!16 MiB"},
                   {Fn::kReverse,
                    {"a\xc3\xa4\xf0\x9f\x98\x80"},
                    "\xf0\x9f\x98\x80\xc3\xa4"
                    "a"},
                   {Fn::kTrimBoth, {"  a b ", " "}, "a b"},
                   {Fn::kTrimLeading, {"xxaxx", "x"}, "axx"},
                   {Fn::kTrimTrailing, {"xxaxx", "x"}, "xxa"},
                   {Fn::kTrimBoth, {"xyaYx", "xY"}, "ya"},
                   {Fn::kTrimBoth,
                    {"\xc3\xa4"
                     "a\xc3\xa4",
                     "\xc3\xa4"},
                    "a"},
                   {Fn::kTrimBoth, {"xx", "x"}, ""},
                   {Fn::kConcat, {"a", "b", "c"}, "abc"},
                   {Fn::kConcat, {"a", "NULL"}, "NULL"},
                   {Fn::kConcatWs, {"-", "a", "NULL", "b"}, "a-b"},
                   {Fn::kConcatWs, {"-", "NULL"}, ""},
                   {Fn::kConcatWs, {"NULL", "a"}, "NULL"},
                   {Fn::kReplace, {"abcabc", "bc", "x"}, "axax"},
                   {Fn::kReplace, {"abc", "", "-"}, "-a-b-c-"},
                   {Fn::kReplace, {"abc", "z", "-"}, "abc"},
                   {Fn::kReplace, {"aaa", "a", ""}, ""},
                   {Fn::kSplitIndex, {"a,b,,c", ",", "=2"}, ""},
                   {Fn::kSplitIndex, {"a,b,,c", ",", "=3"}, "c"},
                   {Fn::kSplitIndex, {"a,b,,c", ",", "=4"}, "NULL"},
                   {Fn::kSplitIndex, {"a,b", ",", "=-1"}, "NULL"},
                   {Fn::kSplitIndex, {"a<>b<>", "<>", "=2"}, ""},
                   {Fn::kSplitIndex, {"", ",", "=0"}, "NULL"},
                   {Fn::kSplitIndex, {"a b", "", "=1"}, "b"},
               });
}

TEST_CASE("case maps one code point to one, without a locale") {
  Check(kText, {
                   {Fn::kUpper,
                    {"stra\xc3\x9f"
                     "e \xc3\xa4 i"},
                    "STRA\xc3\x9f"
                    "E \xc3\x84 I"},
                   {Fn::kLower,
                    {"\xc3\x84"
                     "B\xce\xa3"},
                    "\xc3\xa4"
                    "b\xcf\x83"},
                   {Fn::kInitcap, {"hello wORLD-x 2nd"}, "Hello World-X 2nd"},
                   {Fn::kUpper, {"NULL"}, "NULL"},
               });
}

TEST_CASE("lengths and positions") {
  Check(kInt, {
                  {Fn::kCharLength, {"a\xf0\x9f\x98\x80\xc3\xa4"}, "3"},
                  {Fn::kOctetLength, {"a\xf0\x9f\x98\x80\xc3\xa4"}, "7"},
                  {Fn::kPosition,
                   {"b",
                    "\xc3\xa4"
                    "b"},
                   "2"},
                  {Fn::kPosition, {"z", "ab"}, "0"},
                  {Fn::kPosition, {"", "ab"}, "1"},
              });
  Check(kBool, {
                   {Fn::kStartsWith, {"abc", "ab"}, "true"},
                   {Fn::kStartsWith, {"abc", "b"}, "false"},
                   {Fn::kEndsWith, {"abc", "bc"}, "true"},
                   {Fn::kEndsWith, {"abc", ""}, "true"},
               });
}

TEST_CASE("LIKE: any character is any character, the escape makes the next one literal") {
  const char* const texts[] = {"a_b",
                               "aXb",
                               "100%",
                               "50\\%",
                               "",
                               "a\nb",
                               "NULL",
                               "a\xf0\x9f\x98\x80"
                               "b"};
  struct Column {
    const char* pattern;
    const char* escape;
    const char* want[8];
  };
  const Column columns[] = {
      {"a#_b", "#", {"true", "false", "false", "false", "false", "false", "NULL", "false"}},
      {"a_b", "\\", {"true", "true", "false", "false", "false", "true", "NULL", "true"}},
      {"%#%", "#", {"false", "false", "true", "true", "false", "false", "NULL", "false"}},
      {"%", "\\", {"true", "true", "true", "true", "true", "true", "NULL", "true"}},
      {"a\\_b", "\\", {"true", "false", "false", "false", "false", "false", "NULL", "false"}},
      {"%\\%", "\\", {"false", "false", "true", "true", "false", "false", "NULL", "false"}},
  };
  for (const Column& column : columns) {
    for (size_t i = 0; i < 8; ++i) {
      Check(kBool, {{Fn::kLike, {texts[i], column.pattern, column.escape}, column.want[i]}});
    }
  }
  Check(kBool, {
                   {Fn::kLike, {"abcabc", "%bc", ""}, "true"},
                   {Fn::kLike, {"abc", "abc%abc", ""}, "false"},  // the ends may not overlap
                   {Fn::kLike, {"abcabc", "abc%abc", ""}, "true"},
                   {Fn::kLike, {"aXbYbc", "a%b_", ""}, "true"},
                   {Fn::kLike, {"ab", "a%_b", ""}, "false"},
                   {Fn::kLike, {"xayb", "%a_b%", ""}, "true"},
                   {Fn::kLike, {"aaab", "%a%a%b", ""}, "true"},
                   {Fn::kLike, {"ab", "%a%a%b", ""}, "false"},
                   {Fn::kLike, {"\xc3\xa4", "_", ""}, "true"},
                   {Fn::kLike, {"\xc3\xa4", "__", ""}, "false"},
                   {Fn::kLike, {"b\xc3\xa4", "%_", ""}, "true"},
                   {Fn::kLike, {"", "_", ""}, "false"},
                   {Fn::kLike, {"x", "", ""}, "false"},
                   {Fn::kLike, {"\\", "\\", ""}, "true"},  // no escape: a backslash is itself
                   {Fn::kLike, {"x", "ab#", "#"}, "!escape"},
                   {Fn::kLike, {"x", "a#b", "#"}, "!escape"},
                   {Fn::kLike, {"x", "a", "##"}, "!escape"},
               });
}

// The naive matcher: an oracle for the compiled one.
bool NaiveLike(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%') {
    for (size_t i = 0; i <= text.size(); ++i) {
      if (NaiveLike(text.substr(i), pattern.substr(1))) return true;
    }
    return false;
  }
  if (text.empty() || (pattern[0] != '_' && pattern[0] != text[0])) return false;
  return NaiveLike(text.substr(1), pattern.substr(1));
}

TEST_CASE("LIKE equals a naive matcher over all short patterns and texts") {
  std::vector<std::string> patterns{""}, texts{""};
  for (size_t i = 0; i < patterns.size() && patterns[i].size() < 4; ++i) {
    for (char c : {'a', 'b', '_', '%'}) patterns.push_back(patterns[i] + c);
  }
  for (size_t i = 0; i < texts.size() && texts[i].size() < 5; ++i) {
    for (char c : {'a', 'b'}) texts.push_back(texts[i] + c);
  }
  for (const std::string& p : patterns) {
    const Result<LikePattern> like = LikePattern::Compile(p, "");
    REQUIRE(like.has_value());
    for (const std::string& t : texts) {
      if (like->Matches(t) != NaiveLike(t, p)) {
        CAPTURE(p);
        CAPTURE(t);
        CHECK(like->Matches(t) == NaiveLike(t, p));
      }
    }
  }
}

TEST_CASE("regular expressions are partial matches, in linear time, with literal replacements") {
  Check(kBool, {
                   {Fn::kRegexp, {"hello", "l+"}, "true"},
                   {Fn::kRegexp, {"hello", "^l"}, "false"},
                   {Fn::kRegexp, {"hello", ""}, "false"},
                   {Fn::kRegexp, {"\xc3\xa4", "^.$"}, "true"},
                   {Fn::kRegexp, {"x", "("}, "!regular expression"},
               });
  Check(kText, {
                   {Fn::kRegexpExtract, {"foothebar", "foo(.*?)(bar)", "=2"}, "bar"},
                   {Fn::kRegexpExtract, {"foothebar", "foo(.*?)(bar)", "=0"}, "foothebar"},
                   {Fn::kRegexpExtract, {"foothebar", "foo(.*?)(bar)"}, "foothebar"},
                   {Fn::kRegexpExtract, {"foothebar", "foo(.*?)(bar)", "=3"}, "NULL"},
                   {Fn::kRegexpExtract, {"foothebar", "x", "=0"}, "NULL"},
                   {Fn::kRegexpExtract, {"a", "(b)?a", "=1"}, "NULL"},
                   {Fn::kRegexpExtract, {"a", "(b*)a", "=1"}, ""},
                   {Fn::kRegexpReplace, {"foobar", "oo|ar", "$1\\1"}, "f$1\\1b$1\\1"},
                   {Fn::kRegexpReplace, {"baaac", "a*", "X"}, "XbXXcX"},
                   {Fn::kRegexpReplace, {"\xc3\xa4", "x*", "-"}, "-\xc3\xa4-"},
                   {Fn::kRegexpReplace, {"aaa", "^a", ""}, "aa"},
                   {Fn::kRegexpReplace, {"abc", "z", "-"}, "abc"},
                   {Fn::kRegexpReplace, {"x", "[", ""}, "!regular expression"},
               });
}

TEST_CASE("digests and base64") {
  Check(kText,
        {
            {Fn::kMd5, {"abc"}, "900150983cd24fb0d6963f7d28e17f72"},
            {Fn::kSha256, {""}, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
            {Fn::kToBase64, {"hello"}, "aGVsbG8="},
            {Fn::kFromBase64, {"aGVsbG8="}, "hello"},
            {Fn::kFromBase64, {"aGVsbG8"}, "!base64"},
            {Fn::kFromBase64, {"/w=="}, "!UTF-8"},
        });
  CHECK(Evaluate(Fn::kFromBase64, kBytes, {{kText, "/w=="}}, false) == "\xff");
}

}  // namespace
}  // namespace weir::operators
