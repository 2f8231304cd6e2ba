// Takeover: what every start does, in order (exactly-once.md, "Takeover: every start, the same
// path").
#include <algorithm>

#include "base/log.h"
#include "io/fault.h"
#include "runtime/engine.h"
#include "runtime/epoch_body.h"

namespace weir::runtime {

namespace {

Status Refusal(const protocol::TakeoverDecision& decision, const protocol::TakeoverFacts& facts,
               const store::Store& store, const EngineOptions& options) {
  std::string message = decision.reason;
  if (decision.action == protocol::TakeoverAction::kRefuseFingerprint) {
    message += ": " + plan::DescribeDifference(store.StoredCanonicalPlan(), options.canonical_plan);
    message += "; --fresh starts over and would drop " + std::to_string(facts.undelivered_rows) +
               " undelivered rows";
  } else if (decision.action == protocol::TakeoverAction::kRefuseUndelivered) {
    message += ": " + std::to_string(facts.undelivered_epochs) + " epochs with " +
               std::to_string(facts.undelivered_rows) + " rows are sealed and not delivered";
  } else if (decision.action == protocol::TakeoverAction::kRefuseOtherJob) {
    message += ": the unfinished job is " + facts.job_of_lineage.value_or("(without an ID)");
  }
  std::string verbs;
  for (const std::string& verb : protocol::RefusalVerbs(decision.action))
    verbs += (verbs.empty() ? "" : ", ") + verb;
  // Damage is damage wherever it shows: weir.on-damage speaks of all of it.
  const bool damage = decision.action == protocol::TakeoverAction::kRefuseDamage;
  return Status(damage ? Code::kCorruption : Code::kRefused, message + ". Ways out: " + verbs);
}

bool IsRefusal(protocol::TakeoverAction action) {
  switch (action) {
    case protocol::TakeoverAction::kRefuseNewerFormat:
    case protocol::TakeoverAction::kRefuseDamage:
    case protocol::TakeoverAction::kRefuseUndelivered:
    case protocol::TakeoverAction::kRefuseFingerprint:
    case protocol::TakeoverAction::kRefuseOtherJob:
      return true;
    case protocol::TakeoverAction::kFresh:
    case protocol::TakeoverAction::kAlreadyFinished:
    case protocol::TakeoverAction::kResume:
      return false;
  }
  return true;
}

// Every row of epochs at or below is proven delivered to `target`. A may end within an epoch, so
// the one before it is what is sure.
std::optional<EpochId> ProvenDelivered(const store::Store& store, const std::string& target) {
  for (const store::AckedNote& note : store.AckedNotes()) {
    if (note.target == target && note.position.epoch > 0) return note.position.epoch - 1;
  }
  return std::nullopt;
}

}  // namespace

Engine::Engine(const io::Env& env, const EngineOptions& options, std::unique_ptr<plan::Plan> plan,
               protocol::TraceSink trace)
    : env_(env), options_(options), plan_(std::move(plan)), trace_(std::move(trace)) {}

Engine::~Engine() = default;

Result<std::unique_ptr<Engine>> Engine::Start(const io::Env& env, const EngineOptions& options,
                                              std::unique_ptr<plan::Plan> plan,
                                              const MakeFactories& make_factories,
                                              protocol::TraceSink trace) {
  for (bool moved_aside = false;;) {
    std::unique_ptr<Engine> engine(new Engine(env, options, std::move(plan), trace));
    bool already_finished = false;
    const Status status = engine->TakeOver(make_factories, &already_finished);
    if (status.ok()) return already_finished ? std::unique_ptr<Engine>() : std::move(engine);
    const bool quarantine = status.code() == Code::kCorruption && !moved_aside &&
                            engine->plan_->settings.String("weir.on-damage") == "quarantine";
    if (!quarantine) return Fail(status);
    // Whatever part of the directory is damaged, and whether it showed before the run row or behind
    // it: nothing was read, and nothing was delivered by this start.
    LogError("state_damaged", {{"directory", options.directory}, {"error", status.message()}});
    moved_aside = true;
    plan = std::move(engine->plan_);
    engine.reset();  // SQLite remembers the path of what it has open
    WEIR_ASSIGN_OR_RETURN(const std::string moved_to,
                          store::Quarantine(env.files, options.directory, env.clock.WallMs()));
    if (trace) trace(protocol::QuarantinedEvent(moved_to));
  }
}

ScanSettings Engine::ScanDefaults() const {
  const plan::Options& set = plan_->settings;
  ScanSettings defaults;
  defaults.batch_rows = static_cast<uint32_t>(set.Integer("weir.batch-rows"));
  defaults.idle_timeout_ms = set.Integer("table.exec.source.idle-timeout");
  defaults.max_future_skew_ms = set.Integer("weir.max-future-skew");
  return defaults;
}

Status Engine::TakeOver(const MakeFactories& make_factories, bool* already_finished) {
  TakeSettings();
  // 1. The directory.
  store::OpenOptions open;
  open.directory = options_.directory;
  open.pipeline = options_.pipeline;
  open.instance = options_.instance;
  open.weir_version = options_.weir_version;
  WEIR_ASSIGN_OR_RETURN(store_, store::Store::Open(env_, open));
  // 2. Facts, decision.
  const store::Asked asked{options_.fresh, options_.discard_undelivered, options_.job,
                           options_.canonical_plan, options_.fingerprint};
  WEIR_ASSIGN_OR_RETURN(const protocol::TakeoverDecision decision, Decide(asked));
  *already_finished = decision.action == protocol::TakeoverAction::kAlreadyFinished;
  if (*already_finished) return Status::Ok();
  const bool fresh = decision.action == protocol::TakeoverAction::kFresh;
  const std::optional<store::SealedEpoch> sealed = fresh ? std::nullopt : store_->NewestSealed();
  const std::vector<protocol::Resolution> words = store_->PendingResolutions();
  WEIR_RETURN_IF_ERROR(BuildGraph(make_factories, words, fresh));
  WEIR_RETURN_IF_ERROR(InspectSinks(sealed, decision, words));
  (void)WEIR_FAULT_POINT("takeover.after_decide");
  WEIR_RETURN_IF_ERROR(io::Beat(env_.heartbeat, "taking over", options_.directory));
  // 3. The run row, and only then what it covers.
  WEIR_RETURN_IF_ERROR(BeginRun(asked, decision));
  WEIR_RETURN_IF_ERROR(RecoverSinks());
  // 4. State and watermarks. 5. Sinks are resolved in the background.
  WEIR_RETURN_IF_ERROR(Restore(sealed));
  deliveries_ =
      std::make_unique<Deliveries>(env_, *store_, *graph_, trace_,
                                   [this](std::function<void()> job, std::function<void()> done) {
                                     disk_->Post(std::move(job), std::move(done));
                                   });
  WEIR_RETURN_IF_ERROR(deliveries_->Open(factories_, words));
  for (const protocol::Resolution& word : words) {
    if (!deliveries_->Awaits(word)) used_words_.push_back(word.id);
  }
  disk_ = env_.new_worker("weir-disk", env_.completions);
  last_cut_ns_ = env_.clock.MonotonicNs();
  UpdatePressure(/*ask_disk=*/true);
  // Somebody below may have been told to stop and have answered with less than there is: nothing
  // of that may be sealed.
  return io::Beat(env_.heartbeat, "restored", options_.directory);
}

void Engine::TakeSettings() {
  started_ns_ = env_.clock.MonotonicNs();
  const plan::Options& set = plan_->settings;
  interval_ms_ = set.Integer("execution.checkpointing.interval");
  memory_limit_ = static_cast<uint64_t>(set.Integer("weir.memory.limit"));
  pressure_facts_.buffered_bytes_max = memory_limit_ / 4;
  pressure_facts_.spool_bytes_max = static_cast<uint64_t>(set.Integer("weir.spool.max-bytes"));
}

// A refusal is a failure here; every other decision goes on.
Result<protocol::TakeoverDecision> Engine::Decide(const store::Asked& asked) {
  WEIR_ASSIGN_OR_RETURN(const protocol::TakeoverFacts facts, store_->GatherFacts(asked));
  const protocol::TakeoverDecision decision = protocol::DecideTakeover(facts);
  if (trace_) trace_(protocol::TakeoverEvent(facts, decision));
  if (!IsRefusal(decision.action)) return decision;
  if (trace_) trace_(protocol::RefusedEvent(protocol::TakeoverActionName(decision.action)));
  return Fail(Refusal(decision, facts, *store_, options_));
}

Status Engine::BuildGraph(const MakeFactories& make_factories,
                          const std::vector<protocol::Resolution>& words, bool fresh) {
  factories_ = make_factories(store_->run().pipeline, store_->run().instance, words);
  graph_ = std::make_unique<Graph>(*plan_, plan_->settings.String("weir.on-error") == "fail");
  const auto new_spool = [this, fresh](const plan::Node& sink, const std::string& target) {
    store::SpoolOptions spool;
    spool.directory = store::SpoolDirectory(options_.directory, sink.name);
    spool.sink = sink.name;
    spool.schema = sink.output;
    // Small enough that a drained backlog gives its space back; the segment being written stays.
    spool.segment_bytes = 256 << 10;
    if (!fresh) spool.acked = ProvenDelivered(*store_, target);
    return store::NewSpool(env_, spool);
  };
  return graph_->Build(factories_, ScanDefaults(), env_.clock, new_spool);
}

// The base of a fresh run is above every id that can be found without the network.
Status Engine::BeginRun(const store::Asked& asked, const protocol::TakeoverDecision& decision) {
  EpochId base = store_->HighestEpochSeen();
  std::vector<std::pair<std::string, std::string>> claims;
  for (const Sink& sink : graph_->sinks()) {
    if (sink.stage == nullptr) continue;
    base = std::max(base, sink.stage->HighestEpochSeen());
    for (const flow::Claim& claim : sink.stage->Claims())
      claims.emplace_back(sink.name, claim.path);
  }
  WEIR_RETURN_IF_ERROR(store_->BeginRun(asked, decision, base, claims));
  const store::RunInfo& run = store_->run();
  next_epoch_ = std::max(run.next_epoch, base + 1);
  sealed_ = run.sealed;
  LogInfo("takeover", {{"run", run.run},
                       {"mode", run.fresh ? "fresh" : "resume"},
                       {"lineage", run.lineage.ShortHex()},
                       {"sealed", run.sealed},
                       {"reason", decision.reason}});
  if (trace_)
    trace_(
        protocol::RunEvent({run.run, run.lineage, run.fresh, run.base, run.sealed, next_epoch_}));
  return Status::Ok();
}

Status Engine::InspectSinks(const std::optional<store::SealedEpoch>& sealed,
                            const protocol::TakeoverDecision& decision,
                            const std::vector<protocol::Resolution>& words) {
  lineages_ = store_->Lineages();
  const std::vector<std::string> claimed = store_->ClaimedPaths();
  for (const Sink& sink : graph_->sinks()) {
    flow::TakeoverContext context;
    context.fresh = decision.action == protocol::TakeoverAction::kFresh;
    context.lineages = &lineages_;
    context.claimed_paths = claimed;
    context.lineage = context.fresh ? Lineage{} : store_->run().lineage;
    context.sealed = sealed ? sealed->id : 0;
    if (sealed) {
      for (const store::SinkState& state : sealed->sinks) {
        if (state.sink == sink.name) context.blob = state.blob;
      }
    }
    const auto* body = std::get_if<plan::SinkNode>(&sink.node->body);
    for (const protocol::Resolution& word : words) {
      if (word.subject == sink.name ||
          (body->table != nullptr && word.subject == body->table->name)) {
        context.resolutions.push_back(word);
      }
    }
    sink_contexts_.push_back(std::move(context));
    if (sink.stage != nullptr) WEIR_RETURN_IF_ERROR(sink.stage->Inspect(sink_contexts_.back()));
  }
  return Status::Ok();
}

Status Engine::RecoverSinks() {
  const store::RunInfo& run = store_->run();
  lineages_ = store_->Lineages();
  for (size_t i = 0; i < graph_->sinks().size(); ++i) {
    flow::TakeoverContext& context = sink_contexts_[i];
    context.lineage = run.lineage;
    context.base = run.base;
    Sink& sink = graph_->sinks()[i];
    if (sink.stage == nullptr) continue;
    WEIR_RETURN_IF_ERROR(sink.stage->Recover(context));
    if (const auto park = sink.stage->park()) {
      LogError("parked", {{"what", park->ToString()}});
      if (trace_) trace_(protocol::ParkedEvent(*park));
    }
  }
  return Status::Ok();
}

Status Engine::Restore(const std::optional<store::SealedEpoch>& sealed) {
  EpochBody body;
  if (sealed) {
    WEIR_ASSIGN_OR_RETURN(body, EpochBody::Decode(sealed->body));
    for (const plan::Node& node : plan_->nodes) {
      const auto books = body.books.find(node.name);
      if (books != body.books.end()) graph_->SetBooks(node, books->second);
    }
  }
  for (const Graph::OperatorRef& ref : graph_->operators()) {
    WEIR_RETURN_IF_ERROR(io::Beat(env_.heartbeat, "restoring", ref.node->name));
    Status status = ref.op->Restore(store_->StateOf(ref.node->name));
    if (!status.ok()) return status.WithContext("restoring " + ref.node->name);
  }
  for (size_t i = 0; i < graph_->scans().size(); ++i) {
    const auto& scan = graph_->scans()[i];
    WEIR_RETURN_IF_ERROR(io::Beat(env_.heartbeat, "restoring", scan->name()));
    const auto watermark = body.watermarks.find(scan->name());
    const auto current = body.current.find(scan->name());
    Status status =
        scan->Open(store_->StateOf(scan->name()),
                   watermark == body.watermarks.end() ? kWatermarkNone : watermark->second,
                   current == body.current.end() ? "" : current->second);
    if (!status.ok()) return status.WithContext("table " + std::string(scan->table_name()));
    graph_->Resume(i);
  }
  graph_->NoteWatermarks();
  totals_at_start_ = CountTotals();
  read_bytes_at_start_ = snapshot().read_bytes;
  return Status::Ok();
}

}  // namespace weir::runtime
