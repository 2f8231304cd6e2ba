#include "connectors/testing/stage_driver.h"

#include <algorithm>

#include "base/check.h"

namespace weir::connectors {

void StageHistory::BeginFreshRun() {
  fresh = true;
  base = std::max(base, sealed);
  sealed = 0;
  blob.clear();
  lineage.bytes[0] = static_cast<uint8_t>(lineage.bytes[0] + 1);
}

StageDriver::StageDriver(const ConnectorContext& context, const plan::TableDef& table,
                         StageHistory& history)
    : history_(history) {
  auto stage = NewStage(context, table, table.name);
  CHECK(stage.has_value());
  stage_ = std::move(*stage);
}

Status StageDriver::Start() {
  flow::TakeoverContext context;
  context.fresh = history_.fresh;
  context.lineage = history_.fresh ? Lineage{} : history_.lineage;
  context.sealed = history_.sealed;
  context.blob = history_.blob;
  context.lineages = &history_.lineages;
  context.claimed_paths = history_.claimed;
  context.resolutions = history_.words;
  WEIR_RETURN_IF_ERROR(stage_->Inspect(context));
  if (history_.fresh) {
    history_.base = std::max(history_.base, stage_->HighestEpochSeen());
    history_.next_epoch = std::max(history_.next_epoch, history_.base + 1);
    history_.lineages.push_back({history_.lineage, history_.base, 0, {}});
  }
  for (const flow::Claim& claim : stage_->Claims()) history_.claimed.push_back(claim.path);
  std::sort(history_.claimed.begin(), history_.claimed.end());
  context.lineage = history_.lineage;
  context.base = history_.base;
  return stage_->Recover(context);
}

Status StageDriver::Stage(const std::vector<int64_t>& values) {
  Batch batch;
  FillInts(values, batch);
  DeadOutputs out;
  const Status status = stage_->Stage(batch, out);
  CHECK(out.records.empty());
  return status;
}

bool StageDriver::Freeze(bool end_of_input) {
  epoch_ = history_.next_epoch++;
  extent_ = stage_->Freeze(epoch_, end_of_input);
  return extent_.has_value();
}

Status StageDriver::FinishSeal() {
  history_.sealed = epoch_;
  history_.fresh = false;
  history_.words.clear();
  history_.lineages.back().last_sealed = epoch_;
  if (extent_) history_.blob = extent_->blob;
  work_ = stage_->Sealed(epoch_);
  return work_ ? work_() : Status::Ok();
}

Status StageDriver::Seal(bool end_of_input) {
  (void)Freeze(end_of_input);
  WEIR_RETURN_IF_ERROR(stage_->Sync());
  return FinishSeal();
}

Status StageDriver::SealWithoutWork(bool end_of_input) {
  (void)Freeze(end_of_input);
  WEIR_RETURN_IF_ERROR(stage_->Sync());
  history_.sealed = epoch_;
  history_.fresh = false;
  history_.lineages.back().last_sealed = epoch_;
  if (extent_) history_.blob = extent_->blob;
  return Status::Ok();
}

}  // namespace weir::connectors
