// A disk that says no: every write without space, every sync that fails, and a failed sync followed
// by a power cut.
#include <doctest/doctest.h>

#include "pipelines.h"
#include "sim_engine.h"

namespace weir::sim {

namespace {

constexpr int kRows = 60;

uint64_t Step() { return SimEffort().step; }

bool Writes(io::SimOpKind kind) {
  return kind == io::SimOpKind::kWrite || kind == io::SimOpKind::kCreate ||
         kind == io::SimOpKind::kTruncate;
}

bool Syncs(io::SimOpKind kind) {
  return kind == io::SimOpKind::kSync || kind == io::SimOpKind::kSyncDirectory;
}

}  // namespace

TEST_CASE(
    "no space at any write: paused, never an unknown outcome, no row lost once there is space") {
  for (const Pipeline& pipeline : Pipelines()) {
    CAPTURE(pipeline.name);
    auto calm = NewWorld(kRows);
    REQUIRE(RunLife(*calm, pipeline.sql, {}).status.ok());
    const auto want = ReadOutputs(*calm, pipeline.outputs);
    const auto trace = calm->trace();
    for (size_t i = 0; i < trace.size(); i += Step()) {
      if (!Writes(trace[i].kind)) continue;
      CAPTURE(trace[i].number);
      CAPTURE(trace[i].path);
      auto files = NewWorld(kRows);
      // From this write on nothing can be written, until the disk has been full for 40 turns.
      bool full = false;
      const uint64_t from = trace[i].number;
      files->OnOperation([&full, from](const io::SimOp& op) {
        if (op.number == from) full = true;
        return full && Writes(op.kind) ? io::SimFault::kNoSpace : io::SimFault::kNone;
      });
      int full_turns = 0;
      LifeOptions options;
      options.before_turn = [&](io::SimFiles& world, int) {
        if (full && ++full_turns == 40) world.OnOperation(nullptr);
      };
      LifeResult life = RunLife(*files, pipeline.sql, options);
      if (!life.status.ok()) {
        // Full at the start: try again later (75), which is what systemd does.
        CAPTURE(life.status.ToString());
        REQUIRE(life.status.code() == Code::kNoSpace);
        files->OnOperation(nullptr);
        life = RunLife(*files, pipeline.sql, {});
      }
      CAPTURE(life.status.ToString());
      REQUIRE(life.finished);
      REQUIRE(life.status.ok());
      REQUIRE(Difference(ReadOutputs(*files, pipeline.outputs), want) == "");
    }
  }
}

TEST_CASE("a failed sync ends the run with an unknown outcome, and the next start is right") {
  for (const Pipeline& pipeline : Pipelines()) {
    CAPTURE(pipeline.name);
    auto calm = NewWorld(kRows);
    REQUIRE(RunLife(*calm, pipeline.sql, {}).status.ok());
    const auto want = ReadOutputs(*calm, pipeline.outputs);
    const auto trace = calm->trace();
    int unknown = 0;
    for (const io::SimFault fault : {io::SimFault::kIoError, io::SimFault::kSyncLosesPages}) {
      for (size_t i = 0; i < trace.size(); ++i) {
        if (!Syncs(trace[i].kind) || i % Step() != 0) continue;
        CAPTURE(trace[i].number);
        CAPTURE(trace[i].path);
        CAPTURE(static_cast<int>(fault));
        auto files = NewWorld(kRows);
        files->FailAt(trace[i].number, fault);
        const LifeResult first = RunLife(*files, pipeline.sql, {});
        if (!first.status.ok()) {
          CAPTURE(first.status.ToString());
          ++unknown;
          // A rerun at once (the cache still shows what was written), then a power cut, then the
          // rerun after it.
          auto rerun = files->AfterKill();
          rerun->CrashAt(30);
          LifeOptions options;
          options.seed = 2;
          (void)RunLife(*rerun, pipeline.sql, options);
          auto cut = rerun->AfterPowerCut(trace[i].number);
          LifeOptions booted;
          booted.boot = 2;
          booted.seed = 3;
          const LifeResult last = RunLife(*cut, pipeline.sql, booted);
          CAPTURE(last.status.ToString());
          REQUIRE(last.finished);
          REQUIRE(last.status.ok());
          REQUIRE(Difference(ReadOutputs(*cut, pipeline.outputs), want) == "");
        }
      }
    }
    CHECK(unknown > 0);
  }
}

}  // namespace weir::sim
