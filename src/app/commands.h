// The verbs. Each returns an exit code and has told the user everything on stdout or stderr.
#ifndef WEIR_APP_COMMANDS_H_
#define WEIR_APP_COMMANDS_H_

#include <string>

#include "app/cli.h"
#include "app/world.h"

namespace weir::app {

int RunCommand(World& world, const Invocation& invocation);
int CheckCommand(World& world, const Invocation& invocation);
int ExplainCommand(World& world, const Invocation& invocation);
int StatusCommand(World& world, const Invocation& invocation);
int ResolveCommand(World& world, const Invocation& invocation);
int TraceVerifyCommand(World& world, const Invocation& invocation);
int GenCommand(World& world, const Invocation& invocation);
int VerifyCommand(World& world, const Invocation& invocation);
int VersionCommand(const Invocation& invocation);

// `weir: what is wrong` on stderr (or {"error":..,"code":..} on stdout with --json); the exit code
// that belongs to it.
int ReportFailure(const Status& status, bool json);
void Print(std::string_view text);       // stdout
void PrintError(std::string_view text);  // stderr

}  // namespace weir::app

#endif  // WEIR_APP_COMMANDS_H_
