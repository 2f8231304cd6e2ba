// Which format the bytes of a record have, which columns they hold, and the options of each format.
// A record may have two parts, key and value (Kafka): 'format' is then the same as 'value.format'.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sql/bind_options.h"
#include "sql/keywords.h"

namespace weir::sql {

using plan::ColumnDef;
using plan::OptionSpec;
using plan::OptionValue;

namespace {

constexpr std::string_view kKeyFields = "key.fields";
constexpr std::string_view kKeyPrefix = "key.fields-prefix";
constexpr std::string_view kInclude = "value.fields-include";

std::string FormatList(const plan::ConnectorSpec& connector) {
  std::string list;
  for (const std::string_view format : connector.formats) {
    list += (list.empty() ? "" : ", ") + std::string(format);
  }
  return list;
}

bool HasParts(const plan::ConnectorSpec& connector) {
  return plan::FindOption(connector.options, "key.format") != nullptr;
}

}  // namespace

// Reports what is wrong with the name of a format.
bool OptionBinder::KnownFormat(const OptionAst& option, const plan::ConnectorSpec& connector) {
  const auto& formats = connector.formats;
  if (std::find(formats.begin(), formats.end(), option.value) != formats.end()) return true;
  const std::string list = FormatList(connector);
  if (!plan::LaterFormat(option.value).empty()) {
    diagnostics_.Error(option.value_at, NotInThisVersion("the format " + option.value),
                       "one of " + list);
    return false;
  }
  const std::vector<std::string_view> names(formats.begin(), formats.end());
  const std::string near = DidYouMean(option.value, names);
  diagnostics_.Error(option.value_at, "unknown format '" + option.value + "'",
                     near.empty() ? "one of " + list : near);
  return false;
}

bool OptionBinder::FindFormats(FormatOptions& formats, Position with_at, plan::TableDef& table) {
  const plan::ConnectorSpec& connector = *table.connector;
  if (!HasParts(connector)) {
    for (const OptionAst* part : {formats.value, formats.key}) {
      if (part != nullptr) UnknownOption(*part, table);
    }
    formats.value = formats.key = nullptr;
  }
  if (formats.plain != nullptr && formats.value != nullptr) {
    diagnostics_.Error(formats.value->key_at, "format and value.format are two words for one thing",
                       "give one of them");
    return false;
  }
  const OptionAst* option = formats.plain != nullptr ? formats.plain : formats.value;
  if (option == nullptr) {
    if (!connector.needs_format) return true;
    diagnostics_.Error(with_at, "the option format is missing", "one of " + FormatList(connector));
    return false;
  }
  if (connector.formats.empty()) {
    diagnostics_.Error(option->key_at,
                       "the connector " + std::string(connector.name) + " has no format");
    return false;
  }
  if (!KnownFormat(*option, connector)) return false;
  table.format = option->value;
  if (formats.key == nullptr) return true;
  if (!KnownFormat(*formats.key, connector)) return false;
  table.key_format = formats.key->value;
  return true;
}

// 'value.json.x' beside 'value.format', and 'key.json.x' beside 'key.format': Flink's spelling.
bool OptionBinder::BindPrefixedOption(const OptionAst& option, FormatOptions& formats,
                                      plan::TableDef& table) {
  const auto rest_after = [&](std::string_view prefix, const std::string& format) {
    const bool fits = !format.empty() && option.key.starts_with(std::string(prefix) + format + ".");
    return fits ? option.key.substr(prefix.size()) : std::string();
  };
  std::string name = rest_after("key.", table.key_format);
  const bool of_key = !name.empty();
  if (!of_key && formats.value != nullptr) name = rest_after("value.", table.format);
  if (name.empty()) return false;
  const OptionSpec* found =
      plan::FindOption(plan::FormatOptionSpecs(of_key ? table.key_format : table.format), name);
  if (found == nullptr) return false;
  OptionValue value;
  value.key_position = option.key_at;
  value.value_position = option.value_at;
  value.origin = "table option";
  if (!Expand(option.value, option.value_at, "", &value)) return true;
  Put(*found, option.key, std::move(value), "", of_key ? formats.of_key : table.options);
  return true;
}

// Fills key_columns and value_columns. False: reported.
bool OptionBinder::SplitColumns(const FormatOptions& formats, plan::TableDef& table) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind == ColumnDef::Kind::kPhysical)
      table.value_columns.push_back(static_cast<int>(i));
  }
  if (!HasParts(*table.connector)) return true;
  const OptionValue* fields =
      table.options.Has(kKeyFields) ? table.options.Find(kKeyFields) : nullptr;
  const OptionValue* prefix =
      table.options.Has(kKeyPrefix) ? table.options.Find(kKeyPrefix) : nullptr;
  const OptionValue* include = table.options.Find(kInclude);
  const bool except_key = include != nullptr && include->text == "EXCEPT_KEY";
  const size_t before = diagnostics_.errors();
  if (formats.key != nullptr && fields == nullptr)
    diagnostics_.Error(formats.key->key_at, "key.format needs key.fields, the columns in the key");
  if (formats.key == nullptr) {
    if (fields != nullptr)
      diagnostics_.Error(fields->key_position, "key.fields needs key.format, the key's format");
    if (except_key)
      diagnostics_.Error(include->key_position,
                         "value.fields-include = 'EXCEPT_KEY' needs key.format and key.fields");
  }
  if (prefix != nullptr && !except_key)
    diagnostics_.Error(prefix->key_position,
                       "key.fields-prefix needs value.fields-include = 'EXCEPT_KEY'",
                       "with 'ALL' the value would hold the prefixed names as well");
  if (fields == nullptr || diagnostics_.errors() != before) return diagnostics_.errors() == before;
  std::vector<std::string_view> names;
  for (const int column : table.value_columns)
    names.push_back(table.columns[static_cast<size_t>(column)].name);
  for (const std::string_view name : Split(fields->text, ';')) {
    const auto at = std::find(names.begin(), names.end(), name);
    const int column =
        at == names.end() ? -1 : table.value_columns[static_cast<size_t>(at - names.begin())];
    const bool twice = std::find(table.key_columns.begin(), table.key_columns.end(), column) !=
                       table.key_columns.end();
    if (column < 0) {
      diagnostics_.Error(
          fields->value_position,
          "key.fields: " + table.name + " has no physical column " + std::string(name),
          DidYouMean(name, names));
    } else if (twice) {
      diagnostics_.Error(fields->value_position,
                         "key.fields names " + std::string(name) + " twice");
    } else if (prefix != nullptr && !name.starts_with(prefix->text)) {
      diagnostics_.Error(fields->value_position, "key.fields: " + std::string(name) +
                                                     " does not begin with key.fields-prefix '" +
                                                     prefix->text + "'");
    }
    table.key_columns.push_back(column);
  }
  if (except_key) {
    std::erase_if(table.value_columns, [&](int column) {
      return std::find(table.key_columns.begin(), table.key_columns.end(), column) !=
             table.key_columns.end();
    });
  }
  return diagnostics_.errors() == before;
}

