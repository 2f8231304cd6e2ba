#include "connectors/filesystem/filesystem_spec.h"

#include "connectors/filesystem/path.h"
#include "connectors/spec_parts.h"
#include "plan/plan.h"

namespace weir::connectors {
namespace {

using plan::Diagnostic;
using plan::OptionType;

constexpr std::string_view kFormats[] = {"csv", "json", "raw", "regex"};

constexpr plan::OptionSpec kOptions[] = {
    {.name = "path",
     .doc = "A file, a directory (every file below it) or a pattern (* ? [a-z]); file:// is "
            "accepted; relative to the working directory. "
            "A sink whose path ends in / or is a directory writes rolling files into it.",
     .required = true,
     .identity = true},
    {.name = "source.monitor-interval",
     .type = OptionType::kDuration,
     .doc = "Follow the files: look for new files, new bytes and rotation this often. Without it "
            "the input is bounded.",
     .sink = false,
     .min = 1},
    {.name = "sink.rolling-policy.file-size",
     .type = OptionType::kSize,
     .default_value = "128 MiB",
     .doc = "Rolling files: a part that has this size is closed with the epoch. Makes the sink "
            "rolling.",
     .source = false,
     .min = 1},
    {.name = "sink.rolling-policy.rollover-interval",
     .type = OptionType::kDuration,
     .default_value = "30 min",
     .doc = "Rolling files: a part this old is closed with the next epoch that has rows or is cut. "
            "Makes the sink rolling.",
     .source = false,
     .min = 1},
    {.name = "weir.sink.if-exists",
     .type = OptionType::kEnum,
     .default_value = "fail",
     .doc = "Append file: what to do with a file at the path that this pipeline did not write.",
     .source = false,
     .choices = "fail|append|overwrite"},
};

constexpr plan::MetadataSpec kMetadata[] = {
    {"file.path", NotNull(TypeKind::kString), "Absolute path."},
    {"file.name", NotNull(TypeKind::kString), "Last part of the path."},
    {"file.size", NotNull(TypeKind::kBigInt), "Bytes on disk when the file was opened."},
    {"file.modification-time", NotNull(TypeKind::kTimestampLtz, 3), "When the file was opened."},
    {"file.offset", NotNull(TypeKind::kBigInt),
     "Where the row's record begins, in bytes (of uncompressed data)."},
    {"file.line", NotNull(TypeKind::kBigInt),
     "Number of the line in which the row's record begins, from 1."},
};

void CheckSink(const plan::TableDef& table, const plan::OptionValue& path,
               std::vector<Diagnostic>& out) {
  if (table.format == "regex")
    Error(out, table.position, "format 'regex' cannot write", "json, csv and raw can");
  if (HasPattern(path.text))
    Error(out, path.value_position, "a sink's 'path' is one file or one directory, not a pattern");
  for (const plan::ColumnDef& column : table.columns) {
    if (column.kind == plan::ColumnDef::Kind::kMetadata && !column.is_virtual) {
      Error(out, column.position, "column " + column.name + ": metadata of files cannot be written",
            "declare it VIRTUAL, or leave it out");
    }
  }
  if (!table.primary_key.empty()) {
    out.push_back({Diagnostic::Severity::kNote, table.position,
                   "the PRIMARY KEY of " + table.name +
                       " has no effect: rows are added to a file, none is replaced",
                   ""});
  }
  const plan::OptionValue* if_exists = table.options.Find("weir.sink.if-exists");
  if (table.options.Has("weir.sink.if-exists") && RollingByOptions(table)) {
    Error(out, if_exists->key_position,
          "'weir.sink.if-exists' is for append files: rolling files are added to what is there");
  }
}

void Check(const plan::TableDef& table, bool as_sink, std::vector<Diagnostic>& out) {
  const plan::OptionValue* path = table.options.Find("path");
  if (path == nullptr) return;  // required: said elsewhere
  const auto local = LocalPath(path->text);
  if (!local.has_value()) return Error(out, path->value_position, local.error().message());
  if (as_sink) return CheckSink(table, *path, out);
  // A shell's ** would be taken as *, which is another set of files.
  if (local->find("**") != std::string::npos) {
    Error(out, path->value_position, "'path' has **, which patterns do not know here",
          "a directory stands for every file below it, at any depth: end the path there");
  }
}

bool Bounded(const plan::TableDef& table) { return !table.options.Has("source.monitor-interval"); }

}  // namespace

const plan::ConnectorSpec kFilesystemSpec = {
    .name = "filesystem",
    .doc =
        "Local files: read once or followed, plain, gzip or zstd; written as one append file or as "
        "rolling files.",
    .source = true,
    .sink = true,
    .needs_format = true,
    .formats = kFormats,
    .options = kOptions,
    .metadata = kMetadata,
    .check = Check,
    .bounded = Bounded,
};

bool RollingByOptions(const plan::TableDef& table) {
  const std::string path = table.options.String("path");
  return (!path.empty() && path.back() == '/') ||
         table.options.Has("sink.rolling-policy.file-size") ||
         table.options.Has("sink.rolling-policy.rollover-interval");
}

}  // namespace weir::connectors
