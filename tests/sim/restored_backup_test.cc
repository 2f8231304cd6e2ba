// A state directory that is put back to an older copy while its target has gone on: parked, and
// whatever the operator's word is, no row that was sealed since is lost - wherever the next run
// dies.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "pipelines.h"
#include "sim_engine.h"
#include "store/store.h"

namespace weir::sim {

namespace {

constexpr int kRows = 150;
const char kTable[] = "sqlite:/out/q.db:out_r";

const Pipeline& Sqlite() {
  const auto& all = Pipelines();
  return *std::find_if(all.begin(), all.end(),
                       [](const Pipeline& p) { return p.name == "sqlite"; });
}

void CopyTree(io::SimFiles& from, io::SimFiles& to, const std::string& directory) {
  const auto names = from.List(directory);
  for (const std::string& name : *names) {
    const std::string path = io::JoinPath(directory, name);
    if (from.Stat(path)->is_directory)
      CopyTree(from, to, path);
    else
      to.PutFile(path, *io::ReadFile(from, path, 64 << 20));
  }
}

void RemoveTree(io::SimFiles& files, const std::string& directory) {
  const auto names = files.List(directory);
  for (const std::string& name : *names) {
    const std::string path = io::JoinPath(directory, name);
    if (files.Stat(path)->is_directory)
      RemoveTree(files, path);
    else
      REQUIRE(files.Remove(path).ok());
  }
}

void Speak(io::SimFiles& files, protocol::Verb verb) {
  WithStore(files, [&](store::Store& store) {
    REQUIRE(store.RecordResolution(verb, "out_r", "ann", 1, "").ok());
  });
}

std::vector<std::string> Rows(io::SimFiles& files) {
  const std::string text = ReadOutputs(files, {kTable}).at(kTable);
  std::vector<std::string> rows;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    rows.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return rows;
}

struct Restored {
  std::unique_ptr<io::SimFiles> files;  // the older directory beside the newer target; parked once
  uint64_t sealed_before = 0;           // rows that the copy had sealed
  uint64_t delivered = 0;               // rows of the target
  EpochId receipt = 0;                  // epochs of the life that is lost
};

Restored Restore() {
  Restored out;
  const std::string& sql = Sqlite().sql;
  auto files = NewWorld(kRows);
  LifeOptions some;
  some.turns_max = 8;
  CHECK(!RunLife(*files, sql, some).finished);
  files = files->AfterKill();
  const auto copy = files->AfterKill();
  WithStore(*files, [&](store::Store& store) {
    const auto newest = store.NewestSealed();
    for (const store::SinkState& sink : newest->sinks) {
      if (sink.sink.find("out_r") != std::string::npos) out.sealed_before = sink.rows_total;
    }
  });
  some.turns_max = 12;
  CHECK(!RunLife(*files, sql, some).finished);
  out.files = files->AfterKill();
  WithStore(*out.files, [&](store::Store& store) { out.receipt = store.NewestSealed()->id; });
  RemoveTree(*out.files, "/state");
  CopyTree(*copy, *out.files, "/state");
  out.delivered = Rows(*out.files).size();
  // The restored life reads more at a time: what it seals is cut elsewhere, under the ids that the
  // lost one has used.
  LifeOptions parked;
  parked.batch_rows = 3;
  const LifeResult life = RunLife(*out.files, sql, parked);
  REQUIRE(life.finished);
  CHECK(life.status.code() == Code::kRefused);
  CHECK(life.status.message().find("sql.row-5") != std::string::npos);
  CHECK(Rows(*out.files).size() == out.delivered);
  out.files = out.files->AfterKill();
  return out;
}

// Every row at least once; as many twice as the lost life has delivered since the copy was made.
void RequireNothingLost(io::SimFiles& files, const Restored& restored, bool exactly) {
  auto calm = NewWorld(kRows);
  REQUIRE(RunLife(*calm, Sqlite().sql, {}).status.ok());
  const std::vector<std::string> want = Rows(*calm);
  const std::vector<std::string> got = Rows(files);
  CHECK(std::set<std::string>(got.begin(), got.end()) ==
        std::set<std::string>(want.begin(), want.end()));
  const uint64_t most = restored.delivered + want.size() - restored.sealed_before;
  if (exactly)
    CHECK(got.size() == most);
  else
    CHECK(got.size() >= most);
}

}  // namespace

TEST_CASE("restored backup: what the parked run seals is never dropped by --trust-sink") {
  const Restored restored = Restore();
  REQUIRE(restored.delivered > restored.sealed_before);  // else the case shows nothing
  io::SimFiles& files = *restored.files;
  Speak(files, protocol::Verb::kTrustSink);
  const LifeResult life = RunLife(files, Sqlite().sql, {});
  CAPTURE(life.status.ToString());
  REQUIRE(life.status.ok());
  RequireNothingLost(files, restored, /*exactly=*/true);
}

TEST_CASE("restored backup: --redeliver loses nothing either, and may repeat more") {
  const Restored restored = Restore();
  io::SimFiles& files = *restored.files;
  Speak(files, protocol::Verb::kRedeliver);
  REQUIRE(RunLife(files, Sqlite().sql, {}).status.ok());
  RequireNothingLost(files, restored, /*exactly=*/false);
}

TEST_CASE("restored backup: once the receipt is known, new epochs are numbered above it") {
  const Restored restored = Restore();
  WithStore(*restored.files,
            [&](store::Store& store) { CHECK(store.NewestSealed()->id > restored.receipt); });
}

TEST_CASE("restored backup: a word is said once, wherever the run that acts on it dies") {
  const Restored restored = Restore();
  Speak(*restored.files, protocol::Verb::kTrustSink);
  const auto told = restored.files->AfterKill();
  auto calm = told->AfterKill();
  REQUIRE(RunLife(*calm, Sqlite().sql, {}).status.ok());
  const uint64_t step = SimEffort().step * 2 - 1;
  for (uint64_t at = 1; at < calm->operations(); at += step) {
    CAPTURE(at);
    auto files = told->AfterKill();
    files->CrashAt(at);
    (void)RunLife(*files, Sqlite().sql, {});
    files = files->AfterKill();
    const LifeResult life = RunLife(*files, Sqlite().sql, {});
    CAPTURE(life.status.ToString());
    REQUIRE(life.status.ok());
    RequireNothingLost(*files, restored, /*exactly=*/true);
  }
}

}  // namespace weir::sim
