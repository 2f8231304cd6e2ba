#include "flow/dead_letters.h"

#include <string>

#include "base/check.h"
#include "data/dead_letter_schema.h"
#include "data/format.h"
#include "data/utf8.h"

namespace weir::flow {
namespace {

enum : size_t { kStage, kCode, kMessage, kRaw, kRecord, kSource, kPart, kPos, kTs, kColumns };

}  // namespace

std::string_view DeadStageName(DeadStage stage) {
  switch (stage) {
    case DeadStage::kDecode:
      return "decode";
    case DeadStage::kEval:
      return "eval";
    case DeadStage::kResult:
      return "result";
    case DeadStage::kSink:
      return "sink";
  }
  CHECK(false && "no such stage");
  __builtin_unreachable();
}

const Schema& DeadLetterSchema() { return weir::DeadLetterSchema(); }

DeadLetterBuilder::DeadLetterBuilder() { Clear(); }

void DeadLetterBuilder::Clear() { batch_.Reset(DeadLetterSchema()); }

namespace {

// A new last row, all NULL.
uint32_t AppendNulls(Batch& batch) {
  const uint32_t row = batch.rows();
  batch.ResizeOwned(row + 1);
  for (size_t i = 0; i < kColumns; ++i) batch.mutable_column(i).valid[row] = 0;
  return row;
}

void SetText(Batch& batch, uint32_t row, size_t column, std::string_view text) {
  Column& c = batch.mutable_column(column);
  c.valid[row] = 1;
  c.strings[row] = batch.arena().Copy(text);
}

void SetInteger(Batch& batch, uint32_t row, size_t column, int64_t value) {
  Column& c = batch.mutable_column(column);
  c.valid[row] = 1;
  c.ints[row] = value;
}

void SetWhat(Batch& batch, uint32_t row, DeadStage stage, std::string_view code,
             std::string_view message) {
  SetText(batch, row, kStage, DeadStageName(stage));
  SetText(batch, row, kCode, code);
  SetText(batch, row, kMessage, message);
}

}  // namespace

void DeadLetterBuilder::AddRow(DeadStage stage, std::string_view code, std::string_view message,
                               const Batch& from, uint32_t row, const Schema& schema) {
  // Provenance columns are as long as the batch, or empty: a batch mixes rows of sources and others
  // only if a caller forgets Clear between them.
  const bool positions = !from.positions.empty();
  const bool watermarks = !from.watermarks.empty();
  if (batch_.rows() == 0) {
    batch_.partition = from.partition;
    batch_.source = from.source;
  }
  CHECK(batch_.rows() == 0 ||
        (positions == !batch_.positions.empty() && watermarks == !batch_.watermarks.empty()));
  const uint32_t at = AppendNulls(batch_);
  if (positions) {
    batch_.positions.resize(at + 1);
    batch_.positions[at] = from.positions[row];
  }
  if (watermarks) {
    batch_.watermarks.resize(at + 1);
    batch_.watermarks[at] = from.watermarks[row];
  }
  SetWhat(batch_, at, stage, code, message);
  std::string record;
  AppendRecordJson(from, row, schema, record);
  SetText(batch_, at, kRecord, record);
  if (from.partition < 0) return;
  SetText(batch_, at, kSource, from.source);
  SetInteger(batch_, at, kPart, from.partition);
  if (positions) SetInteger(batch_, at, kPos, from.positions[row]);
  if (!from.record_ms.empty() && from.record_ms[row] != kNoRecordTime)
    SetInteger(batch_, at, kTs, from.record_ms[row]);
}

void DeadLetterBuilder::AddRecord(std::string_view source, int32_t partition,
                                  const NonRow& record) {
  if (batch_.rows() == 0) {
    batch_.partition = partition;
    batch_.source = source;
  }
  const uint32_t at = AppendNulls(batch_);
  batch_.positions.resize(at + 1);
  batch_.positions[at] = record.pos;
  // Here and not in a decoder: each of them sees only bytes that are wrong in its own way.
  SetWhat(batch_, at, DeadStage::kDecode, record.code,
          record.message + OtherUnicodeHint(record.raw));
  SetText(batch_, at, kRaw, record.raw);
  SetText(batch_, at, kSource, source);
  SetInteger(batch_, at, kPart, partition);
  SetInteger(batch_, at, kPos, record.pos);
  if (record.record_ms != kNoRecordTime) SetInteger(batch_, at, kTs, record.record_ms);
}

}  // namespace weir::flow
