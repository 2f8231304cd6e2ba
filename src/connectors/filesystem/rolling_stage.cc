#include "connectors/filesystem/rolling_stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "connectors/filesystem/rolling_names.h"
#include "io/fault.h"

namespace weir::connectors {

Status RollingStage::Stage(const Batch& batch, flow::Outputs& out) {
  if (const auto parked = park())
    return Status(Code::kRefused, "sink " + options_.sink + " is parked: " + parked->facts);
  if (file_ == nullptr) {
    file_name_ = InProgressName(lineage_, last_epoch_, options_.extension);
    file_ = OutputFile::New(files_, InDirectory(file_name_));
    file_->TrackWhole(StreamDigest());
    file_->buffer() += rows_->Header();
    opened_ns_ = clock_.MonotonicNs();
  }
  const uint64_t staged_before = epoch_rows_;
  WEIR_RETURN_IF_ERROR(rows_->Stage(batch, *file_, out, books_, &epoch_rows_));
  // Nothing but dead letters: no part of headers only.
  if (epoch_rows_ == staged_before && frozen_length_ == 0 && epoch_rows_ == 0) file_.reset();
  return Status::Ok();
}

bool RollingStage::ShouldClose(bool end_of_input) const {
  if (file_ == nullptr || file_->length() == 0) return false;
  const int64_t age_ms = (clock_.MonotonicNs() - opened_ns_) / 1'000'000;
  return end_of_input || file_->length() >= options_.file_size ||
         age_ms >= options_.rollover_interval_ms;
}

int64_t RollingStage::CutWantedMs() const {
  if (park_ || file_ == nullptr || file_->length() == 0) return -1;
  const int64_t age_ms = (clock_.MonotonicNs() - opened_ns_) / 1'000'000;
  return std::max<int64_t>(0, options_.rollover_interval_ms - age_ms);
}

std::optional<flow::Extent> RollingStage::Freeze(EpochId epoch, bool end_of_input) {
  last_epoch_ = epoch;
  if (park_) return std::nullopt;
  // A rename that is done needs no place in the next record.
  while (!closed_.empty() && closed_.front().state.load() == Rename::kDone) {
    closed_.pop_front();
    rename_to_forget_ = true;
  }
  const bool grew = file_ != nullptr && file_->length() != frozen_length_;
  const bool close = ShouldClose(end_of_input);
  if (!grew && !close && !rename_to_forget_) return std::nullopt;
  rename_to_forget_ = false;

  flow::Extent extent;
  extent.rows = epoch_rows_;
  epoch_rows_ = 0;
  RollingExtent record;
  for (const Closed& closed : closed_) record.closed.push_back(closed.record);
  if (file_ != nullptr) {
    extent.digest = file_->EpochDigest();
    PartRecord part{file_name_, "", file_->length(), file_->WholeDigest()};
    frozen_length_ = part.length;
    file_->Freeze();
    frozen_ = file_.get();
    if (close) {
      part.part = PartName(lineage_, epoch, options_.extension);
      closed_.emplace_back().record = part;
      record.closed.push_back(part);
      closing_ = std::move(file_);
      frozen_length_ = 0;
    } else {
      record.open = part;
    }
  }
  extent.blob = EncodeRollingExtent(record);
  // The books become part of the epoch that this extent is sealed with.
  books_[flow::Count::kSealed] += extent.rows;
  books_[flow::Count::kAcked] += extent.rows;
  return extent;
}

Status RollingStage::Sync() {
  if (frozen_ == nullptr) return Status::Ok();
  // An unmounted file system uncovers the bare mount point: rows must not go there quietly.
  const auto stat = files_.Stat(options_.directory);
  if (stat.has_value() && KeyOf(*stat) != directory_key_) {
    return Status(
        Code::kUnknownOutcome,
        options_.directory + " is another directory than at the start (unmounted, or replaced)");
  }
  return frozen_->Sync();
}

std::function<Status()> RollingStage::Sealed(EpochId) {
  if (frozen_ != nullptr) frozen_->FrozenIsDurable();
  frozen_ = nullptr;
  closing_.reset();
  std::vector<Closed*> due;
  for (Closed& closed : closed_) {
    if (!closed.sealed) due.push_back(&closed);
    closed.sealed = true;
  }
  if (due.empty()) return nullptr;
  return [this, due]() -> Status {
    for (Closed* closed : due) {
      if (closed->state.load() != Rename::kWaiting) continue;
      WEIR_ASSIGN_OR_RETURN(const Rename state, FinishRename(closed->record));
      closed->state.store(state);
    }
    return Status::Ok();
  };
}

// Disk worker, or the loop before the disk worker has anything of this stage to do. May be repeated
// after any failure and any death.
Result<RollingStage::Rename> RollingStage::FinishRename(const PartRecord& record) {
  const std::string from = InDirectory(record.in_progress);
  const std::string to = InDirectory(record.part);
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("file.before_rename").ToStatus("file.before_rename"));
  const Status renamed = files_.RenameNoReplace(from, to);
  WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("file.after_rename").ToStatus("file.after_rename"));
  if (renamed.code() == Code::kExists || renamed.code() == Code::kNotFound) {
    WEIR_ASSIGN_OR_RETURN(const bool done, Matches(to, record, false));
    if (!done) return Rename::kConflict;
    // Both names on one content: a file system without RENAME_NOREPLACE, and a death between link
    // and unlink.
    if (files_.Exists(from)) WEIR_RETURN_IF_ERROR(files_.Remove(from));
  } else if (!renamed.ok()) {
    return Fail(renamed);
  }
  WEIR_RETURN_IF_ERROR(files_.SyncDirectory(options_.directory));
  return Rename::kDone;
}

// Whether the file has the recorded bytes: all of it, or as its first part.
Result<bool> RollingStage::Matches(const std::string& path, const PartRecord& record,
                                   bool prefix_only) {
  const auto file = files_.Open(path, io::OpenMode::kRead);
  if (!file.has_value()) {
    if (file.error().code() == Code::kNotFound) return false;
    return Fail(file.error());
  }
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, (*file)->Stat());
  if (stat.size < record.length || (!prefix_only && stat.size != record.length)) return false;
  WEIR_ASSIGN_OR_RETURN(const StreamDigest digest, DigestOfPrefix(**file, record.length));
  return digest.Value() == record.digest;
}

std::optional<protocol::Park> RollingStage::park() const {
  if (park_) return park_;
  for (const Closed& closed : closed_) {
    if (closed.state.load() != Rename::kConflict) continue;
    return protocol::Park{
        options_.sink,
        "rolling.part-exists",
        fmt::format("{} cannot become {} ({} bytes): another file has that name, or both are gone",
                    closed.record.in_progress, InDirectory(closed.record.part),
                    closed.record.length),
        {protocol::Verb::kRewindFile, protocol::Verb::kAcceptMissing}};
  }
  return std::nullopt;
}

}  // namespace weir::connectors
