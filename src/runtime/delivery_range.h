// DeliveryRange: which rows of sealed epochs go into one delivery, and how many of them. Pure.
// Boundaries are free at every attempt: a part of an epoch, one, or several merged.
#ifndef WEIR_RUNTIME_DELIVERY_RANGE_H_
#define WEIR_RUNTIME_DELIVERY_RANGE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "protocol/types.h"
#include "store/store.h"

namespace weir::runtime {

// Rows [from, to) of one sink in one epoch. `before`: rows of the target's sinks before it in that
// epoch.
struct DeliveryPiece {
  int sink = 0;
  EpochId epoch = 0;
  uint64_t from = 0, to = 0;
  uint64_t before = 0;
  TimestampMs watermark = kWatermarkNone;  // of the sink in that epoch
};

struct ChosenRange {
  protocol::TargetPosition to;
  uint64_t rows = 0;
  std::vector<uint64_t> by_sink;
  std::vector<DeliveryPiece> pieces;
};

using SealedRows = store::Store::EpochRows;  // of a target in one epoch

// The next rows above `acked`, at most `rows_max`. `epochs` ascending, from A's epoch on.
ChosenRange ChooseRange(const std::vector<SealedRows>& epochs,
                        const std::optional<protocol::TargetPosition>& acked, size_t sinks,
                        uint64_t rows_max);
// Rows of `epochs` in (from, to].
uint64_t RowsBetween(const std::vector<SealedRows>& epochs,
                     const std::optional<protocol::TargetPosition>& from,
                     const protocol::TargetPosition& to);

// How many rows a delivery may have, so that it takes a quarter of the time that the target gives a
// transaction: learnt from those that were made.
class RangeSizer {
 public:
  // 0: time does not matter.
  explicit RangeSizer(int64_t time_max_ms = 0)
      : time_max_ms_(time_max_ms), rows_(time_max_ms == 0 ? kRowsUntimed : kRowsFirst) {}
  uint64_t rows() const { return rows_; }
  void Took(uint64_t rows, int64_t ms);
  void Failed();

 private:
  static constexpr uint64_t kRowsMin = 100;
  static constexpr uint64_t kRowsFirst = 20000;
  static constexpr uint64_t kRowsUntimed = 100000;  // a lock on the target is held only briefly
  static constexpr uint64_t kRowsMax = 2000000;
  // At most, from one delivery to the next: a backlog is then a few large ones, and each of them
  // has taken about what the one before has shown.
  static constexpr uint64_t kGrowth = 8;
  int64_t time_max_ms_;
  uint64_t rows_;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_DELIVERY_RANGE_H_
