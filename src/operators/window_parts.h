// What TUMBLE and SESSION share: encoding the keys of a batch, building result batches, the late
// edge and the dead letters.
#ifndef WEIR_OPERATORS_WINDOW_PARTS_H_
#define WEIR_OPERATORS_WINDOW_PARTS_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "flow/dead_letters.h"
#include "flow/operator.h"
#include "operators/aggregates.h"
#include "plan/plan.h"

namespace weir::operators {

// The selected rows of a batch as a list, whether it has a selection or not.
class SelectedRows {
 public:
  std::span<const uint32_t> Of(const Batch& batch) {
    if (batch.has_selection()) return batch.selection();
    while (all_.size() < batch.rows()) all_.push_back(static_cast<uint32_t>(all_.size()));
    return std::span(all_).first(batch.rows());
  }

 private:
  std::vector<uint32_t> all_;
};

// The keys of many rows, encoded one behind the other in memory that is used again
// (data/row_codec.h has the format).
class KeyEncoder {
 public:
  KeyEncoder(const std::vector<int>& columns, const Schema& input);
  void Encode(const Batch& batch, std::span<const uint32_t> rows);
  std::string_view key(size_t i) const {
    return {bytes_.data() + ends_[i], ends_[i + 1] - ends_[i]};
  }

 private:
  void EncodeText(const Column& column, std::span<const uint32_t> rows);
  std::vector<int> columns_;
  bool single_text_ = false;
  std::string bytes_;
  std::vector<uint32_t> ends_;  // n + 1 offsets
};

// Fired windows as batches of the node's output: keys, aggregates, window_start, window_end,
// window_time. A row with a result that does not fit is a dead letter (stage result) of its keys
// and window.
class ResultBuilder {
 public:
  ResultBuilder(const plan::Node& node, const Schema& input, const AggregateSet* aggregates,
                flow::NodeBooks* books);
  // `watermark`: downstream's before this window fired. Strings of `fixed` and `key` must stay
  // until Flush.
  void Add(std::string_view key, const char* fixed, TimestampMs start, TimestampMs end,
           TimestampMs watermark, flow::Outputs& out);
  void Flush(flow::Outputs& out);
  uint32_t pending() const { return count_; }
  // kCorruption, sticky: a key in the state is none of this plan's.
  const Status& status() const { return status_; }

  static constexpr uint32_t kBatchRows = 2048;

 private:
  struct Failure {
    uint32_t row;
    std::string message;
  };
  void EmitFailures(flow::Outputs& out);
  const plan::WindowNode& window_;
  const AggregateSet* aggregates_;
  flow::NodeBooks* books_;
  std::string name_;
  Status status_;
  Schema schema_;
  Schema record_schema_;  // keys, window_start, window_end
  std::vector<Type> key_types_;
  std::vector<int> key_columns_;
  std::vector<std::string> calls_;  // "s = SUM(b)", for messages
  Batch batch_;
  uint32_t count_ = 0;
  std::vector<Failure> failures_;
  flow::DeadLetterBuilder dead_;
};

// The watermarks that the rows since the last AdvanceWatermark have made: what time it was below
// the window before another window fired, had every row come in a batch of its own.
class WatermarkTrail {
 public:
  void Note(const Batch& batch) {
    // All rows, selected or not: a filter takes rows away, not time.
    for (TimestampMs w : batch.watermarks) {
      if (steps_.empty() || w > steps_.back()) steps_.push_back(w);
    }
  }
  // The latest of them before a window with this end fires, at least `floor`.
  TimestampMs Before(TimestampMs end, TimestampMs floor) {
    while (next_ < steps_.size() && steps_[next_] < end - 1) ++next_;
    return next_ == 0 ? floor : std::max(floor, steps_[next_ - 1]);
  }
  void Clear() {
    steps_.clear();
    next_ = 0;
  }

 private:
  std::vector<TimestampMs> steps_;  // ascending
  size_t next_ = 0;                 // Before is asked for ascending ends
};

// The rows of one batch that leave on the late edge.
class LateRows {
 public:
  explicit LateRows(const plan::WindowNode& window) : window_(window) {}
  void Add(uint32_t row, TimestampMs start, TimestampMs end, TimestampMs watermark) {
    rows_.push_back(row);
    places_.push_back({start, end, watermark});
  }
  // Emits and forgets them. Returns how many there were.
  uint64_t Emit(const Batch& from, flow::Outputs& out);

 private:
  struct Place {
    TimestampMs start, end, watermark;
  };
  const plan::WindowNode& window_;
  std::vector<uint32_t> rows_;
  std::vector<Place> places_;
  Batch batch_;
};

// Whether both ends of a window are times that a TIMESTAMP(3) holds (years 0001 to 9999).
bool WindowIsInRange(TimestampMs start, TimestampMs end);

// Rows that no window can take, in reading order: without a time, or of a window that would begin
// or end outside what a TIMESTAMP holds ('9999-12-31 23:59:59' as "never" is common data). They are
// dead letters.
class HomelessRows {
 public:
  enum class Why : uint8_t { kNullTime, kOutOfRange };
  HomelessRows(const plan::WindowNode& window, const Schema& input)
      : window_(window), input_(input) {}
  void Add(uint32_t row, Why why) { rows_.push_back({row, why}); }
  uint64_t Emit(const Batch& from, flow::Outputs& out);

 private:
  struct Row {
    uint32_t row;
    Why why;
  };
  const plan::WindowNode& window_;
  Schema input_;
  std::vector<Row> rows_;
  flow::DeadLetterBuilder dead_;
};

// Checks what the binder promises of a window node.
Status CheckWindowNode(const plan::Node& node, const Schema& input);

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_WINDOW_PARTS_H_
