// Options: every option of every connector, format and SET key is a row of a typed table. docs/ and
// `weir check` come from the tables; an unknown key, a wrong type or a missing unit is an error
// with a suggestion.
#ifndef WEIR_PLAN_OPTIONS_H_
#define WEIR_PLAN_OPTIONS_H_

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/format.h"
#include "plan/expr.h"

namespace weir::plan {

enum class OptionType { kString, kBoolean, kInteger, kDuration, kSize, kEnum, kCharacter };

struct OptionSpec {
  std::string_view name = {};
  OptionType type = OptionType::kString;
  std::string_view default_value = {};  // as a user would write it; "" = none
  std::string_view doc = {};            // one line
  bool required = false;
  bool identity = false;               // names what is read or written: part of the fingerprint
  bool source = true, sink = true;     // where it may be given
  int64_t min = 0, max = INT64_MAX;    // kInteger, kDuration (ms), kSize (bytes)
  std::string_view choices = {};       // kEnum: "a|b|c"
  bool default_is_table_name = false;  // not given: the name of the SQL table
};

struct OptionValue {
  std::string text;     // after ${} expansion; secrets stay out of every output (secret = true)
  std::string written;  // as it stands in the SQL (for canonical forms and messages)
  bool secret = false;  // came from ${cred:} or ${file:}
  Position key_position;
  Position value_position;
  std::string origin;  // "table option", "SET", "[pipeline.x]", "weir.toml", "default": for explain
};

// The spec of `name`, or null. A spec "fields.#.kind" is that of "fields.COLUMN.kind" for every
// column; `column` (may be null) then gets what stands for #, else "". A spec "properties.*" is
// that of every other name that begins so: what stands for * is the connector's to judge.
const OptionSpec* FindOption(std::span<const OptionSpec> specs, std::string_view name,
                             std::string_view* column = nullptr);

// Checked values of one table or of SET. Getters CHECK that the name is in the specs it was checked
// against (once Declare was called).
class Options {
 public:
  // The specs whose names may be asked for; fills in their defaults where nothing was Put.
  void Declare(std::span<const OptionSpec> specs);
  void Put(const OptionSpec& spec, OptionValue value);   // text already validated
  bool Has(std::string_view name) const;                 // given by the user (not the default)
  const OptionValue* Find(std::string_view name) const;  // given or default; null when neither
  std::string String(std::string_view name) const;       // "" when not given and no default
  bool Boolean(std::string_view name) const;
  int64_t Integer(std::string_view name)
      const;  // integers, durations in ms, sizes in bytes; CHECKs that a value exists
  char Character(std::string_view name) const;
  const std::map<std::string, OptionValue, std::less<>>& all() const { return values_; }

 private:
  std::map<std::string, OptionValue, std::less<>> values_;
  std::map<std::string, int64_t, std::less<>>
      numbers_;  // of those with a numeric type, parsed once
  std::set<std::string, std::less<>> known_;
  bool declared_ = false;
};

// Checks one value against its spec: the message says what is wrong and gives an example.
Status CheckOptionValue(const OptionSpec& spec, std::string_view text);

// The SET keys (one table: plan/set_options.cc) and the options of the formats
// (plan/format_options.cc).
std::span<const OptionSpec> SetOptionSpecs();
std::span<const OptionSpec> FormatOptionSpecs(
    std::string_view format);                     // names with their prefix: "json.timestamp-unit"
std::span<const std::string_view> FormatNames();  // json, csv, raw, regex
// Options that every table may have, whatever its connector (plan/table_options.cc): sources' idle
// timeout and alignment, weir.on-error.
std::span<const OptionSpec> CommonTableOptionSpecs();

// A key of sql.md that this version does not have yet, with the reason; "" when there is no such
// key at all.
std::string_view LaterSetKey(std::string_view key);
std::string_view LaterTableOption(std::string_view key);
std::string_view LaterFormat(std::string_view format);

// The decoder's and encoder's view of checked format options.
Result<FormatSpec> FormatSpecOf(std::string_view format, const Options& options,
                                const SessionZone& zone, uint64_t max_record_bytes,
                                size_t physical_columns);

}  // namespace weir::plan

#endif  // WEIR_PLAN_OPTIONS_H_
