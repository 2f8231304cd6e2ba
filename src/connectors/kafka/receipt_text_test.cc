#include "connectors/kafka/receipt_text.h"

#include <doctest/doctest.h>

#include "connectors/kafka/partitioner.h"

namespace weir::connectors {
namespace {

TEST_CASE("kafka: a receipt is read back as it was written, and nothing else is a receipt") {
  const protocol::Receipt receipt{Lineage{{1, 2, 3}}, {42, 918}, Digest256{{9, 8}}};
  const std::string text = EncodeReceipt(receipt, 1700000000000);
  CHECK(text.size() < 4096);
  for (const char c : text) CHECK((c > 31 && c < 127));
  const auto read = ParseReceipt(text);
  REQUIRE(read);
  CHECK(read->receipt == receipt);
  CHECK(read->written_ms == 1700000000000);
  for (const std::string& bad : {std::string(), std::string("weir1"), text + " x", "x" + text,
                                 text.substr(0, text.size() - 14)}) {
    CAPTURE(bad);
    CHECK(!ParseReceipt(bad));
  }
}

TEST_CASE("kafka: the header of a row names lineage, epoch and row, big-endian") {
  const RowHeader header = EncodeRowHeader(Lineage{{7}}, {0x0102, 3});
  CHECK(std::string_view(header.data() + 16, 16) ==
        std::string_view("\0\0\0\0\0\0\1\2\0\0\0\0\0\0\0\3", 16));
  const auto origin = ParseRowHeader({header.data(), header.size()});
  REQUIRE(origin);
  CHECK(origin->lineage == Lineage{{7}});
  CHECK(origin->row == protocol::TargetPosition{0x0102, 3});
  CHECK(!ParseRowHeader({header.data(), header.size() - 1}));
  CHECK(!ParseRowHeader(""));
}

TEST_CASE("kafka: the watermark of a row is eight bytes, and what is none is taken for none") {
  for (const TimestampMs time : {TimestampMs{0}, TimestampMs{-1}, TimestampMs{1793491200123}}) {
    const auto header = EncodeWatermarkHeader(time);
    REQUIRE(header);
    CHECK(ParseWatermarkHeader({header->data(), header->size()}) == time);
  }
  CHECK(std::string_view(EncodeWatermarkHeader(0x0102)->data(), 8) ==
        std::string_view("\0\0\0\0\0\0\1\2", 8));
  CHECK(!EncodeWatermarkHeader(kWatermarkNone));
  CHECK(!EncodeWatermarkHeader(kWatermarkMax));
  for (const std::string_view bad :
       {std::string_view(), std::string_view("1234567"), std::string_view("123456789"),
        std::string_view("\x7f\xff\xff\xff\xff\xff\xff\xff", 8),
        std::string_view("\x80\0\0\0\0\0\0\1", 8)}) {
    CAPTURE(bad);
    CHECK(ParseWatermarkHeader(bad) == kWatermarkNone);
  }
}

TEST_CASE("kafka: keys go where Java's clients put them") {
  // Hashes that the Java client documents in its own tests.
  struct Case {
    std::string_view key;
    int32_t hash;
  };
  const Case cases[] = {{"21", -973932308},
                        {"foobar", -790332482},
                        {"a-little-bit-long-string", -985981536},
                        {"a-little-bit-longer-string", -1486304829},
                        {"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971},
                        {"abc", 479470107}};
  for (const Case& c : cases) {
    CAPTURE(c.key);
    CHECK(static_cast<int32_t>(KafkaMurmur2(c.key)) == c.hash);
    CHECK(PartitionOfKey(c.key, 7) == (c.hash & 0x7fffffff) % 7);
  }
  CHECK(PartitionOfKey("", 1) == 0);
}

}  // namespace
}  // namespace weir::connectors
