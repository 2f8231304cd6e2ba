#include "connectors/kafka/kafka_rows.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "connectors/kafka/kafka_properties.h"
#include "connectors/kafka/partitioner.h"

namespace weir::connectors {
namespace {

using plan::ColumnDef;

// The client library's own bound where the user sets none ('properties.message.max.bytes').
constexpr uint64_t kRecordBytesDefault = 1000000;
// What a record costs beside key and value: header of the row, lengths, and some room.
constexpr uint64_t kRecordOverhead = 512;
// A byte of a value is at most so many in JSON (a control character as six).
constexpr uint64_t kExpansionMax = 6;
// Rows without a key stay with one partition for a while: larger batches.
constexpr uint32_t kTurnRows = 1000;

bool IsWritten(const ColumnDef& column) {
  return column.kind == ColumnDef::Kind::kPhysical ||
         (column.kind == ColumnDef::Kind::kMetadata && !column.is_virtual);
}

// Column of the table -> column of what a sink takes.
int SchemaIndex(const plan::TableDef& table, int column) {
  return static_cast<int>(std::count_if(table.columns.begin(), table.columns.begin() + column,
                                        [](const ColumnDef& c) { return IsWritten(c); }));
}

uint64_t RecordBytesMax(const plan::TableDef& table) {
  for (const ClientProperty& property : ClientConfigOf(table).properties) {
    if (property.name != "message.max.bytes" && property.name != "max.request.size") continue;
    if (const auto bytes = ParseInt64(property.value); bytes && *bytes > 0)
      return static_cast<uint64_t>(*bytes);
  }
  return kRecordBytesDefault;
}

}  // namespace

Result<KafkaRows::Part> KafkaRows::MakePart(const plan::TableDef& table, const FormatSpec& spec,
                                            const std::vector<int>& columns,
                                            const std::string& prefix) {
  Part part;
  Schema schema;
  for (const int column : columns) {
    const ColumnDef& def = table.columns[static_cast<size_t>(column)];
    part.columns.push_back(SchemaIndex(table, column));
    schema.fields.push_back({def.name.substr(prefix.size()), def.type});
  }
  part.raw = spec.kind == FormatSpec::Kind::kRaw;
  WEIR_ASSIGN_OR_RETURN(part.encoder, NewRowEncoder(spec, schema));
  return part;
}

Result<std::unique_ptr<KafkaRows>> KafkaRows::Make(const plan::TableDef& table) {
  auto out = std::unique_ptr<KafkaRows>(new KafkaRows());
  out->topic_ = table.options.String("topic");
  WEIR_ASSIGN_OR_RETURN(out->value_, MakePart(table, table.format_spec, table.value_columns, ""));
  if (!table.key_columns.empty()) {
    const std::string prefix = table.options.Has("key.fields-prefix")
                                   ? table.options.String("key.fields-prefix")
                                   : std::string();
    WEIR_ASSIGN_OR_RETURN(out->key_,
                          MakePart(table, table.key_format_spec, table.key_columns, prefix));
  }
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ColumnDef& column = table.columns[i];
    if (column.kind != ColumnDef::Kind::kMetadata || column.is_virtual) continue;
    // The only one that the spec lets a sink write.
    CHECK(column.metadata_key == "timestamp");
    out->timestamp_column_ = SchemaIndex(table, static_cast<int>(i));
  }
  const std::string partitioner = table.options.String("sink.partitioner");
  if (partitioner == "fixed") out->partitioner_ = Partitioner::kFixed;
  if (partitioner == "round-robin") out->partitioner_ = Partitioner::kRoundRobin;
  out->record_bytes_max_ = RecordBytesMax(table);
  return out;
}

void KafkaRows::Part::SetBatch(const Batch& from) {
  if (encoder == nullptr) return;
  batch.ResetEmpty(from.rows());
  for (const int column : columns) batch.Borrow(from.column(static_cast<size_t>(column)));
}

std::optional<std::string_view> KafkaRows::Part::Encode(uint32_t row) {
  if (encoder == nullptr) return std::nullopt;
  if (raw && batch.column(0).IsNull(row)) return std::nullopt;
  text.clear();
  encoder->Append(batch, row, text);
  if (text.ends_with('\n')) text.pop_back();  // a record is no line
  return text;
}

void KafkaRows::SetBatch(const Batch& batch) {
  batch_ = &batch;
  key_.SetBatch(batch);
  value_.SetBatch(batch);
}

