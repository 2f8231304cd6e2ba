#include "store/segment_writer.h"

#include <algorithm>

#include "io/fault.h"

namespace weir::store {

void SegmentWriter::SetActive(uint64_t number, uint64_t end, bool is_new) {
  auto segment = std::make_unique<SegmentFile>();
  segment->number = number;
  segment->path = io::JoinPath(directory_, SegmentName(number));
  segment->end = end;
  segment->is_new = is_new;
  active_ = segment.get();
  segments_.push_back(std::move(segment));
}

void SegmentWriter::GoOn(uint64_t number, uint64_t end) { SetActive(number, end, false); }

void SegmentWriter::Begin(const SegmentHeader& header) {
  SetActive(header.number, 0, true);
  // The header is written with the first block.
  std::string bytes = EncodeSegmentHeader(header);
  active_->end = bytes.size();
  waiting_bytes_ += bytes.size();
  waiting_.push_back({active_, 0, std::move(bytes)});
}

Status SegmentWriter::Append(std::string block) {
  const uint64_t offset = active_->end;
  active_->end += block.size();
  waiting_bytes_ += block.size();
  waiting_.push_back({active_, offset, std::move(block)});
  return Retry();
}

Status SegmentWriter::Retry() {
  size_t done = 0;
  Status status;
  while (done < waiting_.size()) {
    status = WriteOne(waiting_[done], true);
    if (!status.ok()) break;
    waiting_bytes_ -= waiting_[done].bytes.size();
    ++done;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<ptrdiff_t>(done));
  return status;
}

Status SegmentWriter::OpenFiles(SegmentFile& segment) {
  const std::lock_guard hold(segment.mutex);
  if (segment.worker_file != nullptr) return Status::Ok();
  if (segment.loop_file == nullptr) {
    WEIR_ASSIGN_OR_RETURN(segment.loop_file, files_.Open(segment.path, io::OpenMode::kCreate));
  }
  if (segment.is_new && !segment.cut_off) {
    WEIR_RETURN_IF_ERROR(segment.loop_file->Truncate(0));
    segment.cut_off = true;
  }
  // Opened before the first byte is written: a sync reports only what failed since its handle was
  // opened.
  WEIR_ASSIGN_OR_RETURN(segment.worker_file, files_.Open(segment.path, io::OpenMode::kReadWrite));
  return Status::Ok();
}

Status SegmentWriter::WriteOne(const Write& write, bool on_loop) {
  {
    const std::lock_guard hold(failure_mutex_);
    if (!failure_.ok()) return failure_;
  }
  Status status = WEIR_FAULT_POINT("seal.before_stage_write").ToStatus("seal.before_stage_write");
  if (status.ok()) status = OpenFiles(*write.segment);
  if (status.ok()) {
    io::File& file = on_loop ? *write.segment->loop_file : *write.segment->worker_file;
    status = io::WriteWithFault(WEIR_FAULT_POINT("seal.during_stage_write"),
                                "seal.during_stage_write", file, write.offset, write.bytes);
  }
  return Sticky(std::move(status));
}

void SegmentWriter::Freeze() {
  for (Write& write : waiting_) {
    frozen_bytes_ += write.bytes.size();
    frozen_writes_.push_back(std::move(write));
  }
  waiting_.clear();
  waiting_bytes_ = 0;
  frozen_waits_ = !frozen_writes_.empty();
  frozen_segments_.clear();
  for (const auto& segment : segments_) frozen_segments_.push_back(segment.get());
}

void SegmentWriter::Sealed() {
  frozen_segments_.clear();
  std::erase_if(segments_, [&](const auto& segment) { return segment.get() != active_; });
}

Status SegmentWriter::Sync() {
  {
    const std::lock_guard hold(failure_mutex_);
    if (!failure_.ok()) return failure_;
  }
  while (!frozen_writes_.empty()) {
    WEIR_RETURN_IF_ERROR(WriteOne(frozen_writes_.front(), false));
    frozen_bytes_ -= frozen_writes_.front().bytes.size();
    frozen_writes_.erase(frozen_writes_.begin());
  }
  frozen_waits_ = false;
  bool new_name = false;
  for (SegmentFile* segment : frozen_segments_) {
    const std::lock_guard hold(segment->mutex);
    if (segment->worker_file == nullptr) continue;  // nothing of this epoch went there
    WEIR_RETURN_IF_ERROR(Sticky(segment->worker_file->Sync()));
    new_name |= segment->is_new;
  }
  if (!new_name) return Status::Ok();
  WEIR_RETURN_IF_ERROR(Sticky(files_.SyncDirectory(directory_)));
  for (SegmentFile* segment : frozen_segments_) {
    const std::lock_guard hold(segment->mutex);
    segment->is_new = false;
  }
  return Status::Ok();
}

Status SegmentWriter::Sticky(Status status) {
  if (!status.ok() && status.code() != Code::kNoSpace) {
    const std::lock_guard hold(failure_mutex_);
    failure_ = status;
  }
  return status;
}

}  // namespace weir::store
