// weir gen and weir verify: words of the command line to parameters, and what goes around the
// generator and the reconciler (qualify/): the clock, signals, progress, exit codes.
#include <csignal>
#include <optional>

#include "app/commands.h"
#include "app/exit_codes.h"
#include "app/secrets.h"
#include "base/text.h"
#include "base/units.h"
#include "data/decimal.h"
#include "data/timestamp.h"
#include "io/loop.h"
#include "io/process.h"
#include "plan/references.h"
#include "qualify/generator.h"
#include "qualify/kafka.h"
#include "qualify/verify.h"

namespace weir::app {

namespace {

using qualify::GenParameters;

constexpr uint64_t kStepRecords = 50'000;  // between two lines of the ledger, at full speed
constexpr int64_t kPaceMs = 20;            // between two steps, when the rate is kept
constexpr int64_t kProgressMs = 200;
constexpr int64_t kQuietPollMs = 200;
constexpr std::string_view kSqlite = "sqlite:", kKafka = "kafka:";

// The options of one call, each read once by what its value is.
class Values {
 public:
  explicit Values(const QualifyArguments& arguments) : given_(arguments.given) {}

  std::optional<std::string> Text(const std::string& name) const {
    const auto it = given_.find(name);
    return it == given_.end() ? std::nullopt : std::optional(it->second);
  }
  // Into *out when it is given; the first that is wrong is kept.
  template <class T>
  void Number(const std::string& name, T* out) {
    const std::optional<std::string> text = Text(name);
    if (!text) return;
    const std::optional<int64_t> value = ParseInt64(*text);
    if (!value || *value < 0 || static_cast<int64_t>(static_cast<T>(*value)) != *value)
      return Wrong(name, *text, "a whole number, and no such large one");
    *out = static_cast<T>(*value);
  }
  void Duration(const std::string& name, int64_t* out_ms) {
    const std::optional<std::string> text = Text(name);
    if (!text) return;
    const Result<int64_t> value = ParseDurationMs(*text);
    if (!value) return Wrong(name, *text, value.error().message());
    *out_ms = *value;
  }
  // 0.015 -> 15,000 parts per million.
  void Fraction(const std::string& name, uint32_t* out_ppm) {
    const std::optional<std::string> text = Text(name);
    if (!text) return;
    Int128 value = 0;
    if (ParseDecimal(*text, 7, 6, &value) != NumberError::kOk || value < 0 || value > 1'000'000)
      return Wrong(name, *text, "a fraction between 0 and 1, at most six digits");
    *out_ppm = static_cast<uint32_t>(value);
  }
  void Time(const std::string& name, int64_t now_ms, int64_t* out_ms) {
    const std::string text = Text(name).value_or("2026-01-01 00:00:00");
    if (text == "now") {
      *out_ms = now_ms;
      return;
    }
    const TimeParse time = ParseTimestamp(text, Type::Timestamp(3), SessionZone{});
    if (!time.ok) return Wrong(name, text, time.reason);
    *out_ms = time.ticks;
  }
  const Status& status() const { return status_; }

 private:
  void Wrong(const std::string& name, const std::string& text, std::string_view why) {
    if (status_.ok()) status_ = Status(Code::kUsage, name + " " + text + ": " + std::string(why));
  }

