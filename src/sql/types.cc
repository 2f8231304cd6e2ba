#include "sql/types.h"

#include <algorithm>
#include <utility>

#include "data/decimal.h"

namespace weir::sql {

using plan::Expr;
using plan::ExprPtr;
using plan::Fn;

namespace {

int IntegerDigits(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt:
      return 3;
    case TypeKind::kSmallInt:
      return 5;
    case TypeKind::kInt:
      return 10;
    default:
      return 19;
  }
}

// Flink's rule for results of more than 38 digits: integer digits are kept, the fraction gives way
// down to 6 digits.
Type Adjusted(int precision, int scale) {
  if (precision <= kDecimalDigitsMax) return Type::Decimal(precision, scale);
  const int integer_digits = precision - scale;
  const int least = std::min(scale, 6);
  return Type::Decimal(kDecimalDigitsMax, std::max(kDecimalDigitsMax - integer_digits, least));
}

Type DecimalResult(Fn fn, const Type& a, const Type& b) {
  const int s1 = a.scale, s2 = b.scale;
  const int i1 = a.precision - s1, i2 = b.precision - s2;
  switch (fn) {
    case Fn::kMul:
      return Adjusted(a.precision + b.precision + 1, s1 + s2);
    case Fn::kDiv: {
      const int scale = std::max(6, s1 + b.precision + 1);
      return Adjusted(i1 + s2 + scale, scale);
    }
    case Fn::kMod: {
      const int scale = std::max(s1, s2);
      return Adjusted(std::max(std::min(i1, i2) + scale, 1), scale);
    }
    default: {
      const int scale = std::max(s1, s2);
      return Adjusted(std::max(i1, i2) + scale + 1, scale);
    }
  }
}

std::optional<Type> CommonNumeric(const Type& a, const Type& b) {
  const bool approximate = a.kind == TypeKind::kDouble || b.kind == TypeKind::kDouble ||
                           a.kind == TypeKind::kFloat || b.kind == TypeKind::kFloat;
  if (approximate) {
    const bool wide = a.kind == TypeKind::kDouble || b.kind == TypeKind::kDouble ||
                      a.kind == TypeKind::kDecimal || b.kind == TypeKind::kDecimal;
    return Type::Of(wide ? TypeKind::kDouble : TypeKind::kFloat);
  }
  if (a.kind == TypeKind::kDecimal || b.kind == TypeKind::kDecimal) {
    const Type x = AsDecimal(a), y = AsDecimal(b);
    const int scale = std::max(x.scale, y.scale);
    const int integer_digits = std::max(x.precision - x.scale, y.precision - y.scale);
    return Type::Decimal(std::min(integer_digits + scale, kDecimalDigitsMax),
                         std::min(scale, kDecimalDigitsMax));
  }
  return Type::Of(std::max(a.kind, b.kind));
}

bool IsTime(const Type& t) { return t.IsTimestamp() || t.kind == TypeKind::kDate; }

std::optional<Type> CommonTime(const Type& a, const Type& b) {
  if (a.kind == TypeKind::kDate && b.kind == TypeKind::kDate) return a;
  Type out = a.IsTimestamp() ? a : b;
  out.precision = std::max(a.precision, b.precision);
  if (a.kind == TypeKind::kTimestampLtz || b.kind == TypeKind::kTimestampLtz) {
    out.kind = TypeKind::kTimestampLtz;
  }
  return out;
}

}  // namespace

Type AsDecimal(const Type& type) {
  return type.kind == TypeKind::kDecimal ? type : Type::Decimal(IntegerDigits(type.kind), 0);
}

std::optional<Type> CommonType(const Type& a, const Type& b) {
  std::optional<Type> out;
  if (a.kind == TypeKind::kNull) {
    out = b;
  } else if (b.kind == TypeKind::kNull) {
    out = a;
  } else if (a.IsNumeric() && b.IsNumeric()) {
    out = CommonNumeric(a, b);
  } else if (IsTime(a) && IsTime(b)) {
    out = CommonTime(a, b);
  } else if (a.kind == b.kind) {
    out = a;
    if (a.length != b.length) {
      out->length = a.length == 0 || b.length == 0 ? 0 : std::max(a.length, b.length);
    }
  }
  if (out) {
    out->nullable =
        a.nullable || b.nullable || a.kind == TypeKind::kNull || b.kind == TypeKind::kNull;
  }
  return out;
}

