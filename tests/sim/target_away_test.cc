// A target that is away, for long, and comes back: asked again often enough that whoever brought it
// back sees it, and not held against it afterwards.
#include <doctest/doctest.h>

#include <algorithm>

#include "pipelines.h"
#include "sim_engine.h"

namespace weir::sim {

namespace {

const char kDatabase[] = "/out/q.db";

// Nothing can be created at the target until `turns` have passed; the turns in which it was tried.
struct Away {
  explicit Away(int turns) : until(turns) {}
  LifeOptions Options() {
    LifeOptions options;
    options.before_turn = [this](io::SimFiles& files, int now) {
      turn = now;
      if (now == 0) {
        files.OnOperation([this](const io::SimOp& op) {
          if (!op.path.starts_with(kDatabase) || turn >= until) return io::SimFault::kNone;
          if (tried.empty() || tried.back() != turn) tried.push_back(turn);
          return io::SimFault::kNoSpace;
        });
      }
    };
    options.after_turn = [this](const std::string& status) {
      failing |= status.find("failing_for_ms") != std::string::npos;
    };
    return options;
  }
  const int until;
  int turn = 0;
  bool failing = false;
  std::vector<int> tried;
};

}  // namespace

TEST_CASE("a target that is away for minutes is asked every few seconds") {
  auto calm = NewWorld(60);
  REQUIRE(RunLife(*calm, Pipelines()[3].sql, {}).status.ok());
  auto files = NewWorld(60);
  Away away(2400);  // an idle turn is 50 ms
  const LifeResult life = RunLife(*files, Pipelines()[3].sql, away.Options());
  CAPTURE(life.status.ToString());
  REQUIRE(life.status.ok());
  REQUIRE(away.tried.size() > 10);
  int longest = 0;
  for (size_t i = 1; i < away.tried.size(); ++i)
    longest = std::max(longest, away.tried[i] - away.tried[i - 1]);
  CAPTURE(longest);
  CHECK(longest * 50 <= 7000);  // 5 s, and up to a quarter more
  CHECK(longest * 50 >= 3000);  // and not without pause
  CHECK(away.tried.size() < 100);
  CHECK((away.turn - away.until) * 50 <= 8000);
  CHECK(Difference(ReadOutputs(*files, Pipelines()[3].outputs),
                   ReadOutputs(*calm, Pipelines()[3].outputs)) == "");
}

TEST_CASE("a target that answers again is no longer failing, also when nothing is due for it") {
  auto files = NewWorld(0);
  files->PutFile("/in/a.jsonl", "{\"k\":\n");  // a dead letter, and no row for the target
  Away away(100);
  const LifeResult life = RunLife(*files, Pipelines()[3].sql, away.Options());
  REQUIRE(life.status.ok());
  CHECK(away.failing);
  CHECK(life.status_json.find("failing_for_ms") == std::string::npos);
  CHECK(life.status_json.find("\"health\":\"healthy\"") != std::string::npos);
}

}  // namespace weir::sim
