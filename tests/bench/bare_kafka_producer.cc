// bare_kafka_producer SERVERS TOPIC FILE BATCH: what librdkafka alone delivers: each line of the
// file as a record, in transactions of BATCH records by one producer, one after the other. Prints
// records, bytes of values, and milliseconds from the first transaction's begin to the last commit.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "bare_kafka.h"

using bare::Die;

namespace {

constexpr int kWaitMs = 60'000;

void Must(rd_kafka_error_t* error) {
  if (error != nullptr) Die(rd_kafka_error_string(error));
}

void OnDelivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) Die(rd_kafka_err2str(message->err));
}

rd_kafka_t* NewProducer(const std::string& servers) {
  rd_kafka_conf_t* conf =
      bare::NewConfig({{"bootstrap.servers", servers},
                       {"transactional.id", "bare-" + std::to_string(std::rand())},
                       {"queue.buffering.max.kbytes", "16384"},
                       {"queue.buffering.max.messages", "50000"}});
  rd_kafka_conf_set_dr_msg_cb(conf, &OnDelivery);
  return bare::NewClient(RD_KAFKA_PRODUCER, conf);
}

void Produce(rd_kafka_t* rk, const char* topic, const std::string& line) {
  for (;;) {
    const rd_kafka_resp_err_t code = rd_kafka_producev(
        rk, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE(const_cast<char*>(line.data()), line.size()), RD_KAFKA_V_END);
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
    if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) Die(rd_kafka_err2str(code));
    rd_kafka_poll(rk, 10);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) Die("usage: bare_kafka_producer SERVERS TOPIC FILE BATCH");
  const uint64_t batch = std::strtoull(argv[4], nullptr, 10);
  std::ifstream file(argv[3]);
  if (!file || batch == 0) Die("no such file, or no batch");
  rd_kafka_t* rk = NewProducer(argv[1]);
  Must(rd_kafka_init_transactions(rk, kWaitMs));
  uint64_t records = 0, bytes = 0;
  const auto begun = std::chrono::steady_clock::now();
  for (std::string line; std::getline(file, line);) {
    if (records % batch == 0) {
      if (records > 0) Must(rd_kafka_commit_transaction(rk, kWaitMs));
      Must(rd_kafka_begin_transaction(rk));
    }
    Produce(rk, argv[2], line);
    ++records;
    bytes += line.size();
    if (records % 1000 == 0) rd_kafka_poll(rk, 0);
  }
  if (records > 0) Must(rd_kafka_commit_transaction(rk, kWaitMs));
  const auto took = std::chrono::steady_clock::now() - begun;
  rd_kafka_destroy(rk);
  std::printf(
      "%llu records %llu bytes %lld ms\n", static_cast<unsigned long long>(records),
      static_cast<unsigned long long>(bytes),
      static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  return 0;
}
