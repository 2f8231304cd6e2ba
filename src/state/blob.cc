#include "state/blob.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"

namespace weir {
namespace {

char* PutVarint(char* at, uint64_t v) {
  while (v >= 0x80) {
    *at++ = static_cast<char>(v | 0x80);
    v >>= 7;
  }
  *at++ = static_cast<char>(v);
  return at;
}

size_t VarintBytes(uint64_t v) {
  size_t n = 1;
  while (v >= 0x80) {
    v >>= 7;
    ++n;
  }
  return n;
}

char* PutBytes(char* at, std::string_view bytes) {
  at = PutVarint(at, bytes.size());
  if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
  return at + bytes.size();
}

}  // namespace

BlobWriter::BlobWriter(std::string_view meta, size_t size_hint) {
  out_.reserve(size_hint + meta.size() + 16);
  out_.resize(1 + VarintBytes(meta.size()) + meta.size());
  out_[0] = static_cast<char>(kBlobVersion);
  PutBytes(out_.data() + 1, meta);
}

char* BlobWriter::PutInPlace(uint32_t slot, std::string_view key, size_t fixed_bytes,
                             std::string_view variable) {
  CHECK(slot < kSlotLimit);
  const uint64_t head = uint64_t{slot} * 2 + 1;
  const size_t size = VarintBytes(head) + VarintBytes(key.size()) + key.size() +
                      VarintBytes(fixed_bytes) + fixed_bytes + VarintBytes(variable.size()) +
                      variable.size();
  const size_t before = out_.size();
  out_.resize(before + size);
  char* at = PutVarint(out_.data() + before, head);
  at = PutBytes(at, key);
  char* fixed = PutVarint(at, fixed_bytes);
  PutBytes(fixed + fixed_bytes, variable);
  ++entries_;
  return fixed;
}

void BlobWriter::Put(uint32_t slot, std::string_view key, std::string_view fixed,
                     std::string_view variable) {
  char* at = PutInPlace(slot, key, fixed.size(), variable);
  if (!fixed.empty()) std::memcpy(at, fixed.data(), fixed.size());
}

void BlobWriter::Delete(uint32_t slot) {
  CHECK(slot < kSlotLimit);
  char head[10];
  out_.append(head, static_cast<size_t>(PutVarint(head, uint64_t{slot} * 2) - head));
  ++entries_;
}

bool BlobReader::Damaged() {
  status_ = Status(Code::kCorruption, "state blob: damaged at byte " + std::to_string(at_));
  at_ = in_.size();
  return false;
}

bool BlobReader::Varint(uint64_t* v) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == in_.size()) return false;
    const uint8_t byte = static_cast<uint8_t>(in_[at_++]);
    if (shift == 63 && byte > 1) return false;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *v = value;
      return true;
    }
  }
  return false;
}

bool BlobReader::Bytes(std::string_view* v) {
  uint64_t size = 0;
  if (!Varint(&size) || size > in_.size() - at_) return false;
  *v = in_.substr(at_, size);
  at_ += size;
  return true;
}

Status BlobReader::Open() {
  at_ = 0;
  if (in_.empty()) {
    Damaged();
    return status_;
  }
  const uint8_t version = static_cast<uint8_t>(in_[0]);
  if (version != kBlobVersion) {
    at_ = in_.size();
    status_ = Status(Code::kCorruption, "state blob: format " + std::to_string(version) +
                                            ", this program reads " + std::to_string(kBlobVersion));
    return status_;
  }
  at_ = 1;
  if (!Bytes(&meta_)) Damaged();
  return status_;
}

bool BlobReader::Next(BlobEntry* entry) {
  if (!status_.ok() || at_ == in_.size()) return false;
  uint64_t head = 0;
  if (!Varint(&head) || head / 2 >= kSlotLimit) return Damaged();
  entry->slot = static_cast<uint32_t>(head / 2);
  entry->put = (head & 1) != 0;
  entry->key = entry->fixed = entry->variable = {};
  if (!entry->put) return true;
  if (!Bytes(&entry->key) || !Bytes(&entry->fixed) || !Bytes(&entry->variable)) return Damaged();
  return true;
}

Status ValidateBlob(std::string_view blob) {
  BlobReader reader(blob);
  WEIR_RETURN_IF_ERROR(reader.Open());
  BlobEntry entry;
  while (reader.Next(&entry)) {
  }
  return reader.status();
}

Result<std::string> MergeBlobs(std::span<const std::string_view> oldest_first) {
  std::vector<BlobEntry> entries;
  std::string_view meta;
  size_t bytes = 0;
  for (std::string_view blob : oldest_first) {
    BlobReader reader(blob);
    WEIR_RETURN_IF_ERROR(reader.Open());
    meta = reader.meta();
    bytes += blob.size();
    BlobEntry entry;
    while (reader.Next(&entry)) entries.push_back(entry);
    WEIR_RETURN_IF_ERROR(reader.status());
  }
  // Stable: of the entries of one slot the last one is the newest.
  std::stable_sort(entries.begin(), entries.end(),
                   [](const BlobEntry& a, const BlobEntry& b) { return a.slot < b.slot; });
  BlobWriter writer(meta, bytes);
  for (size_t i = 0; i < entries.size(); ++i) {
    const BlobEntry& e = entries[i];
    if (i + 1 < entries.size() && entries[i + 1].slot == e.slot) continue;
    if (e.put) writer.Put(e.slot, e.key, e.fixed, e.variable);
  }
  return writer.Take();
}

}  // namespace weir
