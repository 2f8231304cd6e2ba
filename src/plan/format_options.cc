// Options of the formats, of all tables, and the step from checked options to a FormatSpec.
#include <utility>

#include "plan/options.h"

namespace weir::plan {
namespace {

constexpr std::string_view kParseErrorsDoc =
    "true: what cannot be parsed is a dead letter (never a NULL field); false: weir.on-error = "
    "fail.";

constexpr OptionSpec kJson[] = {
    {.name = "json.ignore-parse-errors",
     .type = OptionType::kBoolean,
     .doc = kParseErrorsDoc,
     .sink = false},
    {.name = "json.timestamp-format.standard",
     .type = OptionType::kEnum,
     .default_value = "SQL",
     .doc = "How timestamps are written; both forms are read.",
     .choices = "SQL|ISO-8601"},
    {.name = "json.timestamp-unit",
     .type = OptionType::kEnum,
     .doc = "A JSON number in a timestamp column is this long since 1970; without it numbers there "
            "are dead letters.",
     .identity = true,
     .sink = false,
     .choices = "s|ms|us|ns"},
};

constexpr OptionSpec kCsv[] = {
    {.name = "csv.allow-comments",
     .type = OptionType::kBoolean,
     .default_value = "false",
     .doc = "Lines that begin with # are skipped.",
     .sink = false},
    {.name = "csv.escape-character",
     .type = OptionType::kCharacter,
     .doc = "Character that takes the next one literally, inside quotes (RFC 4180 has none)."},
    {.name = "csv.field-delimiter",
     .type = OptionType::kCharacter,
     .default_value = ",",
     .doc = "Between two fields.",
     .identity = true},
    {.name = "csv.header",
     .type = OptionType::kBoolean,
     .default_value = "false",
     .doc = "The first record names the columns: fields are found by name, and a sink writes it.",
     .identity = true},
    {.name = "csv.ignore-parse-errors",
     .type = OptionType::kBoolean,
     .doc = kParseErrorsDoc,
     .sink = false},
    {.name = "csv.null-literal",
     .doc = "Unquoted text that means NULL. Without it an empty unquoted field is NULL, except in "
            "STRING "
            "columns."},
    {.name = "csv.quote-character",
     .type = OptionType::kCharacter,
     .default_value = "\"",
     .doc = "Around fields that hold delimiters, quotes or line breaks."},
};

constexpr OptionSpec kRegex[] = {
    {.name = "regex.pattern",
     .doc = "RE2 pattern for a whole line; the named groups (?P<column>...) fill the columns.",
     .required = true,
     .identity = true,
     .sink = false},
};

constexpr OptionSpec kCommon[] = {
    {.name = "scan.watermark.alignment.max-drift",
     .type = OptionType::kDuration,
     .doc = "A partition this far ahead of the slowest in event time waits (default: 4 times the "
            "watermark's bound, at least 30 s).",
     .sink = false},
    {.name = "scan.watermark.idle-timeout",
     .type = OptionType::kDuration,
     .doc = "Overrides table.exec.source.idle-timeout for this table.",
     .sink = false},
    {.name = "weir.on-error",
     .type = OptionType::kEnum,
     .doc = "Overrides SET 'weir.on-error' for the decoding of this table.",
     .sink = false,
     .choices = "dead-letter|fail"},
};

constexpr std::string_view kFormats[] = {"csv", "json", "raw", "regex"};
constexpr std::string_view kLaterFormats[] = {
    "avro",     "avro-confluent", "debezium-json", "canal-json", "maxwell-json",
    "ogg-json", "parquet",        "orc",           "protobuf",   "debezium-avro-confluent"};

EpochUnit UnitOf(std::string_view text) {
  if (text == "s") return EpochUnit::kSeconds;
  if (text == "us") return EpochUnit::kMicros;
  if (text == "ns") return EpochUnit::kNanos;
  return EpochUnit::kMillis;
}

void FillJson(const Options& options, FormatSpec& spec) {
  spec.kind = FormatSpec::Kind::kJson;
  spec.json.has_timestamp_unit = options.Has("json.timestamp-unit");
  if (spec.json.has_timestamp_unit) {
    spec.json.timestamp_unit = UnitOf(options.String("json.timestamp-unit"));
  }
  spec.json.timestamp_style = options.String("json.timestamp-format.standard") == "ISO-8601"
                                  ? TimestampStyle::kIso8601
                                  : TimestampStyle::kSql;
}

Status FillCsv(const Options& options, FormatSpec& spec) {
  spec.kind = FormatSpec::Kind::kCsv;
  spec.csv.delimiter = options.Character("csv.field-delimiter");
  spec.csv.quote = options.Character("csv.quote-character");
  spec.csv.header = options.Boolean("csv.header");
  spec.csv.allow_comments = options.Boolean("csv.allow-comments");
  spec.csv.has_null_literal = options.Has("csv.null-literal");
  spec.csv.null_literal = options.String("csv.null-literal");
  if (options.Has("csv.escape-character")) {
    spec.csv.escape = options.Character("csv.escape-character");
  }
  if (spec.csv.delimiter == spec.csv.quote || spec.csv.delimiter == spec.csv.escape) {
    return Status(Code::kInvalid,
                  "csv.field-delimiter must differ from csv.quote-character and "
                  "csv.escape-character");
  }
  return Status::Ok();
}

}  // namespace

std::span<const std::string_view> FormatNames() { return kFormats; }

std::span<const OptionSpec> FormatOptionSpecs(std::string_view format) {
  if (format == "json") return kJson;
  if (format == "csv") return kCsv;
  if (format == "regex") return kRegex;
  return {};
}

std::span<const OptionSpec> CommonTableOptionSpecs() { return kCommon; }

std::string_view LaterFormat(std::string_view format) {
  for (const std::string_view later : kLaterFormats) {
    if (later == format) return later;
  }
  return {};
}

Result<FormatSpec> FormatSpecOf(std::string_view format, const Options& options,
                                const SessionZone& zone, uint64_t max_record_bytes,
                                size_t physical_columns) {
  FormatSpec spec;
  spec.zone = zone;
  spec.max_record_bytes = max_record_bytes;
  spec.physical_columns = physical_columns;
  if (format == "json") {
    FillJson(options, spec);
  } else if (format == "csv") {
    WEIR_RETURN_IF_ERROR(FillCsv(options, spec));
  } else if (format == "raw") {
    spec.kind = FormatSpec::Kind::kRaw;
  } else if (format == "regex") {
    spec.kind = FormatSpec::Kind::kRegex;
    spec.regex.pattern = options.String("regex.pattern");
  } else if (!format.empty()) {
    return Fail(Code::kInvalid, "unknown format '" + std::string(format) + "'");
  }
  return spec;
}

}  // namespace weir::plan