  const std::map<std::string, std::string>& given_;
  Status status_;
};

Result<GenParameters> ParametersOf(const QualifyArguments& arguments, int64_t now_ms) {
  GenParameters p;
  Values values(arguments);
  values.Number("--seed", &p.seed);
  values.Number("--records", &p.records);
  values.Number("--partitions", &p.partitions);
  values.Number("--rate", &p.rate);
  values.Number("--items", &p.items);
  values.Number("--pad", &p.pad_bytes);
  values.Time("--start", now_ms, &p.start_ms);
  values.Duration("--jitter", &p.jitter_ms);
  values.Duration("--bound", &p.bound_ms);
  values.Duration("--late-by", &p.late_by_ms);
  values.Fraction("--out-of-order", &p.out_of_order_ppm);
  values.Fraction("--late", &p.late_ppm);
  values.Fraction("--duplicates", &p.duplicate_ppm);
  values.Fraction("--poison", &p.poison_ppm);
  WEIR_RETURN_IF_ERROR(values.status());
  WEIR_RETURN_IF_ERROR(qualify::CheckParameters(p));
  return p;
}

// The client of all --kafka of a call. A wrong value is not shown: it may be a secret.
Result<connectors::ClientConfig> KafkaConfigOf(io::Files& files,
                                               const std::vector<std::string>& given) {
  const plan::ReadReference read = [&files](std::string_view kind, std::string_view name) {
    return ResolveSecret(files, kind, name);
  };
  connectors::ClientConfig config;
  bool has_servers = false;
  for (const std::string& text : given) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return Fail(Code::kUsage, "--kafka takes KEY=VALUE");
    const std::string key = text.substr(0, equals);
    if (const std::string_view why = connectors::PropertyRefusal(key); !why.empty())
      return Fail(Code::kUsage, "--kafka " + key + " must not be set: " + std::string(why));
    plan::Expansion value = plan::ExpandReferences(text.substr(equals + 1), read);
    if (!value.error.empty()) {
      return Fail(Code::kInvalid, "--kafka " + key + ": " + value.error +
                                      (value.hint.empty() ? "" : " (" + value.hint + ")"));
    }
    has_servers = has_servers || key == "bootstrap.servers";
    config.properties.push_back({key, std::move(value.text)});
  }
  if (!has_servers) return Fail(Code::kUsage, "a topic needs --kafka bootstrap.servers=HOST:PORT");
  return config;
}

// A line on the terminal that is written over, some times a second.
class ProgressLineWriter {
 public:
  ProgressLineWriter(World& world, const Invocation& in)
      : clock_(world.clock()), on_(in.progress && !in.json && io::IsTerminal(2)) {}
  ~ProgressLineWriter() {
    if (drawn_) PrintError("\r\x1b[K");
  }
  void Say(const std::function<std::string()>& text) {
    if (!on_ || clock_.MonotonicNs() < next_ns_) return;
    next_ns_ = clock_.MonotonicNs() + kProgressMs * 1'000'000;
    PrintError("\r\x1b[K" + text());
    drawn_ = true;
  }

 private:
  io::Clock& clock_;
  const bool on_;
  bool drawn_ = false;
  int64_t next_ns_ = 0;
};

class GenRun {
 public:
  GenRun(World& world, const Invocation& in) : world_(world), in_(in) {}

  Status Run() {
    WEIR_ASSIGN_OR_RETURN(const GenParameters parameters,
                          ParametersOf(in_.qualify, world_.clock().WallMs()));
    const auto to = in_.qualify.given.find("--to");
    if (to == in_.qualify.given.end())
      return Status(Code::kUsage, "gen needs --to DIR or --to kafka:TOPIC");
    if (!in_.qualify.kafka.empty() && !to->second.starts_with(kKafka))
      return Status(Code::kUsage, "--kafka goes with --to kafka:TOPIC");
    WEIR_ASSIGN_OR_RETURN(loop_, io::Loop::Create());
    for (const int signal : {SIGTERM, SIGINT})
      WEIR_RETURN_IF_ERROR(loop_->OnSignal(signal, [this] { stop_ = true; }));
    // Both before the first record: records without a ledger cannot be judged.
    WEIR_ASSIGN_OR_RETURN(
        const std::unique_ptr<qualify::LedgerWriter> ledger,
        qualify::LedgerWriter::Create(world_.files(), in_.qualify.ledger, parameters));
    Result<std::unique_ptr<qualify::RecordTarget>> target =
        TargetOf(to->second, parameters.partitions);
    if (!target) {  // the ledger says nothing yet, and would be in the way of the next try
      (void)world_.files().Remove(in_.qualify.ledger).ok();
      return target.error();
    }
    qualify::Generator generator(parameters, **target, *ledger);
    WEIR_RETURN_IF_ERROR(Produce(parameters, generator));
    WEIR_RETURN_IF_ERROR(generator.Finish());
    Summary(generator);
    return Status::Ok();
  }

 private:
  Result<std::unique_ptr<qualify::RecordTarget>> TargetOf(const std::string& to,
                                                          uint32_t partitions) {
    if (!to.starts_with(kKafka)) return qualify::NewFileTarget(world_.files(), to, partitions);
    WEIR_ASSIGN_OR_RETURN(const connectors::ClientConfig config,
                          KafkaConfigOf(world_.files(), in_.qualify.kafka));
    return qualify::NewKafkaTarget(world_.clock(), config, to.substr(kKafka.size()), partitions);
  }

