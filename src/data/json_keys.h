// Which column a key names, and the guess that saves asking.
//
// Rows of one stream look alike, so the bytes between two values - separator, key, colon, blanks -
// are mostly those of the row before. KeySlots remembers them by their ordinal in the row: one
// compare of 32 bytes checks all of it. A miss takes the checked path and replaces the memory.
// Nothing that a decoder returns depends on what the slots hold.
#ifndef WEIR_DATA_JSON_KEYS_H_
#define WEIR_DATA_JSON_KEYS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/json_scan.h"

namespace weir::json {

// What stands between two values, when it is no column's key: an unread one, or the end of the row.
inline constexpr int kSkipValue = -1;
inline constexpr int kCloseRow = -2;
inline constexpr int kUnknown = -3;  // not checked yet

// From a key's bytes to its column, by length and first eight bytes.
class KeyTable {
 public:
  explicit KeyTable(
      const std::vector<std::string>& names);  // column i is names[i]; no two are equal

  // The column, or kSkipValue. Eight bytes at `key` are readable, whatever its length.
  int Find(const char* key, size_t length) const {
    const uint64_t head = Head(key, length);
    for (size_t at = Hash(head, length) & mask_;; at = (at + 1) & mask_) {
      const Entry& entry = entries_[at];
      if (entry.column < 0) return kSkipValue;
      if (entry.head == head && entry.name.size() == length &&
          (length <= 8 || std::memcmp(key + 8, entry.name.data() + 8, length - 8) == 0)) {
        return entry.column;
      }
    }
  }

 private:
  struct Entry {
    uint64_t head = 0;
    int column = kSkipValue;
    std::string name;
  };
  static uint64_t Head(const char* key, size_t length) {
    const uint64_t head = Load8(key);
    return length >= 8 ? head : head & ((uint64_t{1} << (8 * length)) - 1);
  }
  static size_t Hash(uint64_t head, size_t length) {
    return static_cast<size_t>((head ^ length * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93 >> 32);
  }

  std::vector<Entry> entries_;  // open addressing, at most half full
  size_t mask_ = 0;
};

class JsonColumn;

class KeySlots {
 public:
  struct alignas(64) Slot {
    char bytes[32] = {};
    uint32_t ignored = 0;  // which of the 32 compares do not count
    int length = 0;
    int action = kUnknown;  // an empty slot may match by chance, and then says so
    JsonColumn* column = nullptr;
    const Slot* next = nullptr;

    bool Matches(const char* p) const { return (Scan::EqualMask32(p, bytes) | ignored) == ~0u; }
  };

  KeySlots();
  KeySlots(const KeySlots&) = delete;  // slots point to one another
  KeySlots& operator=(const KeySlots&) = delete;

  // The memory for what stands before a row's first value; its `next` is for the second, and so on.
  // Behind the last one comes one that stays empty.
  const Slot* First() const { return slots_; }
  // [begin, end) was checked, was no match for `slot`, and means `action`.
  void Learn(const Slot* slot, const char* begin, const char* end, int action, JsonColumn* column);

  // The guess is given up for a while when it misses more than once a row on average, as with
  // shuffled keys.
  bool guessing() const { return guessing_; }
  void EndRow() {
    if (--rows_left_ == 0) EndPeriod();
  }

 private:
  static constexpr int kSlots = 64;
  static constexpr int kTrialRows = 256;
  static constexpr int kRestRows = 31 * kTrialRows;
  void EndPeriod();

  Slot slots_[kSlots + 1];
  bool guessing_ = true;
  int rows_left_ = kTrialRows;
  int misses_ = 0;
};

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_KEYS_H_
