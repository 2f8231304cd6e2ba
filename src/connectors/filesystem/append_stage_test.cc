// The append file: what is visible, what a restart cuts, whose file it is.
#include "connectors/filesystem/append_stage.h"

#include <doctest/doctest.h>

#include "connectors/testing/stage_driver.h"

namespace weir::connectors {
namespace {

const char kOut[] = "/out/a.json";

std::unique_ptr<plan::TableDef> Table(
    std::vector<std::pair<std::string, std::string>> options = {}) {
  options.insert(options.begin(), {"path", kOut});
  return MakeTable({.name = "out", .options = std::move(options)});
}

std::string Lines(std::vector<int> values) {
  std::string out;
  for (const int v : values) out += "{\"v\":" + std::to_string(v) + "}\n";
  return out;
}

TEST_CASE("sealed rows stay, staged ones are cut by the next start") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = Table();
  StageHistory history;
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1, 2}).ok());
    REQUIRE(stage.Seal().ok());
    REQUIRE(stage.Stage({3}).ok());
    REQUIRE(stage.Freeze());  // frozen, synced, and the process dies before the seal
    REQUIRE(stage.stage().Sync().ok());
  }
  CHECK(world.Content(kOut) == Lines({1, 2, 3}));
  StageDriver again(world.Context(), *table, history);
  REQUIRE(again.Start().ok());
  CHECK(world.Content(kOut) == Lines({1, 2}));
  REQUIRE(again.Stage({4}).ok());
  REQUIRE(again.Seal().ok());
  CHECK(world.Content(kOut) == Lines({1, 2, 4}));
  CHECK(again.stage().books()[flow::Count::kStaged] == 1);
}

TEST_CASE("an epoch without rows has no extent and writes nothing") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = Table();
  StageHistory history;
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  const uint64_t before = world.files().operations();
  CHECK_FALSE(stage.Freeze());
  REQUIRE(stage.stage().Sync().ok());
  CHECK(stage.stage().Sealed(1) == nullptr);
  CHECK(world.files().operations() == before);
}

// A window gives its sink nothing in the first epochs of a run.
TEST_CASE("a start after epochs without rows cuts nothing of what stood there before us") {
  for (const char* there : {"mine\n", "mine"}) {
    CAPTURE(there);
    World world;
    world.files().PutDirectory("/out");
    world.Put(kOut, there);
    const auto table = Table({{"weir.sink.if-exists", "append"}});
    StageHistory history;
    {
      StageDriver stage(world.Context(), *table, history);
      REQUIRE(stage.Start().ok());
      REQUIRE(stage.Seal().ok());
      REQUIRE(stage.Stage({1}).ok());
      REQUIRE(stage.Freeze());  // and the process dies before the second seal
      REQUIRE(stage.stage().Sync().ok());
    }
    CHECK(world.Content(kOut) == "mine\n" + Lines({1}));
    // Somebody may have tidied up the hidden file beside it.
    for (const bool receipt_left : {true, false}) {
      CAPTURE(receipt_left);
      if (!receipt_left) REQUIRE(world.files().Remove("/out/.a.json.weir-receipt").ok());
      StageDriver again(world.Context(), *table, history);
      REQUIRE(again.Start().ok());
      REQUIRE(again.Seal().ok());
    }
    CHECK(world.Content(kOut) == "mine\n");
  }
}

TEST_CASE("a file that was accepted as it is stays accepted after an epoch without rows") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = Table();
  StageHistory history;
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1, 2}).ok());
    REQUIRE(stage.Seal().ok());
  }
  world.Put(kOut, Lines({1}));
  history.words = {{1, protocol::Verb::kAcceptMissing, "out"}};
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Seal().ok());  // the word is used up with this seal
  }
  history.words.clear();
  StageDriver again(world.Context(), *table, history);
  REQUIRE(again.Start().ok());
  CHECK(!again.stage().park());
  CHECK(world.Content(kOut) == Lines({1}));
}

