// Rows that were good, damaged in a thousand ways: the decoder and simdjson must agree on every
// one.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "json_reference.h"

namespace weir {
namespace {

const std::vector<std::string> kSeeds = {
    R"({"s":"abc","b":12,"m":45.47,"f":0.5,"t":"2026-01-01T00:00:01.095Z","o":true,"v":"xyz"})",
    R"({"event_id":"18a4e0e9-602a-5833-db06-000000000000","s":"u996166","m":45.47,"t":"2026-01-01 00:00:01"})",
    R"({"u":{"a":[1,2,{"b":null}],"c":{}},"s":"\u00e9\n\ud83d\ude00","b":-9223372036854775808})",
    R"({ "s" : [1, "x", {"y": 1e5}] , "b" : 1.0e3 , "m" : 1.10 })",
    R"({"s":123456789012345678901234567890,"f":1e308,"b":1234567890123456789,"m":"7.5","o":"false"})",
    "{\"s\":\"\xD0\x9F\xD0\xBE\xD0\xBB\xD1\x8C \xE6\xB5\x8F\xE8\xA7\x88 "
    "\xF0\x9F\x98\x80\",\"v\":\"\xC3\xA9\"}",
    R"({"s":"a","s":"b","b":"x","b":2,"f":-0.0,"f":0.1,"o":null})",
    R"({"\u0073":"key by escape","a key that is longer than thirty-two bytes, in fact":1,"t":"1969-12-31T23:59:59.999+02:00"})",
    R"({})",
};

// SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = state_ += 0x9E3779B97F4A7C15;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
    z = (z ^ z >> 27) * 0x94D049BB133111EB;
    return z ^ z >> 31;
  }
  size_t Below(size_t n) { return static_cast<size_t>(Next() % n); }

 private:
  uint64_t state_;
};

std::string Mutated(Random& random) {
  std::string row = kSeeds[random.Below(kSeeds.size())];
  static constexpr std::string_view kLikely = "\"\\{}[]:,0123456789-+.eEutfnl \t\r/";
  for (size_t times = random.Below(4); times > 0; --times) {
    const size_t at = random.Below(row.size() + 1);
    switch (random.Below(7)) {
      case 0:
        row.insert(at, 1, kLikely[random.Below(kLikely.size())]);
        break;
      case 1:
        if (at < row.size()) row.erase(at, 1 + random.Below(3));
        break;
      case 2:
        if (at < row.size()) row[at] = kLikely[random.Below(kLikely.size())];
        break;
      case 3:
        if (at < row.size()) row[at] = static_cast<char>(random.Next());
        break;
      case 4:
        row.insert(at, row.substr(random.Below(row.size() + 1), random.Below(12)));
        break;
      case 5: {
        const std::string& other = kSeeds[random.Below(kSeeds.size())];
        row = row.substr(0, at) + other.substr(random.Below(other.size() + 1));
        break;
      }
      case 6:
        row = row.substr(0, at);
        break;
    }
    if (row.empty()) row = " ";
  }
  return row;
}

TEST_CASE("mutated rows: the decoder and simdjson agree on verdict and values") {
  json_reference::Reader reader;
  Random random(20261129);
  uint64_t bytes = 0;
  for (int block = 0; block < 2000; ++block) {
    // Blocks of one shape let the decoder predict keys; mixed ones do not.
    std::string text;
    for (int row = 0; row < 50; ++row) text += Mutated(random) + "\n";
    const std::string why =
        json_reference::CompareBlock(text, random.Below(text.size() + 1), reader);
    CAPTURE(block);
    CAPTURE(text);
    REQUIRE(why == "");
    bytes += text.size();
  }
  CHECK(bytes > 5000000);
  // Single values: here a line feed is white space.
  for (int i = 0; i < 20000; ++i) {
    const std::string row = Mutated(random);
    CAPTURE(row);
    REQUIRE(json_reference::CompareBlock(row, random.Below(row.size() + 1), reader) == "");
  }
}

TEST_CASE("the comparison says no when a decoder is wrong") {
  json_reference::Reader reader;
  const Schema schema = json_reference::ComparedSchema();
  Batch batch;
  batch.Reset(schema, 1);
  for (size_t i = 0; i < schema.fields.size(); ++i) batch.mutable_column(i).valid[0] = 0;
  Column& b = batch.mutable_column(1);
  b.valid[0] = 1;
  b.ints[0] = 12;
  CHECK(json_reference::CompareRow(batch, 0, *reader.Read(R"({"b":12})")) == "");
  CHECK(json_reference::CompareRow(batch, 0, *reader.Read(R"({"b":13})")) != "");
  CHECK(json_reference::CompareRow(batch, 0, *reader.Read(R"({})")) != "");
  CHECK(json_reference::CompareRow(batch, 0, *reader.Read(R"({"b":12,"s":"x"})")) != "");

  NonRow dead;
  dead.code = "json.syntax";
  dead.message = "invalid JSON at byte 1: expected ':'";
  dead.raw = "{\"b\" 1}";
  CHECK(json_reference::CompareDead(dead, std::nullopt) == "");
  CHECK(json_reference::CompareDead(dead, reader.Read(R"({"b":1})")) != "");
  dead.message = "invalid JSON at byte 8: expected ':'";
  CHECK(json_reference::CompareDead(dead, std::nullopt) != "");
  dead.code = "value";
  dead.message = "column b: 1 is out of range for BIGINT";
  CHECK(json_reference::CompareDead(dead, reader.Read(R"({"b":1})")) != "");
  CHECK(json_reference::CompareDead(dead, reader.Read(R"({"b":1e99})")) == "");
  CHECK(json_reference::CompareDead(dead, std::nullopt) != "");
}

TEST_CASE("the reference itself is strict") {
  json_reference::Reader reader;
  for (const char* good :
       {"{}", " {\"a\":1} ", "{\"a\":[1,{\"b\":-0.5e+3}]}",
        "{\"a\":123456789012345678901234567890}", "{\"a\":1e999}", "{\"a\":\"\\ud83d\\ude00\"}"}) {
    CAPTURE(std::string(good));
    CHECK(reader.Read(good).has_value());
  }
  for (const char* bad :
       {"", "\xEF\xBB\xBF{}", "[]", "1", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":1}x",
        "{\"a\":1}{}", "{\"a\":\"\\ud83d\"}", "{\"a\":\"\x80\"}", "{\"a\":nul}", "{\"a\":1,}",
        "{\"a\" 1}", "{\"a\":\"\t\"}", "{\"a\":[1}", "{\"a\":tru e}"}) {
    CAPTURE(std::string(bad));
    CHECK_FALSE(reader.Read(bad).has_value());
  }
}

}  // namespace
}  // namespace weir
