// json_decode_bench [ROWS [SHAPE]]: CPU time a row of the JSON decoder alone, over 1 MB blocks,
// batches of 2048 rows, seven runs. Columns read: page STRING, amount DECIMAL(12, 2), ts
// TIMESTAMP(3); four fields unread. A figure counts only when every row was accepted and the
// checksum of the columns equals what the rows were made from.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "data/json_decoder.h"
#include "rows.h"

namespace weir::bench {
namespace {

constexpr size_t kBlock = 1 << 20;
constexpr uint32_t kBatchRows = 2048;
constexpr int kRuns = 7;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Sums {
  uint64_t rows = 0;
  uint64_t bytes = 0;  // of page
  int64_t cents = 0;
  int64_t ms = 0;
  bool operator==(const Sums&) const = default;
};

struct Shape {
  const char* name;
  // Makes row i; adds what a decoder must find in it.
  std::function<std::string(uint64_t i, Sums& sums)> make;
  bool values = false;  // one at a time
};

std::string Plain(uint64_t i, Sums& sums) {
  const Row row = RowAt(i, 1000);
  char line[256];
  const char* end = PutRow(line, row, i);
  sums.rows += 1;
  sums.bytes += 3 + std::to_string(row.page).size();
  sums.cents += row.cents;
  sums.ms += row.ms;
  return {line, static_cast<size_t>(end - line)};
}

// "key":value, in the order of the plain row.
std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  size_t at = 1;
  for (const char* next :
       {",\"user\"", ",\"page\"", ",\"amount\"", ",\"ts\"", ",\"t\"", ",\"agent\"", "}\n"}) {
    const size_t end = line.rfind(next);
    fields.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

std::string Join(const std::vector<std::string>& fields) {
  std::string line = "{";
  for (const std::string& field : fields) line += (line.size() > 1 ? "," : "") + field;
  return line + "}\n";
}

std::string Shuffled(uint64_t i, Sums& sums) {
  std::vector<std::string> fields = Fields(Plain(i, sums));
  for (size_t k = fields.size() - 1; k > 0; --k)
    std::swap(fields[k], fields[Mix(i * 64 + k) % (k + 1)]);
  return Join(fields);
}

std::string Missing(uint64_t i, Sums& sums) {
  std::vector<std::string> fields = Fields(Plain(i, sums));
  if (Mix(i) >> 5 & 1) fields.erase(fields.begin() + 5);
  if (Mix(i) >> 9 & 1) fields.erase(fields.begin() + 1);
  return Join(fields);
}

std::string Blanks(uint64_t i, Sums& sums) {
  std::string line = "{";
  for (std::string& field : Fields(Plain(i, sums))) {
    field.insert(field.find("\":") + 2, " ");
    line += (line.size() > 1 ? ", " : "") + field;
  }
  return line + "}\n";
}

std::string Cyrillic(uint64_t i, Sums& sums) {
  std::vector<std::string> fields = Fields(Plain(i, sums));
  fields[1] = "\"user\":\"Пользователь\"";
  fields[2].insert(fields[2].size() - 1, "/страница");
  fields[6] = "\"agent\":\"浏览器\"";
  sums.bytes += std::string_view("/страница").size();
  return Join(fields);
}

std::string Escapes(uint64_t i, Sums& sums) {
  std::vector<std::string> fields = Fields(Plain(i, sums));
  fields[2].insert(fields[2].size() - 1, "\\\"x\\\"");
  fields[6] = "\"agent\":\"Mozilla\\/5.0 (X11; Linux)\"";
  sums.bytes += 3;
  return Join(fields);
}

std::string Nested(uint64_t i, Sums& sums) {
  std::vector<std::string> fields = Fields(Plain(i, sums));
  fields.insert(fields.begin() + 3,
                "\"geo\":{\"lat\":52.52,\"lon\":13.405,\"tags\":[1,2,3,4],\"city\":\"Berlin\","
                "\"a\":{\"b\":true,\"c\":null}}");
  return Join(fields);
}

std::string LongRow(uint64_t i, Sums& sums) {
  std::vector<std::string> fields = Fields(Plain(i, sums));
  fields[6].insert(fields[6].size() - 1, std::string(4800, 'x'));
  return Join(fields);
}

struct Run {
  double seconds = 0;
  Sums sums;
  uint64_t dead = 0;
};

const Schema kSchema{{{"page", Type::Of(TypeKind::kString)},
                      {"amount", Type::Decimal(12, 2)},
                      {"ts", Type::Timestamp(3)}}};

void Add(const Batch& batch, Run& run) {
  run.dead += batch.non_rows.size();
  run.sums.rows += batch.rows();
  for (uint32_t row = 0; row < batch.rows(); ++row) {
    run.sums.bytes += batch.column(0).strings[row].size();
    run.sums.cents += static_cast<int64_t>(batch.column(1).decimals[row]);
    run.sums.ms += batch.column(2).ints[row];
  }
}

Run DecodeBlocks(const std::string& text, RowDecoder& decoder) {
  Run run;
  Batch batch;
  const std::string_view all(text.data(), text.size() - kDecodePadding);
  size_t at = 0;
  while (at < all.size()) {
    const std::string_view block = all.substr(at, kBlock);
    batch.Reset(kSchema);
    const double before = CpuSeconds();
    const DecodeResult result = decoder.Decode(block, static_cast<int64_t>(at),
                                               at + block.size() == all.size(), kBatchRows, batch);
    run.seconds += CpuSeconds() - before;
    at += result.consumed;
    Add(batch, run);
  }
  return run;
}

// The same rows, each a value of its own, as Kafka brings them.
Run DecodeValues(const std::string& text, RowDecoder& decoder) {
  Run run;
  Batch batch;
  const std::string_view all(text.data(), text.size() - kDecodePadding);
  size_t at = 0;
  while (at < all.size()) {
    batch.Reset(kSchema);
    const double before = CpuSeconds();
    for (uint32_t k = 0; k < kBatchRows && at < all.size(); ++k) {
      const size_t size = all.find('\n', at) - at;
      decoder.DecodeValue(all.substr(at, size), static_cast<int64_t>(at), batch);
      at += size + 1;
    }
    run.seconds += CpuSeconds() - before;
    Add(batch, run);
  }
  return run;
}

int Main(uint64_t rows, std::string_view only) {
  const std::vector<Shape> shapes = {{"185 B rows", Plain},       {"185 B values", Plain, true},
                                     {"shuffled keys", Shuffled}, {"two fields missing", Missing},
                                     {"blanks", Blanks},          {"Cyrillic, CJK", Cyrillic},
                                     {"escapes", Escapes},        {"nested object", Nested},
                                     {"5 kB rows", LongRow}};
  const std::vector<DecodeField> fields = {{"page", Type::Of(TypeKind::kString), 0, 0},
                                           {"amount", Type::Decimal(12, 2), 1, 1},
                                           {"ts", Type::Timestamp(3), 2, 2}};
  std::printf("%-20s %8s %8s %8s %8s\n", "ns a row", "B/row", "min", "median", "max");
  bool good = true;
  for (const Shape& shape : shapes) {
    if (!std::string_view(shape.name).starts_with(only)) continue;
    Sums want;
    std::string text;
    for (uint64_t i = 0; i < rows; ++i) text += shape.make(i, want);
    const double row_bytes = static_cast<double>(text.size()) / static_cast<double>(rows);
    text.append(kDecodePadding, '\0');
    std::vector<double> ns;
    for (int k = 0; k < kRuns; ++k) {
      const std::unique_ptr<RowDecoder> decoder = NewJsonDecoder(FormatSpec{}, fields);
      const Run run = shape.values ? DecodeValues(text, *decoder) : DecodeBlocks(text, *decoder);
      if (run.dead != 0 || run.sums != want) {
        std::printf("%-20s WRONG: %llu refused, %llu rows\n", shape.name,
                    static_cast<unsigned long long>(run.dead),
                    static_cast<unsigned long long>(run.sums.rows));
        good = false;
        break;
      }
      ns.push_back(run.seconds * 1e9 / static_cast<double>(rows));
    }
    if (ns.size() < kRuns) continue;
    std::sort(ns.begin(), ns.end());
    std::printf("%-20s %8.0f %8.1f %8.1f %8.1f\n", shape.name, row_bytes, ns.front(), ns[kRuns / 2],
                ns.back());
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  return weir::bench::Main(argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 200000,
                           argc > 2 ? argv[2] : "");
}
