#include "runtime/watermarks.h"

#include <algorithm>

#include "base/check.h"

namespace weir::runtime {

void SourceWatermarks::Add(int index) {
  WEIR_CHECK(index == size());
  Partition partition;
  partition.holds_since = current_;
  partitions_.push_back(partition);
  active_.push_back(index);
}

void SourceWatermarks::Leave(int index) {
  active_.erase(std::find(active_.begin(), active_.end(), index));
}

void SourceWatermarks::Restore(int index, const Partition& saved) {
  WEIR_CHECK(partitions_[index].state == Partition::State::kActive);
  partitions_[index] = saved;
  if (saved.state != Partition::State::kActive) Leave(index);
  if (saved.state == Partition::State::kIdle) ++idle_count_;
}

void SourceWatermarks::SetPeek(int index, TimestampMs event_time) {
  Partition& p = partitions_[index];
  if (p.max_event_time == kWatermarkNone) p.max_event_time = event_time;
}

void SourceWatermarks::SetIdle(int index) {
  Partition& p = partitions_[index];
  if (p.state != Partition::State::kActive) return;
  p.state = Partition::State::kIdle;
  ++idle_count_;
  Leave(index);
}

void SourceWatermarks::SetEnded(int index) {
  Partition& p = partitions_[index];
  if (p.state == Partition::State::kActive) Leave(index);
  if (p.state == Partition::State::kIdle) --idle_count_;
  p.state = Partition::State::kEnded;
}

void SourceWatermarks::SetActive(int index) {
  Partition& p = partitions_[index];
  if (p.state == Partition::State::kActive) return;
  if (p.state == Partition::State::kIdle) --idle_count_;
  p.state = Partition::State::kActive;
  p.holds_since = current_;
  active_.push_back(index);
}

TimestampMs SourceWatermarks::WatermarkOf(int index) const {
  const TimestampMs max = partitions_[index].max_event_time;
  return max == kWatermarkNone ? kWatermarkNone : max - bound_ms_;
}

TimestampMs SourceWatermarks::MinOfOthers(int index) const {
  TimestampMs low = kWatermarkMax;
  for (const int i : active_) {
    if (i != index) low = std::min(low, WatermarkOf(i));
  }
  return low;
}

SourceWatermarks::Run SourceWatermarks::Begin(int index) const {
  Run run;
  run.index_ = index;
  run.bound_ms_ = bound_ms_;
  run.max_ = partitions_[index].max_event_time;
  run.others_ = MinOfOthers(index);
  run.current_ = current_;
  return run;
}

void SourceWatermarks::End(const Run& run) {
  partitions_[run.index_].max_event_time = run.max_;
  current_ = std::max(current_, run.current_);
}

TimestampMs SourceWatermarks::Recompute() {
  if (partitions_.empty()) return current_;
  // All idle: nothing is known of the time, so it stands still. All ended: the bounded input is
  // over.
  if (active_.empty() && idle_count_ > 0) return current_;
  TimestampMs low = kWatermarkMax;
  for (const int i : active_) low = std::min(low, WatermarkOf(i));
  current_ = std::max(current_, low);
  return current_;
}

bool SourceWatermarks::AllEnded() const { return active_.empty() && idle_count_ == 0; }

}  // namespace weir::runtime
