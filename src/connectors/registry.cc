#include "connectors/registry.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "connectors/blackhole/blackhole.h"
#include "connectors/datagen/datagen.h"
#include "connectors/filesystem/append_stage.h"
#include "connectors/filesystem/dead_letter_stage.h"
#include "connectors/filesystem/file_source.h"
#include "connectors/filesystem/filesystem_spec.h"
#include "connectors/filesystem/path.h"
#include "connectors/filesystem/rolling_stage.h"
#include "connectors/kafka/kafka_probe.h"
#include "connectors/kafka/kafka_rows.h"
#include "connectors/kafka/kafka_source.h"
#include "connectors/kafka/kafka_spec.h"
#include "connectors/kafka/kafka_target.h"
#include "connectors/print/print.h"
#include "connectors/sqlite/sqlite_sink.h"
#include "flow/dead_letters.h"

namespace weir::connectors {
namespace {

using plan::ColumnDef;

constexpr const plan::ConnectorSpec* kConnectors[] = {
    &kBlackholeSpec, &kDatagenSpec, &kFilesystemSpec, &kKafkaSpec, &kPrintSpec, &kSqliteSpec};
constexpr std::string_view kTargetPrefix = "sqlite:";

Result<std::string> AbsolutePathOf(const ConnectorContext& context, const plan::TableDef& table) {
  WEIR_ASSIGN_OR_RETURN(const std::string path, LocalPath(table.options.String("path")));
  return context.env.files.AbsolutePath(path);
}

Result<FileMetadata::Key> MetadataKey(std::string_view name) {
  using Key = FileMetadata::Key;
  if (name == "file.path") return Key::kPath;
  if (name == "file.name") return Key::kName;
  if (name == "file.size") return Key::kSize;
  if (name == "file.modification-time") return Key::kModificationTime;
  if (name == "file.offset") return Key::kOffset;
  if (name == "file.line") return Key::kLine;
  return Fail(Code::kInvalid, "no metadata '" + std::string(name) + "'");
}

// What the decoder fills and what the source fills, of the columns that a batch must hold.
Status SplitColumns(const plan::TableDef& table, const std::vector<int>& raw_columns,
                    FileSourceOptions& options) {
  for (size_t i = 0; i < raw_columns.size(); ++i) {
    const size_t index = static_cast<size_t>(raw_columns[i]);
    const ColumnDef& column = table.columns[index];
    switch (column.kind) {
      case ColumnDef::Kind::kPhysical: {
        const auto before = std::count_if(
            table.columns.begin(), table.columns.begin() + static_cast<std::ptrdiff_t>(index),
            [](const ColumnDef& c) { return c.kind == ColumnDef::Kind::kPhysical; });
        options.fields.push_back(
            {column.name, column.type, static_cast<int>(i), static_cast<int>(before)});
        break;
      }
      case ColumnDef::Kind::kMetadata: {
        WEIR_ASSIGN_OR_RETURN(const auto key, MetadataKey(column.metadata_key));
        options.metadata.push_back({key, static_cast<int>(i)});
        break;
      }
      case ColumnDef::Kind::kComputed:
        return Status(Code::kInternal,
                      "column " + column.name + " is computed: no source fills it");
    }
  }
  return Status::Ok();
}

// "--accept-gap TABLE" and "--accept-gap TABLE:PATH".
void TakeResolutions(const ConnectorContext& context, const std::string& table,
                     CatalogOptions& options) {
  for (const protocol::Resolution& resolution : context.resolutions) {
    if (resolution.verb != protocol::Verb::kAcceptGap) continue;
    if (resolution.subject == table) options.accept_all_gaps = true;
    if (resolution.subject.starts_with(table + ":"))
      options.accepted_gaps.push_back(resolution.subject.substr(table.size() + 1));
  }
}

Result<std::unique_ptr<flow::Source>> NewFileSource(const ConnectorContext& context,
                                                    const plan::TableDef& table,
                                                    const std::vector<int>& raw_columns) {
  FileSourceOptions options{table.name, table.format_spec, {}, {}, context.env.heartbeat};
  WEIR_RETURN_IF_ERROR(SplitColumns(table, raw_columns, options));
  CatalogOptions catalog;
  catalog.table = table.name;
  catalog.heartbeat = context.env.heartbeat;
  WEIR_ASSIGN_OR_RETURN(catalog.path, AbsolutePathOf(context, table));
  TakeResolutions(context, table.name, catalog);
  io::Env env = context.env;
  const bool follow = table.options.Has("source.monitor-interval");
  if (follow) catalog.monitor_interval_ms = table.options.Integer("source.monitor-interval");
  auto files = follow ? NewFollowCatalog(env.files, env.clock, std::move(catalog))
                      : NewBoundedCatalog(env.files, std::move(catalog));
  return std::make_unique<FileSource>(env.files, std::move(options), std::move(files));
}

// Begin of the names under which a box is known to a cluster.
std::string NameOf(const ConnectorContext& context) { return "weir-" + context.instance; }

// A third of the memory for records that wait in the client's queues: batches, unsealed output and
// keyed state share the rest.
Result<std::unique_ptr<flow::Source>> NewKafkaSource(const ConnectorContext& context,
                                                     const plan::TableDef& table,
                                                     const std::vector<int>& raw_columns) {
  WEIR_ASSIGN_OR_RETURN(KafkaReading reading, KafkaReadingOf(table));
  WEIR_ASSIGN_OR_RETURN(auto rows, KafkaDecoder::Create(table, raw_columns));
  KafkaSourceOptions options{table.name,
                             std::move(reading),
                             ClientConfigOf(table, context.env, context.references),
                             NameOf(context) + "-" + context.pipeline,
                             context.memory_limit_bytes / 3,
                             context.resolutions};
  return std::make_unique<KafkaSource>(context.env, std::move(options), std::move(rows));
}

protocol::LocalFileFacts::IfExists IfExistsOf(const plan::TableDef& table) {
  const std::string text = table.options.String("weir.sink.if-exists");
  if (text == "append") return protocol::LocalFileFacts::IfExists::kAppend;
  if (text == "overwrite") return protocol::LocalFileFacts::IfExists::kOverwrite;
  return protocol::LocalFileFacts::IfExists::kFail;
}

std::string ExtensionOf(const plan::TableDef& table) {
  return table.format == "raw" ? "txt" : table.format;
}

Result<std::unique_ptr<flow::SinkStage>> NewFileStage(const ConnectorContext& context,
                                                      const plan::TableDef& table,
                                                      const std::string& sink) {
  const Schema schema = SinkSchema(table);
  WEIR_ASSIGN_OR_RETURN(auto encoder, NewRowEncoder(table.format_spec, schema));
  auto rows = std::make_unique<RowStager>(std::move(encoder), schema);
  WEIR_ASSIGN_OR_RETURN(const std::string path, AbsolutePathOf(context, table));
  const auto stat = context.env.files.Stat(path);
  if (RollingByOptions(table) || (stat.has_value() && stat->is_directory)) {
    RollingOptions options{
        sink, path, ExtensionOf(table),
        static_cast<uint64_t>(table.options.Integer("sink.rolling-policy.file-size")),
        table.options.Integer("sink.rolling-policy.rollover-interval")};
    return std::make_unique<RollingStage>(context.env.files, context.env.clock, std::move(options),
                                          std::move(rows));
  }
  return std::make_unique<AppendStage>(
      context.env.files, AppendOptions{sink, path, IfExistsOf(table)}, std::move(rows));
}

}  // namespace

std::span<const plan::ConnectorSpec* const> AllConnectors() { return kConnectors; }

const plan::ConnectorSpec* FindConnector(std::string_view name) {
  const auto it = std::find_if(std::begin(kConnectors), std::end(kConnectors),
                               [&](const plan::ConnectorSpec* spec) { return spec->name == name; });
  return it == std::end(kConnectors) ? nullptr : *it;
}

bool IsDirectSink(const plan::TableDef& table) {
  return table.connector == &kPrintSpec || table.connector == &kBlackholeSpec;
}

bool NeedsDelivery(const plan::TableDef& table) {
  return table.connector == &kSqliteSpec || table.connector == &kKafkaSpec;
}

std::string TargetOf(const ConnectorContext& context, const plan::Plan& plan,
                     const plan::TableDef& table) {
  if (!NeedsDelivery(table)) return "";
  if (table.connector == &kKafkaSpec) return KafkaTargetOf(plan, table);
  const auto path = AbsolutePathOf(context, table);
  return std::string(kTargetPrefix) + (path.has_value() ? *path : table.options.String("path"));
}

Result<std::unique_ptr<flow::Source>> NewSource(const ConnectorContext& context,
                                                const plan::TableDef& table, const Schema&,
                                                const std::vector<int>& raw_columns) {
  if (table.connector == &kFilesystemSpec) return NewFileSource(context, table, raw_columns);
  if (table.connector == &kKafkaSpec) return NewKafkaSource(context, table, raw_columns);
  if (table.connector == &kDatagenSpec) {
    WEIR_ASSIGN_OR_RETURN(auto plan, MakeGeneratorPlan(table, raw_columns));
    return std::make_unique<DatagenSource>(context.env.clock, table.name, std::move(plan));
  }
  return Fail(Code::kInvalid, "table " + table.name + ": connector '" +
                                  std::string(table.connector->name) + "' cannot be read");
}

Result<std::unique_ptr<flow::SinkStage>> NewStage(const ConnectorContext& context,
                                                  const plan::TableDef& table,
                                                  const std::string& sink) {
  if (table.connector == &kFilesystemSpec) return NewFileStage(context, table, sink);
  if (IsDirectSink(table) || NeedsDelivery(table)) return std::unique_ptr<flow::SinkStage>();
  return Fail(Code::kInvalid, "table " + table.name + ": connector '" +
                                  std::string(table.connector->name) + "' cannot be written");
}

Result<std::unique_ptr<flow::SinkStage>> NewDeadLetterStage(const ConnectorContext& context,
                                                            const std::string& subject,
                                                            uint64_t max_bytes) {
  WEIR_ASSIGN_OR_RETURN(auto encoder, NewRowEncoder(FormatSpec(), flow::DeadLetterSchema()));
  auto rows = std::make_unique<RowStager>(std::move(encoder), flow::DeadLetterSchema());
  return std::make_unique<DeadLetterStage>(context.env.files,
                                           io::JoinPath(context.state_directory, "dead"), subject,
                                           max_bytes, std::move(rows));
}

Result<std::unique_ptr<flow::DirectSink>> NewDirectSink(const ConnectorContext& context,
                                                        const plan::TableDef* table,
                                                        const Schema& schema) {
  if (table != nullptr && table->connector == &kBlackholeSpec)
    return std::make_unique<BlackholeSink>();
  const bool has_format = table != nullptr && !table->format.empty();
  FormatSpec format = has_format ? table->format_spec : FormatSpec();
  format.zone = context.zone;
  WEIR_ASSIGN_OR_RETURN(auto encoder, NewRowEncoder(format, schema));
  const std::string identifier = table == nullptr ? "" : table->options.String("print-identifier");
  return std::make_unique<PrintSink>(
      std::move(encoder), schema, identifier.empty() ? "" : identifier + "> ",
      context.write_output ? context.write_output : WriteStandardOutput);
}

Result<std::unique_ptr<flow::SinkDelivery>> NewDelivery(
    const ConnectorContext& context, const std::vector<const plan::TableDef*>& tables) {
  CHECK(!tables.empty());
  if (tables.front()->connector == &kKafkaSpec) {
    return NewKafkaDelivery(context.env, NameOf(context), context.pipeline, tables, context.limits,
                            context.references);
  }
  std::vector<SqliteTable> targets;
  for (const plan::TableDef* table : tables) {
    CHECK(NeedsDelivery(*table));
    targets.push_back(MakeSqliteTable(*table));
  }
  WEIR_ASSIGN_OR_RETURN(const std::string path, AbsolutePathOf(context, *tables.front()));
  return std::make_unique<SqliteDelivery>(context.env.sqlite_vfs, path, context.pipeline,
                                          std::move(targets));
}

std::function<std::string_view(const Batch&, uint32_t row)> NewRowCheck(
    const ConnectorContext& context, const plan::TableDef& table) {
  CHECK(NeedsDelivery(table));
  return table.connector == &kKafkaSpec ? KafkaRowCheck(table, context.limits, context.env.clock)
                                        : SqliteRowCheck(table);
}

Reached Connect(const ConnectorContext& context, const plan::TableDef& table, bool as_sink) {
  if (table.connector != &kKafkaSpec) return {};
  ProbeFindings findings;
  ProbeKafka(ClientConfigOf(table, context.env, context.references), table, as_sink,
             KafkaSessionOf(table, NameOf(context), context.pipeline), findings);
  return {std::move(findings.errors), std::move(findings.notes)};
}

Schema SinkSchema(const plan::TableDef& table) {
  Schema schema;
  for (const ColumnDef& column : table.columns) {
    if (column.kind == ColumnDef::Kind::kPhysical ||
        (column.kind == ColumnDef::Kind::kMetadata && !column.is_virtual)) {
      schema.fields.push_back({column.name, column.type});
    }
  }
  return schema;
}

}  // namespace weir::connectors
