#include "store/testing/spool_world.h"

#include "base/check.h"

namespace weir::store::testing {

Schema RowSchema() {
  Schema schema;
  schema.fields = {{"id", Type::Of(TypeKind::kBigInt)}, {"text", Type::Of(TypeKind::kString)}};
  return schema;
}

Batch Rows(int64_t first, uint32_t count, size_t text_bytes) {
  Batch batch;
  batch.Reset(RowSchema(), count);
  for (uint32_t i = 0; i < count; ++i) {
    batch.mutable_column(0).valid[i] = 1;
    batch.mutable_column(0).ints[i] = first + i;
    const std::string text(text_bytes, static_cast<char>('a' + (first + i) % 26));
    batch.mutable_column(1).valid[i] = 1;
    batch.mutable_column(1).strings[i] = batch.arena().Copy(text);
  }
  return batch;
}

SpoolOptions SpoolLife::DefaultOptions() {
  SpoolOptions options;
  options.directory = kSpoolDirectory;
  options.sink = "out";
  options.schema = RowSchema();
  return options;
}

Status SpoolLife::Inspect() {
  WEIR_ASSIGN_OR_RETURN(spool_, NewSpool(world_->env(), options));
  context.blob = blob;
  context.sealed = sealed;
  return spool_->Inspect(context);
}

Status SpoolLife::Start() {
  WEIR_RETURN_IF_ERROR(Inspect());
  return spool_->Recover(context);
}

Status SpoolLife::Stage(int64_t first, uint32_t count, size_t text_bytes) {
  return spool_->Stage(Rows(first, count, text_bytes), outputs);
}

Status SpoolLife::Cut(EpochId epoch) {
  cut_ = epoch;
  extent_ = spool_->Freeze(epoch, false);
  return spool_->Sync();
}

Status SpoolLife::Seal() {
  sealed = cut_;
  if (extent_) blob = extent_->blob;
  CHECK(spool_->Sealed(cut_) == nullptr);
  return Status::Ok();
}

Status SpoolLife::Epoch(EpochId epoch, int64_t first, uint32_t count, size_t text_bytes) {
  WEIR_RETURN_IF_ERROR(Stage(first, count, text_bytes));
  WEIR_RETURN_IF_ERROR(Cut(epoch));
  return Seal();
}

Result<std::string> SpoolLife::Read(protocol::TargetPosition after, protocol::TargetPosition to) {
  const auto reader = spool_->Read(after.epoch, after.rows, to.epoch, to.rows, 3);
  std::string out;
  Batch batch;
  for (;;) {
    flow::RowsAt at;
    at.sink = -1;
    WEIR_ASSIGN_OR_RETURN(const bool more, reader->Next(&at, batch));
    if (!more) return out;
    CHECK(at.sink == 3);
    batch.ForEachSelected([&](uint32_t row) {
      if (!out.empty()) out += ',';
      out += std::to_string(batch.column(0).ints[row]);
      const std::string_view text = batch.column(1).strings[row];
      CHECK(text.empty() || text[0] == static_cast<char>('a' + batch.column(0).ints[row] % 26));
    });
  }
}

}  // namespace weir::store::testing
