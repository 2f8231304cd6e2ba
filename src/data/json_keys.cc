#include "data/json_keys.h"

#include "base/check.h"

namespace weir::json {

KeyTable::KeyTable(const std::vector<std::string>& names) {
  size_t size = 4;
  while (size < 2 * names.size()) size *= 2;
  entries_.resize(size);
  mask_ = size - 1;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    char padded[8] = {};
    std::memcpy(padded, name.data(), name.size() < 8 ? name.size() : 8);
    const uint64_t head = Head(padded, name.size());
    size_t at = Hash(head, name.size()) & mask_;
    while (entries_[at].column >= 0) {
      CHECK(entries_[at].name != name);
      at = (at + 1) & mask_;
    }
    entries_[at] = Entry{head, static_cast<int>(i), name};
  }
}

KeySlots::KeySlots() {
  for (int i = 0; i < kSlots; ++i) slots_[i].next = &slots_[i + 1];
  slots_[kSlots].next = &slots_[kSlots];
}

void KeySlots::Learn(const Slot* slot, const char* begin, const char* end, int action,
                     JsonColumn* column) {
  ++misses_;
  if (slot == slots_ + kSlots) return;
  Slot& learned = slots_[slot - slots_];
  const size_t length = static_cast<size_t>(end - begin);
  if (length > sizeof learned.bytes) {
    learned.action = kUnknown;
    return;
  }
  std::memcpy(learned.bytes, begin, length);
  learned.ignored = length == 32 ? 0 : ~uint32_t{0} << length;
  learned.length = static_cast<int>(length);
  learned.action = action;
  learned.column = column;
}

void KeySlots::EndPeriod() {
  guessing_ = !guessing_ || misses_ <= kTrialRows;
  rows_left_ = guessing_ ? kTrialRows : kRestRows;
  misses_ = 0;
}

}  // namespace weir::json
