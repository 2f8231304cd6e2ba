#include "data/value.h"

#include <doctest/doctest.h>

#include <limits>

namespace weir {
namespace {

Value Of(Type type) {
  Value v;
  v.type = type;
  v.null = false;
  return v;
}
Value Integer(Type type, int64_t i) {
  Value v = Of(type);
  v.integer = i;
  return v;
}
Value Number(Type type, double d) {
  Value v = Of(type);
  v.number = d;
  return v;
}
Value Text(Type type, std::string s) {
  Value v = Of(type);
  v.text = std::move(s);
  return v;
}

TEST_CASE("types print as canonical SQL") {
  Type varchar = Type::Of(TypeKind::kString);
  varchar.length = 5;
  const struct {
    Type given;
    const char* want;
  } cases[] = {
      {Type::Of(TypeKind::kNull), "NULL"},
      {Type::Of(TypeKind::kBoolean), "BOOLEAN"},
      {Type::Of(TypeKind::kTinyInt), "TINYINT"},
      {Type::Of(TypeKind::kSmallInt), "SMALLINT"},
      {Type::Of(TypeKind::kInt), "INT"},
      {Type::Of(TypeKind::kBigInt).NotNull(), "BIGINT NOT NULL"},
      {Type::Of(TypeKind::kFloat), "FLOAT"},
      {Type::Of(TypeKind::kDouble), "DOUBLE"},
      {Type::Decimal(12, 2).NotNull(), "DECIMAL(12, 2) NOT NULL"},
      {Type::Of(TypeKind::kString), "STRING"},
      {varchar, "VARCHAR(5)"},
      {Type::Of(TypeKind::kBytes), "BYTES"},
      {Type::Of(TypeKind::kDate), "DATE"},
      {Type::Timestamp(3), "TIMESTAMP(3)"},
      {Type::TimestampLtz(9), "TIMESTAMP_LTZ(9)"},
      {Type::Of(TypeKind::kInterval), "INTERVAL DAY TO SECOND"},
  };
  for (const auto& c : cases) CHECK(c.given.ToString() == c.want);
  CHECK(Type::Timestamp(3).SameAs(Type::Timestamp(3).NotNull()));
  CHECK(!Type::Timestamp(3).SameAs(Type::Timestamp(6)));
  CHECK(!(Type::Timestamp(3) == Type::Timestamp(3).NotNull()));
  CHECK(Type::Of(TypeKind::kNull).physical() == Physical::kBool);
}

TEST_CASE("a schema finds names by exact spelling") {
  const Schema s{{{"a", Type::Of(TypeKind::kInt)}, {"A", Type::Of(TypeKind::kInt)}}};
  CHECK(s.Find("A") == 1);
  CHECK(!s.Find("b").has_value());
}

TEST_CASE("values print as literals of their type") {
  Type varchar = Type::Of(TypeKind::kString);
  varchar.length = 5;
  Value yes = Of(Type::Of(TypeKind::kBoolean));
  yes.boolean = true;
  Value price = Of(Type::Decimal(4, 2));
  price.decimal = -1250;
  Value wide = Of(Type::Decimal(12, 2));
  wide.decimal = 5;
  Value whole = Of(Type::Decimal(3, 0));
  whole.decimal = 100;
  const Type dbl = Type::Of(TypeKind::kDouble);
  const double inf = std::numeric_limits<double>::infinity();
  const struct {
    Value given;
    const char* want;
  } cases[] = {
      {Value::Null(Type::Of(TypeKind::kNull)), "NULL"},
      {Value::Null(Type::Of(TypeKind::kInt).NotNull()), "CAST(NULL AS INT)"},
      {yes, "TRUE"},
      {Integer(Type::Of(TypeKind::kInt), -5), "-5"},
      {Integer(Type::Of(TypeKind::kBigInt), 5), "CAST(5 AS BIGINT)"},
      {Number(dbl, 1.5), "1.5E0"},
      {Number(dbl, 1e-7), "1.0E-7"},
      {Number(dbl, 1.25e300), "1.25E300"},
      {Number(dbl, -inf), "CAST('-Infinity' AS DOUBLE)"},
      {Number(Type::Of(TypeKind::kFloat), 0.5), "CAST(5.0E-1 AS FLOAT)"},
      {price, "-12.50"},
      {wide, "CAST(0.05 AS DECIMAL(12, 2))"},
      {whole, "CAST(100 AS DECIMAL(3, 0))"},
      {Text(Type::Of(TypeKind::kString), "it's"), "'it''s'"},
      {Text(varchar, "a"), "CAST('a' AS VARCHAR(5))"},
      {Text(Type::Of(TypeKind::kBytes), std::string("\0\xff", 2)), "X'00ff'"},
      {Integer(Type::Of(TypeKind::kDate), 1), "DATE '1970-01-02'"},
      {Integer(Type::Timestamp(3), 1), "TIMESTAMP '1970-01-01 00:00:00.001'"},
      {Integer(Type::TimestampLtz(3), 0), "CAST('1970-01-01 00:00:00.000Z' AS TIMESTAMP_LTZ(3))"},
      {Integer(Type::Of(TypeKind::kInterval), 5000), "INTERVAL '5' SECOND"},
      {Integer(Type::Of(TypeKind::kInterval), -120000), "INTERVAL '-2' MINUTE"},
      {Integer(Type::Of(TypeKind::kInterval), 86400000), "INTERVAL '1' DAY"},
      {Integer(Type::Of(TypeKind::kInterval), 1500), "INTERVAL '1.500' SECOND"},
      {Integer(Type::Of(TypeKind::kInterval), 0), "INTERVAL '0' SECOND"},
  };
  for (const auto& c : cases) CHECK(c.given.ToSql() == c.want);
}

}  // namespace
}  // namespace weir
