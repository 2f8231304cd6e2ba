#include "state/keyed_table.h"

#include <algorithm>

namespace weir {
namespace {

constexpr size_t kArenaChunkMin = 512;
constexpr size_t kArenaChunkMax = 64 << 10;
constexpr size_t kGarbageMin = 4 << 10;  // less is not worth a rewrite
constexpr uint32_t kIndexMin = 16;
constexpr size_t kLine = 64;

size_t RoundUp8(size_t n) { return (n + 7) & ~size_t{7}; }

}  // namespace

char* VarArena::Allocate(size_t n) {
  if (n > static_cast<size_t>(end_ - at_)) {
    // Each chunk as large as all before it, up to a limit: small tables stay small, large ones have
    // few chunks.
    const size_t size = std::max(n, std::clamp(total_, kArenaChunkMin, kArenaChunkMax));
    garbage_ += static_cast<size_t>(end_ - at_);
    chunks_.push_back({std::unique_ptr<char[]>(new char[size]), size});
    total_ += size;
    at_ = chunks_.back().bytes.get();
    end_ = at_ + size;
  }
  char* p = at_;
  at_ += n;
  return p;
}

KeyedTable::KeyedTable(const SlotLayout* layout)
    : layout_(layout), stride_(kHeadBytes + layout->fixed_bytes) {
  // Half of the slots of such a size would lie on two cache lines, and each row would wait for
  // both.
  if (stride_ > kLine / 2 && stride_ < kLine) stride_ = kLine;
  CHECK(layout->fixed_bytes % 8 == 0);
  Rehash(kIndexMin);
}

void KeyedTable::Rehash(uint32_t capacity) {
  std::vector<IndexEntry> old(capacity);
  old.swap(index_);
  mask_ = capacity - 1;
  for (const IndexEntry& e : old) {
    if (e.slot != kNone) AddIndex(e.hash, e.slot);
  }
}

void KeyedTable::AddIndex(uint32_t hash, uint32_t slot) {
  uint32_t at = hash & mask_;
  while (index_[at].slot != kNone) at = (at + 1) & mask_;
  index_[at] = {hash, slot};
}

void KeyedTable::RemoveIndex(uint32_t hash, uint32_t slot) {
  uint32_t at = hash & mask_;
  while (index_[at].slot != slot) {
    CHECK(index_[at].slot != kNone);
    at = (at + 1) & mask_;
  }
  // Backward shift: an entry behind the gap moves into it unless it lies at or behind its own home
  // already.
  for (uint32_t next = (at + 1) & mask_; index_[next].slot != kNone; next = (next + 1) & mask_) {
    const uint32_t home = index_[next].hash & mask_;
    if (((next - home) & mask_) >= ((next - at) & mask_)) {
      index_[at] = index_[next];
      at = next;
    }
  }
  index_[at] = IndexEntry{};
}

uint32_t KeyedTable::Find(uint32_t hash, std::string_view key) const {
  for (uint32_t at = hash & mask_;; at = (at + 1) & mask_) {
    const IndexEntry& e = index_[at];
    if (e.slot == kNone) return kNone;
    if (e.hash == hash && KeyIs(e.slot, key)) return e.slot;
  }
}

uint32_t KeyedTable::FindNext(uint32_t hash, std::string_view key, uint32_t slot) const {
  uint32_t at = hash & mask_;
  while (index_[at].slot != slot) {
    if (index_[at].slot == kNone) return kNone;
    at = (at + 1) & mask_;
  }
  for (at = (at + 1) & mask_;; at = (at + 1) & mask_) {
    const IndexEntry& e = index_[at];
    if (e.slot == kNone) return kNone;
    if (e.hash == hash && KeyIs(e.slot, key)) return e.slot;
  }
}

KeyedTable::Chunk KeyedTable::NewChunk(size_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  char* p = static_cast<char*>(std::aligned_alloc(kLine, bytes));
  CHECK(p != nullptr);
  std::memset(p, 0, bytes);
  return Chunk(p);
}

void KeyedTable::Clear() {
  std::fill(index_.begin(), index_.end(), IndexEntry{});
  for (size_t c = 0; c < chunks_.size(); ++c) {
    if (!chunks_[c]) continue;
    const size_t slots = c == 0 ? first_chunk_slots_ : size_t{1} << kChunkShift;
    const size_t used = std::min(slots, slot_end_ - std::min<size_t>(slot_end_, c << kChunkShift));
    std::memset(chunks_[c].get(), 0, used * stride_);
  }
  slot_end_ = 0;
  live_ = 0;
  free_.clear();
  dirty_.clear();
  arena_ = VarArena();
}

void KeyedTable::EnsureSlot(uint32_t slot) {
  constexpr uint32_t kChunkSlots = 1u << kChunkShift;
  const uint32_t chunk = slot >> kChunkShift;
  if (chunk >= chunks_.size()) chunks_.resize(chunk + 1);
  slot_end_ = std::max(slot_end_, slot + 1);
  if (chunk > 0 && !chunks_[chunk]) {
    chunks_[chunk] = NewChunk(size_t{kChunkSlots} * stride_);
    chunk_bytes_ += size_t{kChunkSlots} * stride_;
  }
  // The first chunk grows, but is whole (or not there at all) as soon as there is another one.
  if (chunk > 0 && first_chunk_slots_ == 0) return;
  const uint32_t wanted = std::min(slot_end_, kChunkSlots);
  if (first_chunk_slots_ >= wanted) return;
  uint32_t slots = std::max(kFirstChunk, first_chunk_slots_);
  while (slots < wanted) slots *= 2;
  Chunk grown = NewChunk(size_t{slots} * stride_);
  if (first_chunk_slots_ > 0) {
    std::memcpy(grown.get(), chunks_[0].get(), size_t{first_chunk_slots_} * stride_);
  }
  chunk_bytes_ += size_t{slots - first_chunk_slots_} * stride_;
  chunks_[0] = std::move(grown);
  first_chunk_slots_ = slots;
}

void KeyedTable::SetKey(SlotHead* h, std::string_view key) {
  CHECK(key.size() <= kSizeMask);
  h->size_and_flags = (h->size_and_flags & ~kSizeMask) | static_cast<uint32_t>(key.size());
  if (key.size() <= kInlineKey) {
    if (!key.empty()) std::memcpy(h->bytes, key.data(), key.size());
    return;
  }
  char* copy = arena_.Allocate(key.size());
  std::memcpy(copy, key.data(), key.size());
  std::memcpy(h->bytes + 4, &copy, sizeof copy);
}

uint32_t KeyedTable::Insert(uint32_t hash, std::string_view key) {
  uint32_t slot;
  if (!free_.empty()) {
    slot = free_.back();
    free_.pop_back();
    EnsureSlot(slot);
  } else {
    slot = slot_end_;
    CHECK(slot < kSlotLimit);
    EnsureSlot(slot);
  }
  SlotHead* h = HeadOf(slot);
  h->size_and_flags |= kLive;
  SetKey(h, key);
  std::memset(Fixed(slot), 0, layout_->fixed_bytes);
  ++live_;
  if (live_ * 4 > index_.size() * 3) Rehash(static_cast<uint32_t>(index_.size() * 2));
  AddIndex(hash, slot);
  MarkDirty(slot);
  return slot;
}

void KeyedTable::ReleaseSlot(uint32_t slot) {
  const size_t key_size = HeadOf(slot)->size_and_flags & kSizeMask;
  if (key_size > kInlineKey) arena_.AddGarbage(key_size);
  for (uint32_t offset : layout_->variable) {
    VarRef* ref = RefAt(slot, offset);
    arena_.AddGarbage(ref->capacity);
    *ref = VarRef{};
  }
}

void KeyedTable::Erase(uint32_t slot) {
  RemoveIndex(HashKey(Key(slot)), slot);
  ReleaseSlot(slot);
  MarkDirty(slot);
  SlotHead* h = HeadOf(slot);
  h->size_and_flags &= ~(kLive | kSizeMask);
  --live_;
  free_.push_back(slot);
}

void KeyedTable::SetVariable(VarRef* ref, std::string_view value) {
  CHECK(value.size() <= kSizeMask);
  if (value.size() > ref->capacity) {
    arena_.AddGarbage(ref->capacity);
    ref->capacity = static_cast<uint32_t>(RoundUp8(value.size()));
    ref->data = arena_.Allocate(ref->capacity);
  }
  if (!value.empty()) std::memcpy(ref->data, value.data(), value.size());
  ref->size = static_cast<uint32_t>(value.size());
}

void KeyedTable::MoveVariable(VarRef* to, VarRef* from) {
  arena_.AddGarbage(to->capacity);
  *to = *from;
  *from = VarRef{};
}

void KeyedTable::MaybeCompact() {
  if (arena_.garbage() < kGarbageMin || arena_.garbage() * 2 < arena_.bytes()) return;
  VarArena old = std::move(arena_);
  arena_ = VarArena();
  ForEach([&](uint32_t slot) {
    SlotHead* h = HeadOf(slot);
    const std::string_view key = Key(slot);
    if (key.size() > kInlineKey) SetKey(h, key);
    for (uint32_t offset : layout_->variable) {
      VarRef* ref = RefAt(slot, offset);
      const std::string_view value = ref->view();
      *ref = VarRef{};
      if (!value.empty()) SetVariable(ref, value);
    }
  });
}

void KeyedTable::FreezeSlot(uint32_t slot, BlobWriter& writer, std::string& scratch) {
  SlotHead* h = HeadOf(slot);
  if (!(h->size_and_flags & kLive)) {
    if (h->size_and_flags & kSealed) writer.Delete(slot);
    h->size_and_flags &= ~(kDirty | kSealed);
    return;
  }
  scratch.clear();
  for (uint32_t offset : layout_->variable) {
    const std::string_view value = RefAt(slot, offset)->view();
    uint32_t size = static_cast<uint32_t>(value.size());
    char bytes[4];
    std::memcpy(bytes, &size, 4);
    scratch.append(bytes, 4);
    scratch.append(value);
  }
  const char* fixed = SlotAt(slot) + kHeadBytes;
  char* at = writer.PutInPlace(slot, Key(slot), layout_->fixed_bytes, scratch);
  if (layout_->fixed_bytes > 0) std::memcpy(at, fixed, layout_->fixed_bytes);
  // Addresses are not state: two runs with the same input write the same blob.
  for (uint32_t offset : layout_->variable) std::memset(at + offset, 0, sizeof(VarRef));
  h->size_and_flags = (h->size_and_flags & ~kDirty) | kSealed;
}

std::string KeyedTable::Freeze(std::string_view meta, uint64_t* entries) {
  BlobWriter writer(meta, dirty_.size() * (layout_->fixed_bytes + kInlineKey + 8));
  std::string scratch;
  if (dirty_.size() * 4 >= slot_end_) {
    // Many are dirty: in slot order, which is the order of memory, instead of the order of change.
    ForEachStored([&](uint32_t s) {
      if (HeadOf(s)->size_and_flags & kDirty) FreezeSlot(s, writer, scratch);
    });
  } else {
    for (uint32_t s : dirty_) FreezeSlot(s, writer, scratch);
  }
  // The list of an epoch with many changes is not kept for all that follow.
  if (dirty_.capacity() > 2 * dirty_.size() + 64) dirty_.shrink_to_fit();
  dirty_.clear();
  *entries = writer.entries();
  return writer.Take();
}

Status KeyedTable::ApplyPut(const BlobEntry& entry) {
  const Status damaged(Code::kCorruption,
                       "state blob: slot " + std::to_string(entry.slot) + " does not fit the plan");
  if (entry.fixed.size() != layout_->fixed_bytes || entry.key.size() > kSizeMask) return damaged;
  if (live(entry.slot)) {
    // The index is made in FinishRestore: a put of a number that is used again needs no hash here.
    ReleaseSlot(entry.slot);
    --live_;
  }
  EnsureSlot(entry.slot);
  SlotHead* h = HeadOf(entry.slot);
  h->size_and_flags = kLive | kSealed;
  SetKey(h, entry.key);
  if (!entry.fixed.empty()) std::memcpy(Fixed(entry.slot), entry.fixed.data(), entry.fixed.size());
  ++live_;
  std::string_view rest = entry.variable;
  for (uint32_t offset : layout_->variable) *RefAt(entry.slot, offset) = VarRef{};
  for (uint32_t offset : layout_->variable) {
    uint32_t size = 0;
    if (rest.size() < 4) return damaged;
    std::memcpy(&size, rest.data(), 4);
    rest.remove_prefix(4);
    if (size > rest.size() || size > kSizeMask) return damaged;
    if (size > 0) SetVariable(RefAt(entry.slot, offset), rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return rest.empty() ? Status::Ok() : damaged;
}

Status KeyedTable::ApplyBlob(std::string_view blob, std::string* meta) {
  BlobReader reader(blob);
  WEIR_RETURN_IF_ERROR(reader.Open());
  BlobEntry entry;
  while (reader.Next(&entry)) {
    if (entry.put) {
      WEIR_RETURN_IF_ERROR(ApplyPut(entry));
    } else if (live(entry.slot)) {
      ReleaseSlot(entry.slot);
      HeadOf(entry.slot)->size_and_flags = 0;
      --live_;
    }
  }
  WEIR_RETURN_IF_ERROR(reader.status());
  meta->assign(reader.meta());
  return Status::Ok();
}

void KeyedTable::FinishRestore() {
  uint32_t capacity = kIndexMin;
  while (live_ * 4 > size_t{capacity} * 3) capacity *= 2;
  index_.clear();
  Rehash(capacity);
  free_.clear();
  dirty_.clear();
  ForEachStored([&](uint32_t s) {
    if (live(s)) {
      AddIndex(HashKey(Key(s)), s);
    } else if (free_.size() < kFreeMax) {
      free_.push_back(s);
    }
  });
  // The lowest number first, so that a table stays dense.
  std::reverse(free_.begin(), free_.end());
  MaybeCompact();
}

uint64_t KeyedTable::Bytes() const {
  return chunk_bytes_ + chunks_.capacity() * sizeof(chunks_[0]) +
         index_.capacity() * sizeof(IndexEntry) + arena_.bytes() +
         (free_.capacity() + dirty_.capacity()) * sizeof(uint32_t);
}

}  // namespace weir
