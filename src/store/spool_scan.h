// What a start finds in a spool directory, held against what state.db says is sealed. Reads only.
#ifndef WEIR_STORE_SPOOL_SCAN_H_
#define WEIR_STORE_SPOOL_SCAN_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "io/files.h"
#include "io/heartbeat.h"
#include "protocol/types.h"

namespace weir::store {

// Where the spool stands after the newest epoch that put rows into it; Extent::blob of a spool.
// Text: "segment:end:epoch:rows", e.g. "7:5000:42:918" - rows of the lineage so far.
struct SpoolExtent {
  uint64_t segment = 0;
  uint64_t end = 0;
  EpochId epoch = 0;
  uint64_t rows_total = 0;
};
std::string EncodeSpoolExtent(const SpoolExtent& extent);
std::optional<SpoolExtent> DecodeSpoolExtent(std::string_view blob);

// The rows of one epoch: blocks from `begin` to `end` of one segment (a new segment begins only at
// a cut).
struct EpochSpan {
  EpochId epoch = 0;
  uint64_t segment = 0;
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t rows = 0;
  uint64_t rows_total = 0;
  bool checked = false;  // read whole in this life: they are the rows that were sealed
};

struct SpoolQuestion {
  std::string directory;
  Lineage lineage;                    // of the state that is resumed
  std::optional<SpoolExtent> sealed;  // nullopt: no epoch of this lineage put rows here
  std::optional<EpochId> acked;       // every row of epochs at or below is proven delivered
  const std::vector<protocol::LineageRecord>* lineages = nullptr;
  io::Heartbeat* heartbeat = nullptr;
};

struct SpoolFindings {
  std::vector<EpochSpan> spans;           // intact, sealed, ascending
  std::map<uint64_t, uint64_t> segments;  // number -> bytes of it that stay
  std::vector<uint64_t>
      drop;  // segments to remove: staged only, of an older lineage, or damaged and acked
  EpochId highest_seen = 0;            // named by a segment or an end block
  bool sealed_segment_usable = false;  // appending goes on at sealed->end
  std::vector<std::string> notices;    // damage at or below A, for the log
};

// kCorruption: rows above A are damaged or missing (file, offset, epochs, rows named).
// kRefused: state.db is older than its spool, or a segment of a newer format.
Result<SpoolFindings> ScanSpool(io::Files& files, const SpoolQuestion& question);

}  // namespace weir::store

#endif  // WEIR_STORE_SPOOL_SCAN_H_
