#include "qualify/events.h"

#include <doctest/doctest.h>

#include <array>
#include <set>

#include "base/text.h"
#include "data/timestamp.h"
#include "qualify/rows.h"

namespace weir::qualify {
namespace {

GenParameters Faulty() {
  GenParameters p;
  p.seed = 7;
  p.partitions = 3;
  p.records = 30'000;
  p.rate = 1000;
  p.items = 50;
  p.start_ms = 1'767'225'600'000;  // 2026-01-01
  p.jitter_ms = 1500;
  p.bound_ms = 5000;
  p.late_by_ms = 60'000;
  p.out_of_order_ppm = 20'000;
  p.late_ppm = 10'000;
  p.duplicate_ppm = 10'000;
  p.poison_ppm = 20'000;
  return p;
}

std::string Bytes(const GenParameters& p, uint32_t partition, uint64_t record) {
  std::string out;
  AppendRecord(p, MakeRecord(p, partition, record), out);
  return out;
}

TEST_CASE("the text of a record is frozen: a change needs another kEventsVersion") {
  GenParameters p;
  p.start_ms = 1'767'225'600'000;
  CHECK(Bytes(p, 0, 0) ==
        "{\"part\":0,\"seq\":0,\"item\":\"i705\",\"amount\":377503180,"
        "\"ts\":\"2026-01-01 00:00:00.000\"}");
  p.seed = 1;
  p.partitions = 2;
  p.pad_bytes = 14;
  CHECK(Bytes(p, 1, 12'345) ==
        "{\"part\":1,\"seq\":12345,\"item\":\"i226\",\"amount\":125319626,"
        "\"ts\":\"2026-01-01 00:00:02.469\",\"pad\":\"dmeeqtulfawkom\"}");
}

TEST_CASE("a record is a function of seed, partition and number") {
  const GenParameters p = Faulty();
  GenParameters other = p;
  other.seed = 8;
  for (uint64_t r = 0; r < 200; ++r) {
    CHECK(Bytes(p, 1, r) == Bytes(p, 1, r));
    if (MakeRecord(p, 1, r).decodable() && MakeRecord(other, 1, r).decodable())
      CHECK(Bytes(p, 1, r) != Bytes(other, 1, r));
  }
}

TEST_CASE("one more fault does not change the records that do not have it") {
  GenParameters p = Faulty(), more = p;
  p.late_ppm = p.duplicate_ppm = p.poison_ppm = p.out_of_order_ppm = 0;
  more = p;
  more.poison_ppm = 100'000;
  for (uint64_t r = 0; r < 1000; ++r) {
    if (MakeRecord(more, 0, r).kind == RecordKind::kPlain)
      CHECK(Bytes(p, 0, r) == Bytes(more, 0, r));
  }
}

TEST_CASE("faults come as often as asked for, and are what they are called") {
  const GenParameters p = Faulty();
  std::array<uint64_t, kRecordKinds> kinds{};
  std::array<uint64_t, kPoisonKinds> poison{};
  for (uint32_t part = 0; part < p.partitions; ++part) {
    for (uint64_t r = 0; r < RecordsOfPartition(p, part); ++r) {
      const Record record = MakeRecord(p, part, r);
      ++kinds[static_cast<size_t>(record.kind)];
      const int64_t back = NominalMs(p, part, record.origin) - record.event.ts_ms;
      REQUIRE(record.event.item < p.items);
      switch (record.kind) {
        case RecordKind::kPlain:
          REQUIRE((back >= 0 && back <= p.jitter_ms && record.origin == r));
          break;
        case RecordKind::kOutOfOrder:
          REQUIRE((back > p.jitter_ms && back <= p.bound_ms));
          break;
        case RecordKind::kLate:
          REQUIRE((back > p.bound_ms + p.late_by_ms / 2 && back <= p.bound_ms + p.late_by_ms));
          break;
        case RecordKind::kDuplicate:
          REQUIRE((record.origin < r && r - record.origin <= kCopiesReach));
          REQUIRE(MakeRecord(p, part, record.origin).kind != RecordKind::kDuplicate);
          REQUIRE(Bytes(p, part, r) == Bytes(p, part, record.origin));
          break;
        case RecordKind::kPoison:
          ++poison[static_cast<size_t>(record.poison)];
          break;
      }
    }
  }
  CHECK(kinds[static_cast<size_t>(RecordKind::kLate)] == doctest::Approx(300).epsilon(0.3));
  CHECK(kinds[static_cast<size_t>(RecordKind::kOutOfOrder)] == doctest::Approx(600).epsilon(0.3));
  CHECK(kinds[static_cast<size_t>(RecordKind::kDuplicate)] == doctest::Approx(300).epsilon(0.3));
  for (const uint64_t n : poison) CHECK(n == doctest::Approx(150).epsilon(0.4));
}

TEST_CASE("poison cannot be decoded, everything else can; both can be identified") {
  const GenParameters p = Faulty();
  JsonRows rows({{"part", CellKind::kInteger},
                 {"seq", CellKind::kInteger},
                 {"item", CellKind::kText},
                 {"amount", CellKind::kInteger},
                 {"ts", CellKind::kTime}});
  std::set<PoisonKind> met;
  for (uint64_t r = 0; r < 3000; ++r) {
    const Record record = MakeRecord(p, 2, r);
    const std::string bytes = Bytes(p, 2, r);
    uint32_t part = 9;
    uint64_t seq = 0;
    REQUIRE(ReadIdentity(bytes, &part, &seq));
    REQUIRE((part == 2 && seq == record.origin));
    rows.Handle(bytes, "test", r, [&](const Row& row) {
      REQUIRE(row.broken.empty() == record.decodable());
      if (!record.decodable()) {
        met.insert(record.poison);
        return;
      }
      REQUIRE(row.cells[2].text == ItemText(record.event.item));
      REQUIRE(row.cells[3].number == record.event.amount);
      REQUIRE(row.cells[4].number == record.event.ts_ms);
    });
  }
  CHECK(met.size() == kPoisonKinds);
}

TEST_CASE("an item has one spelling") {
  uint32_t item = 0;
  CHECK((ParseItem("i42", &item) && item == 42));
  for (const char* wrong : {"", "i", "42", "i042", "i-1", "i4294967296", "i4x", "I4"}) {
    CAPTURE(wrong);
    CHECK_FALSE(ParseItem(wrong, &item));
  }
}

TEST_CASE("bytes that do not begin as records do have no identity") {
  uint32_t part = 0;
  uint64_t seq = 0;
  for (const char* wrong :
       {"", "{\"part\":", "{\"part\":1", "{\"part\":x,\"seq\":1,", "{\"seq\":1,\"part\":1,",
        "{\"part\":99999999999,\"seq\":1,", "{\"part\":1,\"seq\":1}"}) {
    CAPTURE(wrong);
    CHECK_FALSE(ReadIdentity(wrong, &part, &seq));
  }
}

TEST_CASE("parameters that make no sense are named") {
  struct Case {
    const char* says;
    void (*change)(GenParameters&);
  };
  const Case cases[] = {
      {"--partitions", [](GenParameters& p) { p.partitions = 0; }},
      {"--rate", [](GenParameters& p) { p.rate = 0; }},
      {"--items", [](GenParameters& p) { p.items = 0; }},
      {"--start", [](GenParameters& p) { p.start_ms = -1; }},
      {"--start", [](GenParameters& p) { p.start_ms = 253'402'300'799'000; }},
      {"--records", [](GenParameters& p) { p.records = UINT64_MAX; }},
      {"--pad", [](GenParameters& p) { p.pad_bytes = 1'000'000; }},
      {"--jitter", [](GenParameters& p) { p.jitter_ms = p.bound_ms + 1; }},
      {"--late-by", [](GenParameters& p) { p.late_by_ms = 1; }},
      {"--late", [](GenParameters& p) { p.late_ppm = 300'001; }},
      {"--duplicates", [](GenParameters& p) { p.duplicate_ppm = 200'001; }},
      {"--poison", [](GenParameters& p) { p.poison_ppm = 900'000; }},
      {"--out-of-order", [](GenParameters& p) { p.jitter_ms = p.bound_ms; }},
  };
  CHECK(CheckParameters(Faulty()).ok());
  for (const Case& c : cases) {
    CAPTURE(c.says);
    GenParameters p = Faulty();
    c.change(p);
    const Status status = CheckParameters(p);
    CHECK(status.code() == Code::kUsage);
    CHECK(status.message().find(c.says) != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::qualify
