// Bounded reads: a list taken once, positions at every boundary, trouble that parks.
#include <doctest/doctest.h>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

using Rows = std::vector<std::string>;

std::string Lines(int from, int to) {
  std::string out;
  for (int i = from; i <= to; ++i) out += "{\"v\":" + std::to_string(i) + "}\n";
  return out;
}

Rows Values(int from, int to) {
  Rows out;
  for (int i = from; i <= to; ++i) out.push_back("{\"v\":" + std::to_string(i) + "}");
  return out;
}

TEST_CASE("files of a directory and of a pattern are read in path order, hidden ones are not") {
  struct Case {
    const char* name;
    const char* path;
    Rows want;
  };
  World world;
  world.Put("/in/b.json", Lines(3, 4));
  world.Put("/in/a.json", Lines(1, 2));
  world.Put("/in/.c.json", Lines(9, 9));
  world.Put("/in/sub/d.json", Lines(5, 5));
  const Case cases[] = {
      {"file", "/in/b.json", Values(3, 4)},     {"file:// URL", "file:///in/b.json", Values(3, 4)},
      {"directory", "/in", Values(1, 5)},       {"pattern", "/in/*.json", Values(1, 4)},
      {"class", "/in/[!b].json", Values(1, 2)}, {"pattern for a directory", "/i?/s*", Values(5, 5)},
      {"nothing matches", "/in/*.csv", {}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto table = MakeTable({.options = {{"path", c.path}}});
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open().ok());
    CHECK(driver.ReadAll() == c.want);
    CHECK(driver.AllEnded());
  }
}

TEST_CASE("a missing file is an error that names it") {
  World world;
  for (const char* path : {"/in/nothing.json", "/nowhere/*.json"}) {
    const auto table = MakeTable({.options = {{"path", path}}});
    SourceDriver driver(world.Context(), *table);
    const Status status = driver.Open();
    CHECK(status.code() == Code::kInvalid);
    CHECK(status.message().find(path) != std::string::npos);
  }
}

TEST_CASE("small inputs: empty file, no newline at the end, a line feed only") {
  struct Case {
    const char* name;
    std::string bytes;
    Rows want;
  };
  const Case cases[] = {
      {"empty", "", {}},
      {"last line without newline is a row", "{\"v\":1}\n{\"v\":2}", Values(1, 2)},
      {"one line feed", "\n", {"skipped"}},
      {"a bad line", "{\"v\":1}\nx\n{\"v\":2}\n", {"{\"v\":1}", "dead json.root", "{\"v\":2}"}},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    world.Put("/in.json", c.bytes);
    const auto table = MakeTable({.options = {{"path", "/in.json"}}});
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open().ok());
    CHECK(driver.ReadAll() == c.want);
    CHECK(driver.AllEnded());
    CHECK(driver.position(0) == static_cast<int64_t>(c.bytes.size()));
  }
}

TEST_CASE("a restart at every boundary reads each row once, whatever the batch size") {
  World world;
  world.Put("/in/a.json", Lines(1, 700));
  world.Put("/in/b.json", Lines(701, 710) + "{\"v\":711}");
  const auto table = MakeTable({.options = {{"path", "/in"}}});
  for (const uint32_t batch : {1u, 7u, 100u, 2048u}) {
    CAPTURE(batch);
    Rows rows;
    std::map<std::string, std::string> saved;
    std::string state;
    for (bool ended = false; !ended;) {
      SourceDriver driver(world.Context(), *table);
      REQUIRE(driver.Open(saved, state).ok());
      REQUIRE(driver.partitions().size() == 2);
      // One call per life: a restart behind each batch.
      const flow::PartitionIndex next = driver.partitions()[0].finished ? 1 : 0;
      ended = driver.partitions()[1].finished;
      if (ended) break;
      REQUIRE(driver.ReadOnce(next, batch, rows).has_value());
      driver.Seal();
      saved = driver.saved;
      state = driver.state;
      if (rows.size() > 1000) break;
    }
    CHECK(rows == Values(1, 711));
  }
}

