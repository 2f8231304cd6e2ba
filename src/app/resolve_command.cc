// weir resolve: an operator's word, with the process stopped. Asks the evidence first: a word that
// answers nothing is refused, and what a word loses or repeats is counted before it is recorded.
#include <algorithm>
#include <map>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/node_table.h"
#include "app/project.h"
#include "base/text.h"
#include "io/process.h"
#include "runtime/receipt_facts.h"
#include "store/segment.h"
#include "store/spool.h"
#include "store/store.h"

namespace weir::app {

namespace {

using protocol::TargetPosition;
using protocol::Verb;

// What the subject of a word is in this pipeline: it says which words it can need.
enum class Role { kNone, kSource, kFileSink, kDelivered, kDirect };

Role RoleOf(const plan::Plan& plan, const std::string& subject) {
  for (const plan::Node& node : plan.nodes) {
    if (const auto* sink = std::get_if<plan::SinkNode>(&node.body)) {
      if (sink->table == nullptr || sink->table->name != subject) continue;
      if (connectors::IsDirectSink(*sink->table)) return Role::kDirect;
      return connectors::NeedsDelivery(*sink->table) ? Role::kDelivered : Role::kFileSink;
    }
    const auto* scan = std::get_if<plan::ScanNode>(&node.body);
    if (scan != nullptr && scan->table->name == subject.substr(0, subject.find(':')))
      return Role::kSource;
  }
  return Role::kNone;
}

bool CanNeed(Role role, Verb verb) {
  switch (verb) {
    case Verb::kTrustSink:
    case Verb::kRedeliver:
      return role == Role::kDelivered;
    case Verb::kAdopt:
      return role == Role::kDelivered || role == Role::kFileSink;
    case Verb::kAcceptMissing:
    case Verb::kRewindFile:
      return role == Role::kFileSink;
    case Verb::kAcceptTopic:
      return role == Role::kDelivered || role == Role::kSource;
    case Verb::kAcceptGap:
      return role == Role::kSource;
    case Verb::kQuarantine:
      return false;
  }
  return false;
}

// What stands at a subject's target now. A file keeps its receipt beside it, and its sink reads
// that.
struct Evidence {
  bool delivered = false;  // a target with receipts of its own
  std::string moved;       // it is not the target that was recorded; then nobody was fenced there
  flow::Fenced fenced;
  runtime::KnownTarget target;
};

Result<Evidence> EvidenceOf(World& world, const Project& project, const std::string& subject,
                            const store::Store& store) {
  const plan::Plan& plan = *project.output.plan;
  const runtime::Factories make =
      MakeFactories(world.env(), plan, project.state_directory, store.run().pipeline,
                    store.run().instance, {}, nullptr);
  std::string target;
  std::map<std::string, std::vector<runtime::TargetSink>> sinks;
  for (const plan::Node& node : plan.nodes) {
    const auto* sink = std::get_if<plan::SinkNode>(&node.body);
    if (sink == nullptr || sink->table == nullptr || !connectors::NeedsDelivery(*sink->table))
      continue;
    WEIR_ASSIGN_OR_RETURN(const runtime::SinkParts parts, make.sink(node));
    if (sink->table->name == subject) target = parts.target;
    sinks[parts.target].push_back({node.name, sink->table, node.output});
  }
  if (target.empty()) return Evidence{};
  WEIR_ASSIGN_OR_RETURN(const std::unique_ptr<flow::SinkDelivery> delivery,
                        make.delivery(target, sinks[target]));
  Evidence evidence;
  evidence.delivered = true;
  WEIR_ASSIGN_OR_RETURN(const protocol::Whereabouts looked, delivery->Look());
  for (const store::TargetNote& note : store.TargetNotes()) {
    if (note.target != target) continue;
    evidence.moved = protocol::DescribeMove(note.at, looked);
    if (note.in_flight) evidence.target.in_flight = note.in_flight->to;
  }
  if (evidence.moved.empty()) {
    Result<flow::Fenced> fenced = delivery->Fence({});
    delivery->Close();
    if (!fenced) return Fail(fenced.error());
    evidence.fenced = std::move(*fenced);
  }
  evidence.target.can_scan = delivery->Traits().receipt_can_hide;
  for (const runtime::TargetSink& sink : sinks[target]) {
    evidence.target.sinks.push_back(sink.name);
    const std::vector<uint64_t> segments = store::ListSegments(
        world.files(), store::SpoolDirectory(project.state_directory, sink.name));
    if (!segments.empty())
      evidence.target.held_from = std::max(evidence.target.held_from, segments.front());
  }
  for (const store::AckedNote& note : store.AckedNotes()) {
    if (note.target != target) continue;
    evidence.target.acked = note.position;
    evidence.target.seen = note.seen;
  }
  return evidence;
}

// "50:12 of lineage 1234...": begins with the position, which the store reads.
std::string Describe(const Evidence& evidence) {
  if (!evidence.delivered) return "what stands beside the file";
  const std::optional<protocol::Receipt>& receipt = evidence.fenced.receipt;
  if (!receipt) return "no receipt";
  return receipt->position.ToString() + " of lineage " + receipt->lineage.ToHex();
}

struct RowCount {
  uint64_t rows = 0, epochs = 0;
  std::string ToString() const {
    return std::to_string(rows) + " rows in " + std::to_string(epochs) + " epochs";
  }
};

// Sealed rows (from, to] of the target.
Result<RowCount> CountRows(const store::Store& store, const Evidence& evidence,
                           const std::optional<TargetPosition>& from,
                           const std::optional<TargetPosition>& to) {
  constexpr size_t kAtOnce = 1000;
  RowCount count;
  for (EpochId next = from ? from->epoch : 1;;) {
    WEIR_ASSIGN_OR_RETURN(const auto epochs,
                          store.EpochsWithRows(evidence.target.sinks, next, kAtOnce));
    for (const auto& epoch : epochs) {
      if (to && epoch.epoch > to->epoch) return count;
      const uint64_t skip = from && epoch.epoch == from->epoch ? from->rows : 0;
      const uint64_t last = to && epoch.epoch == to->epoch ? to->rows : epoch.total;
      if (last > skip) {
        count.rows += last - skip;
        ++count.epochs;
      }
      next = epoch.epoch + 1;
    }
    if (epochs.size() < kAtOnce) return count;
  }
}

Result<std::string> TrustConsequence(const store::Store& store, const std::string& subject,
                                     const Evidence& evidence,
                                     const protocol::DeliveryFacts& facts) {
  std::string text = subject + ": goes on behind " + Describe(evidence) + ". ";
  const protocol::DeliveryDecision decision = protocol::DecideDelivery(facts);
  if (decision.action != protocol::DeliveryAction::kAdvanceAcked) return text;  // behind --adopt
  const TargetPosition to = protocol::AckedAfter(facts, decision);
  const std::optional<TargetPosition> a = evidence.target.acked;
  WEIR_ASSIGN_OR_RETURN(const RowCount deliver, CountRows(store, evidence, to, std::nullopt));
  if (!a || *a <= to) {
    WEIR_ASSIGN_OR_RETURN(const RowCount drop, CountRows(store, evidence, a, to));
    text += drop.ToString() + " that were sealed here by then (up to " + to.ToString() +
            ") count as delivered; ";
  } else {
    WEIR_ASSIGN_OR_RETURN(const RowCount lost, CountRows(store, evidence, facts.r, to));
    text += lost.ToString() +
            " that the target had and has lost are no longer in the spool: they stay lost; ";
  }
  text += deliver.ToString() + " above " + to.ToString() +
          " are delivered, and so is all input from here on";
  if (facts.r > to) {
    text += "; what the target has got of it already comes twice. New epochs are numbered above " +
            std::to_string(facts.r.epoch);
  }
  return text;
}

Result<std::string> RedeliverConsequence(const store::Store& store, const std::string& subject,
                                         const Evidence& evidence) {
  WEIR_ASSIGN_OR_RETURN(const RowCount deliver,
                        CountRows(store, evidence, evidence.target.acked, std::nullopt));
  return subject + ": " + deliver.ToString() +
         " above what is acked here are delivered, whatever the target holds (" +
         Describe(evidence) + "): rows may come twice";
}

Result<std::string> Consequence(const store::Store& store, Verb verb, const std::string& subject,
                                const Evidence& evidence, const protocol::DeliveryFacts& facts) {
  switch (verb) {
    case Verb::kTrustSink:
      return TrustConsequence(store, subject, evidence, facts);
    case Verb::kRedeliver:
      return RedeliverConsequence(store, subject, evidence);
    case Verb::kAdopt:
      return subject + ": " + Describe(evidence) + " is taken as an ancestor's";
    case Verb::kAcceptMissing:
      return subject +
             ": goes on from what is there; rows that are missing from the file stay lost";
    case Verb::kRewindFile:
      return subject +
             ": the file is cut to what is sealed here and written again from the input, which "
             "must still reach back that far";
    case Verb::kAcceptGap:
      return subject + ": reads on without what is gone; those rows stay lost";
    case Verb::kAcceptTopic:
      return subject + ": " + (evidence.moved.empty() ? "the topic" : evidence.moved) +
             ": taken as ours";
    case Verb::kQuarantine:
      break;
  }
  return std::string("the state directory is moved aside; the next run starts fresh");
}

int QuarantineDirectory(World& world, const Project& project, bool json) {
  const Result<std::string> moved =
      store::Quarantine(world.files(), project.state_directory, world.clock().WallMs());
  if (!moved) return ReportFailure(moved.error(), json);
  Print(json ? "{\"moved_to\":" + JsonQuote(*moved) + "}\n" : "moved to " + *moved + "\n");
  return kExitOk;
}

bool Confirmed(const Invocation& invocation, const std::string& text) {
  if (!invocation.json) Print(text);
  if (invocation.yes) return true;
  if (invocation.json || !io::IsTerminal(0)) {
    PrintError("weir: nothing done: say --yes, or answer on a terminal\n");
    return false;
  }
  Print("Do this? [y/N] ");
  const std::optional<std::string> answer = io::ReadLineFromStdin();
  return answer && (*answer == "y" || *answer == "yes");
}

// A word that the evidence does not ask for would be recorded, and nothing would come of it.
Status RequireQuestion(Verb verb, const std::string& subject, const Evidence& evidence,
                       const protocol::DeliveryFacts& facts) {
  if (verb == Verb::kAcceptTopic) {
    if (!evidence.moved.empty()) return Status::Ok();
    return Status(Code::kUsage, subject + " is the target that was recorded: nothing to accept");
  }
  if (!evidence.moved.empty())
    return Status(Code::kUsage, subject + ": " + evidence.moved + ": --accept-topic comes first");
  const protocol::DeliveryDecision decision = protocol::DecideDelivery(facts);
  const std::vector<Verb> verbs = protocol::DeliveryVerbs(decision.row);
  const bool asked = std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
  const bool open = decision.action == protocol::DeliveryAction::kPark ||
                    decision.action == protocol::DeliveryAction::kScan;
  if (asked && open) return Status::Ok();
  return Status(Code::kUsage, subject + ": nothing there asks for " + protocol::VerbName(verb) +
                                  ": " + protocol::DescribeDelivery(facts, decision));
}

class Resolver {
 public:
  Resolver(World& world, const Project& project, const Invocation& invocation, store::Store& store)
      : world_(world), project_(project), in_(invocation), store_(store) {}

