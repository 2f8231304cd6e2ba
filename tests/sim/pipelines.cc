#include "pipelines.h"

#include <cstdio>
#include <cstdlib>

namespace weir::sim {

namespace {

const char kSource[] = R"(
CREATE TABLE src (k STRING, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
WITH ('connector' = 'filesystem', 'path' = '/in/*.jsonl', 'format' = 'json');
)";

const char kStateless[] = R"(
CREATE TABLE out_a (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/a.jsonl', 'format' = 'json');
CREATE TABLE bad (code STRING, part INT, pos BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/bad.csv', 'format' = 'csv');
INSERT INTO out_a SELECT k, v * 2 FROM src WHERE v <> 3;
INSERT INTO bad SELECT code, part, pos FROM DEAD_LETTERS(src);
)";

const char kTumbling[] = R"(
CREATE TABLE out_w (k STRING, ws TIMESTAMP(3), n BIGINT, s BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/w.jsonl', 'format' = 'json');
CREATE TABLE out_l (k STRING, v BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/late/', 'format' = 'json', 'sink.rolling-policy.file-size' = '100 B');
CREATE TABLE bad (code STRING, pos BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/bad.jsonl', 'format' = 'json');
CREATE VIEW w AS SELECT k, window_start, COUNT(*) AS n, SUM(v) AS s FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, k;
INSERT INTO out_w SELECT * FROM w;
INSERT INTO out_l SELECT k, v FROM LATE(w);
INSERT INTO bad SELECT code, pos FROM DEAD_LETTERS(src);
)";

const char kSessions[] = R"(
CREATE TABLE out_s (k STRING, ws TIMESTAMP(3), we TIMESTAMP(3), n BIGINT) WITH ('connector' = 'filesystem', 'path' = '/out/s/', 'format' = 'csv', 'sink.rolling-policy.file-size' = '200 B');
INSERT INTO out_s SELECT k, window_start, window_end, COUNT(*) FROM SESSION(TABLE src PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND) GROUP BY k, window_start, window_end;
)";

const char kSqlite[] = R"(
CREATE TABLE out_q (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'sqlite', 'path' = '/out/q.db');
CREATE TABLE out_r (k STRING, v BIGINT) WITH ('connector' = 'sqlite', 'path' = '/out/q.db');
INSERT INTO out_q SELECT k, SUM(v) FROM TUMBLE(TABLE src, DESCRIPTOR(ts), INTERVAL '10' SECOND) GROUP BY window_start, window_end, k;
INSERT INTO out_r SELECT k, v FROM src WHERE v < 40;
)";

// Two files, interleaved in event time, with rows out of order, late, and unreadable.
std::string Lines(int file, int rows) {
  std::string out;
  uint64_t x = 88172645463325252ULL + static_cast<uint64_t>(file);
  for (int i = 0; i < rows; ++i) {
    x ^= x << 13, x ^= x >> 7, x ^= x << 17;
    int64_t second = i / 2;
    if (x % 5 == 0) second -= 2;    // out of order within the bound
    if (x % 23 == 0) second -= 25;  // late
    if (second < 0) second = 0;
    char line[128];
    std::snprintf(line, sizeof line,
                  "{\"k\":\"k%d\",\"v\":%d,\"ts\":\"2024-03-01 10:%02d:%02d.%03d\"}\n",
                  static_cast<int>(x % 4), i, static_cast<int>(second / 60),
                  static_cast<int>(second % 60), static_cast<int>(x % 1000));
    out += i % 17 == 11 ? "{\"k\":\n" : line;
  }
  return out;
}

}  // namespace

const std::vector<Pipeline>& Pipelines() {
  static const std::vector<Pipeline> kAll = {
      {"stateless",
       std::string(kSource) + kStateless,
       {"append:/out/a.jsonl", "append:/out/bad.csv"}},
      {"tumbling",
       std::string(kSource) + kTumbling,
       {"append:/out/w.jsonl", "rolling:/out/late", "append:/out/bad.jsonl"}},
      {"sessions", std::string(kSource) + kSessions, {"rolling:/out/s"}},
      {"sqlite",
       std::string(kSource) + kSqlite,
       {"sqlite:/out/q.db:out_q", "sqlite:/out/q.db:out_r"}},
  };
  return kAll;
}

Effort SimEffort() {
  const auto number = [](const char* name, uint64_t otherwise) {
    const char* text = std::getenv(name);
    const uint64_t given = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
    return given == 0 ? otherwise : given;
  };
  const bool full = number("WEIR_SIM_FULL", 0) != 0;
  return {number("WEIR_SIM_STEP", full ? 1 : 3), number("WEIR_SIM_SEEDS", full ? 200 : 25)};
}

std::unique_ptr<io::SimFiles> NewWorld(int rows) {
  auto files = std::make_unique<io::SimFiles>();
  files->PutDirectory("/out/late");
  files->PutDirectory("/out/s");
  files->PutFile("/in/a.jsonl", Lines(1, rows));
  files->PutFile("/in/b.jsonl", Lines(2, rows));
  return files;
}

}  // namespace weir::sim
