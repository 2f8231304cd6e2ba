#include "protocol/types.h"

namespace weir::protocol {

std::string TargetPosition::ToString() const {
  return std::to_string(epoch) + ":" + std::to_string(rows);
}

std::optional<TargetPosition> ParseTargetPosition(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  uint64_t numbers[2] = {0, 0};
  const std::string_view parts[2] = {text.substr(0, colon), text.substr(colon + 1)};
  for (int i = 0; i < 2; ++i) {
    if (parts[i].empty() || parts[i].size() > 19) return std::nullopt;  // 19 digits fit uint64
    for (const char c : parts[i]) {
      if (c < '0' || c > '9') return std::nullopt;
      numbers[i] = numbers[i] * 10 + static_cast<uint64_t>(c - '0');
    }
  }
  return TargetPosition{numbers[0], numbers[1]};
}

std::string Park::ToString() const {
  std::string out = subject + " is parked (" + rule + "): " + facts + ". Ways out: weir resolve";
  for (size_t i = 0; i < verbs.size(); ++i) {
    out += std::string(i > 0 ? ", or " : " ") + VerbName(verbs[i]) + " " + subject;
  }
  return out;
}

const char* VerbName(Verb verb) {
  switch (verb) {
    case Verb::kTrustSink:
      return "--trust-sink";
    case Verb::kRedeliver:
      return "--redeliver";
    case Verb::kAdopt:
      return "--adopt";
    case Verb::kAcceptMissing:
      return "--accept-missing";
    case Verb::kRewindFile:
      return "--rewind-file";
    case Verb::kAcceptTopic:
      return "--accept-topic";
    case Verb::kAcceptGap:
      return "--accept-gap";
    case Verb::kQuarantine:
      return "--quarantine";
  }
  return "";
}

std::optional<Verb> VerbFromName(std::string_view name) {
  for (const Verb verb : kAllVerbs) {
    if (name == VerbName(verb)) return verb;
  }
  return std::nullopt;
}

}  // namespace weir::protocol
