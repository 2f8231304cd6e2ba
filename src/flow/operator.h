// Operator: a node between a scan and a sink. Runs on the loop thread; owns its state; knows no
// file, no store, no clock.
#ifndef WEIR_FLOW_OPERATOR_H_
#define WEIR_FLOW_OPERATOR_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "data/batch.h"
#include "flow/books.h"

namespace weir::flow {

// Where an operator's rows go. A row leaves on exactly one edge. The batch is only borrowed for the
// call.
class Outputs {
 public:
  virtual ~Outputs() = default;
  virtual void Main(const Batch& batch) = 0;
  virtual void Late(const Batch& batch) = 0;
  virtual void Dead(const Batch& batch) = 0;  // of DeadLetterSchema()
  // Downstream's watermark is now `watermark`: called by a window between two windows that fire in
  // one call, so that time advances window by window below it (time.md). Monotone; the runtime
  // calls AdvanceWatermark of the consumers.
  virtual void Watermark(TimestampMs watermark) = 0;
};

// One entry of keyed state as it is frozen at a cut: all dirty entries of one bucket.
struct BucketDelta {
  std::string
      bucket;  // TUMBLE: the window end as 8 bytes big-endian (sorts by time); hash buckets: 1 byte
  bool dropped = false;  // the bucket is gone (its window fired): all its older blobs are deleted
  std::string blob;      // put and delete entries (state/ codec), empty when dropped
  uint64_t entries = 0;
};

// How an operator reads back what was sealed: at restore, and a bucket that was evicted from
// memory.
class StateReader {
 public:
  virtual ~StateReader() = default;
  // Calls `f(blob)` for each blob of the bucket, oldest first. kCorruption when a CRC does not
  // match.
  virtual Status ReadBucket(std::string_view bucket,
                            const std::function<Status(std::string_view blob)>& f) = 0;
  // Every bucket that has blobs, in byte order, with their total size.
  virtual Status ListBuckets(
      const std::function<void(std::string_view bucket, uint64_t bytes)>& f) = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual void Push(const Batch& batch, Outputs& out) = 0;
  // Event time has reached `watermark` on the input. Never goes back. kWatermarkMax: the bounded
  // input has ended.
  virtual void AdvanceWatermark(TimestampMs watermark, Outputs& out) = 0;

  // State. An operator without state does nothing in these (and says so: there are no default
  // bodies). Restore: before the first Push; `state` stays valid for the operator's life (evicted
  // buckets are read through it).
  virtual Status Restore(StateReader& state) = 0;
  // The cut: appends the deltas since the last Freeze (a gather copy of dirty slots), and marks all
  // clean.
  virtual void Freeze(std::vector<BucketDelta>& out) = 0;
  // Bytes of keyed state in memory.
  virtual uint64_t StateBytes() const = 0;
  // Called after the seal that wrote the last Freeze: drop clean buckets, latest-firing (farthest
  // from the watermark) last... oldest window first, until at most `target_bytes` stay. Returns
  // bytes freed.
  virtual uint64_t Evict(uint64_t target_bytes) = 0;
  // A failure while reading an evicted bucket back is sticky: the runtime asks after each call.
  virtual Status status() const = 0;

  virtual void CountBooks(NodeBooks& books)
      const = 0;  // adds gauges (open assignments); counters are kept in books() below
  virtual NodeBooks&
  books() = 0;  // cumulative counters of the lineage; restored by the runtime before Restore
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_OPERATOR_H_
