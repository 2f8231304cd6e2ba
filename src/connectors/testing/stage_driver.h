// Drives a SinkStage through the lives of a pipeline as runtime does: takeover, epochs, seals,
// deaths.
#ifndef WEIR_CONNECTORS_TESTING_STAGE_DRIVER_H_
#define WEIR_CONNECTORS_TESTING_STAGE_DRIVER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/testing/connector_world.h"
#include "flow/sink.h"

namespace weir::connectors {

// What the state directory remembers of one sink.
struct StageHistory {
  bool fresh = true;  // the next start is a fresh run (nothing is sealed in the lineage)
  Lineage lineage = FirstLineage();
  EpochId base = 0;
  EpochId sealed = 0;
  EpochId next_epoch = 1;
  std::string blob;  // of the newest epoch with an extent
  std::vector<protocol::LineageRecord> lineages;
  std::vector<std::string> claimed;  // sorted
  std::vector<protocol::Resolution> words;

  static Lineage FirstLineage() { return Lineage{{0xab, 1}}; }
  void BeginFreshRun();
};

class StageDriver {
 public:
  StageDriver(const ConnectorContext& context, const plan::TableDef& table, StageHistory& history);
  StageDriver(std::unique_ptr<flow::SinkStage> stage, StageHistory& history)
      : history_(history), stage_(std::move(stage)) {}
  // Inspect, the run row with its claims, Recover.
  Status Start();
  Status Stage(const std::vector<int64_t>& values);
  bool Freeze(bool end_of_input = false);  // whether there is an extent
  Status FinishSeal();                     // after Sync: the seal is durable, then its work
  Status RepeatWork() { return work_(); }  // after kNoSpace from it
  Status Seal(bool end_of_input = false);  // all three
  Status SealWithoutWork(bool end_of_input = false);
  flow::SinkStage& stage() { return *stage_; }

 private:
  StageHistory& history_;
  std::unique_ptr<flow::SinkStage> stage_;
  EpochId epoch_ = 0;
  std::optional<flow::Extent> extent_;
  std::function<Status()> work_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_TESTING_STAGE_DRIVER_H_
