// The turn: one pass of the loop, as one ordered list. Each phase says what must precede it.
#include <algorithm>

#include "base/log.h"
#include "io/fault.h"
#include "runtime/engine.h"

namespace weir::runtime {

namespace {

constexpr int64_t kReadBudgetNs = 10'000'000;  // phases 3-5 of one turn
constexpr int64_t kDiskCheckNs = 1'000'000'000;
constexpr int64_t kStageRetryNs = 200'000'000;
constexpr int64_t kLongestWaitMs = 1000;

}  // namespace

int64_t Engine::Turn() {
  if (phase_ == Phase::kDone) return 0;
  // 1. Completions: they move staged to durable, and free what backpressure counts.
  env_.completions.RunAll();
  CheckErrors();
  if (phase_ == Phase::kDone) return 0;
  const int64_t now_ns = env_.clock.MonotonicNs();
  // 2. Timers.
  RunTimers(now_ns);
  // 3-5. Sources, operators, watermarks. Not while something that drains by itself is full.
  const bool progressed = ReadSources(now_ns);
  for (Sink& sink : graph_->sinks()) {
    if (sink.direct == nullptr) continue;
    if (Status status = sink.direct->Flush(); !status.ok()) End(std::move(status));
  }
  CheckErrors();
  if (phase_ == Phase::kDone) return 0;
  // A stop with nothing to seal seals nothing.
  if (phase_ == Phase::kStopping && !final_cut_done_ && NothingUnsealed()) final_cut_done_ = true;
  // 6-7. Cut between two batches, so that nothing is in flight; hand the frozen epoch to the disk
  // worker.
  if (CutDue(env_.clock.MonotonicNs())) {
    Cut();
    if (phase_ != Phase::kDone) StartSeal();
  }
  deliveries_->Step(sealed_);
  WriteAckedNotes();
  NoteParks();
  MaintainStore();
  TryFinish();
  CheckErrors();
  return WaitMs(progressed);
}

void Engine::End(Status status) {
  if (phase_ == Phase::kDone) return;
  phase_ = Phase::kDone;
  result_ = std::move(status);
}

void Engine::CheckErrors() {
  if (!graph_->error().ok()) {
    // The reader of our standard output has gone: a bare SELECT has nobody left to read for.
    if (graph_->error().code() == Code::kEndOfStream) return End(Status::Ok());
    return End(graph_->error());
  }
  if (!deliveries_->error().ok()) End(deliveries_->error());
}

void Engine::RunTimers(int64_t now_ns) {
  const bool ask_disk = now_ns >= next_disk_check_ns_;
  if (ask_disk) next_disk_check_ns_ = now_ns + kDiskCheckNs;
  if (now_ns >= next_stage_retry_ns_) {
    next_stage_retry_ns_ = now_ns + kStageRetryNs;
    for (Sink& sink : graph_->sinks()) {
      if (sink.stage == nullptr || !sink.stage->paused()) continue;
      Status status = sink.stage->RetryWrites();
      if (!status.ok() && status.code() != Code::kNoSpace) return End(std::move(status));
    }
  }
  if ((seal_state_ == SealState::kWaitsForSpace || seal_state_ == SealState::kWaitsForLock) &&
      now_ns >= seal_retry_ns_) {
    StartSeal();
  }
  std::vector<Retry> due;
  for (size_t i = 0; i < retries_.size();) {
    if (retries_[i].at_ns <= now_ns) {
      due.push_back(std::move(retries_[i]));
      retries_.erase(retries_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  for (Retry& retry : due) RunWork(retry.sink, std::move(retry.work));
  UpdatePressure(ask_disk);
  // Also when the input has ended and only a target is waited for, which may be away for weeks.
  const bool stoppable = phase_ == Phase::kReading || phase_ == Phase::kFinishing;
  if (stop_requested_ && stoppable && !finish_posted_) {
    input_ended_ = phase_ == Phase::kFinishing;
    phase_ = Phase::kStopping;
    stop_deadline_ns_ = now_ns + options_.drain_ms * 1000000;
    LogInfo("stopping", {{"drain_ms", options_.drain_ms}});
  }
}

void Engine::UpdatePressure(bool ask_disk) {
  PressureFacts& facts = pressure_facts_;
  facts.stage_paused = false;
  facts.buffered_bytes = 0;
  facts.spool_bytes = 0;
  for (const Sink& sink : graph_->sinks()) {
    if (sink.stage == nullptr) continue;
    facts.stage_paused |= sink.stage->paused();
    facts.buffered_bytes += sink.stage->BufferedBytes();
    if (sink.spool != nullptr) facts.spool_bytes += sink.spool->SpoolBytes();
  }
  facts.seal_waits_for_space = seal_state_ == SealState::kWaitsForSpace;
  facts.seal_in_flight = seal_state_ != SealState::kNone;
  facts.state_bytes = graph_->StateBytes();
  facts.state_bytes_max = memory_limit_ / 2;
  if (ask_disk) {
    const Result<io::SpaceInfo> space = env_.files.Space(options_.directory);
    facts.free_known = space.has_value();
    if (space) {
      facts.disk_free = space->free_bytes;
      const plan::Options& set = plan_->settings;
      facts.disk_min_free = set.Has("weir.disk.min-free")
                                ? static_cast<uint64_t>(set.Integer("weir.disk.min-free"))
                                : std::max<uint64_t>(64 << 20, space->total_bytes / 50);
    }
  }
  const Pressure now = DecidePressure(facts);
  if (now == pressure_) return;
  const bool routine = now == Pressure::kUnsealedState || pressure_ == Pressure::kUnsealedState;
  pressure_ = now;
  if (routine) return;
  if (now != Pressure::kNone)
    LogWarning("reading_paused", {{"reason", DescribePressure(now, facts)}});
  else
    LogInfo("reading_resumed");
}

bool Engine::StageParked() const {
  return std::any_of(graph_->sinks().begin(), graph_->sinks().end(), [](const Sink& sink) {
    return sink.stage != nullptr && sink.stage->park().has_value();
  });
}

bool Engine::ReadSources(int64_t now_ns) {
  if (phase_ != Phase::kReading || pressure_ != Pressure::kNone) return false;
  if (reading_waits_for_seal_ && seal_state_ != SealState::kNone) return false;
  reading_waits_for_seal_ = false;
  if (StageParked()) {
    // A parked file has no place for its rows, and a row that is read must go to all sinks: nothing
    // more is read. What is sealed is still delivered; a bounded run then has nothing left to wait
    // for.
    if (plan_->bounded) phase_ = Phase::kFinishing;
    return false;
  }
  auto& scans = graph_->scans();
  const int64_t until_ns = now_ns + kReadBudgetNs;
  size_t idle = 0;
  bool progressed = false;
  while (idle < scans.size() && phase_ == Phase::kReading) {
    next_scan_ = (next_scan_ + 1) % scans.size();
    const Result<Scan::Outcome> outcome = graph_->Poll(next_scan_);
    if (!outcome) {
      if (graph_->error().ok()) End(outcome.error());
      return false;
    }
    if (*outcome == Scan::Outcome::kProgress) {
      progressed = true;
      idle = 0;
      // Tests kill after so many batches here, slow the reading down, or have it wait for the seal
      // in flight, so that a small input has many epochs on a slow disk too.
      const io::FaultResult fault = WEIR_FAULT_POINT("scan.after_batch");
      reading_waits_for_seal_ =
          fault.action == io::FaultAction::kWait && seal_state_ != SealState::kNone;
      if (reading_waits_for_seal_) break;
    } else {
      ++idle;
    }
    if (env_.clock.MonotonicNs() >= until_ns || env_.completions.Waiting()) break;
    UpdatePressure(/*ask_disk=*/false);
    if (pressure_ != Pressure::kNone) break;
    if (progressed && CutDue(env_.clock.MonotonicNs())) break;
  }
  const bool all_ended =
      std::all_of(scans.begin(), scans.end(), [](const auto& s) { return s->ended(); });
  const bool all_stuck = std::all_of(scans.begin(), scans.end(),
                                     [](const auto& s) { return s->ended() || s->parked(); });
  if ((all_ended || (plan_->bounded && all_stuck && !progressed)) && phase_ == Phase::kReading) {
    phase_ = Phase::kFinishing;
  }
  return progressed;
}

bool Engine::NothingUnsealed() const {
  if (seal_state_ != SealState::kNone) return false;
  if (first_epoch_of_run_ || CutWantedMs() == 0) return false;
  return std::none_of(graph_->scans().begin(), graph_->scans().end(),
                      [](const auto& s) { return s->dirty(); });
}

int64_t Engine::CutWantedMs() const {
  int64_t wait = -1;
  for (const Sink& sink : graph_->sinks()) {
    const int64_t ms = sink.stage != nullptr ? sink.stage->CutWantedMs() : -1;
    if (ms >= 0 && (wait < 0 || ms < wait)) wait = ms;
  }
  return wait;
}

bool Engine::CutDue(int64_t now_ns) const {
  if (seal_state_ != SealState::kNone || phase_ == Phase::kDone) return false;
  if (phase_ == Phase::kFinishing || phase_ == Phase::kStopping) return !final_cut_done_;
  // State above its share is cut early: only what is sealed can leave memory.
  const bool early = pressure_facts_.state_bytes > memory_limit_ / 2 && evictable_;
  if (!early && now_ns - last_cut_ns_ < interval_ms_ * 1000000) return false;
  return !NothingUnsealed();
}

void Engine::TryFinish() {
  if (phase_ != Phase::kFinishing && phase_ != Phase::kStopping) return;
  const bool sealed_all =
      final_cut_done_ && seal_state_ == SealState::kNone && pending_work_ == 0 && retries_.empty();
  if (phase_ == Phase::kStopping) {
    const bool late = env_.clock.MonotonicNs() >= stop_deadline_ns_;
    const bool drained =
        sealed_all && deliveries_->Settled(sealed_, /*count_parked=*/true) && !marks_in_flight_;
    if (!drained && !late) return;
    if (!sealed_all)
      return End(Status(Code::kInterrupted, "stopped before the last epoch could be sealed"));
    const char* why = input_ended_ ? "stopped before everything was delivered"
                                   : "a bounded input was stopped before its end";
    return PostEnd([this] { return store_->WriteCleanStop(); },
                   plan_->bounded ? Status(Code::kInterrupted, why) : Status::Ok());
  }
  if (!sealed_all || marks_in_flight_) return;
  const std::vector<protocol::Park> parks = AllParks();
  if (!parks.empty()) {
    if (!deliveries_->Settled(sealed_, /*count_parked=*/true)) return;
    return PostEnd([this] { return store_->WriteParkedEnd(); },
                   Status(Code::kRefused, parks[0].ToString()));
  }
  if (!deliveries_->Settled(sealed_, /*count_parked=*/false)) return;
  Finish();
}

// The last marks of a run that everything is sealed of, with what it leaves to decide. Without
// space for them they are left out: the next start finds out.
void Engine::PostEnd(std::function<Status()> mark, Status result) {
  if (finish_posted_) return;
  finish_posted_ = true;
  auto status = std::make_shared<Status>();
  std::vector<protocol::Park> parks = AllParks();
  const bool changed = protocol::ParksJson(parks) != noted_parks_;
  disk_->Post(
      [this, mark = std::move(mark), parks = std::move(parks), changed, status] {
        if (changed) *status = store_->NoteParks(parks);
        if (status->ok()) *status = mark();
      },
      [this, status, result = std::move(result)] {
        const bool unknown =
            !status->ok() && status->code() != Code::kNoSpace && status->code() != Code::kBusy;
        End(unknown ? *status : result);
      });
}

void Engine::Finish() {
  if (finish_posted_) return;
  finish_posted_ = true;
  if (options_.before_finish_marker) options_.before_finish_marker();
  auto status = std::make_shared<Status>();
  disk_->Post(
      [this, status] {
        (void)WEIR_FAULT_POINT("finish.before_marker");
        *status = store_->WriteFinished();
        (void)WEIR_FAULT_POINT("finish.after_marker");
      },
      [this, status] {
        if (status->ok()) {
          if (trace_) trace_(protocol::FinishedEvent(store_->run().run));
          return End(Status::Ok());
        }
        if (status->code() != Code::kNoSpace && status->code() != Code::kBusy) return End(*status);
        store_->FreeReserve();
        finish_posted_ = false;  // tried again: nothing happened
      });
}

void Engine::RequestStop() { stop_requested_ = true; }

bool Engine::HelpersBusy() const {
  return deliveries_->Busy() || seal_state_ == SealState::kInFlight || pending_work_ > 0 ||
         marks_in_flight_;
}

int64_t Engine::WaitMs(bool progressed) const {
  if (phase_ == Phase::kDone || progressed || env_.completions.Waiting()) return 0;
  const int64_t now_ns = env_.clock.MonotonicNs();
  // Completions wake the loop through their descriptor; the rest is time.
  int64_t wait = kLongestWaitMs;
  const auto at = [&](int64_t when_ns) {
    wait = std::min(wait, std::max<int64_t>(0, (when_ns - now_ns + 999999) / 1000000));
  };
  if (phase_ == Phase::kReading && pressure_ == Pressure::kNone) {
    for (const auto& scan : graph_->scans()) {
      const int64_t ms = scan->WaitMs();
      if (ms >= 0) wait = std::min(wait, ms);
    }
    if (!NothingUnsealed() && seal_state_ == SealState::kNone)
      at(last_cut_ns_ + interval_ms_ * 1000000);
    if (const int64_t ms = CutWantedMs(); ms > 0) wait = std::min(wait, ms);
  }
  if (seal_state_ == SealState::kWaitsForSpace || seal_state_ == SealState::kWaitsForLock)
    at(seal_retry_ns_);
  if (pressure_ == Pressure::kStagePaused) at(next_stage_retry_ns_);
  for (const Retry& retry : retries_) at(retry.at_ns);
  if (phase_ == Phase::kStopping) at(stop_deadline_ns_);
  const int64_t delivery_ms = deliveries_->WaitMs();
  if (delivery_ms >= 0) wait = std::min(wait, delivery_ms);
  return wait;
}

}  // namespace weir::runtime
