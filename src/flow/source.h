// Source: reads the partitions of one table. Runs on the loop thread; decodes into raw batches. Who
// may be read next, watermarks, alignment and idleness are the scan's business (runtime/scan): a
// source is asked for one partition at a time.
//
// Positions live in the sealed epoch only. A partition's saved position is an opaque blob that the
// source encodes and understands; the scan stores it under the partition's key together with the
// partition's watermark.
#ifndef WEIR_FLOW_SOURCE_H_
#define WEIR_FLOW_SOURCE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "data/batch.h"
#include "protocol/types.h"

namespace weir::flow {

// A number of a partition within one process life, dense from 0; `part` in dead letters. Order of
// discovery is deterministic (by path).
using PartitionIndex = int32_t;

struct PartitionInfo {
  PartitionIndex index = -1;
  std::string key;    // stable over restarts, unique within the table: names the saved position.
                      // Files: a number given at first sight ("f17")
  std::string label;  // for people and for ties: the path
  bool restored = false;  // go on from a saved position (false: from the beginning)
  bool finished = false;  // bounded: restored at its end already
  int64_t position = 0;   // where reading begins or goes on
  // Without event time: partitions are read in turns (Kafka), not one after the other (files).
  bool in_turns = false;
};

// A partition (or a whole source) that the evidence cannot decide on: reading stops there, the rest
// goes on.
struct SourcePark {
  PartitionIndex partition = -1;  // -1: the source
  std::string what;               // one line: the facts
  std::string rule = "source";    // stable word
  std::vector<protocol::Verb> verbs = {protocol::Verb::kAcceptGap};
};

enum class ReadState {
  kRows,  // rows and/or non-rows were appended; call again
  kWait,  // nothing now (follow: at the end of the file); the source says when there may be more
  kEnd,   // bounded: this partition has ended for good (may come together with rows)
};

// One saved position: what Freeze hands to the store, what Open gets back.
struct SavedPosition {
  std::string key;
  std::string blob;
};

class Source {
 public:
  virtual ~Source() = default;

  // Finds the input. `saved`: every position of the last sealed epoch (empty on a fresh run);
  // `source_state`: the blob of FreezeSourceState ("" on a fresh run). Bounded: the list of inputs
  // is taken here once, at the start of the lineage, and kept in the source state.
  virtual Status Open(const std::vector<SavedPosition>& saved, std::string_view source_state) = 0;
  // Partitions found since the last call (the first call: all), in a deterministic order. Cheap
  // when nothing is new.
  virtual Status Discover(std::vector<PartitionInfo>& found) = 0;
  // Bounded: every partition has been announced. Until then the input has not ended.
  virtual bool Complete() const = 0;
  // Asked at every poll: whether something has come without an interval (a queue has records, a
  // helper has an answer), so that Discover and MayRead are asked now. Also the source's chance to
  // look at the clock. Never blocks.
  virtual bool Woken() = 0;
  // Whether it is proven, within the last few seconds, that a partition that waits stands at its
  // end. A partition that nobody can ask about is unknown, not idle (time.md).
  virtual bool AtEnd(PartitionIndex partition) const = 0;
  // Appends rows of one partition to `out` (already Reset to the raw schema by the caller) until
  // max_rows. Sets end_position, positions, non_rows.
  virtual Result<ReadState> Read(PartitionIndex partition, uint32_t max_rows, Batch& out) = 0;
  // Whether Read could give anything now. Cheap: asked of every partition that waits, at each poll
  // interval.
  virtual bool MayRead(PartitionIndex partition) const = 0;
  // Reads rows from the first 64 KiB of a partition that has not been read yet, without moving its
  // position (peek; time.md "Files").
  virtual Status Peek(PartitionIndex partition, Batch& out) = 0;
  // The blob to save for a partition whose reader stands at `position` (a record boundary that Read
  // has passed).
  virtual Result<std::string> EncodePosition(PartitionIndex partition, int64_t position) = 0;
  // All rows before `position` are sealed: buffers and file handles kept for EncodePosition may go.
  virtual void Release(PartitionIndex partition, int64_t position) = 0;
  // Source-wide state to seal when it changed since the last call (bounded list of files), else
  // nullopt.
  virtual std::optional<std::string> FreezeSourceState() = 0;
  // Partitions to forget: their saved positions are deleted ("a file gone from its path for 1,000
  // epochs").
  virtual void TakeForgotten(std::vector<std::string>& keys) = 0;
  virtual std::vector<SourcePark> parks() const = 0;
  // Why nothing comes although nothing is parked ("brokers do not answer since ...: the reason");
  // "" when all is well. Degraded, for status and the log.
  virtual std::string Trouble() const = 0;
  // The source's own fields of its status object, each with a comma in front: `,"lag":42`.
  virtual void AppendStatus(std::string& json) const = 0;
  // Progress of bounded input for the terminal: bytes read and bytes in all (0: unknown).
  virtual void Progress(uint64_t* read_bytes, uint64_t* total_bytes) const = 0;
  // When to look again although nothing woke us: ms from now; -1: never by time.
  virtual int64_t PollIntervalMs() const = 0;
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_SOURCE_H_
