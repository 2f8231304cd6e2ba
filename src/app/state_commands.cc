// The verbs about a state directory: status (running or not) and resolve (with the process
// stopped).
#include <map>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/json_text.h"
#include "app/node_table.h"
#include "app/project.h"
#include "base/text.h"
#include "io/loop.h"
#include "io/process.h"
#include "store/store.h"

namespace weir::app {

namespace {

constexpr int64_t kAskTimeoutMs = 5000;

// What a stopped directory says: read without changing anything.
std::string StoppedJson(const store::Store& store) {
  const store::RunInfo& run = store.run();
  std::string out = "{\"running\":false,\"pipeline\":" + JsonQuote(run.pipeline) +
                    ",\"instance\":" + JsonQuote(run.instance);
  out += ",\"run\":" + std::to_string(run.run) + ",\"lineage\":\"" + run.lineage.ToHex() +
         "\",\"sealed_epoch\":" + std::to_string(run.sealed);
  out += ",\"ended_cleanly\":" + std::string(run.last_unclean ? "false" : "true");
  if (const auto sealed = store.NewestSealed()) {
    out += ",\"epoch\":[";
    bool first = true;
    for (const std::string_view line : Split(sealed->body, '\n')) {
      if (line.empty()) continue;
      out += (first ? "" : ",") + JsonQuote(line);
      first = false;
    }
    out += "],\"sinks\":{";
    first = true;
    for (const store::SinkState& sink : sealed->sinks) {
      out += (first ? "" : ",") + JsonQuote(sink.sink) +
             ":{\"rows_sealed\":" + std::to_string(sink.rows_total) + "}";
      first = false;
    }
    out += "}";
  }
  out += ",\"acked\":{";
  bool first = true;
  for (const store::AckedNote& note : store.AckedNotes()) {
    out += (first ? "" : ",") + JsonQuote(note.target) + ":" + JsonQuote(note.position.ToString());
    first = false;
  }
  return out + "}}";
}

// What stands at a subject's target now. A file keeps its receipt beside it, and its sink reads
// that.
struct Evidence {
  bool delivered = false;  // a target with receipts of its own
  std::optional<protocol::Receipt> receipt;
};

Result<Evidence> EvidenceOf(World& world, const Project& project, const std::string& subject,
                            const store::RunInfo& run) {
  const plan::Plan& plan = *project.output.plan;
  const runtime::Factories make =
      MakeFactories(world.env(), plan, project.state_directory, run.pipeline, run.instance, {});
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
  WEIR_ASSIGN_OR_RETURN(const protocol::Whereabouts at, delivery->Look());
  (void)at;
  Result<flow::Fenced> fenced = delivery->Fence({});
  delivery->Close();
  if (!fenced) return Fail(fenced.error());
  return Evidence{true, fenced->receipt};
}

// "50:12 of lineage 1234...": begins with the position, which the store reads.
std::string Describe(const Evidence& evidence) {
  if (!evidence.delivered) return "what stands beside the file";
  const std::optional<protocol::Receipt>& receipt = evidence.receipt;
  if (!receipt) return "no receipt";
  return receipt->position.ToString() + " of lineage " + receipt->lineage.ToHex();
}

bool KnowsSubject(const plan::Plan& plan, const std::string& subject) {
  const std::string table = subject.substr(0, subject.find(':'));
  for (const auto& t : plan.tables) {
    if (t->name == table) return true;
  }
  return false;
}

std::string Consequence(protocol::Verb verb, const std::string& subject,
                        const std::string& evidence) {
  switch (verb) {
    case protocol::Verb::kTrustSink:
      return subject + ": goes on behind " + evidence +
             "; what is sealed here at or below it is dropped, and input since a restored backup "
             "is delivered again";
    case protocol::Verb::kRedeliver:
      return subject +
             ": everything above what is acked here is delivered, whatever the target holds: rows "
             "may come twice";
    case protocol::Verb::kAdopt:
      return subject + ": " + evidence + " is taken as an ancestor's";
    case protocol::Verb::kAcceptMissing:
      return subject +
             ": goes on from what is there; rows that are missing from the file stay lost";
    case protocol::Verb::kRewindFile:
      return subject +
             ": the file is cut to what is sealed here and written again from the input, which "
             "must still reach back that far";
    case protocol::Verb::kAcceptGap:
      return subject + ": reads on without what is gone; those rows stay lost";
    case protocol::Verb::kAcceptTopic:
      return subject + ": taken as ours";
    case protocol::Verb::kQuarantine:
      return "the state directory is moved aside; the next run starts fresh";
  }
  return "";
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

}  // namespace

int StatusCommand(World& world, const Invocation& invocation) {
  const std::string stem = FileStem(invocation.file);
  const Result<Config> config = LoadConfig(world.files(), invocation.config, stem);
  if (!config) return ReportFailure(config.error(), invocation.json);
  const std::string directory = StateDirectory(invocation, *config, stem);
  const auto show = [&](std::string json) {
    if (!json.empty() && json.back() == '\n') json.pop_back();
    Print(invocation.json ? json + "\n" : JsonToText(json));
  };
  const Result<std::string> live =
      io::AskUnixSocket(io::JoinPath(directory, "status.sock"), "status", kAskTimeoutMs);
  if (live) {
    show(*live);
    return kExitOk;
  }
  store::OpenOptions options;
  options.directory = directory;
  options.create = false;
  options.read_only = true;
  const Result<std::unique_ptr<store::Store>> store = store::Store::Open(world.env(), options);
  if (!store) return ReportFailure(store.error(), invocation.json);
  show(StoppedJson(**store));
  return kExitOk;
}

int ResolveCommand(World& world, const Invocation& invocation) {
  const Result<Project> project = LoadProject(world, invocation);
  if (!project) return ReportFailure(project.error(), invocation.json);
  if (invocation.words[0].first == protocol::Verb::kQuarantine) {
    if (!Confirmed(invocation, Consequence(protocol::Verb::kQuarantine, "", "") + "\n"))
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
  std::string text;
  std::vector<Evidence> evidence_of;
  for (const auto& [verb, subject] : invocation.words) {
    if (!KnowsSubject(*project->output.plan, subject)) {
      return ReportFailure(
          Status(Code::kUsage, "\"" + subject + "\" is no table of " + invocation.file),
          invocation.json);
    }
    const auto evidence = EvidenceOf(world, *project, subject, (*store)->run());
    if (!evidence) return ReportFailure(evidence.error(), invocation.json);
    if (verb == protocol::Verb::kAdopt && evidence->delivered && !evidence->receipt) {
      return ReportFailure(Status(Code::kUsage, subject + ": there is no receipt to adopt"),
                           invocation.json);
    }
    text += Consequence(verb, subject, Describe(*evidence)) + "\n";
    evidence_of.push_back(*evidence);
  }
  if (!Confirmed(invocation, text)) return kExitUsage;
  for (size_t i = 0; i < invocation.words.size(); ++i) {
    const auto& [verb, subject] = invocation.words[i];
    Status status = (*store)->RecordResolution(verb, subject, io::UserName(),
                                               world.clock().WallMs(), Describe(evidence_of[i]));
    if (status.ok() && verb == protocol::Verb::kAdopt && evidence_of[i].receipt)
      status = (*store)->AdoptReceipt(*evidence_of[i].receipt);
    if (!status.ok()) return ReportFailure(status, invocation.json);
  }
  Print(invocation.json ? "{\"recorded\":" + std::to_string(invocation.words.size()) + "}\n"
                        : "recorded; the next weir run acts on it\n");
  return kExitOk;
}

}  // namespace weir::app
