#include "store/spool.h"

#include <doctest/doctest.h>

#include "store/segment.h"
#include "store/spool_scan.h"
#include "store/testing/spool_world.h"

namespace weir::store {
namespace {

using protocol::TargetPosition;
using testing::kSpoolDirectory;
using testing::SpoolLife;
using testing::World;

// STATE exists; a fresh run begins.
SpoolLife FreshLife(World& world) {
  world.files().PutDirectory("/state");
  SpoolLife life(world);
  life.context.fresh = true;
  life.context.lineage = Lineage{{1}};
  return life;
}

// A next life that resumes what `life` sealed.
SpoolLife NextLife(World& world, const SpoolLife& life) {
  SpoolLife next(world);
  next.context.fresh = false;
  next.context.lineage = life.context.lineage;
  next.options.segment_bytes = life.options.segment_bytes;
  next.blob = life.blob;
  next.sealed = life.sealed;
  return next;
}

std::string SegmentPath(uint64_t number) {
  return io::JoinPath(kSpoolDirectory, SegmentName(number));
}

TEST_CASE("spool: sealed rows are read back by position, across blocks and segments") {
  World world;
  SpoolLife life = FreshLife(world);
  life.options.segment_bytes = 200;
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 3).ok());
  REQUIRE(life.Epoch(2, 3, 2).ok());
  REQUIRE(life.Epoch(3, 5, 4, 40 << 10).ok());   // a block for each row
  REQUIRE(life.Epoch(5, 9, 1, 300 << 10).ok());  // a row larger than a block
  CHECK(ListSegments(world.files(), kSpoolDirectory).size() >= 2);
  struct Case {
    TargetPosition after, to;
    const char* want;
  };
  const Case cases[] = {
      {{0, 0}, {5, 1}, "0,1,2,3,4,5,6,7,8,9"},
      {{0, 0}, {1, 3}, "0,1,2"},
      {{1, 3}, {2, 2}, "3,4"},
      {{1, 1}, {2, 1}, "1,2,3"},
      {{1, 1}, {1, 2}, "1"},
      {{2, 2}, {3, 4}, "5,6,7,8"},
      {{3, 1}, {3, 3}, "6,7"},
      {{3, 2}, {5, 1}, "7,8,9"},
      {{3, 4}, {4, 0}, ""},
      {{3, 4}, {5, 0}, ""},
      {{5, 1}, {5, 1}, ""},
      {{4, 0}, {5, 1}, "9"},
  };
  for (int generation = 0; generation < 2; ++generation) {
    for (const Case& c : cases) {
      CAPTURE(c.after.ToString());
      CAPTURE(c.to.ToString());
      CHECK(life.Read(c.after, c.to) == c.want);
    }
    life.End();
    world.Kill();
    life = NextLife(world, life);
    REQUIRE(life.Start().ok());  // the same again from the files alone
  }
}

TEST_CASE("spool: the first reading of an epoch checks all of it, later ones what they read") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 6, 40 << 10).ok());  // a block for each row
  const std::string segment = SegmentPath(1);
  const std::string intact = ReadFile(world.files(), segment, 1 << 20).value();
  // Every block is whole, and yet they are not the rows that were sealed: the fifth is the fourth.
  auto reader = SegmentReader::Open(world.files(), segment).value();
  uint64_t fourth = reader->first_block();
  for (int i = 0; i < 3; ++i) fourth = reader->At(fourth, false).value()->end;
  const uint64_t fifth = reader->At(fourth, false).value()->end;
  reader.reset();
  std::string swapped = intact;
  swapped.replace(fifth, fifth - fourth, intact.substr(fourth, fifth - fourth));
  world.files().PutFile(segment, swapped);
  CHECK(!life.Read({1, 0}, {1, 2}));  // it lies behind what is asked for
  world.files().PutFile(segment, intact);
  CHECK(life.Read({1, 0}, {1, 2}).value() == "0,1");
  world.files().PutFile(segment, swapped);
  CHECK(life.Read({1, 0}, {1, 2}).value() == "0,1");
  CHECK(life.Read({1, 2}, {1, 4}).value() == "2,3");
  CHECK(life.Read({1, 5}, {1, 6}).value() == "5");
  // The next life knows nothing of it.
  life.End();
  world.Kill();
  life = NextLife(world, life);
  world.files().PutFile(segment, intact);
  REQUIRE(life.Start().ok());
  world.files().PutFile(segment, swapped);
  CHECK(!life.Read({1, 0}, {1, 2}));
}