TEST_CASE("a fresh run decides by what stands at the path") {
  struct Case {
    const char* name;
    const char* there;  // null: nothing
    const char* if_exists;
    bool claimed;
    Code inspect;
    const char* want;  // content after the start
  };
  const Case cases[] = {
      {"absent", nullptr, "fail", false, Code::kOk, ""},
      {"empty", "", "fail", false, Code::kOk, ""},
      {"somebody's", "mine\n", "fail", false, Code::kExists, "mine\n"},
      {"somebody's, append", "mine\n", "append", false, Code::kOk, "mine\n"},
      {"somebody's, overwrite", "mine\n", "overwrite", false, Code::kOk, ""},
      {"claimed by a run that died", "{\"v\":", "fail", true, Code::kOk, ""},
      {"claimed, append, died before its receipt", "mine\n", "append", true, Code::kOk, "mine\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    world.files().PutDirectory("/out");
    if (c.there != nullptr) world.Put(kOut, c.there);
    const auto table = Table({{"weir.sink.if-exists", c.if_exists}});
    StageHistory history;
    if (c.claimed) history.claimed.push_back(kOut);
    StageDriver stage(world.Context(), *table, history);
    const Status status = stage.Start();
    CHECK(status.code() == c.inspect);
    if (!status.ok()) CHECK(status.message().find(kOut) != std::string::npos);
    CHECK(world.Content(kOut) == c.want);
  }
}

TEST_CASE("a fresh run replaces our part of an appended file and keeps the rest") {
  World world;
  world.files().PutDirectory("/out");
  world.Put(kOut, "mine");
  const auto table = Table({{"weir.sink.if-exists", "append"}});
  StageHistory history;
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(stage.Seal().ok());
    CHECK(world.Content(kOut) == "mine\n" + Lines({1}));  // somebody's last line is ended first
  }
  history.BeginFreshRun();
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  CHECK(world.Content(kOut) == "mine");
  REQUIRE(stage.Stage({2}).ok());
  REQUIRE(stage.Seal().ok());
  CHECK(world.Content(kOut) == "mine\n" + Lines({2}));
}

TEST_CASE("a resumed run parks when the file does not fit the record, and each word goes on") {
  struct Case {
    const char* name;
    void (*change)(World&);
    const char* rule;  // "" goes on
    protocol::Verb word;
    std::string after_word;
  };
  const Case cases[] = {
      {"as recorded", [](World&) {}, "", {}, Lines({1, 2})},
      {"longer", [](World& w) { w.Append(kOut, "garbage"); }, "", {}, Lines({1, 2})},
      {"missing", [](World& w) { REQUIRE(w.files().Remove(kOut).ok()); }, "file.missing",
       protocol::Verb::kAcceptMissing, ""},
      {"shorter", [](World& w) { w.Put(kOut, Lines({1})); }, "file.shorter",
       protocol::Verb::kAcceptMissing, Lines({1})},
      {"receipt of a stranger",
       [](World& w) {
         w.Put(ReceiptPath(kOut), EncodeFileReceipt({Lineage{{9}}, 3, 0, 4, {}}));
       },
       "file.unknown-receipt", protocol::Verb::kAdopt, Lines({1, 2})},
      {"receipt damaged", [](World& w) { w.Put(ReceiptPath(kOut), "x"); }, "file.unknown-receipt",
       protocol::Verb::kAdopt, Lines({1, 2})},
      {"directory is an older backup",
       [](World& w) {
         w.Append(kOut, Lines({3}));
         w.Put(ReceiptPath(kOut), EncodeFileReceipt({StageHistory::FirstLineage(), 77, 0, 24, {}}));
       },
       "file.receipt-above", protocol::Verb::kRewindFile, Lines({1, 2})},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    world.files().PutDirectory("/out");
    const auto table = Table();
    StageHistory history;
    {
      StageDriver stage(world.Context(), *table, history);
      REQUIRE(stage.Start().ok());
      REQUIRE(stage.Stage({1, 2}).ok());
      REQUIRE(stage.Seal().ok());
    }
    c.change(world);
    const std::string before = world.Content(kOut);
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    const auto park = stage.stage().park();
    CHECK((park ? park->rule : "") == c.rule);
    if (!park) {
      CHECK(world.Content(kOut) == c.after_word);
      continue;
    }
    CHECK(world.Content(kOut) == before);  // nothing was cut
    CHECK(park->subject == "out");
    REQUIRE_FALSE(park->verbs.empty());
    CHECK(park->verbs[0] == c.word);
    CHECK(stage.Stage({5}).code() == Code::kRefused);
    history.words = {{1, c.word, "out"}};
    StageDriver resolved(world.Context(), *table, history);
    REQUIRE(resolved.Start().ok());
    CHECK_FALSE(resolved.stage().park());
    CHECK(world.Content(kOut) == c.after_word);
  }
}

TEST_CASE("the receipt names what is sealed and is renewed by a start that finds it one behind") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = Table();
  StageHistory history;
  {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(stage.Seal().ok());
    CHECK(DecodeFileReceipt(world.Content(ReceiptPath(kOut)))->epoch == 1);
    REQUIRE(stage.Stage({2}).ok());
    REQUIRE(stage.SealWithoutWork().ok());  // dies before the receipt
  }
  CHECK(DecodeFileReceipt(world.Content(ReceiptPath(kOut)))->epoch == 1);
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  const auto receipt = DecodeFileReceipt(world.Content(ReceiptPath(kOut)));
  CHECK(receipt->epoch == 2);
  CHECK(receipt->length == Lines({1, 2}).size());
}

