// The append sink: one file, which is its own stage. Rows are written beyond the sealed length as
// they come; the seal makes them durable and remembers the new length; a start cuts what lies
// beyond it. Readers may see an epoch while it is written.
//
// Extent::blob (format): version byte 1; varint base (bytes before our first one); varint length
// (sealed length after this epoch); digest of this epoch's bytes (low 8 B, high 8 B).
#ifndef WEIR_CONNECTORS_FILESYSTEM_APPEND_STAGE_H_
#define WEIR_CONNECTORS_FILESYSTEM_APPEND_STAGE_H_

#include <memory>
#include <string>

#include "connectors/filesystem/file_receipt.h"
#include "connectors/filesystem/stage_rows.h"
#include "flow/sink.h"
#include "io/files.h"
#include "protocol/takeover.h"

namespace weir::connectors {

struct AppendExtent {
  uint64_t base = 0;
  uint64_t length = 0;
  Digest128 digest;
};
std::string EncodeAppendExtent(const AppendExtent& extent);
std::optional<AppendExtent> DecodeAppendExtent(std::string_view blob);

struct AppendOptions {
  std::string sink;  // for parks and resolutions
  std::string path;  // absolute
  protocol::LocalFileFacts::IfExists if_exists = protocol::LocalFileFacts::IfExists::kFail;
};

class AppendStage : public flow::SinkStage {
 public:
  AppendStage(io::Files& files, AppendOptions options, std::unique_ptr<RowStager> rows)
      : files_(files), options_(std::move(options)), rows_(std::move(rows)) {}

  Status Inspect(const flow::TakeoverContext& context) override;
  std::vector<flow::Claim> Claims() const override { return {{options_.path}}; }
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
  int64_t CutWantedMs() const override { return -1; }
  std::optional<protocol::Park> park() const override { return park_; }
  flow::NodeBooks& books() override { return books_; }

 private:
  Result<protocol::LocalFileDecision> Decide(const flow::TakeoverContext& context);
  Result<uint64_t> StartLength(protocol::LocalFileAction action);
  Status StageProlog(uint64_t start);

  io::Files& files_;
  const AppendOptions options_;
  std::unique_ptr<RowStager> rows_;

  // Found by Decide.
  FoundReceipt found_;
  uint64_t found_length_ = 0;
  EpochId highest_seen_ = 0;
  AppendExtent sealed_;  // of the newest sealed epoch; zeros when there is none
  Lineage lineage_;
  std::optional<protocol::Park> park_;

  std::unique_ptr<OutputFile> file_;  // null until Recover, and while parked
  uint64_t base_ = 0;
  uint64_t frozen_length_ = 0;  // length at the last Freeze
  bool unrecorded_ = false;     // no sealed extent says yet where we began
  uint64_t epoch_rows_ = 0;     // staged since then
  AppendExtent frozen_;
  flow::NodeBooks books_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_APPEND_STAGE_H_
