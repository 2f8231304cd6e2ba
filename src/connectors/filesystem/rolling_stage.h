// The rolling sink: a directory of parts. Rows go into one file in progress (hidden); it becomes a
// part, under a name that readers see, only by a rename after the seal of the epoch that closed it.
// So readers only ever see whole epochs, and a part never changes.
//
//   .part-<8 hex of lineage>-<epoch before its first row, 10 digits>.<ext>.inprogress      in
//   progress part-<8 hex of lineage>-<epoch that closed it, 10 digits>.<ext> done
//
//   no file --row--> in progress --Freeze: full, old, end of input--> closing --seal--> rename,
//   sync of the directory --> done
//
// That a file is closed is decided in Freeze and recorded in the epoch, with length and digest; the
// rename follows after the seal, and at every start until it is known to be done. It never
// replaces: a file with the recorded length and digest is done already, any other parks.
//
// Extent::blob (format): version byte 1; flags byte (1: a file is in progress); when it is: bytes
// name, varint length, digest 16 B of the whole file; varint count of closed files whose rename is
// not known to be done; each: bytes name in progress, bytes name of the part, varint length, digest
// 16 B.
#ifndef WEIR_CONNECTORS_FILESYSTEM_ROLLING_STAGE_H_
#define WEIR_CONNECTORS_FILESYSTEM_ROLLING_STAGE_H_

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/filesystem/output_file.h"
#include "connectors/filesystem/stage_rows.h"
#include "flow/sink.h"
#include "io/clock.h"
#include "io/files.h"

namespace weir::connectors {

struct PartRecord {
  std::string in_progress;  // names, in the directory
  std::string part;         // empty: not closed
  uint64_t length = 0;
  Digest128 digest;  // of the whole file
  bool operator==(const PartRecord&) const = default;
};
struct RollingExtent {
  std::optional<PartRecord> open;
  std::vector<PartRecord> closed;
};
std::string EncodeRollingExtent(const RollingExtent& extent);
std::optional<RollingExtent> DecodeRollingExtent(std::string_view blob);

struct RollingOptions {
  std::string sink;
  std::string directory;   // absolute
  std::string extension;   // "json"
  uint64_t file_size = 0;  // bytes
  int64_t rollover_interval_ms = 0;
};

class RollingStage : public flow::SinkStage {
 public:
  RollingStage(io::Files& files, io::Clock& clock, RollingOptions options,
               std::unique_ptr<RowStager> rows)
      : files_(files), clock_(clock), options_(std::move(options)), rows_(std::move(rows)) {}

  Status Inspect(const flow::TakeoverContext& context) override;
  std::vector<flow::Claim> Claims() const override { return {{options_.directory}}; }
  EpochId HighestEpochSeen() const override { return highest_seen_; }
  Status Recover(const flow::TakeoverContext& context) override;
  Status Stage(const Batch& batch, flow::Outputs& out) override;
  bool paused() const override { return file_ != nullptr && file_->paused(); }
  Status RetryWrites() override { return file_ == nullptr ? Status::Ok() : file_->RetryWrites(); }
  uint64_t BufferedBytes() const override { return file_ == nullptr ? 0 : file_->buffer().size(); }
  std::optional<flow::Extent> Freeze(EpochId epoch, bool end_of_input) override;
  Status Sync() override;
  std::function<Status()> Sealed(EpochId epoch) override;
  bool acked_by_seal() const override { return true; }
  int64_t CutWantedMs() const override;
  std::optional<protocol::Park> park() const override;
  flow::NodeBooks& books() override { return books_; }

 private:
  // A rename that a sealed epoch asks for. The disk worker writes `state`, the loop reads it.
  enum class Rename : int { kWaiting, kDone, kConflict };
  struct Closed {
    PartRecord record;
    bool sealed = false;
    std::atomic<Rename> state{Rename::kWaiting};
  };

  std::string InDirectory(std::string_view name) const {
    return io::JoinPath(options_.directory, name);
  }
  Status InspectDirectory(const flow::TakeoverContext& context);
  void ParkWith(std::string rule, std::string facts, std::vector<protocol::Verb> verbs);
  Status RemoveLeftovers(const flow::TakeoverContext& context, const RollingExtent& sealed);
  Status MovePartsAside(const flow::TakeoverContext& context, const RollingExtent& sealed);
  Status Reopen(const PartRecord& open, bool accept_missing);
  Result<Rename> FinishRename(const PartRecord& record);
  Result<bool> Matches(const std::string& path, const PartRecord& record, bool prefix_only);
  bool ShouldClose(bool end_of_input) const;

  io::Files& files_;
  io::Clock& clock_;
  const RollingOptions options_;
  std::unique_ptr<RowStager> rows_;
  std::optional<protocol::Park> park_;
  FileKey directory_key_;
  EpochId highest_seen_ = 0;
  Lineage lineage_;
  EpochId last_epoch_ = 0;  // frozen last, or the one before this run's first

  std::unique_ptr<OutputFile> file_;  // in progress; null between two
  std::string file_name_;
  int64_t opened_ns_ = 0;         // monotonic; a restart begins the age anew
  OutputFile* frozen_ = nullptr;  // file_ or closing_, between Freeze and Sealed
  std::unique_ptr<OutputFile> closing_;
  std::deque<Closed> closed_;      // stable addresses
  bool rename_to_forget_ = false;  // a rename was done that the newest sealed extent still names
  uint64_t frozen_length_ = 0;
  uint64_t epoch_rows_ = 0;
  flow::NodeBooks books_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_ROLLING_STAGE_H_
