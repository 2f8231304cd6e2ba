#include "connectors/filesystem/file_identity.h"

#include "base/bytes.h"
#include "base/text.h"

namespace weir::connectors {
namespace {

constexpr uint8_t kFileVersion = 1;
constexpr uint8_t kListVersion = 1;
constexpr uint8_t kFinished = 1, kHasEnd = 2, kHasLine = 4;
constexpr uint8_t kGapAccepted = 1;

void WriteDigest(ByteWriter& out, const Digest128& digest) {
  out.U64(digest.low);
  out.U64(digest.high);
}

Digest128 ReadDigest(ByteReader& in) {
  Digest128 digest;
  digest.low = in.U64();
  digest.high = in.U64();
  return digest;
}

}  // namespace

std::string EncodeSavedFile(const SavedFile& file) {
  ByteWriter out;
  out.U8(kFileVersion);
  out.U8(static_cast<uint8_t>((file.finished ? kFinished : 0) | (file.end ? kHasEnd : 0) |
                              (file.line > 0 ? kHasLine : 0)));
  out.Bytes(file.path);
  out.Varint(file.key.device);
  out.Varint(file.key.inode);
  out.Varint(file.offset);
  if (file.offset > kIdentityBytes) WriteDigest(out, file.head);
  if (file.offset > 0) WriteDigest(out, file.tail);
  if (file.end) {
    out.Varint(file.end->size);
    out.I64(file.end->mtime_ns);
    out.I64(file.end->ctime_ns);
  }
  if (file.line > 0) out.Varint(file.line);
  return out.Take();
}

std::optional<SavedFile> DecodeSavedFile(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kFileVersion) return std::nullopt;
  const uint8_t flags = in.U8();
  SavedFile file;
  file.finished = (flags & kFinished) != 0;
  file.path = std::string(in.Bytes());
  file.key.device = in.Varint();
  file.key.inode = in.Varint();
  file.offset = in.Varint();
  if (file.offset > kIdentityBytes) file.head = ReadDigest(in);
  if (file.offset > 0) file.tail = ReadDigest(in);
  if (file.offset <= kIdentityBytes) file.head = file.tail;
  if ((flags & kHasEnd) != 0) {
    EndMark& end = file.end.emplace();
    end.size = in.Varint();
    end.mtime_ns = in.I64();
    end.ctime_ns = in.I64();
  }
  if ((flags & kHasLine) != 0) file.line = in.Varint();
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return file;
}

std::string EncodeFileList(const std::vector<ListedFile>& files) {
  ByteWriter out;
  out.U8(kListVersion);
  out.Varint(files.size());
  std::string_view before;
  for (const ListedFile& file : files) {
    size_t shared = 0;
    while (shared < before.size() && shared < file.path.size() &&
           before[shared] == file.path[shared])
      ++shared;
    out.Varint(file.number);
    out.Varint(shared);
    out.Bytes(std::string_view(file.path).substr(shared));
    out.Varint(file.key.device);
    out.Varint(file.key.inode);
    out.Varint(file.size);
    out.I64(file.mtime_ns);
    out.U8(file.gap_accepted ? kGapAccepted : 0);
    before = file.path;
  }
  return out.Take();
}

std::optional<std::vector<ListedFile>> DecodeFileList(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kListVersion) return std::nullopt;
  const uint64_t count = in.Varint();
  std::vector<ListedFile> files;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    ListedFile file;
    file.number = in.Varint();
    const uint64_t shared = in.Varint();
    if (shared > (files.empty() ? 0 : files.back().path.size())) return std::nullopt;
    if (shared > 0) file.path = files.back().path.substr(0, shared);
    file.path += in.Bytes();
    file.key.device = in.Varint();
    file.key.inode = in.Varint();
    file.size = in.Varint();
    file.mtime_ns = in.I64();
    file.gap_accepted = (in.U8() & kGapAccepted) != 0;
    files.push_back(std::move(file));
  }
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return files;
}

std::string PartitionKey(uint64_t number) { return "f" + std::to_string(number); }

std::optional<uint64_t> PartitionNumber(std::string_view key) {
  if (key.size() < 2 || key.size() > 19 || key[0] != 'f') return std::nullopt;
  const auto number = ParseInt64(key.substr(1));
  if (!number || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

}  // namespace weir::connectors
