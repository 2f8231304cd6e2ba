// weir check: everything that can be found without running. Nothing is created, cut or contacted.
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/project.h"
#include "base/text.h"
#include "store/store.h"

namespace weir::app {

namespace {

struct Findings {
  std::vector<std::string> errors;
  std::vector<std::string> notes;
};

bool HasGlob(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::string LocalPath(const std::string& path) {
  return path.starts_with("file://") ? path.substr(7) : path;
}

void CheckSourcePath(World& world, const plan::TableDef& table, const std::string& path,
                     Findings* out) {
  const std::string absolute = world.files().AbsolutePath(path);
  out->notes.push_back("table " + table.name + " reads " + absolute);
  if (HasGlob(path)) return;
  if (!world.files().Exists(path))
    out->errors.push_back("table " + table.name + ": " + absolute + " does not exist");
}

void CheckSinkPath(World& world, const plan::TableDef& table, const std::string& path,
                   Findings* out) {
  const std::string absolute = world.files().AbsolutePath(path);
  out->notes.push_back("table " + table.name + " writes " + absolute);
  // A rolling sink's own directory is made by the run; the one above it must be there.
  const std::string plain = absolute.substr(0, absolute.find_last_not_of('/') + 1);
  const bool into = path.ends_with("/") && world.files().Exists(plain);
  const std::string parent = into ? plain : io::DirectoryOf(plain);
  const Result<io::FileStat> stat = world.files().Stat(parent);
  if (!stat) {
    out->errors.push_back("table " + table.name + ": the directory " + parent +
                          " does not exist (weir creates no directories for output)");
    return;
  }
  if (!stat->is_directory) {
    out->errors.push_back("table " + table.name + ": " + parent + " is not a directory");
    return;
  }
  if (Status status = world.files().CheckWritable(parent); !status.ok())
    out->errors.push_back("table " + table.name + ": " + status.message());
}

void CheckPaths(World& world, const plan::Plan& plan, Findings* out) {
  for (const plan::Node& node : plan.nodes) {
    const plan::TableDef* table = nullptr;
    bool source = false;
    if (const auto* scan = std::get_if<plan::ScanNode>(&node.body)) {
      table = scan->table;
      source = true;
    } else if (const auto* sink = std::get_if<plan::SinkNode>(&node.body)) {
      table = sink->table;
    }
    if (table == nullptr || plan::FindOption(table->connector->options, "path") == nullptr)
      continue;
    if (table->options.Find("path") == nullptr) continue;
    const std::string path = LocalPath(table->options.String("path"));
    if (source)
      CheckSourcePath(world, *table, path, out);
    else
      CheckSinkPath(world, *table, path, out);
  }
}

// Would a start be refused over what is saved?
void CheckSavedState(World& world, const Project& project, Findings* out) {
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
  const Result<Project> project = LoadProject(world, invocation);
  if (!project) return ReportFailure(project.error(), invocation.json);
  Findings findings;
  if (project->ok()) {
    CheckPaths(world, *project->output.plan, &findings);
    CheckSavedState(world, *project, &findings);
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
  if (project->ok()) {
    for (const std::string& note : findings.notes) Print(note + "\n");
    Print("fingerprint " + project->output.fingerprint.ToHex() + "\n");
  }
  if (good) Print(invocation.file + ": good\n");
  return good ? kExitOk : kExitConfig;
}

}  // namespace weir::app
