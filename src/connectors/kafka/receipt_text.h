// What a delivery leaves in a cluster beside its rows: the receipt, as metadata of a group's offset
// or as a record, and the headers of every row.
//
// Receipt, ASCII (older clients garble anything else), about 150 bytes of the 4096 that a broker
// takes:
//   weir1 LINEAGE(32 hex) EPOCH:ROWS HASH(64 hex) WRITTEN_MS
// Row header `weir-e`, 32 bytes: lineage 16 | epoch 8, big-endian | row number in the epoch 8,
// big-endian, from 1 over all sinks of the target.
// Row header `weir-wm`, 8 bytes: watermark, ms since 1970, big-endian, two's complement. It is the
// one that stood when the epoch before was cut: no row at or below it that comes behind this one in
// its topic was on time (time.md, "Watermarks travel").
#ifndef WEIR_CONNECTORS_KAFKA_RECEIPT_TEXT_H_
#define WEIR_CONNECTORS_KAFKA_RECEIPT_TEXT_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/types.h"

namespace weir::connectors {

inline constexpr char kRowHeaderName[] = "weir-e";
inline constexpr size_t kRowHeaderBytes = 32;

// The transactional id at a cluster, and the group that keeps its receipts.
inline std::string SessionAt(const std::string& name, const std::string& cluster_id) {
  return name + "-" + cluster_id;
}
inline std::string ReceiptGroupOf(const std::string& session) { return session + "-receipt"; }

struct WrittenReceipt {
  protocol::Receipt receipt;
  int64_t written_ms = 0;  // wall clock of the writer
};
std::string EncodeReceipt(const protocol::Receipt& receipt, int64_t written_ms);
std::optional<WrittenReceipt> ParseReceipt(std::string_view text);

using RowHeader = std::array<char, kRowHeaderBytes>;
RowHeader EncodeRowHeader(const Lineage& lineage, const protocol::TargetPosition& row);
struct RowOrigin {
  Lineage lineage;
  protocol::TargetPosition row;
};
std::optional<RowOrigin> ParseRowHeader(std::string_view bytes);

inline constexpr char kWatermarkHeaderName[] = "weir-wm";
using WatermarkHeader = std::array<char, 8>;
// nullopt for kWatermarkNone and kWatermarkMax.
std::optional<WatermarkHeader> EncodeWatermarkHeader(TimestampMs watermark);
// kWatermarkNone: not one of ours.
TimestampMs ParseWatermarkHeader(std::string_view bytes);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_RECEIPT_TEXT_H_
