// TumbleOperator: aggregation by key in fixed windows [start, end), start = offset + k * size.
//
// A window is one bucket of state, named by its end; a row belongs to one window. A row is late
// when its window's end - 1 is at or below the watermark that the rows before it made
// (batch.watermarks), so the result is the same for every batch size. Windows fire in
// AdvanceWatermark, by window end, their rows in first-seen order of the keys. Invariants: no
// window with end - 1 <= watermark_ is in windows_; a window that is not resident is clean and
// sealed.
#ifndef WEIR_OPERATORS_TUMBLE_OPERATOR_H_
#define WEIR_OPERATORS_TUMBLE_OPERATOR_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operators/window_parts.h"
#include "state/keyed_table.h"

namespace weir::operators {

class TumbleOperator final : public flow::Operator {
 public:
  static Result<std::unique_ptr<TumbleOperator>> Make(const plan::Node& node, const Schema& input);

  void Push(const Batch& batch, flow::Outputs& out) override;
  void AdvanceWatermark(TimestampMs watermark, flow::Outputs& out) override;
  Status Restore(flow::StateReader& state) override;
  void Freeze(std::vector<flow::BucketDelta>& out) override;
  uint64_t StateBytes() const override;
  uint64_t Evict(uint64_t target_bytes) override;
  Status status() const override { return status_.ok() ? results_.status() : status_; }
  void CountBooks(flow::NodeBooks& books) const override;
  flow::NodeBooks& books() override { return books_; }

 private:
  struct Window {
    TimestampMs start = 0;
    TimestampMs end = 0;
    uint64_t rows = 0;                  // assignments; in the blob's meta
    std::unique_ptr<KeyedTable> table;  // null: evicted; its blobs hold all of it
    bool sealed = false;                // blobs of it exist
    uint64_t batch = 0;                 // of the last batch that had rows for it,
    uint32_t local = 0;                 // and its index in local_ then
  };

  TumbleOperator(const plan::Node& node, const Schema& input, const SlotLayout& layout,
                 AggregateSet aggregates);
  // The steps of Push.
  bool Place(const Batch& batch);  // fills placed_, late and dead rows; false: state cannot be read
  void FindSlots(size_t begin, size_t end);
  void Aggregate(const Batch& batch, size_t begin, size_t end);

  uint32_t KnownWindow(TimestampMs time) const;
  TimestampMs WindowStart(TimestampMs time) const;
  Window* WindowAt(TimestampMs start, TimestampMs end);
  uint32_t LocalIndex(Window& window);
  bool Load(Window& window);
  void Fire(Window& window, flow::Outputs& out);
  static std::string BucketOf(TimestampMs end);
  static uint64_t BytesOf(const Window& window);

  const plan::WindowNode& window_;
  SlotLayout layout_;
  AggregateSet aggregates_;
  flow::NodeBooks books_;
  KeyEncoder keys_;
  ResultBuilder results_;
  LateRows late_;
  HomelessRows homeless_;
  WatermarkTrail trail_;
  std::map<TimestampMs, Window> windows_;  // by end
  std::vector<std::string> dropped_;   // sealed buckets whose window fired since the last Freeze
  std::unique_ptr<KeyedTable> spare_;  // empty; of the window that fired last
  TimestampMs watermark_ = kWatermarkNone;
  flow::StateReader* state_ = nullptr;
  Status status_;

  // Of the batch in hand; kept for their memory.
  uint64_t batch_number_ = 0;
  SelectedRows selected_;
  std::vector<Window*> local_;       // windows that have rows in it
  std::vector<uint32_t> placed_;     // rows that are in a window,
  std::vector<uint32_t> window_of_;  // their index in local_,
  std::vector<uint32_t> hashes_;
  std::vector<uint32_t> slots_;
  std::vector<char*> fixed_;
  std::vector<KeyedTable*> tables_;
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_TUMBLE_OPERATOR_H_
