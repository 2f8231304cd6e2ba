#include "base/bytes.h"

#include <cstring>

namespace weir {

void ByteWriter::Varint(uint64_t v) {
  while (v >= 0x80) {
    U8(static_cast<uint8_t>(v | 0x80));
    v >>= 7;
  }
  U8(static_cast<uint8_t>(v));
}

void ByteWriter::Bytes(std::string_view v) {
  Varint(v.size());
  Append(v);
}

bool ByteReader::Need(size_t n) {
  if (ok_ && n <= remaining()) return true;
  ok_ = false;
  return false;
}

namespace {
// memcpy, not a cast: the input has no alignment.
template <class T>
T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}
}  // namespace

uint8_t ByteReader::U8() {
  if (!Need(1)) return 0;
  return static_cast<uint8_t>(in_[at_++]);
}

uint32_t ByteReader::U32() {
  if (!Need(4)) return 0;
  at_ += 4;
  return Load<uint32_t>(in_.data() + at_ - 4);
}

uint64_t ByteReader::U64() {
  if (!Need(8)) return 0;
  at_ += 8;
  return Load<uint64_t>(in_.data() + at_ - 8);
}

int64_t ByteReader::I64() { return static_cast<int64_t>(U64()); }

__int128 ByteReader::I128() {
  if (!Need(16)) return 0;
  at_ += 16;
  return Load<__int128>(in_.data() + at_ - 16);
}

double ByteReader::F64() {
  if (!Need(8)) return 0;
  at_ += 8;
  return Load<double>(in_.data() + at_ - 8);
}

uint64_t ByteReader::Varint() {
  uint64_t v = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = U8();
    if (!ok_) return 0;
    // The tenth byte holds bit 63 only; more would be lost in silence.
    if (shift == 63 && byte > 1) break;
    v |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return v;
  }
  ok_ = false;
  return 0;
}

std::string_view ByteReader::Bytes() {
  const uint64_t n = Varint();
  if (!ok_ || n > remaining()) {
    ok_ = false;
    return {};
  }
  return Take(static_cast<size_t>(n));
}

std::string_view ByteReader::Take(size_t n) {
  if (!Need(n)) return {};
  at_ += n;
  return in_.substr(at_ - n, n);
}

}  // namespace weir
