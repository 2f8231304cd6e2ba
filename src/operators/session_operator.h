// SessionOperator: aggregation by key in sessions: the union of [time, time + gap) of rows of one
// key that overlap or touch.
//
// A session is a slot of its key, in one of 64 hash buckets of state. Time order within a batch is
// the row's own: a session whose end - 1 is at or below a row's watermark counts as fired for that
// row, although it fires at the end of the batch. A row first joins the open sessions that it
// touches; it is late only if what results has ended by its watermark. Sessions fire in
// AdvanceWatermark by window end, then by the first row of the session (of a merged one: the
// earliest). Invariants: each session of a resident bucket has one timer, with an end at or before
// its own; an evicted bucket has one for the earliest of its sessions; an evicted bucket is clean
// and sealed.
#ifndef WEIR_OPERATORS_SESSION_OPERATOR_H_
#define WEIR_OPERATORS_SESSION_OPERATOR_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "operators/window_parts.h"
#include "state/byte_map.h"
#include "state/keyed_table.h"

namespace weir::operators {

// When a session may fire. Timers that no longer fit (merged, extended, gone) are told by the
// sequence.
struct SessionTimer {
  TimestampMs end;
  uint64_t sequence;  // 0: the bucket is evicted; load it
  uint32_t slot;
  uint8_t bucket;
};

// Timers by slices of time: adding is cheap, and what is due lies together.
class SessionTimers {
 public:
  explicit SessionTimers(int64_t slice_ms) : slice_ms_(slice_ms) {}
  void Add(const SessionTimer& timer);
  // Moves the timers with end - 1 <= watermark to `due`, in no order.
  void TakeDue(TimestampMs watermark, std::vector<SessionTimer>& due);
  template <class Predicate>
  void EraseIf(Predicate predicate) {
    for (auto& [slice, timers] : slices_) std::erase_if(timers, predicate);
  }
  uint64_t Bytes() const;

 private:
  int64_t slice_ms_;
  std::map<int64_t, std::vector<SessionTimer>> slices_;
};

class SessionOperator final : public flow::Operator {
 public:
  static Result<std::unique_ptr<SessionOperator>> Make(const plan::Node& node, const Schema& input);

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
  // The head of a slot's fixed part; part of the state format.
  struct Session {
    TimestampMs start;
    TimestampMs end;
    uint64_t sequence;  // of its first row: first-seen order over all buckets
    uint64_t rows;
  };
  static_assert(sizeof(Session) == 32);
  struct Bucket {
    std::unique_ptr<KeyedTable> table;  // null: evicted
    uint64_t rows = 0;                  // assignments in its sessions
    bool sealed = false;                // blobs of it exist
  };
  SessionOperator(const plan::Node& node, const Schema& input, const SlotLayout& layout,
                  AggregateSet aggregates);
  void Locate();  // fills hashes_ and buckets_of_, and fetches what Place will look at
  void Place(const Batch& batch, size_t i);
  uint32_t JoinSessions(Bucket& bucket, TimestampMs start, TimestampMs end);
  void CollectDue(TimestampMs watermark);  // fills due_: what fires, in order
  void Resolve(const SessionTimer& timer, TimestampMs watermark);
  bool Load(uint8_t index);
  void AddTimers(uint8_t index);
  static Session* SessionAt(KeyedTable& table, uint32_t slot) {
    return reinterpret_cast<Session*>(table.Fixed(slot));
  }

  const plan::WindowNode& window_;
  std::string name_;
  SlotLayout layout_;
  AggregateSet aggregates_;
  flow::NodeBooks books_;
  KeyEncoder keys_;
  ResultBuilder results_;
  LateRows late_;
  HomelessRows homeless_;
  WatermarkTrail trail_;
  std::vector<Bucket> buckets_;
  SessionTimers timers_;
  uint64_t next_sequence_ = 1;
  TimestampMs watermark_ = kWatermarkNone;
  flow::StateReader* state_ = nullptr;
  Status status_;
  std::vector<SessionTimer> taken_;  // of the watermark in hand
  std::vector<SessionTimer> due_;
  std::vector<uint32_t> rows_;    // of the batch in hand, with a time
  std::vector<uint32_t> hashes_;  // per row of rows_
  std::vector<uint8_t> buckets_of_;
  std::vector<uint32_t> touched_;  // sessions that the row in hand joins
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_SESSION_OPERATOR_H_
