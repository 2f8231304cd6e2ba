// weir check: everything that can be found without running. Nothing is created or cut, and nobody
// is contacted but with --connect.
#include <algorithm>
#include <iterator>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/places.h"
#include "app/project.h"
#include "base/text.h"
#include "connectors/registry.h"
#include "store/store.h"

namespace weir::app {

namespace {

struct Findings {
  std::vector<std::string> errors;
  std::vector<std::string> notes;
};

// Whether the remote ends answer, know what the tables name, and let us.
void CheckConnections(World& world, const Project& project, Findings* out) {
  const plan::Plan& plan = *project.output.plan;
  const connectors::ConnectorContext context{
      world.env(), project.state_directory, project.pipeline, project.instance, plan.zone, nullptr,
      {}};
  for (const plan::Node& node : plan.nodes) {
    const auto* scan = std::get_if<plan::ScanNode>(&node.body);
    const auto* sink = std::get_if<plan::SinkNode>(&node.body);
    const plan::TableDef* table = scan != nullptr   ? scan->table
                                  : sink != nullptr ? sink->table
                                                    : nullptr;
    if (table == nullptr) continue;
    connectors::Reached reached = connectors::Connect(context, *table, sink != nullptr);
    out->errors.insert(out->errors.end(), reached.errors.begin(), reached.errors.end());
    out->notes.insert(out->notes.end(), reached.notes.begin(), reached.notes.end());
  }
}

// Would a start be refused over what is saved?
// `claimed` becomes the output files that are this directory's own.
void CheckSavedState(World& world, const Project& project, Findings* out,
                     std::vector<std::string>* claimed) {
  out->notes.push_back("state directory " + world.files().AbsolutePath(project.state_directory));
  if (!world.files().Exists(project.state_directory)) return;
  store::OpenOptions options;
  options.directory = project.state_directory;
  options.create = false;
  options.read_only = true;
  const Result<std::unique_ptr<store::Store>> store = store::Store::Open(world.env(), options);
  if (!store) {
    // A directory without state.db is one that no run has used yet.
    if (store.error().code() != Code::kNotFound) out->errors.push_back(store.error().message());
    return;
  }
  *claimed = (*store)->ClaimedPaths();
  store::Asked asked;
  asked.canonical_plan = project.output.canonical;
  asked.fingerprint = project.output.fingerprint;
  const Result<protocol::TakeoverFacts> facts = (*store)->GatherFacts(asked);
  if (!facts) {
    out->errors.push_back(facts.error().message());
    return;
  }
  if (facts->any_run_row && !facts->fingerprint_matches) {
    out->errors.push_back(
        "the saved state is of another plan: " +
        plan::DescribeDifference((*store)->StoredCanonicalPlan(), project.output.canonical) +
        "; weir run --fresh starts over and would drop " + std::to_string(facts->undelivered_rows) +
        " undelivered rows");
  } else {
    const protocol::TakeoverDecision decision = protocol::DecideTakeover(*facts);
    out->notes.push_back(std::string("the next run: ") +
                         protocol::TakeoverActionName(decision.action) + " (" + decision.reason +
                         ")");
  }
}

std::string ListJson(const std::vector<std::string>& texts) {
  std::string out = "[";
  for (size_t i = 0; i < texts.size(); ++i) out += (i > 0 ? "," : "") + JsonQuote(texts[i]);
  return out + "]";
}

}  // namespace

int CheckCommand(World& world, const Invocation& invocation) {
  Result<Project> project = LoadProject(world, invocation);
  if (!project) return ReportFailure(project.error(), invocation.json);
  Findings findings;
  const bool compiled = project->ok();
  if (compiled) {
    findings.notes = DescribePlaces(world.files(), *project->output.plan);
    std::vector<std::string> claimed;
    CheckSavedState(world, *project, &findings, &claimed);
    if (invocation.connect) CheckConnections(world, *project, &findings);
    const plan::Plan& plan = *project->output.plan;
    std::vector<plan::Diagnostic> found;
    const auto take = [&found](std::vector<plan::Diagnostic> more) {
      std::ranges::move(more, std::back_inserter(found));
    };
    take(FindLinkedPlaces(world.files(), plan, project->state_directory));
    take(FindMissingPlaces(world.files(), plan, claimed));
    take(FindUnfitTables(world.files(), world.env().sqlite_vfs, plan));
    project->AddDiagnostics(std::move(found));
  }
  const bool good = project->ok() && findings.errors.empty();
  if (invocation.json) {
    Print("{\"ok\":" + std::string(good ? "true" : "false") + ",\"diagnostics\":" +
          project->Diagnostics(true) + ",\"errors\":" + ListJson(findings.errors) +
          ",\"notes\":" + ListJson(findings.notes) + "}\n");
    return good ? kExitOk : kExitConfig;
  }
  PrintError(project->Diagnostics(false));
  for (const std::string& error : findings.errors)
    PrintError(invocation.file + ": " + error + "\n");
  if (compiled) {
    for (const std::string& note : findings.notes) Print(note + "\n");
    Print("fingerprint " + project->output.fingerprint.ToHex() + "\n");
  }
  if (good) Print(invocation.file + ": good\n");
  return good ? kExitOk : kExitConfig;
}

}  // namespace weir::app
