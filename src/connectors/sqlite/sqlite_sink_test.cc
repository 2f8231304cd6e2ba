// The sqlite sink: a range of rows and its receipt become visible together, or not at all; whoever
// is too late writes nothing.
#include "connectors/sqlite/sqlite_sink.h"

#include <doctest/doctest.h>

#include "connectors/testing/connector_world.h"
#include "connectors/testing/delivery_driver.h"
#include "connectors/testing/minted_proof.h"
#include "sqlite/sim_vfs.h"

namespace weir::connectors {
namespace {

using protocol::Receipt;
using Batches = std::vector<std::vector<int64_t>>;

const Lineage kLineage{{1}};
const Lineage kOther{{2}};

Digest256 HashOfEpoch(EpochId epoch) { return Digest256{{static_cast<uint8_t>(epoch)}}; }

// A machine with a simulated disk and SQLite on it.
struct Fixture {
  Fixture() {
    REQUIRE(sqlite::InitializeSqlite().ok());
    vfs = std::make_unique<sqlite::SimVfs>(*files, "weir-sim-connectors");
    files->PutDirectory("/db");
  }
  std::unique_ptr<flow::SinkDelivery> NewSession(const plan::TableDef& table) {
    io::Env env{*files, clock, random, machine, completions, nullptr, vfs->name()};
    const ConnectorContext context{env, "/state", "pipeline", "box", {}, nullptr, {}};
    auto delivery = NewDelivery(context, {&table});
    REQUIRE(delivery.has_value());
    return std::move(*delivery);
  }
  std::unique_ptr<sqlite::Database> OpenDatabase() {
    sqlite::OpenOptions options;
    options.vfs = vfs->name();
    options.use_wal = false;
    auto database = sqlite::Database::Open("/db/out.db", options);
    REQUIRE(database.has_value());
    return std::move(*database);
  }
  int64_t Query(const std::string& sql) { return OpenDatabase()->QueryInt(sql).value(); }
  std::string QueryText(const std::string& sql) { return OpenDatabase()->QueryText(sql).value(); }
  void Execute(const std::string& sql) { REQUIRE(OpenDatabase()->Execute(sql).ok()); }

