// Watermarks of one source: per partition, and their minimum. Pure: event times and facts in,
// watermarks out (time.md).
//
// A partition holds the source's watermark from the moment it is assigned: with nothing read yet by
// its peek (files), or by kWatermarkNone. It stops holding when it has ended, or when it is proven
// idle; it holds again when rows come (it "woke"). The source's watermark never goes back, so a
// partition that wakes or joins may find windows closed: such late rows are counted as woke.
#ifndef WEIR_RUNTIME_WATERMARKS_H_
#define WEIR_RUNTIME_WATERMARKS_H_

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"

namespace weir::runtime {

class SourceWatermarks {
 public:
  explicit SourceWatermarks(int64_t bound_ms) : bound_ms_(bound_ms) {}

  struct Partition {
    TimestampMs max_event_time = kWatermarkNone;  // as far as rows were consumed; or the peek
    // The source's watermark when this partition began to hold it (assigned, or woke): a window
    // that was closed by then is not this partition's fault.
    TimestampMs holds_since = kWatermarkNone;
    enum class State : uint8_t { kActive, kIdle, kEnded } state = State::kActive;
  };

  // Partition `index` (dense) exists from now on.
  void Add(int index);
  void Restore(int index, const Partition& saved);
  void RestoreSource(TimestampMs watermark) { current_ = watermark; }
  // The first usable event time of a partition that was not read yet. Does nothing when its time is
  // known.
  void SetPeek(int index, TimestampMs event_time);
  void SetIdle(int index);
  void SetEnded(int index);
  // Rows are coming again (or first) from this partition.
  void SetActive(int index);

  const Partition& at(int index) const { return partitions_[index]; }
  int size() const { return static_cast<int>(partitions_.size()); }
  // Partitions that hold the watermark, lowest first: (watermark, index).
  const std::set<std::pair<TimestampMs, int>>& active() const { return active_; }
  // The lowest watermark among those whose time is known, but for `index`: what alignment looks at.
  // kWatermarkMax: no other.
  TimestampMs LowestKnownOther(int index) const;
  // max event time - bound; kWatermarkNone when nothing is known.
  TimestampMs WatermarkOf(int index) const;
  // The minimum over the active partitions but `index`; kWatermarkMax when there is no other.
  TimestampMs MinOfOthers(int index) const;

  // Row by row, for rows of `index` in reading order. Begin; then for each row Before() is the
  // watermark that the rows before it made, and Advance(ts) lets the row count. End() makes the
  // result the source's watermark.
  class Run {
   public:
    TimestampMs Before() const { return current_; }
    void Advance(TimestampMs event_time) {
      if (event_time > max_) {
        max_ = event_time;
        const TimestampMs own = max_ - bound_ms_;
        const TimestampMs low = own < others_ ? own : others_;
        if (low > current_) current_ = low;
      }
    }
    // This partition's own watermark, for alignment.
    TimestampMs Own() const { return max_ == kWatermarkNone ? kWatermarkNone : max_ - bound_ms_; }
    TimestampMs aligned_to() const { return aligned_to_; }

   private:
    friend class SourceWatermarks;
    int index_ = 0;
    int64_t bound_ms_ = 0;
    TimestampMs max_ = kWatermarkNone, others_ = kWatermarkMax, current_ = kWatermarkNone;
    TimestampMs aligned_to_ = kWatermarkMax;
  };
  Run Begin(int index) const;
  void End(const Run& run);

  // The source's watermark: never goes back. kWatermarkMax when `all_ended`.
  TimestampMs Current() const { return current_; }
  // Takes in what SetIdle/SetEnded changed; returns the watermark.
  TimestampMs Recompute();
  bool AllEnded() const;

 private:
  std::pair<TimestampMs, int> Key(int index) const { return {WatermarkOf(index), index}; }

  int64_t bound_ms_;
  std::vector<Partition> partitions_;
  std::set<std::pair<TimestampMs, int>>
      active_;  // ordered: 100,000 files cost a logarithm per batch
  int idle_count_ = 0;
  TimestampMs current_ = kWatermarkNone;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_WATERMARKS_H_
