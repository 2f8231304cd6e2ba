// What the programs of the Kafka benchmarks share that use librdkafka alone.
#ifndef WEIR_TESTS_BENCH_BARE_KAFKA_H_
#define WEIR_TESTS_BENCH_BARE_KAFKA_H_

#include <rdkafka.h>

#include <cerrno>  // program_invocation_short_name
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace bare {

[[noreturn]] inline void Die(const std::string& why) {
  std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, why.c_str());
  std::exit(1);
}

// The settings, checked. The client takes it.
inline rd_kafka_conf_t* NewConfig(
    const std::vector<std::pair<const char*, std::string>>& settings) {
  char why[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) Die(why);
  }
  return conf;
}

inline rd_kafka_t* NewClient(rd_kafka_type_t type, rd_kafka_conf_t* conf) {
  char why[512];
  rd_kafka_t* rk = rd_kafka_new(type, conf, why, sizeof why);
  if (rk == nullptr) Die(why);
  return rk;
}

// How many partitions the topic has.
inline int PartitionsOf(rd_kafka_t* rk, rd_kafka_topic_t* topic) {
  constexpr int kAskMs = 10'000;
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(rk, 0, topic, &metadata, kAskMs) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      metadata->topic_cnt != 1 || metadata->topics[0].partition_cnt == 0)
    Die("no such topic");
  const int partitions = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  return partitions;
}

}  // namespace bare

#endif  // WEIR_TESTS_BENCH_BARE_KAFKA_H_
