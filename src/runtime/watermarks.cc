#include "runtime/watermarks.h"

#include <algorithm>

#include "base/check.h"

namespace weir::runtime {

void SourceWatermarks::Add(int index) {
  WEIR_CHECK(index == size());
  Partition partition;
  partition.holds_since = current_;
  partitions_.push_back(partition);
  active_.insert(Key(index));
}

void SourceWatermarks::Restore(int index, const Partition& saved) {
  WEIR_CHECK(partitions_[index].state == Partition::State::kActive);
  active_.erase(Key(index));
  partitions_[index] = saved;
  if (saved.state == Partition::State::kActive) active_.insert(Key(index));
  if (saved.state == Partition::State::kIdle) ++idle_count_;
}

void SourceWatermarks::SetPeek(int index, TimestampMs event_time) {
  Partition& p = partitions_[index];
  if (p.max_event_time != kWatermarkNone) return;
  const bool active = active_.erase(Key(index)) > 0;
  p.max_event_time = event_time;
  if (active) active_.insert(Key(index));
}

void SourceWatermarks::SetIdle(int index) {
  Partition& p = partitions_[index];
  if (p.state != Partition::State::kActive) return;
  active_.erase(Key(index));
  p.state = Partition::State::kIdle;
  ++idle_count_;
}

void SourceWatermarks::SetEnded(int index) {
  Partition& p = partitions_[index];
  active_.erase(Key(index));
  if (p.state == Partition::State::kIdle) --idle_count_;
  p.state = Partition::State::kEnded;
}

void SourceWatermarks::SetActive(int index) {
  Partition& p = partitions_[index];
  if (p.state == Partition::State::kActive) return;
  if (p.state == Partition::State::kIdle) --idle_count_;
  p.state = Partition::State::kActive;
  p.holds_since = current_;
  active_.insert(Key(index));
}

TimestampMs SourceWatermarks::WatermarkOf(int index) const {
  const TimestampMs max = partitions_[index].max_event_time;
  return max == kWatermarkNone ? kWatermarkNone : max - bound_ms_;
}

TimestampMs SourceWatermarks::MinOfOthers(int index) const {
  auto lowest = active_.begin();
  if (lowest != active_.end() && lowest->second == index) ++lowest;
  return lowest == active_.end() ? kWatermarkMax : lowest->first;
}

TimestampMs SourceWatermarks::LowestKnownOther(int index) const {
  auto lowest = active_.upper_bound({kWatermarkNone, INT32_MAX});
  if (lowest != active_.end() && lowest->second == index) ++lowest;
  return lowest == active_.end() ? kWatermarkMax : lowest->first;
}

SourceWatermarks::Run SourceWatermarks::Begin(int index) const {
  Run run;
  run.index_ = index;
  run.bound_ms_ = bound_ms_;
  run.max_ = partitions_[index].max_event_time;
  run.others_ = MinOfOthers(index);
  run.aligned_to_ = LowestKnownOther(index);
  run.current_ = current_;
  return run;
}

void SourceWatermarks::End(const Run& run) {
  const bool active = active_.erase(Key(run.index_)) > 0;
  partitions_[run.index_].max_event_time = run.max_;
  if (active) active_.insert(Key(run.index_));
  current_ = std::max(current_, run.current_);
}

TimestampMs SourceWatermarks::Recompute() {
  if (partitions_.empty()) return current_;
  // All idle: nothing is known of the time, so it stands still. All ended: the bounded input is
  // over.
  if (active_.empty() && idle_count_ > 0) return current_;
  current_ = std::max(current_, active_.empty() ? kWatermarkMax : active_.begin()->first);
  return current_;
}

bool SourceWatermarks::AllEnded() const { return active_.empty() && idle_count_ == 0; }

}  // namespace weir::runtime
