#include "connectors/filesystem/content.h"

#include <algorithm>

#include "base/hash.h"
#include "connectors/filesystem/file_identity.h"

namespace weir::connectors {
namespace {

constexpr size_t kInputBytes = 64 << 10;

// Compressed in a way that is not read here. Taken for text, such a file would be a dead letter for
// every scrap between two bytes that happen to be line feeds.
std::string_view ForeignCompression(std::string_view head) {
  static constexpr struct {
    std::string_view magic, name;
  } kForeign[] = {
      {{"\xfd"
        "7zXZ\0",
        6},
       "xz"},
      {{"PK\x03\x04", 4}, "zip"},
      {{"\x04\x22\x4d\x18", 4}, "lz4"},
      {{"7z\xbc\xaf\x27\x1c", 6}, "7z"},
  };
  for (const auto& foreign : kForeign) {
    if (head.starts_with(foreign.magic)) return foreign.name;
  }
  // BZh, the block size, and the digits of pi that begin a block.
  const bool bzip2 = head.starts_with("BZh") && head.size() >= 10 && head.substr(4, 6) == "1AY&SY";
  return bzip2 ? "bzip2" : "";
}
constexpr size_t kForeignMagicBytes = 10;

}  // namespace

Result<std::unique_ptr<Content>> Content::Open(io::Files& files, const std::string& path,
                                               uint64_t limit, io::Heartbeat* heartbeat) {
  WEIR_ASSIGN_OR_RETURN(auto file, files.Open(path, io::OpenMode::kRead));
  return std::unique_ptr<Content>(new Content(std::move(file), path, limit, heartbeat));
}

Result<size_t> Content::ReadDisk(uint64_t offset, std::span<char> out) {
  if (offset >= limit_) return size_t{0};
  return file_->ReadAt(
      offset, out.first(static_cast<size_t>(std::min<uint64_t>(out.size(), limit_ - offset))));
}

// A followed file may have been born a moment ago: until its first four bytes are there, what could
// be a magic number is not taken for text.
Status Content::DetectKind() {
  if (kind_known_) return Status::Ok();
  static_assert(kForeignMagicBytes >= Inflater::kMagicBytes);
  magic_.resize(kForeignMagicBytes);
  WEIR_ASSIGN_OR_RETURN(const size_t n, ReadDisk(0, magic_));
  magic_.resize(n);
  if (const std::string_view foreign = ForeignCompression(magic_); !foreign.empty()) {
    return Status(Code::kCorruption, path_ + " is compressed with " + std::string(foreign) +
                                         ": gzip and zstd are read, else keep it out of the path");
  }
  kind_known_ = n >= Inflater::kMagicBytes;
  compressed_ = Inflater::ForMagic(magic_) != nullptr;
  return Status::Ok();
}

Result<size_t> Content::ReadAt(uint64_t offset, std::span<char> out) {
  WEIR_RETURN_IF_ERROR(DetectKind());
  if (!compressed()) {
    WEIR_ASSIGN_OR_RETURN(const size_t n, ReadDisk(offset, out));
    disk_at_ = std::max(disk_at_, offset + n);
    return n;
  }
  if (inflater_ == nullptr || offset < stream_at_) WEIR_RETURN_IF_ERROR(StartStream());
  std::string skipped;
  while (stream_at_ < offset) {
    skipped.resize(static_cast<size_t>(std::min<uint64_t>(offset - stream_at_, kInputBytes)));
    WEIR_ASSIGN_OR_RETURN(const size_t n, ReadStream(skipped));
    if (n == 0) return size_t{0};
    WEIR_RETURN_IF_ERROR(io::Beat(heartbeat_, "inflating", path_));
  }
  size_t done = 0;
  while (done < out.size()) {
    const auto n = ReadStream(out.subspan(done));
    // What came before the damage counts; the next read says what is wrong.
    if (!n.has_value() && done == 0) return Fail(n.error());
    if (!n.has_value() || *n == 0) break;
    done += *n;
  }
  return done;
}

Status Content::StartStream() {
  inflater_ = Inflater::ForMagic(magic_);
  damage_ = Status::Ok();
  stream_at_ = 0;
  disk_at_ = 0;
  input_.resize(kInputBytes);
  input_at_ = input_end_ = 0;
  return Status::Ok();
}

// Some bytes of the stream; 0 when there are no more on disk.
Result<size_t> Content::ReadStream(std::span<char> out) {
  if (!damage_.ok()) return Fail(damage_);
  for (;;) {
    if (input_at_ == input_end_) {
      WEIR_ASSIGN_OR_RETURN(const size_t n, ReadDisk(disk_at_, input_));
      input_at_ = 0;
      input_end_ = n;
      disk_at_ += n;
    }
    const std::string_view input(input_.data() + input_at_, input_end_ - input_at_);
    // Also without input: the last call may have stopped because `out` was full.
    const auto step = inflater_->Inflate(input, out);
    if (!step.has_value()) {
      damage_ = step.error().WithContext(path_);
      return Fail(damage_);
    }
    input_at_ += step->consumed;
    stream_at_ += step->produced;
    if (step->produced > 0) return step->produced;
    if (input.empty()) return size_t{0};
  }
}

Status ReadToEnd(Content& content, uint64_t offset) {
  std::string bytes(kInputBytes, '\0');
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const size_t n, content.ReadAt(offset, bytes));
    if (n == 0) return Status::Ok();
    offset += n;
  }
}

Result<ContentDigests> DigestsAt(Content& content, uint64_t offset) {
  const size_t window = static_cast<size_t>(std::min(offset, kIdentityBytes));
  std::string bytes(window, '\0');
  ContentDigests out;
  WEIR_ASSIGN_OR_RETURN(const size_t head, content.ReadAt(0, bytes));
  if (head < window) return Fail(Code::kNotFound, "shorter than before");
  out.head = DigestBytes(bytes);
  WEIR_ASSIGN_OR_RETURN(const size_t tail, content.ReadAt(offset - window, bytes));
  if (tail < window) return Fail(Code::kNotFound, "shorter than before");
  out.tail = DigestBytes(bytes);
  return out;
}

}  // namespace weir::connectors
