// Spool: the stage of every sink whose target is not a local file. Append-only segments of blocks
// of rows; what is sealed is kept until it is acked.
#ifndef WEIR_STORE_SPOOL_H_
#define WEIR_STORE_SPOOL_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "flow/delivery.h"
#include "flow/sink.h"
#include "io/env.h"

namespace weir::store {

struct SpoolOptions {
  std::string directory;  // STATE/spool/SINK
  std::string sink;
  Schema schema;
  uint64_t segment_bytes = 16 << 20;  // a new segment begins at a cut when the last one is larger
  // Every row of epochs at or below is proven delivered (A, where it ends an epoch, else the epoch
  // before): damage there is reported and dropped, above it is kCorruption. nullopt: not known,
  // then whatever the first segment does not hold counts as delivered.
  std::optional<EpochId> acked;
};

class Spool : public flow::SinkStage {
 public:
  ~Spool() override = default;
  // Rows of sealed epochs (from, to] of this sink, through batches of its schema. Any thread; reads
  // only what is sealed.
  virtual std::unique_ptr<flow::RowReader> Read(EpochId after_epoch, uint64_t after_rows,
                                                EpochId to_epoch, uint64_t to_rows,
                                                int sink_index) = 0;
  // The first epoch from which on every sealed row is here; 0: nothing is. What is trimmed has been
  // delivered once, and cannot be delivered again.
  virtual EpochId HeldFrom() const = 0;
  // Disk worker: removes whole segments whose epochs are all at or below `acked`.
  virtual Status Trim(EpochId acked) = 0;
  // Bytes on disk; epochs and rows not yet acked are the runtime's count.
  virtual uint64_t SpoolBytes() const = 0;
  // A row check of the target (e.g. the sqlite sink: a NULL in a NOT NULL column): empty when it
  // can be accepted, else the reason. Set by the connector.
  virtual void SetRowCheck(std::function<std::string_view(const Batch&, uint32_t row)> check) = 0;
};

// STATE/spool/SINK of a sink node: its name without what a file's name cannot hold.
std::string SpoolDirectory(const std::string& state_directory, std::string_view sink);

Result<std::unique_ptr<Spool>> NewSpool(const io::Env& env, const SpoolOptions& options);

}  // namespace weir::store

#endif  // WEIR_STORE_SPOOL_H_
