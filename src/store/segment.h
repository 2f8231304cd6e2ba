// A spool segment on disk: how it is written and read back. Pure bytes and reads; what a torn tail
// or a damaged block means is the spool's business (spool_scan.h).
//
// Format, version 1 (docs/state-format.md). All integers little-endian.
//   header:  magic 8 B "weirspl\n", u32 version, u32 bytes of this header, lineage 16 B, u64
//   number,
//            u64 previous (the last epoch that ended before this segment, 0: none),
//            u64 rows before (of this sink in this lineage), varint length + name of the sink,
//            u32 CRC-32C of all of it
//   blocks:  u32 payload bytes, u32 CRC-32C (of the length and of all that follows), u8 kind,
//            u32 rows, u64 epoch, payload
//     kind 1, rows:  data/row_codec.h, one after another; epoch = the last one that had ended when
//                    the block was written: the rows belong to the next end block
//     kind 2, end:   of `epoch`: varint rows of it, varint rows of the lineage so far, digest 16 B
//                    (XXH3-128 of the row bytes of the epoch: low, high)
// The name of a segment is its number in ten digits: the first epoch that may end in it. Numbers
// grow within a directory and are never used again.
#ifndef WEIR_STORE_SEGMENT_H_
#define WEIR_STORE_SEGMENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "io/files.h"

namespace weir::store {

inline constexpr uint32_t kSegmentVersion = 1;
inline constexpr uint32_t kBlockBytes =
    64 << 10;  // a block is closed before it gets larger; one row may be
inline constexpr uint32_t kBlockHeaderBytes = 21;
inline constexpr uint32_t kSegmentHeaderBytesMax = 4096;

struct SegmentHeader {
  Lineage lineage;
  uint64_t number = 0;
  EpochId previous = 0;
  uint64_t rows_before = 0;
  std::string sink;
};
std::string EncodeSegmentHeader(const SegmentHeader& header);
// kRefused: of a newer format. kCorruption: no header. `bytes`: at least the header, or the whole
// file.
Result<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, uint64_t* header_bytes);

enum class BlockKind : uint8_t { kRows = 1, kEnd = 2 };
std::string EncodeBlock(BlockKind kind, uint32_t rows, EpochId epoch, std::string_view payload);

struct EpochEnd {
  uint64_t rows = 0;
  uint64_t rows_total = 0;
  Digest128 digest;
};
std::string EncodeEpochEnd(const EpochEnd& end);
std::optional<EpochEnd> DecodeEpochEnd(std::string_view payload);

struct Block {
  uint64_t offset = 0;  // of its first byte
  uint64_t end = 0;     // behind its last one
  BlockKind kind = BlockKind::kRows;
  uint32_t rows = 0;
  EpochId epoch = 0;
  std::string_view payload;  // valid until the next call; empty when it was not read
  bool intact = true;        // its CRC holds (true when not checked)
};

// Walks a segment from its header on.
class SegmentReader {
 public:
  static Result<std::unique_ptr<SegmentReader>> Open(io::Files& files, const std::string& path);
  const SegmentHeader& header() const { return header_; }
  uint64_t first_block() const { return first_block_; }
  uint64_t file_bytes() const { return file_bytes_; }
  const std::string& path() const { return path_; }
  // The block at `offset`; nullopt: no whole block is there (the end, or a torn tail). A block
  // whose CRC does not hold is returned with intact = false: its length may still lead to the next.
  // `read_payload` false: only its header is read, and nothing is checked.
  Result<std::optional<Block>> At(uint64_t offset, bool read_payload);

 private:
  SegmentReader() = default;
  std::unique_ptr<io::File> file_;
  std::string path_;
  SegmentHeader header_;
  uint64_t first_block_ = 0;
  uint64_t file_bytes_ = 0;
  std::string buffer_;
};

std::string SegmentName(uint64_t number);                      // "0000000042.seg"
std::optional<uint64_t> SegmentNumber(std::string_view name);  // nullopt: no segment
// Numbers of the segments in a directory, ascending; empty when there is none.
std::vector<uint64_t> ListSegments(io::Files& files, const std::string& directory);
// kRefused when a segment of a newer format is there. Changes nothing.
Status CheckSegmentFormats(io::Files& files, const std::string& directory);

}  // namespace weir::store

#endif  // WEIR_STORE_SEGMENT_H_
