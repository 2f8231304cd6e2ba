// The pipelines that every fault of the simulated world is held against, with their input.
#ifndef WEIR_TESTS_SIM_PIPELINES_H_
#define WEIR_TESTS_SIM_PIPELINES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/sim_files.h"

namespace weir::sim {

struct Pipeline {
  std::string name;
  std::string sql;
  std::vector<std::string> outputs;  // as ReadOutputs takes them
};

const std::vector<Pipeline>& Pipelines();

// How much is tried. `tests/run.sh full` sets WEIR_SIM_FULL: each operation, and many seeds; else a
// sample. WEIR_SIM_STEP and WEIR_SIM_SEEDS say it by number, for looking into something.
struct Effort {
  uint64_t step;   // 1 in so many of the operations
  uint64_t seeds;  // of a world that is made of luck
};
Effort SimEffort();

// A world with the input files, an empty /out and nothing else.
std::unique_ptr<io::SimFiles> NewWorld(int rows);

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIM_PIPELINES_H_
