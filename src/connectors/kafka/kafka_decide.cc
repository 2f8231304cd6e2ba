#include "connectors/kafka/kafka_decide.h"

namespace weir::connectors {
namespace {

using Act = PartitionDecision::Act;
using protocol::Verb;

PartitionDecision Park(std::string rule, std::string what, std::vector<Verb> verbs) {
  PartitionDecision decision;
  decision.act = Act::kPark;
  decision.park.rule = std::move(rule);
  decision.park.what = std::move(what);
  decision.park.verbs = std::move(verbs);
  return decision;
}

std::string Range(const PartitionFacts& facts) {
  return "the log has " + std::to_string(facts.log_start) + " to " + std::to_string(facts.log_end);
}

// "" when cluster and topic are the ones that were met first.
std::string OtherLog(const PartitionFacts& facts, std::string* rule) {
  if (!facts.recorded_cluster.empty() && facts.cluster != facts.recorded_cluster) {
    *rule = "kafka.other-cluster";
    return "the brokers belong to cluster " + facts.cluster + ", " + facts.at.ToString() +
           " was read from cluster " + facts.recorded_cluster;
  }
  if (facts.recorded.id.empty()) return "";
  if (facts.topic.id != facts.recorded.id) {
    *rule = "kafka.recreated";
    return "topic " + facts.at.topic + " was created again (id " + facts.topic.id + ", it was " +
           facts.recorded.id + "); " + facts.at.ToString() + " was read to offset " +
           std::to_string(facts.position.offset);
  }
  if (facts.topic.partitions < facts.recorded.partitions) {
    *rule = "kafka.shrunk";
    return "topic " + facts.at.topic + " has " + std::to_string(facts.topic.partitions) +
           " partitions, it had " + std::to_string(facts.recorded.partitions);
  }
  return "";
}

}  // namespace

PartitionDecision DecidePartition(const PartitionFacts& facts) {
  PartitionDecision decision;
  decision.offset = facts.position.offset;
  std::string rule;
  if (std::string what = OtherLog(facts, &rule); !what.empty()) {
    const bool exists = facts.at.partition < facts.topic.partitions;
    if (!exists || !(facts.accept_gap_table || facts.accept_topic_table))
      return Park(std::move(rule), std::move(what), {Verb::kAcceptGap, Verb::kAcceptTopic});
    decision.forget_epoch = decision.other_log = true;
    if (!facts.accept_topic_table) decision.offset = facts.log_start;
  }
  if (facts.position.stop != kNoStop && decision.offset >= facts.position.stop) {
    decision.act = Act::kEnd;
    return decision;
  }
  const int64_t offset = decision.offset;
  if (offset >= facts.log_start && offset <= facts.log_end) return decision;
  const bool below = offset < facts.log_start;
  if (facts.accept_gap || facts.accept_gap_table) {
    decision.offset = below ? facts.log_start : facts.log_end;
    decision.lost_records = below ? facts.log_start - offset : 0;
    decision.forget_epoch = true;
    return decision;
  }
  if (below) {
    return Park("kafka.retention",
                facts.at.ToString() + ": offset " + std::to_string(offset) + " is gone, " +
                    Range(facts) + ": " + std::to_string(facts.log_start - offset) +
                    " offsets were deleted before they were read",
                {Verb::kAcceptGap});
  }
  return Park("kafka.truncated",
              facts.at.ToString() + ": offset " + std::to_string(offset) + " is behind the end, " +
                  Range(facts) + ": the cluster has lost what was read, or is another",
              {Verb::kAcceptGap});
}

}  // namespace weir::connectors
