#include "connectors/testing/connector_world.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "data/format.h"
#include "flow/dead_letters.h"

namespace weir::connectors {

World::World(std::unique_ptr<io::SimFiles> files, const char* vfs)
    : files_(std::move(files)), env_{*files_,
                                     clock_,
                                     random_,
                                     machine_,
                                     completions_,
                                     [](const char*, io::CompletionQueue& queue) { return io::NewInlineWorker(queue); },
                                     vfs} {}

std::string World::Content(const std::string& path) {
  return io::ReadFile(*files_, path, 64 << 20).value_or("<none>");
}

void World::Append(const std::string& path, std::string_view bytes) {
  const auto file = files_->Open(path, io::OpenMode::kCreate);
  CHECK(file.has_value());
  CHECK((*file)->WriteAt((*file)->Stat()->size, bytes).ok());
}

namespace {

// Key and value as the binder splits them.
void SplitKey(const TableParts& parts, plan::TableDef& table) {
  const bool except_key =
      !parts.key_format.empty() && table.options.String("value.fields-include") == "EXCEPT_KEY";
  const std::string fields = parts.key_format.empty() ? "" : table.options.String("key.fields");
  const std::vector<std::string_view> keys = Split(fields, ';');
  for (size_t i = 0; i < parts.columns.size(); ++i) {
    const bool in_key = std::find(keys.begin(), keys.end(), parts.columns[i].first) != keys.end();
    if (!in_key || !except_key) table.value_columns.push_back(static_cast<int>(i));
  }
  if (parts.key_format.empty()) return;
  for (const std::string_view key : keys) {
    const auto at = std::find_if(parts.columns.begin(), parts.columns.end(),
                                 [&](const auto& column) { return column.first == key; });
    CHECK(at != parts.columns.end());
    table.key_columns.push_back(static_cast<int>(at - parts.columns.begin()));
  }
  plan::Options options;
  options.Declare(plan::FormatOptionSpecs(parts.key_format));
  const auto format =
      plan::FormatSpecOf(parts.key_format, options, {}, 1 << 20, table.key_columns.size());
  CHECK(format.has_value());
  table.key_format = parts.key_format;
  table.key_format_spec = *format;
}

}  // namespace

std::unique_ptr<plan::TableDef> MakeTable(const TableParts& parts) {
  auto table = std::make_unique<plan::TableDef>();
  table->name = parts.name;
  table->connector = FindConnector(parts.connector);
  CHECK(table->connector != nullptr);
  table->format = table->connector->formats.empty() ? "" : parts.format;
  table->options.Declare(table->connector->options);
  if (!table->format.empty()) table->options.Declare(plan::FormatOptionSpecs(table->format));
  for (const auto& [name, text] : parts.options) {
    const plan::OptionSpec* spec = plan::FindOption(table->connector->options, name);
    if (spec == nullptr) spec = plan::FindOption(plan::FormatOptionSpecs(parts.format), name);
    CHECK(spec != nullptr);
    CHECK(plan::CheckOptionValue(*spec, text).ok());
    plan::OptionSpec named = *spec;
    named.name = name;
    table->options.Put(named, {text, text, false, {}, {}, "table option"});
  }
  for (const auto& [name, type] : parts.columns)
    table->columns.push_back(
        {plan::ColumnDef::Kind::kPhysical, name, type, {}, nullptr, "", false});
  for (const auto& [name, key] : parts.metadata) {
    const auto spec =
        std::find_if(table->connector->metadata.begin(), table->connector->metadata.end(),
                     [&](const auto& m) { return m.key == key; });
    CHECK(spec != table->connector->metadata.end());
    table->columns.push_back(
        {plan::ColumnDef::Kind::kMetadata, name, spec->type, {}, nullptr, key, true});
  }
  table->primary_key = parts.primary_key;
  SplitKey(parts, *table);
  if (!table->format.empty()) {
    const auto format =
        plan::FormatSpecOf(table->format, table->options, {}, 1 << 20, table->value_columns.size());
    CHECK(format.has_value());
    table->format_spec = *format;
  }
  return table;
}

std::vector<int> RawColumns(const plan::TableDef& table) {
  std::vector<int> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) columns.push_back(static_cast<int>(i));
  return columns;
}

Schema RawSchema(const plan::TableDef& table) {
  Schema schema;
  for (const plan::ColumnDef& column : table.columns)
    schema.fields.push_back({column.name, column.type});
  return schema;
}

