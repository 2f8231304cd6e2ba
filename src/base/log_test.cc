#include "base/log.h"

#include <doctest/doctest.h>

#include <vector>

namespace weir {
namespace {

std::vector<std::string>& Lines() {
  static std::vector<std::string> lines;
  return lines;
}

// Sets the logger up for one case and back to silence-to-stderr defaults afterwards.
class Capture {
 public:
  explicit Capture(LogOptions options) {
    Lines().clear();
    options.sink = [](std::string_view line) { Lines().emplace_back(line); };
    ConfigureLog(options);
  }
  ~Capture() { ConfigureLog({}); }
};

TEST_CASE("one event is one line in each format") {
  struct Case {
    const char* name;
    LogFormat format;
    bool journald;
    LogLevel level;
    std::string want;
  };
  const Case cases[] = {
      {"text", LogFormat::kText, false, LogLevel::kInfo,
       "2026-11-29T19:54:03.007Z event=sealed epoch=42 note=\"two words\\nand\\\"\""},
      {"text, a warning", LogFormat::kText, false, LogLevel::kWarning,
       "2026-11-29T19:54:03.007Z warning: event=sealed epoch=42 note=\"two words\\nand\\\"\""},
      {"journald has priority and time itself", LogFormat::kText, true, LogLevel::kError,
       "<3>event=sealed epoch=42 note=\"two words\\nand\\\"\""},
      {"logfmt", LogFormat::kLogfmt, false, LogLevel::kInfo,
       "ts=2026-11-29T19:54:03.007Z level=info event=sealed epoch=42 note=\"two "
       "words\\nand\\\"\""},
      {"json", LogFormat::kJson, false, LogLevel::kInfo,
       "{\"ts\":\"2026-11-29T19:54:03.007Z\",\"level\":\"info\",\"event\":\"sealed\",\"epoch\":42,"
       "\"note\":\"two words\\nand\\\"\"}"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    LogOptions options;
    options.format = c.format;
    options.journald = c.journald;
    options.wall_clock_ms = [] { return int64_t{1'795'982'043'007}; };
    const Capture capture(options);
    Log(c.level, "sealed", {{"epoch", 42}, {"note", "two words\nand\""}});
    REQUIRE(Lines().size() == 1);
    CHECK(Lines()[0] == c.want);
  }
}

TEST_CASE("levels below the configured one are dropped") {
  LogOptions options;
  options.level = LogLevel::kWarning;
  const Capture capture(options);
  LogError("a");
  LogWarning("b");
  LogInfo("c");
  LogDebug("d");
  CHECK(Lines() == std::vector<std::string>{"error: event=a", "warning: event=b"});
}

TEST_CASE("without a clock there is no time stamp, and an empty value stays visible") {
  const Capture capture(LogOptions{});
  LogInfo("x", {{"key", ""}, {"path", "/a=b"}, {"name", "gr\xc3\xbc"}});
  REQUIRE(Lines().size() == 1);
  CHECK(Lines()[0] == "event=x key=\"\" path=\"/a=b\" name=\"gr\xc3\xbc\"");
}

}  // namespace
}  // namespace weir
