// Any bytes as a block of JSON rows: the decoder must agree with simdjson, walked strictly, on
// every row's verdict and values, and must not read beyond the promised padding. The first two
// bytes say where the block is cut.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json_reference.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static weir::json_reference::Reader reader;
  if (size < 2) return 0;
  const size_t cut = (size_t{data[0]} << 8 | data[1]) % (size - 1);
  const std::string_view block(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string why = weir::json_reference::CompareBlock(block, cut, reader);
  if (!why.empty()) {
    std::fprintf(stderr, "%s\n", why.c_str());
    std::abort();
  }
  return 0;
}
