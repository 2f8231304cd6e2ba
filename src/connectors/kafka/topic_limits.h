// TopicLimits: what a topic can never accept, learnt by the delivery's worker from the cluster and
// asked by the loop for each row that is staged: a row that is refused for ever must be a dead
// letter before its epoch is sealed, else it would hold up every row behind it.
#ifndef WEIR_CONNECTORS_KAFKA_TOPIC_LIMITS_H_
#define WEIR_CONNECTORS_KAFKA_TOPIC_LIMITS_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace weir::connectors {

struct TopicLimit {
  std::atomic<int64_t> record_bytes{INT64_MAX};  // 'max.message.bytes'
  std::atomic<bool> needs_key{false};            // compacted
  // A record's time may be so far from the broker's clock; meaningless under LogAppendTime.
  std::atomic<int64_t> before_ms{INT64_MAX};
  std::atomic<int64_t> after_ms{INT64_MAX};

  // From the topic's settings as the cluster shows them.
  void Learn(const std::map<std::string, std::string>& config);
};

// By topic. Any thread; what Of returns stays.
class TopicLimits {
 public:
  TopicLimit& Of(const std::string& topic);

 private:
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<TopicLimit>> limits_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_TOPIC_LIMITS_H_
