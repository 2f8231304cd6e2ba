// kafka_latency SERVERS TOPIC SECONDS: how old records are when a read_committed consumer gets
// them: the clock then minus the record's timestamp, which the pipeline between must have kept.
// Reads from the end of each partition on. Prints records, and p50, p99 and the maximum in
// milliseconds.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bare_kafka.h"

using bare::Die;

namespace {

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

rd_kafka_t* NewConsumer(const std::string& servers) {
  rd_kafka_t* rk =
      bare::NewClient(RD_KAFKA_CONSUMER, bare::NewConfig({{"bootstrap.servers", servers},
                                                          {"group.id", "latency"},
                                                          {"isolation.level", "read_committed"},
                                                          {"enable.auto.commit", "false"},
                                                          {"fetch.wait.max.ms", "10"},
                                                          {"fetch.queue.backoff.ms", "10"}}));
  rd_kafka_poll_set_consumer(rk);
  return rk;
}

void AssignAll(rd_kafka_t* rk, const char* name) {
  rd_kafka_topic_t* topic = rd_kafka_topic_new(rk, name, nullptr);
  const int partitions = bare::PartitionsOf(rk, topic);
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(partitions);
  for (int p = 0; p < partitions; ++p)
    rd_kafka_topic_partition_list_add(list, name, p)->offset = RD_KAFKA_OFFSET_END;
  rd_kafka_topic_destroy(topic);
  if (rd_kafka_assign(rk, list) != RD_KAFKA_RESP_ERR_NO_ERROR) Die("cannot assign");
  rd_kafka_topic_partition_list_destroy(list);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) Die("usage: kafka_latency SERVERS TOPIC SECONDS");
  rd_kafka_t* rk = NewConsumer(argv[1]);
  AssignAll(rk, argv[2]);
  const int64_t until = NowMs() + std::atoll(argv[3]) * 1000;
  std::vector<int64_t> ages;
  while (NowMs() < until) {
    rd_kafka_message_t* message = rd_kafka_consumer_poll(rk, 50);
    if (message == nullptr) continue;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) Die(rd_kafka_message_errstr(message));
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    ages.push_back(NowMs() - rd_kafka_message_timestamp(message, &type));
    rd_kafka_message_destroy(message);
  }
  rd_kafka_consumer_close(rk);
  rd_kafka_destroy(rk);
  if (ages.empty()) Die("no record came");
  std::sort(ages.begin(), ages.end());
  const auto at = [&](double share) {
    return static_cast<long long>(ages[std::min(
        ages.size() - 1, static_cast<size_t>(share * static_cast<double>(ages.size())))]);
  };
  std::printf("%zu records %lld %lld %lld\n", ages.size(), at(0.5), at(0.99), at(1));
  return 0;
}