TEST_CASE("spool: what is not sealed cannot be read, and is gone after a death") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 3).ok());
  REQUIRE(life.Stage(3, 2).ok());
  REQUIRE(life.Cut(2).ok());
  CHECK(life.Read({0, 0}, {9, 9}) == "0,1,2");
  life.End();
  world.Kill();
  life = NextLife(world, life);
  REQUIRE(life.Start().ok());
  CHECK(life.Read({0, 0}, {9, 9}) == "0,1,2");
  REQUIRE(life.Epoch(2, 100, 2).ok());
  CHECK(life.Read({0, 0}, {9, 9}) == "0,1,2,100,101");
}

TEST_CASE("spool: the open epoch may lie behind a frozen one whose seal died") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 3).ok());
  REQUIRE(life.Stage(3, 2).ok());
  REQUIRE(life.Cut(2).ok());
  REQUIRE(life.Stage(5, 3, 60 << 10).ok());  // whole blocks of epoch 3 are on disk
  life.End();
  world.Kill();
  life = NextLife(world, life);
  REQUIRE(life.Start().ok());
  CHECK(life.Read({0, 0}, {9, 9}) == "0,1,2");
}

TEST_CASE("spool: an epoch without rows leaves no trace") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  CHECK(!life.spool().Freeze(1, false));
  CHECK(ListSegments(world.files(), kSpoolDirectory).empty());
  CHECK(life.spool().SpoolBytes() == 0);
}

TEST_CASE("spool: books count what came, what is staged, dead and sealed") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  life.spool().SetRowCheck([](const Batch& batch, uint32_t row) -> std::string_view {
    return batch.column(0).ints[row] % 5 == 0 ? "NULL in NOT NULL column" : "";
  });
  REQUIRE(life.Epoch(1, 0, 10).ok());
  flow::NodeBooks& books = life.spool().books();
  CHECK(books[flow::Count::kIn] == 10);
  CHECK(books[flow::Count::kStaged] == 8);
  CHECK(books[flow::Count::kDead] == 2);
  CHECK(books[flow::Count::kSealed] == 8);
  CHECK(life.outputs.dead_rows == 2);
  CHECK(life.Read({0, 0}, {1, 99}) == "1,2,3,4,6,7,8,9");
}

TEST_CASE("spool: a batch's selection is what is staged") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  Batch batch = testing::Rows(0, 5);
  batch.SetSelection({1, 3});
  REQUIRE(life.spool().Stage(batch, life.outputs).ok());
  REQUIRE(life.Cut(1).ok());
  REQUIRE(life.Seal().ok());
  CHECK(life.Read({0, 0}, {1, 9}) == "1,3");
}

TEST_CASE("spool: trim removes whole segments that are acked, never the one that is written to") {
  World world;
  SpoolLife life = FreshLife(world);
  life.options.segment_bytes = 1;  // a segment for each epoch
  REQUIRE(life.Start().ok());
  for (EpochId id = 1; id <= 4; ++id) REQUIRE(life.Epoch(id, static_cast<int64_t>(id), 1).ok());
  const uint64_t before = life.spool().SpoolBytes();
  REQUIRE(life.spool().Trim(2).ok());
  CHECK(ListSegments(world.files(), kSpoolDirectory) == std::vector<uint64_t>{3, 4});
  CHECK(life.spool().SpoolBytes() < before);
  CHECK(life.Read({2, 1}, {4, 1}) == "3,4");
  REQUIRE(life.spool().Trim(4).ok());
  CHECK(ListSegments(world.files(), kSpoolDirectory) == std::vector<uint64_t>{4});
  life.End();
  life = NextLife(world, life);
  life.options.acked = 4;
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(5, 5, 1).ok());
  CHECK(life.Read({4, 1}, {5, 1}) == "5");
}

TEST_CASE("spool: a full disk pauses, loses nothing, and goes on where it stood") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 3).ok());
  world.files().SetCapacity("/", world.files().UsedBytes("/"));
  REQUIRE(life.Stage(3, 4, 40 << 10).ok());
  CHECK(life.spool().paused());
  CHECK(life.spool().BufferedBytes() > 80 << 10);
  REQUIRE(life.spool().RetryWrites().ok());
  CHECK(life.spool().paused());
  CHECK(life.Cut(2).code() == Code::kNoSpace);  // the cut keeps everything ...
  CHECK(life.spool().Sync().code() == Code::kNoSpace);
  world.files().SetCapacity("/", 1 << 30);
  REQUIRE(life.spool().Sync().ok());  // ... and the same epoch is sealed, unchanged
  REQUIRE(life.Seal().ok());
  CHECK(!life.spool().paused());
  CHECK(life.spool().BufferedBytes() == 0);
  CHECK(life.Read({0, 0}, {2, 9}) == "0,1,2,3,4,5,6");
  world.files().SetCapacity("/", world.files().UsedBytes("/"));
  REQUIRE(life.Stage(7, 2, 70 << 10).ok());
  CHECK(life.spool().paused());
  world.files().SetCapacity("/", 1 << 30);
  REQUIRE(life.spool().RetryWrites().ok());
  CHECK(!life.spool().paused());
  REQUIRE(life.Cut(3).ok());
  REQUIRE(life.Seal().ok());
  CHECK(life.Read({2, 4}, {3, 9}) == "7,8");
}

