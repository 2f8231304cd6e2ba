// Scan: one source table at run time. Asks the source for one partition at a time, gives every row
// the watermark that the rows before it made, and keeps the partitions together in event time. Loop
// thread.
//
// Whose turn it is depends on event time only (time.md, "Files" and "Alignment"): the partition
// with the lowest watermark is read (ties by label) until it is max-drift ahead of the next lowest
// - to the row, so that batch size never shows - then the next. The one being read is part of the
// sealed epoch.
//
// What was read and decoded but not yet consumed (rows behind an alignment stop) waits in the
// partition's Reader: it is no part of any epoch, and is read again after a restart.
#ifndef WEIR_RUNTIME_SCAN_H_
#define WEIR_RUNTIME_SCAN_H_

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "flow/books.h"
#include "flow/dead_letters.h"
#include "flow/operator.h"
#include "flow/source.h"
#include "io/clock.h"
#include "plan/plan.h"
#include "runtime/factories.h"
#include "runtime/watermarks.h"
#include "state/byte_map.h"

namespace weir::runtime {

struct ScanSettings {
  uint32_t batch_rows = 2048;
  int64_t max_drift_ms = 0;         // 0 with a watermark: no row ahead of the slowest at all
  int64_t idle_timeout_ms = 60000;  // 0: never idle
  int64_t max_future_skew_ms = 300000;
};

// When the wall clock is believed (time.md): not before the binary's build time, nor before the
// highest sealed watermark.
bool ClockBelieved(int64_t wall_ms, TimestampMs highest_sealed_watermark);

class Scan {
 public:
  Scan(const plan::Node& node, const Factories& factories, const ScanSettings& settings,
       io::Clock& clock);
  ~Scan();

  // Opens the source at the sealed positions. `body` fields: the source's watermark and the
  // partition being read ("" none).
  Status Open(flow::StateReader& positions, TimestampMs watermark, const std::string& current_key);

  enum class Outcome { kProgress, kIdle, kEnded };
  // Reads and pushes at most one batch; `out` gets Main, Dead and Watermark.
  Result<Outcome> Poll(flow::Outputs& out);
  // ms until Poll can find something without being woken; -1: never.
  int64_t WaitMs() const;

  TimestampMs watermark() const { return watermarks_.Current(); }
  std::string CurrentKey() const { return current_ < 0 ? "" : partitions_[current_]->info.key; }
  // The source's watermark when partition `index` began to hold it: for late{reason="woke"}.
  TimestampMs HoldsSince(int32_t index) const { return watermarks_.at(index).holds_since; }
  bool ended() const { return ended_; }
  bool parked() const;  // nothing is left to read but parked partitions
  std::vector<flow::SourcePark> parks() const { return source_->parks(); }
  void Progress(uint64_t* read, uint64_t* total) const { source_->Progress(read, total); }
  bool clock_believed() const { return clock_believed_; }
  std::string Trouble() const { return source_->Trouble(); }

  // The cut: changed positions and source state as bucket deltas under this scan's name.
  Status Freeze(std::vector<flow::BucketDelta>& out);
  bool dirty() const { return dirty_; }
  // After the seal of the last Freeze.
  void Sealed();

  flow::NodeBooks& books() { return books_; }
  const std::string& name() const { return node_.name; }
  // The path of a partition, for messages.
  const std::string& LabelOf(int32_t index) const { return partitions_[index]->info.label; }
  std::string_view table_name() const { return scan_.table->name; }
  void AppendStatus(std::string& json) const;  // `"watermark":..,"partitions":[..]`

 private:
  struct Reader;
  struct Partition {
    flow::PartitionInfo info;
    int64_t position = 0;               // consumed up to here
    int64_t frozen_position = -1;       // at the last Freeze
    bool changed = true;                // since the last Freeze
    bool waiting = false;               // kWait: nothing more for now
    int64_t waiting_since_ns = 0;       // since when nothing has come
    std::optional<TimestampMs> ranked;  // its watermark in ready_; nullopt: not there
    int64_t turn = 0;                   // info.in_turns without event time: when it was read last
    bool known_end = false;             // Read said kEnd: ends when its Reader is consumed
    std::unique_ptr<Reader> reader;
  };

  // `opening`: the saved watermarks of restored partitions come with them.
  Status Discover(bool opening);
  std::optional<SourceWatermarks::Partition> SavedWatermark(std::string_view partition_key) const;
  Status RestorePositions(flow::StateReader& positions);
  Status TakeReader(Partition& p);
  void GiveReader(Partition& p);
  void TakePeek(int index, const Reader& peek);
  Status PeekTime(int index);
  int Choose();
  bool HasRows(int index) const;
  void Rank(int index);  // puts a partition where its turn is, or out of the queue
  void AskWaiting();
  Status Fill(int index);
  void Consume(int index, flow::Outputs& out);
  TimestampMs LatestOk(const Reader& r, uint32_t row, int64_t wall_ms) const;
  uint32_t StopRow(int index, SourceWatermarks::Run& run, std::vector<uint32_t>& rows);
  int64_t NextDeadPosition(const Reader& r, uint32_t stop) const;
  void EmitDead(int index, uint32_t stop, int64_t before, flow::Outputs& out);
  void PushRows(int index, std::vector<uint32_t> rows, flow::Outputs& out);
  void EndPartition(int index);
  void CheckIdle(int64_t now_ns);

  const plan::Node& node_;
  const plan::ScanNode& scan_;
  const Factories& factories_;
  ScanSettings settings_;
  io::Clock& clock_;
  Schema raw_schema_;
  bool has_rowtime_;
  std::unique_ptr<flow::Source> source_;
  SourceWatermarks watermarks_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::string restored_current_;
  ByteMap positions_;
  std::unique_ptr<Reader>
      spare_;  // one Reader kept between partitions: making one compiles expressions
  // Partitions that may be read, in the order of their turns: (watermark, label, index). Those that
  // wait are in waiting_.
  struct Turn {
    TimestampMs watermark;
    std::string_view label;
    int index;
    auto operator<=>(const Turn&) const = default;
  };
  std::set<Turn> ready_;
  std::set<int> waiting_;
  int current_ = -1;
  int64_t turns_ = 0;
  bool ended_ = false;
  bool dirty_ = true;  // the first epoch of a run records resolved positions
  bool clock_believed_ = true;
  TimestampMs highest_sealed_watermark_ = kWatermarkNone;
  int64_t next_poll_ns_ = 0;
  int64_t next_idle_check_ns_ = 0;
  std::vector<std::pair<int, int64_t>> frozen_releases_;
  Batch view_;  // what is pushed: the reader's columns, with watermarks and a selection
  flow::DeadLetterBuilder dead_;
  flow::NodeBooks books_;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_SCAN_H_
