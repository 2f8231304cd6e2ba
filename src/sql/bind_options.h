// Option values of SET and WITH: ${} expansion and checks against the typed tables.
#ifndef WEIR_SQL_BIND_OPTIONS_H_
#define WEIR_SQL_BIND_OPTIONS_H_

#include <map>
#include <span>
#include <string>
#include <vector>

#include "plan/plan.h"
#include "sql/ast.h"
#include "sql/compile.h"
#include "sql/diagnostics.h"

namespace weir::sql {

class OptionBinder {
 public:
  OptionBinder(const CompileInput& input, Diagnostics& diagnostics)
      : input_(input), diagnostics_(diagnostics) {}

  // The defaults of weir.toml, then every SET of the script, into settings, zone and pipeline name.
  void BindSettings(const std::vector<StatementAst>& script, plan::Plan& plan);
  // connector, format and all options of a table; false: the connector is not known (reported).
  bool BindTable(const StatementAst& ast, const plan::Plan& plan, plan::TableDef& table);

 private:
  // `written` with every ${} replaced. False: reported at `at` (after `place`, when that is not
  // empty).
  bool Expand(const std::string& written, Position at, const std::string& place,
              plan::OptionValue* out);
  void Put(const plan::OptionSpec& spec, const std::string& shown_key, plan::OptionValue value,
           const std::string& place, plan::Options& options);
  void BindSet(const std::string& key, const std::string& text, plan::OptionValue value,
               const std::string& place, plan::Plan& plan);
  bool FindConnector(const OptionAst& option, plan::TableDef& table);
  // bind_formats.cc
  struct FormatOptions {
    const OptionAst* plain = nullptr;  // 'format'
    const OptionAst* value = nullptr;  // 'value.format', the same thing beside a key
    const OptionAst* key = nullptr;    // 'key.format'
    plan::Options of_key;              // the key format's own options, without their "key."
  };
  bool KnownFormat(const OptionAst& option, const plan::ConnectorSpec& connector);
  bool FindFormats(FormatOptions& formats, Position with_at, plan::TableDef& table);
  bool BindPrefixedOption(const OptionAst& option, FormatOptions& formats, plan::TableDef& table);
  bool BindFormatSpecs(FormatOptions& formats, Position at, const plan::Plan& plan,
                       plan::TableDef& table);
  bool SplitColumns(const FormatOptions& formats, plan::TableDef& table);
  void BindOption(const OptionAst& option, plan::TableDef& table);
  void UnknownOption(const OptionAst& option, const plan::TableDef& table);
  void CheckRequired(const plan::TableDef& table, Position at,
                     const std::map<std::string_view, Position>& given);
  void ApplyIgnoreParseErrors(plan::TableDef& table);

  const CompileInput& input_;
  Diagnostics& diagnostics_;
};

// The specs of a table's options: the connector's, the format's, those of all tables.
std::vector<std::span<const plan::OptionSpec>> SpecsOf(const plan::TableDef& table);

}  // namespace weir::sql

#endif  // WEIR_SQL_BIND_OPTIONS_H_
