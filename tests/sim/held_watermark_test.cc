// A watermark that is held (here: by a bound of ten days) keeps every window open. Keyed state
// never pauses a source for its size: it leaves memory once it is sealed and comes back when its
// window closes.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "pipelines.h"
#include "sim_engine.h"

namespace weir::sim {

namespace {

constexpr int kSeconds = 500;
constexpr int kKeys = 120;
constexpr uint64_t kLimitBytes = 1 << 20;

std::string Sql(const std::string& limit) {
  return "SET 'weir.memory.limit' = '" + limit + R"(';
CREATE TABLE src (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '10' DAY)
WITH ('connector' = 'filesystem', 'path' = '/in/held.jsonl', 'format' = 'json');
CREATE TABLE out_w (ws TIMESTAMP(3), k STRING, n BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/w.jsonl', 'format' = 'json');
INSERT INTO out_w SELECT window_start, k, COUNT(*), SUM(v) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '1' SECOND)
  GROUP BY window_start, window_end, k;
)";
}

// Each second has every key once; then all seconds are visited again, so that windows which left
// memory are touched.
std::string Rows() {
  std::string out;
  for (int round = 0; round < 2; ++round) {
    for (int second = 0; second < kSeconds; ++second) {
      for (int key = 0; key < (round == 0 ? kKeys : 3); ++key) {
        char line[128];
        std::snprintf(line, sizeof line,
                      "{\"k\":\"key-%03d\",\"v\":%d,\"ts\":\"2024-03-01 10:%02d:%02d\"}\n", key,
                      second + key, second / 60, second % 60);
        out += line;
      }
    }
  }
  return out;
}

struct Held {
  std::string output;
  uint64_t state_bytes_max = 0;
};

Held Run(const std::string& limit) {
  io::SimFiles files;
  files.PutDirectory("/out");
  files.PutFile("/in/held.jsonl", Rows());
  Held held;
  LifeOptions options;
  options.batch_rows =
      64;  // what one batch touches comes back whole, and leaves after the next seal
  options.after_turn = [&held](const std::string& status) {
    const size_t at = status.find("\"state_bytes\":");
    REQUIRE(at != std::string::npos);
    held.state_bytes_max = std::max<uint64_t>(held.state_bytes_max,
                                              std::strtoull(status.c_str() + at + 14, nullptr, 10));
  };
  const LifeResult life = RunLife(files, Sql(limit), options);
  CAPTURE(life.status.ToString());
  REQUIRE(life.finished);
  REQUIRE(life.status.ok());
  held.output = ReadOutputs(files, {"append:/out/w.jsonl"})["append:/out/w.jsonl"];
  return held;
}

}  // namespace

TEST_CASE(
    "open windows of five times the memory limit: the source goes on, memory stays bounded, all "
    "close right") {
  const Held free = Run("1 GiB");
  const Held bounded = Run("1 MiB");
  MESSAGE("state in memory: ", free.state_bytes_max, " B without a limit, ",
          bounded.state_bytes_max, " B with one of 1 MiB");
  CHECK(free.state_bytes_max >= 5 * kLimitBytes);
  CHECK(bounded.state_bytes_max <= kLimitBytes);
  CHECK(std::count(free.output.begin(), free.output.end(), '\n') == kSeconds * kKeys);
  CHECK(bounded.output == free.output);
}

}  // namespace weir::sim
