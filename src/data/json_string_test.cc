#include "data/json_string.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "data/utf8.h"

namespace weir::json {
namespace {

struct Outcome {
  JsonError error = JsonError::kNone;
  int at = 0;  // of the failure
  std::string value;
  bool operator==(const Outcome&) const = default;
};

// Reads `text` (without the opening quote) both ways, which must agree.
Outcome Read(const std::string& text) {
  const std::string padded = text + "\n" + std::string(64, '"');
  Arena arena;
  StringSink sink;
  sink.Attach(arena);
  Outcome read;
  std::string_view value;
  Failure failure, skip_failure;
  const char* end = ReadString(padded.data(), sink, value, failure);
  const char* skip_end = SkipString(padded.data(), skip_failure);
  CHECK(end == skip_end);
  CHECK(failure.error == skip_failure.error);
  CHECK(failure.at == skip_failure.at);
  if (end == nullptr) {
    read.error = failure.error;
    read.at = static_cast<int>(failure.at - padded.data());
  } else {
    read.value = value;
    std::string unescaped;
    Unescape({padded.data(), static_cast<size_t>(end - padded.data()) - 1}, unescaped);
    CHECK(unescaped == value);
  }
  sink.Detach();
  return read;
}

TEST_CASE("a string is its text, escapes decoded") {
  struct Case {
    const char* name;
    std::string text, want;
  };
  const Case cases[] = {
      {"empty", "\"", ""},
      {"plain", "abc\"", "abc"},
      {"16 bytes", "0123456789abcdef\"", "0123456789abcdef"},
      {"each letter escape", R"(\"\\\/\b\f\n\r\t")", "\"\\/\b\f\n\r\t"},
      {"one, two and three bytes", R"(\u0041\u00e9\u20AC")", "A\xC3\xA9\xE2\x82\xAC"},
      {"a pair", R"(\uD83D\uDE00")", "\xF0\x9F\x98\x80"},
      {"NUL by escape", R"(a\u0000b")", std::string("a\0b", 3)},
      {"non-ASCII text", "K\xC3\xB6ln \xE6\xB5\x8F\xE8\xA7\x88 \xF0\x9F\x98\x80\"",
       "K\xC3\xB6ln \xE6\xB5\x8F\xE8\xA7\x88 \xF0\x9F\x98\x80"},
      {"ends of the sequences",
       "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F"
       "\xBF\xBF\"",
       "\xC2\x80\xDF\xBF\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\xF0\x90\x80\x80\xF4\x8F"
       "\xBF\xBF"},
      {"DEL is no control character here", "\x7F\"", "\x7F"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    // At each place of the 16-byte steps.
    for (size_t shift = 0; shift < 40; ++shift) {
      const std::string front(shift, 'x');
      CHECK(Read(front + c.text) == Outcome{JsonError::kNone, 0, front + c.want});
    }
  }
}

TEST_CASE("what is no string is refused at its byte") {
  struct Case {
    const char* name;
    std::string text;
    JsonError error;
    int at;
  };
  const Case cases[] = {
      {"no end", "abc", JsonError::kUnterminatedString, 3},
      {"NUL", std::string("a\0b\"", 4), JsonError::kControlInString, 1},
      {"tab", "a\tb\"", JsonError::kControlInString, 1},
      {"unit separator", "a\x1F\"", JsonError::kControlInString, 1},
      {"unknown escape", "a\\x\"", JsonError::kEscape, 1},
      {"capital escape", "\\N\"", JsonError::kEscape, 0},
      {"escape at the end", "a\\", JsonError::kEscape, 1},
      {"short hex", "\\u12\"", JsonError::kEscape, 0},
      {"no hex", "\\u12g4\"", JsonError::kEscape, 0},
      {"lone high", "\\uD800\"", JsonError::kSurrogate, 0},
      {"high and letter", "\\uD800\\u0041\"", JsonError::kSurrogate, 0},
      {"high and short", "\\uD800\\u00\"", JsonError::kSurrogate, 0},
      {"lone low", "\\uDC00\"", JsonError::kSurrogate, 0},
      {"two highs", "\\uD800\\uD800\"", JsonError::kSurrogate, 0},
      {"continuation alone", "\x80\"", JsonError::kUtf8, 0},
      {"overlong of two", "\xC0\xAF\"", JsonError::kUtf8, 0},
      {"overlong C1", "\xC1\xBF\"", JsonError::kUtf8, 0},
      {"overlong of three", "\xE0\x9F\xBF\"", JsonError::kUtf8, 0},
      {"surrogate in bytes", "\xED\xA0\x80\"", JsonError::kUtf8, 0},
      {"overlong of four", "\xF0\x8F\xBF\xBF\"", JsonError::kUtf8, 0},
      {"beyond U+10FFFF", "\xF4\x90\x80\x80\"", JsonError::kUtf8, 0},
      {"F5", "\xF5\x80\x80\x80\"", JsonError::kUtf8, 0},
      {"FF", "\xFF\"", JsonError::kUtf8, 0},
      {"cut at the quote", "a\xE2\x82\"", JsonError::kUtf8, 1},
      {"cut at the row's end", "a\xF0\x9F\x98", JsonError::kUtf8, 1},
      {"good, then bad", "\xC3\xA9\xC3\"", JsonError::kUtf8, 2},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    for (int shift = 0; shift < 40; ++shift) {
      CHECK(Read(std::string(static_cast<size_t>(shift), 'x') + c.text) ==
            Outcome{c.error, c.at + shift, ""});
    }
  }
}

TEST_CASE("sequences of UTF-8 are those of the general check, whatever stands behind") {
  for (int first = 0x80; first < 0x100; ++first) {
    for (int second = 0; second < 0x100; ++second) {
      for (const int third : {0x0A, 0x22, 0x7F, 0x80, 0xBF, 0xC0}) {
        for (const int fourth : {0x0A, 0x22, 0x7F, 0x80, 0xBF, 0xC0}) {
          const char text[4] = {static_cast<char>(first), static_cast<char>(second),
                                static_cast<char>(third), static_cast<char>(fourth)};
          // The first character alone: the shortest prefix that is well formed.
          int want = 0;
          for (int n = 2; n <= 4 && want == 0; ++n) {
            if (IsWellFormedUtf8({text, static_cast<size_t>(n)})) want = n;
          }
          REQUIRE(Utf8Sequence(text) == want);
        }
      }
    }
  }
}

TEST_CASE("a value longer than the sink's window lies in one piece") {
  for (const size_t length : {4000u, 4096u, 5000u, 64u << 10, 300u << 10}) {
    std::string text;
    while (text.size() < length) text += text.size() % 3 == 0 ? "\xC3\xA9" : "abcde\xE2\x82\xAC";
    CHECK(Read(text + "\"").value == text);
  }
}

TEST_CASE("values keep their bytes while later ones are written; a rewound one is overwritten") {
  Arena arena;
  StringSink sink;
  sink.Attach(arena);
  std::vector<std::string_view> values;
  std::vector<std::string> want;
  Failure failure;
  for (int i = 0; i < 2000; ++i) {
    const std::string text(static_cast<size_t>(i % 300), static_cast<char>('a' + i % 26));
    const std::string padded = text + "\"\n" + std::string(64, ' ');
    std::string_view value;
    char* const mark = sink.mark();
    REQUIRE(ReadString(padded.data(), sink, value, failure) != nullptr);
    if (i % 5 == 0) {
      sink.Rewind(mark);
      continue;
    }
    values.push_back(i % 2 == 0 ? value : sink.Copy(value));
    want.push_back(text);
  }
  sink.Detach();
  const std::string_view after = arena.Copy("after");
  REQUIRE(values.size() == want.size());
  for (size_t i = 0; i < values.size(); ++i) CHECK(values[i] == want[i]);
  CHECK(after == "after");
  CHECK(arena.bytes() < 2 * 300 * 2000);
}

}  // namespace
}  // namespace weir::json
