// Which file is it? A name is not an identity (rotation), an inode alone is none either (it is
// reused). A file that was read up to `offset` is known by (device, inode) and by two digests of
// its content: of the first min(4096, offset) bytes and of the last min(4096, offset) bytes before
// the offset. Offsets, positions and digests are of uncompressed bytes.
//
//   same inode, digests right              go on
//   same inode, digests wrong or shorter   a new file, from 0
//   new inode, both digests of a file      it was renamed (mv across file systems), copied or
//   compressed: go on there
//     that vanished or shrank
//   else                                   a new file, from 0. Two full copies are two inputs
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILE_IDENTITY_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILE_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "io/files.h"

namespace weir::connectors {

inline constexpr uint64_t kIdentityBytes = 4096;

struct FileKey {
  uint64_t device = 0;
  uint64_t inode = 0;
  auto operator<=>(const FileKey&) const = default;
};
inline FileKey KeyOf(const io::FileStat& stat) { return {stat.device, stat.inode}; }

// How the file looked when its reader stood at its end. Equal again: nobody has touched it, its
// content need not be read.
struct EndMark {
  uint64_t size = 0;  // on disk (compressed files: compressed)
  int64_t mtime_ns = 0;
  int64_t ctime_ns = 0;
  bool operator==(const EndMark&) const = default;
};
inline EndMark MarkOf(const io::FileStat& stat) {
  return {stat.size, stat.mtime_ns, stat.ctime_ns};
}

// How far a file was read, and what it was known by then: the saved position of a partition.
//
// Blob (format, in state.db): version byte 1; flags byte (1 finished, 2 end mark, 4 line); bytes
// path; varint device, inode, offset; head digest 16 B when offset > 4096 (else it equals the
// tail's); tail digest 16 B when offset > 0; end mark: varint size, i64 mtime, i64 ctime; varint
// line.
struct SavedFile {
  std::string path;
  FileKey key;
  uint64_t offset = 0;
  Digest128 head;
  Digest128 tail;
  std::optional<EndMark> end;
  bool finished = false;  // bounded: nothing more will be read
  uint64_t line = 0;      // number of the line at `offset`, from 1; 0: not counted
  bool operator==(const SavedFile&) const = default;
};
std::string EncodeSavedFile(const SavedFile& file);
std::optional<SavedFile> DecodeSavedFile(std::string_view blob);  // nullopt: damaged

// The list of a bounded read, taken once per lineage: the source state.
//
// Blob (format): version byte 1; varint count; per file, by path: varint number, varint length of
// the prefix shared with the path before, bytes rest of the path, varint device, inode, size, i64
// mtime, flags byte (1: the operator accepted the gap).
struct ListedFile {
  uint64_t number = 0;  // partition key "f<number>"
  std::string path;
  FileKey key;
  uint64_t size = 0;  // on disk; nothing beyond it is read
  int64_t mtime_ns = 0;
  bool gap_accepted = false;
  bool operator==(const ListedFile&) const = default;
};
std::string EncodeFileList(const std::vector<ListedFile>& files);
std::optional<std::vector<ListedFile>> DecodeFileList(std::string_view blob);

std::string PartitionKey(uint64_t number);  // "f17"
std::optional<uint64_t> PartitionNumber(std::string_view key);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILE_IDENTITY_H_
