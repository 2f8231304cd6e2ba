#include "app/cli.h"

#include <CLI/CLI.hpp>

namespace weir::app {

namespace {

// --set key=value, any number of times.
std::string TakeSets(const std::vector<std::string>& given,
                     std::map<std::string, std::string>* out) {
  for (const std::string& entry : given) {
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0)
      return "--set takes KEY=VALUE, not \"" + entry + "\"";
    (*out)[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  return "";
}

struct Raw {
  std::vector<std::string> sets;
  std::string progress = "auto";
  std::map<protocol::Verb, std::vector<std::string>> subjects;
  bool quarantine = false;
};

void AddCommon(CLI::App& verb, Invocation& in, Raw& raw, bool file_required) {
  auto* file = verb.add_option("FILE", in.file, "the pipeline's SQL file");
  if (file_required) file->required();
  verb.add_option("--data-dir", in.data_dir, "state directory (default ./NAME.weir)");
  verb.add_option("--config", in.config, "weir.toml");
  verb.add_option("--set", raw.sets, "KEY=VALUE: a SET key, above the file's own")
      ->allow_extra_args(false);
  verb.add_flag("--json", in.json, "machine-readable output");
}

void AddRun(CLI::App& app, Invocation& in, Raw& raw) {
  CLI::App* run = app.add_subcommand(
      "run", "run until the input ends or SIGTERM; a rerun after any death resumes");
  AddCommon(*run, in, raw, true);
  run->add_flag("--fresh", in.fresh, "start over on purpose");
  run->add_flag("--discard-undelivered", in.discard_undelivered,
                "with --fresh: give up what is sealed and not delivered");
  run->add_option("--job", in.job, "a bounded job that has finished under this ID exits 0 at once");
  run->add_option("--drain", in.drain, "how long a stop delivers what is sealed (default 10 s)");
  run->add_option("--trace", in.trace, "append the protocol trace to this file");
  run->add_option("--progress", raw.progress, "auto | never")
      ->check(CLI::IsMember({"auto", "never"}));
}

void AddResolve(CLI::App& app, Invocation& in, Raw& raw) {
  CLI::App* resolve = app.add_subcommand(
      "resolve", "an operator's recorded decision where the evidence cannot decide");
  AddCommon(*resolve, in, raw, true);
  using protocol::Verb;
  const std::pair<Verb, const char*> verbs[] = {
      {Verb::kTrustSink, "the sink's receipt is right: go on behind it"},
      {Verb::kRedeliver, "deliver from what is acked here, whatever the receipt says"},
      {Verb::kAdopt, "take the one receipt found there as an ancestor's"},
      {Verb::kAcceptMissing,
       "an output file is missing or shorter than recorded: go on from what is there"},
      {Verb::kRewindFile, "cut the output file back to what is sealed here"},
      {Verb::kAcceptGap, "read on without the rest of a listed file (SOURCE[:PATH])"},
  };
  for (const auto& [verb, doc] : verbs) {
    resolve->add_option(protocol::VerbName(verb), raw.subjects[verb], doc)
        ->type_name("NAME")
        ->allow_extra_args(false);
  }
  resolve->add_flag("--quarantine", raw.quarantine,
                    "move the state directory aside; the next run starts fresh");
  resolve->add_flag("--yes", in.yes, "do not ask");
}

std::string Finish(Invocation& in, const Raw& raw) {
  if (std::string wrong = TakeSets(raw.sets, &in.set); !wrong.empty()) return wrong;
  in.progress = raw.progress == "auto";
  for (const auto& [verb, subjects] : raw.subjects) {
    for (const std::string& subject : subjects) in.words.emplace_back(verb, subject);
  }
  if (raw.quarantine) in.words.emplace_back(protocol::Verb::kQuarantine, "");
  if (in.verb == Verb::kResolve && in.words.empty())
    return "resolve needs a verb, for example --rewind-file SINK; weir status names it";
  if (in.verb == Verb::kRun && in.discard_undelivered && !in.fresh)
    return "--discard-undelivered goes with --fresh";
  if (in.verb == Verb::kStatus && in.file.empty() && !in.data_dir)
    return "status needs a FILE.sql or --data-dir DIR";
  if (in.verb == Verb::kExplain && in.file.empty() && !in.connectors && !in.options) {
    return "explain needs a FILE.sql, --connectors or --options";
  }
  return "";
}

}  // namespace

Result<ParsedCommandLine> ParseCommandLine(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  Invocation& in = parsed.invocation;
  Raw raw;
  CLI::App app("weir: a stream processor for one small machine", "weir");
  app.require_subcommand(1);
  AddRun(app, in, raw);
  CLI::App* check =
      app.add_subcommand("check", "find everything that can be found without running");
  AddCommon(*check, in, raw, true);
  CLI::App* explain = app.add_subcommand(
      "explain", "the job graph, its fingerprint, guarantees, options with their origin");
  AddCommon(*explain, in, raw, false);
  explain->add_flag("--connectors", in.connectors, "list the connectors and what each can do");
  explain->add_flag("--options", in.options, "all option tables as Markdown");
  CLI::App* status =
      app.add_subcommand("status", "what the box knows of a pipeline, running or not");
  AddCommon(*status, in, raw, false);
  AddResolve(app, in, raw);
  CLI::App* trace = app.add_subcommand("trace", "protocol traces");
  trace->require_subcommand(1);
  CLI::App* verify = trace->add_subcommand("verify", "hold a recorded trace against the protocol");
  verify->add_option("FILE", in.file, "the trace")->required();
  verify->add_flag("--json", in.json, "machine-readable output");
  CLI::App* version = app.add_subcommand("version", "version, commit, libraries");
  version->add_flag("--json", in.json, "machine-readable output");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    const CLI::App* asked = &app;
    while (!asked->get_subcommands().empty()) asked = asked->get_subcommands().front();
    parsed.help = asked->help();
    return parsed;
  } catch (const CLI::ParseError& error) {
    return Fail(Code::kUsage, error.what());
  }
  if (check->parsed()) in.verb = Verb::kCheck;
  if (explain->parsed()) in.verb = Verb::kExplain;
  if (status->parsed()) in.verb = Verb::kStatus;
  if (app.got_subcommand("resolve")) in.verb = Verb::kResolve;
  if (trace->parsed()) in.verb = Verb::kTraceVerify;
  if (version->parsed()) in.verb = Verb::kVersion;
  if (std::string wrong = Finish(in, raw); !wrong.empty()) return Fail(Code::kUsage, wrong);
  return parsed;
}

}  // namespace weir::app
