// Engine: one run of one pipeline. Start is the takeover; Turn is one pass of the loop's ordered
// list; the rest is asked by app/. Knows no loop, no signal, no terminal: app/ calls Turn when
// something is due, the simulation calls it in a plain loop.
//
//   Start -> [kReading] -> Turn ... -> kFinishing -> kDone(0 | 78)          bounded input ended
//                 \-> RequestStop -> kStopping -> kDone(0 | 75)             SIGTERM
//                 \-> an error -> kDone(its exit code)
#ifndef WEIR_RUNTIME_ENGINE_H_
#define WEIR_RUNTIME_ENGINE_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/env.h"
#include "plan/plan.h"
#include "protocol/trace.h"
#include "runtime/deliveries.h"
#include "runtime/factories.h"
#include "runtime/graph.h"
#include "runtime/pressure.h"
#include "store/store.h"

namespace weir::runtime {

struct EngineOptions {
  std::string directory;           // the state directory
  std::string pipeline, instance;  // for a directory that is born now
  std::string weir_version;        // recorded, so that an older binary can name the newer one
  bool fresh = false;
  bool discard_undelivered = false;
  std::optional<std::string> job;
  int64_t drain_ms = 10000;
  std::string canonical_plan;
  Digest256 fingerprint;
  // Called on the loop thread when all is delivered, before the finish marker is written: what is
  // to be said is said first, so that the process can end as its very next act after the marker.
  std::function<void()> before_finish_marker;
};

// Rows since the start of this run, and of the lineage: for the progress line and the summary.
struct Totals {
  uint64_t read = 0, filtered = 0, late = 0, dead = 0, emitted = 0;
};

struct Snapshot {
  Totals totals;        // of this run
  uint64_t epochs = 0;  // sealed in this run
  EpochId sealed = 0;
  uint64_t read_bytes = 0, total_bytes = 0;  // of the input, whoever has read them
  uint64_t run_bytes = 0;                    // read by this run
  TimestampMs watermark = kWatermarkNone;
  int64_t running_ms = 0;
  bool bounded = false;
};

class Engine {
 public:
  // Makes the factories once the directory's recorded names, and the operator's words to this
  // start, are known.
  using MakeFactories =
      std::function<Factories(const std::string& pipeline, const std::string& instance,
                              const std::vector<protocol::Resolution>& words)>;
  // Takeover (exactly-once.md): nothing is cut and no sink is contacted before the run row is
  // durable. nullptr: the job has already finished (exit 0). kInterrupted: the heartbeat was told
  // to stop; the next start takes over as after a kill. kCorruption: damage in the directory,
  // unless weir.on-damage moves it aside and begins anew.
  static Result<std::unique_ptr<Engine>> Start(const io::Env& env, const EngineOptions& options,
                                               std::unique_ptr<plan::Plan> plan,
                                               const MakeFactories& make_factories,
                                               protocol::TraceSink trace);
  ~Engine();

  // One pass. Returns how long nothing is due (0: call again at once).
  int64_t Turn();
  bool done() const { return phase_ == Phase::kDone; }
  // Why it ended: OK; kInterrupted (75: a bounded input was stopped before its end, or not
  // everything could be sealed); kRefused (78: only parked sources and sinks left); or the failure.
  const Status& result() const { return result_; }
  void RequestStop();
  // Everything that a caller may leave to the operating system: helper threads in a blocking call
  // are not waited for.
  bool HelpersBusy() const;

  Snapshot snapshot() const;
  std::string StatusJson() const;
  std::string EpochsWaiting()
      const;  // one line for the stop: how many epochs wait in the spool; "" none
  const plan::Plan& plan() const { return *plan_; }

 private:
  enum class Phase { kReading, kFinishing, kStopping, kDone };
  enum class SealState { kNone, kInFlight, kWaitsForSpace, kWaitsForLock };

  Engine(const io::Env& env, const EngineOptions& options, std::unique_ptr<plan::Plan> plan,
         protocol::TraceSink trace);

