// The dead letters that nobody selects: JSON lines in the state directory's dead/, an append sink
// like any other, but rolled, and bounded by deleting the oldest file.
//
//   dead/<subject>.jsonl, dead/<subject>.1.jsonl, dead/<subject>.2.jsonl ...   the highest number
//   is written; bytes of the subject that are no file name
//                                                                             are %XX
//
// A file is full at its cut when it holds kDeadFileBytes (less, when max_bytes is small); the next
// row begins a new one. When all of them hold more than max_bytes at a cut, the oldest are dropped:
// the epoch says so and counts their rows, and they are deleted after its seal. A file that an
// operator has deleted is not missed. A fresh run begins with none.
//
// Extent::blob (format): version byte 1; varint number of the first file kept; varint count; per
// file: varint length, varint rows. The last is the one written.
#ifndef WEIR_CONNECTORS_FILESYSTEM_DEAD_LETTER_STAGE_H_
#define WEIR_CONNECTORS_FILESYSTEM_DEAD_LETTER_STAGE_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/filesystem/output_file.h"
#include "connectors/filesystem/stage_rows.h"
#include "flow/sink.h"
#include "io/files.h"

namespace weir::connectors {

inline constexpr uint64_t kDeadFileBytes = 16 << 20;

struct DeadFiles {
  struct File {
    uint64_t length = 0, rows = 0;
    bool operator==(const File&) const = default;
  };
  uint64_t first = 0;
  std::vector<File> files;
  bool operator==(const DeadFiles&) const = default;
};
std::string EncodeDeadFiles(const DeadFiles& files);
std::optional<DeadFiles> DecodeDeadFiles(std::string_view blob);

class DeadLetterStage : public flow::SinkStage {
 public:
  DeadLetterStage(io::Files& files, std::string directory, std::string subject, uint64_t max_bytes,
                  std::unique_ptr<RowStager> rows);

  Status Inspect(const flow::TakeoverContext&) override {
    return Status::Ok();
  }  // the store has looked at the directory
  std::vector<flow::Claim> Claims() const override {
    return {};
  }  // inside the state directory all is ours
  EpochId HighestEpochSeen() const override { return 0; }
  Status Recover(const flow::TakeoverContext& context) override;
  Status Stage(const Batch& batch, flow::Outputs& out) override;
  bool paused() const override { return file_ != nullptr && file_->paused(); }
  Status RetryWrites() override { return file_ == nullptr ? Status::Ok() : file_->RetryWrites(); }
  uint64_t BufferedBytes() const override { return file_ == nullptr ? 0 : file_->buffer().size(); }
  std::optional<flow::Extent> Freeze(EpochId epoch, bool end_of_input) override;
  Status Sync() override { return frozen_ == nullptr ? Status::Ok() : frozen_->Sync(); }
  std::function<Status()> Sealed(EpochId epoch) override;
  bool acked_by_seal() const override { return true; }
  int64_t CutWantedMs() const override { return -1; }
  std::optional<protocol::Park> park() const override { return std::nullopt; }
  flow::NodeBooks& books() override { return books_; }

  std::string PathOf(uint64_t number) const;

 private:
  std::optional<uint64_t> NumberOf(std::string_view name) const;

  io::Files& files_;
  const std::string directory_;
  const std::string base_name_;
  const uint64_t max_bytes_;
  const uint64_t file_bytes_;
  std::unique_ptr<RowStager> rows_;

  DeadFiles kept_;  // as of the last cut
  std::unique_ptr<OutputFile>
      file_;  // number kept_.first + kept_.files.size() - 1, or the next one when that is full
  bool begins_file_ = true;  // file_ (or the next one) is not in kept_ yet
  OutputFile* frozen_ = nullptr;
  std::unique_ptr<OutputFile> full_;
  std::vector<uint64_t> to_delete_;
  uint64_t epoch_rows_ = 0;
  flow::NodeBooks books_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_DEAD_LETTER_STAGE_H_
