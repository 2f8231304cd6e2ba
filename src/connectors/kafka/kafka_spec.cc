#include "connectors/kafka/kafka_spec.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "connectors/kafka/kafka_properties.h"
#include "connectors/spec_parts.h"
#include "data/name_pattern.h"

namespace weir::connectors {
namespace {

using plan::Diagnostic;
using plan::OptionSpec;
using plan::OptionType;

constexpr std::string_view kFormats[] = {"csv", "json", "raw", "regex"};

constexpr OptionSpec kOptions[] = {
    {.name = "topic",
     .doc = "Topic to read or write; a source may name several, separated by ;.",
     .identity = true},
    {.name = "topic-pattern",
     .doc = "Every topic whose whole name matches this regular expression (RE2) is read.",
     .identity = true,
     .sink = false},
    {.name = "properties.bootstrap.servers",
     .doc = "Brokers to begin with: HOST:PORT, separated by commas.",
     .required = true},
    {.name = "properties.group.id",
     .doc = "Group whose offsets 'group-offsets' begins at and weir.commit-positions writes. weir "
            "joins no group: partitions and positions are its own.",
     .sink = false},
    {.name = "properties.*",
     .doc = "Any other setting of the client library, by its librdkafka name; those that would "
            "change what weir promises are refused with the reason (docs/kafka.md)."},
    {.name = "key.format",
     .doc = "Format of the record's key. Its own options are spelled key.FORMAT.OPTION.",
     .identity = true},
    {.name = "key.fields", .doc = "Columns that the key holds, separated by ;.", .identity = true},
    {.name = "key.fields-prefix",
     .doc = "Begin of the key's columns' names in the table that their names in the key lack.",
     .identity = true},
    {.name = "value.format",
     .doc = "Another word for format; the format's own options are then spelled "
            "value.FORMAT.OPTION."},
    {.name = "value.fields-include",
     .type = OptionType::kEnum,
     .default_value = "ALL",
     .doc = "Whether the value holds the key's columns, too. With ALL a source takes them from the "
            "value.",
     .identity = true,
     .choices = "ALL|EXCEPT_KEY"},
    {.name = "scan.startup.mode",
     .type = OptionType::kEnum,
     .default_value = "earliest-offset",
     .doc = "Where the first start begins. Later ones go on where the last sealed epoch stands.",
     .sink = false,
     .choices = "earliest-offset|latest-offset|group-offsets|timestamp|specific-offsets"},
    {.name = "scan.startup.specific-offsets",
     .doc = "'partition:0,offset:42;partition:1,offset:300': with specific-offsets.",
     .sink = false},
    {.name = "scan.startup.timestamp-millis",
     .type = OptionType::kInteger,
     .doc = "Milliseconds since 1970: with timestamp, the first record at or after it.",
     .sink = false},
    {.name = "scan.bounded.mode",
     .type = OptionType::kEnum,
     .default_value = "unbounded",
     .doc = "Where the input ends. The ends are looked up once, at the first start.",
     .sink = false,
     .choices = "unbounded|latest-offset|group-offsets|timestamp|specific-offsets"},
    {.name = "scan.bounded.specific-offsets",
     .doc = "'partition:0,offset:42;...': the offset behind the last one that is read.",
     .sink = false},
    {.name = "scan.bounded.timestamp-millis",
     .type = OptionType::kInteger,
     .doc = "Milliseconds since 1970: with timestamp, the first record that is not read.",
     .sink = false},
    {.name = "scan.topic-partition-discovery.interval",
     .type = OptionType::kDuration,
     .default_value = "5 min",
     .doc = "How often new partitions and topics are looked for; they are read from their "
            "beginning. 0 ms: never.",
     .sink = false},
    {.name = "sink.partitioner",
     .type = OptionType::kEnum,
     .default_value = "default",
     .doc = "default: by murmur2 hash of the key as Java clients do, rows without a key in turns; "
            "fixed: all to one partition; round-robin: in turns.",
     .source = false,
     .choices = "default|fixed|round-robin"},
    {.name = "sink.delivery-guarantee",
     .type = OptionType::kEnum,
     .default_value = "exactly-once",
     .doc = "exactly-once: in transactions with a receipt; at-least-once: sent again when in "
            "doubt; none: sent once, not waited for.",
     .source = false,
     .choices = "exactly-once|at-least-once|none"},
    {.name = "sink.transactional-id-prefix",
     .doc = "Stands for weir-INSTANCE in the transactional id; the same on all sinks of a "
            "cluster.",
     .identity = true,
     .source = false},
    {.name = "weir.receipt",
     .default_value = "offsets",
     .doc = "Where receipts are kept: offsets (of a consumer group; Kafka 4.0 and later), or "
            "topic:NAME, a compacted topic.",
     .source = false},
    {.name = "weir.watermark",
     .type = OptionType::kEnum,
     .default_value = "declared",
     .doc = "declared: WATERMARK FOR makes the watermark from event times; upstream: a row's "
            "weir-wm header says it, and WATERMARK FOR counts where there is none.",
     .sink = false,
     .choices = "declared|upstream"},
    {.name = "weir.commit-positions",
     .type = OptionType::kBoolean,
     .default_value = "false",
     .doc = "Mirror sealed positions to properties.group.id, for lag monitors. Nothing reads them "
            "back.",
     .sink = false},
    {.name = "weir.oauthbearer.token-file",
     .doc = "File with the token of SASL OAUTHBEARER; read again whenever one is needed."},
};

constexpr plan::MetadataSpec kMetadata[] = {
    {"topic", NotNull(TypeKind::kString), "Name of the topic."},
    {"partition", NotNull(TypeKind::kInt), "Number of the partition."},
    {"offset", NotNull(TypeKind::kBigInt), "Offset of the record in its partition."},
    {"timestamp", NotNull(TypeKind::kTimestampLtz, 3),
     "Time of the record; 1970-01-01 where it has none. A sink writes it.", true},
    {"timestamp-type", NotNull(TypeKind::kString), "CreateTime, LogAppendTime or NoTimestampType."},
    {"leader-epoch", Type{TypeKind::kInt, 0, 0, 0, true}, "Leader epoch of the record, if known."},
    {"headers", NotNull(TypeKind::kString),
     "JSON array of the headers in order, [[\"key\",\"base64 of the value\"],...], null for a NULL "
     "value (there is no MAP type yet)."},
};

// An option that only counts beside one value of another.
void CheckCompanion(const plan::TableDef& table, std::string_view mode, std::string_view value,
                    std::string_view companion, std::vector<Diagnostic>& out) {
  const plan::OptionValue& chosen = *table.options.Find(mode);
  const bool given = table.options.Has(companion);
  if (chosen.text == value && !given) {
    Error(out, chosen.value_position,
          std::string(mode) + " = '" + chosen.text + "' needs " + std::string(companion));
  } else if (chosen.text != value && given) {
    Error(
        out, table.options.Find(companion)->key_position,
        std::string(companion) + " needs " + std::string(mode) + " = '" + std::string(value) + "'");
  }
}

void CheckTopics(const plan::TableDef& table, bool as_sink, std::vector<Diagnostic>& out) {
  const bool topic = table.options.Has("topic");
  const bool pattern = table.options.Has("topic-pattern");
  if (as_sink && !topic) return Error(out, table.position, "required option topic is missing");
  if (topic == pattern) {
    const plan::OptionValue* at = topic ? table.options.Find("topic-pattern") : nullptr;
    return Error(out, at == nullptr ? table.position : at->key_position,
                 topic ? "topic and topic-pattern cannot stand together"
                       : "one of the options topic and topic-pattern is missing");
  }
  if (!topic) return;
  const plan::OptionValue& value = *table.options.Find("topic");
  const std::vector<std::string_view> names = Split(value.text, ';');
  if (as_sink && names.size() != 1)
    return Error(out, value.value_position, "a sink writes one topic");
  for (const std::string_view name : names) {
    if (!IsTopicName(name)) {
      Error(out, value.value_position, "'" + std::string(name) + "' cannot be the name of a topic",
            "at most 249 of A-Z a-z 0-9 . _ -");
    }
  }
  if (std::vector<std::string_view> sorted = names;
      std::sort(sorted.begin(), sorted.end()),
      std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    Error(out, value.value_position, "a topic is named twice");
  }
}

void CheckReading(const plan::TableDef& table, std::vector<Diagnostic>& out) {
  CheckCompanion(table, "scan.startup.mode", "specific-offsets", "scan.startup.specific-offsets",
                 out);
  CheckCompanion(table, "scan.startup.mode", "timestamp", "scan.startup.timestamp-millis", out);
  CheckCompanion(table, "scan.bounded.mode", "specific-offsets", "scan.bounded.specific-offsets",
                 out);
  CheckCompanion(table, "scan.bounded.mode", "timestamp", "scan.bounded.timestamp-millis", out);
  for (const std::string_view mode : {"scan.startup.mode", "scan.bounded.mode"}) {
    const plan::OptionValue& value = *table.options.Find(mode);
    if (value.text == "group-offsets" && !table.options.Has("properties.group.id")) {
      Error(out, value.value_position,
            std::string(mode) + " = 'group-offsets' needs properties.group.id");
    }
  }
  if (table.options.String("weir.watermark") == "upstream" && !table.watermark) {
    Error(out, table.options.Find("weir.watermark")->value_position,
          "weir.watermark = 'upstream' needs a WATERMARK FOR",
          "it names the column, and counts for rows without the header");
  }
  if (table.options.Boolean("weir.commit-positions") && !table.options.Has("properties.group.id")) {
    Error(out, table.options.Find("weir.commit-positions")->key_position,
          "weir.commit-positions needs properties.group.id");
  }
  if (!out.empty()) return;
  const auto reading = KafkaReadingOf(table);
  if (!reading.has_value()) Error(out, table.position, reading.error().message());
}

void CheckSink(const plan::TableDef& table, std::vector<Diagnostic>& out) {
  const plan::OptionValue& receipt = *table.options.Find("weir.receipt");
  if (const auto topic = ReceiptTopicOf(receipt.text); !topic.has_value())
    Error(out, receipt.value_position, topic.error().message());
  const bool exactly_once = table.options.String("sink.delivery-guarantee") == "exactly-once";
  for (const std::string_view name : {"sink.transactional-id-prefix", "weir.receipt"}) {
    if (exactly_once || !table.options.Has(name)) continue;
    Error(out, table.options.Find(name)->key_position,
          std::string(name) + " needs sink.delivery-guarantee = 'exactly-once'");
  }
}

void Check(const plan::TableDef& table, bool as_sink, std::vector<Diagnostic>& out) {
  CheckTopics(table, as_sink, out);
  if (table.key_format == "regex")
    Error(out, table.position, "the format regex cannot read a key", "json, csv and raw can");
  for (const FormatSpec* spec : {&table.format_spec, &table.key_format_spec}) {
    if (spec->kind == FormatSpec::Kind::kCsv && spec->csv.header)
      Error(out, table.position, "csv.header is for files: a record of Kafka has no first line");
  }
  if (as_sink)
    CheckSink(table, out);
  else
    CheckReading(table, out);
  CheckProperties(table, as_sink, out);
}

std::string GuaranteeOf(const plan::TableDef& table) {
  const std::string guarantee = table.options.String("sink.delivery-guarantee");
  if (guarantee == "at-least-once")
    return "at least once (what is in doubt is sent again: sink.delivery-guarantee)";
  if (guarantee == "none")
    return "none (a record that fails is counted and lost: sink.delivery-guarantee)";
  return "exactly once (for read_committed readers)";
}

bool Bounded(const plan::TableDef& table) {
  return table.options.String("scan.bounded.mode") != "unbounded";
}

Result<KafkaOffsets> OffsetsOf(const plan::TableDef& table, std::string_view which) {
  const std::string prefix = "scan." + std::string(which);
  const std::string mode = table.options.String(prefix + ".mode");
  KafkaOffsets offsets;
  using Mode = KafkaOffsets::Mode;
  if (mode == "earliest-offset") {
    offsets.mode = Mode::kEarliest;
  } else if (mode == "latest-offset") {
    offsets.mode = Mode::kLatest;
  } else if (mode == "group-offsets") {
    offsets.mode = Mode::kGroup;
    const auto reset = table.options.all().find("properties.auto.offset.reset");
    if (reset != table.options.all().end()) {
      offsets.missing = reset->second.text == "latest" ? KafkaOffsets::Missing::kLatest
                                                       : KafkaOffsets::Missing::kEarliest;
    }
  } else if (mode == "timestamp") {
    offsets.mode = Mode::kTimestamp;
    offsets.timestamp_ms = table.options.Integer(prefix + ".timestamp-millis");
  } else if (mode == "specific-offsets") {
    offsets.mode = Mode::kSpecific;
    auto specific = ParseSpecificOffsets(table.options.String(prefix + ".specific-offsets"));
    if (!specific.has_value())
      return Fail(specific.error().WithContext(prefix + ".specific-offsets"));
    offsets.specific = std::move(*specific);
  } else {
    CHECK(mode == "unbounded");
    offsets.mode = Mode::kUnbounded;
  }
  return offsets;
}

// The number behind "partition:" or "offset:"; nullopt for anything else.
std::optional<int64_t> NumberAfter(std::string_view word, std::string_view text, int64_t max) {
  if (!text.starts_with(word)) return std::nullopt;
  const auto number = ParseInt64(text.substr(word.size()));
  return number && *number >= 0 && *number <= max ? number : std::nullopt;
}

}  // namespace

const plan::ConnectorSpec kKafkaSpec = {
    .name = "kafka",
    .doc =
        "Topics of an Apache Kafka cluster: read with positions of weir's own, written in "
        "transactions with a receipt.",
    .source = true,
    .sink = true,
    .needs_format = true,
    .formats = kFormats,
    .options = kOptions,
    .metadata = kMetadata,
    .table_guarantee = GuaranteeOf,
    .check = Check,
    .bounded = Bounded,
};

KafkaMetadata KafkaMetadataOf(std::string_view key) {
  const auto* const it = std::find_if(std::begin(kMetadata), std::end(kMetadata),
                                      [&](const plan::MetadataSpec& m) { return m.key == key; });
  CHECK(it != std::end(kMetadata));
  return static_cast<KafkaMetadata>(it - std::begin(kMetadata));
}

Result<std::map<int32_t, int64_t>> ParseSpecificOffsets(std::string_view text) {
  std::map<int32_t, int64_t> offsets;
  for (const std::string_view entry : Split(text, ';')) {
    const std::vector<std::string_view> parts = Split(entry, ',');
    const auto partition =
        parts.size() == 2 ? NumberAfter("partition:", parts[0], INT32_MAX) : std::nullopt;
    const auto offset =
        parts.size() == 2 ? NumberAfter("offset:", parts[1], INT64_MAX) : std::nullopt;
    if (!partition || !offset)
      return Fail(Code::kInvalid, "'" + std::string(entry) + "' is not 'partition:N,offset:N'");
    if (!offsets.emplace(static_cast<int32_t>(*partition), *offset).second)
      return Fail(Code::kInvalid, "partition " + std::to_string(*partition) + " is named twice");
  }
  return offsets;
}

Result<KafkaReading> KafkaReadingOf(const plan::TableDef& table) {
  KafkaReading reading;
  if (table.options.Has("topic-pattern")) {
    reading.pattern = table.options.String("topic-pattern");
    if (const auto parsed = NamePattern::Parse(reading.pattern); !parsed.has_value())
      return Fail(parsed.error().WithContext("topic-pattern"));
  } else {
    const std::string topics = table.options.String("topic");
    for (const std::string_view topic : Split(topics, ';')) reading.topics.emplace_back(topic);
    std::sort(reading.topics.begin(), reading.topics.end());
  }
  WEIR_ASSIGN_OR_RETURN(reading.start, OffsetsOf(table, "startup"));
  WEIR_ASSIGN_OR_RETURN(reading.end, OffsetsOf(table, "bounded"));
  reading.discovery_interval_ms = table.options.Integer("scan.topic-partition-discovery.interval");
  reading.commit_positions = table.options.Boolean("weir.commit-positions");
  return reading;
}

Result<std::string> ReceiptTopicOf(std::string_view text) {
  if (text == "offsets") return std::string();
  constexpr std::string_view kTopic = "topic:";
  if (!text.starts_with(kTopic))
    return Fail(Code::kInvalid,
                "'" + std::string(text) + "' is neither 'offsets' nor 'topic:NAME'");
  const std::string_view name = text.substr(kTopic.size());
  if (!IsTopicName(name))
    return Fail(Code::kInvalid, "'" + std::string(name) + "' cannot be the name of a topic");
  return std::string(name);
}

bool IsTopicName(std::string_view name) {
  constexpr size_t kLongest = 249;
  if (name.empty() || name.size() > kLongest || name == "." || name == "..") return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

}  // namespace weir::connectors
