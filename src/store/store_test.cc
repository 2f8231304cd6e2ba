// Store on a healthy disk: what a start finds, what a seal leaves, what a fresh run forgets.
#include "store/store.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/hash.h"
#include "io/fault.h"
#include "protocol/takeover.h"
#include "sqlite/database.h"
#include "store/testing/world.h"

namespace weir::store {
namespace {

using protocol::TakeoverAction;
using protocol::TakeoverDecision;
using testing::AskedFor;
using testing::Frozen;
using testing::Options;
using testing::ReadState;
using testing::Start;
using testing::World;

Result<protocol::TakeoverFacts> Facts(World& world, const Asked& asked) {
  WEIR_ASSIGN_OR_RETURN(auto store, Store::Open(world.env(), Options()));
  return store->GatherFacts(asked);
}

TEST_CASE("store: a new directory is fresh, and remembers who it was born for") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  const RunInfo& run = (*store)->run();
  CHECK(run.run == 1);
  CHECK(run.fresh);
  CHECK(!run.last_unclean);
  CHECK(run.next_epoch == 1);
  CHECK(run.pipeline == "orders");
  CHECK(run.instance == "box");
  CHECK(run.lineage != Lineage());
  CHECK(!(*store)->NewestSealed());
  CHECK((*store)->StoredCanonicalPlan() == "plan");
  CHECK((*store)->ClaimedPaths() == std::vector<std::string>{"/out.jsonl"});
  CHECK(world.files().Exists("/state/reserve"));
}

TEST_CASE("store: names given at birth win over later ones") {
  World world;
  REQUIRE(Start(world.env(), AskedFor()));
  OpenOptions other = Options();
  other.pipeline = "renamed";
  other.instance = "moved";
  const auto store = Store::Open(world.env(), other);
  REQUIRE(store);
  REQUIRE((*store)->BeginRun(AskedFor(), {TakeoverAction::kFresh, 11, "r"}, 0, {}).ok());
  CHECK((*store)->run().pipeline == "orders");
  CHECK((*store)->run().instance == "box");
}

TEST_CASE("store: what was sealed is found again, by the same lineage") {
  World world;
  Lineage lineage;
  Digest256 hash;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    lineage = (*store)->run().lineage;
    for (EpochId id = 1; id <= 3; ++id) REQUIRE((*store)->Seal(Frozen(id, id)).ok());
    CHECK((*store)->Proof().through() == 3);
    CHECK((*store)->Proof().lineage() == lineage);
    hash = (*store)->NewestSealed()->hash;
  }
  world.Kill();
  TakeoverDecision decision;
  const auto store = Start(world.env(), AskedFor(), &decision);
  REQUIRE(store);
  CHECK(decision.action == TakeoverAction::kResume);
  const RunInfo& run = (*store)->run();
  CHECK(run.run == 2);
  CHECK(run.lineage == lineage);
  CHECK(run.sealed == 3);
  CHECK(run.next_epoch == 4);
  CHECK(run.last_unclean);
  const auto newest = (*store)->NewestSealed();
  REQUIRE(newest);
  CHECK(newest->hash == hash);
  CHECK(newest->body == "{\"epoch\":3}");
  REQUIRE(newest->sinks.size() == 1);
  CHECK(newest->sinks[0].blob == "at 3");
  CHECK(newest->sinks[0].rows_total == 6);
  CHECK((*store)->RowsOf("out", 2) == 2);
  CHECK((*store)->RowsOf("out", 9) == 0);
  CHECK((*store)->RowsOf("other", 2) == 0);
  CHECK((*store)->HashOf(lineage, 3) == hash);
  CHECK((*store)->HashOf(lineage, 9).error().code() == Code::kNotFound);
  CHECK((*store)->HashOf(Lineage{}, 3).error().code() == Code::kNotFound);
  CHECK(ReadState(**store, "window:w", "b") == "1=value 1;2=value 2;3=value 3;");
  CHECK(testing::CheckChain(world.env()).ok());
}

