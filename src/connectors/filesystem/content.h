// Content: the uncompressed bytes of one input file, whatever it is on disk. gzip and zstd are
// known by their magic bytes, never by name. Plain files are read in place; of a compressed file
// one stream is kept, and a read before it begins anew from the start of the file.
#ifndef WEIR_CONNECTORS_FILESYSTEM_CONTENT_H_
#define WEIR_CONNECTORS_FILESYSTEM_CONTENT_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/ids.h"
#include "base/status.h"
#include "data/inflate.h"
#include "io/files.h"
#include "io/heartbeat.h"

namespace weir::connectors {

class Content {
 public:
  // `limit`: bytes of the file on disk that count; the rest is not looked at (a bounded read of a
  // file that grows).
  // `heartbeat` (may be null) hears of a compressed file that is inflated up to where reading
  // begins.
  static Result<std::unique_ptr<Content>> Open(io::Files& files, const std::string& path,
                                               uint64_t limit, io::Heartbeat* heartbeat);

  // Fewer bytes than asked for: there are no more now. kCorruption: the compressed data is damaged.
  Result<size_t> ReadAt(uint64_t offset, std::span<char> out);
  Result<io::FileStat> Stat() { return file_->Stat(); }
  bool compressed() const { return compressed_; }
  // The file ended in the middle of a compressed stream: still being written, or cut.
  bool truncated() const { return inflater_ != nullptr && !inflater_->Finish().ok(); }
  // Bytes of the file on disk that the reads so far have used (for progress).
  uint64_t disk_bytes_read() const { return disk_at_; }

 private:
  Content(std::unique_ptr<io::File> file, std::string path, uint64_t limit,
          io::Heartbeat* heartbeat)
      : file_(std::move(file)), path_(std::move(path)), limit_(limit), heartbeat_(heartbeat) {}
  Result<size_t> ReadDisk(uint64_t offset, std::span<char> out);
  Status DetectKind();
  Status StartStream();
  Result<size_t> ReadStream(std::span<char> out);

  std::unique_ptr<io::File> file_;
  const std::string path_;
  const uint64_t limit_;
  io::Heartbeat* const heartbeat_;
  bool kind_known_ = false;
  bool compressed_ = false;
  std::string magic_;     // the first bytes
  uint64_t disk_at_ = 0;  // compressed: next byte to read from disk
  // Compressed files.
  std::unique_ptr<Inflater> inflater_;
  Status damage_;           // of the stream; sticks until it begins anew
  uint64_t stream_at_ = 0;  // uncompressed bytes that the stream has given
  std::string input_;       // compressed bytes read and not used yet: input_[input_at_, input_end_)
  size_t input_at_ = 0, input_end_ = 0;
};

struct ContentDigests {
  Digest128 head, tail;
  bool operator==(const ContentDigests&) const = default;
};
// Whether all that is there now can be read, from `offset` on: a compressed file may be damaged
// behind what was read of it.
Status ReadToEnd(Content& content, uint64_t offset);
// The identity digests at `offset` (file_identity.h). kNotFound: the content is shorter than that.
Result<ContentDigests> DigestsAt(Content& content, uint64_t offset);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_CONTENT_H_
