// KafkaReader: the consuming half of the client. Manual assignment, a queue per partition, served
// by callback; no group, no commit of its own.
//
// A queue that is not served holds its partition back, and its errors with it. The wake-up is one
// eventfd for all queues and does not say which: ask HasRecords of all.
//
// Who drives it: KafkaSource, on the loop. No call blocks but the destructor (some ms).
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_READER_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_READER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_admin.h"
#include "connectors/kafka/kafka_decoder.h"
#include "connectors/kafka/kafka_state.h"

namespace weir::connectors {

// What of records may wait in the queues, divided by the number of partitions.
struct ReaderLimits {
  int64_t chunk_bytes = 256 << 10;  // one fetch of one partition
  int64_t queue_kbytes = 1024;      // waiting in one partition's queue
  bool operator==(const ReaderLimits&) const = default;
};
// A queued record costs 2.8 times its payload (measured at 185 B); the floor is what one fetch is.
ReaderLimits LimitsFor(uint64_t memory_bytes, size_t partitions);

class KafkaReader {
 public:
  static Result<std::unique_ptr<KafkaReader>> Create(const ClientConfig& config,
                                                     const std::string& group,
                                                     const ReaderLimits& limits, int wake_fd);
  ~KafkaReader();

  // From the position on; leader_epoch lets the broker say that the log was cut since.
  Status Assign(const std::map<TopicPartition, KafkaPosition>& partitions);
  Status Unassign(const TopicPartition& at);
  bool IsAssigned(const TopicPartition& at) const { return slots_.contains(at); }
  bool HasRecords(const TopicPartition& at) const;

  struct Served {
    uint32_t records = 0;
    int64_t next = 0;  // the offset behind all that was passed, control records included
    int32_t leader_epoch = -1;
    Status error;  // the partition's; nothing more comes from it
  };
  // Appends at most max_records, from the offset `next` on, none at or behind `stop`.
  Served Serve(const TopicPartition& at, int64_t next, int64_t stop, uint32_t max_records,
               KafkaDecoder& rows, Batch& out);
  // Mirrors positions to the group, without waiting.
  void Commit(const std::map<TopicPartition, int64_t>& positions);
  void Poll() { handle_->Poll(0); }
  std::string Reason() const { return handle_->reason().Text(); }

 private:
  struct Slot {
    KafkaQueue queue;
    KafkaPartitions position;  // one element: asking for it allocates nothing
  };
  explicit KafkaReader(std::unique_ptr<KafkaHandle> handle) : handle_(std::move(handle)) {}

  std::unique_ptr<KafkaHandle> handle_;
  KafkaQueue main_queue_;
  std::map<TopicPartition, Slot> slots_;  // destroyed before the handle
  int wake_fd_ = -1;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_READER_H_
