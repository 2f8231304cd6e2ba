// weir run: the loop around the engine. Signals, the status socket, systemd, progress; no decision
// about data.
#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/node_table.h"
#include "app/places.h"
#include "app/progress.h"
#include "app/project.h"
#include "app/start_heartbeat.h"
#include "app/trace_file.h"
#include "base/log.h"
#include "base/units.h"
#include "build_info.h"
#include "io/loop.h"
#include "io/process.h"
#include "runtime/engine.h"

namespace weir::app {

namespace {

constexpr int64_t kProgressMs = 200;
constexpr int64_t kStatusLineMs = 5000;

bool WritesToStdout(const plan::Plan& plan) {
  for (const plan::Node& node : plan.nodes) {
    const auto* sink = std::get_if<plan::SinkNode>(&node.body);
    if (sink == nullptr) continue;
    if (sink->kind == plan::SinkNode::Kind::kPrint) return true;
    if (sink->table != nullptr && sink->table->connector->name == "print") return true;
  }
  return false;
}

class Runner {
 public:
  Runner(World& world, const Invocation& invocation, Project project)
      : world_(world),
        in_(invocation),
        project_(std::move(project)),
        references_(std::make_shared<plan::References>(project_.input.secret)),
        heartbeat_(world.clock(), invocation.progress && !invocation.json && io::IsTerminal(2)) {
    world_.set_heartbeat(&heartbeat_);
  }

  int Run() {
    runtime::EngineOptions options;
    if (Status status = Prepare(&options); !status.ok()) return ReportFailure(status, in_.json);
    rows_on_stdout_ = WritesToStdout(*project_.output.plan);
    bounded_ = project_.output.plan->bounded;
    const plan::Plan* plan = project_.output.plan.get();
    const std::string directory = project_.state_directory;
    World& world = world_;
    const std::shared_ptr<const plan::References> references = references_;
    auto make = [&world, plan, directory, references](
                    const std::string& pipeline, const std::string& instance,
                    const std::vector<protocol::Resolution>& words) {
      return MakeFactories(world.env(), *plan, directory, pipeline, instance, words, references);
    };
    protocol::TraceSink trace;
    if (trace_ != nullptr)
      trace = [this](const protocol::TraceEvent& event) { trace_->Write(event); };
    options.before_finish_marker = [this] { Summary(kExitOk); };
    auto engine =
        runtime::Engine::Start(world_.env(), options, std::move(project_.output.plan), make, trace);
    heartbeat_.Ready();
    if (!engine) return NotStarted(engine.error());
    if (*engine == nullptr) {
      PrintError("weir: job " + in_.job.value_or("") + " has finished already; nothing to do\n");
      return kExitOk;
    }
    engine_ = std::move(*engine);
    if (Status status = Listen(); !status.ok()) return ReportFailure(status, in_.json);
    Loop();
    return End();
  }

 private:
  Status Prepare(runtime::EngineOptions* options) {
    options->directory = project_.state_directory;
    options->pipeline = project_.pipeline;
    options->instance = project_.instance;
    options->weir_version = kWeirVersion;
    options->fresh = in_.fresh;
    options->discard_undelivered = in_.discard_undelivered;
    options->job = in_.job;
    options->canonical_plan = project_.output.canonical;
    options->fingerprint = project_.output.fingerprint;
    if (in_.drain) {
      Result<int64_t> drain = ParseDurationMs(*in_.drain);
      if (!drain) return Status(Code::kUsage, "--drain: " + drain.error().message());
      options->drain_ms = *drain;
    }
    if (in_.trace) {
      Result<std::unique_ptr<TraceFile>> trace = TraceFile::Open(world_.files(), *in_.trace);
      if (!trace) return Status(Code::kCannotCreate, "--trace: " + trace.error().message());
      trace_ = std::move(*trace);
    }
    return Status::Ok();
  }

  Status Listen() {
    WEIR_ASSIGN_OR_RETURN(loop_, io::Loop::Create());
    WEIR_RETURN_IF_ERROR(
        loop_->OnReadable(world_.completions().event_fd(), [] {}));  // the turn collects them
    WEIR_RETURN_IF_ERROR(loop_->OnSignal(SIGHUP, [this] {
      references_->Renew();
      LogInfo("sighup", {{"note", "secrets and certificates are read again"}});
    }));
    const std::string socket = io::JoinPath(project_.state_directory, "status.sock");
    Status status = loop_->ServeUnixSocket(
        socket, [this](const std::string&) { return engine_->StatusJson() + "\n"; });
    if (!status.ok())
      LogWarning("status_socket", {{"reason", status.message()}});  // degraded, not fatal
    return Status::Ok();
  }

  // Everything sealed is still sealed, and an unbounded input had nothing else to end: a stop as at
  // any other time.
  int NotStarted(const Status& why) {
    if (why.code() != Code::kInterrupted || bounded_) return ReportFailure(why, in_.json);
    PrintError("weir: " + why.message() + "\n");
    return kExitOk;
  }

