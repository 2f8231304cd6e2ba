// Compile: SQL text -> plan. The front end's one door.
//
// All errors that can be found are found in one run. Nothing is opened or written; secrets are
// asked for through `secret` only, once for each ${..}.
#ifndef WEIR_SQL_COMPILE_H_
#define WEIR_SQL_COMPILE_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "plan/plan.h"

namespace weir::sql {

// A SET key from weir.toml or a flag; a SET in the SQL stands above the former and below the
// latter.
struct SetDefault {
  std::string text;    // as written there; ${} is expanded as in SQL
  std::string origin;  // "[set]", "[pipeline.orders]": for explain
  std::string place;   // "weir.toml:12:3": in front of messages about it
};

struct CompileInput {
  std::string file_name;  // for messages; its stem is the default of pipeline.name
  std::string text;
  std::vector<const plan::ConnectorSpec*> connectors;
  std::map<std::string, SetDefault> set_defaults;
  std::map<std::string, SetDefault> set_overrides;  // --set: stands above a SET in the SQL
  // kind: "env", "cred" or "file". kNotFound when there is none. Not set: every ${} is an error.
  std::function<Result<std::string>(std::string_view kind, std::string_view name)> secret;
};

struct CompileOutput {
  std::unique_ptr<plan::Plan> plan;           // null when there is any error
  std::vector<plan::Diagnostic> diagnostics;  // by position; warnings and notes too
  std::string canonical;                      // of the plan before pruning
  Digest256 fingerprint;
};

CompileOutput Compile(const CompileInput& input);

// `file:line:col: message`, source line, caret, hint.
std::string FormatDiagnostics(const CompileInput& input,
                              const std::vector<plan::Diagnostic>& diagnostics);
// [{"severity":"error","file":..,"line":..,"column":..,"message":..,"hint":..}, ..]
std::string FormatDiagnosticsJson(const CompileInput& input,
                                  const std::vector<plan::Diagnostic>& diagnostics);

}  // namespace weir::sql

#endif  // WEIR_SQL_COMPILE_H_
