#include "flow/dead_letters.h"

#include <doctest/doctest.h>

namespace weir::flow {
namespace {

Schema Input() {
  return Schema{{{"k", Type::Of(TypeKind::kString)}, {"v", Type::Of(TypeKind::kBigInt)}}};
}

Batch OneRow() {
  Batch batch;
  batch.Reset(Input(), 1);
  batch.mutable_column(0).valid[0] = 1;
  batch.mutable_column(0).strings[0] = "a\"b";
  batch.mutable_column(1).valid[0] = 0;
  return batch;
}

std::string Text(const Batch& b, size_t column, uint32_t row) {
  return b.column(column).IsNull(row) ? "NULL" : std::string(b.column(column).strings[row]);
}
std::string Number(const Batch& b, size_t column, uint32_t row) {
  return b.column(column).IsNull(row) ? "NULL" : std::to_string(b.column(column).ints[row]);
}

TEST_CASE("a row that failed becomes its JSON, with where it came from") {
  Batch from = OneRow();
  from.partition = 3;
  from.source = "clicks";
  from.positions = {77};
  from.watermarks = {5};
  DeadLetterBuilder builder;
  CHECK(builder.empty());
  builder.AddRow(DeadStage::kEval, "eval.cast", "not an INT", from, 0, Input());
  const Batch& dead = builder.batch();
  REQUIRE(dead.rows() == 1);
  REQUIRE(dead.column_count() == DeadLetterSchema().fields.size());
  CHECK(Text(dead, 0, 0) == "eval");
  CHECK(Text(dead, 1, 0) == "eval.cast");
  CHECK(Text(dead, 2, 0) == "not an INT");
  CHECK(Text(dead, 3, 0) == "NULL");
  CHECK(Text(dead, 4, 0) == R"({"k":"a\"b","v":null})");
  CHECK(Text(dead, 5, 0) == "clicks");
  CHECK(Number(dead, 6, 0) == "3");
  CHECK(Number(dead, 7, 0) == "77");
  CHECK(Number(dead, 8, 0) == "NULL");
  CHECK(dead.watermarks == std::vector<TimestampMs>{5});
  CHECK(dead.positions == std::vector<int64_t>{77});
}

TEST_CASE("a row of a fired window has no place in a source") {
  const Batch from = OneRow();
  DeadLetterBuilder builder;
  builder.AddRow(DeadStage::kResult, "c", "m", from, 0, Input());
  CHECK(Text(builder.batch(), 0, 0) == "result");
  CHECK(Text(builder.batch(), 5, 0) == "NULL");
  CHECK(Number(builder.batch(), 6, 0) == "NULL");
  CHECK(Number(builder.batch(), 7, 0) == "NULL");
  builder.Clear();
  CHECK(builder.empty());
}

TEST_CASE("a record that could not be decoded keeps its bytes") {
  NonRow record;
  record.pos = 12;
  record.code = "json.syntax";
  record.message = "no value";
  record.raw = std::string("\xff{", 2);
  DeadLetterBuilder builder;
  builder.AddRecord("clicks", 1, record);
  const Batch& dead = builder.batch();
  CHECK(Text(dead, 0, 0) == "decode");
  CHECK(Text(dead, 1, 0) == "json.syntax");
  CHECK(Text(dead, 3, 0) == record.raw);
  CHECK(Text(dead, 4, 0) == "NULL");
  CHECK(Text(dead, 5, 0) == "clicks");
  CHECK(Number(dead, 6, 0) == "1");
  CHECK(Number(dead, 7, 0) == "12");
}

TEST_CASE(
    "whatever the format: a record of another Unicode encoding is called so, with the way out") {
  for (const char* code : {"json.syntax", "csv.utf8", "raw.utf8", "regex.no-match"}) {
    NonRow record;
    record.code = code;
    record.message = "no value";
    record.raw = std::string("\xFF\xFE{\0}\0", 6);
    DeadLetterBuilder builder;
    builder.AddRecord("clicks", 1, record);
    const std::string message = Text(builder.batch(), 2, 0);
    CHECK(message.starts_with("no value; this looks like UTF-16"));
    CHECK(message.find("iconv -f UTF-16 -t UTF-8") != std::string::npos);
  }
}

TEST_CASE("the stages have the names of the docs") {
  CHECK(DeadStageName(DeadStage::kDecode) == "decode");
  CHECK(DeadStageName(DeadStage::kEval) == "eval");
  CHECK(DeadStageName(DeadStage::kResult) == "result");
  CHECK(DeadStageName(DeadStage::kSink) == "sink");
}

}  // namespace
}  // namespace weir::flow
