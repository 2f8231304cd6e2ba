#include "data/row_codec.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

#include "data/testing/rows.h"

namespace weir {
namespace {

Schema AllTypes() {
  return Schema{{{"b", Type::Of(TypeKind::kBoolean)},
                 {"i", Type::Of(TypeKind::kBigInt)},
                 {"d", Type::Of(TypeKind::kDouble)},
                 {"m", Type::Decimal(38, 2)},
                 {"s", Type::Of(TypeKind::kString)},
                 {"y", Type::Of(TypeKind::kBytes)},
                 {"t", Type::Timestamp(3)},
                 {"n1", Type::Of(TypeKind::kInt)},
                 {"n2", Type::Of(TypeKind::kInt)}}};
}

TEST_CASE("a row reads back as it was written, NULLs apart from values") {
  const Schema schema = AllTypes();
  Batch in;
  in.Reset(schema, 2);
  SetRow(in, 0,
         {"true", "-9223372036854775808", "-0.0", "-12345678901234567890.05", "a\0b", "\xff", "-1",
          "NULL", "7"});
  SetRow(in, 1, {"NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL", "NULL"});
  std::string bytes;
  AppendRowBytes(in, 0, bytes);
  AppendRowBytes(in, 1, bytes);
  CHECK(bytes.size() - 2 < 70);
  Batch out;
  out.Reset(schema);
  ByteReader reader(bytes);
  REQUIRE(ReadRowBytes(reader, schema, out));
  REQUIRE(ReadRowBytes(reader, schema, out));
  CHECK(reader.AtEnd());
  CHECK(out.rows() == 2);
  CHECK(RowText(out, 0) == RowText(in, 0));
  CHECK(RowText(out, 1) == RowText(in, 1));
}

TEST_CASE("a damaged row is refused and leaves the batch as it was") {
  const Schema schema = AllTypes();
  Batch in;
  in.Reset(schema, 1);
  SetRow(in, 0, {"true", "1", "2.0", "3.00", "text", "bytes", "5", "6", "7"});
  std::string bytes;
  AppendRowBytes(in, 0, bytes);
  Batch out;
  out.Reset(schema);
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    ByteReader reader(std::string_view(bytes).substr(0, cut));
    CHECK(!ReadRowBytes(reader, schema, out));
    CHECK(out.rows() == 0);
    CHECK(out.column(0).size() == 0);
  }
  std::string other = bytes;
  other[1] = static_cast<char>(0x81);  // a tenth column
  ByteReader too_many(other);
  CHECK(!ReadRowBytes(too_many, schema, out));
  other = bytes;
  other[2] = 2;  // a bool that is neither
  ByteReader no_bool(other);
  CHECK(!ReadRowBytes(no_bool, schema, out));
  CHECK(out.rows() == 0);
}

TEST_CASE("keys: equal in SQL's sense is equal bytes, different is different") {
  const Schema schema{{{"d", Type::Of(TypeKind::kDouble)},
                       {"s", Type::Of(TypeKind::kString)},
                       {"t", Type::Of(TypeKind::kString)}}};
  Batch b;
  b.Reset(schema, 9);
  SetRow(b, 0, {"0.0", "a", "b"});
  SetRow(b, 1, {"-0.0", "a", "b"});
  SetRow(b, 2, {"0.0", "ab", ""});
  SetRow(b, 3, {"NULL", "a", "b"});
  SetRow(b, 4, {"NULL", "a", "b"});
  SetRow(b, 5, {"0.0", "NULL", "b"});
  SetRow(b, 6, {"0.0", "", "b"});
  SetRow(b, 7, {"1.0", "a", "b"});
  SetRow(b, 8, {"1.0", "a", "b"});
  b.mutable_column(0).doubles[7] = std::numeric_limits<double>::quiet_NaN();
  b.mutable_column(0).doubles[8] = -std::numeric_limits<double>::quiet_NaN();
  std::vector<std::string> keys(9);
  for (uint32_t r = 0; r < 9; ++r) AppendKey(b, r, {0, 1, 2}, keys[r]);
  const int group[] = {0, 0, 2, 3, 3, 5, 6, 7, 7};
  for (size_t i = 0; i < 9; ++i) {
    for (size_t k = 0; k < 9; ++k) {
      CAPTURE(i);
      CAPTURE(k);
      CHECK((keys[i] == keys[k]) == (group[i] == group[k]));
    }
  }
}

TEST_CASE("a key reads back into the columns that it came from") {
  const Schema schema = AllTypes();
  Batch in, out;
  in.Reset(schema, 1);
  out.Reset(schema, 3);
  SetRow(in, 0, {"false", "-5", "2.5", "3.25", "text", "bytes", "NULL", "6", "7"});
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<Type> types;
  for (const Field& f : schema.fields) types.push_back(f.type);
  std::string key;
  AppendKey(in, 0, all, key);
  REQUIRE(ReadKey(key, types, out, all, 2));
  CHECK(RowText(out, 2) == RowText(in, 0));
  for (size_t cut = 0; cut < key.size(); ++cut) {
    CHECK(!ReadKey(std::string_view(key).substr(0, cut), types, out, all, 1));
  }
  CHECK(!ReadKey(key + "x", types, out, all, 1));
  key[0] = 2;
  CHECK(!ReadKey(key, types, out, all, 1));
}

}  // namespace
}  // namespace weir
