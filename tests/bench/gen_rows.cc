// gen_rows ROWS KEYS [FIRST]: writes the benchmarks' rows (rows.h) FIRST .. FIRST + ROWS - 1 to
// stdout.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "rows.h"

int main(int argc, char** argv) {
  const uint64_t rows = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  const uint64_t keys = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (rows == 0 || keys == 0 || keys > 0xffffffff || argc > 4) {
    std::fprintf(stderr, "usage: gen_rows ROWS KEYS [FIRST]\n");
    return 64;
  }
  constexpr uint64_t kBatch = 4096;
  for (uint64_t done = 0; done < rows; done += kBatch) {
    const uint64_t count = rows - done < kBatch ? rows - done : kBatch;
    const std::string text =
        weir::bench::RowsText(first + done, count, static_cast<uint32_t>(keys));
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      std::perror("gen_rows: stdout");
      return 74;
    }
  }
  if (std::fflush(stdout) != 0) {
    std::perror("gen_rows: stdout");
    return 74;
  }
  return 0;
}