  // What all words will do, a line each.
  Result<std::string> Ask() {
    std::string text;
    for (const auto& [verb, subject] : in_.words) {
      const Role role = RoleOf(*project_.output.plan, subject);
      if (role == Role::kNone) {
        return Fail(Code::kUsage, "\"" + subject + "\" is no source or sink of " + in_.file);
      }
      if (!CanNeed(role, verb)) {
        return Fail(Code::kUsage, std::string(protocol::VerbName(verb)) + " is no answer for \"" +
                                      subject + "\": weir status names those that are");
      }
      WEIR_ASSIGN_OR_RETURN(Evidence evidence, EvidenceOf(world_, project_, subject, store_));
      protocol::DeliveryFacts facts;
      if (evidence.delivered) {
        const EpochId sealed = store_.run().sealed;
        WEIR_ASSIGN_OR_RETURN(facts, runtime::GatherDeliveryFacts(store_, sealed, evidence.target,
                                                                  evidence.fenced, {}));
        // An adopted receipt can need a second word, which only its row will name.
        if (!Adopts(subject) || verb == Verb::kAdopt)
          WEIR_RETURN_IF_ERROR(RequireQuestion(verb, subject, evidence, facts));
        WEIR_ASSIGN_OR_RETURN(
            facts, runtime::GatherDeliveryFacts(store_, sealed, evidence.target, evidence.fenced,
                                                {{0, verb, subject}}));
      }
      WEIR_ASSIGN_OR_RETURN(const std::string line,
                            Consequence(store_, verb, subject, evidence, facts));
      text += line + "\n";
      evidence_.push_back(std::move(evidence));
    }
    return text;
  }

