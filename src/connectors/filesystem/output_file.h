// OutputFile: the bytes of one local output file, from the loop's buffer to the disk. What a row
// is, what an epoch's extent means, and what the file is called are its owner's business
// (append_stage, rolling_stage, dead_letter_stage).
//
//   Append -> buffer_ --256 KiB--> written by the loop --Freeze--> frozen tail --Sync (disk
//   worker)--> durable
//
// Two threads: Append, WriteBuffered and Freeze belong to the loop; Sync to the disk worker. They
// share no byte and no File: what the loop has not written at the cut moves into the frozen tail,
// which only Sync touches until it has returned OK, and each side has a handle of its own
// (fdatasync covers the inode, whoever wrote).
#ifndef WEIR_CONNECTORS_FILESYSTEM_OUTPUT_FILE_H_
#define WEIR_CONNECTORS_FILESYSTEM_OUTPUT_FILE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/status.h"
#include "connectors/filesystem/file_identity.h"
#include "io/files.h"

namespace weir::connectors {

inline constexpr size_t kOutputBlockBytes = 256 << 10;

class OutputFile {
 public:
  // Opens `path` for writing, creates it when absent, and cuts it to `length` bytes (it must not be
  // shorter).
  static Result<std::unique_ptr<OutputFile>> Open(io::Files& files, const std::string& path,
                                                  uint64_t length);
  // A new file, which is created with its first bytes: rows can be staged even when there is no
  // space for it yet.
  static std::unique_ptr<OutputFile> New(io::Files& files, const std::string& path);

  const std::string& path() const { return path_; }
  // Bytes of the file once everything appended so far is written.
  uint64_t length() const { return written_ + buffer_.size(); }
  // Rows are encoded straight into this; only ever append to it.
  std::string& buffer() { return buffer_; }
  // Digest of the bytes appended since the last Freeze.
  Digest128 EpochDigest();
  // Keeps a digest of the whole file too; `so_far`: of the bytes it holds already.
  void TrackWhole(StreamDigest so_far) { whole_ = std::move(so_far); }
  Digest128 WholeDigest();
  // Writes the buffer when it holds a block. On kNoSpace the bytes stay, paused() is true, and only
  // RetryWrites tries again.
  Status WriteBlocks() {
    return buffer_.size() < kOutputBlockBytes || paused_ ? Status::Ok() : WriteBuffered();
  }
  Status RetryWrites() { return WriteBuffered(); }
  bool paused() const { return paused_; }

  // Somebody may delete the file meanwhile: not an error of Sync, but removed() afterwards.
  void AllowRemoval() { removal_allowed_ = true; }
  bool removed() const { return removed_; }  // loop thread, after FrozenIsDurable

  // The cut: what is buffered becomes the frozen tail. Nothing may be frozen already.
  void Freeze();
  // Disk worker. Writes the frozen tail and makes the file durable, its name too when it is new.
  // May be repeated after kNoSpace.
  Status Sync();
  bool frozen() const { return frozen_; }
  // Loop thread, after Sync returned OK and its completion was collected.
  void FrozenIsDurable();

 private:
  OutputFile(io::Files& files, std::string path) : files_(files), path_(std::move(path)) {}
  Status OpenForLoop();
  Status OpenForWorker();
  Status WriteBuffered();
  void DigestBuffered();
  Status CheckStillInPlace();

  io::Files& files_;
  const std::string path_;
  // Loop thread.
  std::unique_ptr<io::File> file_;
  std::string buffer_;
  size_t digested_ = 0;   // bytes of buffer_ that are in digest_
  uint64_t written_ = 0;  // where the buffer begins in the file
  StreamDigest digest_;
  std::optional<StreamDigest> whole_;
  bool paused_ = false;
  bool frozen_ = false;
  std::optional<FileKey> loop_key_;  // which file the loop writes
  // Disk worker, while frozen_.
  std::unique_ptr<io::File> sync_file_;
  std::string tail_;
  uint64_t tail_offset_ = 0;
  bool name_is_durable_ = false;
  std::optional<FileKey> frozen_key_;  // loop_key_ at the cut
  FileKey key_;                        // which file is synced
  bool removal_allowed_ = false;
  bool removed_ = false;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_OUTPUT_FILE_H_