TEST_CASE("store: the hash of an epoch depends on everything in it and before it") {
  struct Case {
    const char* name;
    void (*change)(FrozenEpoch&);
  };
  const Case cases[] = {
      {"body", [](FrozenEpoch& e) { e.body += " "; }},
      {"positions", [](FrozenEpoch& e) { e.positions_digest_input += "x"; }},
      {"rows", [](FrozenEpoch& e) { ++e.sinks[0].extent.rows; }},
      {"digest", [](FrozenEpoch& e) { ++e.sinks[0].extent.digest.low; }},
      {"extent blob", [](FrozenEpoch& e) { e.sinks[0].extent.blob += "x"; }},
      {"sink name", [](FrozenEpoch& e) { e.sinks[0].sink = "b"; }},
      {"target", [](FrozenEpoch& e) { e.sinks[0].target = "b"; }},
  };
  const auto hash_of = [](void (*change)(FrozenEpoch&), EpochId at) {
    World world;  // the same randomness: the same lineage
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    for (EpochId id = 1; id <= 2; ++id) {
      FrozenEpoch epoch = Frozen(id);
      if (change != nullptr && id == at) change(epoch);
      REQUIRE((*store)->Seal(epoch).ok());
    }
    return (*store)->NewestSealed()->hash;
  };
  const Digest256 plain = hash_of(nullptr, 0);
  CHECK(plain == hash_of(nullptr, 0));
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(hash_of(c.change, 2) != plain);
    CHECK(hash_of(c.change, 1) != plain);
  }
}

TEST_CASE("store: a fresh run sees nothing of the lineage before it, and remembers it") {
  World world;
  Lineage first;
  Digest256 hash;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    first = (*store)->run().lineage;
    REQUIRE((*store)->Seal(Frozen(1, 4, "kafka")).ok());
    REQUIRE((*store)->Seal(Frozen(2, 4, "kafka")).ok());
    REQUIRE((*store)->WriteAcked({{"kafka", {2, 4}, std::nullopt}}).ok());
    hash = (*store)->NewestSealed()->hash;
  }
  Asked asked = AskedFor("another plan");
  asked.fresh = true;
  {
    const auto store = Start(world.env(), asked);
    REQUIRE(store);
    CHECK((*store)->run().fresh);
    CHECK((*store)->run().lineage != first);
    CHECK((*store)->run().base == 2);
    CHECK((*store)->run().next_epoch == 3);
    CHECK(!(*store)->NewestSealed());
    CHECK((*store)->AckedNotes().empty());
    CHECK(ReadState(**store, "window:w", "b") == "");
    CHECK((*store)->StoredCanonicalPlan() == "another plan");
    const auto lineages = (*store)->Lineages();
    REQUIRE(lineages.size() == 2);
    CHECK(lineages[0].lineage == first);
    CHECK(lineages[0].last_sealed == 2);
    CHECK(lineages[0].last_hash == hash);
    CHECK((*store)->HashOf(first, 2) == hash);
    CHECK((*store)->HashOf(first, 1).error().code() == Code::kNotFound);
    CHECK((*store)->ClaimedPaths() == std::vector<std::string>{"/out.jsonl"});
  }
  // Killed before its first seal: fresh again, never the state of the run before.
  world.Kill();
  const auto facts = Facts(world, AskedFor("another plan"));
  REQUIRE(facts);
  CHECK(facts->newest_sealed == 0);
  CHECK(facts->floor == 2);
  CHECK(protocol::DecideTakeover(*facts).row == 11);
}

TEST_CASE("store: before its run row a start sees who the directory is and what it would resume") {
  World world;
  {
    const auto store = Store::Open(world.env(), Options());
    REQUIRE(store);
    CHECK((*store)->run().run == 0);
    CHECK((*store)->run().pipeline == "orders");
  }
  Lineage lineage;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    lineage = (*store)->run().lineage;
    REQUIRE((*store)->Seal(Frozen(1)).ok());
  }
  const auto store = Store::Open(world.env(), Options());
  REQUIRE(store);
  CHECK((*store)->run().run == 1);
  CHECK((*store)->run().instance == "box");
  CHECK((*store)->run().lineage == lineage);
  CHECK((*store)->run().sealed == 1);
}

TEST_CASE("store: ids of a fresh run are above everything that the caller saw") {
  World world;
  const auto store = Store::Open(world.env(), Options());
  REQUIRE(store);
  REQUIRE((*store)->BeginRun(AskedFor(), {TakeoverAction::kFresh, 3, "r"}, 41, {}).ok());
  CHECK((*store)->run().base == 41);
  CHECK((*store)->run().next_epoch == 42);
}

