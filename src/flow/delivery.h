// SinkDelivery: the second half of a sink with a target outside our own files. Runs on the target's
// delivery worker; one at a time per target.
//
// Every delivery is the same path, the first after a start and every other: Look -> (compare) ->
// Fence -> (receipt) -> protocol::DecideDelivery -> [Scan] -> durable F -> Deliver -> acked ->
// Close. Delivering an unsealed epoch does not compile: only store/ can mint a SealedProof.
#ifndef WEIR_FLOW_DELIVERY_H_
#define WEIR_FLOW_DELIVERY_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/batch.h"
#include "protocol/delivery.h"
#include "protocol/types.h"
#include "protocol/whereabouts.h"

namespace weir::store {
class Store;
}

namespace weir::flow {

// All epochs of `lineage` up to `through` are sealed.
class SealedProof {
 public:
  EpochId through() const { return through_; }
  const Lineage& lineage() const { return lineage_; }

 private:
  friend class ::weir::store::Store;
  SealedProof(Lineage lineage, EpochId through) : lineage_(lineage), through_(through) {}
  Lineage lineage_;
  EpochId through_ = 0;
};

// Where the rows of a batch stand in their epoch.
struct RowsAt {
  int sink = 0;  // index into the target's sinks
  EpochId epoch = 0;
  uint64_t first = 0;  // number of the batch's row 0 in the epoch, from 1: row i is the position
                       // (epoch, first + i)
  // store::FrozenSink::watermark of the sink in this epoch. Filled for a delivery only.
  TimestampMs watermark = kWatermarkNone;
};

// Rows (from, to] of a target, read back from the spool, sink by sink within an epoch, in staged
// order.
class RowReader {
 public:
  virtual ~RowReader() = default;
  // The next batch of rows of one sink; false at the end of the range. Read by a spool alone,
  // `first` counts the rows of that sink; read by a delivery, the rows of the target.
  virtual Result<bool> Next(RowsAt* at, Batch& out) = 0;
};

struct DeliveryRange {
  std::optional<protocol::TargetPosition>
      from;  // A; nullopt: empty (the first delivery of this lineage)
  protocol::TargetPosition to;
  Digest256 hash;     // h(to.epoch)
  uint64_t rows = 0;  // in it
};

// What a kind of target needs from whoever drives it.
struct DeliveryTraits {
  std::string_view kind;  // first word of a park's rule: "sql", "kafka"
  // False: the target keeps none (at least once); our own note of A is all there is.
  bool keeps_receipt = true;
  // The receipt may be lost or hidden (offset retention, a deleted group): F is durable before the
  // first byte, and Scan is the second proof. False: the receipt lies in the transaction itself.
  bool receipt_can_hide = false;
  int64_t time_max_ms = 0;  // one delivery should take no longer; 0: does not matter
  uint64_t rows_max = 0;    // one delivery has no more; 0: as many as fit into time_max_ms
  int64_t merge_ms = 0;     // small epochs that come faster than this are merged
  int64_t refresh_ms =
      0;  // an idle target's receipt is written again so often; 0: it cannot expire
  int64_t session_ms = 0;  // the target itself ends a session that is older (transaction time-out)
};

struct Fenced {
  std::optional<protocol::Receipt> receipt;  // R
  // Found beside R where an earlier SQL of this directory may have kept its own: held to rows 1
  // and 2 only.
  std::vector<protocol::Receipt> others;
  protocol::Whereabouts at;  // after fencing: where a scan for what is delivered now begins
  int64_t written_ms = 0;    // wall clock of R's writer; 0: not known
  // Sessions of our name that were opened since our last one, and not by us: told, never decided
  // by.
  uint64_t by_others = 0;
};

// What a scan looks for: rows of `lineage` above `from`, beginning at `since`.
struct ScanRange {
  Lineage lineage;
  std::optional<protocol::TargetPosition> from;
  std::optional<protocol::TargetPosition> to;  // F.to; nullopt: no F
  uint64_t rows = 0;                           // in (from, to]
  protocol::Whereabouts since;
};

class SinkDelivery {
 public:
  virtual ~SinkDelivery() = default;
  virtual DeliveryTraits Traits() const = 0;
  // The name under which sessions fence each other; "" before Look, and for targets that need none.
  // Every one that this directory ever used is remembered.
  virtual std::string SessionName() const = 0;
  // Opens a session and looks, changing nothing and fencing nobody: what stands there now. The
  // caller compares it with what was recorded. Empty for targets without whereabouts.
  virtual Result<protocol::Whereabouts> Look() = 0;
  // Makes every older session of ours harmless, and those of `ancestors` (names of earlier fresh
  // starts); then reads the receipt. kUnavailable / kBusy: try again with back-off; nothing
  // happened. kTwin: another session of our name has fenced this one.
  virtual Result<Fenced> Fence(const std::vector<std::string>& ancestors) = 0;
  // The second proof, in the session of the last Fence: which of our rows stand there. Waits for
  // other writers' open transactions (kUnavailable when that takes long): no verdict from a
  // time-out. Only for traits().receipt_can_hide.
  virtual Result<protocol::ScanFacts> Scan(const ScanRange& range) = 0;
  // Makes the rows visible together with the receipt, or not at all. OK is the only proof of a
  // commit, and says where the target's partitions end now; every other status is in doubt (take
  // the path from its start), except kNoSpace: nothing was delivered. kTwin: fenced meanwhile.
  virtual Result<protocol::Whereabouts> Deliver(const SealedProof& proof,
                                                const DeliveryRange& range, RowReader& rows) = 0;
  // Writes the receipt again and nothing else, so that it does not expire. Same outcomes.
  virtual Status Refresh(const protocol::Receipt& receipt) = 0;
  // After a delivery, when nothing is in progress: gets ready what the next Look would wait for.
  // Changes nothing at the target, and may do nothing.
  virtual void Prepare() = 0;
  // Drops the session (after each delivery, whatever its outcome).
  virtual void Close() = 0;
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_DELIVERY_H_
