// What is checked when a table is first read or written.
#include <utility>

#include "sql/bind_table.h"
#include "sql/keywords.h"

namespace weir::sql {

using plan::ColumnDef;
using plan::OptionSpec;
using plan::TableDef;

std::vector<int> SinkColumns(const TableDef& table) {
  std::vector<int> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const ColumnDef& column = table.columns[i];
    const bool taken = column.kind == ColumnDef::Kind::kPhysical ||
                       (column.kind == ColumnDef::Kind::kMetadata && !column.is_virtual);
    if (taken) columns.push_back(static_cast<int>(i));
  }
  return columns;
}

namespace {

void CheckOptionRoles(const TableDef& table, bool as_sink, Position at, Diagnostics& diagnostics) {
  for (const auto& specs : SpecsOf(table)) {
    for (const auto& [name, value] : table.options.all()) {
      const OptionSpec* spec = plan::FindOption(specs, name);
      if (spec == nullptr || value.origin == "default") continue;
      if (as_sink ? spec->sink : spec->source) continue;
      diagnostics.Error(value.key_position,
                        "option " + name + " is for " + (as_sink ? "sources" : "sinks") + ", and " +
                            table.name + " is " + (as_sink ? "written" : "read"));
    }
    for (const OptionSpec& spec : specs) {
      const bool fits = as_sink ? spec.sink : spec.source;
      if (!spec.required || !fits || (spec.source && spec.sink)) continue;
      if (table.options.Has(spec.name)) continue;
      diagnostics.Error(table.position, "required option " + std::string(spec.name) + " is missing",
                        table.name + " is used in line " + std::to_string(at.line));
    }
  }
}

// Where a message about a table points: at the option that it names, else at the table's name.
Position PlaceOf(const TableDef& table, std::string_view message) {
  for (const auto& [name, value] : table.options.all()) {
    if (value.value_position.line != 0 && message.find(name) != std::string_view::npos)
      return value.value_position;
  }
  return table.position;
}

// The bytes of a record: its value, and its key where there is one.
struct Part {
  const char* what;
  const std::string& format;
  const FormatSpec& spec;
  const std::vector<int>& columns;
};

std::vector<Part> PartsOf(const TableDef& table) {
  std::vector<Part> parts;
  if (!table.format.empty())
    parts.push_back({"", table.format, table.format_spec, table.value_columns});
  if (!table.key_format.empty())
    parts.push_back({" as key", table.key_format, table.key_format_spec, table.key_columns});
  return parts;
}

bool CheckRaw(const TableDef& table, const Part& part, Diagnostics& diagnostics) {
  if (part.format != "raw" || part.columns.size() == 1) return true;
  diagnostics.Error(table.position, std::string("the format raw") + part.what +
                                        " needs a table of one physical column, " + table.name +
                                        " has " + std::to_string(part.columns.size()));
  return false;
}

void CheckDecoder(const TableDef& table, Diagnostics& diagnostics) {
  for (const Part& part : PartsOf(table)) {
    std::vector<DecodeField> fields;
    for (const int index : part.columns) {
      const ColumnDef& column = table.columns[static_cast<size_t>(index)];
      const int position = static_cast<int>(fields.size());
      fields.push_back({column.name, column.type, position, position});
    }
    if (!CheckRaw(table, part, diagnostics)) continue;
    const auto decoder = NewRowDecoder(part.spec, fields);
    if (decoder) continue;
    diagnostics.Error(PlaceOf(table, decoder.error().message()),
                      "the format " + part.format + part.what + " cannot read " + table.name +
                          ": " + decoder.error().message());
  }
}

void CheckEncoder(const TableDef& table, Diagnostics& diagnostics) {
  for (const Part& part : PartsOf(table)) {
    if (part.format == "regex") {
      diagnostics.Error(table.position,
                        "the format regex only reads, and " + table.name + " is written",
                        "use json, csv or raw");
      continue;
    }
    Schema schema;
    for (const int index : part.columns) {
      const ColumnDef& column = table.columns[static_cast<size_t>(index)];
      schema.fields.push_back({column.name, column.type});
    }
    if (!CheckRaw(table, part, diagnostics)) continue;
    const auto encoder = NewRowEncoder(part.spec, schema);
    if (encoder) continue;
    diagnostics.Error(table.position, "the format " + part.format + part.what + " cannot write " +
                                          table.name + ": " + encoder.error().message());
  }
}

bool Writable(const TableDef& table, const ColumnDef& column) {
  for (const plan::MetadataSpec& spec : table.connector->metadata) {
    if (spec.key == column.metadata_key) return spec.writable;
  }
  return false;
}

bool CheckConnector(const TableDef& table, bool as_sink, Diagnostics& diagnostics) {
  if (table.connector->check == nullptr) return true;
  std::vector<plan::Diagnostic> found;
  table.connector->check(table, as_sink, found);
  const size_t before = diagnostics.errors();
  for (plan::Diagnostic& d : found) {
    const Position at = d.position.line == 0 ? PlaceOf(table, d.message) : d.position;
    switch (d.severity) {
      case plan::Diagnostic::Severity::kError:
        diagnostics.Error(at, std::move(d.message), std::move(d.hint));
        break;
      case plan::Diagnostic::Severity::kWarning:
        diagnostics.Warning(at, std::move(d.message), std::move(d.hint));
        break;
      case plan::Diagnostic::Severity::kNote:
        diagnostics.Note(at, std::move(d.message), std::move(d.hint));
        break;
    }
  }
  return diagnostics.errors() == before;
}

bool CheckBoth(const Table& table, Diagnostics& diagnostics) {
  if (table.read_at.line == 0 || table.written_at.line == 0) return true;
  diagnostics.Error(table.written_at, table.def->name + " is read and written by one pipeline",
                    "write to another table, or make two pipelines");
  return false;
}

}  // namespace

