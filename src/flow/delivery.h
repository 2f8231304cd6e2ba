// SinkDelivery: the second half of a sink with a target outside our own files. Runs on the target's
// delivery worker; one at a time per target.
//
// Every delivery is the same path, the first after a start and every other: Fence -> (receipt) ->
// protocol::DecideDelivery -> Deliver -> acked. Delivering an unsealed epoch does not compile: only
// store/ can mint a SealedProof.
#ifndef WEIR_FLOW_DELIVERY_H_
#define WEIR_FLOW_DELIVERY_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/batch.h"
#include "protocol/types.h"

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

// Rows (from, to] of a target, read back from the spool, sink by sink within an epoch, in staged
// order.
class RowReader {
 public:
  virtual ~RowReader() = default;
  // The next batch of rows of one sink; false at the end of the range. `sink` = index into the
  // target's sinks.
  virtual Result<bool> Next(int* sink, Batch& out) = 0;
};

struct DeliveryRange {
  std::optional<protocol::TargetPosition>
      from;  // A; nullopt: empty (the first delivery of this lineage)
  protocol::TargetPosition to;
  Digest256 hash;  // h(to.epoch)
};

class SinkDelivery {
 public:
  virtual ~SinkDelivery() = default;
  // Opens the target, makes every older session of ours harmless, and reads the receipt.
  // kUnavailable / kBusy: try again with back-off; nothing happened.
  virtual Result<std::optional<protocol::Receipt>> Fence() = 0;
  // Makes the rows visible together with the receipt, or not at all. OK is the only proof of a
  // commit; every other status is in doubt (take the path from its start), except kNoSpace: nothing
  // was delivered.
  virtual Status Deliver(const SealedProof& proof, const DeliveryRange& range, RowReader& rows) = 0;
  // Drops the session (after each delivery, whatever its outcome).
  virtual void Close() = 0;
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_DELIVERY_H_
