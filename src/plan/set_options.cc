// The SET keys of this version, and those of later ones by name.
#include "plan/options.h"

namespace weir::plan {
namespace {

constexpr int64_t kHourMs = 3600 * 1000;
constexpr int64_t kMiB = int64_t{1} << 20;

constexpr OptionSpec kSetOptions[] = {
    {.name = "execution.checkpointing.interval",
     .type = OptionType::kDuration,
     .default_value = "1 s",
     .doc = "How often an epoch is cut, sealed and delivered.",
     .min = 1,
     .max = kHourMs},
    {.name = "pipeline.name",
     .doc = "Name of the pipeline in status, logs and state (default: the SQL file's name)."},
    {.name = "table.exec.source.idle-timeout",
     .type = OptionType::kDuration,
     .default_value = "60 s",
     .doc = "A partition proven to stand at its end for this long no longer holds the watermark."},
    {.name = "table.local-time-zone",
     .default_value = "UTC",
     .doc = "The session zone: UTC, Z or a fixed offset such as +02:00."},
    {.name = "weir.batch-rows",
     .type = OptionType::kInteger,
     .default_value = "2048",
     .doc = "Rows a batch at most. No effect on results, only on speed and memory.",
     .min = 1,
     .max = 65536},
    {.name = "weir.dead-letters.max-bytes",
     .type = OptionType::kSize,
     .default_value = "64 MiB",
     .doc =
         "Bound of dead/ for each table or view; beyond it the oldest file is deleted and counted.",
     .min = kMiB},
    {.name = "weir.disk.min-free",
     .type = OptionType::kSize,
     .doc = "Sources pause when less is free on the state directory's disk (default: the larger of "
            "64 MiB and 2 %)."},
    {.name = "weir.max-future-skew",
     .type = OptionType::kDuration,
     .default_value = "5 min",
     .doc = "A row further ahead of its arrival than this does not move the watermark."},
    {.name = "weir.max-record-bytes",
     .type = OptionType::kSize,
     .default_value = "1 MiB",
     .doc = "A longer record is a dead letter.",
     .min = 64,
     .max = 1024 * kMiB},
    {.name = "weir.memory.limit",
     .type = OptionType::kSize,
     .default_value = "48 MiB",
     .doc = "Memory for batches, unsealed output and keyed state.",
     .min = kMiB},
    {.name = "weir.on-damage",
     .type = OptionType::kEnum,
     .default_value = "refuse",
     .doc = "What a start does with a damaged state directory: refuse, or set it aside and begin "
            "anew.",
     .choices = "refuse|quarantine"},
    {.name = "weir.on-error",
     .type = OptionType::kEnum,
     .default_value = "dead-letter",
     .doc = "What happens to a row that cannot be read or computed: a dead letter, or the run "
            "stops with exit 65.",
     .choices = "dead-letter|fail"},
    {.name = "weir.spool.max-bytes",
     .type = OptionType::kSize,
     .default_value = "4 GiB",
     .doc = "Bound of sealed output that waits for its sinks; at the bound sources pause.",
     .min = kMiB},
};

struct Later {
  std::string_view name;
  std::string_view why;
};

constexpr Later kLaterKeys[] = {
    {"table.exec.state.ttl", "state time to live comes with deduplication and joins"},
    {"table.exec.emit.allow-lateness", "late rows are given by LATE(view) for now"},
    {"weir.receipt", "it is an option of a table: 'weir.receipt' of a Kafka sink"},
    {"weir.watermark", "it is an option of a table: 'weir.watermark' of a Kafka source"},
    {"execution.runtime-mode", "bounded input ends the run by itself"},
    {"parallelism.default", "a pipeline runs on one loop thread"},
    {"table.exec.mini-batch.enabled",
     "weir always works in batches and results do not depend on them"},
};

constexpr Later kLaterTableOptions[] = {
    {"scan.watermark.alignment.group", "only the files of one table are aligned"},
    {"scan.watermark.emit.strategy", "the watermark is a column: it moves with every row"},
    {"weir.receipt", "only sinks of Kafka have receipts"},
    {"weir.watermark", "only records of Kafka carry watermarks"},
    {"sink.parallelism", "a pipeline runs on one loop thread"},
    {"scan.parallelism", "a pipeline runs on one loop thread"},
    {"auto-compaction", "parts are as large as sink.rolling-policy.file-size says"},
    {"compaction.file-size", "parts are as large as sink.rolling-policy.file-size says"},
    {"sink.rolling-policy.check-interval", "parts are looked at with every epoch"},
    {"source.path.regex-pattern", "a pattern stands in 'path': * ? [a-z]"},
    {"source.report-statistics", "nothing reads them"},
    {"sink.partition-commit.policy.kind", "there are no partitioned tables"},
    {"sink.partition-commit.trigger", "there are no partitioned tables"},
    {"sink.partition-commit.delay", "there are no partitioned tables"},
    {"partition.default-name", "there are no partitioned tables"},
    {"json.fail-on-missing-field",
     "a missing field is NULL; NOT NULL makes its record a dead letter"},
    {"json.encode.decimal-as-plain-number", "a DECIMAL is always written with all its digits"},
    {"json.encode.ignore-null-fields", "NULL fields are written"},
    {"json.map-null-key.mode", "there is no MAP"},
    {"json.map-null-key.literal", "there is no MAP"},
    {"csv.disable-quote-character", "quotes are always read as RFC 4180 says"},
    {"csv.array-element-delimiter", "there is no ARRAY"},
    {"csv.write-bigdecimal-in-scientific-notation",
     "a DECIMAL is always written with all its digits"},
    {"raw.charset", "text is UTF-8"},
    {"raw.endianness", "raw is a line of text or bytes"},
};

std::string_view FindLater(std::span<const Later> list, std::string_view name) {
  for (const Later& later : list) {
    if (later.name == name) return later.why;
  }
  return {};
}

}  // namespace

std::span<const OptionSpec> SetOptionSpecs() { return kSetOptions; }

std::string_view LaterSetKey(std::string_view key) { return FindLater(kLaterKeys, key); }

std::string_view LaterTableOption(std::string_view key) {
  return FindLater(kLaterTableOptions, key);
}

}  // namespace weir::plan