bool OptionBinder::BindFormatSpecs(FormatOptions& formats, Position at, const plan::Plan& plan,
                                   plan::TableDef& table) {
  if (!SplitColumns(formats, table)) return false;
  const auto max_bytes = static_cast<uint64_t>(plan.settings.Integer("weir.max-record-bytes"));
  const Result<FormatSpec> spec = plan::FormatSpecOf(table.format, table.options, plan.zone,
                                                     max_bytes, table.value_columns.size());
  if (!spec) {
    diagnostics_.Error(at, spec.error().message());
    return false;
  }
  table.format_spec = *spec;
  if (table.key_format.empty()) return true;
  formats.of_key.Declare(plan::FormatOptionSpecs(table.key_format));
  const Result<FormatSpec> key = plan::FormatSpecOf(table.key_format, formats.of_key, plan.zone,
                                                    max_bytes, table.key_columns.size());
  if (!key) {
    diagnostics_.Error(formats.key->value_at, key.error().message());
    return false;
  }
  table.key_format_spec = *key;
  return true;
}

// json.ignore-parse-errors is Flink's word for what weir.on-error says.
void OptionBinder::ApplyIgnoreParseErrors(plan::TableDef& table) {
  const std::string key = table.format + ".ignore-parse-errors";
  const OptionSpec* spec = plan::FindOption(plan::FormatOptionSpecs(table.format), key);
  if (spec == nullptr || !table.options.Has(key)) return;
  OptionValue value = *table.options.Find(key);
  const std::string wanted = table.options.Boolean(key) ? "dead-letter" : "fail";
  if (table.options.Has("weir.on-error")) {
    if (table.options.String("weir.on-error") != wanted) {
      diagnostics_.Error(value.key_position, key + " and weir.on-error contradict each other");
    }
    return;
  }
  value.text = wanted;
  value.origin = "table option " + key;
  table.options.Put(*plan::FindOption(plan::CommonTableOptionSpecs(), "weir.on-error"),
                    std::move(value));
}

}  // namespace weir::sql
