// weir: one static binary. Everything it does is a verb in app/commands.h.
#include "app/cli.h"
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/world.h"
#include "base/log.h"
#include "io/fault.h"
#include "io/process.h"
#include "sqlite/database.h"
#include "sqlite/vfs.h"

int main(int argc, char** argv) {
  using namespace weir;
  io::InitProcess();
  const Result<app::ParsedCommandLine> parsed = app::ParseCommandLine(argc, argv);
  if (!parsed) {
    app::PrintError("weir: " + parsed.error().message() + "\n");
    return app::kExitUsage;
  }
  if (parsed->help) {
    app::Print(*parsed->help);
    return app::kExitOk;
  }
  const app::Invocation& invocation = parsed->invocation;
#if defined(WEIR_FAULTS) && WEIR_FAULTS
  if (Status status = io::ConfigureFaultsFromEnvironment(); !status.ok())
    return app::ReportFailure(status, false);
#endif
  if (Status status = sqlite::InitializeSqlite(); !status.ok())
    return app::ReportFailure(status, invocation.json);
  if (Status status = sqlite::RegisterVfs(); !status.ok())
    return app::ReportFailure(status, invocation.json);
  app::World world;
  switch (invocation.verb) {
    case app::Verb::kRun:
      return app::RunCommand(world, invocation);
    case app::Verb::kCheck:
      return app::CheckCommand(world, invocation);
    case app::Verb::kExplain:
      return app::ExplainCommand(world, invocation);
    case app::Verb::kStatus:
      return app::StatusCommand(world, invocation);
    case app::Verb::kResolve:
      return app::ResolveCommand(world, invocation);
    case app::Verb::kTraceVerify:
      return app::TraceVerifyCommand(world, invocation);
    case app::Verb::kVersion:
      return app::VersionCommand(invocation);
    case app::Verb::kGen:
      return app::GenCommand(world, invocation);
    case app::Verb::kVerify:
      return app::VerifyCommand(world, invocation);
  }
  return app::kExitInternal;
}
