#include "connectors/kafka/kafka_decoder.h"

#include <algorithm>

#include "base/text.h"
#include "data/base64.h"

namespace weir::connectors {
namespace {

using plan::ColumnDef;

NonRow Dead(const ConsumedRecord& record, uint32_t row, std::string code, std::string message,
            std::string_view raw) {
  NonRow dead;
  dead.before_row = row;
  dead.pos = record.offset;
  dead.next_pos = record.offset + 1;
  dead.code = std::move(code);
  dead.message = std::move(message);
  dead.raw = raw;
  dead.record_ms = record.timestamp_ms;
  return dead;
}

std::string_view ClockName(ConsumedRecord::Clock clock) {
  switch (clock) {
    case ConsumedRecord::Clock::kNone:
      return "NoTimestampType";
    case ConsumedRecord::Clock::kCreate:
      return "CreateTime";
    case ConsumedRecord::Clock::kLogAppend:
      return "LogAppendTime";
  }
  return "";
}

void AppendHeadersJson(const ConsumedRecord& record, std::string& out) {
  out += '[';
  for (size_t i = 0; i < record.headers.size(); ++i) {
    const auto& [key, value] = record.headers[i];
    out += (i > 0 ? ",[" : "[") + JsonQuote(key) + ",";
    if (value) {
      out += '"';
      AppendBase64(*value, out);
      out += '"';
    } else {
      out += "null";
    }
    out += ']';
  }
  out += ']';
}

void Set(Column& column, uint32_t row, int64_t value) {
  column.valid[row] = 1;
  column.ints[row] = value;
}

void Set(Column& column, uint32_t row, std::string_view value) {
  column.valid[row] = 1;
  column.strings[row] = value;
}

}  // namespace

Result<std::unique_ptr<KafkaDecoder>> KafkaDecoder::Create(const plan::TableDef& table,
                                                           const std::vector<int>& raw_columns) {
  std::vector<DecodeField> values, keys;
  auto rows = std::unique_ptr<KafkaDecoder>(new KafkaDecoder());
  rows->table_ = table.name;
  const std::string prefix = table.options.String("key.fields-prefix");
  for (size_t i = 0; i < raw_columns.size(); ++i) {
    const ColumnDef& column = table.columns[static_cast<size_t>(raw_columns[i])];
    if (column.kind == ColumnDef::Kind::kMetadata) {
      rows->metadata_.emplace_back(KafkaMetadataOf(column.metadata_key), static_cast<int>(i));
      continue;
    }
    const auto ordinal = [&](const std::vector<int>& columns) {
      const auto at = std::find(columns.begin(), columns.end(), raw_columns[i]);
      return at == columns.end() ? -1 : static_cast<int>(at - columns.begin());
    };
    if (const int in_value = ordinal(table.value_columns); in_value >= 0) {
      values.push_back({column.name, column.type, static_cast<int>(i), in_value});
      continue;
    }
    const int in_key = ordinal(table.key_columns);
    if (in_key < 0) return Fail(Code::kInternal, "column " + column.name + ": nothing fills it");
    // The names of the key's own fields have no prefix.
    keys.push_back({column.name.substr(prefix.size()), column.type,
                    static_cast<int>(rows->key_columns_.size()), in_key});
    rows->key_columns_.push_back(static_cast<int>(i));
    rows->key_schema_.fields.push_back({column.name, column.type});
  }
  WEIR_ASSIGN_OR_RETURN(rows->value_, NewRowDecoder(table.format_spec, values));
  if (!keys.empty()) {
    WEIR_ASSIGN_OR_RETURN(rows->key_, NewRowDecoder(table.key_format_spec, keys));
  }
  rows->wants_headers_ =
      std::any_of(rows->metadata_.begin(), rows->metadata_.end(),
                  [](const auto& m) { return m.first == KafkaMetadata::kHeaders; });
  rows->wants_watermark_ = table.options.String("weir.watermark") == "upstream";
  return rows;
}

void KafkaDecoder::Skip(int64_t next, int64_t end, Batch& out) {
  if (end <= next) return;
  NonRow skipped;
  skipped.before_row = out.rows();
  skipped.skipped = true;
  skipped.pos = next;
  skipped.next_pos = end;
  skipped.count = static_cast<uint64_t>(end - next);
  out.non_rows.push_back(std::move(skipped));
}

// False: the record is a dead letter for its key's sake.
bool KafkaDecoder::DecodeKey(const ConsumedRecord& record, Batch& out) {
  key_batch_.Reset(key_schema_);
  if (!record.key) {
    key_batch_.ResizeOwned(1);
    for (size_t i = 0; i < key_columns_.size(); ++i) {
      key_batch_.mutable_column(i).valid[0] = 0;
      if (key_schema_.fields[i].type.nullable) continue;
      out.non_rows.push_back(
          Dead(record, out.rows(), "key.null",
               "the record has no key, and column " + key_schema_.fields[i].name + " is NOT NULL",
               record.value.value_or("")));
      return false;
    }
    return true;
  }
  key_->DecodeValue(*record.key, record.offset, key_batch_);
  if (key_batch_.rows() == 1) return true;
  const NonRow* why = key_batch_.non_rows.empty() ? nullptr : &key_batch_.non_rows[0];
  const bool blank = why == nullptr || why->skipped;
  out.non_rows.push_back(Dead(record, out.rows(), blank ? "key.empty" : "key." + why->code,
                              blank ? "the key is empty" : "key: " + why->message, *record.key));
  return false;
}

void KafkaDecoder::TakeKey(uint32_t row, Batch& out) {
  for (size_t i = 0; i < key_columns_.size(); ++i) {
    const Column& from = key_batch_.column(i);
    Column& to = out.mutable_column(static_cast<size_t>(key_columns_[i]));
    to.valid[row] = from.valid[0];
    if (from.valid[0] == 0) continue;
    switch (from.type.physical()) {
      case Physical::kBool:
        to.bools[row] = from.bools[0];
        break;
      case Physical::kInt64:
        to.ints[row] = from.ints[0];
        break;
      case Physical::kDouble:
        to.doubles[row] = from.doubles[0];
        break;
      case Physical::kInt128:
        to.decimals[row] = from.decimals[0];
        break;
      case Physical::kString:
        to.strings[row] = out.arena().Copy(from.strings[0]);
        break;
    }
  }
}

void KafkaDecoder::FillMetadata(const ConsumedRecord& record, uint32_t row, Batch& out) const {
  for (const auto& [key, index] : metadata_) {
    Column& column = out.mutable_column(static_cast<size_t>(index));
    switch (key) {
      case KafkaMetadata::kTopic:
        Set(column, row, record.topic);
        break;
      case KafkaMetadata::kPartition:
        Set(column, row, int64_t{record.partition});
        break;
      case KafkaMetadata::kOffset:
        Set(column, row, record.offset);
        break;
      case KafkaMetadata::kTimestamp:
        Set(column, row, record.timestamp_ms == kNoRecordTime ? 0 : record.timestamp_ms);
        break;
      case KafkaMetadata::kTimestampType:
        Set(column, row, ClockName(record.clock));
        break;
      case KafkaMetadata::kLeaderEpoch:
        Set(column, row, int64_t{record.leader_epoch});
        if (record.leader_epoch < 0) column.valid[row] = 0;
        break;
      case KafkaMetadata::kHeaders: {
        std::string text;
        AppendHeadersJson(record, text);
        Set(column, row, out.arena().Copy(text));
        break;
      }
    }
  }
}

void KafkaDecoder::Append(const ConsumedRecord& record, int64_t* next, Batch& out) {
  Skip(*next, record.offset, out);
  *next = record.offset + 1;
  // A tombstone deletes a key; this is a stream of rows, and it is none.
  if (!record.value) return Skip(record.offset, record.offset + 1, out);
  if (key_ != nullptr && !DecodeKey(record, out)) return;
  const uint32_t row = out.rows();
  const size_t non_rows = out.non_rows.size();
  value_->DecodeValue(*record.value, record.offset, out);
  if (out.rows() == row) {
    if (out.non_rows.size() > non_rows) out.non_rows.back().record_ms = record.timestamp_ms;
    return;
  }
  out.record_ms.push_back(record.timestamp_ms);
  out.record_by_broker.push_back(record.clock == ConsumedRecord::Clock::kLogAppend);
  if (wants_watermark_) {
    out.upstream_watermarks.push_back(record.watermark);
    if (record.watermark == kWatermarkNone) ++rows_without_watermark_;
  }
  if (key_ != nullptr) TakeKey(row, out);
  FillMetadata(record, row, out);
}

}  // namespace weir::connectors
