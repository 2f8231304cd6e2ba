// Project: what a verb works on: one SQL file with its configuration, compiled, and the places it
// belongs to.
#ifndef WEIR_APP_PROJECT_H_
#define WEIR_APP_PROJECT_H_

#include <memory>
#include <string>
#include <vector>

#include "app/cli.h"
#include "app/config.h"
#include "app/world.h"
#include "sql/compile.h"

namespace weir::app {

struct Project {
  sql::CompileInput input;
  sql::CompileOutput output;  // plan is null when there are errors
  Config config;
  std::string pipeline;  // SET pipeline.name, else the file's name without .sql
  std::string instance;  // for a directory that is born now
  std::string state_directory;

  bool ok() const { return output.plan != nullptr; }
  // An error among them takes the plan away.
  void AddDiagnostics(std::vector<plan::Diagnostic> found);
  // All diagnostics, as text or JSON.
  std::string Diagnostics(bool json) const;
};

// Reads, configures the log, compiles. A Status is about the files themselves; errors in the SQL
// are in `output`.
Result<Project> LoadProject(World& world, const Invocation& invocation);

// The state directory by the command line alone (status needs no SQL that compiles).
std::string StateDirectory(const Invocation& invocation, const Config& config,
                           const std::string& file_stem);
std::string FileStem(const std::string& path);  // "a/orders.sql" -> "orders"

}  // namespace weir::app

#endif  // WEIR_APP_PROJECT_H_
