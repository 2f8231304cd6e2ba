// Questions about 16 or 32 bytes of JSON at a time: the only place of the decoder that knows a
// vector instruction set.
//
// Every structure answers the same questions; `Scan` is the one for this machine. SSE2 is the
// baseline of x86-64, so there is no run-time dispatch and no build for a newer CPU. NEON is the
// twin for arm64. The portable one is the reference that json_scan_test holds the others against;
// -DWEIR_JSON_PORTABLE builds the whole decoder with it.
//
// All loads may run past the row, never past kDecodePadding bytes behind the block (data/format.h).
#ifndef WEIR_DATA_JSON_SCAN_H_
#define WEIR_DATA_JSON_SCAN_H_

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace weir::json {

static_assert(std::endian::native == std::endian::little,
              "numbers are read eight digits at a time");

inline uint64_t Load8(const char* p) {
  uint64_t v;
  std::memcpy(&v, p, 8);
  return v;
}
inline uint32_t Load4(const char* p) {
  uint32_t v;
  std::memcpy(&v, p, 4);
  return v;
}

struct ScanPortable {
  // Bit i: byte i ends a plain run of string bytes: '"', '\\', a control byte, or a byte beyond
  // ASCII.
  static uint32_t StringMask(const char* p) {
    uint32_t mask = 0;
    for (int i = 0; i < 16; ++i) {
      const unsigned char c = static_cast<unsigned char>(p[i]);
      if (c == '"' || c == '\\' || c < 0x20 || c >= 0x80) mask |= 1u << i;
    }
    return mask;
  }
  // The same, and the 16 bytes are copied.
  static uint32_t StringMaskCopy(const char* p, char* to) {
    std::memmove(to, p, 16);
    return StringMask(p);
  }
  // Bit i: byte i is no decimal digit.
  static uint32_t NonDigitMask(const char* p) {
    uint32_t mask = 0;
    for (int i = 0; i < 16; ++i) {
      if (p[i] < '0' || p[i] > '9') mask |= 1u << i;
    }
    return mask;
  }
  static bool Equal16(const char* a, const char* b) { return std::memcmp(a, b, 16) == 0; }
  // Bit i: a[i] == b[i]. b is aligned to 16.
  static uint32_t EqualMask32(const char* a, const char* b) {
    uint32_t mask = 0;
    for (int i = 0; i < 32; ++i) mask |= static_cast<uint32_t>(a[i] == b[i]) << i;
    return mask;
  }
};

#if defined(__SSE2__)

struct ScanSse2 {
  static __m128i Load(const char* p) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
  }
  // The sign of a byte is set where it is special. Flipping bit 1 exchanges '"' (0x22) and the
  // blank; then one subtraction, with saturation, makes the quote and the control bytes negative
  // and leaves the bytes beyond ASCII so. (A signed compare costs g++ 12 an instruction more: it
  // only knows >.)
  static __m128i Special(__m128i v) {
    const __m128i flipped = _mm_xor_si128(v, _mm_set1_epi8(0x02));
    return _mm_or_si128(_mm_subs_epi8(flipped, _mm_set1_epi8(0x21)),
                        _mm_cmpeq_epi8(flipped, _mm_set1_epi8('\\' ^ 0x02)));
  }
  static uint32_t StringMaskOf(__m128i v) {
    return static_cast<uint32_t>(_mm_movemask_epi8(Special(v)));
  }
  static uint32_t StringMask(const char* p) { return StringMaskOf(Load(p)); }
  static uint32_t StringMaskCopy(const char* p, char* to) {
    const __m128i v = Load(p);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
    return StringMaskOf(v);
  }
  static uint32_t NonDigitMask(const char* p) {
    // The sign of a byte is set where it is no digit: digits are 0..9, and 118..127 after the sum.
    const __m128i digits = _mm_sub_epi8(Load(p), _mm_set1_epi8('0'));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_adds_epu8(digits, _mm_set1_epi8(118))));
  }
  static bool Equal16(const char* a, const char* b) {
    return _mm_movemask_epi8(_mm_cmpeq_epi8(Load(a), Load(b))) == 0xffff;
  }
  static uint32_t EqualMask32(const char* a, const char* b) {
    const __m128i* const b16 = reinterpret_cast<const __m128i*>(b);
    const __m128i low = _mm_cmpeq_epi8(Load(a), _mm_load_si128(b16));
    const __m128i high = _mm_cmpeq_epi8(Load(a + 16), _mm_load_si128(b16 + 1));
    return static_cast<uint32_t>(_mm_movemask_epi8(low)) |
           static_cast<uint32_t>(_mm_movemask_epi8(high)) << 16;
  }
};

