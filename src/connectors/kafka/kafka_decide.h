// What a Kafka source does with a partition, given what was recorded and what the cluster says now.
// Pure: facts in, decision out, tested over every row. The first matching row wins:
//
//   the cluster has another id            park (kafka.other-cluster)
//   the topic has another id              park (kafka.recreated)
//   the topic has fewer partitions        park (kafka.shrunk)
//   bounded, and the position is its stop end
//   the position is below the log start   park (kafka.retention): the records are gone
//   the position is above the log's end   park (kafka.truncated): the cluster lost what we have
//   read else                                  read on at the position
//
// An operator's word turns a park into reading: --accept-topic keeps the position (a cluster or
// topic that was moved with its offsets), --accept-gap goes to the log start, or to the end of a
// log that became shorter. Never a silent jump.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_DECIDE_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_DECIDE_H_

#include <cstdint>
#include <string>

#include "connectors/kafka/kafka_state.h"
#include "flow/source.h"

namespace weir::connectors {

struct PartitionFacts {
  TopicPartition at;
  KafkaPosition position;
  std::string recorded_cluster, cluster;  // ""
  KafkaTopicRecord recorded;              // id "": the topic was never met before
  TopicFacts topic;                       // status is OK
  int64_t log_start = 0, log_end = 0;     // log_end: the high watermark
  // The operator's words. Another log is accepted for the whole table or not at all: its id is
  // recorded once.
  bool accept_gap_table = false, accept_topic_table = false;
  bool accept_gap = false;  // for this partition
};

struct PartitionDecision {
  enum class Act { kRead, kEnd, kPark } act = Act::kRead;
  int64_t offset = 0;         // kRead: where; kEnd: the position as it is
  int64_t lost_records = 0;   // kRead by a word: what lies between (0 when nobody knows)
  bool forget_epoch = false;  // the recorded leader epoch belongs to another log
  bool other_log = false;     // kRead by a word for the whole table: its ids are to be recorded
  flow::SourcePark park;      // kPark: rule, facts, verbs
};

PartitionDecision DecidePartition(const PartitionFacts& facts);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_DECIDE_H_