TEST_CASE("store: facts count what a target has not proven") {
  struct Case {
    const char* name;
    std::vector<AckedNote> notes;
    uint64_t epochs, rows;
  };
  const Case cases[] = {
      {"nothing acked", {}, 3, 30},
      {"in the middle of an epoch", {{"kafka", {2, 4}, std::nullopt}}, 2, 16},
      {"all but the last epoch", {{"kafka", {2, 10}, std::nullopt}}, 1, 10},
      {"all", {{"kafka", {3, 10}, std::nullopt}}, 0, 0},
      {"another target", {{"pg", {3, 10}, std::nullopt}}, 3, 30},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(store);
      for (EpochId id = 1; id <= 3; ++id) REQUIRE((*store)->Seal(Frozen(id, 10, "kafka")).ok());
      REQUIRE((*store)->WriteAcked(c.notes).ok());
    }
    const auto facts = Facts(world, AskedFor());
    REQUIRE(facts);
    CHECK(facts->undelivered_epochs == c.epochs);
    CHECK(facts->undelivered_rows == c.rows);
  }
}

TEST_CASE("store: a sink with a spool is a target of its own when nobody names one") {
  World world;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    world.files().PutDirectory("/state/spool/out");
    REQUIRE((*store)->Seal(Frozen(1, 5)).ok());
  }
  CHECK(Facts(world, AskedFor())->undelivered_rows == 5);
}

TEST_CASE("store: acked notes come with the seal, with or without a receipt seen") {
  World world;
  protocol::Receipt seen{Lineage{{1, 2}}, {7, 8}, Sha256("x")};
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    FrozenEpoch epoch = Frozen(1, 5, "a");
    epoch.acked = {{"a", {1, 3}, seen}, {"b", {0, 1}, std::nullopt}};
    REQUIRE((*store)->Seal(epoch).ok());
    CHECK((*store)->AckedNotes().size() == 2);
  }
  const auto store = Store::Open(world.env(), Options());
  REQUIRE(store);
  const std::vector<AckedNote> notes = (*store)->AckedNotes();
  REQUIRE(notes.size() == 2);
  CHECK(notes[0].target == "a");
  CHECK(notes[0].position == protocol::TargetPosition{1, 3});
  CHECK(notes[0].seen == seen);
  CHECK(!notes[1].seen);
}

TEST_CASE("store: finished, stopped and died are told apart") {
  struct Case {
    const char* name;
    Status (*end)(Store&);
    bool finished, unclean;
  };
  const Case cases[] = {
      {"finished", [](Store& s) { return s.WriteFinished(); }, true, false},
      {"stopped", [](Store& s) { return s.WriteCleanStop(); }, false, false},
      {"died", [](Store&) { return Status::Ok(); }, false, true},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(store);
      REQUIRE((*store)->Seal(Frozen(1)).ok());
      REQUIRE(c.end(**store).ok());
    }
    world.Kill();
    CHECK(Facts(world, AskedFor())->last_run_finished == c.finished);
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    CHECK((*store)->run().last_unclean == c.unclean);
    CHECK((*store)->run().fresh == c.finished);
  }
}

TEST_CASE("store: the job ID belongs to the lineage; one that has none takes it") {
  World world;
  Asked monday = AskedFor();
  monday.job = "monday";
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    CHECK(!(*store)->StoredJob());
    REQUIRE((*store)->Seal(Frozen(1)).ok());
  }
  {
    const auto store = Start(world.env(), monday);
    REQUIRE(store);
    CHECK((*store)->StoredJob() == "monday");
  }
  Asked tuesday = AskedFor();
  tuesday.job = "tuesday";
  CHECK(protocol::DecideTakeover(*Facts(world, tuesday)).action == TakeoverAction::kRefuseOtherJob);
  {
    const auto store = Start(world.env(), monday);
    REQUIRE(store);
    REQUIRE((*store)->WriteFinished().ok());
  }
  CHECK(protocol::DecideTakeover(*Facts(world, monday)).action == TakeoverAction::kAlreadyFinished);
}

TEST_CASE("store: another plan is refused by its fingerprint") {
  World world;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    REQUIRE((*store)->Seal(Frozen(1)).ok());
  }
  CHECK(!Facts(world, AskedFor("changed"))->fingerprint_matches);
  CHECK(Facts(world, AskedFor())->fingerprint_matches);
}

