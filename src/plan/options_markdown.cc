// docs/options.md and `weir explain --connectors`, from the same tables that check what users
// write.
#include <string>

#include "base/units.h"
#include "plan/explain.h"

namespace weir::plan {
namespace {

std::string TypeText(const OptionSpec& spec) {
  switch (spec.type) {
    case OptionType::kString:
      return "text";
    case OptionType::kBoolean:
      return "true or false";
    case OptionType::kInteger:
      return "whole number";
    case OptionType::kDuration:
      return "duration";
    case OptionType::kSize:
      return "size";
    case OptionType::kCharacter:
      return "one character";
    case OptionType::kEnum: {
      std::string out;
      for (const char c : spec.choices) out += c == '|' ? std::string(", ") : std::string(1, c);
      return out;
    }
  }
  return "";
}

std::string NumberText(const OptionSpec& spec, int64_t number) {
  if (spec.type == OptionType::kDuration) return FormatDurationMs(number);
  if (spec.type == OptionType::kSize) return FormatSizeBytes(number);
  return std::to_string(number);
}

std::string RangeText(const OptionSpec& spec) {
  const bool number = spec.type == OptionType::kDuration || spec.type == OptionType::kSize ||
                      spec.type == OptionType::kInteger;
  if (!number) return "";
  std::string out;
  if (spec.min != 0) out += "from " + NumberText(spec, spec.min);
  if (spec.max != INT64_MAX) out += (out.empty() ? "to " : " to ") + NumberText(spec, spec.max);
  return out;
}

// A | would end the cell.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string UseText(const OptionSpec& spec) {
  if (spec.source && spec.sink) return "both";
  return spec.source ? "source" : "sink";
}

void AppendTable(std::span<const OptionSpec> specs, bool with_use, std::string& out) {
  out += with_use ? "| option | type | default | range | for | what |\n|---|---|---|---|---|---|\n"
                  : "| key | type | default | range | what |\n|---|---|---|---|---|\n";
  for (const OptionSpec& spec : specs) {
    std::string value = spec.required ? "**required**" : "";
    if (!spec.default_value.empty()) value = "`" + Cell(spec.default_value) + "`";
    out += "| `" + std::string(spec.name) + "` | " + TypeText(spec) + " | " + value + " | " +
           RangeText(spec) + " | ";
    if (with_use) out += UseText(spec) + " | ";
    out += Cell(spec.doc) + " |\n";
  }
}

std::string Uses(const ConnectorSpec& spec) {
  if (spec.source && spec.sink) return "source and sink";
  return spec.source ? "source" : "sink";
}

std::string GuaranteeText(const ConnectorSpec& spec) {
  if (!spec.sink) return "";
  std::string out =
      spec.sink_guarantee == Guarantee::kExactlyOnce ? "exactly once" : "at least once";
  if (!spec.sink_guarantee_reason.empty())
    out += " (" + std::string(spec.sink_guarantee_reason) + ")";
  return out;
}

std::string FormatList(const ConnectorSpec& spec) {
  std::string out;
  for (const std::string_view format : spec.formats) {
    if (!out.empty()) out += ", ";
    out += format;
  }
  return out;
}

void AppendConnector(const ConnectorSpec& spec, std::string& out) {
  out += "\n### " + std::string(spec.name) + "\n\n" + std::string(spec.doc) + "\n\n";
  out += "Used as: " + Uses(spec) + ".";
  if (spec.sink) out += " Guarantee of the sink: " + GuaranteeText(spec) + ".";
  if (spec.sink_accepts_updates) out += " Upsert by PRIMARY KEY is possible.";
  if (!spec.formats.empty()) out += " Formats: " + FormatList(spec) + ".";
  out += "\n\n";
  if (!spec.options.empty()) AppendTable(spec.options, true, out);
  if (spec.metadata.empty()) return;
  out += spec.options.empty() ? "" : "\n";
  out += "| METADATA column | type | what |\n|---|---|---|\n";
  for (const MetadataSpec& metadata : spec.metadata) {
    out += "| `" + std::string(metadata.key) + "` | " + metadata.type.ToString() + " | " +
           Cell(metadata.doc) + " |\n";
  }
}

}  // namespace

std::string OptionsMarkdown(std::span<const ConnectorSpec* const> connectors) {
  std::string out =
      "# Options\n\n"
      "This page is generated from the tables in the code; `weir check` uses the same ones. "
      "Durations need a "
      "unit (`2 s`, `500 ms`, `5 min`, `1 h`, `1 d`), sizes too (`64 KiB`, `1 MiB`, `4 GiB`; "
      "powers of 1024).\n"
      "A value may hold `${NAME}` (environment), `${cred:name}` (systemd credential) and "
      "`${file:/path}`; "
      "`$${` is a literal `${`. An unknown key, a wrong type or a missing unit is an error.\n\n"
      "## SET\n\n";
  AppendTable(SetOptionSpecs(), false, out);
  out += "\n## Every table\n\n`connector` names the connector, `format` the format.\n\n";
  AppendTable(CommonTableOptionSpecs(), true, out);
  out += "\n## Connectors\n";
  for (const ConnectorSpec* spec : connectors) AppendConnector(*spec, out);
  out += "\n## Formats\n";
  for (const std::string_view format : FormatNames()) {
    out += "\n### " + std::string(format) + "\n\n";
    if (FormatOptionSpecs(format).empty()) {
      out += "One column of type STRING or BYTES: the line as it is. No options.\n";
    } else {
      AppendTable(FormatOptionSpecs(format), true, out);
    }
  }
  return out;
}

std::string ConnectorsText(std::span<const ConnectorSpec* const> connectors) {
  std::string out;
  for (const ConnectorSpec* spec : connectors) {
    out += std::string(spec->name) + ": " + std::string(spec->doc) + "\n";
    out += "  used as: " + Uses(*spec) + "\n";
    if (spec->sink) out += "  guarantee: " + GuaranteeText(*spec) + "\n";
    if (spec->sink_accepts_updates) out += "  updates: upsert by PRIMARY KEY\n";
    if (!spec->formats.empty()) out += "  formats: " + FormatList(*spec) + "\n";
  }
  return out;
}

}  // namespace weir::plan