  Status Produce(const GenParameters& parameters, qualify::Generator& generator) {
    ProgressLineWriter progress(world_, in_);
    const int64_t begin_ns = world_.clock().MonotonicNs();
    while (!generator.AtEnd() && !stop_) {
      uint64_t until = generator.written() + kStepRecords;
      if (in_.qualify.pace) {
        const int64_t elapsed_ms = (world_.clock().MonotonicNs() - begin_ns) / 1'000'000;
        until = std::min(until, qualify::DueRecords(parameters, elapsed_ms));
      }
      WEIR_RETURN_IF_ERROR(generator.ProduceUntil(until));
      progress.Say([&] {
        std::string text = qualify::Grouped(generator.written()) + " records  event time ";
        AppendTimestamp(generator.nominal_ms(), Type::Timestamp(0), TimestampStyle::kSql, {}, text);
        return text;
      });
      loop_->RunOnce(in_.qualify.pace && !generator.AtEnd() ? kPaceMs : 0);
    }
    return Status::Ok();
  }

  void Summary(const qualify::Generator& generator) const {
    const qualify::GenCounts& counts = generator.counts();
    std::string text, json = "{\"records\":" + std::to_string(generator.written());
    const auto add = [&](std::string_view name, uint64_t n) {
      std::string key(name);
      for (char& c : key) c = c == '-' ? '_' : c;
      json += "," + JsonQuote(key) + ":" + std::to_string(n);
      if (n > 0) text += ", " + qualify::Grouped(n) + " " + std::string(name);
    };
    for (size_t i = 0; i < qualify::kRecordKinds; ++i)
      add(qualify::RecordKindName(static_cast<qualify::RecordKind>(i)), counts.kinds[i]);
    for (size_t i = 0; i < qualify::kPoisonKinds; ++i)
      add("poison-" + std::string(qualify::PoisonKindName(static_cast<qualify::PoisonKind>(i))),
          counts.poison[i]);
    if (in_.json)
      Print(json + "}\n");
    else
      PrintError("weir: wrote " + qualify::Grouped(generator.written()) + " records" + text + "\n");
  }

  World& world_;
  const Invocation& in_;
  std::unique_ptr<io::Loop> loop_;
  bool stop_ = false;
};

// "LAYER.NAME=COLUMN" as often as it was given.
Result<qualify::ColumnNames> ColumnsOf(const std::vector<std::string>& given) {
  qualify::ColumnNames names;
  for (const std::string& text : given) {
    const size_t dot = text.find('.'), equals = text.find('=');
    std::optional<qualify::Layer> layer;
    for (const qualify::Layer known : qualify::kLayers) {
      if (dot != std::string::npos && text.substr(0, dot) == qualify::LayerName(known))
        layer = known;
    }
    if (!layer || equals == std::string::npos || equals < dot)
      return Fail(Code::kUsage, "--column takes LAYER.NAME=COLUMN, not \"" + text + "\"");
    names[{*layer, text.substr(dot + 1, equals - dot - 1)}] = text.substr(equals + 1);
  }
  return names;
}

class VerifyRun {
 public:
  VerifyRun(World& world, const Invocation& in) : world_(world), in_(in) {}

  Result<qualify::Verdict> Run() {
    WEIR_RETURN_IF_ERROR(TakeOptions());
    WEIR_RETURN_IF_ERROR(TakeLayers());
    WEIR_ASSIGN_OR_RETURN(loop_, io::Loop::Create());
    // What was produced by now is judged; results have --wait to come.
    WEIR_ASSIGN_OR_RETURN(const qualify::Ledger ledger,
                          qualify::ReadLedger(world_.files(), in_.qualify.ledger));
    WEIR_RETURN_IF_ERROR(Wait(ledger.ended));
    ProgressLineWriter progress(world_, in_);
    return qualify::Verify(
        ledger, options_, layers_, show_, [&](qualify::Layer layer, uint64_t rows) {
          progress.Say([&] {
            return std::string(qualify::LayerName(layer)) + "  " + qualify::Grouped(rows) + " rows";
          });
        });
  }

 private:
  Status TakeOptions() {
    Values values(in_.qualify);
    values.Number("--show", &show_);
    values.Duration("--window", &options_.window_ms);
    values.Duration("--wait", &wait_ms_);
    options_.input_ended = in_.qualify.input_ended;
    options_.deduplicated = in_.qualify.deduplicated;
    const bool windows = values.Text("--windows") || values.Text("--late");
    if (values.status().ok() && windows && options_.window_ms <= 0)
      return Status(Code::kUsage, "--windows and --late need the size of the windows: --window");
    if (values.status().ok() && !windows && options_.window_ms > 0)
      return Status(Code::kUsage, "--window goes with --windows or --late");
    return values.status();
  }