  Status Record() {
    for (size_t i = 0; i < in_.words.size(); ++i) {
      const auto& [verb, subject] = in_.words[i];
      WEIR_RETURN_IF_ERROR(store_.RecordResolution(
          verb, subject, io::UserName(), world_.clock().WallMs(), Describe(evidence_[i])));
      if (verb == Verb::kAdopt) WEIR_RETURN_IF_ERROR(Adopt(evidence_[i].fenced));
    }
    return Status::Ok();
  }

 private:
  // Every receipt there that this directory cannot place: one of an unknown lineage, or of an
  // ancestor's that went on elsewhere.
  Status Adopt(const flow::Fenced& fenced) {
    std::vector<protocol::Receipt> found = fenced.others;
    if (fenced.receipt) found.push_back(*fenced.receipt);
    for (const protocol::Receipt& receipt : found) {
      bool placed = receipt.lineage == store_.run().lineage;
      for (const protocol::LineageRecord& record : store_.Lineages()) {
        if (record.lineage != receipt.lineage) continue;
        placed = placed || receipt.position.epoch < record.last_sealed ||
                 (receipt.position.epoch == record.last_sealed && receipt.hash == record.last_hash);
      }
      if (!placed) WEIR_RETURN_IF_ERROR(store_.AdoptReceipt(receipt));
    }
    return Status::Ok();
  }

