// What of a scan is sealed: the position and the watermark of every partition, and the source's own
// state.
#include <algorithm>

#include "base/bytes.h"
#include "runtime/scan.h"

namespace weir::runtime {

namespace {

// Keys of the scan's ByteMap: "s" the source's own state, "p" + partition key its saved position.
constexpr std::string_view kSourceStateKey = "s";
std::string PositionKey(std::string_view partition_key) { return "p" + std::string(partition_key); }

constexpr uint8_t kPositionVersion = 1;

// Saved position: version u8, state u8, max event time i64, holds since i64, then the source's own
// blob.
std::string EncodeSaved(const SourceWatermarks::Partition& p, std::string_view source_blob) {
  ByteWriter w;
  w.U8(kPositionVersion);
  w.U8(static_cast<uint8_t>(p.state));
  w.I64(p.max_event_time);
  w.I64(p.holds_since);
  w.Append(source_blob);
  return w.Take();
}

bool DecodeSaved(std::string_view bytes, SourceWatermarks::Partition* p,
                 std::string_view* source_blob) {
  ByteReader r(bytes);
  if (r.U8() != kPositionVersion) return false;
  const uint8_t state = r.U8();
  if (state > static_cast<uint8_t>(SourceWatermarks::Partition::State::kEnded)) return false;
  p->state = static_cast<SourceWatermarks::Partition::State>(state);
  p->max_event_time = r.I64();
  p->holds_since = r.I64();
  if (!r.ok()) return false;
  *source_blob = bytes.substr(r.position());
  return true;
}

}  // namespace

Status Scan::Open(flow::StateReader& positions, TimestampMs watermark,
                  const std::string& current_key) {
  WEIR_ASSIGN_OR_RETURN(source_, factories_.source(node_, raw_schema_));
  WEIR_RETURN_IF_ERROR(RestorePositions(positions));
  std::vector<flow::SavedPosition> saved;
  saved.reserve(positions_.size());
  std::string source_state;
  bool damaged = false;
  positions_.ForEach([&](std::string_view key, std::string_view value) {
    if (key == kSourceStateKey) {
      source_state = value;
      return;
    }
    SourceWatermarks::Partition watermark;
    std::string_view source_blob;
    if (key.empty() || key[0] != 'p' || !DecodeSaved(value, &watermark, &source_blob)) {
      damaged = true;
      return;
    }
    saved.push_back({std::string(key.substr(1)), std::string(source_blob)});
  });
  if (damaged)
    return Status(Code::kCorruption, "saved position of " + node_.name + " cannot be read");
  watermarks_.RestoreSource(watermark);
  highest_sealed_watermark_ = watermark;
  restored_current_ = current_key;
  WEIR_RETURN_IF_ERROR(source_->Open(saved, source_state));
  return Discover(/*opening=*/true);
}

std::optional<SourceWatermarks::Partition> Scan::SavedWatermark(
    std::string_view partition_key) const {
  const auto saved = positions_.Get(PositionKey(partition_key));
  SourceWatermarks::Partition watermark;
  std::string_view source_blob;
  if (!saved || !DecodeSaved(*saved, &watermark, &source_blob)) return std::nullopt;
  return watermark;
}

Status Scan::RestorePositions(flow::StateReader& positions) {
  std::vector<std::string> buckets;
  WEIR_RETURN_IF_ERROR(positions.ListBuckets(
      [&](std::string_view bucket, uint64_t) { buckets.emplace_back(bucket); }));
  for (const std::string& bucket : buckets) {
    WEIR_RETURN_IF_ERROR(positions.ReadBucket(
        bucket, [&](std::string_view blob) { return positions_.ApplyBlob(bucket, blob); }));
  }
  positions_.FinishRestore();
  return Status::Ok();
}

Status Scan::Freeze(std::vector<flow::BucketDelta>& out) {
  if (std::optional<std::string> state = source_->FreezeSourceState()) {
    positions_.Put(kSourceStateKey, *state);
  }
  frozen_releases_.clear();
  for (size_t i = 0; i < partitions_.size(); ++i) {
    Partition& p = *partitions_[i];
    if (!p.changed) continue;
    WEIR_ASSIGN_OR_RETURN(const std::string blob,
                          source_->EncodePosition(static_cast<int>(i), p.position));
    positions_.Put(PositionKey(p.info.key), EncodeSaved(watermarks_.at(static_cast<int>(i)), blob));
    p.changed = false;
    frozen_releases_.emplace_back(static_cast<int>(i), p.position);
  }
  std::vector<std::string> forgotten;
  source_->TakeForgotten(forgotten);
  for (const std::string& key : forgotten) positions_.Erase(PositionKey(key));
  std::vector<FrozenBucket> frozen;
  positions_.Freeze(frozen);
  for (FrozenBucket& f : frozen) {
    out.push_back({std::move(f.bucket), f.dropped, std::move(f.blob), f.entries});
  }
  dirty_ = false;
  return Status::Ok();
}

void Scan::Sealed() {
  for (const auto& [partition, position] : frozen_releases_) source_->Release(partition, position);
  frozen_releases_.clear();
  if (watermarks_.Current() != kWatermarkMax) {
    highest_sealed_watermark_ = std::max(highest_sealed_watermark_, watermarks_.Current());
  }
}

}  // namespace weir::runtime
