// bare_kafka_consumer SERVERS TOPIC: what librdkafka alone reads: every record of the topic from
// its beginning to its end, by the fastest correct way there is (a queue per partition, served by a
// callback that yields), touching each value once. Prints records and bytes.
#include <rdkafka.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr int kBatch = 4096;
constexpr int kAskMs = 10'000;

struct Reader {
  rd_kafka_t* rk = nullptr;
  uint64_t records = 0, bytes = 0, touched = 0;
  int in_batch = 0;
  size_t ended = 0;
};

[[noreturn]] void Die(const std::string& why) {
  std::fprintf(stderr, "bare_kafka_consumer: %s\n", why.c_str());
  std::exit(1);
}

void OnMessage(rd_kafka_message_t* message, void* opaque) {
  auto* reader = static_cast<Reader*>(opaque);
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    ++reader->ended;
    rd_kafka_yield(reader->rk);
    return;
  }
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) Die(rd_kafka_message_errstr(message));
  ++reader->records;
  reader->bytes += message->len;
  if (message->len > 0) reader->touched += static_cast<const unsigned char*>(message->payload)[0];
  if (++reader->in_batch == kBatch) {
    reader->in_batch = 0;
    rd_kafka_yield(reader->rk);
  }
}

rd_kafka_t* NewConsumer(const std::string& servers) {
  char why[512];
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  const std::pair<const char*, std::string> settings[] = {{"bootstrap.servers", servers},
                                                          {"isolation.level", "read_committed"},
                                                          {"check.crcs", "true"},
                                                          {"enable.partition.eof", "true"}};
  for (const auto& [name, value] : settings) {
    if (rd_kafka_conf_set(conf, name, value.c_str(), why, sizeof why) != RD_KAFKA_CONF_OK) Die(why);
  }
  rd_kafka_t* rk = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
  if (rk == nullptr) Die(why);
  return rk;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) Die("usage: bare_kafka_consumer SERVERS TOPIC");
  Reader reader;
  reader.rk = NewConsumer(argv[1]);
  rd_kafka_topic_t* topic = rd_kafka_topic_new(reader.rk, argv[2], nullptr);
  const rd_kafka_metadata_t* metadata = nullptr;
  if (rd_kafka_metadata(reader.rk, 0, topic, &metadata, kAskMs) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      metadata->topic_cnt != 1 || metadata->topics[0].partition_cnt == 0)
    Die("no such topic");
  const int partitions = metadata->topics[0].partition_cnt;
  rd_kafka_metadata_destroy(metadata);
  std::vector<rd_kafka_queue_t*> queues;
  for (int p = 0; p < partitions; ++p) {
    queues.push_back(rd_kafka_queue_new(reader.rk));
    if (rd_kafka_consume_start_queue(topic, p, RD_KAFKA_OFFSET_BEGINNING, queues.back()) != 0)
      Die("cannot start");
  }
  while (reader.ended < queues.size()) {
    for (rd_kafka_queue_t* queue : queues) {
      reader.in_batch = 0;
      if (rd_kafka_consume_callback_queue(queue, 1, &OnMessage, &reader) < 0) Die("cannot read");
    }
    rd_kafka_poll(reader.rk, 0);
  }
  std::printf("%llu records %llu bytes\n", static_cast<unsigned long long>(reader.records),
              static_cast<unsigned long long>(reader.bytes));
  // Read by somebody, or the compiler might leave the values alone.
  if (reader.touched == 1) std::fputs("\n", stderr);
  for (int p = 0; p < partitions; ++p) {
    rd_kafka_consume_stop(topic, p);
    rd_kafka_queue_destroy(queues[static_cast<size_t>(p)]);
  }
  rd_kafka_topic_destroy(topic);
  rd_kafka_destroy(reader.rk);
  return 0;
}
