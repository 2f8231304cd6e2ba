#include "runtime/deliveries.h"

#include <algorithm>

#include "base/log.h"
#include "io/fault.h"

namespace weir::runtime {

namespace {

constexpr int64_t kBackoffFirstMs = 100;
// Long enough for a target that is away for weeks, short enough that whoever has just brought it
// back sees it come back.
constexpr int64_t kBackoffMaxMs = 5000;
// One fencing proves nothing: a stray InitProducerId of a dead process looks the same.
constexpr int kFencedInRowMax = 3;

using protocol::DeliveryAction;
using protocol::TargetPosition;

bool Waits(const Status& status) {
  return status.code() == Code::kNoSpace || status.code() == Code::kBusy;
}

}  // namespace

// Rows of a target in its order: epoch by epoch, sink by sink as in the plan.
class Deliveries::TargetReader : public flow::RowReader {
 public:
  TargetReader(Graph& graph, const Target& target)
      : graph_(graph), pieces_(target.range.pieces), sinks_(target.sinks) {}

  Result<bool> Next(flow::RowsAt* at, Batch& out) override {
    while (true) {
      if (reader_ == nullptr) {
        if (at_ == pieces_.size()) return false;
        const DeliveryPiece& p = pieces_[at_];
        store::Spool& spool = *graph_.sinks()[sinks_[p.sink]].spool;
        reader_ = spool.Read(p.epoch, p.from, p.epoch, p.to, p.sink);
      }
      WEIR_ASSIGN_OR_RETURN(const bool more, reader_->Next(at, out));
      if (more) {
        at->first += pieces_[at_].before;
        at->watermark = pieces_[at_].watermark;
        return true;
      }
      reader_.reset();
      ++at_;
    }
  }

