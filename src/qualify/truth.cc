#include "qualify/truth.h"

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace weir::qualify {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::min();

}  // namespace

Result<Truth> Truth::Make(const Ledger& ledger, const TruthOptions& options) {
  if (options.input_ended && !ledger.ended)
    return Fail(Code::kUsage,
                "--input-ended, and the ledger has no end: the generator still runs, "
                "or died");
  Truth truth;
  truth.parameters_ = ledger.parameters;
  truth.options_ = options;
  truth.ended_ = ledger.ended;
  truth.produced_ = ledger.produced;
  truth.sent_ = ledger.sent;
  const GenParameters& p = truth.parameters_;
  std::vector<int64_t> highest(p.partitions, kNever);
  for (uint32_t partition = 0; partition < p.partitions; ++partition) {
    truth.occurrences_.emplace_back(ledger.produced[partition], 0);
    truth.may_be_late_.emplace_back(ledger.produced[partition], 0);
    for (uint64_t r = 0; r < ledger.produced[partition]; ++r) {
      const Record record = MakeRecord(p, partition, r);
      uint8_t& count = truth.occurrences_[partition][record.origin];
      WEIR_CHECK(count < UINT8_MAX);  // CheckParameters keeps duplicates far below
      ++count;
      if (!record.decodable()) continue;
      const bool passes = record.kind != RecordKind::kDuplicate || !options.deduplicated;
      if (options.window_ms > 0 && passes) truth.PlaceInWindow(record, highest[partition]);
      highest[partition] = std::max(highest[partition], record.event.ts_ms);
    }
    // Copies that are written after the ledger was read may be there as well.
    const uint64_t until = ledger.sent[partition] + (ledger.ended ? 0 : kCopiesReach);
    for (uint64_t r = ledger.produced[partition]; r < until; ++r)
      ++truth.uncertain_[{partition, MakeRecord(p, partition, r).origin}];
  }
  truth.Close(highest);
  return truth;
}

void Truth::PlaceInWindow(const Record& record, int64_t highest_ms) {
  const Event& event = record.event;
  const int64_t start = WindowStart(event.ts_ms);
  std::vector<WindowCell>& cells = windows_[start];
  if (cells.empty()) cells.resize(parameters_.items);
  WindowCell& cell = cells[event.item];
  ++cell.n;
  cell.total += event.amount;
  const int64_t last_ms = start + options_.window_ms - 1;
  const bool on_time = highest_ms == kNever || last_ms > highest_ms - parameters_.bound_ms;
  if (on_time) return;
  ++may_be_late_[event.part][event.seq];
  ++may_be_late_total_;
}

// Until where windows are known and due.
void Truth::Close(const std::vector<int64_t>& highest_ms) {
  constexpr int64_t kAlways = std::numeric_limits<int64_t>::max();
  known_until_ms_ = due_until_ms_ = kAlways;
  for (uint32_t p = 0; p < parameters_.partitions; ++p) {
    // One more millisecond: Flink's watermark is that much lower than the highest time minus the
    // bound.
    const int64_t watermark =
        highest_ms[p] == kNever ? kNever : highest_ms[p] - parameters_.bound_ms;
    due_until_ms_ = std::min(due_until_ms_, watermark);
    // What is still to come may lie as far back as the latest of late events, and may be a copy.
    const int64_t next =
        NominalMs(parameters_, p, produced_[p] - std::min(produced_[p], kCopiesReach));
    known_until_ms_ =
        std::min(known_until_ms_, next - parameters_.bound_ms - parameters_.late_by_ms);
  }
  if (ended_) known_until_ms_ = kAlways;
  if (options_.input_ended) due_until_ms_ = kAlways;
  due_until_ms_ = std::min(due_until_ms_, known_until_ms_);
}

uint64_t Truth::produced() const {
  uint64_t sum = 0;
  for (const uint64_t n : produced_) sum += n;
  return sum;
}

uint32_t Truth::Occurrences(uint32_t part, uint64_t seq) const {
  return seq < produced_[part] ? occurrences_[part][seq] : 0;
}

uint32_t Truth::OccurrencesMax(uint32_t part, uint64_t seq) const {
  const auto it = uncertain_.find({part, seq});
  return Occurrences(part, seq) + (it == uncertain_.end() ? 0 : it->second);
}

uint32_t Truth::MayBeLate(uint32_t part, uint64_t seq) const {
  return seq < produced_[part] ? may_be_late_[part][seq] : 0;
}

void Truth::ForEachEvent(const std::function<void(uint32_t, uint64_t)>& fn) const {
  for (uint32_t part = 0; part < parameters_.partitions; ++part) {
    for (uint64_t seq = 0; seq < produced_[part]; ++seq) {
      if (occurrences_[part][seq] > 0) fn(part, seq);
    }
  }
}

int64_t Truth::WindowStart(int64_t ts_ms) const {
  const int64_t size = options_.window_ms;
  const int64_t rest = ts_ms % size;
  return ts_ms - (rest < 0 ? rest + size : rest);
}

std::vector<Event> Truth::RecordsOf(int64_t window_start_ms, uint32_t item) const {
  const GenParameters& p = parameters_;
  std::vector<Event> found;
  // A record of this window is written at most this long after the window's end, its copies some
  // records later.
  const int64_t until = window_start_ms + options_.window_ms + p.bound_ms + p.late_by_ms;
  for (uint32_t part = 0; part < p.partitions; ++part) {
    uint64_t low = 0, high = produced_[part];
    while (low < high) {  // the first record from the window's start on
      const uint64_t middle = low + (high - low) / 2;
      if (NominalMs(p, part, middle) < window_start_ms)
        low = middle + 1;
      else
        high = middle;
    }
    uint64_t behind = 0;
    for (uint64_t r = low; r < produced_[part] && behind < kCopiesReach; ++r) {
      if (NominalMs(p, part, r) > until) ++behind;
      const Record record = MakeRecord(p, part, r);
      if (!record.decodable() || record.event.item != item) continue;
      if (options_.deduplicated && record.kind == RecordKind::kDuplicate) continue;
      if (WindowStart(record.event.ts_ms) == window_start_ms) found.push_back(record.event);
    }
  }
  return found;
}

}  // namespace weir::qualify
