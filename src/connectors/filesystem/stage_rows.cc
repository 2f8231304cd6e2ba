#include "connectors/filesystem/stage_rows.h"

namespace weir::connectors {
namespace {

// Stable words for what an encoder refuses (the message says more).
constexpr std::string_view kCannotWrite = "sink.cannot-write";

}  // namespace

Status RowStager::Stage(const Batch& batch, OutputFile& file, flow::Outputs& out,
                        flow::NodeBooks& books, uint64_t* staged) {
  Status status;
  uint64_t dead = 0;
  dead_.Clear();
  batch.ForEachSelected([&](uint32_t row) {
    const std::string_view reason = encoder_->Check(batch, row);
    if (!reason.empty()) {
      dead_.AddRow(flow::DeadStage::kSink, kCannotWrite, reason, batch, row, schema_);
      ++dead;
      return;
    }
    encoder_->Append(batch, row, file.buffer());
    if (status.ok()) status = file.WriteBlocks();
  });
  books[flow::Count::kIn] += batch.selected_count();
  books[flow::Count::kDead] += dead;
  books[flow::Count::kStaged] += batch.selected_count() - dead;
  *staged += batch.selected_count() - dead;
  if (!dead_.empty()) out.Dead(dead_.batch());
  if (status.code() == Code::kNoSpace) return Status::Ok();
  return status;
}

}  // namespace weir::connectors
