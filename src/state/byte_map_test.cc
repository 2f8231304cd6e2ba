#include "state/byte_map.h"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace weir {
namespace {

std::map<std::string, std::string> Content(const ByteMap& map) {
  std::map<std::string, std::string> out;
  map.ForEach([&](std::string_view k, std::string_view v) { out.emplace(k, v); });
  return out;
}

// Blobs by bucket, as a store keeps them.
struct Stored {
  std::map<std::string, std::vector<std::string>> blobs;
  void Seal(std::vector<FrozenBucket> frozen) {
    for (FrozenBucket& f : frozen) {
      if (f.dropped) {
        blobs.erase(f.bucket);
      } else {
        blobs[f.bucket].push_back(std::move(f.blob));
      }
    }
  }
  void Restore(ByteMap& map) const {
    for (const auto& [bucket, list] : blobs) {
      for (const std::string& blob : list) {
        const Status status = map.ApplyBlob(bucket, blob);
        REQUIRE(status.ok());
      }
    }
    map.FinishRestore();
  }
};

TEST_CASE("a byte map equals a map through random changes, freezes and restores") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    auto map = std::make_unique<ByteMap>();
    std::map<std::string, std::string> model;
    Stored stored;
    for (int step = 0; step < 4000; ++step) {
      const std::string key = "f" + std::to_string(random() % 300);
      if (random() % 4 == 0) {
        map->Erase(key);
        model.erase(key);
      } else {
        const std::string value(random() % 40, static_cast<char>(random()));
        map->Put(key, value);
        model[key] = value;
      }
      if (random() % 200 == 0) {
        std::vector<FrozenBucket> frozen;
        map->Freeze(frozen);
        stored.Seal(std::move(frozen));
        CHECK(!map->dirty());
        if (random() % 2 == 0) {
          map = std::make_unique<ByteMap>();
          stored.Restore(*map);
        }
      }
      if (step % 500 == 0) {
        CHECK(Content(*map) == model);
        CHECK(map->size() == model.size());
        const auto found = map->Get(key);
        CHECK(found.has_value() == model.contains(key));
      }
    }
    CHECK(Content(*map) == model);
  }
}

TEST_CASE("an equal value is no change; a change of one of 100,000 entries is a small delta") {
  ByteMap map;
  for (int i = 0; i < 100000; ++i) map.Put("file-" + std::to_string(i), "position of it");
  std::vector<FrozenBucket> frozen;
  map.Freeze(frozen);
  CHECK(frozen.size() == kHashBuckets);
  map.Put("file-77", "position of it");
  CHECK(!map.dirty());
  map.Put("file-77", "another");
  frozen.clear();
  map.Freeze(frozen);
  REQUIRE(frozen.size() == 1);
  CHECK(frozen[0].entries == 1);
  CHECK(frozen[0].blob.size() < 64);
}

TEST_CASE("a bucket that became empty is dropped, one that was never sealed is not mentioned") {
  ByteMap map;
  map.Put("a", "1");
  std::vector<FrozenBucket> frozen;
  map.Freeze(frozen);
  REQUIRE(frozen.size() == 1);
  map.Erase("a");
  frozen.clear();
  map.Freeze(frozen);
  REQUIRE(frozen.size() == 1);
  CHECK(frozen[0].dropped);
  CHECK(frozen[0].blob.empty());
  map.Put("b", "1");
  map.Erase("b");
  frozen.clear();
  map.Freeze(frozen);
  CHECK(frozen.empty());
  map.Erase("never there");
}

TEST_CASE("a bucket that is none, and a damaged blob, are corruption") {
  ByteMap map;
  const std::string good = BlobWriter("").Take();
  CHECK(map.ApplyBlob("", good).code() == Code::kCorruption);
  CHECK(map.ApplyBlob("ab", good).code() == Code::kCorruption);
  CHECK(map.ApplyBlob(std::string(1, 64), good).code() == Code::kCorruption);
  CHECK(map.ApplyBlob(std::string(1, 0), "x").code() == Code::kCorruption);
}

}  // namespace
}  // namespace weir
