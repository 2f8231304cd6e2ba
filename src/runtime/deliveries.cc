#include "runtime/deliveries.h"

#include <algorithm>

#include "base/log.h"
#include "base/text.h"
#include "io/fault.h"

namespace weir::runtime {

namespace {

// One delivery: enough to amortise a transaction, small enough to hold a lock on the target only
// briefly.
constexpr uint64_t kDeliveryRowsMax = 100000;
constexpr size_t kDeliveryEpochsMax = 1000;
constexpr int64_t kBackoffFirstMs = 100;
constexpr int64_t kBackoffMaxMs = 10000;

using protocol::TargetPosition;

}  // namespace

struct Deliveries::Target {
  std::string name;
  std::vector<int> sinks;  // into graph.sinks()
  std::vector<std::string> sink_names;
  std::unique_ptr<flow::SinkDelivery> delivery;
  std::unique_ptr<io::Worker> worker;
  State state = State::kIdle;
  bool asked = false;                     // the evidence was read in this run
  std::optional<TargetPosition> acked;    // A
  std::optional<protocol::Receipt> seen;  // R_seen
  bool acked_moved = false;               // since TakeAcked
  std::optional<EpochId> trim_to;         // after the note is durable
  // Sealed rows by sink, as far as seals are known here. The books' own count is ahead of it while
  // a seal is in flight.
  std::vector<uint64_t> sealed_rows;
  EpochId sealed_to = 0;
  std::vector<uint64_t> left;        // sealed rows above A, by sink
  uint64_t undelivered = 0;          // their sum
  EpochId counted_to = 0;            // `left` counts epochs up to here
  std::vector<uint64_t> delivering;  // rows of the delivery in progress, by sink
  std::optional<protocol::Park> park;
  std::vector<protocol::Resolution> words;
  int64_t backoff_ms = 0;
  int64_t retry_at_ns = 0;
  int64_t failing_since_ns = 0;
  std::string last_error;
  uint64_t deliveries = 0;
};

// Rows of a target in its order: epoch by epoch, sink by sink as in the plan.
class Deliveries::TargetReader : public flow::RowReader {
 public:
  struct Piece {
    store::Spool* spool;
    int sink;
    EpochId epoch;
    uint64_t from, to;  // rows of this sink in this epoch
  };
  explicit TargetReader(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {}

  Result<bool> Next(int* sink, Batch& out) override {
    while (true) {
      if (reader_ == nullptr) {
        if (at_ == pieces_.size()) return false;
        const Piece& p = pieces_[at_];
        reader_ = p.spool->Read(p.epoch, p.from, p.epoch, p.to, p.sink);
      }
      WEIR_ASSIGN_OR_RETURN(const bool more, reader_->Next(sink, out));
      if (more) return true;
      reader_.reset();
      ++at_;
    }
  }

 private:
  std::vector<Piece> pieces_;
  size_t at_ = 0;
  std::unique_ptr<flow::RowReader> reader_;
};

Deliveries::Deliveries(const io::Env& env, store::Store& store, Graph& graph,
                       protocol::TraceSink trace)
    : env_(env), store_(store), graph_(graph), trace_(std::move(trace)) {}
Deliveries::~Deliveries() = default;

Status Deliveries::Open(const Factories& factories,
                        const std::vector<protocol::Resolution>& words) {
  std::map<std::string, Target*> by_name;
  std::map<std::string, std::vector<TargetSink>> sinks_of;
  for (size_t i = 0; i < graph_.sinks().size(); ++i) {
    const Sink& sink = graph_.sinks()[i];
    if (sink.spool == nullptr) continue;
    Target*& target = by_name[sink.target];
    if (target == nullptr) {
      targets_.push_back(std::make_unique<Target>());
      target = targets_.back().get();
      target->name = sink.target;
    }
    target->sinks.push_back(static_cast<int>(i));
    target->sink_names.push_back(sink.name);
    const auto& body = std::get<plan::SinkNode>(sink.node->body);
    sinks_of[sink.target].push_back({sink.name, body.table, sink.node->output});
    for (const protocol::Resolution& word : words) {
      if (word.subject == body.table->name || word.subject == sink.name)
        target->words.push_back(word);
    }
  }
  const std::vector<store::AckedNote> notes = store_.AckedNotes();
  for (auto& target : targets_) {
    WEIR_ASSIGN_OR_RETURN(target->delivery,
                          factories.delivery(target->name, sinks_of[target->name]));
    target->worker = env_.new_worker("weir-deliver", env_.completions);
    for (const store::AckedNote& note : notes) {
      if (note.target != target->name) continue;
      target->acked = note.position;
      target->seen = note.seen;
    }
    sealed_ = store_.run().sealed;
    target->sealed_to = sealed_;
    for (const int sink : target->sinks) {
      target->sealed_rows.push_back(graph_.sinks()[sink].books()[flow::Count::kSealed]);
    }
    CountSealed(*target, /*recount=*/true);
  }
  return error_;
}

// Adds the rows of sealed epochs above `counted_to`; the whole of what lies above A when A has
// jumped (recount).
void Deliveries::CountSealed(Target& target, bool recount) {
  if (recount) {
    target.left.assign(target.sinks.size(), 0);
    target.counted_to = target.acked ? target.acked->epoch - 1 : store_.run().base;
  }
  while (true) {
    auto epochs =
        store_.EpochsWithRows(target.sink_names, target.counted_to + 1, kDeliveryEpochsMax);
    if (!epochs) {
      error_ = epochs.error();
      return;
    }
    for (const auto& e : *epochs) {
      // Committed by the disk worker, but the loop has not been told: not sealed for us yet.
      if (e.epoch > sealed_) return WriteBooks(target);
      uint64_t skip = target.acked && e.epoch == target.acked->epoch ? target.acked->rows : 0;
      for (size_t s = 0; s < target.left.size(); ++s) {
        const uint64_t done = std::min(skip, e.rows[s]);
        skip -= done;
        target.left[s] += e.rows[s] - done;
        if (e.epoch > target.sealed_to) target.sealed_rows[s] += e.rows[s];
      }
      target.sealed_to = std::max(target.sealed_to, e.epoch);
      target.counted_to = e.epoch;
    }
    if (epochs->size() < kDeliveryEpochsMax) break;
  }
  WriteBooks(target);
}

// The books of the target's sinks: acked = sealed - dropped - what is still in the spool.
void Deliveries::WriteBooks(Target& target) {
  target.undelivered = 0;
  for (size_t s = 0; s < target.left.size(); ++s) {
    target.undelivered += target.left[s];
    flow::NodeBooks& books = graph_.sinks()[target.sinks[s]].books();
    const uint64_t gone = books[flow::Count::kDropped] + target.left[s];
    books[flow::Count::kAcked] = target.sealed_rows[s] - std::min(target.sealed_rows[s], gone);
  }
}

void Deliveries::Step(EpochId sealed) {
  const bool grew = sealed != sealed_;
  sealed_ = sealed;
  const int64_t now_ns = env_.clock.MonotonicNs();
  for (auto& t : targets_) {
    Target& target = *t;
    if (grew) CountSealed(target, /*recount=*/false);
    if (target.state == State::kBackoff && now_ns >= target.retry_at_ns)
      target.state = State::kIdle;
    if (target.state == State::kIdle && (target.undelivered > 0 || !target.asked))
      StartFence(target);
  }
}

void Deliveries::StartFence(Target& target) {
  target.state = State::kFencing;
  auto receipt = std::make_shared<Result<std::optional<protocol::Receipt>>>(std::nullopt);
  target.worker->Post([&target, receipt] { *receipt = target.delivery->Fence(); },
                      [this, &target, receipt] { OnFenced(target, std::move(*receipt)); });
}

protocol::DeliveryFacts Deliveries::Facts(const Target& target,
                                          const std::optional<protocol::Receipt>& receipt) {
  protocol::DeliveryFacts facts;
  for (const protocol::Resolution& word : target.words) {
    const bool of_delivery = word.verb == protocol::Verb::kTrustSink ||
                             word.verb == protocol::Verb::kRedeliver ||
                             word.verb == protocol::Verb::kAdopt;
    if (of_delivery && !facts.word) facts.word = word.verb;
  }
  facts.acked_empty = !target.acked.has_value();
  if (target.acked) facts.a = *target.acked;
  facts.r_equals_seen = receipt.has_value() ? target.seen == receipt : !target.seen.has_value();
  if (!receipt) return facts;
  facts.r = receipt->position;
  const Lineage ours = store_.run().lineage;
  if (receipt->lineage == ours) {
    facts.receipt = protocol::ReceiptKind::kOurs;
    facts.above_sealed = receipt->position.epoch > sealed_;
    if (!facts.above_sealed) {
      const Result<Digest256> hash = store_.HashOf(ours, receipt->position.epoch);
      // Pruned: only epochs at or below A are, and then the table looks at the position.
      facts.hash_matches = !hash.has_value() || *hash == receipt->hash;
    }
    return facts;
  }
  facts.receipt = protocol::ReceiptKind::kUnknownLineage;
  for (const protocol::LineageRecord& record : store_.Lineages()) {
    if (record.lineage != receipt->lineage) continue;
    facts.receipt = protocol::ReceiptKind::kAncestor;
    facts.above_sealed = receipt->position.epoch > record.last_sealed;
    if (receipt->position.epoch == record.last_sealed)
      facts.hash_matches = receipt->hash == record.last_hash;
  }
  return facts;
}

void Deliveries::OnFenced(Target& target, Result<std::optional<protocol::Receipt>> receipt) {
  if (!receipt) {
    target.delivery->Close();
    return Backoff(target, receipt.error());
  }
  if (trace_) {
    trace_(protocol::FencedEvent(target.name));
    trace_(protocol::ReceiptReadEvent(target.name, *receipt));
  }
  (void)WEIR_FAULT_POINT("deliver.after_receipt_read");
  target.asked = true;
  const protocol::DeliveryFacts facts = Facts(target, *receipt);
  const protocol::DeliveryDecision decision = protocol::DecideDelivery(facts);
  if (trace_) trace_(protocol::ResolvedEvent(target.name, facts, decision));
  switch (decision.action) {
    case protocol::DeliveryAction::kPark:
      target.delivery->Close();
      return Park(target, decision.row, protocol::DescribeDelivery(facts, decision));
    case protocol::DeliveryAction::kScan:
      CHECK(false);  // no target of this binary can scan
    case protocol::DeliveryAction::kAdvanceAcked:
      // Proven by the receipt, or by the operator's word: ours at or below R are not delivered.
      Acked(target, (*receipt)->position, *receipt);
      CountSealed(target, /*recount=*/true);
      break;
    case protocol::DeliveryAction::kStart:
    case protocol::DeliveryAction::kDeliverFromAcked:
      break;
  }
  if (facts.word) {
    LogWarning("resolved", {{"target", target.name}, {"verb", protocol::VerbName(*facts.word)}});
    target.words.clear();  // a word is used up by the first decision
  }
  if (target.undelivered == 0) {
    target.delivery->Close();
    target.state = State::kIdle;
    return;
  }
  StartDeliver(target);
}

void Deliveries::StartDeliver(Target& target) {
  const EpochId from = target.acked ? target.acked->epoch : store_.run().base + 1;
  auto epochs = store_.EpochsWithRows(target.sink_names, from, kDeliveryEpochsMax);
  if (!epochs) {
    error_ = epochs.error();
    return;
  }
  std::vector<TargetReader::Piece> pieces;
  flow::DeliveryRange range;
  range.from = target.acked;
  uint64_t rows = 0;
  target.delivering.assign(target.sinks.size(), 0);
  for (const auto& e : *epochs) {
    // Committed by the disk worker, but its completion has not run: not counted, not delivered yet.
    if (e.epoch > target.counted_to) break;
    uint64_t skip =
        target.acked && e.epoch == target.acked->epoch ? std::min(target.acked->rows, e.total) : 0;
    if (skip == e.total) continue;
    const uint64_t room = kDeliveryRowsMax - rows;
    uint64_t take = std::min(e.total - skip, room);
    if (take == 0) break;
    range.to = {e.epoch, skip + take};
    rows += take;
    for (size_t s = 0; s < target.sinks.size() && take > 0; ++s) {
      const uint64_t done = std::min(skip, e.rows[s]);
      const uint64_t part = std::min(e.rows[s] - done, take);
      if (part > 0) {
        target.delivering[s] += part;
        pieces.push_back({graph_.sinks()[target.sinks[s]].spool, static_cast<int>(s), e.epoch, done,
                          done + part});
      }
      skip -= done;
      take -= part;
    }
  }
  const Result<Digest256> hash = store_.HashOf(store_.run().lineage, range.to.epoch);
  if (rows == 0 || !hash) {
    error_ = hash ? Status(Code::kInternal, target.name + ": undelivered rows are not in any epoch")
                  : hash.error();
    return;
  }
  range.hash = *hash;
  target.state = State::kDelivering;
  if (trace_) {
    trace_(protocol::TxnBeginEvent(target.name, range.from, range.to));
    trace_(protocol::ReceiptSentEvent(target.name, range.to));
    trace_(protocol::CommitCalledEvent(target.name));
  }
  auto reader = std::make_shared<TargetReader>(std::move(pieces));
  auto status = std::make_shared<Status>();
  auto shared_range = std::make_shared<flow::DeliveryRange>(range);
  target.worker->Post(
      [this, &target, reader, shared_range, status] {
        *status = target.delivery->Deliver(store_.Proof(), *shared_range, *reader);
        if (status->ok()) (void)WEIR_FAULT_POINT("deliver.between_commit_and_ack");
        target.delivery->Close();
      },
      [this, &target, shared_range, status] {
        OnDelivered(target, shared_range->to, std::move(*status));
      });
}

void Deliveries::OnDelivered(Target& target, TargetPosition to, Status status) {
  if (trace_) trace_(protocol::CommitReturnedEvent(target.name, status.ok(), status.message()));
  if (!status.ok()) {
    if (status.code() == Code::kInternal || status.code() == Code::kCorruption) error_ = status;
    return Backoff(target, status);
  }
  ++target.deliveries;
  protocol::Receipt proof;
  proof.lineage = store_.run().lineage;
  proof.position = to;
  if (const Result<Digest256> hash = store_.HashOf(proof.lineage, to.epoch)) proof.hash = *hash;
  for (size_t s = 0; s < target.left.size(); ++s) target.left[s] -= target.delivering[s];
  Acked(target, to, proof);
  WriteBooks(target);
  (void)WEIR_FAULT_POINT("deliver.after_ack");
  target.state = State::kIdle;
}

void Deliveries::Acked(Target& target, TargetPosition to,
                       const std::optional<protocol::Receipt>& proof) {
  target.acked = to;
  target.seen = proof;
  target.acked_moved = true;
  target.backoff_ms = 0;
  target.failing_since_ns = 0;
  target.last_error.clear();
  if (trace_) trace_(protocol::AckedEvent(target.name, to));
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
  target.state = State::kBackoff;
}

void Deliveries::Park(Target& target, int row, std::string facts) {
  target.state = State::kParked;
  const auto& body = std::get<plan::SinkNode>(graph_.sinks()[target.sinks[0]].node->body);
  target.park = protocol::Park{body.table->name, "sql.row-" + std::to_string(row),
                               target.name + ": " + std::move(facts), protocol::DeliveryVerbs(row)};
  LogError("parked", {{"what", target.park->ToString()}});
  if (trace_) trace_(protocol::ParkedEvent(*target.park));
}

bool Deliveries::Settled(EpochId sealed, bool count_parked) const {
  return std::all_of(targets_.begin(), targets_.end(), [&](const auto& t) {
    if (t->state == State::kParked) return count_parked;
    return t->asked && t->undelivered == 0 && t->state == State::kIdle && sealed == sealed_;
  });
}

bool Deliveries::Busy() const {
  return std::any_of(targets_.begin(), targets_.end(), [](const auto& t) {
    return t->state == State::kFencing || t->state == State::kDelivering;
  });
}

std::vector<protocol::Park> Deliveries::parks() const {
  std::vector<protocol::Park> all;
  for (const auto& t : targets_) {
    if (t->park) all.push_back(*t->park);
  }
  return all;
}

std::vector<store::AckedNote> Deliveries::TakeAcked() {
  std::vector<store::AckedNote> notes;
  for (auto& t : targets_) {
    if (!t->acked_moved) continue;
    t->acked_moved = false;
    notes.push_back({t->name, *t->acked, t->seen});
    // A may end within its epoch, and a start takes only the epoch before it as proven whole.
    t->trim_to = t->acked->epoch - 1;
  }
  return notes;
}

void Deliveries::KeepAcked() {
  for (auto& t : targets_) {
    if (t->trim_to) t->acked_moved = true;
  }
}

std::vector<std::pair<store::Spool*, EpochId>> Deliveries::TrimDue() {
  std::vector<std::pair<store::Spool*, EpochId>> due;
  for (auto& t : targets_) {
    if (!t->trim_to || t->acked_moved) continue;
    for (const int sink : t->sinks) due.emplace_back(graph_.sinks()[sink].spool, *t->trim_to);
    if (trace_) trace_(protocol::TrimmedEvent(t->name, *t->trim_to));
    t->trim_to.reset();
  }
  return due;
}

int64_t Deliveries::WaitMs() const {
  int64_t wait = -1;
  const int64_t now_ns = env_.clock.MonotonicNs();
  for (const auto& t : targets_) {
    if (t->state != State::kBackoff) continue;
    const int64_t left = std::max<int64_t>(0, (t->retry_at_ns - now_ns + 999999) / 1000000);
    wait = wait < 0 ? left : std::min(wait, left);
  }
  return wait;
}

bool Deliveries::degraded() const {
  return std::any_of(targets_.begin(), targets_.end(),
                     [](const auto& t) { return t->failing_since_ns != 0; });
}

void Deliveries::AppendStatus(std::string& json) const {
  const int64_t now_ns = env_.clock.MonotonicNs();
  const auto name = [](State state) {
    switch (state) {
      case State::kIdle:
        return "idle";
      case State::kFencing:
        return "fencing";
      case State::kDelivering:
        return "delivering";
      case State::kBackoff:
        return "waiting";
      case State::kParked:
        return "parked";
    }
    return "";
  };
  json += "[";
  for (size_t i = 0; i < targets_.size(); ++i) {
    const Target& t = *targets_[i];
    if (i > 0) json += ",";
    json += "{\"target\":" + JsonQuote(t.name) + ",\"state\":\"" + name(t.state) +
            "\",\"acked\":" + (t.acked ? JsonQuote(t.acked->ToString()) : std::string("null")) +
            ",\"undelivered_rows\":" + std::to_string(t.undelivered) +
            ",\"deliveries\":" + std::to_string(t.deliveries);
    if (t.failing_since_ns != 0) {
      json += ",\"failing_for_ms\":" + std::to_string((now_ns - t.failing_since_ns) / 1000000) +
              ",\"reason\":" + JsonQuote(t.last_error);
    }
    json += "}";
  }
  json += "]";
}

}  // namespace weir::runtime
