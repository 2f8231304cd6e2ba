// A world for tests of the store: one simulated disk that can be killed and cut, with SQLite on it.
#ifndef WEIR_STORE_TESTING_WORLD_H_
#define WEIR_STORE_TESTING_WORLD_H_

#include <memory>
#include <string>

#include "io/env.h"
#include "io/sim_clock.h"
#include "io/sim_files.h"
#include "sqlite/sim_vfs.h"
#include "store/store.h"

namespace weir::store::testing {

// Everything outside the process. Kill() and PowerCut() end the "process": all Stores and Spools of
// the world must be gone by then.
class World {
 public:
  World();
  io::Env env();
  io::SimFiles& files() { return *files_; }
  io::SimMachine& machine() { return machine_; }
  io::SimClock& clock() { return clock_; }
  void Kill();
  void PowerCut(uint64_t seed, io::PowerCutReport* report = nullptr);

 private:
  void Successor(std::unique_ptr<io::SimFiles> files);
  std::unique_ptr<io::SimFiles> files_;
  std::unique_ptr<sqlite::SimVfs> vfs_;
  io::SimClock clock_;
  io::SimRandom random_{7};
  io::SimMachine machine_;
  io::CompletionQueue completions_;
};

inline constexpr char kDirectory[] = "/state";

OpenOptions Options();
Asked AskedFor(std::string_view plan = "plan");
// Open, decide, write the run row: what a start does.
Result<std::unique_ptr<Store>> Start(const io::Env& env, const Asked& asked,
                                     protocol::TakeoverDecision* decision = nullptr);
// A frozen epoch with one bucket of state and one sink of `rows` rows.
FrozenEpoch Frozen(EpochId id, uint64_t rows = 1, std::string_view target = "");
std::string StateBlob(uint32_t slot, std::string_view value);
// All entries of a bucket, "slot=value;" in slot order, as restore would see them.
Result<std::string> ReadState(Store& store, std::string_view owner, std::string_view bucket);
// h(N) of every epoch row, computed again from what the tables say. OK when all agree.
Status CheckChain(const io::Env& env);

}  // namespace weir::store::testing

#endif  // WEIR_STORE_TESTING_WORLD_H_
