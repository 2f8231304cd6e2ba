// KafkaRows: rows of one sink table as records: key, value, partition, timestamp. Knows formats and
// options, knows no client and no transaction.
//
// A key is what key.format makes of key.fields; NULL in a raw column is no bytes at all (as a
// value: a tombstone), which is not the same as empty ones.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_ROWS_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_ROWS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/topic_limits.h"
#include "connectors/kafka/txn_cluster.h"
#include "data/batch.h"
#include "data/format.h"
#include "io/clock.h"
#include "plan/plan.h"

namespace weir::connectors {

class KafkaRows {
 public:
  static Result<std::unique_ptr<KafkaRows>> Make(const plan::TableDef& table);

  const std::string& topic() const { return topic_; }
  void SetTopicIndex(int index) { topic_index_ = index; }

  // Rows of this batch follow; it outlives them.
  void SetBatch(const Batch& batch);
  // What `out` borrows lives until the next Encode.
  void Encode(uint32_t row, int32_t partitions, TxnRecord& out);
  // Empty when the row can be written, else why it never can. Not between SetBatch and Encode of
  // another batch.
  std::string_view Check(const Batch& batch, uint32_t row, const TopicLimit& limit, int64_t now_ms);

 private:
  // One of the two halves of a record.
  struct Part {
    std::unique_ptr<RowEncoder> encoder;  // null: the record has none
    std::vector<int> columns;             // of the sink's schema
    bool raw = false;
    Batch batch;  // those columns
    std::string text;

    void SetBatch(const Batch& from);
    std::optional<std::string_view> Encode(uint32_t row);
  };
  enum class Partitioner { kDefault, kFixed, kRoundRobin };

  KafkaRows() = default;
  static Result<Part> MakePart(const plan::TableDef& table, const FormatSpec& spec,
                               const std::vector<int>& columns, const std::string& prefix);
  std::optional<int64_t> TimeOf(uint32_t row) const;
  std::string_view CheckTime(uint32_t row, const TopicLimit& limit, int64_t now_ms) const;
  int32_t PartitionFor(const std::optional<std::string_view>& key, int32_t partitions);

  std::string topic_;
  int topic_index_ = 0;
  Part key_, value_;
  int timestamp_column_ = -1;  // of the sink's schema
  const Batch* batch_ = nullptr;
  Partitioner partitioner_ = Partitioner::kDefault;
  uint32_t turn_ = 0;
  uint64_t record_bytes_max_ = 0;  // the client's own
};

// A row of a table of connector 'kafka' as it is staged. `clock` outlives it.
std::function<std::string_view(const Batch&, uint32_t)> KafkaRowCheck(
    const plan::TableDef& table, const std::shared_ptr<TopicLimits>& limits, io::Clock& clock);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_ROWS_H_
