#include "connectors/filesystem/output_file.h"

#include "base/check.h"
#include "io/fault.h"

namespace weir::connectors {

Result<std::unique_ptr<OutputFile>> OutputFile::Open(io::Files& files, const std::string& path,
                                                     uint64_t length) {
  std::unique_ptr<OutputFile> out(new OutputFile(files, path));
  WEIR_RETURN_IF_ERROR(out->OpenForLoop());
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, out->file_->Stat());
  // A truncation would extend it with zeros.
  if (stat.size < length) {
    return Fail(Code::kInternal, path + " has " + std::to_string(stat.size) + " bytes, less than " +
                                     std::to_string(length));
  }
  if (stat.size > length) WEIR_RETURN_IF_ERROR(out->file_->Truncate(length));
  out->written_ = length;
  return out;
}

std::unique_ptr<OutputFile> OutputFile::New(io::Files& files, const std::string& path) {
  return std::unique_ptr<OutputFile>(new OutputFile(files, path));
}

Status OutputFile::OpenForLoop() {
  WEIR_ASSIGN_OR_RETURN(file_, files_.Open(path_, io::OpenMode::kCreate));
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, file_->Stat());
  if (!stat.is_regular) return Status(Code::kCannotCreate, path_ + " is not a regular file");
  loop_key_ = KeyOf(stat);
  return Status::Ok();
}

void OutputFile::DigestBuffered() {
  const std::string_view fresh = std::string_view(buffer_).substr(digested_);
  digest_.Update(fresh);
  if (whole_) whole_->Update(fresh);
  digested_ = buffer_.size();
}

Digest128 OutputFile::EpochDigest() {
  DigestBuffered();
  return digest_.Value();
}

Digest128 OutputFile::WholeDigest() {
  CHECK(whole_.has_value());
  DigestBuffered();
  return whole_->Value();
}

Status OutputFile::WriteBuffered() {
  if (!buffer_.empty()) {
    DigestBuffered();
    Status status = file_ == nullptr ? OpenForLoop() : Status::Ok();
    if (status.ok())
      status = io::WriteWithFault(WEIR_FAULT_POINT("file.during_append"), "file.during_append",
                                  *file_, written_, buffer_);
    if (!status.ok()) {
      paused_ = status.code() == Code::kNoSpace;
      return status;
    }
    written_ += buffer_.size();
    buffer_.clear();
    digested_ = 0;
  }
  paused_ = false;
  return Status::Ok();
}

void OutputFile::Freeze() {
  CHECK(!frozen_);
  DigestBuffered();
  frozen_ = true;
  frozen_key_ = loop_key_;
  tail_offset_ = written_;
  written_ += buffer_.size();
  tail_.swap(buffer_);
  buffer_.clear();
  digested_ = 0;
  digest_.Reset();
  // What did not fit is the worker's to write now; the next epoch begins with an empty buffer.
  paused_ = false;
}

// The worker's own handle. A file that the loop has created is not created again: should it be
// gone, that must show.
Status OutputFile::OpenForWorker() {
  auto file = files_.Open(path_, frozen_key_ ? io::OpenMode::kReadWrite : io::OpenMode::kCreate);
  if (!file.has_value() && file.error().code() == Code::kNotFound) return CheckStillInPlace();
  if (!file.has_value()) return file.error();
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, (*file)->Stat());
  key_ = frozen_key_.value_or(KeyOf(stat));
  sync_file_ = std::move(*file);
  return Status::Ok();
}

Status OutputFile::Sync() {
  CHECK(frozen_);
  if (sync_file_ == nullptr) WEIR_RETURN_IF_ERROR(OpenForWorker());
  if (removed_) return Status::Ok();
  WEIR_RETURN_IF_ERROR(
      WEIR_FAULT_POINT("seal.before_stage_write").ToStatus("seal.before_stage_write"));
  if (!tail_.empty()) {
    WEIR_RETURN_IF_ERROR(io::WriteWithFault(WEIR_FAULT_POINT("seal.during_stage_write"),
                                            "seal.during_stage_write", *sync_file_, tail_offset_,
                                            tail_));
  }
  WEIR_RETURN_IF_ERROR(sync_file_->Sync());
  if (!name_is_durable_) {
    WEIR_RETURN_IF_ERROR(files_.SyncDirectory(io::DirectoryOf(path_)));
    name_is_durable_ = true;
  }
  return CheckStillInPlace();
}

// Deleted, replaced, or its file system unmounted: the bytes are synced into something that nobody
// will find under this name. The epoch is not sealed; the next start sees what stands there and
// says so.
Status OutputFile::CheckStillInPlace() {
  const auto stat = files_.Stat(path_);
  if (stat.has_value() && KeyOf(*stat) == key_) return Status::Ok();
  if (!stat.has_value() && stat.error().code() != Code::kNotFound) return stat.error();
  if (removal_allowed_) {
    removed_ = true;
    return Status::Ok();
  }
  std::string what = !stat.has_value()             ? " was removed"
                     : stat->device != key_.device ? " is on another file system now (unmounted?)"
                                                   : " was replaced";
  return Status(Code::kUnknownOutcome, path_ + what + " while weir was writing it");
}

void OutputFile::FrozenIsDurable() {
  CHECK(frozen_);
  frozen_ = false;
  tail_.clear();
}

}  // namespace weir::connectors
