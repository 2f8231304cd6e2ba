// The record of a rolling sink in the sealed epoch (format: rolling_stage.h).
#include "base/bytes.h"
#include "connectors/filesystem/rolling_stage.h"

namespace weir::connectors {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasOpen = 1;

void WriteSize(ByteWriter& out, const PartRecord& record) {
  out.Varint(record.length);
  out.U64(record.digest.low);
  out.U64(record.digest.high);
}

void ReadSize(ByteReader& in, PartRecord& record) {
  record.length = in.Varint();
  record.digest.low = in.U64();
  record.digest.high = in.U64();
}

}  // namespace

std::string EncodeRollingExtent(const RollingExtent& extent) {
  ByteWriter out;
  out.U8(kVersion);
  out.U8(extent.open ? kHasOpen : 0);
  if (extent.open) {
    out.Bytes(extent.open->in_progress);
    WriteSize(out, *extent.open);
  }
  out.Varint(extent.closed.size());
  for (const PartRecord& record : extent.closed) {
    out.Bytes(record.in_progress);
    out.Bytes(record.part);
    WriteSize(out, record);
  }
  return out.Take();
}

std::optional<RollingExtent> DecodeRollingExtent(std::string_view blob) {
  ByteReader in(blob);
  if (in.U8() != kVersion) return std::nullopt;
  RollingExtent extent;
  if ((in.U8() & kHasOpen) != 0) {
    extent.open.emplace().in_progress = std::string(in.Bytes());
    ReadSize(in, *extent.open);
  }
  const uint64_t count = in.Varint();
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    PartRecord& record = extent.closed.emplace_back();
    record.in_progress = std::string(in.Bytes());
    record.part = std::string(in.Bytes());
    ReadSize(in, record);
  }
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return extent;
}

}  // namespace weir::connectors