  // takeover.cc
  Status TakeOver(const MakeFactories& make_factories, bool* already_finished);
  void TakeSettings();
  Result<protocol::TakeoverDecision> Decide(const store::Asked& asked);
  Status BuildGraph(const MakeFactories& make_factories,
                    const std::vector<protocol::Resolution>& words, bool fresh);
  Status InspectSinks(const std::optional<store::SealedEpoch>& sealed,
                      const protocol::TakeoverDecision& decision,
                      const std::vector<protocol::Resolution>& words);
  Status BeginRun(const store::Asked& asked, const protocol::TakeoverDecision& decision);
  Status RecoverSinks();
  Status Restore(const std::optional<store::SealedEpoch>& sealed);
  ScanSettings ScanDefaults() const;
  // turn.cc
  void CheckErrors();
  void RunTimers(int64_t now_ns);
  bool ReadSources(int64_t now_ns);
  void UpdatePressure(bool ask_disk);
  bool CutDue(int64_t now_ns) const;
  int64_t CutWantedMs() const;
  bool StageParked() const;
  void TryFinish();
  void PostEnd(std::function<Status()> mark, Status result);
  void Finish();
  void End(Status status);
  int64_t WaitMs(bool progressed) const;
  // seal.cc
  void Cut();
  void StartSeal();
  void OnSealed(const Status& status);
  void TraceSealed();
  void AfterSeal();
  void PostTrims();
  void RunWork(size_t sink, std::function<Status()> work);
  void OnWork(size_t sink, std::function<Status()> work, const Status& status);
  void MaintainStore();
  void WriteAckedNotes();
  void NoteParks();
  // engine_status.cc
  std::vector<protocol::Park> AllParks() const;
  Totals CountTotals() const;  // of the lineage
  bool NothingUnsealed() const;

  const io::Env& env_;
  EngineOptions options_;
  std::unique_ptr<plan::Plan> plan_;
  protocol::TraceSink trace_;
  std::unique_ptr<store::Store> store_;
  Factories factories_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Deliveries> deliveries_;
  std::vector<protocol::LineageRecord> lineages_;
  std::vector<flow::TakeoverContext> sink_contexts_;  // of the takeover, by sink
  std::unique_ptr<io::Worker> disk_;  // declared after what its jobs use: it is joined first

  Phase phase_ = Phase::kReading;
  Status result_;
  bool stop_requested_ = false;
  bool input_ended_ = false;  // before the stop
  int64_t stop_deadline_ns_ = 0;
  int64_t started_ns_ = 0;

  // Epochs. At most one seal is in flight; `frozen_` is kept until it is sealed.
  SealState seal_state_ = SealState::kNone;
  std::optional<store::FrozenEpoch> frozen_;
  int64_t seal_started_ns_ = 0;
  int64_t seal_retry_ns_ = 0;
  bool final_cut_done_ = false;
  bool first_epoch_of_run_ = true;
  std::vector<uint64_t>
      used_words_;  // that stages and sources acted on: durable with the next seal
  EpochId next_epoch_ = 1;
  EpochId sealed_ = 0;
  uint64_t sealed_in_run_ = 0;
  bool evictable_ =
      true;  // false: the last eviction left more than the share, and cutting early would not help
  int64_t last_cut_ns_ = 0;
  int64_t interval_ms_ = 1000;
  int pending_work_ = 0;  // disk jobs of sinks (renames, receipt files)
  struct Retry {
    size_t sink;
    std::function<Status()> work;
    int64_t at_ns;
  };
  std::vector<Retry> retries_;
  bool compacting_ = false;
  bool compaction_due_ = true;
  bool marks_in_flight_ = false;
  bool reading_waits_for_seal_ = false;  // a test asked for it (io/fault.h, wait:MS)
  int64_t marks_retry_ns_ = 0;
  std::string noted_parks_ = "[]";  // as the directory knows them, of this run
  bool parks_in_flight_ = false;
  int64_t next_parks_look_ns_ = 0;
  bool finish_posted_ = false;
  size_t next_scan_ = 0;

  PressureFacts pressure_facts_;
  Pressure pressure_ = Pressure::kNone;
  int64_t next_disk_check_ns_ = 0;
  int64_t next_stage_retry_ns_ = 0;
  uint64_t memory_limit_ = 0;
  std::string books_error_;
  Totals totals_at_start_;
  uint64_t read_bytes_at_start_ = 0;
  std::vector<std::string> recent_errors_;
};

}  // namespace weir::runtime

#endif  // WEIR_RUNTIME_ENGINE_H_
