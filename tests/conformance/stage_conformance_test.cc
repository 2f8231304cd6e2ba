// What every SinkStage promises, whatever it writes: restart between seal and acknowledgement first
// of all, nothing of an unsealed epoch after a start, every row of a sealed one exactly once,
// whatever operation the process or the power dies at.
//
// A new stage is added to Stages() and must pass without a word of its own.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/testing/stage_driver.h"
#include "flow/dead_letters.h"

namespace weir::connectors {
namespace {

// One epoch's rows as a number each; how they are written and read back is the stage's.
struct StageCase {
  const char* name;
  std::unique_ptr<flow::SinkStage> (*make)(World& world);
  Status (*stage)(flow::SinkStage& stage, const std::vector<int64_t>& values);
  std::vector<int64_t> (*visible)(World& world);  // what a reader may rely on, in order
};

Status StageInts(flow::SinkStage& stage, const std::vector<int64_t>& values) {
  Batch batch;
  FillInts(values, batch);
  DeadOutputs out;
  return stage.Stage(batch, out);
}

Status StageDeadLetters(flow::SinkStage& stage, const std::vector<int64_t>& values) {
  flow::DeadLetterBuilder builder;
  for (const int64_t value : values) {
    NonRow record;
    record.pos = value;
    record.code = "c";
    builder.AddRecord("src", 0, record);
  }
  DeadOutputs out;
  return stage.Stage(builder.batch(), out);
}

std::vector<int64_t> NumbersBehind(const std::string& text, const std::string& key) {
  std::vector<int64_t> out;
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at + 1))
    out.push_back(std::stoll(text.substr(at + key.size())));
  return out;
}

std::string Directory(World& world, const std::string& path) {
  std::string out;
  for (const std::string& name : world.files().List(path).value_or(std::vector<std::string>())) {
    if (name.front() != '.') out += world.Content(path + "/" + name);
  }
  return out;
}

std::unique_ptr<flow::SinkStage> NewFileStage(
    World& world, std::vector<std::pair<std::string, std::string>> options) {
  // The table must outlive nothing: a stage keeps what it needs.
  const auto table = MakeTable({.name = "out", .options = std::move(options)});
  auto stage = NewStage(world.Context(), *table, "out");
  REQUIRE(stage.has_value());
  return std::move(*stage);
}

const StageCase kStages[] = {
    {"append",
     [](World& world) {
       return NewFileStage(world, {{"path", "/out/a.json"}});
     },
     StageInts, [](World& world) { return NumbersBehind(world.Content("/out/a.json"), "\"v\":"); }},
    {"rolling, every epoch",
     [](World& world) {
       return NewFileStage(world,
                           {{"path", "/out/parts/"}, {"sink.rolling-policy.file-size", "1 B"}});
     },
     StageInts,
     [](World& world) { return NumbersBehind(Directory(world, "/out/parts"), "\"v\":"); }},
    {"rolling, at the end",
     [](World& world) {
       return NewFileStage(world, {{"path", "/out/parts/"}});
     },
     StageInts,
     [](World& world) { return NumbersBehind(Directory(world, "/out/parts"), "\"v\":"); }},
    {"dead letters",
     [](World& world) {
       auto stage = NewDeadLetterStage(world.Context(), "src", 1 << 20);
       REQUIRE(stage.has_value());
       return std::move(*stage);
     },
     StageDeadLetters,
     [](World& world) { return NumbersBehind(Directory(world, "/state/dead"), "\"pos\":"); }},
};

void PutDirectories(World& world) {
  world.files().PutDirectory("/out");
  world.files().PutDirectory("/state");
}

// Runs epochs from *next (values 2 e and 2 e + 1 in epoch e) to the third and the end of the input;
// stops at the first failure. *next is the first epoch that is not sealed.
Status Run(World& world, const StageCase& c, StageHistory& history, int* next) {
  StageDriver driver(c.make(world), history);
  WEIR_RETURN_IF_ERROR(driver.Start());
  if (driver.stage().park()) return Status(Code::kRefused, driver.stage().park()->facts);
  for (; *next < 3;) {
    WEIR_RETURN_IF_ERROR(c.stage(driver.stage(), {2 * *next, 2 * *next + 1}));
    (void)driver.Freeze(*next == 2);
    WEIR_RETURN_IF_ERROR(driver.stage().Sync());
    ++*next;  // the seal is durable here
    WEIR_RETURN_IF_ERROR(driver.FinishSeal());
  }
  // Cuts without rows: what a stage wants to forget (a rename that is done) it forgets here.
  while (driver.Freeze()) {
    WEIR_RETURN_IF_ERROR(driver.stage().Sync());
    WEIR_RETURN_IF_ERROR(driver.FinishSeal());
  }
  return Status::Ok();
}

const std::vector<int64_t> kAll = {0, 1, 2, 3, 4, 5};

TEST_CASE("stage: restart between seal and acknowledgement, at every epoch") {
  for (const StageCase& c : kStages) {
    CAPTURE(c.name);
    World world;
    PutDirectories(world);
    StageHistory history;
    for (int epoch = 0; epoch < 3; ++epoch) {
      StageDriver driver(c.make(world), history);
      REQUIRE(driver.Start().ok());
      REQUIRE_FALSE(driver.stage().park());
      REQUIRE(c.stage(driver.stage(), {2 * epoch, 2 * epoch + 1}).ok());
      REQUIRE(driver.SealWithoutWork(epoch == 2).ok());
    }
    StageDriver driver(c.make(world), history);
    REQUIRE(driver.Start().ok());
    CHECK(c.visible(world) == kAll);
  }
}

