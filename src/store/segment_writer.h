// SegmentWriter: puts blocks into spool segments. The loop thread appends and writes; the disk
// worker writes what the loop could not (no space) and syncs. The two never use one File at once:
// each segment has a handle for either.
//
// A block gets its place (segment, offset) when it is made, so blocks may reach the file in any
// order; a crash in between leaves a torn tail, which no sealed epoch refers to.
#ifndef WEIR_STORE_SEGMENT_WRITER_H_
#define WEIR_STORE_SEGMENT_WRITER_H_

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "io/files.h"
#include "store/segment.h"

namespace weir::store {

class SegmentWriter {
 public:
  SegmentWriter(io::Files& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}
  SegmentWriter(const SegmentWriter&) = delete;

  // ---- loop thread ----
  // Blocks go to an existing segment from `end` on (takeover), or to a new one.
  void GoOn(uint64_t number, uint64_t end);
  void Begin(const SegmentHeader& header);
  // Places the block behind the last one, and writes it and all that waits. kNoSpace: it waits.
  Status Append(std::string block);
  Status Retry();  // writes what waits
  uint64_t number() const { return active_ == nullptr ? 0 : active_->number; }
  uint64_t end() const { return active_ == nullptr ? 0 : active_->end; }
  bool waiting() const { return !waiting_.empty() || frozen_waits_; }
  uint64_t waiting_bytes() const { return waiting_bytes_ + frozen_bytes_; }
  // The cut: everything appended so far will be made durable by Sync. Not while a cut is unsealed.
  void Freeze();
  void Sealed();  // forgets segments that only the frozen epoch needed

  // ---- disk worker ----
  // Writes what waits of the frozen epoch, then syncs files and, for new ones, their directory.
  // kNoSpace: call again. Any other failure sticks.
  Status Sync();

 private:
  struct SegmentFile {
    uint64_t number = 0;
    std::string path;
    uint64_t end = 0;     // loop thread: where the next block goes
    bool is_new = false;  // its name is not durable yet
    std::mutex mutex;     // guards what follows, and is_new
    std::unique_ptr<io::File> loop_file, worker_file;
    bool cut_off = false;  // a leftover of the same name was emptied
  };
  struct Write {
    SegmentFile* segment;
    uint64_t offset;
    std::string bytes;
  };
  Status Sticky(Status status);
  Status OpenFiles(SegmentFile& segment);
  Status WriteOne(const Write& write, bool on_loop);
  void SetActive(uint64_t number, uint64_t end, bool is_new);

  io::Files& files_;
  const std::string directory_;

  // Loop thread.
  std::vector<std::unique_ptr<SegmentFile>> segments_;  // the last one is active_
  SegmentFile* active_ = nullptr;
  std::vector<Write> waiting_;
  uint64_t waiting_bytes_ = 0;

  // From Freeze to Sealed: the disk worker's.
  std::vector<Write> frozen_writes_;
  std::vector<SegmentFile*> frozen_segments_;
  std::atomic<bool> frozen_waits_{false};
  std::atomic<uint64_t> frozen_bytes_{0};

  std::mutex failure_mutex_;
  Status failure_;
};

}  // namespace weir::store

#endif  // WEIR_STORE_SEGMENT_WRITER_H_
