// A spool in a World, with rows that a test can name.
#ifndef WEIR_STORE_TESTING_SPOOL_WORLD_H_
#define WEIR_STORE_TESTING_SPOOL_WORLD_H_

#include <memory>
#include <string>
#include <vector>

#include "store/spool.h"
#include "store/testing/world.h"

namespace weir::store::testing {

inline constexpr char kSpoolDirectory[] = "/state/spool/out";

Schema RowSchema();  // id BIGINT, text STRING
// Rows first, first + 1, ...; the text of row n is `text_bytes` long.
Batch Rows(int64_t first, uint32_t count, size_t text_bytes = 8);

class NoOutputs : public flow::Outputs {
 public:
  void Main(const Batch&) override {}
  void Late(const Batch&) override {}
  void Dead(const Batch& batch) override { dead_rows += batch.selected_count(); }
  void Watermark(TimestampMs) override {}
  uint64_t dead_rows = 0;
};

// One life of a spool, driven as the runtime drives it.
class SpoolLife {
 public:
  explicit SpoolLife(World& world) : world_(&world) {}
  SpoolOptions options = DefaultOptions();
  flow::TakeoverContext context;

  Status Start();  // Inspect, Recover
  Status Inspect();
  Status Stage(int64_t first, uint32_t count, size_t text_bytes = 8);
  // Freeze and Sync; the extent is remembered by Seal only.
  Status Cut(EpochId epoch);
  Status Seal();  // what was cut counts as sealed
  Status Epoch(EpochId epoch, int64_t first, uint32_t count, size_t text_bytes = 8);
  // "1,2,3": the ids of the range.
  Result<std::string> Read(protocol::TargetPosition after, protocol::TargetPosition to);
  Spool& spool() { return *spool_; }
  void End() { spool_.reset(); }

  std::string blob;  // of the newest sealed epoch that had rows
  EpochId sealed = 0;
  NoOutputs outputs;

 private:
  static SpoolOptions DefaultOptions();
  World* world_;
  std::unique_ptr<Spool> spool_;
  EpochId cut_ = 0;
  std::optional<flow::Extent> extent_;
};

}  // namespace weir::store::testing

#endif  // WEIR_STORE_TESTING_SPOOL_WORLD_H_
