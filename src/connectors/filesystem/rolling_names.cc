#include "connectors/filesystem/rolling_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace weir::connectors {
namespace {

constexpr std::string_view kInProgress = ".inprogress";
constexpr std::string_view kPart = "part-";
constexpr size_t kLineageDigits = 8;
constexpr size_t kEpochDigits = 10;
constexpr size_t kBlockBytes = 256 << 10;

}  // namespace

std::string PartName(const Lineage& lineage, EpochId epoch, std::string_view extension) {
  return fmt::format("part-{}-{:010}.{}", lineage.ShortHex(), epoch, extension);
}

std::string InProgressName(const Lineage& lineage, EpochId epoch, std::string_view extension) {
  return "." + PartName(lineage, epoch, extension) + std::string(kInProgress);
}

std::optional<ParsedName> ParseName(std::string_view name) {
  ParsedName parsed;
  if (name.starts_with('.') && name.ends_with(kInProgress)) {
    parsed.in_progress = true;
    name.remove_prefix(1);
    name.remove_suffix(kInProgress.size());
  }
  if (!name.starts_with(kPart)) return std::nullopt;
  name.remove_prefix(kPart.size());
  const size_t dash = kLineageDigits, dot = dash + 1 + kEpochDigits;
  if (name.size() <= dot || name[dash] != '-') return std::nullopt;
  parsed.lineage = std::string(name.substr(0, dash));
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (!std::all_of(parsed.lineage.begin(), parsed.lineage.end(), is_hex)) return std::nullopt;
  // An epoch may have outgrown ten digits.
  const std::string_view digits = name.substr(dash + 1, name.find('.', dash) - dash - 1);
  const auto epoch = ParseInt64(digits);
  if (digits.size() < kEpochDigits || !epoch || *epoch < 0) return std::nullopt;
  parsed.epoch = static_cast<EpochId>(*epoch);
  return parsed;
}

Result<StreamDigest> DigestOfPrefix(io::File& file, uint64_t length) {
  StreamDigest digest;
  std::string block(kBlockBytes, '\0');
  for (uint64_t at = 0; at < length;) {
    const size_t want = static_cast<size_t>(std::min<uint64_t>(length - at, block.size()));
    WEIR_ASSIGN_OR_RETURN(const size_t n, file.ReadAt(at, std::span<char>(block).first(want)));
    if (n < want) return Fail(Code::kNotFound, "the file is shorter");
    digest.Update(std::string_view(block).substr(0, n));
    at += n;
  }
  return digest;
}

}  // namespace weir::connectors