  // A signal that came since the last look. (A second one has ended the process by itself.)
  bool TakeStop() {
    if (stopping_ || io::StopSignals() == 0) return false;
    stopping_ = true;
    engine_->RequestStop();
    return true;
  }

  void Loop() {
    io::SdNotify("READY=1");
    const int64_t watchdog_ms = io::SdWatchdogIntervalMs();
    progress_ = in_.progress && !in_.json && io::IsTerminal(2) && bounded_;
    int64_t next_progress_ns = 0, next_status_ns = 0, next_watchdog_ns = 0;
    while (!engine_->done()) {
      int64_t wait_ms = engine_->Turn();
      const int64_t now_ns = world_.clock().MonotonicNs();
      if (progress_ && now_ns >= next_progress_ns) {
        next_progress_ns = now_ns + kProgressMs * 1000000;
        PrintError("\r\x1b[K" + ProgressLine(engine_->snapshot()));
        drawn_ = true;
      }
      if (now_ns >= next_status_ns) {
        next_status_ns = now_ns + kStatusLineMs * 1000000;
        io::SdNotify("STATUS=" + ProgressLine(engine_->snapshot()));
      }
      if (watchdog_ms > 0) {
        if (now_ns >= next_watchdog_ns) {
          next_watchdog_ns = now_ns + watchdog_ms * 1000000 / 3;
          io::SdNotify("WATCHDOG=1");
        }
        wait_ms = std::min(wait_ms, watchdog_ms / 3);
      }
      // Looked at last: a signal that comes later makes the wake descriptor readable, and nobody
      // reads it before the loop does.
      if (TakeStop()) wait_ms = 0;
      if (!engine_->done()) loop_->RunOnce(wait_ms);
    }
  }

  void Summary(int exit_code) {
    if (summary_done_) return;
    summary_done_ = true;
    if (drawn_) PrintError("\r\x1b[K");
    const runtime::Snapshot snapshot = engine_->snapshot();
    if (in_.json) {
      const std::string line = SummaryJson(snapshot, exit_code, engine_->result().message()) + "\n";
      if (rows_on_stdout_)
        PrintError(line);
      else
        Print(line);
    } else {
      PrintError("weir: " + SummaryLine(snapshot) + "\n");
    }
  }

  int End() {
    const Status& result = engine_->result();
    const int code = ExitCodeOf(result);
    Summary(code);
    if (!result.ok() && result.code() != Code::kEndOfStream) {
      const std::string waiting = engine_->EpochsWaiting();
      if (!waiting.empty()) PrintError("weir: " + waiting + "\n");
      if (!in_.json) PrintError("weir: " + result.message() + "\n");
    } else if (stopping_) {
      const std::string waiting = engine_->EpochsWaiting();
      if (!waiting.empty()) PrintError("weir: " + waiting + "\n");
    }
    // No destructors: a helper may be inside a blocking call, which is then in doubt, as after a
    // kill.
    io::ExitNow(code);
  }

  World& world_;
  const Invocation& in_;
  Project project_;
  const std::shared_ptr<plan::References> references_;
  StartHeartbeat heartbeat_;
  std::unique_ptr<TraceFile> trace_;
  std::unique_ptr<runtime::Engine> engine_;
  std::unique_ptr<io::Loop> loop_;
  bool bounded_ = false, stopping_ = false;
  bool progress_ = false, drawn_ = false, summary_done_ = false, rows_on_stdout_ = false;
};

}  // namespace

int RunCommand(World& world, const Invocation& invocation) {
  // Before anything that takes long: a stop during the takeover is a stop, not a death. The turn
  // that collects completions is what the descriptor wakes.
  io::CatchStopSignals(kExitTryAgain, world.completions().event_fd());
  Result<Project> project = LoadProject(world, invocation);
  if (!project) return ReportFailure(project.error(), invocation.json);
  if (project->ok()) {
    const plan::Plan& plan = *project->output.plan;
    if (const Status status = CheckDatabaseFiles(world.files(), plan); !status.ok())
      return ReportFailure(status, invocation.json);
    std::vector<plan::Diagnostic> found =
        FindUnfitTables(world.files(), world.env().sqlite_vfs, plan);
    const std::string database = io::JoinPath(project->state_directory, "state.db");
    if (invocation.fresh || !world.files().Exists(database)) {
      std::ranges::move(FindLinkedPlaces(world.files(), plan, project->state_directory),
                        std::back_inserter(found));
    }
    project->AddDiagnostics(std::move(found));
  }
  if (!project->ok()) {
    if (invocation.json)
      Print(project->Diagnostics(true) + "\n");
    else
      PrintError(project->Diagnostics(false));
    return kExitConfig;
  }
  return Runner(world, invocation, std::move(*project)).Run();
}

}  // namespace weir::app