  std::unique_ptr<io::SimFiles> files = std::make_unique<io::SimFiles>();
  io::SimClock clock;
  io::SimRandom random{1};
  io::SimMachine machine;
  io::CompletionQueue completions;
  std::unique_ptr<sqlite::SimVfs> vfs;
};

std::unique_ptr<plan::TableDef> Table(std::vector<int> key = {}) {
  return MakeTable({.name = "out",
                    .connector = "sqlite",
                    .options = {{"path", "/db/out.db"}},
                    .primary_key = std::move(key)});
}

flow::DeliveryRange Range(std::optional<protocol::TargetPosition> from,
                          protocol::TargetPosition to) {
  return {from, to, HashOfEpoch(to.epoch), 0};
}

// A whole delivery: fence, then rows up to `to`.
Status DeliverTo(flow::SinkDelivery& session, std::optional<protocol::TargetPosition> from,
                 protocol::TargetPosition to, std::vector<int64_t> values) {
  WEIR_ASSIGN_OR_RETURN(const auto seen, ReadReceipt(session));
  (void)seen;
  ListReader rows(Batches{std::move(values)});
  const Status status =
      DeliverRows(session, store::Store::Mint(kLineage, to.epoch), Range(from, to), rows);
  session.Close();
  return status;
}

TEST_CASE_FIXTURE(Fixture,
                  "restart between seal and ack: the receipt says what is there, and redelivery "
                  "from it writes each row once") {
  const auto table = Table();
  {
    auto session = NewSession(*table);
    CHECK_FALSE(ReadReceipt(*session).value());
    ListReader rows(Batches{{1, 2}, {3}});
    REQUIRE(
        DeliverRows(*session, store::Store::Mint(kLineage, 1), Range(std::nullopt, {1, 3}), rows)
            .ok());
    // Dies here: committed, and nobody noted it.
  }
  auto session = NewSession(*table);
  CHECK(ReadReceipt(*session).value() == Receipt{kLineage, {1, 3}, HashOfEpoch(1)});
  ListReader rows(Batches{{4}});
  REQUIRE(DeliverRows(*session, store::Store::Mint(kLineage, 2),
                      Range(protocol::TargetPosition{1, 3}, {2, 1}), rows)
              .ok());
  session->Close();
  CHECK(Query("SELECT group_concat(v, '') FROM (SELECT v FROM out ORDER BY v)") == 1234);
  CHECK(Query("SELECT count(*) FROM weir_receipts") == 1);
  CHECK(Query("SELECT epoch FROM weir_receipts WHERE pipeline = 'pipeline'") == 2);
}

TEST_CASE(
    "a table that cannot take the rows is known before there are any, and looking makes no file") {
  struct Case {
    const char* name;
    const char* sql;  // "": no database
    bool create;
    const char* want;
  };
  const Case cases[] = {
      {"no database", "", false, ""},
      {"no table, to be made", "CREATE TABLE x (a)", true, ""},
      {"no table, not to be made", "CREATE TABLE x (a)", false,
       "/db/out.db has no table out, and 'create-table' is false"},
      {"the table", "CREATE TABLE out (v INTEGER)", false, ""},
      {"the table, to be made if it were not there", "CREATE TABLE Out (V INTEGER)", true, ""},
      {"without a column", "CREATE TABLE out (a INTEGER)", true,
       "table out in /db/out.db has no column v"},
  };
  for (const Case& c : cases) {
    for (const char* mode : {"DELETE", "WAL"}) {
      CAPTURE(c.name);
      CAPTURE(mode);
      Fixture w;
      const auto table = MakeTable(
          {.name = "out",
           .connector = "sqlite",
           .options = {{"path", "/db/out.db"}, {"create-table", c.create ? "true" : "false"}}});
      if (c.sql[0] != '\0') w.Execute(std::string("PRAGMA journal_mode=") + mode + ";" + c.sql);
      const auto before = w.files->List("/db").value();
      CHECK(CheckSqliteTable(*w.files, w.vfs->name(), "/db/out.db", *table).message() == c.want);
      CHECK(w.files->List("/db").value() == before);
    }
  }
}

TEST_CASE_FIXTURE(Fixture, "an older session that wakes up writes nothing") {
  const auto table = Table();
  REQUIRE(DeliverTo(*NewSession(*table), std::nullopt, {1, 1}, {1}).ok());
  auto old_session = NewSession(*table);
  REQUIRE(ReadReceipt(*old_session).has_value());
  REQUIRE(DeliverTo(*NewSession(*table), protocol::TargetPosition{1, 1}, {2, 1}, {2}).ok());
  ListReader rows(Batches{{2}});
  const Status late = DeliverRows(*old_session, store::Store::Mint(kLineage, 2),
                                  Range(protocol::TargetPosition{1, 1}, {2, 1}), rows);
  CHECK(late.code() == Code::kUnavailable);
  old_session->Close();
  CHECK(Query("SELECT count(*) FROM out") == 2);
}

TEST_CASE_FIXTURE(Fixture, "two first deliveries: the second fails on the primary key") {
  const auto table = Table();
  auto one = NewSession(*table), two = NewSession(*table);
  REQUIRE(ReadReceipt(*one).has_value());
  REQUIRE(ReadReceipt(*two).has_value());
  ListReader rows_one(Batches{{1}}), rows_two(Batches{{1}});
  REQUIRE(DeliverRows(*one, store::Store::Mint(kLineage, 1), Range(std::nullopt, {1, 1}), rows_one)
              .ok());
  CHECK_FALSE(
      DeliverRows(*two, store::Store::Mint(kLineage, 1), Range(std::nullopt, {1, 1}), rows_two)
          .ok());
  one->Close();
  two->Close();
  CHECK(Query("SELECT count(*) FROM out") == 1);
}

TEST_CASE_FIXTURE(Fixture, "a fresh lineage takes over the ancestor's receipt as it was read") {
  const auto table = Table();
  REQUIRE(DeliverTo(*NewSession(*table), std::nullopt, {5, 1}, {1}).ok());
  auto session = NewSession(*table);
  REQUIRE(ReadReceipt(*session).value()->lineage == kLineage);
  ListReader rows(Batches{{2}});
  REQUIRE(
      DeliverRows(*session, store::Store::Mint(kOther, 7), Range(std::nullopt, {7, 1}), rows).ok());
  CHECK(ReadReceipt(*NewSession(*table)).value()->lineage == kOther);
}

TEST_CASE_FIXTURE(Fixture,
                  "power cut at every operation: rows and receipt are both there or both missing") {
  const auto table = Table();
  REQUIRE(DeliverTo(*NewSession(*table), std::nullopt, {1, 1}, {1}).ok());
  bool finished = false;
  int lost = 0, kept = 0;
  for (uint64_t at = 1; !finished && at < 200; ++at) {
    const auto before = files->AfterKill();
    auto world = before->AfterKill();
    std::unique_ptr<io::SimFiles> after;
    {
      const sqlite::SimVfs cut_vfs(*world, "weir-sim-cut");
      world->CrashAt(at);
      SqliteDelivery session(cut_vfs.name(), "/db/out.db", "pipeline", {MakeSqliteTable(*table)});
      finished = DeliverTo(session, protocol::TargetPosition{1, 1}, {2, 2}, {2, 3}).ok() &&
                 !world->crashed();
      after = world->AfterPowerCut(at);
    }
    const sqlite::SimVfs after_vfs(*after, "weir-sim-after");
    SqliteDelivery session(after_vfs.name(), "/db/out.db", "pipeline", {MakeSqliteTable(*table)});
    const auto receipt = ReadReceipt(session);
    REQUIRE(receipt.has_value());
    REQUIRE(receipt->has_value());
    session.Close();
    sqlite::OpenOptions options;
    options.vfs = after_vfs.name();
    options.use_wal = false;
    auto database = sqlite::Database::Open("/db/out.db", options);
    const int64_t count = (*database)->QueryInt("SELECT count(*) FROM out").value();
    CAPTURE(at);
    CHECK(count == ((*receipt)->position.epoch == 2 ? 3 : 1));
    (count == 3 ? kept : lost) += 1;
  }
  CHECK(finished);
  CHECK(lost > 3);
  CHECK(kept > 0);
}

TEST_CASE_FIXTURE(Fixture, "no space: nothing is delivered, and the same delivery works later") {
  const auto table = Table();
  REQUIRE(DeliverTo(*NewSession(*table), std::nullopt, {1, 1}, {1}).ok());
  auto session = NewSession(*table);
  REQUIRE(ReadReceipt(*session).has_value());
  bool full = true;
  files->OnOperation([&](const io::SimOp& op) {
    return full && op.kind == io::SimOpKind::kWrite ? io::SimFault::kNoSpace : io::SimFault::kNone;
  });
  std::vector<int64_t> many(20000, 2);
  ListReader rows(Batches{many});
  CHECK(DeliverRows(*session, store::Store::Mint(kLineage, 2),
                    Range(protocol::TargetPosition{1, 1}, {2, 20000}), rows)
            .code() == Code::kNoSpace);
  session->Close();
  full = false;
  CHECK(Query("SELECT count(*) FROM out") == 1);
  REQUIRE(DeliverTo(*NewSession(*table), protocol::TargetPosition{1, 1}, {2, 20000}, many).ok());
  CHECK(Query("SELECT count(*) FROM out") == 20001);
}

TEST_CASE_FIXTURE(Fixture, "with a PRIMARY KEY rows are upserted") {
  const auto table = Table({0});
  REQUIRE(DeliverTo(*NewSession(*table), std::nullopt, {1, 3}, {1, 2, 1}).ok());
  CHECK(Query("SELECT count(*) FROM out") == 2);
}

TEST_CASE("a target that cannot take the rows says why") {
  struct Case {
    const char* name;
    const char* sql;
    std::vector<int> key;
    Type type;
    Code code;
    const char* says;
  };
  const Type kInt = Type::Of(TypeKind::kInt);
  const Case cases[] = {
      {"no such column", "CREATE TABLE out (w INTEGER)", {}, kInt, Code::kInvalid, "no column v"},
      {"no key to upsert by", "CREATE TABLE out (v INTEGER)", {0}, kInt, Code::kInvalid, "out"},
      {"DECIMAL into NUMERIC",
       "CREATE TABLE out (v DECIMAL(10,2))",
       {},
       Type::Decimal(10, 2),
       Code::kInvalid,
       "TEXT"},
      {"not a database", "", {}, kInt, Code::kCorruption, "out.db"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Fixture f;
    if (*c.sql != '\0')
      f.Execute(c.sql);
    else
      f.files->PutFile("/db/out.db", std::string(4096, 'x'));
    const auto table = MakeTable({.name = "out",
                                  .connector = "sqlite",
                                  .options = {{"path", "/db/out.db"}},
                                  .columns = {{"v", c.type}},
                                  .primary_key = c.key});
    const auto fenced = ReadReceipt(*f.NewSession(*table));
    REQUIRE_FALSE(fenced.has_value());
    CHECK(fenced.error().code() == c.code);
    CHECK(fenced.error().message().find(c.says) != std::string::npos);
  }
}

TEST_CASE_FIXTURE(Fixture, "a row that the table refuses is waited out and names the table") {
  Execute("CREATE TABLE out (v INTEGER CHECK (v < 10))");
  const auto table = Table();
  const Status status = DeliverTo(*NewSession(*table), std::nullopt, {1, 2}, {1, 11});
  CHECK(status.code() == Code::kUnavailable);
  CHECK(status.message().find("out") != std::string::npos);
  CHECK(Query("SELECT count(*) FROM out") == 0);
  CHECK(Query("SELECT count(*) FROM weir_receipts") == 0);
}

TEST_CASE_FIXTURE(Fixture, "values are stored exactly") {
  const auto table = MakeTable({.name = "out",
                                .connector = "sqlite",
                                .options = {{"path", "/db/out.db"}},
                                .columns = {{"b", Type::Of(TypeKind::kBoolean)},
                                            {"i", Type::Of(TypeKind::kBigInt)},
                                            {"d", Type::Of(TypeKind::kDouble)},
                                            {"n", Type::Decimal(38, 2)},
                                            {"s", Type::Of(TypeKind::kString)},
                                            {"x", Type::Of(TypeKind::kBytes)},
                                            {"t", Type::Timestamp(3)},
                                            {"z", Type::TimestampLtz(3)},
                                            {"day", Type::Of(TypeKind::kDate)},
                                            {"null", Type::Of(TypeKind::kInt)}}});
  class OneRow : public flow::RowReader {
   public:
    explicit OneRow(const Schema& schema) : schema_(schema) {}
    Result<bool> Next(flow::RowsAt* at, Batch& out) override {
      if (done_) return false;
      done_ = true;
      at->sink = 0;
      out.Reset(schema_, 1);
      for (size_t i = 0; i < schema_.fields.size(); ++i)
        out.mutable_column(i).valid[0] = i + 1 < schema_.fields.size();
      out.mutable_column(0).bools[0] = 1;
      out.mutable_column(1).ints[0] = INT64_MAX;
      out.mutable_column(2).doubles[0] = 0.1;
      out.mutable_column(3).decimals[0] = static_cast<Int128>(1234567890123456789) * 1000 + 10;
      out.mutable_column(4).strings[0] = "it's";
      out.mutable_column(5).strings[0] = std::string_view("\0\xff", 2);
      out.mutable_column(6).ints[0] = 1500;
      out.mutable_column(7).ints[0] = 1500;
      out.mutable_column(8).ints[0] = 1;
      return true;
    }

   private:
    Schema schema_;
    bool done_ = false;
  };
  auto session = NewSession(*table);
  REQUIRE(ReadReceipt(*session).has_value());
  OneRow rows(SinkSchema(*table));
  REQUIRE(DeliverRows(*session, store::Store::Mint(kLineage, 1), Range(std::nullopt, {1, 1}), rows)
              .ok());
  session->Close();
  CHECK(QueryText("SELECT quote(b)||' '||quote(i)||' '||quote(d)||' '||quote(n)||' '||quote(s)||' "
                  "'||quote(x)||' '||quote(t)||' '||quote(z)||' '||quote(day)||' "
                  "'||quote(\"null\") FROM out") ==
        "1 9223372036854775807 0.1 '12345678901234567890.10' 'it''s' X'00FF' '1970-01-01 "
        "00:00:01.500' '1970-01-01 00:00:01.500Z' '1970-01-02' NULL");
}

TEST_CASE("what the target can never accept is known before the cut") {
  const auto table =
      MakeTable({.name = "out",
                 .connector = "sqlite",
                 .options = {{"path", "/x.db"}},
                 .columns = {{"k", Type::Of(TypeKind::kInt)}, {"d", Type::Of(TypeKind::kDouble)}},
                 .primary_key = {0}});
  const auto check = SqliteRowCheck(*table);
  Batch batch;
  batch.Reset(SinkSchema(*table), 4);
  for (uint32_t row = 0; row < 4; ++row) {
    batch.mutable_column(0).valid[row] = row != 1;
    batch.mutable_column(1).valid[row] = row != 3;
    batch.mutable_column(0).ints[row] = 1;
    batch.mutable_column(1).doubles[row] = row == 2 ? 0.0 / 0.0 : 1.0;
  }
  CHECK(check(batch, 0).empty());
  CHECK(check(batch, 1) == "NULL in PRIMARY KEY column k");
  CHECK(check(batch, 2).starts_with("NaN"));
  CHECK(check(batch, 3).empty());
}

TEST_CASE("SQL of a table") {
  const SqliteTable table{
      "a\"b",
      Schema{{{"k", Type::Of(TypeKind::kInt)}, {"v", Type::Decimal(4, 1).NotNull()}}},
      {0},
      true};
  CHECK(CreateTableSql(table) ==
        R"(CREATE TABLE "a""b" ("k" INTEGER NOT NULL, "v" TEXT NOT NULL, PRIMARY KEY ("k")))");
  CHECK(
      InsertSql(table) ==
      R"(INSERT INTO "a""b" ("k", "v") VALUES (?, ?) ON CONFLICT ("k") DO UPDATE SET "v" = excluded."v")");
  const SqliteTable keys_only{"t", Schema{{{"k", Type::Of(TypeKind::kInt)}}}, {0}, true};
  CHECK(InsertSql(keys_only) == R"(INSERT INTO "t" ("k") VALUES (?) ON CONFLICT ("k") DO NOTHING)");
}

}  // namespace
}  // namespace weir::connectors
