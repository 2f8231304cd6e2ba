#include "base/units.h"

#include <optional>
#include <span>

#include "base/text.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;  // lower case
  int64_t factor;
};

constexpr int64_t kSecond = 1000;
constexpr int64_t kMinute = 60 * kSecond;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kDurationMax = 36525 * kDay;  // 100 years
constexpr int64_t kSizeMax = int64_t{1} << 62;

// Flink's names. Its micro- and nanoseconds are left out: event time is in milliseconds here, and
// rounding what a user wrote would be a silent change.
constexpr Unit kDurations[] = {
    {"ms", 1},           {"milli", 1},         {"millis", 1},    {"millisecond", 1},
    {"milliseconds", 1}, {"s", kSecond},       {"sec", kSecond}, {"secs", kSecond},
    {"second", kSecond}, {"seconds", kSecond}, {"min", kMinute}, {"m", kMinute},
    {"minute", kMinute}, {"minutes", kMinute}, {"h", kHour},     {"hour", kHour},
    {"hours", kHour},    {"d", kDay},          {"day", kDay},    {"days", kDay},
};

constexpr int64_t kKib = 1024;
constexpr int64_t kMib = kKib * 1024;
constexpr int64_t kGib = kMib * 1024;
constexpr int64_t kTib = kGib * 1024;

constexpr Unit kSizes[] = {
    {"b", 1},      {"bytes", 1},        {"k", kKib}, {"kb", kKib},
    {"kib", kKib}, {"kibibytes", kKib}, {"m", kMib}, {"mb", kMib},
    {"mib", kMib}, {"mebibytes", kMib}, {"g", kGib}, {"gb", kGib},
    {"gib", kGib}, {"gibibytes", kGib}, {"t", kTib}, {"tb", kTib},
    {"tib", kTib}, {"tebibytes", kTib},
};

// `what` and `example` make the message: "is no duration ... write for example '2 s'".
Result<int64_t> Parse(std::string_view text, std::span<const Unit> units, int64_t max,
                      std::string_view what, std::string_view example) {
  const auto fail = [&](std::string_view why) {
    std::string message = "'" + std::string(text) + "' is no " + std::string(what) + ": ";
    message.append(why).append(", as in '").append(example).append("'");
    return Fail(Code::kInvalid, std::move(message));
  };
  const std::string_view trimmed = TrimAscii(text);
  size_t digits = 0;
  while (digits < trimmed.size() && trimmed[digits] >= '0' && trimmed[digits] <= '9') ++digits;
  if (digits == 0) return fail("it starts with a whole number that is not negative");
  if (digits < trimmed.size() && (trimmed[digits] == '.' || trimmed[digits] == ','))
    return fail("the number is not whole: take a smaller unit");
  const std::string unit_name = ToLowerAscii(TrimAscii(trimmed.substr(digits)));
  if (unit_name.empty()) return fail("the unit is missing");
  const Unit* unit = nullptr;
  for (const Unit& u : units) {
    if (u.name == unit_name) unit = &u;
  }
  if (unit == nullptr) return fail("unknown unit '" + unit_name + "'");
  const std::optional<int64_t> number = ParseInt64(trimmed.substr(0, digits));
  if (!number || *number > max / unit->factor) return fail("it is too large");
  return *number * unit->factor;
}

// The largest unit that divides the value, so that the text says exactly the value.
std::string Format(int64_t value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) {
      return std::to_string(value / unit.factor).append(" ").append(unit.name);
    }
  }
  return std::to_string(value).append(" ").append(units.back().name);
}

constexpr Unit kDurationFormats[] = {
    {"d", kDay}, {"h", kHour}, {"min", kMinute}, {"s", kSecond}, {"ms", 1}};
constexpr Unit kSizeFormats[] = {
    {"TiB", kTib}, {"GiB", kGib}, {"MiB", kMib}, {"KiB", kKib}, {"B", 1}};

}  // namespace

Result<int64_t> ParseDurationMs(std::string_view text) {
  return Parse(text, kDurations, kDurationMax, "duration", "2 s");
}

Result<int64_t> ParseSizeBytes(std::string_view text) {
  return Parse(text, kSizes, kSizeMax, "size", "64 MiB");
}

std::string FormatDurationMs(int64_t ms) { return Format(ms, kDurationFormats); }
std::string FormatSizeBytes(int64_t bytes) { return Format(bytes, kSizeFormats); }

}  // namespace weir
