#include "sql/bind_options.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "plan/references.h"
#include "sql/keywords.h"

namespace weir::sql {

using plan::OptionSpec;
using plan::OptionValue;

namespace {

std::string Placed(const std::string& place, std::string message) {
  return place.empty() ? message : place + ": " + message;
}

std::string StemOf(std::string_view file) {
  const size_t slash = file.rfind('/');
  if (slash != std::string_view::npos) file.remove_prefix(slash + 1);
  const size_t dot = file.rfind('.');
  if (dot != std::string_view::npos && dot > 0) file = file.substr(0, dot);
  return file.empty() ? "pipeline" : std::string(file);
}

}  // namespace

std::vector<std::span<const OptionSpec>> SpecsOf(const plan::TableDef& table) {
  return {table.connector->options, plan::FormatOptionSpecs(table.format),
          plan::CommonTableOptionSpecs()};
}

bool OptionBinder::Expand(const std::string& written, Position at, const std::string& place,
                          OptionValue* out) {
  plan::Expansion expansion = plan::ExpandReferences(written, input_.secret);
  if (!expansion.error.empty()) {
    diagnostics_.Error(at, Placed(place, expansion.error), expansion.hint);
    return false;
  }
  out->written = written;
  out->text = std::move(expansion.text);
  out->secret = out->secret || expansion.secret;
  return true;
}

void OptionBinder::Put(const OptionSpec& spec, const std::string& shown_key, OptionValue value,
                       const std::string& place, plan::Options& options) {
  const Status status = plan::CheckOptionValue(spec, value.text);
  if (status.ok()) return options.Put(spec, std::move(value));
  // What a ${} stands for may be a secret, and is never shown.
  const std::string why = value.text == value.written
                              ? status.message()
                              : "the value of " + value.written + " is not allowed";
  diagnostics_.Error(value.value_position, Placed(place, shown_key + ": " + why));
}

void OptionBinder::BindSet(const std::string& key, const std::string& text, OptionValue value,
                           const std::string& place, plan::Plan& plan) {
  const OptionSpec* spec = plan::FindOption(plan::SetOptionSpecs(), key);
  if (spec == nullptr) {
    const std::string_view later = plan::LaterSetKey(key);
    std::vector<std::string_view> names;
    for (const OptionSpec& known : plan::SetOptionSpecs()) names.push_back(known.name);
    diagnostics_.Error(value.key_position,
                       Placed(place, later.empty() ? "unknown SET key " + key
                                                   : NotInThisVersion("SET key " + key)),
                       later.empty() ? DidYouMean(key, names) : std::string(later));
    return;
  }
  if (!Expand(text, value.value_position, place, &value)) return;
  Put(*spec, key, std::move(value), place, plan.settings);
}

void OptionBinder::BindSettings(const std::vector<StatementAst>& script, plan::Plan& plan) {
  for (const auto& [key, given] : input_.set_defaults) {
    OptionValue value;
    value.origin = given.origin;
    BindSet(key, given.text, std::move(value), given.place, plan);
  }
  std::map<std::string, Position> seen;
  for (const StatementAst& statement : script) {
    if (statement.kind != StatementAst::Kind::kSet) continue;
    const OptionAst& set = statement.set;
    const auto [first, fresh] = seen.emplace(set.key, set.key_at);
    if (!fresh) {
      diagnostics_.Error(
          set.key_at,
          "SET '" + set.key + "' stands twice, first in line " + std::to_string(first->second.line),
          "a file is one job and has one value for it");
      continue;
    }
    OptionValue value;
    value.key_position = set.key_at;
    value.value_position = set.value_at;
    value.origin = "SET";
    BindSet(set.key, set.value, std::move(value), "", plan);
  }
  for (const auto& [key, given] : input_.set_overrides) {
    OptionValue value;
    value.origin = given.origin;
    BindSet(key, given.text, std::move(value), given.place, plan);
  }
  plan.settings.Declare(plan::SetOptionSpecs());
  plan.pipeline_name = plan.settings.String("pipeline.name");
  if (plan.settings.Has("pipeline.name")) {
    const std::string mistake = NameMistake(plan.pipeline_name);
    if (!mistake.empty()) {
      diagnostics_.Error(plan.settings.Find("pipeline.name")->value_position,
                         "pipeline.name: the name " + mistake,
                         "receipts in databases and log lines carry it");
    }
  }
  if (plan.pipeline_name.empty()) plan.pipeline_name = StemOf(input_.file_name);
  const OptionValue* zone = plan.settings.Find("table.local-time-zone");
  const Result<SessionZone> parsed = ParseZone(zone->text);
  if (parsed) {
    plan.zone = *parsed;
  } else {
    diagnostics_.Error(zone->value_position, "table.local-time-zone: " + parsed.error().message(),
                       "named zones are not in this version");
  }
}

bool OptionBinder::FindConnector(const OptionAst& option, plan::TableDef& table) {
  std::string list;
  std::vector<std::string_view> names;
  for (const plan::ConnectorSpec* spec : input_.connectors) {
    if (spec->name == option.value) {
      table.connector = spec;
      return true;
    }
    names.push_back(spec->name);
    list += (list.empty() ? "" : ", ") + std::string(spec->name);
  }
  static constexpr std::string_view kLater[] = {
      "upsert-kafka", "http",       "s3",         "jdbc",   "postgres-cdc",       "mysql-cdc",
      "postgresql",   "clickhouse", "mqtt",       "redis",  "elasticsearch-7",    "mongodb",
      "pulsar",       "kinesis",    "opensearch", "socket", "python-input-format"};
  for (const std::string_view later : kLater) {
    if (later != option.value) continue;
    diagnostics_.Error(option.value_at, NotInThisVersion("the connector " + option.value),
                       "there are " + list);
    return false;
  }
  std::string near = DidYouMean(option.value, names);
  for (const std::string_view name : names) {
    if (near.empty() && option.value.size() >= 3 && name.starts_with(option.value))
      near = "did you mean " + std::string(name) + "?";  // 'file' for 'filesystem'
  }
  diagnostics_.Error(option.value_at, "unknown connector '" + option.value + "'",
                     near.empty() ? "there are " + list : near);
  return false;
}

void OptionBinder::UnknownOption(const OptionAst& option, const plan::TableDef& table) {
  const std::string_view later = plan::LaterTableOption(option.key);
  if (!later.empty()) {
    diagnostics_.Error(option.key_at, NotInThisVersion("option " + option.key), std::string(later));
    return;
  }
  for (const std::string_view format : plan::FormatNames()) {
    if (format == table.format ||
        plan::FindOption(plan::FormatOptionSpecs(format), option.key) == nullptr) {
      continue;
    }
    diagnostics_.Error(option.key_at, "option " + option.key + " belongs to the format " +
                                          std::string(format) + ", this table's is " +
                                          (table.format.empty() ? "not set" : table.format));
    return;
  }
  if (plan::FindOption(plan::SetOptionSpecs(), option.key) != nullptr) {
    diagnostics_.Error(option.key_at, option.key + " is a SET key, no table option",
                       "SET '" + option.key + "' = '" + option.value + "';");
    return;
  }
  std::vector<std::string_view> names = {"connector", "format"};
  for (const auto& specs : SpecsOf(table)) {
    for (const OptionSpec& spec : specs) names.push_back(spec.name);
  }
  std::string hint = DidYouMean(option.key, names);
  for (const std::string_view name : names) {
    // 'monitor-interval' for 'source.monitor-interval'.
    if (hint.empty() && name.ends_with("." + option.key))
      hint = "did you mean " + std::string(name) + "?";
  }
  diagnostics_.Error(option.key_at, "unknown option " + option.key, std::move(hint));
}

void OptionBinder::BindOption(const OptionAst& option, plan::TableDef& table) {
  const OptionSpec* found = nullptr;
  std::string_view column;
  for (const auto& specs : SpecsOf(table)) {
    if (found == nullptr) found = plan::FindOption(specs, option.key, &column);
  }
  if (found == nullptr) return UnknownOption(option, table);
  OptionSpec spec = *found;
  spec.name = option.key;
  if (!column.empty()) {
    std::vector<std::string_view> names;
    for (const plan::ColumnDef& def : table.columns) names.push_back(def.name);
    if (std::find(names.begin(), names.end(), column) == names.end()) {
      diagnostics_.Error(option.key_at, table.name + " has no column " + std::string(column),
                         DidYouMean(column, names));
      return;
    }
  }
  OptionValue value;
  value.key_position = option.key_at;
  value.value_position = option.value_at;
  value.origin = "table option";
  if (!Expand(option.value, option.value_at, "", &value)) return;
  Put(spec, option.key, std::move(value), "", table.options);
}

void OptionBinder::CheckRequired(const plan::TableDef& table, Position at,
                                 const std::map<std::string_view, Position>& given) {
  for (const auto& specs : SpecsOf(table)) {
    for (const OptionSpec& spec : specs) {
      // What only a source or only a sink needs is checked when the table is used as one.
      if (!spec.required || !spec.source || !spec.sink || given.contains(spec.name)) continue;
      diagnostics_.Error(at, "required option " + std::string(spec.name) + " is missing");
    }
  }
}

bool OptionBinder::BindTable(const StatementAst& ast, const plan::Plan& plan,
                             plan::TableDef& table) {
  const OptionAst* connector = nullptr;
  FormatOptions formats;
  std::map<std::string_view, Position> seen;
  std::vector<const OptionAst*> others;
  for (const OptionAst& option : ast.options) {
    if (!seen.emplace(option.key, option.key_at).second) {
      diagnostics_.Error(option.key_at, "option " + option.key + " stands twice");
      continue;
    }
    if (option.key == "connector") {
      connector = &option;
    } else if (option.key == "format") {
      formats.plain = &option;
    } else if (option.key == "value.format") {
      formats.value = &option;
    } else if (option.key == "key.format") {
      formats.key = &option;
    } else {
      others.push_back(&option);
    }
  }
  if (connector == nullptr) {
    diagnostics_.Error(ast.options_at, "the option connector is missing");
    return false;
  }
  if (!FindConnector(*connector, table)) return false;
  const bool has_format = FindFormats(formats, ast.options_at, table);
  for (const OptionAst* option : others) {
    // Options of a format that is not known cannot be judged.
    const bool of_format = option->key.find('.') != std::string::npos && !has_format &&
                           formats.plain != nullptr &&
                           option->key.starts_with(formats.plain->value + ".");
    if (of_format || BindPrefixedOption(*option, formats, table)) continue;
    BindOption(*option, table);
  }
  for (const auto& specs : SpecsOf(table)) table.options.Declare(specs);
  CheckRequired(table, ast.options_at, seen);
  if (!has_format) return false;
  ApplyIgnoreParseErrors(table);
  return BindFormatSpecs(formats, ast.options_at, plan, table);
}

}  // namespace weir::sql