  bool Adopts(const std::string& subject) const {
    return std::any_of(in_.words.begin(), in_.words.end(), [&](const auto& word) {
      return word.first == Verb::kAdopt && word.second == subject;
    });
  }

  World& world_;
  const Project& project_;
  const Invocation& in_;
  store::Store& store_;
  std::vector<Evidence> evidence_;  // by word
};

}  // namespace

int ResolveCommand(World& world, const Invocation& invocation) {
  const Result<Project> project = LoadProject(world, invocation);
  if (!project) return ReportFailure(project.error(), invocation.json);
  if (invocation.words[0].first == protocol::Verb::kQuarantine) {
    if (!Confirmed(invocation, "the state directory is moved aside; the next run starts fresh\n"))
      return kExitUsage;
    return QuarantineDirectory(world, *project, invocation.json);
  }
  if (!project->ok()) {
    PrintError(project->Diagnostics(false));
    return kExitConfig;
  }
  store::OpenOptions options;
  options.directory = project->state_directory;
  options.create = false;
  const Result<std::unique_ptr<store::Store>> store = store::Store::Open(world.env(), options);
  if (!store) return ReportFailure(store.error(), invocation.json);
  Resolver resolver(world, *project, invocation, **store);
  const Result<std::string> text = resolver.Ask();
  if (!text) return ReportFailure(text.error(), invocation.json);
  if (!Confirmed(invocation, *text)) return kExitUsage;
  if (Status status = resolver.Record(); !status.ok())
    return ReportFailure(status, invocation.json);
  Print(invocation.json ? "{\"recorded\":" + std::to_string(invocation.words.size()) + "}\n"
                        : "recorded; the next weir run acts on it\n");
  return kExitOk;
}

}  // namespace weir::app
