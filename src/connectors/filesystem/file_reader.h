// FileReader: an open input file as a window of bytes that moves forward: what its decoder has not
// consumed yet, and behind it the last 4096 bytes, which the identity digest of a position needs.
// Holds the file's handle, its buffer and its decoder; costs some 300 KiB, so only a few are open
// at once (file_source).
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILE_READER_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILE_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "connectors/filesystem/content.h"
#include "connectors/filesystem/file_identity.h"
#include "data/format.h"

namespace weir::connectors {

inline constexpr size_t kReadBlockBytes = 256 << 10;
inline constexpr size_t kHistoryBytes = 1 << 20;

class FileReader {
 public:
  io::FileStat stat;   // when the file was opened
  uint64_t line = 1;   // at offset()
  bool begun = false;  // stands at the partition's boundary, header done
  bool looked_at_text = false;

  FileReader(std::unique_ptr<Content> content, std::unique_ptr<RowDecoder> decoder)
      : content_(std::move(content)), decoder_(std::move(decoder)) {}

  // Before the first Fill: bytes are decoded from `offset` on. Loads the window before it.
  // kNotFound: the file is shorter.
  Status Seek(uint64_t offset);
  // Reads more bytes behind what is there. False: there are none now.
  Result<bool> Fill();
  // Bytes not consumed yet, followed by kDecodePadding zeros.
  std::string_view Pending() const {
    return {buffer_.get() + (offset_ - base_), static_cast<size_t>(end_ - offset_)};
  }
  uint64_t offset() const { return offset_; }  // of Pending() in the content
  void Consume(size_t n) { offset_ += n; }
  // Bytes from here on are kept if it costs no more than kHistoryBytes: a batch may be cut at any
  // of its records.
  void KeepFrom(uint64_t offset) { keep_from_ = offset; }
  // Whether content [from, to) is in memory.
  bool Holds(uint64_t from, uint64_t to) const { return from >= base_ && to <= end_; }
  std::string_view Bytes(uint64_t from, uint64_t to) const {
    return {buffer_.get() + (from - base_), static_cast<size_t>(to - from)};
  }
  // Digest of the last min(4096, position) bytes before `position` <= offset(); they are held.
  Digest128 TailDigest(uint64_t position) const;
  // Digest of the first 4096 bytes, once offset() has passed them (of a reader that began before
  // 4096; else never).
  const std::optional<Digest128>& Head();

  Content& content() { return *content_; }
  RowDecoder& decoder() { return *decoder_; }
  std::unique_ptr<RowDecoder> TakeDecoder() { return std::move(decoder_); }  // the last call

 private:
  void Reserve(size_t bytes);

  std::unique_ptr<Content> content_;
  std::unique_ptr<RowDecoder> decoder_;
  std::unique_ptr<char[]> buffer_;  // content [base_, end_), then padding
  size_t capacity_ = 0;             // without padding
  uint64_t base_ = 0, offset_ = 0, end_ = 0;
  uint64_t keep_from_ = UINT64_MAX;
  bool last_was_full_ = false;  // the last read filled all the room there was
  std::optional<Digest128> head_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILE_READER_H_
