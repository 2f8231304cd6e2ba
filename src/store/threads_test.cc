// What the loop thread, the disk worker and a delivery worker do at once. Run under
// ThreadSanitizer.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "store/testing/spool_world.h"
#include "store/testing/world.h"

namespace weir::store {
namespace {

using testing::SpoolLife;
using testing::World;

TEST_CASE("store_threads: a bucket is read while epochs are sealed, and is never half a seal") {
  World world;
  const auto store = testing::Start(world.env(), testing::AskedFor());
  REQUIRE(store);
  (void)(*store)->StateOf("w");
  std::atomic<bool> done{false};
  std::atomic<int> failures{0};
  std::thread worker([&] {
    for (EpochId id = 1; id <= 200; ++id) {
      FrozenEpoch epoch = testing::Frozen(id);
      // Both buckets always carry the same value.
      epoch.state = {{"w", {"a", false, testing::StateBlob(0, std::to_string(id)), 1}},
                     {"w", {"b", false, testing::StateBlob(0, std::to_string(id)), 1}}};
      failures += !(*store)->Seal(epoch).ok();
      failures += !(*store)->Compact(4 << 20).has_value();
    }
    done = true;
  });
  uint64_t reads = 0;
  std::string last;
  while (!done) {
    const auto before = testing::ReadState(**store, "w", "a");
    const auto after = testing::ReadState(**store, "w", "b");
    const auto proof = (*store)->Proof();
    (void)proof;
    (void)(*store)->WalBytes();
    (void)(*store)->AckedNotes();
    // b may have moved on since a was read, never back.
    if (before && after && !before->empty()) {
      failures += std::stoull(after->substr(2)) < std::stoull(before->substr(2));
    }
    ++reads;
  }
  worker.join();
  CHECK(failures == 0);
  CHECK(reads > 0);
}

TEST_CASE("spool_threads: staging, syncing, trimming and delivering at once") {
  World world;
  world.files().PutDirectory("/state");
  SpoolLife life(world);
  life.context.fresh = true;
  life.context.lineage = Lineage{{1}};
  life.options.segment_bytes = 4000;
  REQUIRE(life.Start().ok());
  Spool& spool = life.spool();
  testing::NoOutputs outputs;
  std::atomic<EpochId> sealed{0};
  std::atomic<int> failures{0};
  constexpr EpochId kEpochs = 150;
  std::thread delivery([&] {
    EpochId acked = 0;
    Batch batch;
    while (acked < kEpochs) {
      const EpochId to = sealed;
      if (to == acked) {
        std::this_thread::yield();
        continue;
      }
      const auto reader = spool.Read(acked, 9, to, 9, 0);
      int64_t next = static_cast<int64_t>(acked) * 9;
      for (flow::RowsAt at;;) {
        const auto more = reader->Next(&at, batch);
        if (!more || !*more) {
          failures += !more;
          break;
        }
        batch.ForEachSelected(
            [&](uint32_t row) { failures += batch.column(0).ints[row] != next++; });
      }
      failures += next != static_cast<int64_t>(to) * 9;
      failures += !spool.Trim(acked).ok();
      acked = to;
    }
  });
  const auto stage = [&](EpochId id) {
    const auto first = static_cast<int64_t>(id - 1) * 9;
    failures += !spool.Stage(testing::Rows(first, 9, 9000), outputs).ok();  // more than a block
  };
  stage(1);
  for (EpochId id = 1; id <= kEpochs; ++id) {
    failures += !spool.Freeze(id, false).has_value();
    std::thread worker([&] { failures += !spool.Sync().ok(); });
    if (id < kEpochs) stage(id + 1);  // the next epoch, while this one is sealed
    (void)spool.SpoolBytes();
    (void)spool.BufferedBytes();
    (void)spool.paused();
    worker.join();
    (void)spool.Sealed(id);
    sealed = id;
  }
  delivery.join();
  CHECK(failures == 0);
}

}  // namespace
}  // namespace weir::store
