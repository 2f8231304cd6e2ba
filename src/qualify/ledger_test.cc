#include "qualify/ledger.h"

#include <doctest/doctest.h>

#include "io/sim_files.h"
#include "io/sim_world.h"
#include "qualify/generator.h"
#include "qualify/rows.h"

namespace weir::qualify {
namespace {

GenParameters Small() {
  GenParameters p;
  p.seed = 3;
  p.partitions = 2;
  p.records = 101;
  p.duplicate_ppm = 50'000;
  p.poison_ppm = 50'000;
  return p;
}

TEST_CASE("what a ledger says is read back") {
  GenParameters p = Small();
  p.start_ms = 5;
  p.seed = 1ull << 40;
  const Result<Ledger> ledger =
      ParseLedger(LedgerHead(p) + "sent 5 4\nproduced 5 4\nsent 10 8\nproduced 9 8\nprodu");
  REQUIRE(ledger.has_value());
  CHECK(ledger->parameters == p);
  CHECK(ledger->sent == std::vector<uint64_t>{10, 8});
  CHECK(ledger->produced == std::vector<uint64_t>{9, 8});
  CHECK_FALSE(ledger->ended);
}

TEST_CASE("a ledger that cannot be believed is refused by its line") {
  const std::string head = LedgerHead(Small());
  struct Case {
    const char* name;
    std::string text;
    const char* says;
  };
  const Case cases[] = {
      {"empty", "", "line 1"},
      {"of another program", "hello\n", "line 1: not a ledger"},
      {"of another version", "weir-ledger 2\n", "another version"},
      {"no parameters", "weir-ledger 1\n", "line 2"},
      {"parameters in part", "weir-ledger 1\ngen seed=1\n", "line 2"},
      {"too many counts", head + "sent 1 2 3\n", "line 3"},
      {"no number", head + "sent 1 x\n", "line 3"},
      {"counts that go back", head + "sent 5 5\nsent 4 5\n", "line 4"},
      {"more produced than sent", head + "sent 5 5\nproduced 5 6\n", "more produced"},
      {"more than there are", head + "sent 52 5\nproduced 1 1\n", "more sent"},
      {"an end without the rest", head + "sent 5 5\nproduced 5 4\nend\n", "not produced"},
      {"after the end", head + "end\nsent 1 1\n", "after the end"},
      {"a word", head + "sold 1 1\n", "neither"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const Result<Ledger> ledger = ParseLedger(c.text);
    REQUIRE_FALSE(ledger.has_value());
    CHECK(ledger.error().message().find(c.says) != std::string::npos);
  }
}

TEST_CASE("the generator's files hold what its ledger says, after any step") {
  io::SimFiles files;
  const GenParameters p = Small();
  auto ledger = LedgerWriter::Create(files, "led", p);
  auto target = NewFileTarget(files, "in", p.partitions);
  REQUIRE((ledger.has_value() && target.has_value()));
  Generator generator(p, **target, **ledger);
  for (const uint64_t until : {1, 7, 7, 60, 1000}) {
    REQUIRE(generator.ProduceUntil(until).ok());
    const Result<Ledger> now = ReadLedger(files, "led");
    REQUIRE(now.has_value());
    CHECK(now->produced == now->sent);
    CHECK(now->produced[0] + now->produced[1] == std::min<uint64_t>(until, p.records));
    for (uint32_t part = 0; part < p.partitions; ++part) {
      std::string want;
      for (uint64_t r = 0; r < now->produced[part]; ++r) {
        AppendRecord(p, MakeRecord(p, part, r), want);
        want += '\n';
      }
      CHECK(*io::ReadFile(files, "in/part-" + std::to_string(part) + ".jsonl", 1 << 20) == want);
    }
  }
  CHECK(generator.AtEnd());
  REQUIRE(generator.Finish().ok());
  CHECK(ReadLedger(files, "led")->ended);
  uint64_t sum = 0;
  for (const uint64_t n : generator.counts().kinds) sum += n;
  CHECK(sum == p.records);
}

// A target that takes some records and then fails.
class Failing : public RecordTarget {
 public:
  Status Add(const Record&, std::string_view) override {
    return --left_ >= 0 ? Status::Ok() : Status(Code::kNoSpace, "full");
  }
  Status Flush() override { return Status::Ok(); }
  Status Finish() override { return Status::Ok(); }

 private:
  int left_ = 5;
};

TEST_CASE("records that were sent before a failure are bounded by the ledger") {
  io::SimFiles files;
  const GenParameters p = Small();
  auto ledger = LedgerWriter::Create(files, "led", p);
  REQUIRE(ledger.has_value());
  Failing target;
  Generator generator(p, target, **ledger);
  CHECK(generator.ProduceUntil(20).code() == Code::kNoSpace);
  const Result<Ledger> now = ReadLedger(files, "led");
  REQUIRE(now.has_value());
  CHECK(now->produced == std::vector<uint64_t>{0, 0});
  CHECK(now->sent == std::vector<uint64_t>{10, 10});
}

TEST_CASE("a ledger or a file that exists is not written over") {
  io::SimFiles files;
  const GenParameters p = Small();
  REQUIRE(LedgerWriter::Create(files, "led", p).has_value());
  CHECK(LedgerWriter::Create(files, "led", p).error().code() == Code::kExists);
  REQUIRE(NewFileTarget(files, "in", 2).has_value());
  CHECK(NewFileTarget(files, "in", 2).error().code() == Code::kExists);
}

TEST_CASE("the rate lets one record out at the start") {
  GenParameters p = Small();
  p.rate = 10;
  CHECK(DueRecords(p, 0) == 1);
  CHECK(DueRecords(p, 99) == 1);
  CHECK(DueRecords(p, 1000) == 11);
}

TEST_CASE("a file's last line does not count before its line feed") {
  io::SimFiles files;
  REQUIRE(files.MakeDirectory("out").ok());
  const auto write = [&](const std::string& path, std::string_view text) {
    auto file = files.Open(path, io::OpenMode::kCreateNew);
    REQUIRE(file.has_value());
    REQUIRE((*file)->WriteAt(0, text).ok());
  };
  write("out/b", "3\n");
  write("out/a", "1\n\n2\n9");
  write("out/.hidden", "7\n");
  std::vector<std::string> lines;
  const auto reader = NewFileReader(files, "out", {});
  const Result<uint64_t> mark = reader->Mark();
  REQUIRE(reader->Read([&](const Row& row) { lines.emplace_back(row.raw); }).ok());
  CHECK(lines == std::vector<std::string>{"1", "", "2", "3"});
  write("out/c", "");
  CHECK(*reader->Mark() != *mark);
  CHECK(NewFileReader(files, "none", {})->Read([](const Row&) {}).code() == Code::kNotFound);
}

}  // namespace
}  // namespace weir::qualify
