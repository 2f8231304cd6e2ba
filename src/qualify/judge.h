// Judges: one per layer. Each is handed every row of its layer, and says what is missing, twice
// there, other than it must be, or not of this generator at all.
//
// Late rows are judged before windows: what was filed as late is taken out of its window. No judge
// reads or writes anything but rows and Truth.
#ifndef WEIR_QUALIFY_JUDGE_H_
#define WEIR_QUALIFY_JUDGE_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "qualify/rows.h"
#include "qualify/truth.h"

namespace weir::qualify {

enum class Layer : uint8_t { kRaw, kCleaned, kLate, kDead, kWindows };
inline constexpr std::array kLayers = {Layer::kRaw, Layer::kCleaned, Layer::kDead, Layer::kLate,
                                       Layer::kWindows};  // in the order of judging
std::string_view LayerName(Layer layer);

enum class Fault : uint8_t {
  kMissing,      // must be there and is not
  kDuplicate,    // there more often than it was produced, or a window's item in two equal rows
  kConflicting,  // there with other values
  kForeign,      // nothing that was produced, or not for this layer
  kOnTime,       // filed as late, and its own partition says that it was not
};
inline constexpr size_t kFaults = 5;
std::string_view FaultName(Fault fault);

struct Finding {
  Fault fault;
  std::string text;  // with sequence numbers, as partition:sequence
};
struct LayerVerdict {
  Layer layer = Layer::kRaw;
  uint64_t rows = 0;    // read
  uint64_t judged = 0;  // records, or items of windows, that had to be there and were judged
  uint64_t open = 0;    // windows whose input is not known to be complete: not judged
  uint64_t ahead = 0;   // rows of records that the ledger does not know yet: not judged
  std::array<uint64_t, kFaults> faults{};
  std::vector<Finding> findings;          // the first ones
  std::vector<std::string> not_compared;  // columns

  bool exact() const;
};

// layer and column as the judge knows it -> its name in the output, "" when it has none.
using ColumnNames = std::map<std::pair<Layer, std::string>, std::string>;
// The columns that a layer is read with. kUsage: no such column, or one that cannot be left out.
Result<std::vector<Wish>> WishesOf(Layer layer, const ColumnNames& names);

class Judge {
 public:
  virtual ~Judge() = default;
  virtual void Take(const Row& row) = 0;
  virtual LayerVerdict Finish() = 0;  // after the last row, once
};
// Windows and Late work on one Truth: Late first. `wishes` tell which columns are not compared.
// At most `show` findings are kept of each fault; all are counted.
std::unique_ptr<Judge> NewJudge(Layer layer, Truth& truth, const std::vector<Wish>& wishes,
                                size_t show);

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_JUDGE_H_