TEST_CASE("spool: an I/O error sticks") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 3).ok());
  bool fail = true;
  world.files().OnOperation([&](const io::SimOp& op) {
    return fail && op.kind == io::SimOpKind::kSync ? io::SimFault::kIoError : io::SimFault::kNone;
  });
  REQUIRE(life.Stage(3, 1).ok());
  CHECK(life.Cut(2).code() == Code::kUnknownOutcome);
  fail = false;
  CHECK(life.spool().Sync().code() == Code::kUnknownOutcome);  // never retried
  (void)life.Stage(4, 1, 70 << 10);
  CHECK(life.Stage(5, 1).code() == Code::kUnknownOutcome);
}

TEST_CASE("spool: a fresh run removes what older lineages left, after its run row") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(7, 0, 3).ok());
  life.End();
  SpoolLife fresh = FreshLife(world);
  fresh.context.lineage = Lineage{{2}};
  fresh.context.base = 7;
  REQUIRE(fresh.Inspect().ok());
  CHECK(fresh.spool().HighestEpochSeen() >= 1);
  CHECK(ListSegments(world.files(), kSpoolDirectory).size() == 1);  // Inspect changes nothing
  REQUIRE(fresh.spool().Recover(fresh.context).ok());
  CHECK(ListSegments(world.files(), kSpoolDirectory).empty());
  REQUIRE(fresh.Epoch(8, 50, 1).ok());
  CHECK(fresh.Read({0, 0}, {9, 9}) == "50");
  CHECK(ListSegments(world.files(), kSpoolDirectory) == std::vector<uint64_t>{8});
}

TEST_CASE("spool: what an older lineage left is dropped on resume, a stranger's is refused") {
  World world;
  SpoolLife life = FreshLife(world);
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(3, 0, 3).ok());
  life.End();
  SpoolLife other(world);
  other.context.lineage = Lineage{{2}};
  other.sealed = 9;
  CHECK(other.Inspect().code() == Code::kRefused);
  const std::vector<protocol::LineageRecord> lineages = {{life.context.lineage, 0, 3, {}}};
  other.context.lineages = &lineages;
  REQUIRE(other.Start().ok());
  CHECK(ListSegments(world.files(), kSpoolDirectory).empty());
}

TEST_CASE("spool: one staged epoch is normal, two ended ones mean that state.db is older") {
  World world;
  SpoolLife life = FreshLife(world);
  life.options.segment_bytes = 100;
  REQUIRE(life.Start().ok());
  REQUIRE(life.Epoch(1, 0, 3).ok());
  SpoolLife old = NextLife(world, life);
  REQUIRE(life.Epoch(2, 3, 3).ok());
  CHECK(old.Inspect().ok());
  REQUIRE(life.Epoch(3, 6, 3).ok());
  life.End();
  const Status refused = old.Inspect();
  CHECK(refused.code() == Code::kRefused);
  CHECK(refused.message().find(".seg") != std::string::npos);
  CHECK(refused.message().find("older than its spool") != std::string::npos);
  // Also when the segment that it knows has been trimmed since.
  REQUIRE(world.files().Remove(SegmentPath(1)).ok());
  old.options.acked = 1;
  CHECK(old.Inspect().code() == Code::kRefused);
}

TEST_CASE("spool: extent text reads back, damage is refused") {
  const auto extent = DecodeSpoolExtent(EncodeSpoolExtent({7, 5000, 42, 918}));
  REQUIRE(extent);
  CHECK(extent->segment == 7);
  CHECK(extent->end == 5000);
  CHECK(extent->epoch == 42);
  CHECK(extent->rows_total == 918);
  for (const char* bad : {"", "1:2:3", "1:2:3:x", "1:2:3:-4", "1:2:3:4:5"}) {
    CAPTURE(bad);
    CHECK(!DecodeSpoolExtent(bad));
  }
  World world;
  SpoolLife life(world);
  life.blob = "rubbish";
  life.sealed = 1;
  CHECK(life.Inspect().code() == Code::kCorruption);
}

}  // namespace
}  // namespace weir::store
