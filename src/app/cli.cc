#include "app/cli.h"

#include <CLI/CLI.hpp>
#include <array>

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
      {Verb::kAcceptTopic, "the recreated topic or other cluster is ours"},
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

void AddValues(CLI::App& verb, QualifyArguments& in,
               const std::vector<std::array<const char*, 3>>& options) {
  for (const auto& [name, type, doc] : options) {
    verb.add_option_function<std::string>(
            name, [&in, key = std::string(name)](const std::string& v) { in.given[key] = v; }, doc)
        ->type_name(type);
  }
}

void AddKafka(CLI::App& verb, QualifyArguments& in) {
  verb.add_option("--kafka", in.kafka,
                  "KEY=VALUE: a property of the client, as bootstrap.servers; ${file:/path}, "
                  "${cred:name} and ${NAME} stand for secrets")
      ->allow_extra_args(false);
}

void AddGen(CLI::App& app, Invocation& in, Raw& raw) {
  CLI::App* gen = app.add_subcommand(
      "gen", "events that are a function of a seed, with a ledger: input for a qualification");
  gen->add_option("LEDGER", in.qualify.ledger, "made new: what was written")->required();
  AddValues(*gen, in.qualify,
            {{"--to", "WHERE", "where the events go: DIR (files part-N.jsonl) or kafka:TOPIC"},
             {"--seed", "N", "another seed gives other events (0)"},
             {"--records", "N", "of all partitions; 0: until a signal (1000000)"},
             {"--partitions", "N", "(1)"},
             {"--rate", "N", "events per second of event time (10000)"},
             {"--items", "N", "distinct keys (1000)"},
             {"--start", "TIME", "event time of the first event, or now (2026-01-01 00:00:00)"},
             {"--jitter", "DURATION", "events lie up to this far back (0 ms)"},
             {"--bound", "DURATION", "the watermark bound of the pipeline (5 s)"},
             {"--late-by", "DURATION", "late events lie up to this far behind the bound (1 min)"},
             {"--out-of-order", "FRACTION", "of events between jitter and bound (0)"},
             {"--late", "FRACTION", "of events behind the bound (0)"},
             {"--duplicates", "FRACTION", "of records that repeat an event (0)"},
             {"--poison", "FRACTION", "of records that cannot be decoded, in four ways (0)"},
             {"--pad", "BYTES", "a field pad of this length (0)"}});
  gen->add_flag("--pace", in.qualify.pace, "keep the rate by the clock too");
  AddKafka(*gen, in.qualify);
  gen->add_option("--progress", raw.progress, "auto | never")
      ->check(CLI::IsMember({"auto", "never"}));
  gen->add_flag("--json", in.json, "machine-readable output");
}

void AddVerify(CLI::App& app, Invocation& in, Raw& raw) {
  CLI::App* verify = app.add_subcommand(
      "verify", "judge every layer of a pipeline against the ledger of weir gen");
  verify->add_option("LEDGER", in.qualify.ledger, "of weir gen")->required();
  AddValues(*verify, in.qualify,
            {{"--raw", "WHERE", "the events as they were written"},
             {"--cleaned", "WHERE", "the decoded events"},
             {"--windows", "WHERE", "counts and sums per window and item"},
             {"--late", "WHERE", "events that the windows refused"},
             {"--dead", "WHERE", "dead letters"},
             {"--window", "DURATION", "size of the tumbling windows"},
             {"--wait", "DURATION", "how long results may take (0 s)"},
             {"--show", "N", "findings of each kind that are shown (20)"}});
  verify
      ->add_option("--column", in.qualify.columns,
                   "LAYER.NAME=COLUMN: another name there; LAYER.NAME= : there is none")
      ->allow_extra_args(false);
  verify->add_flag("--input-ended", in.qualify.input_ended,
                   "the pipeline was told that its input has ended: every window is out");
  verify->add_flag("--deduplicated", in.qualify.deduplicated,
                   "the pipeline lets each event through once");
  AddKafka(*verify, in.qualify);
  verify->add_option("--progress", raw.progress, "auto | never")
      ->check(CLI::IsMember({"auto", "never"}));
  verify->add_flag("--json", in.json, "machine-readable output");
}

std::string Finish(Invocation& in, const Raw& raw) {
  if (std::string wrong = TakeSets(raw.sets, &in.set); !wrong.empty()) return wrong;
  in.progress = raw.progress == "auto";
  for (const auto& [verb, subjects] : raw.subjects) {
    for (const std::string& subject : subjects) in.words.emplace_back(verb, subject);
  }
  if (raw.quarantine) in.words.emplace_back(protocol::Verb::kQuarantine, "");
  if (raw.quarantine && in.words.size() > 1)
    return "--quarantine stands alone: what the other verbs speak of is moved aside with it";
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
  check->add_flag("--connect", in.connect, "also ask brokers whether they answer and take us");
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
  CLI::App* trace_verify =
      trace->add_subcommand("verify", "hold a recorded trace against the protocol");
  trace_verify->add_option("FILE", in.file, "the trace")->required();
  trace_verify->add_flag("--json", in.json, "machine-readable output");
  AddGen(app, in, raw);
  AddVerify(app, in, raw);
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
  if (app.got_subcommand("gen")) in.verb = Verb::kGen;
  if (app.got_subcommand("verify")) in.verb = Verb::kVerify;
  if (std::string wrong = Finish(in, raw); !wrong.empty()) return Fail(Code::kUsage, wrong);
  return parsed;
}

}  // namespace weir::app
