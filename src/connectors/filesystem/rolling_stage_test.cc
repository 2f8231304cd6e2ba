// Rolling files: readers see whole epochs only; a part has one content for ever.
#include "connectors/filesystem/rolling_stage.h"

#include <doctest/doctest.h>

#include "connectors/filesystem/rolling_names.h"
#include "connectors/testing/stage_driver.h"

namespace weir::connectors {
namespace {

using Names = std::vector<std::string>;

std::unique_ptr<plan::TableDef> Table(
    std::vector<std::pair<std::string, std::string>> options = {}) {
  options.insert(options.begin(), {"path", "/out/parts/"});
  return MakeTable({.name = "out", .options = std::move(options)});
}

std::string Lines(std::vector<int> values) {
  std::string out;
  for (const int v : values) out += "{\"v\":" + std::to_string(v) + "}\n";
  return out;
}

Names List(World& world) { return world.files().List("/out/parts").value_or(Names()); }
std::string Part(EpochId epoch) { return PartName(StageHistory::FirstLineage(), epoch, "json"); }
std::string InProgress(EpochId epoch) {
  return InProgressName(StageHistory::FirstLineage(), epoch, "json");
}

struct Fixture {
  Fixture() { world.files().PutDirectory("/out"); }
  World world;
  StageHistory history;
};

TEST_CASE_FIXTURE(Fixture,
                  "a part appears with the seal that closes it: at the size, at the age, at the "
                  "end of the input") {
  const auto table = Table({{"sink.rolling-policy.file-size", "16 B"},
                            {"sink.rolling-policy.rollover-interval", "1 min"}});
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK(List(world).empty());
  REQUIRE(stage.Stage({1}).ok());
  REQUIRE(stage.Seal().ok());
  CHECK(List(world) == Names{InProgress(0)});
  REQUIRE(stage.Stage({2, 3}).ok());
  CHECK(List(world) == Names{InProgress(0)});
  REQUIRE(stage.Seal().ok());  // full
  CHECK(List(world) == Names{Part(2)});
  CHECK(world.Content("/out/parts/" + Part(2)) == Lines({1, 2, 3}));
  REQUIRE(stage.Stage({4}).ok());
  REQUIRE(stage.Seal().ok());
  world.clock().AdvanceMs(60'000);
  REQUIRE(stage.Seal().ok());  // old
  CHECK(world.Content("/out/parts/" + Part(4)) == Lines({4}));
  REQUIRE(stage.Stage({5}).ok());
  REQUIRE(stage.Seal(true).ok());  // the end
  CHECK(world.Content("/out/parts/" + Part(5)) == Lines({5}));
  CHECK(List(world) == Names{Part(2), Part(4), Part(5)});
  CHECK(stage.stage().books()[flow::Count::kAcked] == 5);
}

TEST_CASE_FIXTURE(Fixture, "no rows, no part") {
  const auto table = MakeTable({.name = "out",
                                .format = "csv",
                                .options = {{"path", "/out/parts/"}, {"csv.header", "true"}}});
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK_FALSE(stage.Freeze(true));
  CHECK(List(world).empty());
}

TEST_CASE_FIXTURE(
    Fixture, "a start goes on with the sealed bytes of the file in progress and drops the rest") {
  const auto table = Table();
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(stage.Seal().ok());
    REQUIRE(stage.Stage({2}).ok());
    REQUIRE(stage.Freeze());
    REQUIRE(stage.stage().Sync().ok());
  }
  CHECK(world.Content("/out/parts/" + InProgress(0)) == Lines({1, 2}));
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  REQUIRE(stage.Stage({3}).ok());
  REQUIRE(stage.Seal(true).ok());
  CHECK(List(world) == Names{Part(history.sealed)});
  CHECK(world.Content("/out/parts/" + Part(history.sealed)) == Lines({1, 3}));
}

TEST_CASE_FIXTURE(Fixture,
                  "a death before, within or after the rename: the next start finishes it, once") {
  for (const bool renamed : {false, true}) {
    Fixture f;
    const auto table = Table();
    {
      StageDriver stage(f.world.Context(), *table, f.history);
      REQUIRE(stage.Start().ok());
      REQUIRE(stage.Stage({1}).ok());
      REQUIRE((renamed ? stage.Seal(true) : stage.SealWithoutWork(true)).ok());
    }
    for (int life = 0; life < 2; ++life) {
      StageDriver stage(f.world.Context(), *table, f.history);
      REQUIRE(stage.Start().ok());
      CHECK_FALSE(stage.stage().park());
      CHECK(List(f.world) == Names{Part(1)});
      CHECK(f.world.Content("/out/parts/" + Part(1)) == Lines({1}));
    }
  }
}

TEST_CASE_FIXTURE(
    Fixture,
    "a rename that is done is forgotten by the next epoch, so that a part may be carried away") {
  const auto table = Table();
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(stage.Seal(true).ok());
    REQUIRE(stage.Freeze());  // says that nothing is to be renamed any more
    REQUIRE(stage.stage().Sync().ok());
    REQUIRE(stage.FinishSeal().ok());
    CHECK_FALSE(stage.Freeze());
  }
  REQUIRE(world.files().Remove("/out/parts/" + Part(1)).ok());
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK_FALSE(stage.stage().park());
}

TEST_CASE_FIXTURE(Fixture, "the rename never replaces: another file under the part's name parks") {
  const auto table = Table();
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    world.Put("/out/parts/" + Part(1), "somebody's");
    REQUIRE(stage.Seal(true).ok());
    REQUIRE(stage.stage().park());
    CHECK(stage.stage().park()->rule == "rolling.part-exists");
    CHECK(stage.Stage({2}).code() == Code::kRefused);
  }
  CHECK(world.Content("/out/parts/" + Part(1)) == "somebody's");
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.stage().park());
  }
  history.words = {{1, protocol::Verb::kRewindFile, "out"}};
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK_FALSE(stage.stage().park());
  CHECK(world.Content("/out/parts/" + Part(1)) == Lines({1}));
  CHECK(world.Content("/out/parts/.rewound-" + Part(1)) == "somebody's");
}

