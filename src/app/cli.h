// The command line: what was asked, as plain data. Only this file's .cc knows the parsing library.
#ifndef WEIR_APP_CLI_H_
#define WEIR_APP_CLI_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "protocol/types.h"

namespace weir::app {

enum class Verb {
  kRun,
  kCheck,
  kExplain,
  kStatus,
  kResolve,
  kTraceVerify,
  kVersion,
  kGen,
  kVerify
};

// gen and verify: options with a value, as they were given, by name ("--seed"). What they mean is
// said in app/qualify_commands.cc.
struct QualifyArguments {
  std::string ledger;
  std::map<std::string, std::string> given;
  std::vector<std::string> columns;                // --column LAYER.NAME=COLUMN
  std::vector<std::string> kafka;                  // --kafka KEY=VALUE
  bool pace = false;                               // gen
  bool input_ended = false, deduplicated = false;  // verify
};

struct Invocation {
  Verb verb = Verb::kRun;
  std::string file;  // the SQL file, or the trace
  std::optional<std::string> data_dir;
  std::optional<std::string> config;       // weir.toml
  std::map<std::string, std::string> set;  // --set key=value
  bool json = false;
  // run
  bool fresh = false;
  bool discard_undelivered = false;
  std::optional<std::string> job;
  std::optional<std::string> drain;  // a duration
  std::optional<std::string> trace;
  bool progress = true;  // on a terminal
  // check
  bool connect = false;  // ask the remote ends, too
  // explain
  bool connectors = false;
  bool options = false;  // the option tables as Markdown: docs/options.md
  // resolve
  std::vector<std::pair<protocol::Verb, std::string>> words;
  bool yes = false;
  QualifyArguments qualify;
};

// kUsage: the message says what is wrong. `help`: not an error, the text to print.
struct ParsedCommandLine {
  Invocation invocation;
  std::optional<std::string> help;
};
Result<ParsedCommandLine> ParseCommandLine(int argc, const char* const* argv);

}  // namespace weir::app

#endif  // WEIR_APP_CLI_H_
