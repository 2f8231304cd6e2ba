// Strings of a JSON row: checked to the last byte whether they are read or not (escapes, surrogate
// pairs, UTF-8 by table 3-7 of the Unicode standard, no control bytes), and copied out in the same
// pass when they are.
#ifndef WEIR_DATA_JSON_STRING_H_
#define WEIR_DATA_JSON_STRING_H_

#include <bit>
#include <string>
#include <string_view>

#include "data/batch.h"
#include "data/json_error.h"
#include "data/json_scan.h"

namespace weir::json {

// Where values of STRING columns go: a window at the end of a batch's arena that is written ahead
// of what is known to be a string. A value always lies in one piece.
class StringSink {
 public:
  // The window that Attach opened must be closed with Detach before anybody else allocates from the
  // arena.
  void Attach(Arena& arena);
  void Detach();

  // Begins a value. At least kSlack bytes can be written at what it returns.
  char* Begin() {
    if (__builtin_expect(static_cast<size_t>(end_ - at_) < 2 * kSlack, 0)) NewWindow(kWindow);
    return at_;
  }
  // True: kSlack bytes can be written at `to`.
  bool HasRoom(const char* to) const { return static_cast<size_t>(end_ - to) >= kSlack; }
  // Moves the value begun, which ends at `to`, where more room is; returns its new end.
  char* Grow(char* to);
  // The value begun ends at `to`.
  std::string_view End(char* to) {
    const std::string_view value(at_, static_cast<size_t>(to - at_));
    at_ = to;
    return value;
  }
  std::string_view Copy(std::string_view text);

  // Gives back what values since the mark took, as far as they lie in the same window: of a refused
  // row.
  char* mark() const { return at_; }
  void Rewind(char* mark) {
    if (mark >= window_ && mark <= at_) at_ = mark;
  }

  static constexpr size_t kSlack = 32;

 private:
  static constexpr size_t kWindow = 4096;
  void NewWindow(size_t bytes);

  Arena* arena_ = nullptr;
  char* window_ = nullptr;
  char* at_ = nullptr;
  char* end_ = nullptr;
};

// Length of the well-formed sequence at p, whose first byte is >= 0x80; 0: it is ill formed.
// Table 3-7 of the Unicode standard, asked of four bytes at once; the first byte is the lowest.
inline int Utf8Sequence(const char* p) {
  const uint32_t w = Load4(p);
  // 110xxxxx 10xxxxxx; C0 and C1 would be overlong.
  if ((w & 0x0000C0E0) == 0x000080C0) return (w & 0x1E) != 0 ? 2 : 0;
  if ((w & 0x00C0C0F0) == 0x008080E0) {
    // The four bits of the first byte and the top one that counts of the second: 0 is overlong,
    // D and above are surrogates.
    const uint32_t top = w & 0x0000200F;
    return top != 0 && top != 0x0000200D ? 3 : 0;
  }
  if ((w & 0xC0C0C0F8) == 0x808080F0) {
    // F0 needs a second byte above 8F, F4 one below 90; F5 to F7 are nothing.
    const uint32_t first = w & 7, high = w & 0x00003000;
    return (first == 0 ? high != 0 : first < 4 || (first == 4 && high == 0)) ? 4 : 0;
  }
  return 0;
}
// The byte behind the escape at p ('\\'); nullptr with `failure` set.
const char* SkipEscape(const char* p, Failure& failure);
// Decodes an escape that SkipEscape accepted; writes at most 4 bytes.
const char* DecodeEscape(const char* p, char*& to);

// Continues at a byte that is neither plain nor a quote; returns the next byte that SIMD may go on
// from.
const char* SkipSpecial(const char* p, Failure& failure);
const char* CopySpecial(const char* p, StringSink& sink, char*& to, Failure& failure);

// p: behind the opening quote. Returns the byte behind the closing one.
inline const char* SkipString(const char* p, Failure& failure) {
  for (;;) {
    uint32_t mask = Scan::StringMask(p);
    if (mask == 0) {
      p += 16;
      while ((mask = Scan::StringMask(p) | Scan::StringMask(p + 16) << 16) == 0) p += 32;
    }
    p += std::countr_zero(mask);
    if (__builtin_expect(*p == '"', 1)) return p + 1;
    p = SkipSpecial(p, failure);
    if (p == nullptr) return nullptr;
  }
}

// The same, and the value, escapes decoded, goes to the sink.
inline const char* ReadString(const char* p, StringSink& sink, std::string_view& value,
                              Failure& failure) {
  char* to = sink.Begin();
  for (;;) {
    const uint32_t mask = Scan::StringMaskCopy(p, to);
    if (mask == 0) {
      p += 16;
      to += 16;
      if (__builtin_expect(!sink.HasRoom(to), 0)) to = sink.Grow(to);
      continue;
    }
    const int n = std::countr_zero(mask);
    p += n;
    to += n;
    if (__builtin_expect(*p == '"', 1)) {
      value = sink.End(to);
      return p + 1;
    }
    p = CopySpecial(p, sink, to, failure);
    if (p == nullptr) return nullptr;
  }
}

// The text between the quotes of a string that was checked, escapes decoded.
void Unescape(std::string_view checked, std::string& out);

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_STRING_H_
