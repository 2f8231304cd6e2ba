#include "connectors/kafka/producer_identity.h"

#include "base/text.h"

namespace weir::connectors {
namespace {

// The number behind `name`, up to `end`.
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view name, char end) {
  const size_t at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  const size_t stop = text.find(end);
  if (stop == std::string_view::npos) return std::nullopt;
  return ParseInt64(text.substr(0, stop));
}

}  // namespace

std::optional<ProducerIdentity> AcquiredIdentity(std::string_view line) {
  constexpr std::string_view kBegin = "Acquired PID{";
  const size_t at = line.find(kBegin);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + kBegin.size());
  const std::optional<int64_t> id = NumberAfter(line, "Id:", ',');
  const std::optional<int64_t> epoch = NumberAfter(line, "Epoch:", '}');
  if (!id || !epoch || *id < 0 || *epoch < 0 || *epoch > INT16_MAX) return std::nullopt;
  return ProducerIdentity{*id, static_cast<int32_t>(*epoch)};
}

uint64_t FencingsByOthers(const std::optional<ProducerIdentity>& before,
                          const std::optional<ProducerIdentity>& now) {
  if (!before || !now || before->id != now->id || now->epoch <= before->epoch) return 0;
  return static_cast<uint64_t>(now->epoch - before->epoch - 1);
}

}  // namespace weir::connectors
