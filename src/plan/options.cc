#include "plan/options.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/units.h"

namespace weir::plan {
namespace {

Status Wrong(std::string message) { return Status(Code::kInvalid, std::move(message)); }

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// The number behind an integer, a duration (ms) or a size (bytes).
Result<int64_t> NumberOf(const OptionSpec& spec, std::string_view text) {
  switch (spec.type) {
    case OptionType::kDuration:
      return ParseDurationMs(text);
    case OptionType::kSize:
      return ParseSizeBytes(text);
    case OptionType::kInteger: {
      const std::optional<int64_t> number = ParseInt64(TrimAscii(text));
      if (!number) return Fail(Code::kInvalid, Quoted(text) + " is no whole number");
      return *number;
    }
    case OptionType::kString:
    case OptionType::kBoolean:
    case OptionType::kEnum:
    case OptionType::kCharacter:
      break;
  }
  return 0;
}

std::string Shown(const OptionSpec& spec, int64_t number) {
  if (spec.type == OptionType::kDuration) return FormatDurationMs(number);
  if (spec.type == OptionType::kSize) return FormatSizeBytes(number);
  return std::to_string(number);
}

Status CheckNumber(const OptionSpec& spec, std::string_view text) {
  const Result<int64_t> number = NumberOf(spec, text);
  if (!number) return number.error();
  if (*number < spec.min) {
    return Wrong(Quoted(text) + " is too small: at least '" + Shown(spec, spec.min) + "'");
  }
  if (*number > spec.max) {
    return Wrong(Quoted(text) + " is too large: at most '" + Shown(spec, spec.max) + "'");
  }
  return Status::Ok();
}

Status CheckChoice(const OptionSpec& spec, std::string_view text) {
  const std::vector<std::string_view> choices = Split(spec.choices, '|');
  std::string list;
  for (const std::string_view choice : choices) {
    if (choice == text) return Status::Ok();
    if (!list.empty()) list += ", ";
    list += choice;
  }
  std::string message = Quoted(text) + " is not one of " + list;
  const std::string_view nearest = Nearest(text, choices);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return Wrong(std::move(message));
}

// '\t' is how Flink users write a tab in CSV options.
std::optional<char> CharacterOf(std::string_view text) {
  if (text == "\\t") return '\t';
  if (text.size() == 1 && static_cast<unsigned char>(text[0]) < 0x80 && text[0] != '\n' &&
      text[0] != '\r') {
    return text[0];
  }
  return std::nullopt;
}

}  // namespace

Status CheckOptionValue(const OptionSpec& spec, std::string_view text) {
  switch (spec.type) {
    case OptionType::kString:
      if (spec.required && text.empty()) return Wrong("must not be empty");
      if (!IsValidUtf8(text)) return Wrong("is not valid UTF-8");
      if (text.find('\0') != std::string_view::npos) return Wrong("must not hold a NUL byte");
      return Status::Ok();
    case OptionType::kBoolean:
      if (EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "false")) return Status::Ok();
      return Wrong(Quoted(text) + " is neither 'true' nor 'false'");
    case OptionType::kInteger:
    case OptionType::kDuration:
    case OptionType::kSize:
      return CheckNumber(spec, text);
    case OptionType::kEnum:
      return CheckChoice(spec, text);
    case OptionType::kCharacter:
      if (CharacterOf(text)) return Status::Ok();
      return Wrong(Quoted(text) + " is not a single ASCII character (a tab is written '\\t')");
  }
  return Status::Ok();
}

const OptionSpec* FindOption(std::span<const OptionSpec> specs, std::string_view name,
                             std::string_view* column) {
  if (column != nullptr) *column = {};
  for (const OptionSpec& spec : specs) {
    if (spec.name == name) return &spec;
  }
  for (const OptionSpec& spec : specs) {
    if (!spec.name.ends_with('*')) continue;
    const std::string_view before = spec.name.substr(0, spec.name.size() - 1);
    if (name.size() > before.size() && name.starts_with(before)) return &spec;
  }
  for (const OptionSpec& spec : specs) {
    const size_t hash = spec.name.find('#');
    if (hash == std::string_view::npos) continue;
    const std::string_view before = spec.name.substr(0, hash);
    const std::string_view after = spec.name.substr(hash + 1);
    if (name.size() <= before.size() + after.size()) continue;
    if (!name.starts_with(before) || !name.ends_with(after)) continue;
    if (column != nullptr) *column = name.substr(hash, name.size() - before.size() - after.size());
    return &spec;
  }
  return nullptr;
}

void Options::Declare(std::span<const OptionSpec> specs) {
  declared_ = true;
  for (const OptionSpec& spec : specs) {
    known_.emplace(spec.name);
    if (spec.name.find('#') != std::string_view::npos)
      continue;  // a default for each column is the connector's affair
    if (spec.default_value.empty() || values_.contains(spec.name)) continue;
    OptionValue value;
    value.text = spec.default_value;
    value.written = spec.default_value;
    value.origin = "default";
    Put(spec, std::move(value));
  }
}

void Options::Put(const OptionSpec& spec, OptionValue value) {
  known_.emplace(spec.name);
  const Result<int64_t> number = NumberOf(spec, value.text);
  CHECK(number.has_value());  // the caller has checked the text
  numbers_.insert_or_assign(std::string(spec.name), *number);
  values_.insert_or_assign(std::string(spec.name), std::move(value));
}

const OptionValue* Options::Find(std::string_view name) const {
  CHECK(!declared_ || known_.contains(name));
  const auto it = values_.find(name);
  return it == values_.end() ? nullptr : &it->second;
}

bool Options::Has(std::string_view name) const {
  const OptionValue* value = Find(name);
  return value != nullptr && value->origin != "default";
}

std::string Options::String(std::string_view name) const {
  const OptionValue* value = Find(name);
  return value == nullptr ? std::string() : value->text;
}

bool Options::Boolean(std::string_view name) const {
  const OptionValue* value = Find(name);
  return value != nullptr && EqualsIgnoreCase(value->text, "true");
}

int64_t Options::Integer(std::string_view name) const {
  CHECK(Find(name) != nullptr);
  return numbers_.find(name)->second;
}

char Options::Character(std::string_view name) const {
  const OptionValue* value = Find(name);
  CHECK(value != nullptr);
  const std::optional<char> character = CharacterOf(value->text);
  CHECK(character.has_value());
  return *character;
}

}  // namespace weir::plan