  Status TakeLayers() {
    WEIR_ASSIGN_OR_RETURN(const qualify::ColumnNames names, ColumnsOf(in_.qualify.columns));
    for (const qualify::Layer layer : qualify::kLayers) {
      const std::string option = "--" + std::string(qualify::LayerName(layer));
      const auto where = in_.qualify.given.find(option);
      WEIR_ASSIGN_OR_RETURN(const std::vector<qualify::Wish> wishes,
                            qualify::WishesOf(layer, names));
      if (where == in_.qualify.given.end()) {
        for (const auto& [key, name] : names) {
          if (key.first == layer)
            return Status(Code::kUsage, "--column " + std::string(qualify::LayerName(layer)) + "." +
                                            key.second + " goes with " + option);
        }
        continue;
      }
      qualify::LayerInput input{layer, wishes, nullptr};
      WEIR_ASSIGN_OR_RETURN(input.reader, ReaderOf(option, where->second, wishes));
      layers_.push_back(std::move(input));
    }
    if (!in_.qualify.kafka.empty() && !kafka_used_)
      return Status(Code::kUsage, "--kafka goes with a layer kafka:TOPIC");
    if (layers_.empty())
      return Status(Code::kUsage,
                    "verify needs a layer: --raw, --cleaned, --windows, --late or --dead");
    return Status::Ok();
  }

  Result<std::unique_ptr<qualify::LayerReader>> ReaderOf(const std::string& option,
                                                         const std::string& where,
                                                         const std::vector<qualify::Wish>& wishes) {
    if (where.starts_with(kKafka)) {
      WEIR_ASSIGN_OR_RETURN(const connectors::ClientConfig config,
                            KafkaConfigOf(world_.files(), in_.qualify.kafka));
      kafka_used_ = true;
      return qualify::NewKafkaReader(world_.clock(), config, where.substr(kKafka.size()), wishes);
    }
    if (!where.starts_with(kSqlite)) return qualify::NewFileReader(world_.files(), where, wishes);
    const size_t colon = where.rfind(':');
    if (colon <= kSqlite.size() || colon + 1 == where.size())
      return Fail(Code::kUsage, option + " takes sqlite:FILE:TABLE, not \"" + where + "\"");
    if (wishes.empty()) return Fail(Code::kUsage, option + " is judged by its bytes: no table");
    return qualify::NewSqliteReader(where.substr(kSqlite.size(), colon - kSqlite.size()),
                                    where.substr(colon + 1), wishes);
  }

  // While the generator runs, results are given --wait. Once it has ended, they are given --wait
  // from the last change on: a pipeline that has much to catch up is not judged before it has.
  Status Wait(bool ended) {
    if (wait_ms_ == 0) return Status::Ok();
    uint64_t mark = 0;
    int64_t since_ns = world_.clock().MonotonicNs();
    for (;;) {
      uint64_t now = 0;
      for (const qualify::LayerInput& input : layers_) {
        // What is not there yet the pipeline may still make; what stays wrong, Read says.
        now += input.reader->Mark().value_or(0);
      }
      if (ended && now != mark) since_ns = world_.clock().MonotonicNs();
      mark = now;
      if (world_.clock().MonotonicNs() - since_ns >= wait_ms_ * 1'000'000) return Status::Ok();
      loop_->RunOnce(std::min(kQuietPollMs, wait_ms_));
    }
  }

  World& world_;
  const Invocation& in_;
  qualify::TruthOptions options_;
  int64_t wait_ms_ = 0;
  size_t show_ = 20;
  std::vector<qualify::LayerInput> layers_;
  std::unique_ptr<io::Loop> loop_;
  bool kafka_used_ = false;
};

int ExitCodeOf(qualify::Outcome outcome) {
  switch (outcome) {
    case qualify::Outcome::kExact:
      return kExitOk;
    case qualify::Outcome::kNotExact:
      return kExitBadRow;
    case qualify::Outcome::kInconclusive:
      return kExitTryAgain;
  }
  return kExitInternal;
}

}  // namespace

int GenCommand(World& world, const Invocation& invocation) {
  const Status status = GenRun(world, invocation).Run();
  return status.ok() ? kExitOk : ReportFailure(status, invocation.json);
}

int VerifyCommand(World& world, const Invocation& invocation) {
  const Result<qualify::Verdict> verdict = VerifyRun(world, invocation).Run();
  if (!verdict) return ReportFailure(verdict.error(), invocation.json);
  Print(invocation.json ? qualify::VerdictJson(*verdict) : qualify::VerdictText(*verdict));
  return ExitCodeOf(verdict->outcome);
}

}  // namespace weir::app
