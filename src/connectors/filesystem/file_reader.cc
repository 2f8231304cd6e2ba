#include "connectors/filesystem/file_reader.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/hash.h"

namespace weir::connectors {
namespace {

constexpr size_t kSmallBytes = 4096;

}  // namespace

Status FileReader::Seek(uint64_t offset) {
  base_ = offset - std::min(offset, kIdentityBytes);
  offset_ = end_ = base_;
  // A small file needs no large buffer: a directory may hold many.
  const uint64_t known =
      content_->compressed() ? UINT64_MAX : stat.size - std::min(stat.size, base_);
  Reserve(static_cast<size_t>(std::min<uint64_t>(known, kReadBlockBytes - kSmallBytes)) +
          kSmallBytes);
  while (end_ < offset) {
    WEIR_ASSIGN_OR_RETURN(const bool more, Fill());
    if (!more) return Status(Code::kNotFound, "shorter than " + std::to_string(offset) + " bytes");
  }
  offset_ = offset;
  return Status::Ok();
}

// Room for `bytes` in all; what is there is kept.
void FileReader::Reserve(size_t bytes) {
  if (bytes <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(bytes + kDecodePadding);
  if (buffer_ != nullptr)
    std::memcpy(larger.get(), buffer_.get(), static_cast<size_t>(end_ - base_));
  buffer_ = std::move(larger);
  capacity_ = bytes;
}

Result<bool> FileReader::Fill() {
  Head();  // the bytes may go now
  uint64_t needed = std::min(offset_, keep_from_);
  if (offset_ - needed > kHistoryBytes) needed = offset_;
  const uint64_t keep_from = std::max(base_, needed - std::min(needed, kIdentityBytes));
  if (keep_from > base_) {
    std::memmove(buffer_.get(), buffer_.get() + (keep_from - base_),
                 static_cast<size_t>(end_ - keep_from));
    base_ = keep_from;
  }
  const size_t held = static_cast<size_t>(end_ - base_);
  // A record that fills the buffer needs a larger one; the decoder bounds how long a record can be.
  const size_t room = capacity_ - held;
  if (room == 0 || (room < kReadBlockBytes / 2 && last_was_full_)) Reserve(held + kReadBlockBytes);
  WEIR_ASSIGN_OR_RETURN(const size_t n,
                        content_->ReadAt(end_, {buffer_.get() + held, capacity_ - held}));
  last_was_full_ = n == capacity_ - held;
  end_ += n;
  std::memset(buffer_.get() + held + n, 0, kDecodePadding);
  return n > 0;
}

const std::optional<Digest128>& FileReader::Head() {
  if (!head_ && base_ == 0 && offset_ >= kIdentityBytes)
    head_ = DigestBytes({buffer_.get(), kIdentityBytes});
  return head_;
}

Digest128 FileReader::TailDigest(uint64_t position) const {
  const uint64_t from = position - std::min(position, kIdentityBytes);
  CHECK(Holds(from, position));
  return DigestBytes(Bytes(from, position));
}

}  // namespace weir::connectors
