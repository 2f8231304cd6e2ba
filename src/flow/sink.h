// A sink has two halves. SinkStage takes rows as the epoch produces them and makes them durable
// before the seal; SinkDelivery takes the proof of a seal and makes the epochs visible in a target,
// with a receipt. A local file is its own stage and needs no delivery; the spool (store/spool) is
// the stage of every other target. print and blackhole have no stage: at least once, stated.
#ifndef WEIR_FLOW_SINK_H_
#define WEIR_FLOW_SINK_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "data/batch.h"
#include "flow/operator.h"
#include "protocol/types.h"

namespace weir::flow {

// What a stage holds of one epoch when it is cut: part of the epoch row and of the chain hash.
struct Extent {
  uint64_t rows = 0;
  Digest128 digest;  // of the bytes of this epoch
  std::string
      blob;  // the stage's own record of where it stands after this epoch (file, length, ...)
};

// A local file that a stage writes or is about to create: claimed in the run row before it is
// created or cut.
struct Claim {
  std::string path;  // absolute
};

// What a local sink finds before the takeover decision, without changing anything: facts for
// protocol::DecideLocalFile.
struct TakeoverContext {
  bool fresh = false;  // the decision (false: resume)
  Lineage lineage;     // of this run
  EpochId base = 0;    // new epochs are above it
  EpochId sealed = 0;  // newest sealed epoch of the lineage (0: none)
  std::string blob;    // the stage's Extent::blob of that epoch ("" when none)
  const std::vector<protocol::LineageRecord>* lineages =
      nullptr;  // every lineage that this directory ever had
  bool claimed(const std::string& path) const;
  std::vector<std::string>
      claimed_paths;  // sorted: every path that a sink row of this directory names
  std::vector<protocol::Resolution>
      resolutions;  // operator's words for this sink that are not used up yet
};

class SinkStage {
 public:
  virtual ~SinkStage() = default;

  // Takeover, in this order. Inspect changes nothing: it may refuse (kExists: an output that is not
  // ours) or report a park.
  virtual Status Inspect(const TakeoverContext& context) = 0;
  virtual std::vector<Claim> Claims() const = 0;
  // The highest epoch id that this sink's files show (names of parts, receipt files); 0 when none.
  // For the base id.
  virtual EpochId HighestEpochSeen() const = 0;
  // After the run row is durable: cut the staged tail beyond the sealed extent, create what is
  // missing, renew receipt files.
  virtual Status Recover(const TakeoverContext& context) = 0;

  // Loop thread. Rows that the sink can never accept leave on out.Dead, now, in this epoch. Never
  // blocks for long, never loses a row: on kNoSpace the bytes stay buffered, paused() is true, and
  // RetryWrites is called until it succeeds.
  virtual Status Stage(const Batch& batch, Outputs& out) = 0;
  virtual bool paused() const = 0;
  virtual Status RetryWrites() = 0;
  virtual uint64_t BufferedBytes() const = 0;

  // The cut: everything staged so far belongs to `epoch`. nullopt: nothing staged and nothing
  // changed. `end_of_input`: the bounded input has ended with this epoch.
  virtual std::optional<Extent> Freeze(EpochId epoch, bool end_of_input) = 0;
  // Disk worker: make the frozen extent durable (files, and directories of new files). kNoSpace may
  // be retried; any other error is an unknown outcome.
  virtual Status Sync() = 0;
  // Loop thread, after the epoch is sealed. Returns work for the disk worker (renames, receipt
  // files) or null; the work may return kNoSpace (retried) or fail for good.
  virtual std::function<Status()> Sealed(EpochId epoch) = 0;
  // How the rows of sealed epochs become acked: a local file's are acked by the seal itself (true),
  // a spool's by its delivery.
  virtual bool acked_by_seal() const = 0;
  // ms until this stage wants a cut although no row comes (a rolling file becomes old enough); -1:
  // never.
  virtual int64_t CutWantedMs() const = 0;

  virtual std::optional<protocol::Park> park()
      const = 0;  // the evidence cannot decide: nothing more is written
  virtual NodeBooks& books() = 0;
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_SINK_H_
