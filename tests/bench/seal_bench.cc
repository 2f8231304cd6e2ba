// What the seal of 100 k dirty keys costs on a real disk: wall time of one Store::Seal (its blob in
// one transaction, synced), and beside it that of an epoch without state. `seal_bench DIRECTORY`,
// which must not exist; min, median and max of 20 seals.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/hash.h"
#include "io/posix_files.h"
#include "io/real_clock.h"
#include "sqlite/database.h"
#include "state/blob.h"
#include "store/store.h"

namespace weir::store {
namespace {

constexpr uint32_t kKeys = 100000;

void Require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

// The delta of a window with one BIGINT count: a key of 9 bytes and its slot, as operators/ writes.
std::string Delta(std::mt19937_64& random) {
  BlobWriter out("meta");
  for (uint32_t slot = 0; slot < kKeys; ++slot) {
    const uint64_t count = random();
    char key[16];
    std::snprintf(key, sizeof key, "/p/%06u", slot);
    out.Put(slot, key, std::string_view(reinterpret_cast<const char*>(&count), sizeof count), "");
  }
  return out.Take();
}

FrozenEpoch Epoch(EpochId id, std::string blob) {
  FrozenEpoch epoch;
  epoch.id = id;
  epoch.body = "watermark scan:src 1700000000000\n";
  if (!blob.empty()) {
    epoch.state.push_back(
        {"window:w", {std::string("\0\0\0\0\0\0\0\1", 8), false, std::move(blob), kKeys}});
  }
  return epoch;
}

void Run(const std::string& directory) {
  io::PosixFiles files;
  io::RealClock clock;
  io::RealRandom random;
  io::RealMachine machine(files);
  io::CompletionQueue completions;
  const io::Env env{files, clock, random, machine, completions, &io::NewThreadWorker, "weir"};
  Require(sqlite::InitializeSqlite());
  OpenOptions options;
  options.directory = directory;
  options.pipeline = options.instance = "bench";
  options.weir_version = "bench";
  auto opened = Store::Open(env, options);
  if (!opened) Require(opened.error());
  Store& store = **opened;
  Asked asked;
  asked.canonical_plan = "bench";
  asked.fingerprint = Sha256("bench");
  const auto facts = store.GatherFacts(asked);
  if (!facts) Require(facts.error());
  Require(store.BeginRun(asked, protocol::DecideTakeover(*facts), 0, {}));

  std::mt19937_64 numbers(1);
  EpochId next = 1;
  for (const bool with_state : {false, true}) {
    std::vector<double> ms;
    size_t bytes = 0;
    for (int i = 0; i < 20; ++i) {
      const FrozenEpoch epoch = Epoch(next++, with_state ? Delta(numbers) : "");
      bytes = with_state ? epoch.state[0].delta.blob.size() : 0;
      const int64_t begun = clock.MonotonicNs();
      Require(store.Seal(epoch));
      ms.push_back(static_cast<double>(clock.MonotonicNs() - begun) / 1e6);
      for (bool more = true; more;) {  // between two seals, as the engine does
        const auto merged = store.Compact(4 << 20);
        if (!merged) Require(merged.error());
        more = *merged;
      }
    }
    std::sort(ms.begin(), ms.end());
    std::printf("%-44s %8.1f %8.1f %8.1f ms (blob of %zu bytes)\n",
                with_state ? "seal of 100 k dirty keys" : "seal without state", ms.front(),
                ms[ms.size() / 2], ms.back(), bytes);
  }
}

}  // namespace
}  // namespace weir::store

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  weir::store::Run(argv[1]);
}
