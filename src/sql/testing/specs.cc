#include "sql/testing/specs.h"

#include <utility>

namespace weir::sql {

using plan::ConnectorSpec;
using plan::MetadataSpec;
using plan::OptionSpec;
using plan::OptionType;

namespace {

constexpr std::string_view kFormats[] = {"csv", "json", "raw", "regex"};

constexpr OptionSpec kFileOptions[] = {
    {.name = "path", .doc = "File or directory.", .required = true, .identity = true},
    {.name = "source.monitor-interval",
     .type = OptionType::kDuration,
     .doc = "Follow.",
     .sink = false},
    {.name = "sink.rolling-policy.file-size",
     .type = OptionType::kSize,
     .doc = "Roll.",
     .source = false},
};

constexpr OptionSpec kGenOptions[] = {
    {.name = "fields.#.kind",
     .type = OptionType::kEnum,
     .default_value = "random",
     .doc = "Kind.",
     .identity = true,
     .sink = false,
     .choices = "random|sequence"},
    {.name = "number-of-rows",
     .type = OptionType::kInteger,
     .doc = "Rows.",
     .identity = true,
     .sink = false},
};

constexpr OptionSpec kSqliteOptions[] = {
    {.name = "path", .doc = "Database.", .required = true, .identity = true},
    {.name = "table", .doc = "Table.", .required = true, .identity = true},
};

constexpr OptionSpec kStreamOptions[] = {
    {.name = "topic", .doc = "Topic.", .required = true, .identity = true},
    {.name = "properties.*", .doc = "The client's."},
    {.name = "key.format", .doc = "Of the key.", .identity = true},
    {.name = "key.fields", .doc = "In the key.", .identity = true},
    {.name = "key.fields-prefix", .doc = "Prefix.", .identity = true},
    {.name = "value.format", .doc = "Same as format."},
    {.name = "value.fields-include",
     .type = OptionType::kEnum,
     .default_value = "ALL",
     .doc = "Which.",
     .identity = true,
     .choices = "ALL|EXCEPT_KEY"},
};

const MetadataSpec kStreamMetadata[] = {
    {"timestamp", Type::TimestampLtz(3), "Time.", true},
    {"offset", Type::Of(TypeKind::kBigInt), "Offset."},
};

const MetadataSpec kFileMetadata[] = {
    {"file.path", Type::Of(TypeKind::kString), "Path."},
    {"file.offset", Type::Of(TypeKind::kBigInt), "Offset."},
};

bool FileIsBounded(const plan::TableDef& table) {
  return !table.options.Has("source.monitor-interval");
}

void CheckSqlite(const plan::TableDef& table, bool, std::vector<plan::Diagnostic>& out) {
  if (table.options.String("table") != "forbidden") return;
  out.push_back({plan::Diagnostic::Severity::kError, table.options.Find("table")->value_position,
                 "this table is forbidden", ""});
}

const ConnectorSpec kFile = {.name = "filesystem",
                             .doc = "Files.",
                             .source = true,
                             .sink = true,
                             .needs_format = true,
                             .formats = kFormats,
                             .options = kFileOptions,
                             .metadata = kFileMetadata,
                             .bounded = FileIsBounded};
const ConnectorSpec kGen = {
    .name = "datagen", .doc = "Rows.", .source = true, .options = kGenOptions};
const ConnectorSpec kStream = {.name = "stream",
                               .doc = "Records with a key.",
                               .source = true,
                               .sink = true,
                               .needs_format = true,
                               .formats = kFormats,
                               .options = kStreamOptions,
                               .metadata = kStreamMetadata};
const ConnectorSpec kPrint = {.name = "print",
                              .doc = "Prints.",
                              .sink = true,
                              .sink_guarantee = plan::Guarantee::kAtLeastOnce};
const ConnectorSpec kBlackhole = {.name = "blackhole", .doc = "Drops.", .sink = true};
const ConnectorSpec kSqlite = {.name = "sqlite",
                               .doc = "SQLite.",
                               .sink = true,
                               .options = kSqliteOptions,
                               .sink_accepts_updates = true,
                               .check = CheckSqlite};

}  // namespace

std::vector<const ConnectorSpec*> TestConnectors() {
  return {&kBlackhole, &kGen, &kFile, &kPrint, &kSqlite, &kStream};
}

CompileInput TestInput(std::string text) {
  CompileInput input;
  input.file_name = "test.sql";
  input.text = std::move(text);
  input.connectors = TestConnectors();
  input.secret = [](std::string_view kind, std::string_view name) -> Result<std::string> {
    if (kind == "env" && name == "X") return std::string("x-value");
    if (kind == "env" && name == "NESTED") return std::string("${X}'; DROP");
    if (kind == "cred" && name == "pw") return std::string("s3cret");
    return Fail(Code::kNotFound, "is not set");
  };
  return input;
}

}  // namespace weir::sql
