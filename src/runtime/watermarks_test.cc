#include "runtime/watermarks.h"

#include <doctest/doctest.h>

namespace weir::runtime {

namespace {

using State = SourceWatermarks::Partition::State;

// Lets rows of one partition pass and returns the watermark that each saw.
std::vector<TimestampMs> Pass(SourceWatermarks& w, int partition,
                              const std::vector<TimestampMs>& rows) {
  std::vector<TimestampMs> seen;
  SourceWatermarks::Run run = w.Begin(partition);
  for (const TimestampMs t : rows) {
    seen.push_back(run.Before());
    run.Advance(t);
  }
  w.End(run);
  return seen;
}

}  // namespace

TEST_CASE("a row sees the watermark that the rows before it made, whatever the batch") {
  const std::vector<TimestampMs> rows = {100, 90, 130, 120, 200};
  const std::vector<TimestampMs> want = {kWatermarkNone, 95, 95, 125, 125};
  for (const size_t batch : {1u, 2u, 5u}) {
    SourceWatermarks w(5);
    w.Add(0);
    std::vector<TimestampMs> seen;
    for (size_t i = 0; i < rows.size(); i += batch) {
      const auto part =
          Pass(w, 0, {rows.begin() + i, rows.begin() + std::min(rows.size(), i + batch)});
      seen.insert(seen.end(), part.begin(), part.end());
    }
    CHECK(seen == want);
    CHECK(w.Current() == 195);
  }
}

TEST_CASE("the source's watermark is the minimum over its partitions") {
  SourceWatermarks w(0);
  w.Add(0);
  w.Add(1);
  Pass(w, 0, {100});
  CHECK(w.Current() == kWatermarkNone);  // partition 1 has delivered nothing: it holds
  Pass(w, 1, {40});
  CHECK(w.Current() == 40);
  Pass(w, 1, {300});
  CHECK(w.Current() == 100);
}

TEST_CASE("a peek is the partition's time until it is read") {
  SourceWatermarks w(10);
  w.Add(0);
  w.Add(1);
  w.SetPeek(1, 500);
  Pass(w, 0, {1000});
  CHECK(w.Recompute() == 490);
  w.SetPeek(1, 5);  // known already
  CHECK(w.WatermarkOf(1) == 490);
}

TEST_CASE(
    "an ended or idle partition leaves the minimum; all idle: time stands still; all ended: the "
    "end") {
  SourceWatermarks w(0);
  w.Add(0);
  w.Add(1);
  Pass(w, 0, {100});
  w.SetIdle(1);
  CHECK(w.Recompute() == 100);
  w.SetIdle(0);
  CHECK(w.Recompute() == 100);
  CHECK(!w.AllEnded());
  w.SetEnded(0);
  w.SetEnded(1);
  CHECK(w.AllEnded());
  CHECK(w.Recompute() == kWatermarkMax);
}

TEST_CASE("a partition that wakes holds again, and remembers what had closed by then") {
  SourceWatermarks w(0);
  w.Add(0);
  w.Add(1);
  w.SetIdle(1);
  Pass(w, 0, {100});
  CHECK(w.Recompute() == 100);
  w.SetActive(1);
  CHECK(w.at(1).holds_since == 100);
  Pass(w, 0, {200});
  CHECK(w.Current() == 100);  // never back, and held by partition 1
  CHECK(w.at(1).state == State::kActive);
}

TEST_CASE("the watermark never goes back, not even for a new partition") {
  SourceWatermarks w(0);
  w.Add(0);
  Pass(w, 0, {100});
  w.Add(1);
  Pass(w, 1, {10});
  CHECK(w.Recompute() == 100);
  CHECK(w.at(1).holds_since == 100);
}

}  // namespace weir::runtime
