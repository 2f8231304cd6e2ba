// The blob of one bucket of keyed state: put and delete entries by slot number. One blob is written
// for each bucket that changed in an epoch; applied oldest first, the blobs of a bucket give its
// entries and their first-seen order.
//
// The store keeps a CRC-32C beside each blob, and merges blobs without knowing whose they are. A
// blob that passed its CRC can still be from a newer program: every reader here checks what it
// reads and answers kCorruption.
#ifndef WEIR_STATE_BLOB_H_
#define WEIR_STATE_BLOB_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace weir {

// Format, version 1 (docs/state-format.md):
//   u8       version
//   varint   length of meta, then meta: the owner's notes on the bucket as a whole; the newest
//   blob's count entries until the end of the blob, each
//     varint   slot * 2 + (1 = put, 0 = delete)
//     a put:   varint length, key; varint length, fixed part; varint length, variable part
// Slots are numbered in first-seen order (a freed number is used again). All integers are
// little-endian.
inline constexpr uint8_t kBlobVersion = 1;
inline constexpr uint32_t kSlotLimit = 1u << 30;  // slot numbers are below it

struct BlobEntry {
  uint32_t slot = 0;
  bool put = false;
  std::string_view key;
  std::string_view fixed;
  std::string_view variable;
};

// One bucket as it is frozen at a cut (flow::BucketDelta has the same members; state/ does not know
// flow/).
struct FrozenBucket {
  std::string bucket;
  bool dropped = false;
  std::string blob;
  uint64_t entries = 0;
};

class BlobWriter {
 public:
  // `size_hint`: about how many bytes will be written.
  explicit BlobWriter(std::string_view meta, size_t size_hint = 0);
  void Put(uint32_t slot, std::string_view key, std::string_view fixed, std::string_view variable);
  void Delete(uint32_t slot);
  uint64_t entries() const { return entries_; }
  std::string Take() { return std::move(out_); }
  // For a writer that fills the fixed part itself: room for one put of these lengths; returns where
  // the fixed part goes.
  char* PutInPlace(uint32_t slot, std::string_view key, size_t fixed_bytes,
                   std::string_view variable);

 private:
  std::string out_;
  uint64_t entries_ = 0;
};

class BlobReader {
 public:
  explicit BlobReader(std::string_view blob) : in_(blob) {}
  // Reads version and meta. kCorruption: damaged, or of a newer format.
  Status Open();
  // False at the end and on damage: ask status().
  bool Next(BlobEntry* entry);
  std::string_view meta() const { return meta_; }
  const Status& status() const { return status_; }

 private:
  bool Varint(uint64_t* v);
  bool Bytes(std::string_view* v);
  bool Damaged();
  std::string_view in_;
  size_t at_ = 0;
  std::string_view meta_;
  Status status_;
};

// Well-formed to the last byte.
Status ValidateBlob(std::string_view blob);
// One blob with all live entries of `oldest_first`, by slot number, and the newest meta. An empty
// span gives an empty blob.
Result<std::string> MergeBlobs(std::span<const std::string_view> oldest_first);

}  // namespace weir

#endif  // WEIR_STATE_BLOB_H_
