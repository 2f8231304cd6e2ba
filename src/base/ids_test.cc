#include "base/ids.h"

#include <doctest/doctest.h>

namespace weir {
namespace {

TEST_CASE("a lineage reads back from its hex form") {
  Lineage lineage;
  for (size_t i = 0; i < 16; ++i) lineage.bytes[i] = static_cast<uint8_t>(i * 16 + 15);
  CHECK(lineage.ToHex() == "0f1f2f3f4f5f6f7f8f9fafbfcfdfefff");
  CHECK(lineage.ShortHex() == "0f1f2f3f");
  CHECK(Lineage::FromHex(lineage.ToHex()) == lineage);
}

TEST_CASE("hex of another length or with another character is no id") {
  for (const char* bad :
       {"", "0f", "0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "0f1f2f3f4f5f6f7f8f9fafbfcfdfefgg",
        "0f1f2f3f4f5f6f7f8f9fafbfcfdfefff00"}) {
    CAPTURE(bad);
    CHECK_FALSE(Lineage::FromHex(bad).has_value());
    CHECK_FALSE(Digest128::FromHex(bad).has_value());
    CHECK_FALSE(Digest256::FromHex(bad).has_value());
  }
}

TEST_CASE("a 128-bit digest is written high half first") {
  Digest128 digest;
  digest.high = 0x0123456789abcdef;
  digest.low = 1;
  CHECK(digest.ToHex() == "0123456789abcdef0000000000000001");
  CHECK(Digest128::FromHex(digest.ToHex()) == digest);
}

TEST_CASE("a 256-bit digest reads back from its hex form") {
  Digest256 digest;
  digest.bytes[0] = 0xab;
  digest.bytes[31] = 1;
  CHECK(digest.ToHex() == "ab" + std::string(60, '0') + "01");
  CHECK(Digest256::FromHex(digest.ToHex()) == digest);
}

}  // namespace
}  // namespace weir