TEST_CASE("no space: bytes wait, no row is lost, nothing is written twice") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = Table();
  StageHistory history;
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  bool full = true;
  world.files().OnOperation([&](const io::SimOp& op) {
    return full && op.kind == io::SimOpKind::kWrite ? io::SimFault::kNoSpace : io::SimFault::kNone;
  });
  std::vector<int64_t> values(40000, 7);
  REQUIRE(stage.Stage(values).ok());
  CHECK(stage.stage().paused());
  CHECK(stage.stage().BufferedBytes() == 40000 * 8);
  CHECK(stage.stage().RetryWrites().code() == Code::kNoSpace);
  REQUIRE(stage.Freeze());
  CHECK(stage.stage().Sync().code() == Code::kNoSpace);
  REQUIRE(stage.Stage({8}).ok());  // the next epoch goes on meanwhile
  CHECK(stage.stage().Sync().code() == Code::kNoSpace);
  full = false;
  REQUIRE(stage.stage().Sync().ok());
  REQUIRE(stage.FinishSeal().ok());
  REQUIRE(stage.Seal().ok());
  std::string want;
  for (int i = 0; i < 40000; ++i) want += "{\"v\":7}\n";
  CHECK(world.Content(kOut) == want + "{\"v\":8}\n");
}

TEST_CASE("a failed sync and an I/O error are unknown outcomes") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = Table();
  StageHistory history;
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  REQUIRE(stage.Stage({1}).ok());
  REQUIRE(stage.Freeze());
  world.files().OnOperation([](const io::SimOp& op) {
    return op.kind == io::SimOpKind::kSync ? io::SimFault::kSyncLosesPages : io::SimFault::kNone;
  });
  CHECK(stage.stage().Sync().code() == Code::kUnknownOutcome);
}

TEST_CASE("a file that is removed or replaced while it is written stops the seal") {
  for (const bool replaced : {false, true}) {
    World world;
    world.files().PutDirectory("/out");
    const auto table = Table();
    StageHistory history;
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({1}).ok());
    REQUIRE(world.files().Remove(kOut).ok());
    if (replaced) world.Put(kOut, "other");
    REQUIRE(stage.Freeze());
    const Status status = stage.stage().Sync();
    CHECK(status.code() == Code::kUnknownOutcome);
    CHECK(status.message().find(kOut) != std::string::npos);
  }
}

TEST_CASE("places where no file can be made are named") {
  World world;
  const auto table = Table();
  StageHistory history;
  StageDriver missing(world.Context(), *table, history);
  Status status = missing.Start();
  CHECK(status.code() == Code::kCannotCreate);
  CHECK(status.message().find("/out") != std::string::npos);
  world.Put("/out", "a file");
  StageDriver file(world.Context(), *table, history);
  CHECK(file.Start().code() == Code::kCannotCreate);
}

TEST_CASE("rows that cannot be written are dead letters when they are staged") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = MakeTable({.name = "out",
                                .options = {{"path", kOut}},
                                .columns = {{"d", Type::Of(TypeKind::kDouble)}}});
  StageHistory history;
  StageDriver stage(world.Context(), *table, history);
  REQUIRE(stage.Start().ok());
  Batch batch;
  batch.Reset(SinkSchema(*table), 3);
  for (uint32_t i = 0; i < 3; ++i) batch.mutable_column(0).valid[i] = 1;
  batch.mutable_column(0).doubles = {1.5, 0.0 / 0.0, 2.5};
  DeadOutputs out;
  REQUIRE(stage.stage().Stage(batch, out).ok());
  CHECK(out.records.size() == 1);
  REQUIRE(stage.Seal().ok());
  CHECK(world.Content(kOut) == "{\"d\":1.5}\n{\"d\":2.5}\n");
  const flow::NodeBooks& books = stage.stage().books();
  CHECK(books[flow::Count::kIn] == 3);
  CHECK(books[flow::Count::kDead] == 1);
  CHECK(books[flow::Count::kStaged] == 2);
  CHECK(books[flow::Count::kAcked] == 2);
}

TEST_CASE("csv.header is written once, at the file's start") {
  World world;
  world.files().PutDirectory("/out");
  const auto table = MakeTable(
      {.name = "out", .format = "csv", .options = {{"path", kOut}, {"csv.header", "true"}}});
  StageHistory history;
  for (int life = 0; life < 3; ++life) {
    StageDriver stage(world.Context(), *table, history);
    REQUIRE(stage.Start().ok());
    REQUIRE(stage.Stage({life}).ok());
    REQUIRE(stage.Seal().ok());
  }
  CHECK(world.Content(kOut) == "v\n0\n1\n2\n");
}

TEST_CASE("a receipt that is not what we write is damaged") {
  const FileReceipt receipt{Lineage{{1, 2}}, 5, 10, 20, {3, 4}};
  const std::string text = EncodeFileReceipt(receipt);
  CHECK(DecodeFileReceipt(text) == receipt);
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    CHECK_FALSE(DecodeFileReceipt(changed));
    CHECK_FALSE(DecodeFileReceipt(text.substr(0, i)));
  }
}

}  // namespace
}  // namespace weir::connectors
