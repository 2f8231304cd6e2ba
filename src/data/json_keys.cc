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

void KeySlots::Learn(int i, const char* begin, const char* end, int action) {
  ++misses_;
  if (i >= kSlots) return;
  Slot& slot = slots_[i];
  const size_t length = static_cast<size_t>(end - begin);
  if (length > sizeof slot.bytes) {
    slot = Slot{};
    return;
  }
  std::memcpy(slot.bytes, begin, length);
  slot.asked = length == 32 ? 0xffffffff : (uint32_t{1} << length) - 1;
  slot.want = slot.asked;
  slot.length = static_cast<int>(length);
  slot.action = action;
}

void KeySlots::EndPeriod() {
  predicting_ = !predicting_ || misses_ <= kTrialRows;
  rows_left_ = predicting_ ? kTrialRows : kRestRows;
  misses_ = 0;
}

}  // namespace weir::json
