#include "app/cli.h"

#include <doctest/doctest.h>

namespace weir::app {

namespace {

Result<ParsedCommandLine> Parse(std::vector<const char*> words) {
  words.insert(words.begin(), "weir");
  return ParseCommandLine(static_cast<int>(words.size()), words.data());
}

}  // namespace

TEST_CASE("run takes what product.md lists") {
  const auto parsed = Parse({"run", "a.sql", "--fresh", "--discard-undelivered", "--job", "2026-11",
                             "--drain", "5 s", "--data-dir", "/d", "--trace", "t", "--set",
                             "a.b=c=d", "--set", "x=", "--json"});
  REQUIRE(parsed.has_value());
  const Invocation& in = parsed->invocation;
  CHECK(in.verb == Verb::kRun);
  CHECK(in.file == "a.sql");
  CHECK(in.fresh);
  CHECK(in.discard_undelivered);
  CHECK(in.job == "2026-11");
  CHECK(in.drain == "5 s");
  CHECK(in.data_dir == "/d");
  CHECK(in.trace == "t");
  CHECK(in.json);
  CHECK(in.set == std::map<std::string, std::string>{{"a.b", "c=d"}, {"x", ""}});
}

TEST_CASE("each verb is told apart") {
  CHECK(Parse({"check", "a.sql"})->invocation.verb == Verb::kCheck);
  CHECK(Parse({"explain", "--connectors"})->invocation.verb == Verb::kExplain);
  CHECK(Parse({"status", "--data-dir", "x"})->invocation.verb == Verb::kStatus);
  CHECK(Parse({"version", "--json"})->invocation.verb == Verb::kVersion);
  CHECK(Parse({"trace", "verify", "t"})->invocation.file == "t");
  const auto resolve =
      Parse({"resolve", "a.sql", "--rewind-file", "out", "--accept-gap", "src:/x", "--yes"});
  REQUIRE(resolve.has_value());
  CHECK(resolve->invocation.words.size() == 2);
  CHECK(resolve->invocation.yes);
}

TEST_CASE("a wrong command line is a usage error that says what is wrong") {
  struct Case {
    const char* name;
    std::vector<const char*> words;
    const char* says;
  };
  const Case cases[] = {
      {"no verb", {}, "subcommand"},
      {"unknown verb", {"fly"}, "subcommand"},
      {"no file", {"run"}, "FILE"},
      {"unknown flag", {"run", "a.sql", "--frsh"}, "--frsh"},
      {"set without =", {"run", "a.sql", "--set", "x"}, "KEY=VALUE"},
      {"discard alone", {"run", "a.sql", "--discard-undelivered"}, "--fresh"},
      {"status of nothing", {"status"}, "--data-dir"},
      {"resolve without a verb", {"resolve", "a.sql"}, "verb"},
      {"progress", {"run", "a.sql", "--progress", "loud"}, "loud"},
  };
  for (const Case& c : cases) {
    INFO(std::string(c.name));
    const auto parsed = Parse(c.words);
    REQUIRE(!parsed.has_value());
    INFO(parsed.error().message());
    CHECK(parsed.error().code() == Code::kUsage);
    CHECK(parsed.error().message().find(c.says) != std::string::npos);
  }
}

TEST_CASE("help is no error") {
  const auto parsed = Parse({"run", "--help"});
  REQUIRE(parsed.has_value());
  REQUIRE(parsed->help.has_value());
  CHECK(parsed->help->find("--fresh") != std::string::npos);
}

}  // namespace weir::app
