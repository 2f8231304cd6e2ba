// The chain: h(N) binds an epoch to everything that was sealed before it in its lineage. A receipt
// carries h(N), so that a twin (a copied directory) or a restored backup is told from us by one
// comparison.
//
// Formats of state.db that are no plain column are here too: epoch.extents, epoch.digests,
// head.sinks (docs/state-format.md repeats them for people).
#ifndef WEIR_STORE_CHAIN_H_
#define WEIR_STORE_CHAIN_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace weir::store {

// What one sink got in one epoch. epoch.extents: varint count, then for each
//   bytes sink, bytes target, varint rows, digest 16 B (low, high);
// then, when one of them has a watermark (format 3), for each its watermark, I64.
struct EpochExtent {
  std::string sink;
  std::string target;  // whose receipt proves the rows; "": the seal itself does (a local file)
  uint64_t rows = 0;
  Digest128 digest;
  TimestampMs watermark = kWatermarkNone;  // FrozenSink::watermark
  bool operator==(const EpochExtent&) const = default;
};
std::string EncodeExtents(const std::vector<EpochExtent>& extents);
std::optional<std::vector<EpochExtent>> DecodeExtents(std::string_view bytes);  // nullopt: damaged

// Where the stage of a sink stands after the newest epoch, whichever epoch last moved it.
// head.sinks: varint count, then for each bytes sink, varint rows sealed in this lineage, bytes
// blob; sorted by name.
struct StagePosition {
  std::string sink;
  uint64_t rows_total = 0;
  std::string blob;
  bool operator==(const StagePosition&) const = default;
};
std::string EncodeStages(const std::vector<StagePosition>& stages);
std::optional<std::vector<StagePosition>> DecodeStages(std::string_view bytes);

// epoch.digests: XXH3-128 of the positions that changed, of body, of head.sinks (48 B), then the
// SHA-256 of the operator's words (32 B, or nothing when there were none).
struct ChainDigests {
  Digest128 positions;
  Digest128 body;
  Digest128 stages;
  std::optional<Digest256> words;  // used up by the run that this epoch is the first of
};
std::string EncodeDigests(const ChainDigests& digests);
std::optional<ChainDigests> DecodeDigests(std::string_view bytes);

// h(N) = SHA-256(h(N-1), lineage, N, epoch.digests, XXH3-128 of epoch.extents). h before the first
// epoch of a lineage is zeros; the lineage tells two first epochs apart.
Digest256 ChainHash(const Digest256& previous, const Lineage& lineage, EpochId epoch,
                    std::string_view digests, std::string_view extents);

std::string_view AsBytes(const Digest256& digest);
std::string_view AsBytes(const Lineage& lineage);
std::optional<Digest256> Digest256FromBytes(std::string_view bytes);
std::optional<Lineage> LineageFromBytes(std::string_view bytes);

}  // namespace weir::store

#endif  // WEIR_STORE_CHAIN_H_