void FillInts(const std::vector<int64_t>& values, Batch& out) {
  out.Reset(Schema{{{"v", Type::Of(TypeKind::kInt)}}}, static_cast<uint32_t>(values.size()));
  Column& column = out.mutable_column(0);
  for (size_t i = 0; i < values.size(); ++i) {
    column.valid[i] = 1;
    column.ints[i] = values[i];
  }
}

void DeadOutputs::Dead(const Batch& batch) {
  const size_t record = *flow::DeadLetterSchema().Find("record");
  const size_t message = *flow::DeadLetterSchema().Find("message");
  batch.ForEachSelected([&](uint32_t row) {
    records.push_back(std::string(batch.column(record).strings[row]) + " " +
                      std::string(batch.column(message).strings[row]));
  });
}

SourceDriver::SourceDriver(const ConnectorContext& context, const plan::TableDef& table)
    : schema_(RawSchema(table)), table_name_(table.name) {
  auto source = NewSource(context, table, schema_, RawColumns(table));
  CHECK(source.has_value());
  source_ = std::move(*source);
}

Status SourceDriver::Open(const std::map<std::string, std::string>& from,
                          const std::string& source_state) {
  saved = from;
  state = source_state;
  std::vector<flow::SavedPosition> positions;
  for (const auto& [key, blob] : from) positions.push_back({key, blob});
  WEIR_RETURN_IF_ERROR(source_->Open(positions, source_state));
  Discover();
  return Status::Ok();
}

void SourceDriver::Discover() {
  std::vector<flow::PartitionInfo> found;
  CHECK(source_->Discover(found).ok());
  for (flow::PartitionInfo& info : found) {
    CHECK(static_cast<size_t>(info.index) == partitions_.size());
    ended_.push_back(info.finished);
    positions_.push_back(-1);
    changed_.push_back(false);
    partitions_.push_back(std::move(info));
  }
}

Result<flow::ReadState> SourceDriver::ReadOnce(flow::PartitionIndex partition, uint32_t max_rows,
                                               std::vector<std::string>& rows) {
  batch_.Reset(schema_);
  const auto read = source_->Read(partition, max_rows, batch_);
  if (!read.has_value()) return read;
  CHECK(batch_.rows() <= max_rows && batch_.positions.size() == batch_.rows() &&
        batch_.partition == partition);
  size_t next = 0;
  for (uint32_t row = 0; row <= batch_.rows(); ++row) {
    for (; next < batch_.non_rows.size() && batch_.non_rows[next].before_row == row; ++next) {
      const NonRow& record = batch_.non_rows[next];
      rows.push_back(record.skipped ? "skipped" : "dead " + record.code);
    }
    if (row == batch_.rows()) break;
    rows.emplace_back();
    AppendRecordJson(batch_, row, schema_, rows.back());
  }
  CHECK(next == batch_.non_rows.size());
  positions_[static_cast<size_t>(partition)] = batch_.end_position;
  changed_[static_cast<size_t>(partition)] = true;
  if (*read == flow::ReadState::kEnd) ended_[static_cast<size_t>(partition)] = true;
  return read;
}

std::vector<std::string> SourceDriver::ReadAll(uint32_t max_rows) {
  std::vector<std::string> rows;
  for (bool progress = true; progress;) {
    progress = false;
    Discover();
    for (size_t i = 0; i < partitions_.size(); ++i) {
      while (!ended_[i]) {
        const auto read = ReadOnce(static_cast<flow::PartitionIndex>(i), max_rows, rows);
        CHECK(read.has_value());
        if (*read == flow::ReadState::kWait) break;
        progress = true;
      }
    }
  }
  return rows;
}

void SourceDriver::Seal() {
  if (auto frozen = source_->FreezeSourceState()) state = *frozen;
  for (size_t i = 0; i < partitions_.size(); ++i) {
    if (!changed_[i]) continue;
    changed_[i] = false;
    const auto blob = source_->EncodePosition(static_cast<flow::PartitionIndex>(i), positions_[i]);
    CHECK(blob.has_value());
    saved[partitions_[i].key] = *blob;
    source_->Release(static_cast<flow::PartitionIndex>(i), positions_[i]);
  }
  std::vector<std::string> forgotten;
  source_->TakeForgotten(forgotten);
  for (const std::string& key : forgotten) saved.erase(key);
}

bool SourceDriver::AllEnded() const {
  return std::find(ended_.begin(), ended_.end(), false) == ended_.end();
}

}  // namespace weir::connectors