TEST_CASE_FIXTURE(Fixture,
                  "a restored directory finds parts above what it has sealed: parks, and "
                  "--rewind-file moves them aside") {
  const auto table = Table();
  StageHistory backup;
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(stage.Seal().ok());
    backup = history;  // in progress: 1
    REQUIRE(stage.Stage({2}).ok());
    REQUIRE(stage.Seal(true).ok());  // part of 1 and 2
    REQUIRE(stage.Stage({3}).ok());
    REQUIRE(stage.Seal(true).ok());
  }
  history = backup;
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.stage().park());
    CHECK(stage.stage().park()->rule == "rolling.part-above");
    CHECK(List(world) == Names{Part(2), Part(3)});
  }
  history.words = {{1, protocol::Verb::kRewindFile, "out"}};
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK_FALSE(stage.stage().park());
  CHECK(List(world) == Names{InProgress(0), ".rewound-" + Part(3)});
  history.next_epoch = 10;
  REQUIRE(stage.Stage({22}).ok());
  REQUIRE(stage.Seal(true).ok());
  CHECK(world.Content("/out/parts/" + Part(10)) == Lines({1, 22}));
}

TEST_CASE_FIXTURE(
    Fixture, "a file in progress that is gone or shorter parks, and --accept-missing goes on") {
  for (const bool gone : {true, false}) {
    Fixture f;
    const auto table = Table();
    {
      StageDriver stage(f.world.Context(), *table, f.history);
      REQUIRE(stage.Start().ok());
      REQUIRE(stage.Stage({1}).ok());
      REQUIRE(stage.Seal().ok());
    }
    const std::string path = "/out/parts/" + InProgress(0);
    if (gone) {
      REQUIRE(f.world.files().Remove(path).ok());
    } else {
      f.world.Put(path, "{");
    }
    {
      StageDriver stage(f.world.Context(), *table, f.history);
      REQUIRE(stage.Start().ok());
      REQUIRE(stage.stage().park());
      CHECK(stage.stage().park()->rule == (gone ? "rolling.missing" : "rolling.shorter"));
    }
    f.history.words = {{1, protocol::Verb::kAcceptMissing, "out"}};
    StageDriver stage(f.world.Context(), *table, f.history);
    REQUIRE(stage.Start().ok());
    CHECK_FALSE(stage.stage().park());
    REQUIRE(stage.Stage({2}).ok());
    REQUIRE(stage.Seal(true).ok());
    CHECK(f.world.Content("/out/parts/" + Part(f.history.sealed)) == Lines({2}));
  }
}

