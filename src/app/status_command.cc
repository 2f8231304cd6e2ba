// weir status: what the running process says, else what its directory knows.
#include <algorithm>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/json_text.h"
#include "app/project.h"
#include "base/text.h"
#include "io/loop.h"
#include "protocol/trace.h"
#include "runtime/epoch_body.h"
#include "store/store.h"

namespace weir::app {

namespace {

constexpr int64_t kAskTimeoutMs = 5000;

std::string BooksOf(const runtime::EpochBody& body) {
  std::string out = "{";
  for (const auto& [node, books] : body.books)
    out += (out.size() > 1 ? "," : "") + JsonQuote(node) + ":" + runtime::BooksJson(books);
  return out + "}";
}

// The books are those of the cut; what a target has acknowledged since is known all the same.
void CountAcked(const std::vector<store::Backlog>& backlogs, runtime::EpochBody& body) {
  for (const store::Backlog& backlog : backlogs) {
    for (const auto& [sink, rows] : backlog.by_sink) {
      const auto node = body.books.find(sink);
      if (node == body.books.end()) continue;
      flow::NodeBooks& books = node->second;
      const uint64_t gone = books[flow::Count::kDropped] + rows;
      const uint64_t sealed = books[flow::Count::kSealed];
      books[flow::Count::kAcked] = sealed - std::min(sealed, gone);
    }
  }
}

std::string WatermarksOf(const runtime::EpochBody& body) {
  std::string out = "{";
  for (const auto& [scan, watermark] : body.watermarks)
    out += (out.size() > 1 ? "," : "") + JsonQuote(scan) + ":" + runtime::TimeJson(watermark);
  return out + "}";
}

// Where each target stands: what it has acknowledged, and what is sealed above that.
std::string TargetsOf(const store::Store& store, const std::vector<store::Backlog>& backlogs) {
  std::string out = "[";
  for (const store::Backlog& backlog : backlogs) {
    std::string acked = "null";
    for (const store::AckedNote& note : store.AckedNotes()) {
      if (note.target == backlog.target) acked = JsonQuote(note.position.ToString());
    }
    out += (out.size() > 1 ? "," : "") + std::string("{\"target\":") + JsonQuote(backlog.target) +
           ",\"acked\":" + acked + ",\"undelivered_epochs\":" + std::to_string(backlog.epochs) +
           ",\"undelivered_rows\":" + std::to_string(backlog.rows) + "}";
  }
  return out + "]";
}

// What a stopped directory says: read without changing anything, and without asking anybody. The
// members that a running process has too mean the same.
Result<std::string> StoppedJson(const store::Store& store) {
  const store::RunInfo& run = store.run();
  const std::vector<protocol::Park> parks = store.NotedParks();
  WEIR_ASSIGN_OR_RETURN(const std::vector<store::Backlog> backlogs, store.Undelivered());
  std::string out = "{\"running\":false,\"health\":\"";
  out += parks.empty() ? "stopped" : "parked";
  out += "\",\"pipeline\":" + JsonQuote(run.pipeline) + ",\"instance\":" + JsonQuote(run.instance) +
         ",\"run\":" + std::to_string(run.run) + ",\"lineage\":\"" + run.lineage.ToHex() +
         "\",\"sealed_epoch\":" + std::to_string(run.sealed);
  if (const auto last = store.NewestRun()) {
    out += ",\"last_run\":{\"mode\":\"" + std::string(last->fresh ? "fresh" : "resume") +
           "\",\"reason\":" + JsonQuote(last->reason) + ",\"ended\":\"" +
           (last->ended.empty() ? "died" : last->ended) +
           "\",\"started_ms\":" + std::to_string(last->started_ms) + "}";
  }
  out += ",\"parks\":" + protocol::ParksJson(parks) + ",\"words_waiting\":[";
  bool first = true;
  for (const protocol::Resolution& word : store.PendingResolutions()) {
    out += (first ? "" : ",") +
           JsonQuote(std::string(protocol::VerbName(word.verb)) + " " + word.subject);
    first = false;
  }
  out += "],\"targets\":" + TargetsOf(store, backlogs);
  if (const auto sealed = store.NewestSealed()) {
    WEIR_ASSIGN_OR_RETURN(runtime::EpochBody body, runtime::EpochBody::Decode(sealed->body));
    CountAcked(backlogs, body);
    out += ",\"watermarks\":" + WatermarksOf(body) + ",\"books\":" + BooksOf(body);
  }
  return out + "}";
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
  const Result<std::string> stopped = StoppedJson(**store);
  if (!stopped) return ReportFailure(stopped.error(), invocation.json);
  show(*stopped);
  return kExitOk;
}

}  // namespace weir::app
