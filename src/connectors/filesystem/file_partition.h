// FilePartition: what the source knows of one input file. Small, since a followed directory may
// hold 100,000 finished ones; the expensive part (FileReader) exists for a few at a time.
//
//                  +---------------- more bytes (catalog) ----------------+
//                  v                                                      |
//   kReadable --> end of the file, followed ------------------------> kAtEnd --> gone from its path
//   and drained --> kLeaving
//       | |
//       +-------> end of the file, bounded
//       ---------------------------------------------------------> kEnded <-- Read -+
//       +-------> vanished, shrank, changed, unreadable --> kParked --> (followed: readable again)
//       --> kReadable
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILE_PARTITION_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILE_PARTITION_H_

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/filesystem/file_identity.h"
#include "connectors/filesystem/file_reader.h"
#include "flow/source.h"

namespace weir::connectors {

// A record boundary that Read has passed, with what its saved position needs.
struct Mark {
  uint64_t offset = 0;
  uint64_t line = 1;
  Digest128 tail;
};

struct FilePartition {
  enum class State : uint8_t { kReadable, kAtEnd, kLeaving, kEnded, kParked };

  uint64_t number = 0;              // key "f<number>"
  flow::PartitionIndex index = -1;  // -1: not announced yet
  State state = State::kReadable;
  bool restored = false;
  bool verified = false;  // this life has seen that the file is the one it was
  bool missing =
      false;  // followed: not where it was, read on through its handle or under another name
  std::string path;
  FileKey key;
  uint64_t limit = UINT64_MAX;    // bounded: bytes on disk that count
  Mark base;                      // the newest boundary at or below what is sealed
  std::vector<Mark> marks;        // boundaries above it, ascending: one per Read
  std::optional<Digest128> head;  // of the first 4096 bytes, once the boundary has passed them
  std::optional<EndMark> end;     // of the file when its reader stood at its end
  std::unique_ptr<FileReader> reader;
  uint64_t last_use = 0;    // which reader was used longest ago
  uint64_t disk_bytes = 0;  // read so far, for progress
  bool reopen = false;      // the reader's view of the file is stale
  bool queued = false;      // followed: waits to be announced
  bool gone = false;       // followed: no file has this identity any more; kept to recognise a copy
  uint32_t seen_poll = 0;  // followed: the last poll that listed it
  uint16_t quiet_polls = 0;              // followed: polls since a missing file last grew
  uint64_t gone_since = 0;               // followed: epoch count when it went
  std::unique_ptr<std::string> trouble;  // kParked: what is wrong

  const Mark& boundary() const { return marks.empty() ? base : marks.back(); }
  Digest128 HeadAt(const Mark& mark) const {
    return mark.offset > kIdentityBytes && head ? *head : mark.tail;
  }
  SavedFile Save(const Mark& mark) const {
    SavedFile saved{path,      key,          mark.offset, HeadAt(mark),
                    mark.tail, std::nullopt, false,       mark.line};
    const bool newest = mark.offset == boundary().offset;
    if (newest) saved.end = end;
    saved.finished = newest && limit != UINT64_MAX && state == State::kEnded;
    return saved;
  }
  void Restore(const SavedFile& saved) {
    path = saved.path;
    key = saved.key;
    base = {saved.offset, saved.line == 0 ? 1 : saved.line, saved.tail};
    if (saved.offset >= kIdentityBytes) head = saved.head;
    end = saved.end;
    restored = true;
  }
};

// All partitions of a source, at stable addresses.
struct FileSet {
  std::deque<FilePartition> files;
  std::vector<FilePartition*> announced;  // by PartitionIndex
  uint64_t next_number = 0;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILE_PARTITION_H_