Type ArithmeticType(Fn fn, const Type& a, const Type& b) {
  Type out = *CommonNumeric(a, b);
  if (out.kind == TypeKind::kDecimal) out = DecimalResult(fn, AsDecimal(a), AsDecimal(b));
  out.nullable = a.nullable || b.nullable;
  return out;
}

std::string Shown(Type type) { return type.Name(); }

bool IsOrdered(const Type& t) {
  return t.IsNumeric() || IsTime(t) || t.kind == TypeKind::kString ||
         t.kind == TypeKind::kBoolean || t.kind == TypeKind::kBytes ||
         t.kind == TypeKind::kInterval;
}

bool CanCast(const Type& from, const Type& to) {
  if (from.kind == TypeKind::kNull) return true;
  if (from.kind == TypeKind::kInterval || to.kind == TypeKind::kInterval) return false;
  if (to.kind == TypeKind::kNull) return false;
  if (from.kind == to.kind || from.kind == TypeKind::kString || to.kind == TypeKind::kString) {
    return true;
  }
  if (from.IsNumeric() && to.IsNumeric()) return true;
  if (IsTime(from) && IsTime(to)) return true;
  // TRUE is 1, as in Flink.
  return (from.kind == TypeKind::kBoolean && to.IsNumeric()) ||
         (from.IsNumeric() && to.kind == TypeKind::kBoolean);
}

bool CanAssign(const Type& from, const Type& to) {
  if (from.kind == TypeKind::kNull) return true;
  if (from.IsInteger() && to.IsInteger()) return from.kind <= to.kind;
  if (from.IsNumeric() && to.kind == TypeKind::kDecimal) {
    return from.kind == TypeKind::kDecimal || from.IsInteger();
  }
  if (from.IsNumeric() && to.kind == TypeKind::kDouble) return true;
  if (from.IsNumeric() && to.kind == TypeKind::kFloat) return from.kind != TypeKind::kDouble;
  if (from.IsTimestamp() && to.IsTimestamp()) return true;
  if (from.IsTimestamp() && to.kind == TypeKind::kDate)
    return true;  // Flink's; the time of day goes
  if (from.kind == TypeKind::kString && to.kind == TypeKind::kString) {
    return to.length == 0 || (from.length != 0 && from.length <= to.length);
  }
  return from.kind == to.kind;
}

namespace {

bool FoldToDecimal(Value& v, const Type& type) {
  const bool integer = v.type.IsInteger();
  const std::optional<Int128> value =
      Rescale(integer ? static_cast<Int128>(v.integer) : v.decimal, integer ? 0 : v.type.scale,
              type.scale, type.precision);
  if (!value) return false;
  // Rounding a literal away would hide what the kernel reports.
  if (!integer && type.scale < v.type.scale) return false;
  v.decimal = *value;
  return true;
}

// A number literal that is the same number in `type`.
bool FoldLiteral(Value& v, const Type& type) {
  if (v.null) return true;
  if (v.type.kind == type.kind && v.type.kind == TypeKind::kString) {
    return type.length == 0;  // longer or unbounded: the same text
  }
  if (v.type.IsInteger() && type.IsInteger()) return v.type.kind <= type.kind;
  if (type.kind == TypeKind::kDecimal &&
      (v.type.IsInteger() || v.type.kind == TypeKind::kDecimal)) {
    return FoldToDecimal(v, type);
  }
  if (type.kind != TypeKind::kDouble) return false;
  if (v.type.IsInteger()) {
    v.number = DecimalToDouble(v.integer, 0);
    return true;
  }
  if (v.type.kind == TypeKind::kDecimal) {
    v.number = DecimalToDouble(v.decimal, v.type.scale);
    return true;
  }
  return false;
}

}  // namespace

ExprPtr Coerce(ExprPtr e, const Type& type) {
  Type wanted = type;
  wanted.nullable = e->type.nullable;
  if (e->type.SameAs(wanted)) return e;
  if (e->kind == Expr::Kind::kLiteral) {
    Value value = e->literal;
    if (FoldLiteral(value, wanted)) {
      value.type = wanted;
      return plan::MakeLiteral(std::move(value), e->position);
    }
  }
  const plan::Position at = e->position;
  std::vector<ExprPtr> args;
  args.push_back(std::move(e));
  return plan::MakeCall(Fn::kCast, wanted, std::move(args), at);
}

}  // namespace weir::sql
