#include "connectors/kafka/partitioner.h"

#include "base/check.h"

namespace weir::connectors {

// Austin Appleby's MurmurHash2 (public domain): four bytes at a time, little-endian, then the tail.
uint32_t KafkaMurmur2(std::string_view bytes) {
  constexpr uint32_t kSeed = 0x9747b28c;
  constexpr uint32_t kMultiplier = 0x5bd1e995;
  constexpr int kShift = 24;
  const auto at = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  uint32_t hash = kSeed ^ static_cast<uint32_t>(bytes.size());
  size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    uint32_t word = at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24;
    word *= kMultiplier;
    word ^= word >> kShift;
    word *= kMultiplier;
    hash = hash * kMultiplier ^ word;
  }
  const size_t left = bytes.size() - i;
  if (left == 3) hash ^= at(i + 2) << 16;
  if (left >= 2) hash ^= at(i + 1) << 8;
  if (left >= 1) hash = (hash ^ at(i)) * kMultiplier;
  hash ^= hash >> 13;
  hash *= kMultiplier;
  return hash ^ hash >> 15;
}

int32_t PartitionOfKey(std::string_view key, int32_t partitions) {
  CHECK(partitions > 0);
  // Java clears the sign bit before it divides.
  return static_cast<int32_t>((KafkaMurmur2(key) & 0x7fffffff) % static_cast<uint32_t>(partitions));
}

}  // namespace weir::connectors
