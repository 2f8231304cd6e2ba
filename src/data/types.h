// Types: what a column holds, as SQL says it and as memory lays it out.
#ifndef WEIR_DATA_TYPES_H_
#define WEIR_DATA_TYPES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

using Int128 = __int128;

enum class TypeKind : uint8_t {
  kNull,  // the type of the literal NULL before it is coerced; never a table column
  kBoolean,
  kTinyInt,
  kSmallInt,
  kInt,
  kBigInt,
  kFloat,  // values are rounded to binary32, stored as double
  kDouble,
  kDecimal,  // DECIMAL(precision 1..38, scale 0..precision)
  kString,   // STRING, VARCHAR(length), CHAR(length): valid UTF-8; length in code points, 0 =
             // unbounded
  kBytes,
  kDate,          // days since 1970-01-01
  kTimestamp,     // TIMESTAMP(0..9), without zone
  kTimestampLtz,  // TIMESTAMP_LTZ(0..9), an instant
  kInterval,      // day-time interval, ms; literals and arithmetic only, never a table column
};

// How the values of a type lie in a Column.
enum class Physical : uint8_t { kBool, kInt64, kDouble, kInt128, kString };

struct Type {
  TypeKind kind = TypeKind::kNull;
  uint8_t precision = 0;  // DECIMAL: digits. TIMESTAMP*: fraction digits
  uint8_t scale = 0;      // DECIMAL
  uint32_t length = 0;    // VARCHAR(n)/CHAR(n); 0 = STRING
  bool nullable = true;   // false: NOT NULL; a violation is a dead letter

  bool operator==(const Type&) const = default;  // nullability included
  bool SameAs(const Type& other) const;          // nullability apart
  Physical physical() const;
  bool IsInteger() const { return kind >= TypeKind::kTinyInt && kind <= TypeKind::kBigInt; }
  bool IsNumeric() const { return kind >= TypeKind::kTinyInt && kind <= TypeKind::kDecimal; }
  bool IsTimestamp() const {
    return kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampLtz;
  }
  std::string Name() const;      // "DECIMAL(12, 2)": for messages about values
  std::string ToString() const;  // "DECIMAL(12, 2) NOT NULL": canonical SQL, part of fingerprints

  static Type Of(TypeKind kind) { return Type{kind, 0, 0, 0, true}; }
  static Type Decimal(int precision, int scale) {
    return Type{TypeKind::kDecimal, static_cast<uint8_t>(precision), static_cast<uint8_t>(scale), 0,
                true};
  }
  static Type Timestamp(int precision) {
    return Type{TypeKind::kTimestamp, static_cast<uint8_t>(precision), 0, 0, true};
  }
  static Type TimestampLtz(int precision) {
    return Type{TypeKind::kTimestampLtz, static_cast<uint8_t>(precision), 0, 0, true};
  }
  Type NotNull() const {
    Type t = *this;
    t.nullable = false;
    return t;
  }
};

// A timestamp is an int64 in ticks since 1970-01-01 00:00 UTC: milliseconds for precision 0..3,
// microseconds for 4..6, nanoseconds for 7..9. Fraction digits beyond the precision are cut. Years
// 0001..9999 (ns: 1677..2262); outside: error.
inline int64_t TicksPerMs(const Type& t) {
  return t.precision <= 3 ? 1 : t.precision <= 6 ? 1000 : 1000000;
}

struct Field {
  std::string name;
  Type type;
  bool operator==(const Field&) const = default;
};

struct Schema {
  std::vector<Field> fields;
  std::optional<int> Find(std::string_view name) const;  // exact spelling
  bool operator==(const Schema&) const = default;
};

}  // namespace weir

#endif  // WEIR_DATA_TYPES_H_
