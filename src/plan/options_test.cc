#include "plan/options.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "base/check.h"
#include "base/units.h"

namespace weir::plan {
namespace {

OptionSpec Spec(OptionType type, std::string_view choices = {}, int64_t min = 0,
                int64_t max = INT64_MAX) {
  OptionSpec spec;
  spec.name = "x";
  spec.type = type;
  spec.choices = choices;
  spec.min = min;
  spec.max = max;
  return spec;
}

TEST_CASE("a value is checked against its type, and the message says what would be right") {
  struct Case {
    const char* name;
    OptionSpec spec;
    std::string given;
    std::string want;  // "" = good
  };
  for (const Case& c : {
           Case{"text", Spec(OptionType::kString), "a b", ""},
           Case{"text may be empty", Spec(OptionType::kString), "", ""},
           Case{"text is UTF-8", Spec(OptionType::kString), "\xff", "is not valid UTF-8"},
           Case{"text without NUL", Spec(OptionType::kString), std::string("a\0b", 3),
                "must not hold a NUL byte"},
           Case{"boolean", Spec(OptionType::kBoolean), "TRUE", ""},
           Case{"boolean", Spec(OptionType::kBoolean), "yes",
                "'yes' is neither 'true' nor 'false'"},
           Case{"integer", Spec(OptionType::kInteger, {}, 1, 10), "10", ""},
           Case{"integer", Spec(OptionType::kInteger, {}, 1, 10), "11",
                "'11' is too large: at most '10'"},
           Case{"integer", Spec(OptionType::kInteger, {}, 1, 10), "0",
                "'0' is too small: at least '1'"},
           Case{"integer", Spec(OptionType::kInteger), "1.5", "'1.5' is no whole number"},
           Case{"duration", Spec(OptionType::kDuration), "500 ms", ""},
           Case{"duration", Spec(OptionType::kDuration, {}, 1000), "500 ms",
                "'500 ms' is too small: at least '1 s'"},
           Case{"duration", Spec(OptionType::kDuration), "5",
                "'5' is no duration: the unit is missing, as in '2 s'"},
           Case{"size", Spec(OptionType::kSize, {}, 0, 1 << 20), "1 MiB", ""},
           Case{"size", Spec(OptionType::kSize, {}, 0, 1 << 20), "2 MiB",
                "'2 MiB' is too large: at most '1 MiB'"},
           Case{"enum", Spec(OptionType::kEnum, "ab|cd"), "cd", ""},
           Case{"enum has case", Spec(OptionType::kEnum, "abcd|efgh"), "ABCD",
                "'ABCD' is not one of abcd, efgh; did you mean 'abcd'?"},
           Case{"enum", Spec(OptionType::kEnum, "ab|cd"), "x", "'x' is not one of ab, cd"},
           Case{"character", Spec(OptionType::kCharacter), ";", ""},
           Case{"a tab", Spec(OptionType::kCharacter), "\\t", ""},
           Case{"character", Spec(OptionType::kCharacter), "ab",
                "'ab' is not a single ASCII character (a tab is written '\\t')"},
           Case{"character", Spec(OptionType::kCharacter), "\n",
                "'\n' is not a single ASCII character (a tab is written '\\t')"},
       }) {
    CAPTURE(c.name);
    CAPTURE(c.given);
    CHECK(CheckOptionValue(c.spec, c.given).message() == c.want);
  }
}

TEST_CASE("given values hide defaults, defaults are no given values") {
  const OptionSpec specs[] = {
      {.name = "a", .type = OptionType::kDuration, .default_value = "2 s"},
      {.name = "b", .type = OptionType::kSize, .default_value = "1 KiB"},
      {.name = "c"},
      {.name = "d", .type = OptionType::kCharacter, .default_value = "\\t"},
  };
  Options options;
  OptionValue given;
  given.text = "3 s";
  given.origin = "SET";
  options.Put(specs[0], given);
  options.Declare(specs);
  CHECK(options.Has("a"));
  CHECK(options.Integer("a") == 3000);
  CHECK_FALSE(options.Has("b"));
  CHECK(options.Integer("b") == 1024);
  CHECK(options.Find("b")->origin == "default");
  CHECK(options.Find("c") == nullptr);
  CHECK(options.String("c").empty());
  CHECK_FALSE(options.Boolean("c"));
  CHECK(options.Character("d") == '\t');
}

void CheckTable(std::span<const OptionSpec> specs) {
  std::set<std::string_view> names;
  for (const OptionSpec& spec : specs) {
    CAPTURE(spec.name);
    CHECK(names.insert(spec.name).second);
    CHECK(!spec.doc.empty());
    CHECK(spec.doc.find('\n') == std::string_view::npos);
    CHECK((spec.source || spec.sink));
    CHECK((spec.type == OptionType::kEnum) == !spec.choices.empty());
    if (!spec.default_value.empty()) CHECK(CheckOptionValue(spec, spec.default_value).ok());
    CHECK_FALSE((spec.required && !spec.default_value.empty()));
    CHECK(LaterSetKey(spec.name).empty());
    CHECK(LaterTableOption(spec.name).empty());
  }
}

TEST_CASE("the tables of SET keys and options are sound") {
  CheckTable(SetOptionSpecs());
  CheckTable(CommonTableOptionSpecs());
  for (const std::string_view format : FormatNames()) {
    CheckTable(FormatOptionSpecs(format));
    for (const OptionSpec& spec : FormatOptionSpecs(format)) {
      CHECK(spec.name.starts_with(std::string(format) + "."));
    }
  }
  CHECK(FormatOptionSpecs("nope").empty());
  CHECK(!LaterFormat("avro").empty());
  CHECK(LaterFormat("json").empty());
}

TEST_CASE("format options become what the decoder takes") {
  Options options;
  const auto put = [&](std::string_view format, std::string_view name, std::string_view text) {
    for (const OptionSpec& spec : FormatOptionSpecs(format)) {
      if (spec.name != name) continue;
      OptionValue value;
      value.text = text;
      value.origin = "table option";
      options.Put(spec, std::move(value));
    }
  };
  put("csv", "csv.field-delimiter", ";");
  put("csv", "csv.header", "true");
  put("csv", "csv.null-literal", "");
  options.Declare(FormatOptionSpecs("csv"));
  const Result<FormatSpec> csv = FormatSpecOf("csv", options, {3600000}, 100, 2);
  REQUIRE(csv);
  CHECK(csv->kind == FormatSpec::Kind::kCsv);
  CHECK(csv->csv.delimiter == ';');
  CHECK(csv->csv.quote == '"');
  CHECK(csv->csv.header);
  CHECK(csv->csv.has_null_literal);
  CHECK(csv->zone.offset_ms == 3600000);
  CHECK(csv->max_record_bytes == 100);
  CHECK(csv->physical_columns == 2);

  Options json;
  OptionValue unit;
  unit.text = "us";
  unit.origin = "table option";
  for (const OptionSpec& spec : FormatOptionSpecs("json")) {
    if (spec.name == "json.timestamp-unit") json.Put(spec, unit);
  }
  json.Declare(FormatOptionSpecs("json"));
  const Result<FormatSpec> spec = FormatSpecOf("json", json, {}, 1, 1);
  REQUIRE(spec);
  CHECK(spec->json.has_timestamp_unit);
  CHECK(spec->json.timestamp_unit == EpochUnit::kMicros);
  CHECK(spec->json.timestamp_style == TimestampStyle::kSql);
  CHECK(FormatSpecOf("raw", {}, {}, 1, 1)->kind == FormatSpec::Kind::kRaw);
  CHECK_FALSE(FormatSpecOf("avro", {}, {}, 1, 1));
}

TEST_CASE("a spec with a * stands for every other name that begins so") {
  constexpr OptionSpec kSpecs[] = {{.name = "p.*", .doc = "Any."},
                                   {.name = "p.one", .doc = "One."}};
  CHECK(FindOption(kSpecs, "p.one") == &kSpecs[1]);
  CHECK(FindOption(kSpecs, "p.two.three") == &kSpecs[0]);
  CHECK(FindOption(kSpecs, "p.") == nullptr);
  CHECK(FindOption(kSpecs, "q.one") == nullptr);
}

}  // namespace
}  // namespace weir::plan
