// The verbs that are small: explain, trace verify, version; and how every verb reports.
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/project.h"
#include "base/text.h"
#include "build_info.h"
#include "connectors/registry.h"
#include "io/fault.h"
#include "io/process.h"
#include "plan/explain.h"
#include "protocol/trace.h"
#include "sqlite/database.h"

namespace weir::app {

namespace {

constexpr uint64_t kTraceBytesMax = uint64_t{4} << 30;

}  // namespace

void Print(std::string_view text) { (void)io::WriteToDescriptor(1, text).ok(); }
void PrintError(std::string_view text) { (void)io::WriteToDescriptor(2, text).ok(); }

int ReportFailure(const Status& status, bool json) {
  const int code = ExitCodeOf(status);
  if (json) {
    Print("{\"error\":" + JsonQuote(status.message()) + ",\"kind\":" +
          JsonQuote(CodeName(status.code())) + ",\"exit_code\":" + std::to_string(code) + "}\n");
  } else {
    PrintError("weir: " + status.message() + "\n");
  }
  return code;
}

int ExplainCommand(World& world, const Invocation& invocation) {
  if (invocation.connectors) Print(plan::ConnectorsText(connectors::AllConnectors()));
  if (invocation.options) Print(plan::OptionsMarkdown(connectors::AllConnectors()));
  if (invocation.file.empty()) return kExitOk;
  const Result<Project> project = LoadProject(world, invocation);
  if (!project) return ReportFailure(project.error(), invocation.json);
  if (!project->ok()) {
    if (invocation.json)
      Print(project->Diagnostics(true) + "\n");
    else
      PrintError(project->Diagnostics(false));
    return kExitConfig;
  }
  const std::string fingerprint = project->output.fingerprint.ToHex();
  if (invocation.json)
    Print(plan::ExplainJson(*project->output.plan, fingerprint) + "\n");
  else
    Print(plan::ExplainText(*project->output.plan, fingerprint));
  return kExitOk;
}

int TraceVerifyCommand(World& world, const Invocation& invocation) {
  const Result<std::string> text = io::ReadFile(world.files(), invocation.file, kTraceBytesMax);
  if (!text) return ReportFailure(text.error(), invocation.json);
  const protocol::TraceVerdict verdict = protocol::VerifyTrace(*text);
  if (invocation.json) {
    Print("{\"ok\":" + std::string(verdict.ok ? "true" : "false") + ",\"events\":" +
          std::to_string(verdict.events) + ",\"runs\":" + std::to_string(verdict.runs) +
          ",\"line\":" + std::to_string(verdict.line) + ",\"rule\":" + JsonQuote(verdict.rule) +
          "}\n");
  } else if (verdict.ok) {
    Print("the trace keeps every rule: " + std::to_string(verdict.events) + " events of " +
          std::to_string(verdict.runs) + " runs\n");
  } else {
    PrintError(invocation.file + ":" + std::to_string(verdict.line) +
               ": no rule allows this event: " + verdict.rule + "\n");
  }
  return verdict.ok ? kExitOk : kExitConfig;
}

int VersionCommand(const Invocation& invocation) {
  const std::string sqlite(sqlite::SqliteVersion());
  if (invocation.json) {
    Print("{\"version\":" + JsonQuote(kWeirVersion) + ",\"commit\":" + JsonQuote(kWeirCommit) +
          ",\"libc\":\"glibc, static\"" + ",\"sqlite\":" + JsonQuote(sqlite) +
          ",\"fault_points\":" + (kWeirFaults ? "true" : "false") +
          ",\"sanitize\":" + JsonQuote(kWeirSanitize) + ",\"connectors\":[");
    bool first = true;
    for (const plan::ConnectorSpec* spec : connectors::AllConnectors()) {
      Print((first ? "" : ",") + JsonQuote(spec->name));
      first = false;
    }
    Print("]}\n");
    return kExitOk;
  }
  Print("weir " + std::string(kWeirVersion) + " (" + kWeirCommit + ")\nSQLite " + sqlite + "\n");
  if (kWeirFaults) Print("fault points are compiled in: not for production\n");
  Print("connectors:");
  for (const plan::ConnectorSpec* spec : connectors::AllConnectors())
    Print(" " + std::string(spec->name));
  Print("\n");
  return kExitOk;
}

}  // namespace weir::app
