#include "qualify/events.h"

#include <algorithm>

#include "base/text.h"
#include "data/timestamp.h"

namespace weir::qualify {
namespace {

constexpr uint32_t kMillion = 1'000'000;
constexpr uint64_t kDuplicateDistanceMax = 64;     // records, before the next event is looked for
constexpr int64_t kStartMax = 16'725'225'600'000;  // ms: 2500-01-01
constexpr uint64_t kSecondsMax = 100'000'000'000;  // some 3,000 years
constexpr int64_t kAmountMax = 1'000'000'000;

// Each draw has a purpose, so that one more fault does not shift all others.
enum class Draw : uint64_t { kKind = 1, kDistance, kItem, kAmount, kShift, kPoison, kPad };

// splitmix64's finaliser: every bit of the input reaches every bit of the output.
uint64_t Mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

uint64_t Random(const GenParameters& p, uint32_t partition, uint64_t record, Draw draw) {
  return Mix(Mix(Mix(p.seed) + partition) ^ Mix(record * 8 + static_cast<uint64_t>(draw)));
}

// Uniform in [low, high], but for a bias far below what any run can see.
int64_t Between(int64_t low, int64_t high, uint64_t random) {
  return low + static_cast<int64_t>(random % (static_cast<uint64_t>(high - low) + 1));
}

RecordKind KindOf(const GenParameters& p, uint32_t partition, uint64_t record) {
  uint64_t draw = Random(p, partition, record, Draw::kKind) % kMillion;
  const std::pair<uint32_t, RecordKind> faults[] = {{p.poison_ppm, RecordKind::kPoison},
                                                    {p.duplicate_ppm, RecordKind::kDuplicate},
                                                    {p.late_ppm, RecordKind::kLate},
                                                    {p.out_of_order_ppm, RecordKind::kOutOfOrder}};
  for (const auto& [ppm, kind] : faults) {
    // The first record has none before it that it could repeat.
    if (draw < ppm)
      return kind == RecordKind::kDuplicate && record == 0 ? RecordKind::kPlain : kind;
    draw -= ppm;
  }
  return RecordKind::kPlain;
}

int64_t ShiftOf(const GenParameters& p, RecordKind kind, uint64_t random) {
  switch (kind) {
    case RecordKind::kOutOfOrder:
      return Between(std::min(p.jitter_ms + 1, p.bound_ms), p.bound_ms, random);
    case RecordKind::kLate:
      return p.bound_ms + Between(p.late_by_ms / 2 + 1, p.late_by_ms, random);
    case RecordKind::kPlain:
    case RecordKind::kDuplicate:
    case RecordKind::kPoison:
      break;
  }
  return Between(0, p.jitter_ms, random);
}

}  // namespace

Status CheckParameters(const GenParameters& p) {
  const auto no = [](std::string what) { return Status(Code::kUsage, std::move(what)); };
  if (p.partitions < 1 || p.partitions > 10'000) return no("--partitions: 1 to 10000");
  if (p.rate < 1) return no("--rate: at least 1 event per second");
  if (p.items < 1) return no("--items: at least 1");
  if (p.pad_bytes > 900'000) return no("--pad: at most 900000 bytes");
  // Years that can be written, to the last record.
  if (p.start_ms < 0 || p.start_ms > kStartMax) return no("--start: between 1970 and 2500");
  if (p.records / p.rate > kSecondsMax)
    return no("--records at this --rate take thousands of years of event time");
  if (p.jitter_ms > p.bound_ms)
    return no("--jitter is more than --bound: plain events would be late");
  if (p.late_by_ms < 2) return no("--late-by: at least 2 ms");
  if (p.duplicate_ppm > 200'000) return no("--duplicates: at most 0.2");
  const uint64_t faults =
      uint64_t{p.out_of_order_ppm} + p.late_ppm + p.duplicate_ppm + p.poison_ppm;
  if (faults > 900'000)
    return no("--late, --out-of-order, --duplicates and --poison: at most 0.9 together");
  if (p.out_of_order_ppm > 0 && p.jitter_ms >= p.bound_ms)
    return no("--out-of-order needs a --jitter below --bound");
  if (p.late_ppm > 300'000) return no("--late: at most 0.3, or nothing moves the watermark");
  return Status::Ok();
}

uint64_t RecordsOfPartition(const GenParameters& p, uint32_t partition) {
  if (p.records == 0) return UINT64_MAX;
  return p.records / p.partitions + (partition < p.records % p.partitions ? 1 : 0);
}

std::string_view RecordKindName(RecordKind kind) {
  switch (kind) {
    case RecordKind::kPlain:
      return "plain";
    case RecordKind::kOutOfOrder:
      return "out-of-order";
    case RecordKind::kLate:
      return "late";
    case RecordKind::kDuplicate:
      return "duplicate";
    case RecordKind::kPoison:
      return "poison";
  }
  return "";
}

std::string_view PoisonKindName(PoisonKind kind) {
  switch (kind) {
    case PoisonKind::kCut:
      return "cut";
    case PoisonKind::kWord:
      return "word";
    case PoisonKind::kDate:
      return "date";
    case PoisonKind::kUtf8:
      return "utf8";
  }
  return "";
}

std::string ItemText(uint32_t item) { return "i" + std::to_string(item); }

std::string RecordName(uint32_t part, uint64_t seq) {
  return std::to_string(part) + ":" + std::to_string(seq);
}

bool ParseItem(std::string_view text, uint32_t* item) {
  if (text.size() < 2 || text[0] != 'i') return false;
  const std::optional<int64_t> number = ParseInt64(text.substr(1));
  if (!number || *number < 0 || *number > UINT32_MAX) return false;
  *item = static_cast<uint32_t>(*number);
  return text == ItemText(*item);
}

int64_t NominalMs(const GenParameters& p, uint32_t partition, uint64_t record) {
  const auto place = static_cast<unsigned __int128>(record) * p.partitions + partition;
  return p.start_ms + static_cast<int64_t>(place * 1000 / p.rate);
}

Record MakeRecord(const GenParameters& p, uint32_t partition, uint64_t record) {
  Record made;
  made.kind = KindOf(p, partition, record);
  made.origin = record;
  made.origin_kind = made.kind;
  if (made.kind == RecordKind::kDuplicate) {
    const uint64_t distance =
        1 + Random(p, partition, record, Draw::kDistance) % kDuplicateDistanceMax;
    made.origin -= std::min(distance, record);
    // The next record of its own; record 0 is one. That there are 64 copies in a row
    // (kCopiesReach) CheckParameters makes less likely than 1e-40.
    while ((made.origin_kind = KindOf(p, partition, made.origin)) == RecordKind::kDuplicate)
      --made.origin;
  }
  const uint64_t r = made.origin;
  made.poison = static_cast<PoisonKind>(Random(p, partition, r, Draw::kPoison) % kPoisonKinds);
  made.event.part = partition;
  made.event.seq = r;
  made.event.item = static_cast<uint32_t>(Random(p, partition, r, Draw::kItem) % p.items);
  made.event.amount = Between(1, kAmountMax, Random(p, partition, r, Draw::kAmount));
  made.event.ts_ms = NominalMs(p, partition, r) -
                     ShiftOf(p, made.origin_kind, Random(p, partition, r, Draw::kShift));
  return made;
}

void AppendRecord(const GenParameters& p, const Record& record, std::string& out) {
  const Event& e = record.event;
  const bool poison = !record.decodable();
  const auto is = [&](PoisonKind kind) { return poison && record.poison == kind; };
  out += "{\"part\":" + std::to_string(e.part) + ",\"seq\":" + std::to_string(e.seq) +
         ",\"item\":\"" + ItemText(e.item);
  if (is(PoisonKind::kCut)) return;          // the connection was cut
  if (is(PoisonKind::kUtf8)) out += '\xff';  // no UTF-8, whatever follows
  out += "\",\"amount\":";
  out += is(PoisonKind::kWord) ? "\"many\"" : std::to_string(e.amount);
  out += ",\"ts\":\"";
  const size_t time = out.size();
  AppendTimestamp(e.ts_ms, Type::Timestamp(3), TimestampStyle::kSql, SessionZone{}, out);
  if (is(PoisonKind::kDate)) out.replace(time + 5, 5, "02-30");  // a day that no year has
  out += '"';
  if (p.pad_bytes > 0) {
    out += ",\"pad\":\"";
    uint64_t random = Random(p, e.part, e.seq, Draw::kPad);
    for (uint32_t i = 0; i < p.pad_bytes; ++i) {
      if (i % 12 == 0) random = Mix(random);
      out += static_cast<char>('a' + ((random >> (5 * (i % 12))) & 31) % 26);
    }
    out += '"';
  }
  out += '}';
}

bool ReadIdentity(std::string_view bytes, uint32_t* part, uint64_t* seq) {
  // {"part":N,"seq":N,
  const auto number = [&bytes](std::string_view before, uint64_t* value) {
    if (!bytes.starts_with(before)) return false;
    bytes.remove_prefix(before.size());
    const size_t digits = std::min(bytes.find_first_not_of("0123456789"), bytes.size());
    const std::optional<int64_t> parsed = ParseInt64(bytes.substr(0, digits));
    if (!parsed) return false;
    *value = static_cast<uint64_t>(*parsed);
    bytes.remove_prefix(digits);
    return true;
  };
  uint64_t wide = 0;
  if (!number("{\"part\":", &wide) || wide > UINT32_MAX) return false;
  *part = static_cast<uint32_t>(wide);
  return number(",\"seq\":", seq) && bytes.starts_with(",");
}

}  // namespace weir::qualify
