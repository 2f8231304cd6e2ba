// The pipelines that every fault of the simulated world is held against, with their input.
#ifndef WEIR_TESTS_SIM_PIPELINES_H_
#define WEIR_TESTS_SIM_PIPELINES_H_

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
// A world with the input files, an empty /out and nothing else.
std::unique_ptr<io::SimFiles> NewWorld(int rows);

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIM_PIPELINES_H_
