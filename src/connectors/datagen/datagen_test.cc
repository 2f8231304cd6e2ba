#include "connectors/datagen/datagen.h"

#include <doctest/doctest.h>

#include "connectors/testing/connector_world.h"

namespace weir::connectors {
namespace {

using Rows = std::vector<std::string>;

TableParts Parts(std::vector<std::pair<std::string, std::string>> options) {
  return {.connector = "datagen",
          .options = std::move(options),
          .columns = {{"n", Type::Of(TypeKind::kBigInt)},
                      {"k", Type::Of(TypeKind::kInt)},
                      {"d", Type::Decimal(6, 2)},
                      {"s", Type::Of(TypeKind::kString)},
                      {"b", Type::Of(TypeKind::kBoolean)},
                      {"f", Type::Of(TypeKind::kDouble)},
                      {"ts", Type::Timestamp(3)}}};
}

std::vector<std::pair<std::string, std::string>> Usual() {
  return {{"rows-per-second", "0"}, {"number-of-rows", "50"}, {"fields.n.kind", "sequence"},
          {"fields.n.start", "5"},  {"fields.n.end", "1000"}, {"fields.k.min", "-2"},
          {"fields.k.max", "2"},    {"fields.d.max", "9.99"}, {"fields.s.length", "4"}};
}

TEST_CASE("rows are a function of seed and row number: batch size and restarts do not show") {
  World world;
  const auto table = MakeTable(Parts(Usual()));
  SourceDriver whole(world.Context(), *table);
  REQUIRE(whole.Open().ok());
  const Rows want = whole.ReadAll(1000);
  REQUIRE(want.size() == 50);
  CHECK(want[0].starts_with("{\"n\":5,"));
  CHECK(want[49].starts_with("{\"n\":54,"));
  Rows rows;
  std::map<std::string, std::string> saved;
  for (;;) {
    SourceDriver driver(world.Context(), *table);
    REQUIRE(driver.Open(saved, "").ok());
    if (driver.partitions()[0].finished) break;
    REQUIRE(driver.ReadOnce(0, 7, rows).has_value());
    driver.Seal();
    saved = driver.saved;
  }
  CHECK(rows == want);

  auto other_options = Usual();
  other_options.emplace_back("weir.seed", "1");
  const auto other = MakeTable(Parts(other_options));
  SourceDriver seeded(world.Context(), *other);
  REQUIRE(seeded.Open().ok());
  CHECK(seeded.ReadAll() != want);
}

TEST_CASE("values stay in their ranges") {
  World world;
  auto options = Usual();
  options[1].second = "900";
  const auto table = MakeTable(Parts(options));
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  Batch batch;
  batch.Reset(RawSchema(*table));
  REQUIRE(driver.source().Read(0, 900, batch).has_value());
  bool low = false, high = false;
  for (uint32_t row = 0; row < batch.rows(); ++row) {
    const int64_t k = batch.column(1).ints[row];
    CHECK((k >= -2 && k <= 2));
    low = low || k == -2;
    high = high || k == 2;
    CHECK((batch.column(2).decimals[row] >= 0 && batch.column(2).decimals[row] <= 999));
    CHECK(batch.column(3).strings[row].size() == 4);
    CHECK((batch.column(5).doubles[row] >= 0 && batch.column(5).doubles[row] < 1));
  }
  CHECK((low && high));
}

TEST_CASE("the shortest sequence ends the input, also when its column is not read") {
  World world;
  const auto table = MakeTable(Parts({{"rows-per-second", "0"},
                                      {"fields.n.kind", "sequence"},
                                      {"fields.n.start", "1"},
                                      {"fields.n.end", "3"}}));
  const auto plan = MakeGeneratorPlan(*table, {1});
  REQUIRE(plan.has_value());
  CHECK(plan->rows == 3);
  CHECK(table->connector->bounded(*table));
  CHECK_FALSE(table->connector->bounded(*MakeTable(Parts({}))));
}

TEST_CASE("the rate is kept by the monotonic clock, a restart does not catch up") {
  World world;
  const auto table = MakeTable(Parts({{"rows-per-second", "10"}}));
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  CHECK(driver.ReadAll().size() == 1);
  world.clock().AdvanceMs(1000);
  CHECK(driver.ReadAll().size() == 10);
  CHECK(driver.source().PollIntervalMs() > 0);
  driver.Seal();
  world.clock().AdvanceMs(60'000);
  SourceDriver again(world.Context(), *table);
  REQUIRE(again.Open(driver.saved, "").ok());
  CHECK(again.ReadAll().size() == 1);
}

TEST_CASE("time advances with the rows") {
  World world;
  const auto table =
      MakeTable(Parts({{"rows-per-second", "10"}, {"weir.start-time", "2024-03-01 00:00:00"}}));
  SourceDriver driver(world.Context(), *table);
  REQUIRE(driver.Open().ok());
  world.clock().AdvanceMs(1000);
  const Rows rows = driver.ReadAll();
  CHECK(rows[0].ends_with("\"ts\":\"2024-03-01 00:00:00.000\"}"));
  CHECK(rows[10].ends_with("\"ts\":\"2024-03-01 00:00:01.000\"}"));
}

TEST_CASE("options that make no sense are named") {
  struct Case {
    const char* name;
    std::vector<std::pair<std::string, std::string>> options;
    const char* says;
  };
  const Case cases[] = {
      {"sequence without end",
       {{"fields.n.kind", "sequence"}, {"fields.n.start", "1"}},
       "fields.n.start"},
      {"sequence backwards",
       {{"fields.n.kind", "sequence"}, {"fields.n.start", "2"}, {"fields.n.end", "1"}},
       "ends before"},
      {"sequence of booleans",
       {{"fields.b.kind", "sequence"}, {"fields.b.start", "1"}, {"fields.b.end", "1"}},
       "BOOLEAN"},
      {"no number", {{"fields.k.min", "x"}}, "fields.k.min"},
      {"beyond the type", {{"fields.k.max", "3000000000"}}, "fields.k.max"},
      {"max below min", {{"fields.k.min", "2"}, {"fields.k.max", "1"}}, "max is below min"},
      {"no time", {{"weir.start-time", "yesterday"}}, "weir.start-time"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const auto table = MakeTable(Parts(c.options));
    std::vector<plan::Diagnostic> out;
    table->connector->check(*table, false, out);
    REQUIRE(out.size() == 1);
    CHECK(out[0].message.find(c.says) != std::string::npos);
  }
}

}  // namespace
}  // namespace weir::connectors
