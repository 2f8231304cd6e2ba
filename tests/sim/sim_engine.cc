#include "sim_engine.h"

#include "app/node_table.h"
#include "base/check.h"
#include "connectors/registry.h"
#include "io/sim_clock.h"
#include "runtime/engine.h"
#include "sql/compile.h"
#include "sqlite/database.h"
#include "sqlite/sim_vfs.h"

namespace weir::sim {

namespace {

sql::CompileOutput CompileSql(const std::string& text, uint32_t batch_rows) {
  sql::CompileInput input;
  input.file_name = "sim.sql";
  input.text = "SET 'weir.batch-rows' = '" + std::to_string(batch_rows) + "';\n" +
               "SET 'execution.checkpointing.interval' = '3 ms';\n" + text;
  for (const plan::ConnectorSpec* spec : connectors::AllConnectors())
    input.connectors.push_back(spec);
  input.secret = [](std::string_view, std::string_view) -> Result<std::string> {
    return Fail(Code::kInvalid, "none here");
  };
  sql::CompileOutput output = sql::Compile(input);
  if (output.plan == nullptr)
    std::fprintf(stderr, "%s", sql::FormatDiagnostics(input, output.diagnostics).c_str());
  return output;
}

// Time passes with every look at it: a turn's budget and the epoch interval run out as they do
// outside.
class TickingClock : public io::Clock {
 public:
  int64_t MonotonicNs() override { return now_ns_ += 300'000; }
  int64_t WallMs() override { return 1893456000000 + now_ns_ / 1'000'000; }
  int64_t CpuNs() override { return now_ns_; }
  void AdvanceMs(int64_t ms) { now_ns_ += ms * 1'000'000; }

 private:
  int64_t now_ns_ = 1'000'000'000;
};

std::unique_ptr<io::Worker> NewWorker(const char*, io::CompletionQueue& queue) {
  return io::NewInlineWorker(queue);
}

}  // namespace

LifeResult RunLife(io::SimFiles& files, const std::string& sql, const LifeOptions& options) {
  LifeResult result;
  sql::CompileOutput compiled = CompileSql(sql, options.batch_rows);
  if (compiled.plan == nullptr) {
    result.finished = true;
    result.status = Status(Code::kInvalid, "does not compile");
    return result;
  }
  if (Status status = sqlite::InitializeSqlite(); !status.ok()) return {true, status, 0, ""};
  sqlite::SimVfs vfs(files, "weir-sim", static_cast<int>(options.seed));
  TickingClock clock;
  io::SimRandom random(options.seed);
  io::SimMachine machine;
  for (int boot = 1; boot < options.boot; ++boot) machine.Reboot();
  io::CompletionQueue completions;
  const io::Env env{files, clock, random, machine, completions, &NewWorker, "weir-sim"};
  runtime::EngineOptions engine_options;
  engine_options.directory = "/state";
  engine_options.pipeline = "sim";
  engine_options.instance = "box";
  // A death after the finish marker counts as finished: a rerun would publish again. With an ID it
  // exits at once.
  engine_options.job = "sim";
  engine_options.canonical_plan = compiled.canonical;
  engine_options.fingerprint = compiled.fingerprint;
  const plan::Plan* plan = compiled.plan.get();
  auto make = [&](const std::string& pipeline, const std::string& instance,
                  const std::vector<protocol::Resolution>& words) {
    runtime::Factories factories =
        app::MakeFactories(env, *plan, "/state", pipeline, instance, words, nullptr);
    if (options.make_delivery) {
      factories.delivery = [&](const std::string&, const std::vector<runtime::TargetSink>& sinks) {
        return options.make_delivery(env, sinks);
      };
    }
    return factories;
  };
  protocol::TraceSink trace;
  if (options.trace != nullptr) {
    trace = [&](const protocol::TraceEvent& event) { *options.trace += event.ToJson() + "\n"; };
  }
  auto engine = runtime::Engine::Start(env, engine_options, std::move(compiled.plan), make, trace);
  if (!engine) {
    result.finished = !files.crashed();
    result.status = engine.error();

    return result;
  }
  if (*engine == nullptr) return {true, Status::Ok(), 0, "already finished"};
  for (int turn = 0; turn < options.turns_max && !(*engine)->done() && !files.crashed(); ++turn) {
    if (options.before_turn) options.before_turn(files, turn);
    const int64_t wait_ms = (*engine)->Turn();
    if (options.after_turn) options.after_turn((*engine)->StatusJson());
    if (options.killed && options.killed()) break;
    clock.AdvanceMs(std::max<int64_t>(1, std::min<int64_t>(wait_ms, 50)));
  }
  const bool killed = options.killed && options.killed();
  result.finished = (*engine)->done() && !files.crashed() && !killed;
  result.status = (*engine)->result();
  result.epochs = (*engine)->snapshot().epochs;
  result.status_json = (*engine)->StatusJson();
  engine->reset();

  return result;
}

void WithStore(io::SimFiles& files, const std::function<void(store::Store&)>& f) {
  sqlite::SimVfs vfs(files, "weir-sim-operator", 9);
  TickingClock clock;
  io::SimRandom random(5);
  io::SimMachine machine;
  io::CompletionQueue completions;
  const io::Env env{files, clock, random, machine, completions, &NewWorker, "weir-sim-operator"};
  store::OpenOptions options;
  options.directory = "/state";
  options.create = false;
  const auto store = store::Store::Open(env, options);
  CHECK(store.has_value());
  f(**store);
}

namespace {

std::string ReadAll(io::SimFiles& files, const std::string& path) {
  const Result<std::string> bytes = io::ReadFile(files, path, 64 << 20);
  return bytes ? *bytes : "(" + bytes.error().message() + ")";
}

std::string ReadRolling(io::SimFiles& files, const std::string& directory) {
  std::string all;
  const auto names = files.List(directory);
  if (!names) return "(no directory)";
  for (const std::string& name : *names) {
    if (!name.starts_with(".")) all += ReadAll(files, io::JoinPath(directory, name));
  }
  return all;
}

std::string ReadTable(io::SimFiles& files, const std::string& path, const std::string& table) {
  if (!files.Exists(path)) return "(no database)";
  sqlite::SimVfs vfs(files, "weir-sim-reader", 7);
  sqlite::OpenOptions options;
  options.vfs = "weir-sim-reader";
  options.access = sqlite::Access::kReadWrite;  // a reader recovers the log
  options.use_wal = false;
  auto database = sqlite::Database::Open(path, options);
  if (!database) return "(" + database.error().message() + ")";
  const auto columns =
      (*database)->QueryInt("SELECT count(*) FROM pragma_table_info('" + table + "')");
  std::string order, all = "";
  for (int64_t i = 1; columns && i <= *columns; ++i)
    order += (i > 1 ? "," : "") + std::to_string(i);
  auto statement = (*database)->Prepare("SELECT * FROM \"" + table + "\" ORDER BY " + order);
  if (!statement) return "(" + statement.error().message() + ")";
  while (true) {
    const Result<bool> row = statement->Step();
    if (!row) return "(" + row.error().message() + ")";
    if (!*row) return all;
    for (int i = 0; i < *columns; ++i)
      all += std::string(i > 0 ? "|" : "") + std::string(statement->Text(i));
    all += "\n";
  }
}

}  // namespace

std::map<std::string, std::string> ReadOutputs(io::SimFiles& files,
                                               const std::vector<std::string>& outputs) {
  std::map<std::string, std::string> seen;
  for (const std::string& output : outputs) {
    const size_t colon = output.find(':');
    const std::string kind = output.substr(0, colon), rest = output.substr(colon + 1);
    if (kind == "append") {
      seen[output] = ReadAll(files, rest);
    } else if (kind == "rolling") {
      seen[output] = ReadRolling(files, rest);
    } else {
      const size_t at = rest.find(':');
      seen[output] = ReadTable(files, rest.substr(0, at), rest.substr(at + 1));
    }
  }
  return seen;
}

std::string Difference(const std::map<std::string, std::string>& got,
                       const std::map<std::string, std::string>& want) {
  for (const auto& [name, text] : want) {
    const auto other = got.find(name);
    const std::string& have = other == got.end() ? name : other->second;
    if (have == text) continue;
    size_t at = 0;
    while (at < have.size() && at < text.size() && have[at] == text[at]) ++at;
    const size_t from = at > 60 ? at - 60 : 0;
    return name + " differs at byte " + std::to_string(at) + " (got " +
           std::to_string(have.size()) + ", want " + std::to_string(text.size()) +
           " bytes)\n got: " + have.substr(from, 200) + "\n want: " + text.substr(from, 200);
  }
  return "";
}

}  // namespace weir::sim