TEST_CASE(
    "stage: a process that dies at any operation, and the power cut at any operation: each row "
    "once") {
  for (const StageCase& c : kStages) {
    for (const bool power : {false, true}) {
      int deaths = 0;
      for (uint64_t at = 1; at < 300; ++at) {
        CAPTURE(c.name);
        CAPTURE(power);
        CAPTURE(at);
        auto world = std::make_unique<World>();
        PutDirectories(*world);
        StageHistory history;
        int next = 0;
        world->files().CrashAt(at);
        if (Run(*world, c, history, &next).ok() && !world->files().crashed()) break;
        ++deaths;
        // Whatever was in memory is gone; what the store sealed is known. Then one more death a
        // little later, then a quiet life.
        for (const uint64_t second : {at % 7 + 1, uint64_t{0}}) {
          world = std::make_unique<World>(power ? world->files().AfterPowerCut(at)
                                                : world->files().AfterKill());
          if (second > 0) world->files().CrashAt(second);
          const Status status = Run(*world, c, history, &next);
          if (second > 0 && world->files().crashed()) continue;
          REQUIRE_MESSAGE(status.ok(), status.message());
        }
        CHECK(next == 3);
        CHECK(c.visible(*world) == kAll);
      }
      CHECK(deaths > 8);
    }
  }
}

TEST_CASE("stage: no space at any operation is waited out, and no row is lost or doubled") {
  for (const StageCase& c : kStages) {
    for (uint64_t at = 1; at < 300; ++at) {
      CAPTURE(c.name);
      CAPTURE(at);
      World world;
      PutDirectories(world);
      StageHistory history;
      // A failed sync is never "no space": its outcome is unknown.
      world.files().OnOperation([at](const io::SimOp& op) {
        const bool sync =
            op.kind == io::SimOpKind::kSync || op.kind == io::SimOpKind::kSyncDirectory;
        return op.number == at && !sync ? io::SimFault::kNoSpace : io::SimFault::kNone;
      });
      StageDriver driver(c.make(world), history);
      Status status = driver.Start();
      bool failed = !status.ok();
      if (failed) {
        CHECK(status.code() == Code::kNoSpace);
        REQUIRE(driver.Start().ok());  // the takeover is tried again
      }
      for (int epoch = 0; epoch < 3; ++epoch) {
        REQUIRE(c.stage(driver.stage(), {2 * epoch, 2 * epoch + 1}).ok());
        if (driver.stage().paused()) REQUIRE(driver.stage().RetryWrites().ok());
        (void)driver.Freeze(epoch == 2);
        status = driver.stage().Sync();
        if (!status.ok()) {
          failed = true;
          CHECK(status.code() == Code::kNoSpace);
          REQUIRE(driver.stage().Sync().ok());
        }
        status = driver.FinishSeal();
        if (!status.ok()) {
          failed = true;
          CHECK(status.code() == Code::kNoSpace);
          REQUIRE(driver.RepeatWork().ok());
        }
      }
      CHECK(c.visible(world) == kAll);
      if (!failed && world.files().operations() < at) break;
    }
  }
}

TEST_CASE("stage: an epoch without rows costs nothing") {
  for (const StageCase& c : kStages) {
    CAPTURE(c.name);
    World world;
    PutDirectories(world);
    StageHistory history;
    StageDriver driver(c.make(world), history);
    REQUIRE(driver.Start().ok());
    const uint64_t before = world.files().operations();
    CHECK_FALSE(driver.Freeze());
    REQUIRE(driver.stage().Sync().ok());
    CHECK(driver.stage().Sealed(1) == nullptr);
    CHECK(world.files().operations() == before);
  }
}

TEST_CASE("stage: a start without anything new writes nothing") {
  for (const StageCase& c : kStages) {
    CAPTURE(c.name);
    World world;
    PutDirectories(world);
    StageHistory history;
    int next = 0;
    REQUIRE(Run(world, c, history, &next).ok());
    {
      StageDriver driver(c.make(world), history);
      REQUIRE(driver.Start().ok());
    }
    const auto before = world.files().trace().size();
    StageDriver driver(c.make(world), history);
    REQUIRE(driver.Start().ok());
    const auto trace = world.files().trace();
    for (size_t i = before; i < trace.size(); ++i) {
      CAPTURE(trace[i].path);
      CHECK((trace[i].kind != io::SimOpKind::kWrite && trace[i].kind != io::SimOpKind::kTruncate));
    }
  }
}

TEST_CASE("stage: a damaged record of what is sealed is corruption, never a start from nothing") {
  for (const StageCase& c : kStages) {
    CAPTURE(c.name);
    World world;
    PutDirectories(world);
    StageHistory history;
    int next = 0;
    REQUIRE(Run(world, c, history, &next).ok());
    history.blob = "\x7f";
    StageDriver driver(c.make(world), history);
    CHECK(driver.Start().code() == Code::kCorruption);
    CHECK(c.visible(world) == kAll);
  }
}

}  // namespace
}  // namespace weir::connectors