TEST_CASE_FIXTURE(Fixture,
                  "a fresh run adds to the parts of older runs, above their epochs, and clears "
                  "what they left in progress") {
  const auto table = Table();
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(stage.Seal(true).ok());
    REQUIRE(stage.Stage({2}).ok());
    REQUIRE(stage.Seal().ok());
  }
  history.BeginFreshRun();
  history.base = 0;  // as if state.db knew nothing of them: the names do
  history.next_epoch = 1;
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK(history.base >= 1);
  CHECK(List(world) == Names{Part(1)});
  REQUIRE(stage.Stage({5}).ok());
  REQUIRE(stage.Seal(true).ok());
  CHECK(List(world).size() == 2);
}

TEST_CASE_FIXTURE(Fixture, "no space for a new file: rows wait in memory") {
  const auto table = Table();
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  bool full = true;
  world.files().OnOperation([&](const io::SimOp& op) {
    return full && op.kind == io::SimOpKind::kCreate ? io::SimFault::kNoSpace : io::SimFault::kNone;
  });
  REQUIRE(stage.Stage({1}).ok());
  REQUIRE(stage.Freeze(true));
  CHECK(stage.stage().Sync().code() == Code::kNoSpace);
  full = false;
  REQUIRE(stage.stage().Sync().ok());
  REQUIRE(stage.FinishSeal().ok());
  CHECK(world.Content("/out/parts/" + Part(1)) == Lines({1}));
}

TEST_CASE_FIXTURE(Fixture, "a directory that is unmounted while rows are written stops the seal") {
  const auto table = Table();
  world.files().PutDirectory("/out/parts");
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  REQUIRE(stage.Stage({1}).ok());
  REQUIRE(world.files().Rename("/out/parts", "/out/elsewhere").ok());
  world.files().PutDirectory("/out/parts");
  REQUIRE(stage.Freeze());
  CHECK(stage.stage().Sync().code() == Code::kUnknownOutcome);
  CHECK(List(world).empty());
}

TEST_CASE_FIXTURE(Fixture, "a directory that cannot be written is found before anything is made") {
  const auto table = Table();
  for (const char* read_only : {"/out", "/out/parts"}) {
    CAPTURE(read_only);
    World bare;
    bare.files().PutDirectory("/out/parts");
    if (std::string_view(read_only) == "/out") REQUIRE(bare.files().Remove("/out/parts").ok());
    bare.files().SetReadOnly(read_only, true);
    StageHistory none;
    StageDriver stage(bare.Context(), *table, none);
    CHECK(stage.Start().code() == Code::kCannotCreate);
    CHECK(none.claimed.empty());
  }
}

TEST_CASE_FIXTURE(Fixture, "the directory's parent is not made") {
  World bare;
  const auto table = Table();
  StageDriver stage(bare.Context(), *table, history);
  const Status status = stage.Start();
  CHECK(status.code() == Code::kCannotCreate);
  CHECK(status.message().find("/out") != std::string::npos);
}

TEST_CASE("names of parts are read back, others are not ours") {
  const auto part = ParseName(Part(7));
  REQUIRE(part);
  CHECK(part->epoch == 7);
  CHECK_FALSE(part->in_progress);
  CHECK(ParseName(InProgress(12345678901))->in_progress);
  CHECK(ParseName(InProgress(12345678901))->epoch == 12345678901);
  for (const char* name :
       {"part-0.json", "part-abcdefgh-0000000001.json", "part-ab010000-00001.json",
        "x-ab010000-0000000001.json", ".part-ab010000-0000000001.json"}) {
    CAPTURE(name);
    CHECK_FALSE(ParseName(name));
  }
}

TEST_CASE("records of a rolling sink survive, damaged ones do not") {
  const RollingExtent extent{PartRecord{"a", "", 3, {1, 2}}, {{"b", "c", 4, {5, 6}}}};
  const std::string blob = EncodeRollingExtent(extent);
  const auto read = DecodeRollingExtent(blob);
  REQUIRE(read);
  CHECK(read->open == extent.open);
  CHECK(read->closed == extent.closed);
  for (size_t n = 0; n < blob.size(); ++n) CHECK_FALSE(DecodeRollingExtent(blob.substr(0, n)));
}

}  // namespace
}  // namespace weir::connectors