TEST_CASE("a position inside a batch is as good as one at its end") {
  World world;
  world.Put("/in.json", Lines(1, 2000));
  const auto table =
      MakeTable({.options = {{"path", "/in.json"}}, .metadata = {{"line", "file.line"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  Rows rows;
  REQUIRE(driver.ReadOnce(0, 1500, rows).has_value());
  const auto state = driver.source().FreezeSourceState();
  for (const int consumed : {1, 10, 700, 1499}) {
    CAPTURE(consumed);
    const auto blob =
        driver.source().EncodePosition(0, static_cast<int64_t>(Lines(1, consumed).size()));
    REQUIRE(blob.has_value());
    SourceDriver again(world.Context(), *table);
    REQUIRE(again.Open({{"f0", *blob}}, *state).ok());
    const Rows rest = again.ReadAll();
    CHECK(rest.size() == static_cast<size_t>(2000 - consumed));
    CHECK(rest.front() == "{\"v\":" + std::to_string(consumed + 1) +
                              ",\"line\":" + std::to_string(consumed + 1) + "}");
  }
}

TEST_CASE("a file that is cut before its position is encoded does not end the run") {
  World world;
  world.Put("/in.json", Lines(1, 60000));
  const auto table = MakeTable({.options = {{"path", "/in.json"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  const auto state = driver.source().FreezeSourceState();
  Rows rows;
  REQUIRE(driver.ReadOnce(0, 50000, rows).has_value());  // its first bytes have left the buffer
  world.Put("/in.json", "");
  const auto blob = driver.source().EncodePosition(0, static_cast<int64_t>(Lines(1, 10).size()));
  REQUIRE(blob.has_value());
  SourceDriver again(world.Context(), *table);
  REQUIRE(again.Open({{"f0", *blob}}, *state).ok());
  CHECK(again.ReadAll().empty());
  CHECK(again.source().parks().size() == 1);
}

TEST_CASE("the list is taken once: later files and later bytes are not read") {
  World world;
  world.Put("/in/a.json", Lines(1, 2));
  const auto table = MakeTable({.options = {{"path", "/in"}}});
  SourceDriver first(world.Context(), *table);
  REQUIRE(first.Open().ok());
  first.Seal();
  world.Put("/in/b.json", Lines(7, 8));
  world.Append("/in/a.json", Lines(3, 3));
  SourceDriver second(world.Context(), *table);
  REQUIRE(second.Open(first.saved, first.state).ok());
  CHECK(second.ReadAll() == Values(1, 2));
}

TEST_CASE(
    "a listed file in trouble parks its partition, and --accept-gap goes on without the rest") {
  struct Case {
    const char* name;
    void (*change)(World&);
    bool parks;
    size_t rows_after;  // of 2 left in the file and 1 in the other
  };
  const Case cases[] = {
      {"untouched", [](World&) {}, false, 3},
      {"grown", [](World& w) { w.Append("/in/a.json", Lines(9, 9)); }, false, 3},
      {"renamed in its directory",
       [](World& w) { REQUIRE(w.files().Rename("/in/a.json", "/in/z.old").ok()); }, false, 3},
      {"copied back by a restore",
       [](World& w) {
         REQUIRE(w.files().Remove("/in/a.json").ok());
         w.Put("/in/a.json", Lines(1, 4));
       },
       false, 3},
      {"gone", [](World& w) { REQUIRE(w.files().Remove("/in/a.json").ok()); }, true, 1},
      {"shorter", [](World& w) { w.Put("/in/a.json", Lines(1, 3)); }, true, 1},
      {"other bytes before the position", [](World& w) { w.Put("/in/a.json", Lines(5, 8)); }, true,
       1},
      {"replaced by another file",
       [](World& w) {
         REQUIRE(w.files().Remove("/in/a.json").ok());
         w.Put("/in/a.json", Lines(5, 8));
       },
       true, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    world.Put("/in/a.json", Lines(1, 4));
    world.Put("/in/b.json", Lines(6, 6));
    const auto table = MakeTable({.options = {{"path", "/in"}}});
    SourceDriver first(world.Context(), *table);
    REQUIRE(first.Open().ok());
    Rows rows;
    REQUIRE(first.ReadOnce(0, 2, rows).has_value());
    first.Seal();
    c.change(world);
    {
      // TABLE alone gives up what is in trouble, and nothing that can be read.
      ConnectorContext context = world.Context();
      context.resolutions = {{1, protocol::Verb::kAcceptGap, "t"}};
      SourceDriver bare(context, *table);
      REQUIRE(bare.Open(first.saved, first.state).ok());
      CHECK(bare.ReadAll().size() == c.rows_after);
      CHECK(bare.source().parks().empty());
      CHECK(bare.AllEnded());
    }
    SourceDriver second(world.Context(), *table);
    REQUIRE(second.Open(first.saved, first.state).ok());
    CHECK(second.ReadAll().size() == c.rows_after);
    const auto parks = second.source().parks();
    CHECK(parks.size() == (c.parks ? 1 : 0));
    CHECK(second.AllEnded() == !c.parks);
    if (!c.parks) continue;
    CHECK(parks[0].verbs == std::vector<protocol::Verb>{protocol::Verb::kAcceptGap});
    CHECK(parks[0].what.find("/in/a.json") != std::string::npos);
    // The word is used by one start, and holds for all later ones once its epoch is sealed.
    ConnectorContext context = world.Context();
    context.resolutions = {{1, protocol::Verb::kAcceptGap, "t:/in/a.json"}};
    SourceDriver third(context, *table);
    REQUIRE(third.Open(second.saved, second.state).ok());
    CHECK(third.ReadAll().size() == c.rows_after);
    CHECK(third.source().parks().empty());
    CHECK(third.AllEnded());
    third.Seal();
    SourceDriver fourth(world.Context(), *table);
    REQUIRE(fourth.Open(third.saved, third.state).ok());
    CHECK(fourth.ReadAll().empty());
    CHECK(fourth.AllEnded());
  }
}

TEST_CASE("a file that was read to its end may go away") {
  World world;
  world.Put("/in/a.json", Lines(1, 4));
  const auto table = MakeTable({.options = {{"path", "/in/*"}}});
  SourceDriver first(world.Context(), *table);
  REQUIRE(first.Open().ok());
  CHECK(first.ReadAll() == Values(1, 4));
  first.Seal();
  REQUIRE(world.files().Remove("/in/a.json").ok());
  SourceDriver second(world.Context(), *table);
  REQUIRE(second.Open(first.saved, first.state).ok());
  CHECK(second.partitions().at(0).finished);
  CHECK(second.source().parks().empty());
}

TEST_CASE(
    "csv: the header is no row, also after a restart in the middle; quoted line feeds are data") {
  World world;
  world.Put("/in.csv",
            "\xEF\xBB\xBF"
            "v,s\r\n1,\"a\nb\"\r\n2,c\r\n");
  const auto table =
      MakeTable({.format = "csv",
                 .options = {{"path", "/in.csv"}, {"csv.header", "true"}},
                 .columns = {{"s", Type::Of(TypeKind::kString)}, {"v", Type::Of(TypeKind::kInt)}}});
  Rows rows;
  std::map<std::string, std::string> saved;
  std::string state;
  for (int life = 0; life < 4; ++life) {
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open(saved, state).ok());
    if (driver.partitions()[0].finished) break;
    REQUIRE(driver.ReadOnce(0, 1, rows).has_value());
    driver.Seal();
    saved = driver.saved;
    state = driver.state;
  }
  CHECK(rows == Rows{R"({"s":"a\nb","v":1})", R"({"s":"c","v":2})"});
}

TEST_CASE("csv: a header without a wanted column parks the file and names the column") {
  World world;
  world.Put("/in/a.csv", "x\n1\n");
  world.Put("/in/b.csv", "v\n2\n");
  const auto table =
      MakeTable({.format = "csv", .options = {{"path", "/in"}, {"csv.header", "true"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  CHECK(driver.ReadAll() == Rows{R"({"v":2})"});
  REQUIRE(driver.source().parks().size() == 1);
  CHECK(driver.source().parks()[0].what.find("column 'v'") != std::string::npos);
  CHECK(driver.source().parks()[0].what.find("/in/a.csv") != std::string::npos);
}

TEST_CASE("metadata columns say where a row was") {
  World world;
  world.Put("/in/a.json", "{\"v\":1}\n\n{\"v\":2}\n");
  const auto table = MakeTable({.options = {{"path", "/in/a.json"}},
                                .metadata = {{"p", "file.path"},
                                             {"n", "file.name"},
                                             {"s", "file.size"},
                                             {"o", "file.offset"},
                                             {"l", "file.line"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  CHECK(driver.ReadAll() == Rows{R"({"v":1,"p":"/in/a.json","n":"a.json","s":17,"o":0,"l":1})",
                                 "skipped",
                                 R"({"v":2,"p":"/in/a.json","n":"a.json","s":17,"o":9,"l":3})"});
}

TEST_CASE("an over-long line is one dead letter and no position lies inside it") {
  World world;
  const std::string bytes = Lines(1, 1) + std::string(3 << 20, 'x') + "\n" + Lines(2, 2);
  world.Put("/in.json", bytes);
  const auto table = MakeTable({.options = {{"path", "/in.json"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  Rows rows;
  REQUIRE(driver.ReadOnce(0, 1, rows).has_value());
  driver.Seal();
  CHECK(driver.position(0) == static_cast<int64_t>(Lines(1, 1).size()));
  CHECK(driver.ReadAll() == Rows{"dead record.too-long", "{\"v\":2}"});
  SourceDriver again(world.Context(), *table);
  REQUIRE(again.Open(driver.saved, driver.state).ok());
  CHECK(again.ReadAll() == Rows{"dead record.too-long", "{\"v\":2}"});
}

TEST_CASE("a peek shows the first rows and moves nothing") {
  World world;
  world.Put("/in.json", Lines(1, 20000));
  const auto table = MakeTable({.options = {{"path", "/in.json"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  Batch batch;
  batch.Reset(RawSchema(*table));
  REQUIRE(driver.source().Peek(0, batch).ok());
  CHECK(batch.rows() > 1000);
  CHECK(batch.column(0).ints[0] == 1);
  CHECK(driver.ReadAll() == Values(1, 20000));
}

TEST_CASE("more files than may be open at once, read in turns") {
  World world;
  Rows want;
  for (int i = 10; i < 50; ++i) world.Put("/in/" + std::to_string(i), Lines(i * 100, i * 100 + 3));
  const auto table = MakeTable({.options = {{"path", "/in"}}});
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  Rows rows;
  for (int turn = 0; turn < 5; ++turn) {
    for (int p = 0; p < 40; ++p) REQUIRE(driver.ReadOnce(p, 1, rows).has_value());
    driver.Seal();
  }
  for (int k = 0; k < 4; ++k) {
    for (int i = 10; i < 50; ++i) want.push_back("{\"v\":" + std::to_string(i * 100 + k) + "}");
  }
  CHECK(rows == want);
}

}  // namespace
}  // namespace weir::connectors
