#include "app/project.h"

#include <algorithm>
#include <utility>

#include "app/places.h"
#include "app/secrets.h"
#include "base/log.h"
#include "connectors/registry.h"
#include "io/process.h"

namespace weir::app {

namespace {

constexpr uint64_t kSqlBytesMax = 4 << 20;

int64_t WallClockMs() { return io::RealClock().WallMs(); }

void SetUpLog(const Config& config) {
  LogOptions options;
  options.level = config.log_level.value_or(LogLevel::kInfo);
  options.format = config.log_format.value_or(LogFormat::kText);
  options.journald = io::UnderJournald();
  options.wall_clock_ms = &WallClockMs;
  ConfigureLog(options);
}

// host name + 6 hex of the machine id: 300 boxes with one image do not share a name.
std::string DefaultInstance(io::Machine& machine) {
  return std::string(machine.HostName()) + "-" + std::string(machine.MachineId()).substr(0, 6);
}

}  // namespace

std::string FileStem(const std::string& path) {
  std::string name = io::BaseName(path);
  if (name.size() > 4 && name.ends_with(".sql")) name.resize(name.size() - 4);
  return name;
}

std::string StateDirectory(const Invocation& invocation, const Config& config,
                           const std::string& file_stem) {
  if (invocation.data_dir) return *invocation.data_dir;
  if (config.data_dir)
    return config.data_dir_is_pipelines ? *config.data_dir
                                        : io::JoinPath(*config.data_dir, file_stem);
  return file_stem + ".weir";
}

Result<Project> LoadProject(World& world, const Invocation& invocation) {
  Project project;
  const std::string stem = FileStem(invocation.file);
  WEIR_ASSIGN_OR_RETURN(project.config, LoadConfig(world.files(), invocation.config, stem));
  SetUpLog(project.config);
  sql::CompileInput& input = project.input;
  input.file_name = invocation.file;
  WEIR_ASSIGN_OR_RETURN(input.text, io::ReadFile(world.files(), invocation.file, kSqlBytesMax));
  for (const plan::ConnectorSpec* spec : connectors::AllConnectors())
    input.connectors.push_back(spec);
  for (const auto& [key, configured] : project.config.set) {
    input.set_defaults[key] = {configured.value, configured.origin, configured.place};
  }
  for (const auto& [key, text] : invocation.set) {
    input.set_overrides[key] = {text, "--set", "--set"};
  }
  io::Files* files = &world.files();
  input.secret = [files](std::string_view kind, std::string_view name) {
    return ResolveSecret(*files, kind, name);
  };
  project.output = sql::Compile(input);
  project.pipeline = stem;
  if (project.ok()) project.pipeline = project.output.plan->pipeline_name;
  project.instance = project.config.instance.value_or(DefaultInstance(world.machine()));
  project.state_directory = StateDirectory(invocation, project.config, stem);
  if (project.ok()) {
    project.AddDiagnostics(
        FindSharedPlaces(world.files(), *project.output.plan, project.state_directory));
  }
  return project;
}

void Project::AddDiagnostics(std::vector<plan::Diagnostic> found) {
  for (plan::Diagnostic& d : found) {
    if (d.severity == plan::Diagnostic::Severity::kError) output.plan = nullptr;
    output.diagnostics.push_back(std::move(d));
  }
  std::ranges::stable_sort(output.diagnostics, {}, [](const plan::Diagnostic& d) {
    return std::pair(d.position.line, d.position.column);
  });
}

std::string Project::Diagnostics(bool json) const {
  return json ? sql::FormatDiagnosticsJson(input, output.diagnostics)
              : sql::FormatDiagnostics(input, output.diagnostics);
}

}  // namespace weir::app