 private:
  Graph& graph_;
  const std::vector<DeliveryPiece> pieces_;
  const std::vector<int> sinks_;
  size_t at_ = 0;
  std::unique_ptr<flow::RowReader> reader_;
};

void Deliveries::Step(EpochId sealed) {
  const bool grew = sealed != sealed_;
  sealed_ = sealed;
  const int64_t now_ns = env_.clock.MonotonicNs();
  for (auto& t : targets_) {
    Target& target = *t;
    if (grew) CountSealed(target, /*recount=*/false);
    if (target.state == DeliveryState::kBackoff && now_ns >= target.retry_at_ns)
      target.state = DeliveryState::kIdle;
    if (target.state == DeliveryState::kIdle && Due(target, now_ns)) Start(target);
  }
}

bool Deliveries::Due(const Target& target, int64_t now_ns) const {
  if (!target.asked || target.second_look || RefreshDue(target, now_ns)) return true;
  if (target.undelivered == 0) return false;
  return target.undelivered >= target.sizer.rows() || now_ns >= target.next_delivery_ns;
}

void Deliveries::Start(Target& target) {
  target.state = DeliveryState::kLooking;
  target.path_ns = env_.clock.MonotonicNs();
  auto at = std::make_shared<Result<protocol::Whereabouts>>(protocol::Whereabouts());
  target.worker->Post([&target, at] { *at = target.delivery->Look(); },
                      [this, &target, at] { OnLooked(target, std::move(*at)); });
}

// Before anyone is fenced: the target is the one that was recorded, or nothing is touched.
void Deliveries::OnLooked(Target& target, Result<protocol::Whereabouts> at) {
  if (!at) return Backoff(target, at.error());
  target.looked = std::move(*at);
  target.session = target.delivery->SessionName();
  target.traits = target.delivery->Traits();  // what only a contact can tell
  if (Status status = CheckCluster(target); !status.ok()) {
    error_ = std::move(status);
    return;
  }
  const std::string moved = protocol::DescribeMove(target.at, target.looked);
  if (!moved.empty() && !AcceptMoved(target)) {
    return CloseThen(target, [this, &target, moved] {
      Park(target, std::string(target.traits.kind) + ".moved", moved,
           {protocol::Verb::kAcceptTopic});
    });
  }
  if (target.state != DeliveryState::kLooking) return;  // the accepted move is being noted
  target.state = DeliveryState::kFencing;
  std::vector<std::string> ancestors;
  for (const std::string& name : store_.SessionNames()) {
    // Once a run is enough: nobody begins a session under these names any more.
    if (!target.asked && name != target.session) ancestors.push_back(name);
  }
  auto fenced = std::make_shared<Result<flow::Fenced>>(flow::Fenced());
  target.worker->Post([&target, fenced, ancestors] { *fenced = target.delivery->Fence(ancestors); },
                      [this, &target, fenced] { OnFenced(target, std::move(*fenced)); });
}

void Deliveries::OnFenced(Target& target, Result<flow::Fenced> fenced) {
  if (!fenced) return Backoff(target, fenced.error());
  target.fenced = std::move(*fenced);
  if (target.fenced.by_others > 0) {
    target.fenced_by_others += target.fenced.by_others;
    LogWarning("fenced_by_another",
               {{"target", target.name},
                {"session", target.session},
                {"times", target.fenced.by_others},
                {"reason",
                 "somebody else uses this name: a second box with the same instance, or "
                 "a late request of an earlier life"}});
  }
  if (!target.traits.keeps_receipt) target.fenced.receipt = target.seen;
  if (trace_) {
    trace_(protocol::FencedEvent(target.name));
    trace_(protocol::ReceiptReadEvent(target.name, target.fenced.receipt));
  }
  (void)WEIR_FAULT_POINT("deliver.after_receipt_read");
  if (Twin(target)) return;
  auto facts = Facts(target);
  if (!facts) {
    error_ = facts.error();
    return;
  }
  target.facts = *facts;
  if (facts->receipt == protocol::ReceiptKind::kOurs)
    highest_receipt_ = std::max(highest_receipt_, facts->r.epoch);
  target.decision = protocol::DecideDelivery(target.facts);
  if (trace_) trace_(protocol::ResolvedEvent(target.name, target.facts, target.decision));
  if (target.decision.action == DeliveryAction::kScan) return StartScan(target);
  Act(target, target.decision.action, protocol::DescribeDelivery(target.facts, target.decision));
}

// Somebody delivers under our lineage and our name: the receipt is beyond all that we have begun.
bool Deliveries::Twin(Target& target) {
  const auto& receipt = target.fenced.receipt;
  if (!target.traits.receipt_can_hide || !target.asked || !receipt) return false;
  if (receipt->lineage != store_.run().lineage) return false;
  if (receipt == target.seen) return false;  // an operator's word was said to this very one
  std::optional<TargetPosition> ours = target.acked;
  if (target.attempted) ours = std::max(ours, target.attempted);
  if (ours && receipt->position <= *ours) return false;
  error_ = Status(Code::kTwin, target.name + ": the receipt has advanced to " +
                                   receipt->position.ToString() +
                                   " without us: a copy of this state directory delivers under "
                                   "the same name");
  return true;
}

void Deliveries::StartScan(Target& target) {
  target.state = DeliveryState::kScanning;
  flow::ScanRange range;
  range.lineage = store_.run().lineage;
  range.from = target.acked;
  range.since = target.in_flight ? target.in_flight->at : target.at;
  if (target.in_flight) {
    range.to = target.in_flight->to;
    auto epochs = EpochsAbove(target);
    if (!epochs) {
      error_ = epochs.error();
      return;
    }
    range.rows = RowsBetween(*epochs, target.acked, *range.to);
  }
  LogInfo("scan", {{"target", target.name}, {"row", target.decision.row}});
  auto found = std::make_shared<Result<protocol::ScanFacts>>(protocol::ScanFacts());
  target.worker->Post([&target, range, found] { *found = target.delivery->Scan(range); },
                      [this, &target, found] { OnScanned(target, std::move(*found)); });
}

void Deliveries::OnScanned(Target& target, Result<protocol::ScanFacts> found) {
  if (!found) return Backoff(target, found.error());
  const protocol::ScanOutcome outcome = protocol::JudgeScan(*found);
  if (trace_) trace_(protocol::ScannedEvent(target.name, outcome));
  LogInfo("scanned", {{"target", target.name}, {"found", protocol::ScanOutcomeName(outcome)}});
  const DeliveryAction action = protocol::DecideAfterScan(target.facts, target.decision, outcome);
  Act(target, action,
      protocol::DescribeDelivery(target.facts, target.decision) + "; " +
          protocol::DescribeScan(*found));
}

void Deliveries::Act(Target& target, DeliveryAction action, std::string why) {
  switch (action) {
    case DeliveryAction::kScan:
      CHECK(false);  // a scan decides
    case DeliveryAction::kPark:
      if (target.decision.action == DeliveryAction::kScan && !target.second_look) {
        target.second_look = true;
        return CloseThen(target, [&target] { target.state = DeliveryState::kIdle; });
      }
      return CloseThen(target, [this, &target, why = std::move(why)] {
        Park(target,
             std::string(target.traits.kind) + ".row-" + std::to_string(target.decision.row), why,
             protocol::DeliveryVerbs(target.decision.row));
      });
    case DeliveryAction::kAdvanceAcked: {
      // Proven by the receipt or the scan, or by the operator's word.
      const bool scanned = target.decision.action == DeliveryAction::kScan;
      const TargetPosition to =
          scanned ? target.in_flight->to : protocol::AckedAfter(target.facts, target.decision);
      Acked(target, to, target.fenced.receipt, target.fenced.at);
      CountSealed(target, /*recount=*/true);
      break;
    }
    case DeliveryAction::kStart:
    case DeliveryAction::kDeliverFromAcked:
      if (!target.facts.word || !target.acked) break;
      // What the operator has decided on is noted beside A, and what was in flight is forgotten: a
      // death from here on asks nobody again.
      target.seen = target.fenced.receipt;
      target.at = target.fenced.at;
      target.in_flight.reset();
      target.acked_moved = true;
      ++target.acked_order;
      break;
  }
  target.second_look = false;
  target.asked = true;
  if (target.facts.word) {
    LogWarning("resolved", {{"target", target.name},
                            {"verb", protocol::VerbName(*target.facts.word)},
                            {"acked", target.acked ? target.acked->ToString() : "nothing"},
                            {"to_deliver", target.undelivered}});
  }
  // Words are used up by the first decision, whether it needed them or not.
  UseWords(target, /*of_move=*/false);
  UseWords(target, /*of_move=*/true);
  GoOn(target);
}

// Resolved: deliver what there is, or keep the receipt alive.
void Deliveries::GoOn(Target& target) {
  const int64_t now_ns = env_.clock.MonotonicNs();
  if (target.undelivered > 0) {
    auto epochs = EpochsAbove(target);
    if (!epochs) {
      error_ = epochs.error();
      return;
    }
    uint64_t rows_max = target.sizer.rows();
    if (target.traits.rows_max != 0) rows_max = std::min(rows_max, target.traits.rows_max);
    target.range = ChooseRange(*epochs, target.acked, target.sinks.size(), rows_max);
    if (target.range.rows == 0) {
      error_ = Status(Code::kInternal, target.name + ": undelivered rows are not in any epoch");
      return;
    }
    target.next_delivery_ns = now_ns + target.traits.merge_ms * 1000000;
    return target.traits.receipt_can_hide ? StartNote(target) : StartDeliver(target);
  }
  if (target.fenced.receipt && target.fenced.written_ms != 0 && !target.written_ns) {
    const int64_t age_ms = std::max<int64_t>(0, env_.clock.WallMs() - target.fenced.written_ms);
    target.written_ns = now_ns - age_ms * 1000000;
  }
  if (target.acked && !target.in_flight && RefreshDue(target, now_ns)) {
    const Result<protocol::Receipt> receipt = ReceiptAt(*target.acked);
    if (receipt) return StartRefresh(target, *receipt);
    target.written_ns = now_ns;  // its hash is not kept any more: the next delivery renews it
  }
  Recovered(target);  // it answers, and there is nothing that it could refuse
  CloseThen(target, [&target] { target.state = DeliveryState::kIdle; });
}

void Deliveries::StartNote(Target& target) {
  target.state = DeliveryState::kNoting;
  store::InflightNote note{target.name, target.session, target.acked, target.range.to,
                           target.fenced.at};
  std::vector<store::AckedNote> acked;
  if (target.acked) acked.push_back(NoteOf(target));
  auto status = std::make_shared<Status>();
  post_disk_(
      [this, note, acked, status] {
        (void)WEIR_FAULT_POINT("deliver.before_inflight");
        *status = store_.WriteInflight(note, acked);
        if (status->ok()) (void)WEIR_FAULT_POINT("deliver.after_inflight");
      },
      [this, &target, note, status] { OnNoted(target, note, *status); });
}

void Deliveries::OnNoted(Target& target, const store::InflightNote& note, const Status& status) {
  if (!status.ok()) {
    if (!Waits(status)) {
      error_ = status;
      return;
    }
    if (status.code() == Code::kNoSpace) store_.FreeReserve();
    return Backoff(target, status);
  }
  target.in_flight = note;
  if (!note.from) target.at = note.at;
  if (trace_) trace_(protocol::InflightEvent(target.name, note.from, note.to));
  StartDeliver(target);
}

void Deliveries::StartDeliver(Target& target) {
  flow::DeliveryRange range{target.acked, target.range.to, {}, target.range.rows};
  const Result<Digest256> hash = store_.HashOf(store_.run().lineage, range.to.epoch);
  if (!hash) {
    error_ = hash.error();
    return;
  }
  range.hash = *hash;
  target.state = DeliveryState::kDelivering;
  target.attempted = std::max(target.attempted, std::optional(range.to));
  target.begun_ns = env_.clock.MonotonicNs();
  if (trace_) {
    trace_(protocol::TxnBeginEvent(target.name, range.from, range.to));
    trace_(protocol::ReceiptSentEvent(target.name, range.to));
    trace_(protocol::CommitCalledEvent(target.name));
  }
  auto reader = std::make_shared<TargetReader>(graph_, target);
  auto at = std::make_shared<Result<protocol::Whereabouts>>(protocol::Whereabouts());
  target.worker->Post(
      [this, &target, reader, range, at] {
        *at = target.delivery->Deliver(store_.Proof(), range, *reader);
        if (*at) (void)WEIR_FAULT_POINT("deliver.between_commit_and_ack");
        target.delivery->Close();
      },
      [this, &target, at] { OnDelivered(target, std::move(*at)); });
}

void Deliveries::OnDelivered(Target& target, Result<protocol::Whereabouts> at) {
  const Status status = at ? Status::Ok() : at.error();
  const int64_t took_ms = (env_.clock.MonotonicNs() - target.begun_ns) / 1000000;
  if (trace_) trace_(protocol::CommitReturnedEvent(target.name, status.ok(), status.message()));
  if (!status.ok()) {
    if (status.code() == Code::kInternal || status.code() == Code::kCorruption) error_ = status;
    // A session that outlived the target's own limit was ended by the target, not by a twin.
    const bool fenced = status.code() == Code::kTwin &&
                        (target.traits.session_ms == 0 || took_ms < target.traits.session_ms);
    if (fenced && ++target.fenced_in_row >= kFencedInRowMax) {
      error_ =
          Status(Code::kTwin, target.name + ": fenced " + std::to_string(target.fenced_in_row) +
                                  " times in a row: another process delivers under the same "
                                  "name: " +
                                  status.message());
    }
    target.sizer.Failed();
    return Backoff(target, status);
  }
  ++target.deliveries;
  target.fenced_in_row = 0;
  target.sizer.Took(target.range.rows, took_ms);
  target.written_ns = env_.clock.MonotonicNs();
  const TargetPosition to = target.range.to;
  const Result<protocol::Receipt> proof = ReceiptAt(to);
  for (size_t s = 0; s < target.left.size(); ++s) target.left[s] -= target.range.by_sink[s];
  Acked(target, to, proof ? std::optional(*proof) : std::nullopt, std::move(*at));
  WriteBooks(target);
  (void)WEIR_FAULT_POINT("deliver.after_ack");
  LogDebug("delivered", {{"target", target.name},
                         {"rows", target.range.rows},
                         {"took_ms", took_ms},
                         {"path_ms", (env_.clock.MonotonicNs() - target.path_ns) / 1000000}});
  target.state = DeliveryState::kPreparing;
  target.worker->Post([&target] { target.delivery->Prepare(); },
                      [&target] { target.state = DeliveryState::kIdle; });
}

void Deliveries::StartRefresh(Target& target, const protocol::Receipt& receipt) {
  target.state = DeliveryState::kRefreshing;
  auto status = std::make_shared<Status>();
  target.worker->Post(
      [&target, receipt, status] {
        *status = target.delivery->Refresh(receipt);
        target.delivery->Close();
      },
      [this, &target, receipt, status] { OnRefreshed(target, receipt, *status); });
}

void Deliveries::OnRefreshed(Target& target, const protocol::Receipt& receipt,
                             const Status& status) {
  if (trace_) trace_(protocol::RefreshedEvent(target.name, receipt.position, status.ok()));
  if (!status.ok()) return Backoff(target, status);
  target.seen = receipt;
  target.written_ns = env_.clock.MonotonicNs();
  Recovered(target);
  LogInfo("receipt_refreshed", {{"target", target.name}});
  target.state = DeliveryState::kIdle;
}

void Deliveries::Acked(Target& target, const TargetPosition& to,
                       const std::optional<protocol::Receipt>& proof, protocol::Whereabouts at) {
  target.acked = to;
  target.seen = proof;
  target.at = std::move(at);
  target.in_flight.reset();  // forgotten with the note of A
  target.acked_moved = true;
  ++target.acked_order;
  Recovered(target);
  if (trace_) trace_(protocol::AckedEvent(target.name, to));
}

void Deliveries::Recovered(Target& target) {
  if (target.failing_since_ns != 0) LogInfo("delivery_recovered", {{"target", target.name}});
  target.backoff_ms = 0;
  target.failing_since_ns = 0;
  target.last_error.clear();
}

// A session may block while it goes: on the worker, like everything that touches it.
void Deliveries::CloseThen(Target& target, std::function<void()> then) {
  target.state = DeliveryState::kClosing;
  target.worker->Post([&target] { target.delivery->Close(); }, std::move(then));
}

void Deliveries::Backoff(Target& target, const Status& why) {
  const int64_t now_ns = env_.clock.MonotonicNs();
  if (target.failing_since_ns == 0) {
    target.failing_since_ns = now_ns;
    LogWarning("delivery_failing", {{"target", target.name}, {"reason", why.message()}});
  }
  target.last_error = why.message();
  target.backoff_ms =
      target.backoff_ms == 0 ? kBackoffFirstMs : std::min(target.backoff_ms * 2, kBackoffMaxMs);
  uint32_t jitter = 0;  // up to a quarter: boxes that failed together do not come back together
  env_.random.Fill(&jitter, sizeof jitter);
  const int64_t wait_ms = target.backoff_ms + jitter % (target.backoff_ms / 4 + 1);
  target.retry_at_ns = now_ns + wait_ms * 1000000;
  CloseThen(target, [&target] { target.state = DeliveryState::kBackoff; });
}

void Deliveries::Park(Target& target, const std::string& rule, std::string facts,
                      std::vector<protocol::Verb> verbs) {
  target.state = DeliveryState::kParked;
  target.park =
      protocol::Park{target.table, rule, target.name + ": " + std::move(facts), std::move(verbs)};
  LogError("parked", {{"what", target.park->ToString()}});
  if (trace_) trace_(protocol::ParkedEvent(*target.park));
}

}  // namespace weir::runtime
