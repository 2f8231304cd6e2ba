// KeyedTable: the keyed state of one bucket. Open addressing from an encoded key to a slot; a slot
// is a fixed-width accumulator whose variable parts (long keys, strings of MIN and MAX) lie in an
// arena of the table.
//
// Slots are numbered in first-seen order; that order is what is iterated, frozen and restored, so
// that nothing depends on hash order. A key may have several slots (sessions): Find and FindNext
// walk them. Invariants: every live slot has exactly one index entry; a slot that changed since the
// last Freeze is in dirty_. Not here: what a fixed part means (operators/aggregates), where blobs
// are kept (store/).
//
// Memory per slot (one of more than 32 and less than 64 B takes a cache line of its own): 16 B of
// key and flags (keys of up to 12 B inside) + the fixed part + 8 B / load of index (load 0.38
// .. 0.75) + 4 B in the dirty list. Storage grows in chunks: nothing but the index is ever copied
// to grow.
#ifndef WEIR_STATE_KEYED_TABLE_H_
#define WEIR_STATE_KEYED_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"
#include "state/blob.h"

namespace weir {

// A string that an accumulator owns, in its table's arena. Zeros: the empty string.
struct VarRef {
  char* data;
  uint32_t size;
  uint32_t capacity;
  std::string_view view() const { return {data, size}; }
};
static_assert(sizeof(VarRef) == 16);

// Short keys are compared and hashed in place: a call costs more than the work. (Both only read
// within the n bytes.)
inline uint64_t LoadBytes8(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
inline uint32_t LoadBytes4(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}
inline bool EqualBytes(const char* a, const char* b, size_t n) {
  if (n > 16) return std::memcmp(a, b, n) == 0;
  if (n >= 8) {
    return ((LoadBytes8(a) ^ LoadBytes8(b)) | (LoadBytes8(a + n - 8) ^ LoadBytes8(b + n - 8))) == 0;
  }
  if (n >= 4) {
    return ((LoadBytes4(a) ^ LoadBytes4(b)) | (LoadBytes4(a + n - 4) ^ LoadBytes4(b + n - 4))) == 0;
  }
  for (size_t i = 0; i < n; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

struct SlotLayout {
  // In a blob the VarRefs of the fixed part are zeros, and the variable part is, for each of them
  // in order, u32 length and the bytes.
  uint32_t fixed_bytes = 0;  // a multiple of 8
  std::vector<uint32_t>
      variable;  // offsets of the VarRefs in the fixed part, ascending, multiples of 8
};

// Bytes that grow at one end; what is given up is counted as garbage until the owner copies the
// rest elsewhere.
class VarArena {
 public:
  char* Allocate(size_t n);
  void AddGarbage(size_t n) { garbage_ += n; }
  size_t bytes() const { return total_; }
  size_t garbage() const { return garbage_; }

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  char* at_ = nullptr;
  char* end_ = nullptr;
  size_t total_ = 0;
  size_t garbage_ = 0;
};

class KeyedTable {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  // `layout` outlives the table.
  explicit KeyedTable(const SlotLayout* layout);
  KeyedTable(KeyedTable&&) = default;
  KeyedTable& operator=(KeyedTable&&) = default;

  // Of memory only: not the hash that names buckets on disk, and it may change.
  static uint32_t HashKey(std::string_view key) {
    const size_t n = key.size();
    const char* p = key.data();
    uint64_t a = 0, b = 0;
    if (n > 16) {
      a = HashBytes(key);
    } else if (n >= 8) {
      a = LoadBytes8(p);
      b = LoadBytes8(p + n - 8);
    } else if (n >= 4) {
      a = LoadBytes4(p);
      b = LoadBytes4(p + n - 4);
    } else {
      for (size_t i = 0; i < n; ++i) a = a << 8 | static_cast<unsigned char>(p[i]);
    }
    const auto product =
        static_cast<unsigned __int128>(a ^ (0x9e3779b97f4a7c15 + n)) * (b ^ 0xd6e8feb86659fd93);
    const uint64_t mixed = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    return static_cast<uint32_t>(mixed ^ mixed >> 32);
  }

  // Probing in two passes: Prefetch for all rows, then Candidate for all rows (which prefetches the
  // slot), then FindHinted.
  void Prefetch(uint32_t hash) const { __builtin_prefetch(&index_[hash & mask_]); }
  void PrefetchSlot(uint32_t slot) const {
    if (slot < slot_end_ && ChunkOf(slot)) __builtin_prefetch(SlotAt(slot));
  }
  // The first slot of this hash, or kNone. Not yet compared.
  uint32_t Candidate(uint32_t hash) const {
    for (uint32_t at = hash & mask_;; at = (at + 1) & mask_) {
      const IndexEntry& e = index_[at];
      if (e.slot == kNone) return kNone;
      if (e.hash == hash) {
        const char* slot = SlotAt(e.slot);
        __builtin_prefetch(slot);
        __builtin_prefetch(slot + stride_ - 1);  // a slot may lie on two lines
        return e.slot;
      }
    }
  }
  bool KeyIs(uint32_t slot, std::string_view key) const {
    const SlotHead* h = HeadOf(slot);
    if ((h->size_and_flags & kSizeMask) != key.size()) return false;
    return EqualBytes(KeyData(h), key.data(), key.size());
  }
  // The first slot of `key` in the order of the index; FindNext: the one after `slot`. kNone: there
  // is none.
  uint32_t Find(uint32_t hash, std::string_view key) const;
  uint32_t FindNext(uint32_t hash, std::string_view key, uint32_t slot) const;
  // A new slot for `key`, dirty, its fixed part zeros. Pointers into other slots may move.
  uint32_t Insert(uint32_t hash, std::string_view key);
  void Erase(uint32_t slot);

  char* Fixed(uint32_t slot) { return SlotAt(slot) + kHeadBytes; }
  const char* Fixed(uint32_t slot) const { return SlotAt(slot) + kHeadBytes; }
  std::string_view Key(uint32_t slot) const {
    const SlotHead* h = HeadOf(slot);
    return {KeyData(h), h->size_and_flags & kSizeMask};
  }
  bool live(uint32_t slot) const {
    return slot < slot_end_ && ChunkOf(slot) && (HeadOf(slot)->size_and_flags & kLive);
  }
  void MarkDirty(uint32_t slot) {
    SlotHead* h = HeadOf(slot);
    if (h->size_and_flags & kDirty) return;
    h->size_and_flags |= kDirty;
    dirty_.push_back(slot);
  }
  // Makes the string at `ref` (in the fixed part of a slot of this table) a copy of `value`.
  void SetVariable(VarRef* ref, std::string_view value);
  // Takes over a string of another slot of this table: no copy.
  void MoveVariable(VarRef* to, VarRef* from);
  // Rewrites the arena when more than half of it is garbage. Call between batches: VarRefs move.
  void MaybeCompact();

  // Back to the state of a new table, with the memory of this one.
  void Clear();

  size_t size() const { return live_; }
  bool empty() const { return live_ == 0; }
  // Live slots in slot order.
  template <class F>
  void ForEach(F&& f) const {
    ForEachStored([&](uint32_t s) {
      if (HeadOf(s)->size_and_flags & kLive) f(s);
    });
  }
  uint32_t slot_end() const { return slot_end_; }

  bool dirty() const { return !dirty_.empty(); }
  size_t dirty_count() const { return dirty_.size(); }
  // What changed since the last Freeze as one blob (a gather copy); all slots are clean then.
  std::string Freeze(std::string_view meta, uint64_t* entries);
  // Applies a blob on top of those applied before. The table must have been filled by ApplyBlob
  // only. `meta` gets the blob's meta. FinishRestore ends the sequence; before it, only ApplyBlob
  // may be called.
  Status ApplyBlob(std::string_view blob, std::string* meta);
  void FinishRestore();

  uint64_t Bytes() const;

 private:
  static constexpr uint32_t kLive = 1u << 31;
  static constexpr uint32_t kDirty = 1u << 30;
  static constexpr uint32_t kSealed =
      1u << 29;  // a Freeze has written the slot: its deletion must be written too
  static constexpr uint32_t kSizeMask = kSealed - 1;
  static constexpr uint32_t kInlineKey = 12;
  static constexpr uint32_t kHeadBytes = 16;
  static constexpr uint32_t kChunkShift = 10;  // 1,024 slots
  static constexpr uint32_t kFirstChunk =
      16;  // the first chunk grows from here, for the many small buckets
  static constexpr size_t kFreeMax = 1 << 16;  // numbers of freed slots kept at a restore

  struct SlotHead {
    uint32_t size_and_flags;
    char bytes[kInlineKey];  // the key, or from byte 4 on a pointer to it
  };
  static_assert(sizeof(SlotHead) == kHeadBytes);
  struct IndexEntry {
    uint32_t hash = 0;
    uint32_t slot = kNone;
  };

  // Slots that have memory, live or not, in slot order.
  template <class F>
  void ForEachStored(F&& f) const {
    for (size_t c = 0; c < chunks_.size(); ++c) {
      if (!chunks_[c]) continue;
      const uint32_t begin = static_cast<uint32_t>(c << kChunkShift);
      const uint32_t end = std::min(slot_end_, begin + (1u << kChunkShift));
      for (uint32_t s = begin; s < end; ++s) f(s);
    }
  }
  const char* ChunkOf(uint32_t slot) const { return chunks_[slot >> kChunkShift].get(); }
  char* SlotAt(uint32_t slot) const {
    return chunks_[slot >> kChunkShift].get() + size_t{slot & ((1u << kChunkShift) - 1)} * stride_;
  }
  SlotHead* HeadOf(uint32_t slot) const { return reinterpret_cast<SlotHead*>(SlotAt(slot)); }
  static const char* KeyData(const SlotHead* h) {
    if ((h->size_and_flags & kSizeMask) <= kInlineKey) return h->bytes;
    const char* p;
    std::memcpy(&p, h->bytes + 4, sizeof p);
    return p;
  }
  VarRef* RefAt(uint32_t slot, uint32_t offset) const {
    return reinterpret_cast<VarRef*>(SlotAt(slot) + kHeadBytes + offset);
  }
  void EnsureSlot(uint32_t slot);
  void SetKey(SlotHead* h, std::string_view key);
  void ReleaseSlot(uint32_t slot);  // gives up key and variable parts
  void AddIndex(uint32_t hash, uint32_t slot);
  void RemoveIndex(uint32_t hash, uint32_t slot);
  void Rehash(uint32_t capacity);
  void FreezeSlot(uint32_t slot, class BlobWriter& writer, std::string& scratch);
  Status ApplyPut(const BlobEntry& entry);

  const SlotLayout* layout_;
  uint32_t stride_;
  std::vector<IndexEntry> index_;
  uint32_t mask_ = 0;
  struct FreeChunk {
    void operator()(char* p) const { std::free(p); }
  };
  using Chunk = std::unique_ptr<char, FreeChunk>;
  static Chunk NewChunk(size_t bytes);  // zeros, on a cache line
  std::vector<Chunk> chunks_;
  uint32_t first_chunk_slots_ = 0;
  uint64_t chunk_bytes_ = 0;
  uint32_t slot_end_ = 0;  // all slot numbers in use are below it
  size_t live_ = 0;
  std::vector<uint32_t> free_;
  std::vector<uint32_t> dirty_;
  VarArena arena_;
};

}  // namespace weir

#endif  // WEIR_STATE_KEYED_TABLE_H_
