// The table of connectors, the direct sinks, and what each option table promises.
#include "connectors/registry.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

TEST_CASE("connectors are sorted, found by name, and their option tables are sound") {
  std::string before;
  for (const plan::ConnectorSpec* spec : AllConnectors()) {
    CAPTURE(spec->name);
    CHECK(std::string(spec->name) > before);
    before = spec->name;
    CHECK(FindConnector(spec->name) == spec);
    CHECK_FALSE(spec->doc.empty());
    CHECK((spec->source || spec->sink));
    CHECK(spec->sink_guarantee_reason.empty() ==
          (spec->sink_guarantee == plan::Guarantee::kExactlyOnce));
    std::set<std::string_view> names;
    for (const plan::OptionSpec& option : spec->options) {
      CAPTURE(option.name);
      CHECK(names.insert(option.name).second);
      CHECK_FALSE(option.doc.empty());
      CHECK((option.source || option.sink));
      if (!option.default_value.empty())
        CHECK(plan::CheckOptionValue(option, option.default_value).ok());
    }
  }
  CHECK(FindConnector("filesystems") == nullptr);
}

TEST_CASE("what a table is: stage, delivery or written at once") {
  World world;
  struct Case {
    const char* connector;
    bool direct, delivery;
    const char* target;
  };
  const Case cases[] = {{"filesystem", false, false, ""},
                        {"sqlite", false, true, "sqlite:/x"},
                        {"print", true, false, ""},
                        {"blackhole", true, false, ""}};
  for (const Case& c : cases) {
    CAPTURE(c.connector);
    TableParts parts{.connector = c.connector};
    const std::string_view name = c.connector;
    if (name == "filesystem" || name == "sqlite") parts.options = {{"path", "x"}};
    const auto table = MakeTable(parts);
    CHECK(IsDirectSink(*table) == c.direct);
    CHECK(NeedsDelivery(*table) == c.delivery);
    CHECK(TargetOf(world.Context(), plan::Plan(), *table) == c.target);
    CHECK((NewStage(world.Context(), *table, "s").value() != nullptr) ==
          (!c.direct && !c.delivery));
  }
  const auto generated = MakeTable({.connector = "datagen"});
  CHECK_FALSE(NewStage(world.Context(), *generated, "s").has_value());
  const auto printed = MakeTable({.connector = "print"});
  CHECK_FALSE(
      NewSource(world.Context(), *printed, RawSchema(*printed), RawColumns(*printed)).has_value());
}

TEST_CASE("print writes rows in its format, bad ones leave dead, a gone reader ends it") {
  World world;
  std::string written;
  Status answer;
  ConnectorContext context = world.Context();
  context.write_output = [&](std::string_view bytes) {
    if (answer.ok()) written += bytes;
    return answer;
  };
  struct Case {
    std::string format;
    std::vector<std::pair<std::string, std::string>> options;
    const char* want;
  };
  const Case cases[] = {{"", {}, "{\"d\":1.5}\n"},
                        {"csv", {}, "1.5\n"},
                        {"", {{"print-identifier", "x"}}, "x> {\"d\":1.5}\n"}};
  for (const Case& c : cases) {
    written.clear();
    TableParts parts{.connector = "print",
                     .options = c.options,
                     .columns = {{"d", Type::Of(TypeKind::kDouble)}}};
    if (!c.format.empty()) parts.format = c.format;
    const auto table = MakeTable(parts);
    if (c.format.empty()) table->format.clear();
    auto sink = NewDirectSink(context, table.get(), SinkSchema(*table));
    REQUIRE(sink.has_value());
    Batch batch;
    batch.Reset(SinkSchema(*table), 2);
    batch.mutable_column(0).valid = {1, 1};
    batch.mutable_column(0).doubles = {1.5, 0.0 / 0.0};
    DeadOutputs out;
    REQUIRE((*sink)->Write(batch, out).ok());
    CHECK(written.empty());  // until the turn ends
    REQUIRE((*sink)->Flush().ok());
    CHECK(written == c.want);
    CHECK(out.records.size() == 1);
    CHECK((*sink)->books()[flow::Count::kDead] == 1);
    CHECK((*sink)->books()[flow::Count::kAcked] == 1);
    answer = Status(Code::kEndOfStream, "gone");
    REQUIRE((*sink)->Write(batch, out).ok());
    CHECK((*sink)->Flush().code() == Code::kEndOfStream);
    answer = Status::Ok();
  }
}

TEST_CASE("combinations that make no sense are refused with their place") {
  struct Case {
    const char* name;
    TableParts parts;
    bool as_sink;
    const char* says;  // "" accepted
  };
  const Case cases[] = {
      {"plain sink", {.options = {{"path", "out.json"}}}, true, ""},
      {"pattern as a sink", {.options = {{"path", "out*.json"}}}, true, "not a pattern"},
      {"pattern as a source", {.options = {{"path", "in*.json"}}}, false, ""},
      {"remote", {.options = {{"path", "s3://bucket/x"}}}, false, "s3://"},
      {"host", {.options = {{"path", "file://host/x"}}}, false, "host"},
      {"regex cannot write",
       {.format = "regex", .options = {{"path", "x"}, {"regex.pattern", "(?P<v>.*)"}}},
       true,
       "regex"},
      {"if-exists of rolling files",
       {.options = {{"path", "x/"}, {"weir.sink.if-exists", "append"}}},
       true,
       "append files"},
      {"table name of SQLite",
       {.connector = "sqlite", .options = {{"path", "x"}, {"table", "sqlite_x"}}},
       true,
       "sqlite_x"},
      {"receipts table",
       {.connector = "sqlite", .options = {{"path", "x"}, {"table", "Weir_Receipts"}}},
       true,
       "Weir_Receipts"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto table = MakeTable(c.parts);
    std::vector<plan::Diagnostic> out;
    table->connector->check(*table, c.as_sink, out);
    CHECK(out.size() == (*c.says == '\0' ? 0 : 1));
    if (!out.empty()) CHECK(out[0].message.find(c.says) != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::connectors
