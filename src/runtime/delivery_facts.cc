// What Deliveries knows: the notes of the store, the rows that are due, and what a receipt says to
// both.
#include <algorithm>
#include <map>

#include "base/log.h"
#include "base/text.h"
#include "runtime/deliveries.h"
#include "runtime/receipt_facts.h"

namespace weir::runtime {

namespace {

constexpr size_t kDeliveryEpochsMax = 1000;

bool IsOf(const protocol::Resolution& word, bool of_move) {
  if (of_move) return word.verb == protocol::Verb::kAcceptTopic;
  return IsDeliveryWord(word.verb);
}

}  // namespace

Deliveries::Deliveries(const io::Env& env, store::Store& store, Graph& graph,
                       protocol::TraceSink trace, PostDisk post_disk)
    : env_(env),
      store_(store),
      graph_(graph),
      trace_(std::move(trace)),
      post_disk_(std::move(post_disk)) {}
Deliveries::~Deliveries() = default;

Status Deliveries::Open(const Factories& factories,
                        const std::vector<protocol::Resolution>& words) {
  std::map<std::string, Target*> by_name;
  std::map<std::string, std::vector<TargetSink>> sinks_of;
  for (size_t i = 0; i < graph_.sinks().size(); ++i) {
    const Sink& sink = graph_.sinks()[i];
    if (sink.spool == nullptr) continue;
    const auto& body = std::get<plan::SinkNode>(sink.node->body);
    Target*& target = by_name[sink.target];
    if (target == nullptr) {
      targets_.push_back(std::make_unique<Target>());
      target = targets_.back().get();
      target->name = sink.target;
      target->table = body.table->name;
    }
    target->sinks.push_back(static_cast<int>(i));
    target->sink_names.push_back(sink.name);
    sinks_of[sink.target].push_back({sink.name, body.table, sink.node->output});
    for (const protocol::Resolution& word : words) {
      const bool ours = word.subject == body.table->name || word.subject == sink.name;
      if (ours && (IsOf(word, false) || IsOf(word, true))) target->words.push_back(word);
    }
  }
  for (auto& target : targets_) {
    WEIR_ASSIGN_OR_RETURN(target->delivery,
                          factories.delivery(target->name, sinks_of[target->name]));
    target->traits = target->delivery->Traits();
    target->sizer = RangeSizer(target->traits.time_max_ms);
    target->worker = env_.new_worker("weir-deliver", env_.completions);
    for (const store::AckedNote& note : store_.AckedNotes()) {
      if (note.target != target->name) continue;
      target->acked = note.position;
      target->seen = note.seen;
    }
    for (store::TargetNote& note : store_.TargetNotes()) {
      if (note.target != target->name) continue;
      target->at = std::move(note.at);
      target->in_flight = std::move(note.in_flight);
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
    const EpochId below = target.acked && target.acked->epoch > 0 ? target.acked->epoch - 1 : 0;
    target.counted_to = std::max(below, store_.run().base);
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

// What may be delivered now: above A, sealed, and counted.
Result<std::vector<SealedRows>> Deliveries::EpochsAbove(const Target& target) const {
  const EpochId from = target.acked ? target.acked->epoch : store_.run().base + 1;
  WEIR_ASSIGN_OR_RETURN(std::vector<SealedRows> epochs,
                        store_.EpochsWithRows(target.sink_names, from, kDeliveryEpochsMax));
  // Committed by the disk worker, but its completion has not run: not counted, not delivered yet.
  std::erase_if(epochs, [&](const SealedRows& e) { return e.epoch > target.counted_to; });
  return epochs;
}

std::optional<protocol::Verb> Deliveries::WordOf(const Target& target, bool of_move) const {
  for (const protocol::Resolution& word : target.words) {
    if (IsOf(word, of_move)) return word.verb;
  }
  return std::nullopt;
}

store::AckedNote Deliveries::NoteOf(const Target& target) const {
  return {target.name, *target.acked, target.seen, target.at, target.acked_order};
}

Result<protocol::Receipt> Deliveries::ReceiptAt(const protocol::TargetPosition& position) const {
  const Lineage lineage = store_.run().lineage;
  WEIR_ASSIGN_OR_RETURN(const Digest256 hash, store_.HashOf(lineage, position.epoch));
  return protocol::Receipt{lineage, position, hash};
}

Result<protocol::DeliveryFacts> Deliveries::Facts(const Target& target) const {
  KnownTarget known{target.sink_names, target.traits.receipt_can_hide,
                    target.acked,      target.seen,
                    std::nullopt,      0};
  if (target.in_flight) known.in_flight = target.in_flight->to;
  for (const int sink : target.sinks)
    known.held_from = std::max(known.held_from, graph_.sinks()[sink].spool->HeldFrom());
  return GatherDeliveryFacts(store_, sealed_, known, target.fenced, target.words);
}

bool Deliveries::Awaits(const protocol::Resolution& word) const {
  return std::any_of(targets_.begin(), targets_.end(), [&](const auto& t) {
    return std::any_of(t->words.begin(), t->words.end(),
                       [&](const protocol::Resolution& own) { return own.id == word.id; });
  });
}

std::vector<std::string> Deliveries::WordsWaiting() const {
  std::vector<std::string> out;
  for (const auto& t : targets_) {
    for (const protocol::Resolution& word : t->words)
      out.push_back(std::string(protocol::VerbName(word.verb)) + " " + word.subject);
  }
  return out;
}

// What is acted on is used up with the next notes; the rest (nothing asked for it) as well.
void Deliveries::UseWords(Target& target, bool of_move) {
  std::erase_if(target.words, [&](const protocol::Resolution& word) {
    if (IsOf(word, of_move)) used_words_.push_back(word.id);
    return IsOf(word, of_move);
  });
}

// Two targets on one cluster would fence each other for ever: they have one name there.
Status Deliveries::CheckCluster(const Target& target) const {
  if (target.looked.cluster.empty()) return Status::Ok();
  for (const auto& other : targets_) {
    if (other.get() == &target || other->looked.cluster != target.looked.cluster) continue;
    if (other->session != target.session) continue;
    return Status(Code::kInvalid,
                  "tables " + other->table + " and " + target.table + " are on one cluster (" +
                      target.looked.cluster +
                      "), but reach it by different properties: give them the same "
                      "properties.bootstrap.servers and security options, so that they are "
                      "delivered together");
  }
  return Status::Ok();
}

// --accept-topic. Durable before anyone is fenced there.
bool Deliveries::AcceptMoved(Target& target) {
  if (!WordOf(target, /*of_move=*/true) || target.move_accepted) return false;
  target.move_accepted = true;
  const protocol::Whereabouts before = target.at;
  target.at = protocol::AcceptMove(target.at, target.looked);
  LogWarning("resolved",
             {{"target", target.name}, {"verb", protocol::VerbName(protocol::Verb::kAcceptTopic)}});
  std::vector<store::AckedNote> acked;
  if (target.acked) acked.push_back(NoteOf(target));
  std::optional<store::InflightNote> note = target.in_flight;
  if (note) note->at = protocol::AcceptMove(note->at, target.looked);
  if (!note && acked.empty()) {
    UseWords(target, /*of_move=*/true);
    return true;
  }
  target.state = DeliveryState::kNoting;
  auto status = std::make_shared<Status>();
  post_disk_(
      [this, note, acked, status] {
        *status = note ? store_.WriteInflight(*note, acked) : store_.WriteAcked(acked);
      },
      [this, &target, note, before, status] {
        if (!status->ok()) {
          target.at = before;
          target.move_accepted = false;
          if (status->code() != Code::kNoSpace && status->code() != Code::kBusy) error_ = *status;
          return Backoff(target, *status);
        }
        target.in_flight = note;
        UseWords(target, /*of_move=*/true);
        CloseThen(target, [&target] { target.state = DeliveryState::kIdle; });
      });
  return true;
}

}  // namespace weir::runtime
