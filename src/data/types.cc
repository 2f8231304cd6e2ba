#include "data/types.h"

namespace weir {

bool Type::SameAs(const Type& other) const {
  return kind == other.kind && precision == other.precision && scale == other.scale &&
         length == other.length;
}

Physical Type::physical() const {
  switch (kind) {
    case TypeKind::kNull:  // only ever NULLs: any layout will do, this is the smallest
    case TypeKind::kBoolean:
      return Physical::kBool;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kInterval:
      return Physical::kInt64;
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return Physical::kDouble;
    case TypeKind::kDecimal:
      return Physical::kInt128;
    case TypeKind::kString:
    case TypeKind::kBytes:
      return Physical::kString;
  }
  return Physical::kBool;
}

namespace {

std::string BareName(const Type& t) {
  switch (t.kind) {
    case TypeKind::kNull:
      return "NULL";
    case TypeKind::kBoolean:
      return "BOOLEAN";
    case TypeKind::kTinyInt:
      return "TINYINT";
    case TypeKind::kSmallInt:
      return "SMALLINT";
    case TypeKind::kInt:
      return "INT";
    case TypeKind::kBigInt:
      return "BIGINT";
    case TypeKind::kFloat:
      return "FLOAT";
    case TypeKind::kDouble:
      return "DOUBLE";
    case TypeKind::kDecimal:
      return "DECIMAL(" + std::to_string(t.precision) + ", " + std::to_string(t.scale) + ")";
    case TypeKind::kString:
      return t.length == 0 ? "STRING" : "VARCHAR(" + std::to_string(t.length) + ")";
    case TypeKind::kBytes:
      return "BYTES";
    case TypeKind::kDate:
      return "DATE";
    case TypeKind::kTimestamp:
      return "TIMESTAMP(" + std::to_string(t.precision) + ")";
    case TypeKind::kTimestampLtz:
      return "TIMESTAMP_LTZ(" + std::to_string(t.precision) + ")";
    case TypeKind::kInterval:
      return "INTERVAL DAY TO SECOND";
  }
  return "";
}

}  // namespace

std::string Type::Name() const { return BareName(*this); }

std::string Type::ToString() const {
  std::string name = BareName(*this);
  if (!nullable) name += " NOT NULL";
  return name;
}

std::optional<int> Schema::Find(std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace weir
