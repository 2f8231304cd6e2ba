#include "store/chain.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"
#include "base/hash.h"

namespace weir::store {
namespace {

template <class T>
std::optional<T> FixedFromBytes(std::string_view bytes) {
  T out;
  if (bytes.size() != out.bytes.size()) return std::nullopt;
  std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
  return out;
}

template <class T>
std::string_view FixedAsBytes(const T& v) {
  return {reinterpret_cast<const char*>(v.bytes.data()), v.bytes.size()};
}

void PutDigest(const Digest128& digest, ByteWriter& out) {
  out.U64(digest.low);
  out.U64(digest.high);
}

Digest128 TakeDigest(ByteReader& in) {
  Digest128 out;
  out.low = in.U64();
  out.high = in.U64();
  return out;
}

}  // namespace

std::string_view AsBytes(const Digest256& digest) { return FixedAsBytes(digest); }
std::string_view AsBytes(const Lineage& lineage) { return FixedAsBytes(lineage); }

std::optional<Digest256> Digest256FromBytes(std::string_view bytes) {
  return FixedFromBytes<Digest256>(bytes);
}
std::optional<Lineage> LineageFromBytes(std::string_view bytes) {
  return FixedFromBytes<Lineage>(bytes);
}

std::string EncodeExtents(const std::vector<EpochExtent>& extents) {
  ByteWriter out;
  out.Varint(extents.size());
  for (const EpochExtent& extent : extents) {
    out.Bytes(extent.sink);
    out.Bytes(extent.target);
    out.Varint(extent.rows);
    PutDigest(extent.digest, out);
  }
  const auto timed = [](const EpochExtent& extent) { return extent.watermark != kWatermarkNone; };
  if (std::ranges::any_of(extents, timed)) {
    for (const EpochExtent& extent : extents) out.I64(extent.watermark);
  }
  return out.Take();
}

std::optional<std::vector<EpochExtent>> DecodeExtents(std::string_view bytes) {
  ByteReader in(bytes);
  const uint64_t count = in.Varint();
  std::vector<EpochExtent> extents;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    EpochExtent extent;
    extent.sink = in.Bytes();
    extent.target = in.Bytes();
    extent.rows = in.Varint();
    extent.digest = TakeDigest(in);
    extents.push_back(std::move(extent));
  }
  if (in.ok() && !in.AtEnd()) {
    for (EpochExtent& extent : extents) extent.watermark = in.I64();
  }
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return extents;
}

std::string EncodeStages(const std::vector<StagePosition>& stages) {
  ByteWriter out;
  out.Varint(stages.size());
  for (const StagePosition& stage : stages) {
    out.Bytes(stage.sink);
    out.Varint(stage.rows_total);
    out.Bytes(stage.blob);
  }
  return out.Take();
}

std::optional<std::vector<StagePosition>> DecodeStages(std::string_view bytes) {
  ByteReader in(bytes);
  const uint64_t count = in.Varint();
  std::vector<StagePosition> stages;
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    StagePosition stage;
    stage.sink = in.Bytes();
    stage.rows_total = in.Varint();
    stage.blob = in.Bytes();
    stages.push_back(std::move(stage));
  }
  if (!in.ok() || !in.AtEnd()) return std::nullopt;
  return stages;
}

std::string EncodeDigests(const ChainDigests& digests) {
  ByteWriter out;
  PutDigest(digests.positions, out);
  PutDigest(digests.body, out);
  PutDigest(digests.stages, out);
  if (digests.words) out.Append(AsBytes(*digests.words));
  return out.Take();
}

std::optional<ChainDigests> DecodeDigests(std::string_view bytes) {
  ByteReader in(bytes);
  ChainDigests out;
  out.positions = TakeDigest(in);
  out.body = TakeDigest(in);
  out.stages = TakeDigest(in);
  if (in.ok() && !in.AtEnd()) {
    out.words = Digest256FromBytes(in.Take(in.remaining()));
    if (!out.words) return std::nullopt;
  }
  if (!in.ok()) return std::nullopt;
  return out;
}

Digest256 ChainHash(const Digest256& previous, const Lineage& lineage, EpochId epoch,
                    std::string_view digests, std::string_view extents) {
  ByteWriter out;
  out.Append(AsBytes(previous));
  out.Append(AsBytes(lineage));
  out.U64(epoch);
  out.Bytes(digests);
  PutDigest(DigestBytes(extents), out);
  return Sha256(out.str());
}

}  // namespace weir::store
