#include "data/value_text.h"

#include "data/decimal.h"

namespace weir {

void AppendScalarText(const Column& column, size_t row, TimestampStyle style, std::string& out) {
  switch (column.type.kind) {
    case TypeKind::kBoolean:
      out += column.bools[row] ? "true" : "false";
      return;
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kInterval:
      AppendInt64(column.ints[row], out);
      return;
    case TypeKind::kFloat:
      AppendFloat(static_cast<float>(column.doubles[row]), out);
      return;
    case TypeKind::kDouble:
      AppendDouble(column.doubles[row], out);
      return;
    case TypeKind::kDecimal:
      AppendDecimal(column.decimals[row], column.type.scale, out);
      return;
    case TypeKind::kDate:
      AppendDate(column.ints[row], out);
      return;
    case TypeKind::kTimestamp:
      AppendTimestamp(column.ints[row], column.type, style, SessionZone{}, out);
      return;
    case TypeKind::kTimestampLtz:
      AppendTimestamp(column.ints[row], column.type, style, SessionZone{}, out);
      if (style == TimestampStyle::kSql) out += 'Z';
      return;
    case TypeKind::kNull:
    case TypeKind::kString:
    case TypeKind::kBytes:
      break;
  }
  CHECK(false && "not a scalar");
}

bool IsBareInJson(const Type& type) {
  return type.kind == TypeKind::kBoolean || type.IsNumeric() || type.kind == TypeKind::kInterval;
}

}  // namespace weir
