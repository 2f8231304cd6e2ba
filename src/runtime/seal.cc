// Cut and seal: the loop freezes an epoch between two batches; the disk worker makes it durable
// (exactly-once.md, "Sealing").
#include <algorithm>
#include <map>

#include "base/log.h"
#include "io/fault.h"
#include "runtime/engine.h"
#include "runtime/epoch_body.h"

namespace weir::runtime {

namespace {

constexpr int64_t kSealRetryNs = 300'000'000;
constexpr int64_t kParksLookNs = 1'000'000'000;
constexpr uint64_t kCompactBytesMax = 4 << 20;  // written between two seals

}  // namespace

void Engine::Cut() {
  (void)WEIR_FAULT_POINT("cut.before_freeze");
  last_cut_ns_ = env_.clock.MonotonicNs();
  const bool end_of_input =
      phase_ == Phase::kFinishing && std::all_of(graph_->scans().begin(), graph_->scans().end(),
                                                 [](const auto& s) { return s->ended(); });
  if (phase_ != Phase::kReading) final_cut_done_ = true;
  // Rows that a stage has taken and then parked on cannot be sealed: the epoch is dropped and read
  // again by the next start.
  for (const Sink& sink : graph_->sinks()) {
    if (sink.stage == nullptr || !sink.stage->park()) continue;
    const flow::NodeBooks& books = sink.books();
    if (books[flow::Count::kStaged] != books[flow::Count::kSealed]) {
      return End(Status(Code::kRefused, sink.stage->park()->ToString()));
    }
  }
  store::FrozenEpoch epoch;
  next_epoch_ = std::max(next_epoch_, deliveries_->highest_receipt() + 1);
  epoch.id = next_epoch_++;
  for (Sink& sink : graph_->sinks()) {
    if (sink.stage == nullptr) continue;
    if (auto extent = sink.stage->Freeze(epoch.id, end_of_input))
      epoch.sinks.push_back({sink.name, std::move(*extent), sink.target,
                             sink.spool == nullptr ? kWatermarkNone : sink.watermark_at_cut});
    flow::NodeBooks& books = sink.books();
    books[flow::Count::kSealed] = books[flow::Count::kStaged];
    if (sink.stage->acked_by_seal()) books[flow::Count::kAcked] = books[flow::Count::kSealed];
  }
  graph_->NoteWatermarks();
  std::vector<flow::BucketDelta> deltas;
  const auto take = [&](const std::string& owner) {
    for (flow::BucketDelta& delta : deltas) epoch.state.push_back({owner, std::move(delta)});
    deltas.clear();
  };
  for (const Graph::OperatorRef& ref : graph_->operators()) {
    ref.op->Freeze(deltas);
    take(ref.node->name);
  }
  EpochBody body;
  for (auto& scan : graph_->scans()) {
    if (Status status = scan->Freeze(deltas); !status.ok()) return End(std::move(status));
    for (const flow::BucketDelta& delta : deltas) {
      epoch.positions_digest_input += scan->name() + delta.bucket + delta.blob;
    }
    take(scan->name());
    body.watermarks[scan->name()] = scan->watermark();
    if (const std::string key = scan->CurrentKey(); !key.empty()) body.current[scan->name()] = key;
    if (scan->ended()) body.ended.insert(scan->name());
  }
  for (const Graph::NodeBooksRef& ref : graph_->Books()) body.books[ref.node->name] = ref.books;
  if (std::string wrong = graph_->CheckBalance(); !wrong.empty() && wrong != books_error_) {
    books_error_ = wrong;
    LogError("books_do_not_balance", {{"epoch", epoch.id}, {"what", wrong}});
  }
  epoch.body = body.Encode();
  Deliveries::Notes notes = deliveries_->TakeNotes();
  epoch.acked = std::move(notes.acked);
  epoch.used_words = std::move(notes.used_words);
  epoch.used_words.insert(epoch.used_words.end(), used_words_.begin(), used_words_.end());
  used_words_.clear();
  frozen_ = std::move(epoch);
  if (trace_) trace_(protocol::CutEvent(frozen_->id));
  (void)WEIR_FAULT_POINT("cut.after_freeze");
}

void Engine::StartSeal() {
  if (phase_ == Phase::kDone) return;
  seal_state_ = SealState::kInFlight;
  seal_started_ns_ = env_.clock.MonotonicNs();
  auto status = std::make_shared<Status>();
  disk_->Post(
      [this, status] {
        *status = WEIR_FAULT_POINT("seal.before_stage_sync").ToStatus("seal.before_stage_sync");
        for (Sink& sink : graph_->sinks()) {
          if (!status->ok()) return;
          if (sink.stage != nullptr) *status = sink.stage->Sync();
        }
        if (status->ok())
          *status = WEIR_FAULT_POINT("seal.after_stage_sync").ToStatus("seal.after_stage_sync");
        if (status->ok()) *status = store_->Seal(*frozen_);
      },
      [this, status] { OnSealed(*status); });
}

void Engine::OnSealed(const Status& status) {
  const int64_t now_ns = env_.clock.MonotonicNs();
  if (status.code() == Code::kNoSpace || status.code() == Code::kBusy) {
    // Nothing happened: the same epoch is tried again unchanged. The reserve lets marks and trims
    // be written meanwhile.
    const bool space = status.code() == Code::kNoSpace;
    if (seal_state_ != (space ? SealState::kWaitsForSpace : SealState::kWaitsForLock)) {
      LogWarning("seal_waits", {{"epoch", frozen_->id}, {"reason", status.message()}});
    }
    seal_state_ = space ? SealState::kWaitsForSpace : SealState::kWaitsForLock;
    if (space) store_->FreeReserve();
    seal_retry_ns_ = now_ns + kSealRetryNs;
    UpdatePressure(/*ask_disk=*/true);
    return;
  }
  if (!status.ok()) return End(status);
  uint64_t rows = 0;
  for (const store::FrozenSink& sink : frozen_->sinks) rows += sink.extent.rows;
  LogDebug(
      "epoch_sealed",
      {{"epoch", frozen_->id}, {"rows", rows}, {"took_ms", (now_ns - seal_started_ns_) / 1000000}});
  seal_state_ = SealState::kNone;
  sealed_ = frozen_->id;
  ++sealed_in_run_;
  first_epoch_of_run_ = false;
  compaction_due_ = true;
  TraceSealed();
  AfterSeal();
  frozen_.reset();
}

void Engine::TraceSealed() {
  if (!trace_) return;
  const Lineage lineage = store_->run().lineage;
  std::map<std::string, uint64_t> by_target;
  std::vector<std::pair<std::string, uint64_t>> local;
  for (const store::FrozenSink& frozen : frozen_->sinks) {
    for (const Sink& sink : graph_->sinks()) {
      if (sink.name != frozen.sink) continue;
      if (sink.spool != nullptr)
        by_target[sink.target] += frozen.extent.rows;
      else
        local.emplace_back(sink.name, frozen.extent.rows);
    }
  }
  const Result<Digest256> hash = store_->HashOf(lineage, sealed_);
  trace_(protocol::SealedEvent(lineage, sealed_, hash.value_or(Digest256{}),
                               {by_target.begin(), by_target.end()}, local));
}

void Engine::AfterSeal() {
  for (auto& scan : graph_->scans()) scan->Sealed();
  for (size_t i = 0; i < graph_->sinks().size(); ++i) {
    Sink& sink = graph_->sinks()[i];
    if (sink.stage == nullptr) continue;
    if (auto work = sink.stage->Sealed(sealed_)) RunWork(i, std::move(work));
  }
  PostTrims();
  store_->RestoreReserve();
  // Keyed state never pauses a source: what is clean and above the share leaves memory, and comes
  // back from its blobs.
  const uint64_t share = memory_limit_ / 2;
  uint64_t bytes = graph_->StateBytes();
  for (const Graph::OperatorRef& ref : graph_->operators()) {
    if (bytes <= share) break;
    const uint64_t own = ref.op->StateBytes();
    const uint64_t others = bytes - own;
    // Half of the share is kept: room for what changes until the next cut.
    const uint64_t keep = share / 2;
    bytes -= ref.op->Evict(keep > others ? keep - others : 0);
  }
  evictable_ = bytes <= share;
}

// A's that are durable now: the segments below them may go.
void Engine::PostTrims() {
  for (const auto& [spool, acked] : deliveries_->TrimDue()) {
    for (size_t i = 0; i < graph_->sinks().size(); ++i) {
      store::Spool* const s = spool;
      const EpochId to = acked;
      if (graph_->sinks()[i].spool == s) RunWork(i, [s, to] { return s->Trim(to); });
    }
  }
}

// Work of a sink on the disk worker: renames, receipt files, trims. In order with the seals.
void Engine::RunWork(size_t sink, std::function<Status()> work) {
  ++pending_work_;
  auto status = std::make_shared<Status>();
  auto shared = std::make_shared<std::function<Status()>>(std::move(work));
  disk_->Post([shared, status] { *status = (*shared)(); },
              [this, sink, shared, status] { OnWork(sink, std::move(*shared), *status); });
}

void Engine::OnWork(size_t sink, std::function<Status()> work, const Status& status) {
  --pending_work_;
  if (status.ok()) return;
  if (status.code() == Code::kNoSpace) {
    store_->FreeReserve();
    retries_.push_back({sink, std::move(work), env_.clock.MonotonicNs() + kSealRetryNs});
    return;
  }
  // A stage that parks itself over what it found says so by park(); the pipeline goes on.
  if (const auto park = graph_->sinks()[sink].stage->park()) {
    LogError("parked", {{"what", park->ToString()}, {"reason", status.message()}});
    return;
  }
  End(status);
}

// A's that moved while nothing is sealed (an idle pipeline) become durable on their own.
void Engine::WriteAckedNotes() {
  if (seal_state_ != SealState::kNone || marks_in_flight_ || phase_ == Phase::kDone) return;
  const int64_t now_ns = env_.clock.MonotonicNs();
  if (CutDue(now_ns)) return;  // the next seal carries them
  if (now_ns < marks_retry_ns_) return;
  Deliveries::Notes notes = deliveries_->TakeNotes();
  if (notes.empty()) return;
  marks_in_flight_ = true;
  auto status = std::make_shared<Status>();
  auto shared = std::make_shared<Deliveries::Notes>(std::move(notes));
  disk_->Post(
      [this, shared, status] { *status = store_->WriteAcked(shared->acked, shared->used_words); },
      [this, shared, status] {
        marks_in_flight_ = false;
        if (status->ok()) {
          PostTrims();
        } else if (status->code() != Code::kNoSpace && status->code() != Code::kBusy) {
          End(*status);
        } else {
          deliveries_->KeepNotes(*shared);  // with the next seal, or a later turn
          marks_retry_ns_ = env_.clock.MonotonicNs() + kSealRetryNs;
        }
      });
}

// What somebody has to decide is noted when it changes, so that weir status can say it when the
// process is gone. Looked at now and then: a source may have many files.
void Engine::NoteParks() {
  const int64_t now_ns = env_.clock.MonotonicNs();
  if (parks_in_flight_ || phase_ == Phase::kDone || now_ns < next_parks_look_ns_) return;
  next_parks_look_ns_ = now_ns + kParksLookNs;
  const std::vector<protocol::Park> parks = AllParks();
  std::string text = protocol::ParksJson(parks);
  if (text == noted_parks_) return;
  parks_in_flight_ = true;
  auto status = std::make_shared<Status>();
  disk_->Post([this, parks, status] { *status = store_->NoteParks(parks); },
              [this, text, status] {
                parks_in_flight_ = false;
                if (status->ok()) {
                  noted_parks_ = text;
                } else if (status->code() != Code::kNoSpace && status->code() != Code::kBusy) {
                  End(*status);
                }
              });
}

void Engine::MaintainStore() {
  // Nothing follows the finish marker: a death there counts as finished, and each moment more is
  // one in which a rerun would publish again.
  if (finish_posted_ || phase_ == Phase::kDone) return;
  if (!compaction_due_ || compacting_ || seal_state_ != SealState::kNone) return;
  compacting_ = true;
  auto result = std::make_shared<Result<bool>>(false);
  disk_->Post([this, result] { *result = store_->Compact(kCompactBytesMax); },
              [this, result] {
                compacting_ = false;
                if (*result) {
                  compaction_due_ = **result;
                } else if (result->error().code() == Code::kNoSpace ||
                           result->error().code() == Code::kBusy) {
                  compaction_due_ = false;  // after the next seal
                } else {
                  End(result->error());
                }
              });
}

}  // namespace weir::runtime
