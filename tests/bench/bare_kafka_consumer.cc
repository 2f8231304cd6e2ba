// bare_kafka_consumer SERVERS TOPIC: what librdkafka alone reads: every record of the topic from
// its beginning to its end, by the fastest correct way there is (a queue per partition, served by a
// callback that yields), touching each value once. Prints records and bytes.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "bare_kafka.h"

using bare::Die;

namespace {

constexpr int kBatch = 4096;

struct Reader {
  rd_kafka_t* rk = nullptr;
  uint64_t records = 0, bytes = 0, touched = 0;
  int in_batch = 0;
  size_t ended = 0;
};

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

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) Die("usage: bare_kafka_consumer SERVERS TOPIC");
  Reader reader;
  reader.rk =
      bare::NewClient(RD_KAFKA_CONSUMER, bare::NewConfig({{"bootstrap.servers", argv[1]},
                                                          {"isolation.level", "read_committed"},
                                                          {"check.crcs", "true"},
                                                          {"enable.partition.eof", "true"}}));
  rd_kafka_topic_t* topic = rd_kafka_topic_new(reader.rk, argv[2], nullptr);
  const int partitions = bare::PartitionsOf(reader.rk, topic);
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
