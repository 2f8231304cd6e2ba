#include "connectors/filesystem/dead_letter_stage.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "connectors/testing/stage_driver.h"
#include "flow/dead_letters.h"

namespace weir::connectors {
namespace {

// Rows as a dead edge brings them.
Status StageDead(flow::SinkStage& stage, int rows) {
  flow::DeadLetterBuilder builder;
  for (int i = 0; i < rows; ++i) {
    NonRow record;
    record.code = "json.syntax";
    record.message = "message";
    record.raw = std::string(1000, 'x');
    builder.AddRecord("src", 0, record);
  }
  DeadOutputs out;
  return stage.Stage(builder.batch(), out);
}

std::unique_ptr<flow::SinkStage> NewDead(World& world, const std::string& subject,
                                         uint64_t max_bytes) {
  auto stage = NewDeadLetterStage(world.Context(), subject, max_bytes);
  REQUIRE(stage.has_value());
  return std::move(*stage);
}

size_t CountLines(const std::string& text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

struct Fixture {
  Fixture() { world.files().PutDirectory("/state"); }
  World world;
  StageHistory history;
};

TEST_CASE_FIXTURE(Fixture,
                  "dead letters go to a file of their subject, which a start goes on with") {
  for (int life = 0; life < 2; ++life) {
    StageDriver stage(NewDead(world, "src", 1 << 20), history);
    REQUIRE(stage.Start().ok());
    REQUIRE(StageDead(stage.stage(), 2).ok());
    REQUIRE(stage.Seal().ok());
    REQUIRE(StageDead(stage.stage(), 3).ok());  // dies with these
    REQUIRE(stage.Freeze());
    REQUIRE(stage.stage().Sync().ok());
  }
  CHECK(CountLines(world.Content("/state/dead/src.jsonl")) == 2 + 2 + 3);
  CHECK(world.Content("/state/dead/src.jsonl")
            .starts_with(R"({"stage":"decode","code":"json.syntax")"));
}

TEST_CASE_FIXTURE(Fixture, "full files are left, the oldest are dropped and their rows counted") {
  StageDriver stage(NewDead(world, "src", 40'000), history);  // files of 10,000 bytes, some 7 rows
  REQUIRE(stage.Start().ok());
  uint64_t staged = 0;
  for (int epoch = 0; epoch < 30; ++epoch) {
    REQUIRE(StageDead(stage.stage(), 3).ok());
    staged += 3;
    REQUIRE(stage.Seal().ok());
  }
  const auto names = world.files().List("/state/dead").value();
  uint64_t bytes = 0, kept = 0;
  for (const std::string& name : names) {
    bytes += world.files().Stat("/state/dead/" + name)->size;
    kept += CountLines(world.Content("/state/dead/" + name));
  }
  CHECK(bytes <= 40'000);
  CHECK(names.size() >= 3);
  CHECK(world.Content("/state/dead/src.jsonl") == "<none>");
  const flow::NodeBooks& books = stage.stage().books();
  CHECK(books[flow::Count::kStaged] == staged);
  CHECK(books[flow::Count::kDeadDropped] == staged - kept);
}

TEST_CASE_FIXTURE(Fixture,
                  "deletions that a death came before are made by the next start; files of no "
                  "sealed epoch go too") {
  {
    StageDriver stage(NewDead(world, "src", 4'000), history);
    REQUIRE(stage.Start().ok());
    for (int epoch = 0; epoch < 3; ++epoch) {
      REQUIRE(StageDead(stage.stage(), 3).ok());
      REQUIRE(stage.SealWithoutWork().ok());
      (void)stage.stage().Sealed(history.sealed);
    }
  }
  CHECK(world.files().List("/state/dead").value().size() == 3);
  world.Put("/state/dead/src.9.jsonl", "half");
  world.Put("/state/dead/other.jsonl", "not ours");
  StageDriver stage(NewDead(world, "src", 4'000), history);
  REQUIRE(stage.Start().ok());
  CHECK(world.files().List("/state/dead").value() ==
        std::vector<std::string>{"other.jsonl", "src.2.jsonl"});
}

TEST_CASE_FIXTURE(Fixture, "a file that somebody deletes is not missed") {
  StageDriver stage(NewDead(world, "src", 1 << 20), history);
  REQUIRE(stage.Start().ok());
  REQUIRE(StageDead(stage.stage(), 1).ok());
  REQUIRE(stage.Seal().ok());
  REQUIRE(world.files().Remove("/state/dead/src.jsonl").ok());
  for (int epoch = 0; epoch < 2; ++epoch) {
    REQUIRE(StageDead(stage.stage(), 1).ok());
    REQUIRE(stage.Seal().ok());
  }
  CHECK(CountLines(world.Content("/state/dead/src.1.jsonl")) == 1);
  StageDriver again(NewDead(world, "src", 1 << 20), history);
  REQUIRE(again.Start().ok());
}

TEST_CASE_FIXTURE(Fixture, "a fresh run begins with none") {
  {
    StageDriver stage(NewDead(world, "src", 1 << 20), history);
    REQUIRE(stage.Start().ok());
    REQUIRE(StageDead(stage.stage(), 1).ok());
    REQUIRE(stage.Seal().ok());
  }
  history.BeginFreshRun();
  StageDriver stage(NewDead(world, "src", 1 << 20), history);
  REQUIRE(stage.Start().ok());
  CHECK(world.files().List("/state/dead").value().empty());
}

TEST_CASE("subjects become file names without doubt") {
  World world;
  io::SimFiles& files = world.files();
  const DeadLetterStage stage(files, "/d", "a/b.c d", 1, nullptr);
  CHECK(stage.PathOf(0) == "/d/a%2Fb%2Ec%20d.jsonl");
  CHECK(stage.PathOf(3) == "/d/a%2Fb%2Ec%20d.3.jsonl");
}

TEST_CASE("records of dead letter files survive, damaged ones do not") {
  const DeadFiles files{3, {{100, 2}, {7, 1}}};
  const std::string blob = EncodeDeadFiles(files);
  CHECK(DecodeDeadFiles(blob) == files);
  for (size_t n = 0; n < blob.size(); ++n) CHECK_FALSE(DecodeDeadFiles(blob.substr(0, n)));
}

}  // namespace
}  // namespace weir::connectors