#elif defined(__aarch64__)

struct ScanNeon {
  static uint8x16_t Load(const char* p) { return vld1q_u8(reinterpret_cast<const uint8_t*>(p)); }
  // One bit per byte of a vector of 0x00 and 0xff.
  static uint32_t Bits(uint8x16_t v) {
    const uint8x16_t weight = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bits = vandq_u8(v, weight);
    return static_cast<uint32_t>(vaddv_u8(vget_low_u8(bits))) |
           static_cast<uint32_t>(vaddv_u8(vget_high_u8(bits))) << 8;
  }
  static uint32_t StringMaskOf(uint8x16_t v) {
    const uint8x16_t quote = vceqq_u8(v, vdupq_n_u8('"'));
    const uint8x16_t escape = vceqq_u8(v, vdupq_n_u8('\\'));
    const uint8x16_t control_or_high = vcltq_s8(vreinterpretq_s8_u8(v), vdupq_n_s8(0x20));
    return Bits(vorrq_u8(vorrq_u8(quote, escape), control_or_high));
  }
  static uint32_t StringMask(const char* p) { return StringMaskOf(Load(p)); }
  static uint32_t StringMaskCopy(const char* p, char* to) {
    const uint8x16_t v = Load(p);
    vst1q_u8(reinterpret_cast<uint8_t*>(to), v);
    return StringMaskOf(v);
  }
  static uint32_t NonDigitMask(const char* p) {
    return Bits(vcgtq_u8(vsubq_u8(Load(p), vdupq_n_u8('0')), vdupq_n_u8(9)));
  }
  static bool Equal16(const char* a, const char* b) {
    return vminvq_u8(vceqq_u8(Load(a), Load(b))) == 0xff;
  }
  static uint32_t EqualMask32(const char* a, const char* b) {
    return Bits(vceqq_u8(Load(a), Load(b))) | Bits(vceqq_u8(Load(a + 16), Load(b + 16))) << 16;
  }
};

#endif

#if defined(WEIR_JSON_PORTABLE)
using Scan = ScanPortable;
#elif defined(__SSE2__)
using Scan = ScanSse2;
#elif defined(__aarch64__)
using Scan = ScanNeon;
#else
using Scan = ScanPortable;
#endif

// White space inside a row. A line feed is none: it ends the row, and with it every loop of the
// decoder.
inline bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
inline const char* SkipBlanks(const char* p) {
  while (IsBlank(*p)) ++p;
  return p;
}
// The cheap half of IsBlank, for the usual case that there is none.
inline bool MayBeBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }

inline bool IsBlankLine(const char* p) { return MayBeBlank(*p) && *SkipBlanks(p) == '\n'; }

// Eight digits, each byte 0..9, first digit in the lowest byte: their number.
inline uint64_t EightDigits(uint64_t v) {
  v = v * 10 + (v >> 8);
  constexpr uint64_t kMask = 0x000000FF000000FF;
  return ((v & kMask) * 0x000F424000000064 + ((v >> 16) & kMask) * 0x0000271000000001) >> 32;
}
// The number of the n digits at p, n = 1..16. Reads 16 bytes.
inline uint64_t DigitsValue(const char* p, int n) {
  constexpr uint64_t kLowNibbles = 0x0F0F0F0F0F0F0F0F;
  if (__builtin_expect(n <= 8, 1)) return EightDigits((Load8(p) & kLowNibbles) << (64 - 8 * n));
  const uint64_t high = EightDigits((Load8(p) & kLowNibbles) << (128 - 8 * n));
  return high * 100000000 + EightDigits(Load8(p + n - 8) & kLowNibbles);
}

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_SCAN_H_
