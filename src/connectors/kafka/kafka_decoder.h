// KafkaDecoder: records of Kafka -> rows of a raw batch. Pure: knows no client, keeps no position.
//
// Every offset that is passed is counted: a row, a dead letter, or skipped (a tombstone, and what
// lies between two records: control records, aborted data, what compaction took).
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_DECODER_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_DECODER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_spec.h"
#include "data/batch.h"
#include "data/format.h"

namespace weir::connectors {

// Borrowed for the call.
struct ConsumedRecord {
  std::string_view topic;  // lives as long as the batch
  int32_t partition = 0;
  int64_t offset = 0;
  std::optional<std::string_view> key, value;
  int64_t timestamp_ms = kNoRecordTime;
  enum class Clock { kNone, kCreate, kLogAppend } clock = Clock::kNone;
  int32_t leader_epoch = -1;
  // In order; filled only when wants_headers().
  std::vector<std::pair<std::string_view, std::optional<std::string_view>>> headers;
  TimestampMs watermark = kWatermarkNone;  // of weir-wm; filled only when wants_watermark()
};

class KafkaDecoder {
 public:
  // `raw_columns` as of connectors::NewSource.
  static Result<std::unique_ptr<KafkaDecoder>> Create(const plan::TableDef& table,
                                                      const std::vector<int>& raw_columns);

  bool wants_headers() const { return wants_headers_; }
  bool wants_watermark() const { return wants_watermark_; }  // 'weir.watermark' = 'upstream'
  uint64_t rows_without_watermark() const { return rows_without_watermark_; }
  // Around the Appends of one batch, of some `records`.
  void Begin(uint32_t records, Batch& out) { value_->BeginValues(records, out); }
  void End(Batch& out) { value_->EndValues(out); }
  // Appends what stands for the offsets from `next` to the record's own, which is then passed.
  void Append(const ConsumedRecord& record, int64_t* next, Batch& out);
  // Offsets from `next` to `end` held no record.
  static void Skip(int64_t next, int64_t end, Batch& out);

 private:
  KafkaDecoder() = default;
  bool DecodeKey(const ConsumedRecord& record, Batch& out);
  void TakeKey(uint32_t row, Batch& out);
  void FillMetadata(const ConsumedRecord& record, uint32_t row, Batch& out) const;

  std::string table_;
  std::unique_ptr<RowDecoder> value_;
  std::unique_ptr<RowDecoder> key_;  // null: no column comes from the key
  Schema key_schema_;
  std::vector<int> key_columns_;  // where each of key_schema_ goes
  Batch key_batch_;
  std::vector<std::pair<KafkaMetadata, int>> metadata_;
  bool wants_headers_ = false, wants_watermark_ = false;
  uint64_t rows_without_watermark_ = 0;
  std::string scratch_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_DECODER_H_
