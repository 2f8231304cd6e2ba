// Events: the input of a qualification as a pure function of (parameters, partition, sequence). The
// generator writes them, the reconciler makes them again and never reads what the generator kept.
//
// Record r of a partition is one of:
//   plain         an event of its own: part, seq = r, item, amount, ts
//   out of order  the same, with a ts further back than the jitter, within the bound
//   late          the same, with a ts further back than the bound: a window that is gone
//   duplicate     the bytes of an earlier record of the partition, so with that record's seq
//   poison        part and seq can be read, the rest is broken in one of four ways
//
// Nominal time of record r of partition p: start + (r * partitions + p) / rate. Event time is that
// minus the record's part of jitter, disorder or lateness, so it never runs ahead of the nominal
// time. Text and order of fields are documented in docs/qualification.md; another order of the
// draws below is another generator, and needs another kEventsVersion.
#ifndef WEIR_QUALIFY_EVENTS_H_
#define WEIR_QUALIFY_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace weir::qualify {

inline constexpr int kEventsVersion = 1;
// A duplicate repeats an event at most this many records before it.
inline constexpr uint64_t kCopiesReach = 128;

struct GenParameters {
  uint64_t seed = 0;
  uint32_t partitions = 1;
  uint64_t records = 1'000'000;  // of all partitions; 0: until stopped
  uint32_t rate = 10'000;        // events per second of event time, all partitions
  uint32_t items = 1000;         // distinct values of item
  int64_t start_ms = 0;          // nominal time of the first record
  int64_t jitter_ms = 0;         // a plain event lies up to this far back
  int64_t bound_ms = 5000;       // the watermark bound that the pipeline declares
  int64_t late_by_ms = 60'000;   // a late event lies up to this far behind the bound
  uint32_t out_of_order_ppm = 0;
  uint32_t late_ppm = 0;
  uint32_t duplicate_ppm = 0;
  uint32_t poison_ppm = 0;
  uint32_t pad_bytes = 0;  // a field "pad" of this many characters; 0: no such field

  bool operator==(const GenParameters&) const = default;
};
// kUsage names the parameter that makes no sense.
Status CheckParameters(const GenParameters& parameters);
// Records of one partition when `records` are shared out; of an endless generator UINT64_MAX.
uint64_t RecordsOfPartition(const GenParameters& parameters, uint32_t partition);

enum class RecordKind : uint8_t { kPlain, kOutOfOrder, kLate, kDuplicate, kPoison };
inline constexpr size_t kRecordKinds = 5;
std::string_view RecordKindName(RecordKind kind);

enum class PoisonKind : uint8_t { kCut, kWord, kDate, kUtf8 };
inline constexpr size_t kPoisonKinds = 4;
std::string_view PoisonKindName(PoisonKind kind);

struct Event {
  uint32_t part = 0;
  uint64_t seq = 0;
  uint32_t item = 0;  // stands as ItemText(item)
  int64_t amount = 0;
  int64_t ts_ms = 0;

  bool operator==(const Event&) const = default;
};
std::string ItemText(uint32_t item);                    // "i42"
std::string RecordName(uint32_t part, uint64_t seq);    // "3:17", as reports say it
bool ParseItem(std::string_view text, uint32_t* item);  // the one spelling of ItemText only

// What record `record` of a partition is, and the event whose bytes it has: for a duplicate that of
// `origin` (the kind of which is not duplicate), else its own.
struct Record {
  RecordKind kind = RecordKind::kPlain;
  uint64_t origin = 0;                          // == the record itself unless a duplicate
  RecordKind origin_kind = RecordKind::kPlain;  // == kind unless a duplicate
  PoisonKind poison = PoisonKind::kCut;         // when origin_kind is kPoison
  Event event;                                  // of poison: the event that was broken

  bool decodable() const { return origin_kind != RecordKind::kPoison; }
};
Record MakeRecord(const GenParameters& parameters, uint32_t partition, uint64_t record);
// The bytes of a record, without line feed.
void AppendRecord(const GenParameters& parameters, const Record& record, std::string& out);
// part and seq of bytes that begin as every record does; false when they do not.
bool ReadIdentity(std::string_view bytes, uint32_t* part, uint64_t* seq);

// The nominal time of a record: what event time has got to when it is written.
int64_t NominalMs(const GenParameters& parameters, uint32_t partition, uint64_t record);

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_EVENTS_H_
