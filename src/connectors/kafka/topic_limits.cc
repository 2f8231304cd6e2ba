#include "connectors/kafka/topic_limits.h"

#include "base/text.h"

namespace weir::connectors {

void TopicLimit::Learn(const std::map<std::string, std::string>& config) {
  const auto text = [&](const char* name) {
    const auto found = config.find(name);
    return found == config.end() ? std::string() : found->second;
  };
  const auto number = [&](const char* name) {
    const auto value = ParseInt64(text(name));
    return value && *value >= 0 ? *value : INT64_MAX;
  };
  record_bytes = number("max.message.bytes");
  needs_key = text("cleanup.policy").find("compact") != std::string::npos;
  const bool broker_time = text("message.timestamp.type") == "LogAppendTime";
  before_ms = broker_time ? INT64_MAX : number("message.timestamp.before.max.ms");
  after_ms = broker_time ? INT64_MAX : number("message.timestamp.after.max.ms");
}

TopicLimit& TopicLimits::Of(const std::string& topic) {
  const std::lock_guard lock(mutex_);
  auto& limit = limits_[topic];
  if (limit == nullptr) limit = std::make_unique<TopicLimit>();
  return *limit;
}

}  // namespace weir::connectors
