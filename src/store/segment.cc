#include "store/segment.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/hash.h"

namespace weir::store {
namespace {

constexpr std::string_view kMagic = "weirspl\n";
constexpr size_t kNameDigits = 10;
constexpr std::string_view kSuffix = ".seg";

// Of the length field and of everything behind the CRC field.
uint32_t BlockCrc(std::string_view length, std::string_view rest) {
  return Crc32c(rest, Crc32c(length));
}

}  // namespace

std::string EncodeSegmentHeader(const SegmentHeader& header) {
  ByteWriter tail;
  tail.Append({reinterpret_cast<const char*>(header.lineage.bytes.data()), 16});
  tail.U64(header.number);
  tail.U64(header.previous);
  tail.U64(header.rows_before);
  tail.Bytes(header.sink);
  ByteWriter out;
  out.Append(kMagic);
  out.U32(kSegmentVersion);
  out.U32(static_cast<uint32_t>(kMagic.size() + 4 + 4 + tail.size() + 4));
  out.Append(tail.str());
  out.U32(Crc32c(out.str()));
  return out.Take();
}

Result<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, uint64_t* header_bytes) {
  ByteReader in(bytes);
  const bool magic = in.Take(kMagic.size()) == kMagic;
  const uint32_t version = in.U32();
  const uint32_t size = in.U32();
  if (!in.ok() || !magic) return Fail(Code::kCorruption, "no segment header");
  // Before the CRC: a newer format may check itself in another way.
  if (version > kSegmentVersion) {
    return Fail(Code::kRefused, "written by segment format " + std::to_string(version) +
                                    ", this binary reads up to " + std::to_string(kSegmentVersion));
  }
  if (size < 20 || size > bytes.size()) return Fail(Code::kCorruption, "segment header is cut off");
  ByteReader crc(bytes.substr(size - 4, 4));
  if (crc.U32() != Crc32c(bytes.substr(0, size - 4))) {
    return Fail(Code::kCorruption, "segment header does not match its CRC");
  }
  SegmentHeader header;
  const std::string_view lineage = in.Take(16);
  if (in.ok()) std::memcpy(header.lineage.bytes.data(), lineage.data(), 16);
  header.number = in.U64();
  header.previous = in.U64();
  header.rows_before = in.U64();
  header.sink = in.Bytes();
  if (!in.ok() || in.position() + 4 != size) {
    return Fail(Code::kCorruption, "segment header is damaged");
  }
  *header_bytes = size;
  return header;
}

std::string EncodeBlock(BlockKind kind, uint32_t rows, EpochId epoch, std::string_view payload) {
  ByteWriter rest;
  rest.U8(static_cast<uint8_t>(kind));
  rest.U32(rows);
  rest.U64(epoch);
  rest.Append(payload);
  ByteWriter out;
  out.U32(static_cast<uint32_t>(payload.size()));
  out.U32(BlockCrc(out.str(), rest.str()));
  out.Append(rest.str());
  return out.Take();
}

std::string EncodeEpochEnd(const EpochEnd& end) {
  ByteWriter out;
  out.Varint(end.rows);
  out.Varint(end.rows_total);
  out.U64(end.digest.low);
  out.U64(end.digest.high);
  return out.Take();
}

std::optional<EpochEnd> DecodeEpochEnd(std::string_view payload) {
  ByteReader in(payload);
  EpochEnd end;
  end.rows = in.Varint();
  end.rows_total = in.Varint();
  end.digest.low = in.U64();
  end.digest.high = in.U64();
  if (!in.ok() || !in.AtEnd() || end.rows > end.rows_total) return std::nullopt;
  return end;
}

Result<std::unique_ptr<SegmentReader>> SegmentReader::Open(io::Files& files,
                                                           const std::string& path) {
  std::unique_ptr<SegmentReader> reader(new SegmentReader());
  reader->path_ = path;
  WEIR_ASSIGN_OR_RETURN(reader->file_, files.Open(path, io::OpenMode::kRead));
  WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, reader->file_->Stat());
  reader->file_bytes_ = stat.size;
  std::string head(std::min<uint64_t>(stat.size, kSegmentHeaderBytesMax), '\0');
  WEIR_ASSIGN_OR_RETURN(const size_t got, reader->file_->ReadAt(0, head));
  head.resize(got);
  Result<SegmentHeader> header = DecodeSegmentHeader(head, &reader->first_block_);
  if (!header) return Fail(header.error().WithContext(path + ", offset 0"));
  reader->header_ = std::move(*header);
  return reader;
}

Result<std::optional<Block>> SegmentReader::At(uint64_t offset, bool read_payload) {
  if (offset + kBlockHeaderBytes > file_bytes_) return std::optional<Block>();
  char head[kBlockHeaderBytes];
  WEIR_ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(offset, head));
  if (got < kBlockHeaderBytes) return std::optional<Block>();
  ByteReader in(std::string_view(head, got));
  const uint32_t payload_bytes = in.U32();
  const uint32_t crc = in.U32();
  const uint8_t kind = in.U8();
  Block block;
  block.offset = offset;
  block.rows = in.U32();
  block.epoch = in.U64();
  block.end = offset + kBlockHeaderBytes + payload_bytes;
  // Zeros (a length that was durable before the bytes) are no block either: they have no kind.
  const bool known = kind == static_cast<uint8_t>(BlockKind::kRows) ||
                     kind == static_cast<uint8_t>(BlockKind::kEnd);
  if (!known || block.end > file_bytes_) return std::optional<Block>();
  block.kind = static_cast<BlockKind>(kind);
  if (!read_payload) return std::optional<Block>(block);
  buffer_.resize(payload_bytes);
  WEIR_ASSIGN_OR_RETURN(const size_t read,
                        file_->ReadAt(offset + kBlockHeaderBytes, std::span<char>(buffer_)));
  if (read < payload_bytes) return std::optional<Block>();
  block.payload = buffer_;
  const uint32_t over_head =
      BlockCrc(std::string_view(head, 4), std::string_view(head + 8, kBlockHeaderBytes - 8));
  block.intact = Crc32c(buffer_, over_head) == crc;
  return std::optional<Block>(block);
}

std::string SegmentName(uint64_t number) {
  std::string digits = std::to_string(number);
  if (digits.size() < kNameDigits) digits.insert(0, kNameDigits - digits.size(), '0');
  return digits + std::string(kSuffix);
}

std::optional<uint64_t> SegmentNumber(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  if (name.size() < kNameDigits || name.size() > 19) return std::nullopt;
  uint64_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return number;
}

std::vector<uint64_t> ListSegments(io::Files& files, const std::string& directory) {
  std::vector<uint64_t> numbers;
  const Result<std::vector<std::string>> names = files.List(directory);
  if (!names) return numbers;
  for (const std::string& name : *names) {
    if (const std::optional<uint64_t> number = SegmentNumber(name)) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Status CheckSegmentFormats(io::Files& files, const std::string& directory) {
  for (const uint64_t number : ListSegments(files, directory)) {
    const auto reader = SegmentReader::Open(files, io::JoinPath(directory, SegmentName(number)));
    if (!reader && reader.error().code() == Code::kRefused) return reader.error();
  }
  return Status::Ok();
}

}  // namespace weir::store