TEST_CASE("store: an operator's word waits, is used up by one run, and is part of the chain") {
  const auto hash_with = [](bool word) {
    World world;
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(store);
      REQUIRE((*store)->Seal(Frozen(1)).ok());
      REQUIRE((*store)->WriteCleanStop().ok());
    }
    if (word) {
      const auto store = Store::Open(world.env(), Options());
      REQUIRE(store);
      REQUIRE((*store)
                  ->RecordResolution(protocol::Verb::kTrustSink, "out", "ann", 1234, "50:12 ok")
                  .ok());
      REQUIRE((*store)->PendingResolutions().size() == 1);
      CHECK((*store)->PendingResolutions()[0].verb == protocol::Verb::kTrustSink);
      CHECK((*store)->HighestEpochSeen() == 50);
    }
    {
      // A run that dies before anything it did at the word is durable has not used it up.
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(store);
    }
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(store);
      REQUIRE((*store)->PendingResolutions().size() == (word ? 1 : 0));
      CHECK((*store)->run().next_epoch == (word ? 51 : 2));
      FrozenEpoch epoch = Frozen(60);
      if (word) epoch.used_words.push_back((*store)->PendingResolutions()[0].id);
      REQUIRE((*store)->Seal(epoch).ok());
      REQUIRE((*store)->Seal(Frozen(61)).ok());
    }
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    CHECK((*store)->PendingResolutions().empty());
    CHECK(testing::CheckChain(world.env()).ok());
    return (*store)->NewestSealed()->hash;
  };
  CHECK(hash_with(true) != hash_with(false));
}

TEST_CASE(
    "store: the end of the run that sealed an epoch is where a restore can have come between") {
  World world;
  const auto run = [&](EpochId first, EpochId last) {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    for (EpochId id = first; id <= last; ++id) REQUIRE((*store)->Seal(Frozen(id)).ok());
  };
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    CHECK((*store)->EndOfRunOf(0) == 0);  // nothing is sealed: the base
  }
  run(1, 4);
  run(5, 7);
  run(60, 60);
  const auto store = Store::Open(world.env(), Options());
  REQUIRE(store);
  struct Case {
    const char* name;
    EpochId epoch, want;
  };
  const Case cases[] = {{"the run that began the lineage", 0, 4},
                        {"within a run", 2, 4},
                        {"the last of a run", 4, 4},
                        {"of the run behind it", 5, 7},
                        {"the newest", 60, 60},
                        {"an epoch that is not known: no more than itself", 8, 8}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK((*store)->EndOfRunOf(c.epoch) == c.want);
  }
}

TEST_CASE("store: an adopted receipt is an ancestor, and never the lineage that goes on") {
  World world;
  const protocol::Receipt receipt{Lineage{{9}}, {77, 3}, Sha256("theirs")};
  Lineage own;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    own = (*store)->run().lineage;
    REQUIRE((*store)->Seal(Frozen(1)).ok());
  }
  {
    const auto store = Store::Open(world.env(), Options());
    REQUIRE(store);
    REQUIRE((*store)->AdoptReceipt(receipt).ok());
  }
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  CHECK((*store)->run().lineage == own);
  CHECK((*store)->run().next_epoch == 78);
  CHECK((*store)->HashOf(receipt.lineage, 77) == receipt.hash);
}

TEST_CASE("store: a second process is told the pid of the first") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  const auto second = Store::Open(world.env(), Options());
  REQUIRE(!second);
  CHECK(second.error().code() == Code::kBusy);
  CHECK(second.error().message().find(std::to_string(world.machine().ProcessId())) !=
        std::string::npos);
}

TEST_CASE("store: status reads without changing anything, and needs something to read") {
  World world;
  OpenOptions look = Options();
  look.read_only = true;
  look.create = false;
  CHECK(Store::Open(world.env(), look).error().code() == Code::kNotFound);
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    REQUIRE((*store)->Seal(Frozen(1)).ok());
  }
  const uint64_t operations = world.files().operations();
  {
    const auto store = Store::Open(world.env(), look);
    REQUIRE(store);
    CHECK((*store)->NewestSealed()->id == 1);
    CHECK((*store)->GatherFacts(AskedFor())->newest_sealed == 1);
  }
  for (const io::SimOp& op : world.files().trace()) {
    if (op.number <= operations) continue;
    CAPTURE(op.path);
    CHECK(op.path.find("state.db-") != std::string::npos);  // a reader's own log and index
  }
}

TEST_CASE("store: the reserve is really written, is given back, and is taken again with room") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  const uint64_t with = world.files().UsedBytes("/");
  (*store)->FreeReserve();
  (*store)->FreeReserve();  // nothing left to free is no error
  const uint64_t without = world.files().UsedBytes("/");
  CHECK(with - without >= kReserveBytes);
  world.files().SetCapacity("/", without + kReserveBytes);
  (*store)->RestoreReserve();
  CHECK(!world.files().Exists("/state/reserve"));
  world.files().SetCapacity("/", without + 4 * kReserveBytes);
  (*store)->RestoreReserve();
  CHECK(world.files().Stat("/state/reserve")->size == kReserveBytes);
}

