#include "runtime/delivery_range.h"

#include <algorithm>

namespace weir::runtime {

ChosenRange ChooseRange(const std::vector<SealedRows>& epochs,
                        const std::optional<protocol::TargetPosition>& acked, size_t sinks,
                        uint64_t rows_max) {
  ChosenRange out;
  out.by_sink.assign(sinks, 0);
  for (const SealedRows& e : epochs) {
    if (acked && e.epoch < acked->epoch) continue;
    uint64_t skip = acked && e.epoch == acked->epoch ? std::min(acked->rows, e.total) : 0;
    if (skip == e.total) continue;
    uint64_t take = std::min(e.total - skip, rows_max - out.rows);
    if (take == 0) break;
    out.to = {e.epoch, skip + take};
    out.rows += take;
    uint64_t before = 0;
    for (size_t s = 0; s < sinks && take > 0; ++s) {
      const uint64_t done = std::min(skip, e.rows[s]);
      const uint64_t part = std::min(e.rows[s] - done, take);
      if (part > 0) {
        out.by_sink[s] += part;
        out.pieces.push_back(
            {static_cast<int>(s), e.epoch, done, done + part, before, e.watermarks[s]});
      }
      before += e.rows[s];
      skip -= done;
      take -= part;
    }
  }
  return out;
}

uint64_t RowsBetween(const std::vector<SealedRows>& epochs,
                     const std::optional<protocol::TargetPosition>& from,
                     const protocol::TargetPosition& to) {
  uint64_t rows = 0;
  for (const SealedRows& e : epochs) {
    if (e.epoch > to.epoch || (from && e.epoch < from->epoch)) continue;
    const uint64_t end = e.epoch == to.epoch ? std::min(to.rows, e.total) : e.total;
    const uint64_t begin = from && e.epoch == from->epoch ? std::min(from->rows, end) : 0;
    rows += end - begin;
  }
  return rows;
}

void RangeSizer::Took(uint64_t rows, int64_t ms) {
  // A small delivery says more about the fixed cost than about the rows.
  if (time_max_ms_ == 0 || rows < rows_ / 2) return;
  const uint64_t fits =
      rows * static_cast<uint64_t>(time_max_ms_) / static_cast<uint64_t>(std::max<int64_t>(ms, 1));
  rows_ = std::clamp(std::min(fits, rows_ * kGrowth), kRowsMin, kRowsMax);
}

void RangeSizer::Failed() {
  if (time_max_ms_ != 0) rows_ = std::max(kRowsMin, rows_ / 2);
}

}  // namespace weir::runtime
