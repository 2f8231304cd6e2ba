#include "runtime/delivery_range.h"

#include <doctest/doctest.h>

namespace weir::runtime {
namespace {

using Position = protocol::TargetPosition;

const std::vector<SealedRows> kEpochs = {
    {3, {4, 2}, 6, {30, 31}}, {5, {0, 3}, 3, {kWatermarkNone, 51}}, {6, {5, 0}, 5, {60, 0}}};

TEST_CASE("delivery range: boundaries are free, contiguous, and never beyond what is sealed") {
  struct Case {
    const char* name;
    std::optional<Position> acked;
    uint64_t rows_max;
    Position to;
    uint64_t rows;
    std::vector<uint64_t> by_sink;
  };
  const Case cases[] = {
      {"all of it", std::nullopt, 100, {6, 5}, 14, {9, 5}},
      {"a part of an epoch", std::nullopt, 3, {3, 3}, 3, {3, 0}},
      {"a part across sinks", std::nullopt, 5, {3, 5}, 5, {4, 1}},
      {"from within an epoch", Position{3, 3}, 2, {3, 5}, 2, {1, 1}},
      {"from within the second sink", Position{3, 5}, 4, {5, 3}, 4, {0, 4}},
      {"from the end of an epoch", Position{3, 6}, 4, {6, 1}, 4, {1, 3}},
      {"nothing left", Position{6, 5}, 4, {0, 0}, 0, {0, 0}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const ChosenRange range = ChooseRange(kEpochs, c.acked, 2, c.rows_max);
    CHECK(range.rows == c.rows);
    CHECK(range.by_sink == c.by_sink);
    if (c.rows == 0) continue;
    CHECK(range.to == c.to);
    CHECK(RowsBetween(kEpochs, c.acked, c.to) == c.rows);
  }
}

TEST_CASE("delivery range: whatever the size, deliveries in a row number each row once") {
  for (uint64_t size = 1; size <= 15; ++size) {
    std::optional<Position> acked;
    std::vector<Position> seen;
    for (;;) {
      const ChosenRange range = ChooseRange(kEpochs, acked, 2, size);
      if (range.rows == 0) break;
      for (const DeliveryPiece& piece : range.pieces) {
        for (uint64_t row = piece.from; row < piece.to; ++row)
          seen.push_back({piece.epoch, piece.before + row + 1});
      }
      CHECK(seen.back() == range.to);
      acked = range.to;
    }
    std::vector<Position> want;
    for (const SealedRows& e : kEpochs) {
      for (uint64_t row = 1; row <= e.total; ++row) want.push_back({e.epoch, row});
    }
    CHECK(seen == want);
  }
}

TEST_CASE("delivery range: a piece brings the watermark of its sink in its epoch") {
  std::vector<TimestampMs> got;
  for (const DeliveryPiece& piece : ChooseRange(kEpochs, Position{3, 1}, 2, 100).pieces)
    got.push_back(piece.watermark);
  CHECK(got == std::vector<TimestampMs>{30, 31, 51, 60});
}

TEST_CASE("range sizer: learns what fits into the time, and halves what failed") {
  RangeSizer sizer(15000);
  const uint64_t first = sizer.rows();
  sizer.Took(first, 100);
  CHECK(sizer.rows() == 8 * first);  // no more than eight times at a time
  sizer.Took(10, 14000);             // a small one says nothing
  CHECK(sizer.rows() == 8 * first);
  sizer.Took(sizer.rows(), 60000);
  CHECK(sizer.rows() == 2 * first);
  sizer.Failed();
  CHECK(sizer.rows() == first);
  for (int i = 0; i < 40; ++i) sizer.Failed();
  CHECK(sizer.rows() == 100);
  RangeSizer untimed;
  untimed.Failed();
  untimed.Took(untimed.rows(), 1000000);
  CHECK(untimed.rows() == 100000);
}

}  // namespace
}  // namespace weir::runtime
