// Power cuts of the whole engine: at every write, sync, rename and unlink, with unsynced bytes gone
// or torn in any order, state.db and its log included. After each cut the box boots, runs the same
// command again, and its outputs equal those of an undisturbed run.
#include <doctest/doctest.h>

#include <algorithm>

#include "pipelines.h"
#include "sim_engine.h"

namespace weir::sim {

namespace {

constexpr int kRows = 60;

uint64_t Step() { return SimEffort().step; }

struct Undisturbed {
  std::map<std::string, std::string> outputs;
  uint64_t operations = 0;
};

Undisturbed RunUndisturbed(const Pipeline& pipeline) {
  auto files = NewWorld(kRows);
  const LifeResult life = RunLife(*files, pipeline.sql, {});
  CAPTURE(life.status.ToString());
  CAPTURE(life.status_json);
  REQUIRE(life.finished);
  REQUIRE(life.status.ok());
  REQUIRE(life.epochs >= 5);
  return {ReadOutputs(*files, pipeline.outputs), files->operations()};
}

// Lives until one finishes; at most `lives_max`.
LifeResult RunToTheEnd(io::SimFiles& files, const Pipeline& pipeline, int boot, uint64_t seed) {
  LifeOptions options;
  options.seed = seed;
  options.boot = boot;
  return RunLife(files, pipeline.sql, options);
}

}  // namespace

TEST_CASE("a power cut at any operation loses nothing and delivers nothing twice") {
  for (const Pipeline& pipeline : Pipelines()) {
    CAPTURE(pipeline.name);
    const Undisturbed want = RunUndisturbed(pipeline);
    const uint64_t step = Step();
    uint64_t lost_in_log = 0, lost = 0, cuts = 0;
    for (uint64_t n = 1 + want.operations % step; n <= want.operations; n += step) {
      CAPTURE(n);
      auto files = NewWorld(kRows);
      files->CrashAt(n);
      (void)RunLife(*files, pipeline.sql, {});
      if (!files->crashed()) continue;  // a seed's life may be shorter by a retry
      ++cuts;
      io::PowerCutReport report;
      auto after = files->AfterPowerCut(n, &report);
      lost += static_cast<uint64_t>(report.writes_lost + report.writes_torn +
                                    report.directory_changes_lost);
      for (const std::string& path : report.damaged_paths)
        lost_in_log += path.ends_with("-wal") ? 1 : 0;
      const LifeResult life = RunToTheEnd(*after, pipeline, 2, n);
      CAPTURE(life.status.ToString());
      REQUIRE(life.finished);
      REQUIRE(life.status.ok());
      REQUIRE(Difference(ReadOutputs(*after, pipeline.outputs), want.outputs) == "");
    }
    MESSAGE(pipeline.name, ": ", cuts, " cuts, ", lost, " losses, ", lost_in_log,
            " of them in the write-ahead log");
    // A world in which nothing was lost proves nothing.
    CHECK(lost > 0);
    CHECK(lost_in_log > 0);
  }
}

TEST_CASE("a second cut while the box recovers from the first changes nothing") {
  const Pipeline& pipeline = Pipelines()[1];
  const Undisturbed want = RunUndisturbed(pipeline);
  int second_cuts = 0;
  for (uint64_t n = want.operations / 4; n <= want.operations;
       n += std::max<uint64_t>(1, want.operations / 9)) {
    for (uint64_t m = 1; m <= 60; m += 4) {
      CAPTURE(n);
      CAPTURE(m);
      auto files = NewWorld(kRows);
      files->CrashAt(n);
      (void)RunLife(*files, pipeline.sql, {});
      auto after = files->AfterPowerCut(n);
      after->CrashAt(m);
      (void)RunToTheEnd(*after, pipeline, 2, n);
      second_cuts += after->crashed() ? 1 : 0;
      auto third = after->AfterPowerCut(m);
      const LifeResult life = RunToTheEnd(*third, pipeline, 3, m);
      CAPTURE(life.status.ToString());
      REQUIRE(life.finished);
      REQUIRE(life.status.ok());
      REQUIRE(Difference(ReadOutputs(*third, pipeline.outputs), want.outputs) == "");
    }
  }
  CHECK(second_cuts > 20);
}

TEST_CASE("a kill at any operation keeps the page cache and changes nothing") {
  for (const Pipeline& pipeline : Pipelines()) {
    CAPTURE(pipeline.name);
    const Undisturbed want = RunUndisturbed(pipeline);
    for (uint64_t n = 1; n <= want.operations; n += Step() * 2) {
      CAPTURE(n);
      auto files = NewWorld(kRows);
      files->CrashAt(n);
      (void)RunLife(*files, pipeline.sql, {});
      auto after = files->AfterKill();
      const LifeResult life = RunToTheEnd(*after, pipeline, 1, n);
      CAPTURE(life.status.ToString());
      REQUIRE(life.finished);
      REQUIRE(life.status.ok());
      REQUIRE(Difference(ReadOutputs(*after, pipeline.outputs), want.outputs) == "");
    }
  }
}

}  // namespace weir::sim
