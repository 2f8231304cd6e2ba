// What every Source promises to a scan, whatever it reads: replay at each boundary, exact max_rows,
// positions that move forward, nothing moved by a peek, partitions announced once.
//
// A new source is added to kSources and must pass without a word of its own.
#include <doctest/doctest.h>
#include <zlib.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

using Rows = std::vector<std::string>;

struct SourceCase {
  const char* name;
  TableParts table;
  std::function<void(World&)> input;
  bool follow = false;
};

std::string Json(int from, int to) {
  std::string out;
  for (int i = from; i <= to; ++i) {
    out += i % 10 == 3 ? "not json\n" : i % 10 == 5 ? "\n" : "{\"v\":" + std::to_string(i) + "}\n";
  }
  return out;
}

std::string Csv(int from, int to) {
  std::string out = "x,v\n";
  for (int i = from; i <= to; ++i)
    out += i % 7 == 0 ? "\"a\nb\"," + std::to_string(i) + "\n" : "x," + std::to_string(i) + "\r\n";
  return out;
}

std::string Plain(int from, int to) {
  std::string out;
  for (int i = from; i <= to; ++i) out += std::to_string(i) + "\n";
  return out;
}

std::string Gzip(const std::string& bytes) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(compressBound(bytes.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::vector<SourceCase> Sources() {
  const std::vector<std::pair<std::string, std::string>> in = {{"path", "/in"}};
  const std::vector<std::pair<std::string, std::string>> followed = {
      {"path", "/in"}, {"source.monitor-interval", "1 s"}};
  const auto three_json = [](World& world) {
    world.Put("/in/a", Json(1, 40));
    world.Put("/in/b", "");
    world.Put("/in/c", Json(41, 90));
  };
  return {
      {"files, json", {.options = in}, three_json},
      {"files, json, followed", {.options = followed}, three_json, true},
      {"files, json, with line numbers",
       {.options = in, .metadata = {{"l", "file.line"}, {"o", "file.offset"}}},
       three_json},
      {"files, gzip", {.options = in}, [](World& world) { world.Put("/in/a", Gzip(Json(1, 60))); }},
      {"files, csv with header and quoted line feeds",
       {.format = "csv", .options = {{"path", "/in"}, {"csv.header", "true"}}},
       [](World& world) {
         world.Put("/in/a", Csv(1, 30));
         world.Put("/in/b", Csv(31, 50));
       }},
      {"files, raw",
       {.format = "raw", .options = in, .columns = {{"line", Type::Of(TypeKind::kString)}}},
       [](World& world) { world.Put("/in/a", Plain(1, 50)); }},
      {"files, regex",
       {.format = "regex", .options = {{"path", "/in"}, {"regex.pattern", "(?P<v>[0-9]+)"}}},
       [](World& world) { world.Put("/in/a", Plain(1, 50)); }},
      {"datagen",
       {.connector = "datagen",
        .options = {{"rows-per-second", "0"},
                    {"number-of-rows", "60"},
                    {"fields.v.min", "0"},
                    {"fields.v.max", "99"}}},
       [](World&) {}},
  };
}

// All rows of each partition, read in one go.
std::vector<Rows> ReadWhole(World& world, const plan::TableDef& table) {
  SourceDriver driver(world.Context(), table);
  REQUIRE(driver.Open().ok());
  std::vector<Rows> out(driver.partitions().size());
  for (size_t i = 0; i < out.size(); ++i) {
    for (;;) {
      const auto state = driver.ReadOnce(static_cast<flow::PartitionIndex>(i), 10'000, out[i]);
      REQUIRE(state.has_value());
      if (*state != flow::ReadState::kRows) break;
    }
  }
  return out;
}

TEST_CASE("source: replay at each boundary gives the same rows, for every batch size") {
  for (const SourceCase& c : Sources()) {
    World world;
    c.input(world);
    const auto table = MakeTable(c.table);
    const std::vector<Rows> want = ReadWhole(world, *table);
    for (const uint32_t batch : {1u, 3u, 1000u}) {
      CAPTURE(c.name);
      CAPTURE(batch);
      std::vector<Rows> rows(want.size());
      std::map<std::string, std::string> saved;
      std::string state;
      for (size_t i = 0; i < want.size(); ++i) {
        for (bool more = true; more;) {
          // A life: one batch of one partition, sealed, then a death.
          SourceDriver driver(world.Context(), *table);
          REQUIRE(driver.Open(saved, state).ok());
          const auto here =
              std::find_if(driver.partitions().begin(), driver.partitions().end(),
                           [&](const flow::PartitionInfo& p) {
                             return p.key == "f" + std::to_string(i) || want.size() == 1;
                           });
          if (here == driver.partitions().end() || here->finished) break;
          const size_t before = rows[i].size();
          const auto read = driver.ReadOnce(here->index, batch, rows[i]);
          REQUIRE(read.has_value());
          driver.Seal();
          saved = driver.saved;
          state = driver.state;
          more = *read == flow::ReadState::kRows || rows[i].size() > before;
          if (*read == flow::ReadState::kEnd) more = false;
        }
      }
      CHECK(rows == want);
    }
  }
}

TEST_CASE("source: rows that were read but not sealed are read again") {
  for (const SourceCase& c : Sources()) {
    CAPTURE(c.name);
    World world;
    c.input(world);
    const auto table = MakeTable(c.table);
    SourceDriver first(world.Context(), *table);
    REQUIRE(first.Open().ok());
    Rows before, lost, again;
    REQUIRE(first.ReadOnce(0, 5, before).has_value());
    first.Seal();
    REQUIRE(first.ReadOnce(0, 7, lost).has_value());
    SourceDriver second(world.Context(), *table);
    REQUIRE(second.Open(first.saved, first.state).ok());
    REQUIRE(second.ReadOnce(0, 7, again).has_value());
    CHECK_FALSE(lost.empty());
    CHECK(again == lost);
  }
}

TEST_CASE(
    "source: a peek shows the first rows and moves nothing; partitions are announced once; an end "
    "stays an end") {
  for (const SourceCase& c : Sources()) {
    CAPTURE(c.name);
    World world;
    c.input(world);
    const auto table = MakeTable(c.table);
    const std::vector<Rows> want = ReadWhole(world, *table);
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open().ok());
    const size_t partitions = driver.partitions().size();
    for (size_t i = 0; i < partitions; ++i) {
      Batch batch;
      batch.Reset(RawSchema(*table));
      REQUIRE(driver.source().Peek(static_cast<flow::PartitionIndex>(i), batch).ok());
      CHECK((batch.rows() > 0) == !want[i].empty());
    }
    Rows all, rows;
    for (const Rows& part : want) all.insert(all.end(), part.begin(), part.end());
    CHECK(driver.ReadAll(4) == all);
    driver.Discover();
    CHECK(driver.partitions().size() == partitions);
    for (size_t i = 0; i < partitions; ++i) {
      const auto state = driver.ReadOnce(static_cast<flow::PartitionIndex>(i), 4, rows);
      CHECK(state.value() == (c.follow ? flow::ReadState::kWait : flow::ReadState::kEnd));
    }
    CHECK(rows.empty());
    CHECK(driver.source().parks().empty());
    CHECK((driver.source().PollIntervalMs() >= 0) == c.follow);
  }
}

TEST_CASE("source: a damaged position is corruption, never a read from the beginning") {
  for (const SourceCase& c : Sources()) {
    CAPTURE(c.name);
    World world;
    c.input(world);
    const auto table = MakeTable(c.table);
    SourceDriver first(world.Context(), *table);
    REQUIRE(first.Open().ok());
    Rows rows;
    REQUIRE(first.ReadOnce(0, 5, rows).has_value());
    first.Seal();
    auto saved = first.saved;
    REQUIRE_FALSE(saved.empty());
    saved.begin()->second = "\x7f";
    SourceDriver second(world.Context(), *table);
    CHECK(second.Open(saved, first.state).code() == Code::kCorruption);
  }
}

}  // namespace
}  // namespace weir::connectors
