// What judges share: counting faults and keeping the first of each.
#ifndef WEIR_QUALIFY_FINDINGS_H_
#define WEIR_QUALIFY_FINDINGS_H_

#include <string>

#include "qualify/judge.h"

namespace weir::qualify {

class Findings {
 public:
  Findings(Layer layer, const std::vector<Wish>& wishes, size_t show);
  // True: `text` will be shown (make it only then).
  bool Count(Fault fault);
  void Add(Fault fault, std::string text);  // counted with Count
  // Counts and shows: for texts that cost nothing.
  void Report(Fault fault, std::string text);
  LayerVerdict& verdict() { return verdict_; }

 private:
  LayerVerdict verdict_;
  const size_t show_;
};

// "line 3 of out.jsonl"
std::string PlaceOf(const Row& row);
// For reports: at most 200 bytes, control characters and what is no UTF-8 made visible.
std::string Shortened(std::string_view bytes);
std::string TimeText(int64_t ms);

std::unique_ptr<Judge> NewEventJudge(Layer layer, Truth& truth, const std::vector<Wish>& wishes,
                                     size_t show);
std::unique_ptr<Judge> NewWindowJudge(Truth& truth, const std::vector<Wish>& wishes, size_t show);

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_FINDINGS_H_