int32_t KafkaRows::PartitionFor(const std::optional<std::string_view>& key, int32_t partitions) {
  switch (partitioner_) {
    case Partitioner::kFixed:
      return 0;
    case Partitioner::kRoundRobin:
      return static_cast<int32_t>(turn_++ % static_cast<uint32_t>(partitions));
    case Partitioner::kDefault:
      break;
  }
  if (key) return PartitionOfKey(*key, partitions);
  return static_cast<int32_t>(turn_++ / kTurnRows % static_cast<uint32_t>(partitions));
}

void KafkaRows::Encode(uint32_t row, int32_t partitions, TxnRecord& out) {
  out.topic = topic_index_;
  out.key = key_.Encode(row);
  out.value = value_.Encode(row);
  out.partition = PartitionFor(out.key, partitions);
  out.timestamp_ms = TimeOf(row);
}

// nullopt: the time of sending.
std::optional<int64_t> KafkaRows::TimeOf(uint32_t row) const {
  if (timestamp_column_ < 0) return std::nullopt;
  const Column& column = batch_->column(static_cast<size_t>(timestamp_column_));
  if (column.IsNull(row)) return std::nullopt;
  const int precision = column.type.precision;  // ticks: ms up to 3 digits, then us, then ns
  return column.ints[row] / (precision <= 3 ? 1 : precision <= 6 ? 1000 : 1000000);
}

std::string_view KafkaRows::Check(const Batch& batch, uint32_t row, const TopicLimit& limit,
                                  int64_t now_ms) {
  SetBatch(batch);
  for (const Part* part : {&key_, &value_}) {
    if (part->encoder == nullptr) continue;
    if (part->raw && part->batch.column(0).IsNull(row)) continue;
    const std::string_view why = part->encoder->Check(part->batch, row);
    if (!why.empty()) return why;
  }
  const bool no_key = key_.encoder == nullptr || (key_.raw && key_.batch.column(0).IsNull(row));
  if (no_key && limit.needs_key) return "the topic is compacted: a record needs a key";
  if (const std::string_view why = CheckTime(row, limit, now_ms); !why.empty()) return why;
  const auto bytes_max =
      std::min(record_bytes_max_, static_cast<uint64_t>(limit.record_bytes.load()));
  // Encoded only where it may matter: twice for each row would cost as much as the delivery.
  uint64_t bytes = kRecordOverhead;
  for (size_t c = 0; c < batch.column_count(); ++c) {
    const Column& column = batch.column(c);
    bytes += 64;
    if (!column.strings.empty() && !column.IsNull(row))
      bytes += column.strings[row].size() * kExpansionMax;
  }
  if (bytes <= bytes_max) return {};
  const size_t key = key_.Encode(row).value_or("").size();
  const size_t value = value_.Encode(row).value_or("").size();
  return key + value + kRecordOverhead > bytes_max
             ? "the record is larger than the topic takes (max.message.bytes)"
             : std::string_view();
}

std::string_view KafkaRows::CheckTime(uint32_t row, const TopicLimit& limit, int64_t now_ms) const {
  const std::optional<int64_t> time = TimeOf(row);
  if (!time) return {};
  if (*time < 0) return "the timestamp is before 1970";
  if (limit.after_ms != INT64_MAX && *time > now_ms + limit.after_ms)
    return "the timestamp is further ahead than the topic takes (message.timestamp.after.max.ms)";
  if (limit.before_ms != INT64_MAX && *time < now_ms - limit.before_ms)
    return "the timestamp is older than the topic takes (message.timestamp.before.max.ms)";
  return {};
}

std::function<std::string_view(const Batch&, uint32_t)> KafkaRowCheck(
    const plan::TableDef& table, const std::shared_ptr<TopicLimits>& limits, io::Clock& clock) {
  // The options were checked when the SQL was bound.
  auto rows = KafkaRows::Make(table);
  CHECK(rows.has_value());
  // A std::function is copied, what it holds is not.
  const std::shared_ptr<KafkaRows> shared = std::move(*rows);
  const TopicLimit& limit = limits->Of(shared->topic());
  return [shared, limits, &limit, &clock](const Batch& batch, uint32_t row) {
    return shared->Check(batch, row, limit, clock.WallMs());
  };
}

}  // namespace weir::connectors