TEST_CASE("store: a dropped bucket is gone with its blobs, and may come back") {
  World world;
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  for (EpochId id = 1; id <= 3; ++id) REQUIRE((*store)->Seal(Frozen(id)).ok());
  FrozenEpoch drop = Frozen(4);
  drop.state = {{"window:w", {"b", true, "", 0}}};
  REQUIRE((*store)->Seal(drop).ok());
  CHECK(ReadState(**store, "window:w", "b") == "");
  FrozenEpoch again = Frozen(5);
  again.state = {{"window:w", {"b", true, "", 0}},
                 {"window:w", {"b", false, testing::StateBlob(3, "back"), 1}}};
  REQUIRE((*store)->Seal(again).ok());
  CHECK(ReadState(**store, "window:w", "b") == "3=back;");
  uint64_t buckets = 0;
  REQUIRE((*store)
              ->StateOf("window:w")
              .ListBuckets([&](std::string_view bucket, uint64_t bytes) {
                ++buckets;
                CHECK(bucket == "b");
                CHECK(bytes > 0);
              })
              .ok());
  CHECK(buckets == 1);
}

#if defined(WEIR_FAULTS) && WEIR_FAULTS
TEST_CASE("store: a COMMIT that reached the disk although it said no space is found by the retry") {
  World world;
  {
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    REQUIRE((*store)->Seal(Frozen(1)).ok());
    REQUIRE(io::ConfigureFaults("seal.after_commit=nospace", nullptr).ok());
    CHECK((*store)->Seal(Frozen(2)).code() == Code::kNoSpace);
    CHECK((*store)->Seal(Frozen(2)).ok());
    REQUIRE(io::ConfigureFaults("seal.before_commit=nospace", nullptr).ok());
    CHECK((*store)->Seal(Frozen(3)).code() == Code::kNoSpace);
    CHECK((*store)->Seal(Frozen(3)).ok());
    CHECK(ReadState(**store, "window:w", "b") == "1=value 1;2=value 2;3=value 3;");
    CHECK((*store)->NewestSealed()->sinks[0].rows_total == 3);
    REQUIRE(io::ConfigureFaults("seal.before_commit=fail", nullptr).ok());
    CHECK((*store)->Seal(Frozen(4)).code() == Code::kUnknownOutcome);
    CHECK((*store)->Seal(Frozen(4)).code() == Code::kUnknownOutcome);  // sticks
    CHECK((*store)->WriteFinished().code() == Code::kUnknownOutcome);
    REQUIRE(io::ConfigureFaults("", nullptr).ok());
  }
  const auto store = Start(world.env(), AskedFor());
  REQUIRE(store);
  CHECK((*store)->run().sealed == 3);
  CHECK(testing::CheckChain(world.env()).ok());
}

TEST_CASE("store: fault points of takeover and compaction stop what they are named after") {
  struct Case {
    const char* point;
    std::function<Status(Store&)> act;
  };
  const auto compact = [](Store& store) -> Status {
    for (EpochId id = 1; id <= 8; ++id) WEIR_RETURN_IF_ERROR(store.Seal(Frozen(id)));
    for (;;) {
      WEIR_ASSIGN_OR_RETURN(const bool more, store.Compact(4 << 20));
      if (!more) return Status::Ok();
    }
  };
  for (const Case& c :
       {Case{"compact.before_swap", compact}, Case{"compact.after_swap", compact}}) {
    CAPTURE(c.point);
    World world;
    {
      const auto store = Start(world.env(), AskedFor());
      REQUIRE(store);
      REQUIRE(io::ConfigureFaults((std::string(c.point) + "=fail").c_str(), nullptr).ok());
      CHECK(c.act(**store).code() == Code::kUnknownOutcome);
      REQUIRE(io::ConfigureFaults("", nullptr).ok());
    }
    const auto store = Start(world.env(), AskedFor());
    REQUIRE(store);
    CHECK((*store)->run().sealed == 8);
    CHECK(ReadState(**store, "window:w", "b") ==
          "0=value 8;1=value 1;2=value 2;3=value 3;4=value 4;5=value 5;6=value 6;7=value 7;");
  }
  World world;
  for (const char* point : {"takeover.after_lock=fail", "takeover.after_run_row=fail"}) {
    REQUIRE(io::ConfigureFaults(point, nullptr).ok());
    CHECK(!Start(world.env(), AskedFor()));
    REQUIRE(io::ConfigureFaults("", nullptr).ok());
  }
  CHECK(Start(world.env(), AskedFor()));
}
#endif

}  // namespace
}  // namespace weir::store
