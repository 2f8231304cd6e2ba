#include "base/ids.h"

#include "base/text.h"

namespace weir {
namespace {

template <size_t N>
std::string BytesToHex(const std::array<uint8_t, N>& bytes) {
  return HexEncode({reinterpret_cast<const char*>(bytes.data()), N});
}

template <class T>
std::optional<T> BytesFromHex(std::string_view hex) {
  T out;
  const std::optional<std::string> raw = HexDecode(hex);
  if (!raw || raw->size() != out.bytes.size()) return std::nullopt;
  for (size_t i = 0; i < raw->size(); ++i) out.bytes[i] = static_cast<uint8_t>((*raw)[i]);
  return out;
}

void PutBigEndian(uint64_t v, char* out) {
  for (int i = 7; i >= 0; --i, v >>= 8) out[i] = static_cast<char>(v & 0xff);
}

uint64_t GetBigEndian(const char* in) {
  uint64_t v = 0;
  for (int i = 0; i < 8; ++i) v = (v << 8) | static_cast<uint8_t>(in[i]);
  return v;
}

}  // namespace

std::string Lineage::ToHex() const { return BytesToHex(bytes); }
std::string Lineage::ShortHex() const { return ToHex().substr(0, 8); }
std::optional<Lineage> Lineage::FromHex(std::string_view hex) { return BytesFromHex<Lineage>(hex); }

std::string Digest256::ToHex() const { return BytesToHex(bytes); }
std::optional<Digest256> Digest256::FromHex(std::string_view hex) {
  return BytesFromHex<Digest256>(hex);
}

std::string Digest128::ToHex() const {
  char raw[16];
  PutBigEndian(high, raw);
  PutBigEndian(low, raw + 8);
  return HexEncode({raw, sizeof(raw)});
}

std::optional<Digest128> Digest128::FromHex(std::string_view hex) {
  const std::optional<std::string> raw = HexDecode(hex);
  if (!raw || raw->size() != 16) return std::nullopt;
  Digest128 out;
  out.high = GetBigEndian(raw->data());
  out.low = GetBigEndian(raw->data() + 8);
  return out;
}

}  // namespace weir
