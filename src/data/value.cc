#include "data/value.h"

#include <charconv>
#include <cmath>

#include "base/text.h"
#include "data/decimal.h"
#include "data/timestamp.h"

namespace weir {
namespace {

std::string Quote(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

std::string CastOf(const std::string& inner, Type type) {
  type.nullable = true;  // CAST(.. AS INT NOT NULL) is no SQL
  return "CAST(" + inner + " AS " + type.ToString() + ")";
}

// A literal with an exponent is a DOUBLE, one without is a DECIMAL: always print the exponent.
std::string DoubleLiteral(double v) {
  if (std::isnan(v)) return "CAST('NaN' AS DOUBLE)";
  if (std::isinf(v)) {
    return v < 0 ? "CAST('-Infinity' AS DOUBLE)" : "CAST('Infinity' AS DOUBLE)";
  }
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific).ptr;
  std::string out;
  for (const char* p = text; p != end; ++p) {
    if (*p == 'e') {
      if (out.find('.') == std::string::npos) out += ".0";
      out += 'E';
      if (*++p == '-') out += '-';
      while (p + 2 < end && p[1] == '0') ++p;  // to_chars writes at least two exponent digits
      continue;
    }
    out += *p;
  }
  return out;
}

std::string DecimalLiteral(const Value& v) {
  std::string digits;
  AppendDecimal(v.decimal, v.type.scale, digits);
  int precision = 0;
  for (char c : digits) precision += c >= '0' && c <= '9';
  // A plain literal is bound to the digits it shows; any other type needs the cast to survive a
  // round trip.
  const bool plain = v.type.scale > 0 && precision == v.type.precision;
  return plain ? digits : CastOf(digits, v.type);
}

// The largest unit that divides the value: '5' SECOND and '5000' ms are one text.
std::string IntervalLiteral(int64_t ms) {
  static constexpr struct {
    int64_t ms;
    const char* unit;
  } kUnits[] = {{86400000, "DAY"}, {3600000, "HOUR"}, {60000, "MINUTE"}, {1000, "SECOND"}};
  for (const auto& u : kUnits) {
    if (ms != 0 && ms % u.ms == 0) {
      return "INTERVAL '" + std::to_string(ms / u.ms) + "' " + u.unit;
    }
  }
  std::string seconds;
  AppendDecimal(ms, 3, seconds);
  return "INTERVAL '" + (ms == 0 ? "0" : seconds) + "' SECOND";
}

std::string TimestampLiteral(const Value& v) {
  std::string text;
  Type utc = v.type;
  utc.kind = TypeKind::kTimestamp;  // an instant is printed in UTC, whatever the session's zone
  AppendTimestamp(v.integer, utc, TimestampStyle::kSql, SessionZone{}, text);
  if (v.type.kind == TypeKind::kTimestampLtz) return CastOf(Quote(text + "Z"), v.type);
  return "TIMESTAMP " + Quote(text);
}

}  // namespace

std::string Value::ToSql() const {
  if (null) return type.kind == TypeKind::kNull ? "NULL" : CastOf("NULL", type);
  switch (type.kind) {
    case TypeKind::kNull:
      return "NULL";
    case TypeKind::kBoolean:
      return boolean ? "TRUE" : "FALSE";
    case TypeKind::kInt:
      return std::to_string(integer);
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kBigInt:
      return CastOf(std::to_string(integer), type);
    case TypeKind::kDouble:
      return DoubleLiteral(number);
    case TypeKind::kFloat:
      return CastOf(DoubleLiteral(number), type);
    case TypeKind::kDecimal:
      return DecimalLiteral(*this);
    case TypeKind::kString:
      return type.length == 0 ? Quote(text) : CastOf(Quote(text), type);
    case TypeKind::kBytes:
      return "X'" + HexEncode(text) + "'";
    case TypeKind::kDate: {
      std::string day;
      AppendDate(integer, day);
      return "DATE " + Quote(day);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return TimestampLiteral(*this);
    case TypeKind::kInterval:
      return IntervalLiteral(integer);
  }
  return "";
}

}  // namespace weir
