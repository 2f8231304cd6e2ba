#include "connectors/kafka/produce_rows.h"

#include "base/check.h"
#include "connectors/kafka/receipt_text.h"
#include "io/fault.h"

namespace weir::connectors {

Result<uint64_t> ProduceRows(flow::RowReader& rows,
                             const std::vector<std::unique_ptr<KafkaRows>>& encoders,
                             const protocol::Whereabouts& topics, const Lineage* lineage,
                             TxnProducer& producer) {
  Batch batch;
  uint64_t records = 0;
  for (;;) {
    flow::RowsAt at;
    WEIR_ASSIGN_OR_RETURN(const bool more, rows.Next(&at, batch));
    if (!more) return records;
    CHECK(at.sink >= 0 && static_cast<size_t>(at.sink) < encoders.size());
    KafkaRows& encoder = *encoders[static_cast<size_t>(at.sink)];
    const protocol::TopicAt* topic = topics.Find(encoder.topic());
    CHECK(topic != nullptr);
    const auto partitions = static_cast<int32_t>(topic->ends.size());
    encoder.SetBatch(batch);
    const std::optional<WatermarkHeader> watermark = EncodeWatermarkHeader(at.watermark);
    Status status;
    batch.ForEachSelected([&](uint32_t row) {
      if (!status.ok()) return;
      status = WEIR_FAULT_POINT("deliver.during_produce").ToStatus("deliver.during_produce");
      if (!status.ok()) return;
      TxnRecord record;
      encoder.Encode(row, partitions, record);
      RowHeader header;
      if (lineage != nullptr) {
        header = EncodeRowHeader(*lineage, {at.epoch, at.first + row});
        record.row_header = {header.data(), header.size()};
      }
      if (watermark) record.watermark_header = {watermark->data(), watermark->size()};
      status = producer.Produce(record);
      ++records;
    });
    WEIR_RETURN_IF_ERROR(status);
  }
}

}  // namespace weir::connectors