bool CheckSource(Table& table, Position at, Context& context) {
  if (table.broken) return false;
  if (table.read_at.line != 0) return table.source_ok;
  table.read_at = at;
  Diagnostics& diagnostics = context.diagnostics;
  const TableDef& def = *table.def;
  if (!def.connector->source) {
    diagnostics.Error(
        at, def.name + " cannot be read: " + std::string(def.connector->name) + " is a sink only");
    return false;
  }
  const size_t before = diagnostics.errors();
  CheckOptionRoles(def, false, at, diagnostics);
  CheckBoth(table, diagnostics);
  if (diagnostics.errors() == before) {
    CheckDecoder(def, diagnostics);
    CheckConnector(def, false, diagnostics);
  }
  table.source_ok = diagnostics.errors() == before;
  return table.source_ok;
}

bool CheckSink(Table& table, Position at, Context& context) {
  if (table.broken) return false;
  if (table.written_at.line != 0) return table.sink_ok;
  table.written_at = at;
  Diagnostics& diagnostics = context.diagnostics;
  const TableDef& def = *table.def;
  if (!def.connector->sink) {
    diagnostics.Error(at, def.name + " cannot be written: " + std::string(def.connector->name) +
                              " is a source only");
    return false;
  }
  const size_t before = diagnostics.errors();
  CheckOptionRoles(def, true, at, diagnostics);
  CheckBoth(table, diagnostics);
  for (const int index : SinkColumns(def)) {
    const ColumnDef& column = def.columns[static_cast<size_t>(index)];
    if (column.kind != ColumnDef::Kind::kMetadata || Writable(def, column)) continue;
    diagnostics.Error(column.position,
                      "METADATA column " + column.name + " cannot be written by " +
                          std::string(def.connector->name),
                      "make it VIRTUAL: it is then left out of the sink");
  }
  if (SinkColumns(def).empty()) {
    diagnostics.Error(at, def.name + " has no column that could be written");
  }
  if (diagnostics.errors() == before) {
    CheckEncoder(def, diagnostics);
    CheckConnector(def, true, diagnostics);
  }
  table.sink_ok = diagnostics.errors() == before;
  return table.sink_ok;
}

namespace {

// One spelling for one place: file:// and ./ and doubled slashes do not count.
std::string PlainPath(std::string path) {
  if (path.starts_with("file://")) path.erase(0, 7);
  std::string out;
  for (size_t i = 0; i < path.size(); ++i) {
    const bool at_start = out.empty() || out.back() == '/';
    if (path[i] == '/' && !out.empty() && out.back() == '/') continue;
    if (at_start && path.compare(i, 2, "./") == 0) {
      ++i;
      continue;
    }
    out += path[i];
  }
  return out;
}

// Connector, identity options and address: what two tables must not share. Empty: nothing can be
// shared. An address is no part of a table's identity, since it may change; but one topic name at
// two addresses is two outputs. (That both lead to one cluster is found out at the first contact.)
std::string IdentityOf(const TableDef& table) {
  std::string out;
  for (const OptionSpec& spec : table.connector->options) {
    const bool counts = spec.identity || spec.name == "properties.bootstrap.servers";
    const plan::OptionValue* value = counts ? table.options.Find(spec.name) : nullptr;
    if (value == nullptr && spec.identity && spec.default_is_table_name) {
      out += std::string(spec.name) + "=" + table.name + "\n";
    }
    if (value == nullptr) continue;
    out += std::string(spec.name) + "=" +
           (spec.name == "path" ? PlainPath(value->text) : value->text) + "\n";
  }
  return out.empty() ? out : std::string(table.connector->name) + "\n" + out;
}

std::string PathOf(const TableDef& table) {
  for (const OptionSpec& spec : table.connector->options) {
    if (spec.name != "path") continue;
    const plan::OptionValue* value = table.options.Find("path");
    return value == nullptr ? "" : PlainPath(value->text);
  }
  return "";
}

// Whether what is written at `output` would be read at `input`, a file or a directory.
bool Feeds(std::string output, std::string input) {
  if (output.empty() || input.empty()) return false;
  while (output.size() > 1 && output.ends_with('/')) output.pop_back();
  while (input.size() > 1 && input.ends_with('/')) input.pop_back();
  return output == input || output.starts_with(input + "/");
}

}  // namespace

void CheckOutputs(Context& context) {
  std::map<std::string, const TableDef*> outputs;
  for (auto& [name, entry] : context.entries) {
    if (!entry.table || !entry.table->sink_ok) continue;
    const TableDef& table = *entry.table->def;
    const std::string identity = IdentityOf(table);
    if (!identity.empty()) {
      const auto [it, fresh] = outputs.emplace(identity, &table);
      if (!fresh) {
        const bool later = table.position.line > it->second->position.line;
        const TableDef& second = later ? table : *it->second;
        const TableDef& first = later ? *it->second : table;
        context.diagnostics.Error(second.position,
                                  second.name + " and " + first.name + " have one output",
                                  "several INSERTs into one table share its output");
      }
    }
    for (auto& [source_name, source] : context.entries) {
      if (!source.table || !source.table->source_ok) continue;
      const TableDef& input = *source.table->def;
      if (input.connector != table.connector || !Feeds(PathOf(table), PathOf(input))) continue;
      context.diagnostics.Error(table.position,
                                table.name + " writes where " + input.name + " reads",
                                "the pipeline would read its own output");
    }
  }
}

}  // namespace weir::sql
