// A state directory that is damaged, in each of its parts, as a start finds it: named and left
// alone, or moved aside under weir.on-damage = quarantine - wherever in the takeover the damage
// shows.
#include <doctest/doctest.h>

#include <algorithm>

#include "pipelines.h"
#include "sim_engine.h"

namespace weir::sim {

namespace {

constexpr int kRows = 150;

const Pipeline& Sqlite() {
  const auto& all = Pipelines();
  return *std::find_if(all.begin(), all.end(),
                       [](const Pipeline& p) { return p.name == "sqlite"; });
}

void Rewrite(io::SimFiles& files, const std::string& path,
             const std::function<void(std::string&)>& change) {
  auto bytes = io::ReadFile(files, path, 64 << 20);
  REQUIRE(bytes);
  change(*bytes);
  REQUIRE(files.Remove(path).ok());
  files.PutFile(path, *bytes);
}

std::string FirstSegment(io::SimFiles& files) {
  const auto folders = files.List("/state/spool");
  REQUIRE(folders);
  for (const std::string& folder : *folders) {
    const std::string directory = io::JoinPath("/state/spool", folder);
    const auto names = files.List(directory);
    REQUIRE(names);
    if (!names->empty()) return io::JoinPath(directory, names->front());
  }
  FAIL("no segment");
  return "";
}

struct Case {
  const char* name;
  const char* says;  // what an operator is told
  void (*damage)(io::SimFiles&);
};

const Case kCases[] = {
    {"the database is no database", "state.db",
     [](io::SimFiles& f) {
       Rewrite(f, "/state/state.db", [](std::string& b) { std::fill(b.begin(), b.end(), '\0'); });
     }},
    {"the database is gone", "state.db is missing",
     [](io::SimFiles& f) { REQUIRE(f.Remove("/state/state.db").ok()); }},
    // Found when the sinks are looked at: the decision has been made by then.
    {"rows in the spool that nobody has got", ".seg",
     [](io::SimFiles& f) {
       Rewrite(f, FirstSegment(f), [](std::string& b) { b[b.size() / 2] ^= 0x20; });
     }},
    // Found when positions are read: the run row is durable by then.
    {"a position in the input", "CRC",
     [](io::SimFiles& f) {
       Rewrite(f, "/state/state.db", [](std::string& b) {
         // All that stand there: some are of blobs that newer ones have replaced.
         size_t at = b.find("/in/a.jsonl");
         REQUIRE(at != std::string::npos);
         for (; at != std::string::npos; at = b.find("/in/a.jsonl")) b[at + 4] = 'A';
       });
     }},
};

// Sealed and not delivered: the target's file system cannot be written.
std::unique_ptr<io::SimFiles> Undelivered() {
  auto files = NewWorld(kRows);
  files->SetReadOnly("/out", true);
  LifeOptions some;
  some.turns_max = 8;
  CHECK(!RunLife(*files, Sqlite().sql, some).finished);
  files = files->AfterKill();
  files->SetReadOnly("/out", false);
  WithStore(*files, [](store::Store& store) { CHECK(store.NewestSealed()->id > 3); });
  return files->AfterKill();
}

bool MovedAside(io::SimFiles& files) {
  const auto names = files.List("/");
  return names && std::any_of(names->begin(), names->end(), [](const std::string& name) {
           return name.starts_with("state.damaged-");
         });
}

}  // namespace

TEST_CASE("damage in any part of the directory: named, kept, and never taken for a fresh start") {
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    auto files = Undelivered();
    c.damage(*files);
    const LifeResult life = RunLife(*files, Sqlite().sql, {});
    CAPTURE(life.status.ToString());
    CHECK(life.status.code() == Code::kCorruption);
    CHECK(life.status.message().find(c.says) != std::string::npos);
    CHECK(!MovedAside(*files));
    CHECK(!files->Exists("/out/q.db"));
  }
}

TEST_CASE(
    "damage in any part of the directory: weir.on-damage = quarantine begins anew by itself") {
  auto calm = NewWorld(kRows);
  REQUIRE(RunLife(*calm, Sqlite().sql, {}).status.ok());
  for (const Case& c : kCases) {
    CAPTURE(c.name);
    auto files = Undelivered();
    c.damage(*files);
    const LifeResult life =
        RunLife(*files, "SET 'weir.on-damage' = 'quarantine';\n" + Sqlite().sql, {});
    CAPTURE(life.status.ToString());
    CHECK(life.status.ok());
    CHECK(MovedAside(*files));
    CHECK(Difference(ReadOutputs(*files, Sqlite().outputs), ReadOutputs(*calm, Sqlite().outputs)) ==
          "");
  }
}

}  // namespace weir::sim
