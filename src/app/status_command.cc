// weir status: what the running process says, else what its directory knows.
#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/json_text.h"
#include "app/project.h"
#include "base/text.h"
#include "io/loop.h"
#include "store/store.h"

namespace weir::app {

namespace {

constexpr int64_t kAskTimeoutMs = 5000;

// What a stopped directory says: read without changing anything.
std::string StoppedJson(const store::Store& store) {
  const store::RunInfo& run = store.run();
  std::string out = "{\"running\":false,\"pipeline\":" + JsonQuote(run.pipeline) +
                    ",\"instance\":" + JsonQuote(run.instance);
  out += ",\"run\":" + std::to_string(run.run) + ",\"lineage\":\"" + run.lineage.ToHex() +
         "\",\"sealed_epoch\":" + std::to_string(run.sealed);
  out += ",\"ended_cleanly\":" + std::string(run.last_unclean ? "false" : "true");
  if (const auto sealed = store.NewestSealed()) {
    out += ",\"epoch\":[";
    bool first = true;
    for (const std::string_view line : Split(sealed->body, '\n')) {
      if (line.empty()) continue;
      out += (first ? "" : ",") + JsonQuote(line);
      first = false;
    }
    out += "],\"sinks\":{";
    first = true;
    for (const store::SinkState& sink : sealed->sinks) {
      out += (first ? "" : ",") + JsonQuote(sink.sink) +
             ":{\"rows_sealed\":" + std::to_string(sink.rows_total) + "}";
      first = false;
    }
    out += "}";
  }
  out += ",\"acked\":{";
  bool first = true;
  for (const store::AckedNote& note : store.AckedNotes()) {
    out += (first ? "" : ",") + JsonQuote(note.target) + ":" + JsonQuote(note.position.ToString());
    first = false;
  }
  return out + "}}";
}

}  // namespace

int StatusCommand(World& world, const Invocation& invocation) {
  const std::string stem = FileStem(invocation.file);
  const Result<Config> config = LoadConfig(world.files(), invocation.config, stem);
  if (!config) return ReportFailure(config.error(), invocation.json);
  const std::string directory = StateDirectory(invocation, *config, stem);
  const auto show = [&](std::string json) {
    if (!json.empty() && json.back() == '\n') json.pop_back();
    Print(invocation.json ? json + "\n" : JsonToText(json));
  };
  const Result<std::string> live =
      io::AskUnixSocket(io::JoinPath(directory, "status.sock"), "status", kAskTimeoutMs);
  if (live) {
    show(*live);
    return kExitOk;
  }
  store::OpenOptions options;
  options.directory = directory;
  options.create = false;
  options.read_only = true;
  const Result<std::unique_ptr<store::Store>> store = store::Store::Open(world.env(), options);
  if (!store) return ReportFailure(store.error(), invocation.json);
  show(StoppedJson(**store));
  return kExitOk;
}

}  // namespace weir::app
