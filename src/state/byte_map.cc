#include "state/byte_map.h"

#include "base/hash.h"

namespace weir {

ByteMap::ByteMap() : sealed_(kHashBuckets, 0) {
  layout_.fixed_bytes = sizeof(VarRef);
  layout_.variable = {0};
  tables_.reserve(kHashBuckets);
  for (size_t i = 0; i < kHashBuckets; ++i) tables_.emplace_back(&layout_);
}

namespace {
VarRef* ValueOf(KeyedTable& table, uint32_t slot) {
  return reinterpret_cast<VarRef*>(table.Fixed(slot));
}
std::string_view ValueOf(const KeyedTable& table, uint32_t slot) {
  return reinterpret_cast<const VarRef*>(table.Fixed(slot))->view();
}
}  // namespace

void ByteMap::Put(std::string_view key, std::string_view value) {
  const uint32_t hash = KeyedTable::HashKey(key);
  KeyedTable& table = tables_[HashBucketOf(HashBytes(key))];
  uint32_t slot = table.Find(hash, key);
  if (slot == KeyedTable::kNone) {
    slot = table.Insert(hash, key);
    ++size_;
  } else if (ValueOf(table, slot)->view() == value) {
    return;
  }
  table.SetVariable(ValueOf(table, slot), value);
  table.MarkDirty(slot);
}

void ByteMap::Erase(std::string_view key) {
  const uint32_t hash = KeyedTable::HashKey(key);
  KeyedTable& table = tables_[HashBucketOf(HashBytes(key))];
  const uint32_t slot = table.Find(hash, key);
  if (slot == KeyedTable::kNone) return;
  table.Erase(slot);
  --size_;
}

std::optional<std::string_view> ByteMap::Get(std::string_view key) const {
  const uint32_t hash = KeyedTable::HashKey(key);
  const KeyedTable& table = tables_[HashBucketOf(HashBytes(key))];
  const uint32_t slot = table.Find(hash, key);
  if (slot == KeyedTable::kNone) return std::nullopt;
  return ValueOf(table, slot);
}

void ByteMap::ForEach(
    const std::function<void(std::string_view key, std::string_view value)>& f) const {
  for (const KeyedTable& table : tables_) {
    table.ForEach([&](uint32_t slot) { f(table.Key(slot), ValueOf(table, slot)); });
  }
}

bool ByteMap::dirty() const {
  for (const KeyedTable& table : tables_) {
    if (table.dirty()) return true;
  }
  return false;
}

void ByteMap::Freeze(std::vector<FrozenBucket>& out) {
  for (size_t i = 0; i < tables_.size(); ++i) {
    KeyedTable& table = tables_[i];
    if (!table.dirty()) continue;
    FrozenBucket frozen;
    frozen.bucket.assign(1, static_cast<char>(i));
    frozen.blob = table.Freeze({}, &frozen.entries);
    table.MaybeCompact();
    if (table.empty()) {
      if (!sealed_[i]) continue;  // came and went within the epoch
      frozen.dropped = true;
      frozen.blob.clear();
      frozen.entries = 0;
      table = KeyedTable(&layout_);
    }
    if (!frozen.dropped && frozen.entries == 0) continue;
    sealed_[i] = !frozen.dropped;
    out.push_back(std::move(frozen));
  }
}

Status ByteMap::ApplyBlob(std::string_view bucket, std::string_view blob) {
  if (bucket.size() != 1 || static_cast<uint8_t>(bucket[0]) >= kHashBuckets) {
    return Status(Code::kCorruption, "state: no such hash bucket");
  }
  const size_t i = static_cast<uint8_t>(bucket[0]);
  std::string meta;
  WEIR_RETURN_IF_ERROR(tables_[i].ApplyBlob(blob, &meta));
  sealed_[i] = 1;
  return Status::Ok();
}

void ByteMap::FinishRestore() {
  size_ = 0;
  for (KeyedTable& table : tables_) {
    table.FinishRestore();
    size_ += table.size();
  }
}

uint64_t ByteMap::Bytes() const {
  uint64_t bytes = 0;
  for (const KeyedTable& table : tables_) bytes += table.Bytes();
  return bytes;
}

}  // namespace weir
