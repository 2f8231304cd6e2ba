// gzip and zstd input: known by magic bytes; positions are of uncompressed bytes.
#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

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

std::string Gzip(std::string_view bytes) {
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

std::string Zstd(std::string_view bytes) {
  std::string out(ZSTD_compressBound(bytes.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), 3));
  return out;
}

class CountingHeartbeat : public io::Heartbeat {
 public:
  Status Beat(std::string_view what, std::string_view subject) override {
    if (what != "inflating") return Status::Ok();
    CHECK(subject == "/in/app.log.1");
    ++beats;
    return Status::Ok();
  }
  int beats = 0;
};

TEST_CASE("a compressed file that is inflated up to its position says so on the way") {
  const std::string plain = Lines(1, 60000);
  for (const bool compressed : {true, false}) {
    World world;
    world.Put("/in/app.log.1", compressed ? Gzip(plain) : plain);
    const auto table = MakeTable({.options = {{"path", "/in"}}});
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open().ok());
    Rows rows;
    REQUIRE(driver.ReadOnce(0, 50000, rows).has_value());
    driver.Seal();
    CountingHeartbeat heartbeat;
    io::Env env = world.Context().env;
    env.heartbeat = &heartbeat;
    const ConnectorContext context{env, "/state", "pipeline", "box", {}, nullptr, {}};
    SourceDriver again(context, *table);
    REQUIRE(again.Open(driver.saved, driver.state).ok());
    for (std::string& row : again.ReadAll(4096)) rows.push_back(std::move(row));
    CHECK(rows == Values(1, 60000));
    // 600 KiB in steps of 64 KiB at most; what is read to be decoded is no way to anywhere.
    CHECK(heartbeat.beats >= (compressed ? 9 : 0));
    CHECK(heartbeat.beats < (compressed ? 40 : 1));
  }
}

TEST_CASE("--accept-gap TABLE gives up a compressed file whose damage lies behind what was read") {
  const std::string plain = Lines(1, 60000);
  std::string damaged = Gzip(plain);
  damaged[damaged.size() * 9 / 10] ^= 0x55;
  for (const bool follow : {false, true}) {
    CAPTURE(follow);
    World world;
    world.Put("/in/a.log", damaged);
    world.Put("/in/b.log", Gzip(Lines(60001, 60010)));
    std::vector<std::pair<std::string, std::string>> options = {{"path", "/in"}};
    if (follow) options.push_back({"source.monitor-interval", "1 s"});
    const auto table = MakeTable({.options = options});
    SourceDriver first(world.Context(), *table);
    REQUIRE(first.Open().ok());
    Rows rows;
    REQUIRE(first.ReadOnce(0, 10000, rows).has_value());
    first.Seal();
    {
      SourceDriver again(world.Context(), *table);
      REQUIRE(again.Open(first.saved, first.state).ok());
      (void)again.ReadAll(4096);
      REQUIRE(again.source().parks().size() == 1);
    }
    ConnectorContext context = world.Context();
    context.resolutions = {{1, protocol::Verb::kAcceptGap, "t"}};
    SourceDriver told(context, *table);
    REQUIRE(told.Open(first.saved, first.state).ok());
    CHECK(told.ReadAll(4096) == Values(60001, 60010));
    CHECK(told.source().parks().empty());
  }
}

TEST_CASE("compressed files read like plain ones, restarts in the middle included") {
  const std::string plain = Lines(1, 60000);
  for (const std::string& bytes : {plain, Gzip(plain), Zstd(plain)}) {
    World world;
    world.Put("/in/app.log.1", bytes);
    const auto table = MakeTable({.options = {{"path", "/in"}}});
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open().ok());
    Rows rows;
    REQUIRE(driver.ReadOnce(0, 30000, rows).has_value());
    driver.Seal();
    CHECK(driver.position(0) == static_cast<int64_t>(Lines(1, 30000).size()));
    SourceDriver again(world.Context(), *table);
    REQUIRE(again.Open(driver.saved, driver.state).ok());
    for (std::string& row : again.ReadAll(4096)) rows.push_back(std::move(row));
    CHECK(rows == Values(1, 60000));
    CHECK(again.AllEnded());
    uint64_t read = 0, total = 0;
    again.source().Progress(&read, &total);
    CHECK(read == bytes.size());
    CHECK(total == bytes.size());
  }
}

TEST_CASE("a compressed file that is cut or damaged parks, with its rows so far delivered") {
  struct Case {
    const char* name;
    std::string bytes;
  };
  const std::string whole = Gzip(Lines(1, 5000));
  std::string damaged = whole;
  damaged[damaged.size() - 6] =
      static_cast<char>(damaged[damaged.size() - 6] ^ 0x55);  // in the trailer
  const Case cases[] = {{"cut", whole.substr(0, whole.size() - 100)}, {"damaged", damaged}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    World world;
    world.Put("/in.gz", c.bytes);
    const auto table = MakeTable({.options = {{"path", "/in.gz"}}});
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open().ok());
    const Rows rows = driver.ReadAll();
    if (std::string_view(c.name) == "cut")
      CHECK(rows.size() > 1000);  // what fails its checksum is not believed
    CHECK_FALSE(driver.AllEnded());
    REQUIRE(driver.source().parks().size() == 1);
    CHECK(driver.source().parks()[0].what.find("/in.gz") != std::string::npos);
  }
}

TEST_CASE("a rotated file that is compressed is known by its content") {
  for (const bool stopped : {false, true}) {
    CAPTURE(stopped);
    World world;
    const auto table =
        MakeTable({.options = {{"path", "/in/app.log*"}, {"source.monitor-interval", "1 s"}}});
    world.Put("/in/app.log", Lines(3, 3));
    world.Put("/in/app.log.2.gz", Gzip(Lines(1, 2)));
    auto driver = std::make_unique<SourceDriver>(world.Context(), *table);
    REQUIRE(driver->Open().ok());
    CHECK(driver->ReadAll().size() == 3);
    driver->Seal();
    const auto poll = [&] {
      world.clock().AdvanceMs(1000);
      Rows rows = driver->ReadAll();
      driver->Seal();
      return rows;
    };
    REQUIRE(world.files().Rename("/in/app.log", "/in/app.log.1").ok());
    world.Put("/in/app.log", Lines(4, 4));
    CHECK(poll() == Values(4, 4));
    const auto saved = driver->saved;
    if (stopped) driver.reset();
    REQUIRE(world.files().Remove("/in/app.log.1").ok());
    world.Put("/in/app.log.1.gz", Gzip(Lines(3, 3)));
    if (stopped) {
      driver = std::make_unique<SourceDriver>(world.Context(), *table);
      REQUIRE(driver->Open(saved, "").ok());
    }
    for (int i = 0; i < 8; ++i) CHECK(poll().empty());
  }
}

}  // namespace
}  // namespace weir::connectors
