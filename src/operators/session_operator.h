// SessionOperator: aggregation by key in sessions: the union of [time, time + gap) of rows of one key that overlap or touch.
//
// A session is a slot of its key, in one of 64 hash buckets of state. Time order within a batch is the row's own: a session
// whose end - 1 is at or below a row's watermark counts as fired for that row, although it fires at the end of the batch. A
// row first joins the open sessions that it touches; it is late only if what results has ended by its watermark.
// Sessions fire in AdvanceWatermark by window end, then by the first row of the session (of a merged one: the earliest).
// Invariants: each session of a resident bucket has one entry in timers_, with an end at or before its own; an evicted
// bucket has one for the earliest of its sessions; an evicted bucket is clean and sealed.
#ifndef WEIR_OPERATORS_SESSION_OPERATOR_H_
#define WEIR_OPERATORS_SESSION_OPERATOR_H_

#include <memory>
#include <string>
#include <vector>

#include "operators/window_parts.h"
#include "state/byte_map.h"
#include "state/keyed_table.h"

namespace weir::operators {

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
    uint64_t sequence;        // of its first row: first-seen order over all buckets
    uint64_t rows;
  };
  static_assert(sizeof(Session) == 32);
  struct Bucket {
    std::unique_ptr<KeyedTable> table;   // null: evicted
    uint64_t rows = 0;                   // assignments in its sessions
    bool sealed = false;                 // blobs of it exist
  };
  // When a session may fire. Entries that no longer fit (merged, extended, gone) are told by the sequence.
  struct Timer {
    TimestampMs end;
    uint64_t sequence;        // 0: the bucket is evicted; load it
    uint32_t slot;
    uint8_t bucket;
    bool operator>(const Timer& other) const {
      return end != other.end ? end > other.end : sequence > other.sequence;
    }
  };

  SessionOperator(const plan::Node& node, const Schema& input, const SlotLayout& layout,
                  AggregateSet aggregates);
  void Place(const Batch& batch, uint32_t row, std::string_view key);
  uint32_t JoinSessions(Bucket& bucket, TimestampMs start, TimestampMs end);
  bool IsDue(const Timer& timer);
  bool Load(uint8_t index);
  void PushTimer(const Timer& timer);
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
  NullTimeRows null_times_;
  WatermarkTrail trail_;
  std::vector<Bucket> buckets_;
  std::vector<Timer> timers_;           // a heap, the earliest on top
  uint64_t next_sequence_ = 1;
  TimestampMs watermark_ = kWatermarkNone;
  flow::StateReader* state_ = nullptr;
  Status status_;
  std::vector<uint32_t> rows_;          // of the batch in hand, with a time
  std::vector<uint32_t> touched_;       // sessions that the row in hand joins
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_SESSION_OPERATOR_H_
