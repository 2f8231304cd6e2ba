// ByteMap: key -> bytes, as keyed state in 64 hash buckets, for things that are few bytes each and
// change singly: the positions of a source's partitions. A delta holds the changed entries only, so
// 100,000 finished files cost nothing per epoch.
#ifndef WEIR_STATE_BYTE_MAP_H_
#define WEIR_STATE_BYTE_MAP_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "state/blob.h"
#include "state/keyed_table.h"

namespace weir {

inline constexpr size_t kHashBuckets = 64;
// The bucket of a key, stable for ever: it names blobs on disk (1 byte, 0..63).
inline uint8_t HashBucketOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 58); }

class ByteMap {
 public:
  ByteMap();
  ByteMap(const ByteMap&) = delete;
  ByteMap& operator=(const ByteMap&) = delete;

  // An equal value changes nothing: nothing is written for it.
  void Put(std::string_view key, std::string_view value);
  void Erase(std::string_view key);
  std::optional<std::string_view> Get(
      std::string_view key) const;  // until the next Put, Erase or Freeze
  size_t size() const { return size_; }
  // By bucket, then in first-seen order.
  void ForEach(const std::function<void(std::string_view key, std::string_view value)>& f) const;

  bool dirty() const;
  // Appends the deltas since the last Freeze; a bucket that became empty is `dropped`.
  void Freeze(std::vector<FrozenBucket>& out);
  // Into an empty map: blobs of any bucket, those of one bucket oldest first. FinishRestore before
  // the first use.
  Status ApplyBlob(std::string_view bucket, std::string_view blob);
  void FinishRestore();
  uint64_t Bytes() const;

 private:
  SlotLayout layout_;
  std::vector<KeyedTable> tables_;
  std::vector<uint8_t> sealed_;  // per bucket: blobs of it exist
  size_t size_ = 0;
};

}  // namespace weir

#endif  // WEIR_STATE_BYTE_MAP_H_
