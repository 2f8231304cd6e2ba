// One life of weir on a simulated disk: the engine of the product, with a world that a test can
// cut.
#ifndef WEIR_TESTS_SIM_SIM_ENGINE_H_
#define WEIR_TESTS_SIM_SIM_ENGINE_H_

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "flow/delivery.h"
#include "io/env.h"
#include "io/sim_files.h"
#include "runtime/factories.h"
#include "store/store.h"

namespace weir::sim {

// Another world's deliveries in the place of the product's.
using MakeDelivery = std::function<Result<std::unique_ptr<flow::SinkDelivery>>(
    const io::Env& env, const std::vector<runtime::TargetSink>& sinks)>;

struct LifeOptions {
  uint64_t seed = 1;
  int boot = 1;  // a power cut boots anew; a kill does not
  uint32_t batch_rows = 7;
  // Called before each turn; may change the world (give space back).
  std::function<void(io::SimFiles&, int turn)> before_turn;
  // Called after each turn with what `weir status` would show.
  std::function<void(const std::string& status_json)> after_turn;
  int turns_max = 20000;
  MakeDelivery make_delivery;    // null: the product's
  std::function<bool()> killed;  // asked after each turn: the process is gone
  std::string* trace = nullptr;  // the events of this life are appended
};

struct LifeResult {
  bool finished = false;  // the engine is done, with `status`
  Status status;
  uint64_t epochs = 0;      // sealed in this life
  std::string status_json;  // of the last turn
};

// Runs `sql` (state in /state) until it is done, the world has crashed, or turns_max.
LifeResult RunLife(io::SimFiles& files, const std::string& sql, const LifeOptions& options);

// Calls `f` with the state directory open, as weir status and weir resolve have it: the log of
// state.db is in the database by then.
void WithStore(io::SimFiles& files, const std::function<void(store::Store&)>& f);

// What readers see, by name: append files their bytes, rolling directories the concatenation of the
// visible parts in name order, SQLite databases their tables ordered by all columns. `outputs`:
// "append:/out/x.jsonl", "rolling:/out/dir", "sqlite:/out/x.db:table".
std::map<std::string, std::string> ReadOutputs(io::SimFiles& files,
                                               const std::vector<std::string>& outputs);

// "" when both are equal, else the first output that differs and both texts around the place.
std::string Difference(const std::map<std::string, std::string>& got,
                       const std::map<std::string, std::string>& want);

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIM_SIM_ENGINE_H_
