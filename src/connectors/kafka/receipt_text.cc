#include "connectors/kafka/receipt_text.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace weir::connectors {
namespace {

constexpr std::string_view kVersion = "weir1";
constexpr TimestampMs kFurthestMs = 253402300799999;  // 9999-12-31 23:59:59.999

void PutBigEndian(uint64_t value, char* out) {
  for (int i = 7; i >= 0; --i, value >>= 8) out[i] = static_cast<char>(value & 0xff);
}

uint64_t TakeBigEndian(const char* in) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<uint8_t>(in[i]);
  return value;
}

}  // namespace

std::string EncodeReceipt(const protocol::Receipt& receipt, int64_t written_ms) {
  return std::string(kVersion) + " " + receipt.lineage.ToHex() + " " + receipt.position.ToString() +
         " " + receipt.hash.ToHex() + " " + std::to_string(written_ms);
}

std::optional<WrittenReceipt> ParseReceipt(std::string_view text) {
  const auto words = Split(text, ' ');
  if (words.size() != 5 || words[0] != kVersion) return std::nullopt;
  const auto lineage = Lineage::FromHex(words[1]);
  const auto position = protocol::ParseTargetPosition(words[2]);
  const auto hash = Digest256::FromHex(words[3]);
  const auto written_ms = ParseInt64(words[4]);
  if (!lineage || !position || !hash || !written_ms) return std::nullopt;
  return WrittenReceipt{{*lineage, *position, *hash}, *written_ms};
}

RowHeader EncodeRowHeader(const Lineage& lineage, const protocol::TargetPosition& row) {
  RowHeader out;
  std::memcpy(out.data(), lineage.bytes.data(), lineage.bytes.size());
  PutBigEndian(row.epoch, out.data() + 16);
  PutBigEndian(row.rows, out.data() + 24);
  return out;
}

std::optional<RowOrigin> ParseRowHeader(std::string_view bytes) {
  if (bytes.size() != kRowHeaderBytes) return std::nullopt;
  RowOrigin out;
  std::memcpy(out.lineage.bytes.data(), bytes.data(), out.lineage.bytes.size());
  out.row = {TakeBigEndian(bytes.data() + 16), TakeBigEndian(bytes.data() + 24)};
  return out;
}

std::optional<WatermarkHeader> EncodeWatermarkHeader(TimestampMs watermark) {
  if (watermark == kWatermarkNone || watermark == kWatermarkMax) return std::nullopt;
  WatermarkHeader out;
  PutBigEndian(static_cast<uint64_t>(watermark), out.data());
  return out;
}

TimestampMs ParseWatermarkHeader(std::string_view bytes) {
  if (bytes.size() != sizeof(WatermarkHeader)) return kWatermarkNone;
  const auto watermark = static_cast<TimestampMs>(TakeBigEndian(bytes.data()));
  return watermark < -kFurthestMs || watermark > kFurthestMs ? kWatermarkNone : watermark;
}

}  // namespace weir::connectors
