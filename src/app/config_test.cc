#include "app/config.h"

#include <doctest/doctest.h>

#include "app/secrets.h"
#include "io/sim_files.h"

namespace weir::app {

namespace {

Result<Config> Load(const std::string& text, const std::string& pipeline = "orders") {
  io::SimFiles files;
  files.PutFile("/w.toml", text);
  return LoadConfig(files, "/w.toml", pipeline);
}

}  // namespace

TEST_CASE("the pipeline's table stands over the top ones, and values know where they were said") {
  const auto config = Load(
      "instance = \"box-7\"\ndata-dir = \"/var/lib/weir\"\n[log]\nlevel = \"debug\"\nformat = "
      "\"json\"\n"
      "[set]\n\"weir.memory.limit\" = \"32 MiB\"\nweir.on-error = \"fail\"\n"
      "[pipeline.orders]\ndata-dir = \"/d/orders\"\n[pipeline.orders.set]\n\"weir.memory.limit\" = "
      "\"64 MiB\"\n"
      "[pipeline.other.set]\n\"weir.memory.limit\" = \"1 MiB\"\n");
  REQUIRE(config.has_value());
  CHECK(config->instance == "box-7");
  CHECK(config->data_dir == "/d/orders");
  CHECK(config->data_dir_is_pipelines);
  CHECK(config->log_level == LogLevel::kDebug);
  CHECK(config->log_format == LogFormat::kJson);
  CHECK(config->set.at("weir.memory.limit").value == "64 MiB");
  CHECK(config->set.at("weir.memory.limit").origin == "[pipeline.orders.set]");
  CHECK(config->set.at("weir.memory.limit").place == "/w.toml:12:23");
  CHECK(config->set.at("weir.on-error").value == "fail");
}

TEST_CASE("whatever is not known or of the wrong type is an error with its place") {
  struct Case {
    const char* name;
    const char* text;
    const char* says;
  };
  const Case cases[] = {
      {"unknown key", "instnce = \"x\"\n",
       "/w.toml:1:1: unknown key \"instnce\"; did you mean \"instance\"?"},
      {"http is later", "http = \"127.0.0.1:1\"\n", "not in this version"},
      {"wrong type", "instance = 7\n", "/w.toml:1:12"},
      {"syntax", "instance = \n", "/w.toml:1:"},
      {"log level", "[log]\nlevel = \"loud\"\n", "/w.toml:2:9"},
      {"log key", "[log]\nlvel = \"info\"\n", "did you mean \"level\""},
      {"set value", "[set]\nx = 5\n", "/w.toml:2:5"},
      {"a typo in another pipeline's table", "[pipeline.b]\nsett = 1\n",
       "/w.toml:2:1: unknown key \"sett\""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto config = Load(c.text);
    REQUIRE(!config.has_value());
    CHECK(config.error().code() == Code::kInvalid);
    CAPTURE(config.error().message());
    CHECK(config.error().message().find(c.says) != std::string::npos);
  }
}

TEST_CASE("a file that was named must be there; the default one need not") {
  io::SimFiles files;
  CHECK(!LoadConfig(files, "/none.toml", "x").has_value());
  CHECK(LoadConfig(files, std::nullopt, "x").has_value());
}

TEST_CASE(
    "a secret is taken as it is, without the line feed at its end; a missing one is an error") {
  io::SimFiles files;
  files.PutFile("/s/password", "p$a{x}\\'\"\n");
  CHECK(ResolveSecret(files, "file", "/s/password") == "p$a{x}\\'\"");
  CHECK(!ResolveSecret(files, "file", "/s/none").has_value());
  CHECK(!ResolveSecret(files, "env", "WEIR_NO_SUCH_VARIABLE").has_value());
  CHECK(!ResolveSecret(files, "vault", "x").has_value());
  CHECK(!ResolveSecret(files, "cred", "../x").has_value());
}

}  // namespace weir::app
