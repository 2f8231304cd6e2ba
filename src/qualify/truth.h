// Truth: what must be in each layer, made from the parameters and the ledger's bounds alone.
//
// On time or late. The watermark of a pipeline is at most the highest event time that the record's
// own partition had before it, minus the bound: the partition holds it. So a record whose window
// is open by that measure is on time, whatever the other partitions do: filing it as late is wrong.
// Any other record *may* be late, if the other partitions had got that far: it belongs either into
// its window or to the late rows, and the sum of both is judged.
//
// Memory: 2 bytes a record and 16 bytes an item of a window.
#ifndef WEIR_QUALIFY_TRUTH_H_
#define WEIR_QUALIFY_TRUTH_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "qualify/events.h"
#include "qualify/ledger.h"

namespace weir::qualify {

struct TruthOptions {
  int64_t window_ms = 0;      // size of the tumbling windows; 0: no windows are judged
  bool deduplicated = false;  // the pipeline lets each event through once
  bool input_ended = false;   // the pipeline was told so: every window is out
};

// What a window holds for one item. Late rows are taken out of it.
struct WindowCell {
  int64_t total = 0;
  uint32_t n = 0;
  bool seen = false;  // a row of the output was judged against it
};

class Truth {
 public:
  // kUsage: input_ended, and the ledger has no end.
  static Result<Truth> Make(const Ledger& ledger, const TruthOptions& options);

  const GenParameters& parameters() const { return parameters_; }
  const TruthOptions& options() const { return options_; }
  bool ended() const { return ended_; }
  uint64_t produced() const;  // records, all partitions

  // How often an event stands among the produced records, and how often it may at most. Events
  // beyond what was sent: 0, and not Known.
  bool Known(uint32_t part, uint64_t seq) const {
    return part < parameters_.partitions && seq < sent_[part];
  }
  uint32_t Occurrences(uint32_t part, uint64_t seq) const;
  uint32_t OccurrencesMax(uint32_t part, uint64_t seq) const;
  // Of these, how many may be late.
  uint32_t MayBeLate(uint32_t part, uint64_t seq) const;
  uint64_t may_be_late() const { return may_be_late_total_; }
  // The same for all events of a partition: part, seq of those with Occurrences > 0.
  void ForEachEvent(const std::function<void(uint32_t, uint64_t)>& fn) const;

  int64_t WindowStart(int64_t ts_ms) const;
  using Windows = std::map<int64_t, std::vector<WindowCell>>;  // by start; cells by item
  Windows& windows() { return windows_; }
  // Its whole input was produced, and the input alone closes it (or input_ended).
  bool WindowDue(int64_t start_ms) const { return start_ms + options_.window_ms <= due_until_ms_; }
  // Its whole input is known: a row of it can be judged even when it is not due.
  bool WindowKnown(int64_t start_ms) const {
    return start_ms + options_.window_ms <= known_until_ms_;
  }
  // The records of one item of a window, again: for reports.
  std::vector<Event> RecordsOf(int64_t window_start_ms, uint32_t item) const;

 private:
  void Count(uint32_t partition, uint64_t records_sent);
  void PlaceInWindow(const Record& record, int64_t highest_ms);
  void Close(const std::vector<int64_t>& highest_ms);

  GenParameters parameters_;
  TruthOptions options_;
  bool ended_ = false;
  std::vector<uint64_t> produced_, sent_;
  std::vector<std::vector<uint8_t>> occurrences_, may_be_late_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> uncertain_;  // sent, perhaps not produced
  uint64_t may_be_late_total_ = 0;
  Windows windows_;
  int64_t due_until_ms_ = INT64_MIN, known_until_ms_ = INT64_MIN;
};

}  // namespace weir::qualify

#endif  // WEIR_QUALIFY_TRUTH_H_
