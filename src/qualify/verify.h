// Verify: the ledger, the truth, the judges and their readers put together, and the verdict as
// text.
#ifndef WEIR_QUALIFY_VERIFY_H_
#define WEIR_QUALIFY_VERIFY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "qualify/judge.h"
#include "qualify/rows.h"
#include "qualify/truth.h"

namespace weir::qualify {

struct LayerInput {
  Layer layer = Layer::kRaw;
  std::vector<Wish> wishes;
  std::unique_ptr<LayerReader> reader;
};

enum class Outcome {
  kExact,
  kNotExact,
  kInconclusive,  // nothing wrong was found, and a layer had nothing that could be judged
};
struct Verdict {
  Outcome outcome = Outcome::kInconclusive;
  GenParameters parameters;
  uint64_t produced = 0;
  bool ended = false;
  int64_t window_ms = 0;
  std::vector<LayerVerdict> layers;
};

// Reads every layer once and judges it. kUsage: windows without late rows where events may be late
// (a loss could pass for lateness). `progress`: called now and then with the layer that is read and
// its rows so far.
Result<Verdict> Verify(const Ledger& ledger, const TruthOptions& options,
                       std::vector<LayerInput>& layers, size_t show,
                       const std::function<void(Layer, uint64_t)>& progress);

std::string VerdictText(const Verdict& verdict);
std::string VerdictJson(const Verdict& verdict);

std::string Grouped(uint64_t n);  // "1,234,567"

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_VERIFY_H_
