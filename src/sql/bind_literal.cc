// Literals: numbers, typed texts, intervals.
#include <limits>
#include <utility>

#include "base/text.h"
#include "data/decimal.h"
#include "sql/bind_expr.h"
#include "sql/types.h"

namespace weir::sql {

using plan::ExprPtr;

namespace {

Value IntegerValue(int64_t number) {
  const bool narrow = number >= std::numeric_limits<int32_t>::min() &&
                      number <= std::numeric_limits<int32_t>::max();
  Value v;
  v.type = Type::Of(narrow ? TypeKind::kInt : TypeKind::kBigInt).NotNull();
  v.null = false;
  v.integer = number;
  return v;
}

}  // namespace

ExprPtr ExprBinder::BindNumber(const ExprAst& ast, bool negative) {
  const std::string text = (negative ? "-" : "") + ast.text;
  if (ast.text.find_first_of("eE") != std::string::npos) {
    Value v;
    v.type = Type::Of(TypeKind::kDouble).NotNull();
    v.null = false;
    if (ParseDouble(text, &v.number) != NumberError::kOk) {
      diagnostics_.Error(ast.at, "the number " + ast.text + " does not fit DOUBLE");
      return nullptr;
    }
    return plan::MakeLiteral(std::move(v), ast.at);
  }
  const size_t point = ast.text.find('.');
  if (point == std::string::npos) {
    if (const std::optional<int64_t> number = ParseInt64(text)) {
      return plan::MakeLiteral(IntegerValue(*number), ast.at);
    }
  }
  // Digits as written decide the type: 1.50 is DECIMAL(3, 2).
  std::string digits = ast.text;
  int scale = 0;
  if (point != std::string::npos) {
    scale = static_cast<int>(std::min<size_t>(digits.size() - point - 1, 1000));
    digits.erase(point, 1);
  }
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  const int precision =
      std::max({static_cast<int>(std::min<size_t>(digits.size(), 1000)), scale, 1});
  Value v;
  if (precision > kDecimalDigitsMax) {
    diagnostics_.Error(ast.at, "the number " + ast.text + " has more than 38 digits");
    return nullptr;
  }
  v.type = Type::Decimal(precision, scale).NotNull();
  v.null = false;
  std::string padded = text;  // "1." and ".5" are SQL's, not everybody's
  if (padded.ends_with('.')) padded.pop_back();
  const size_t dot = padded.find('.');
  if (dot != std::string::npos && (dot == 0 || padded[dot - 1] == '-')) padded.insert(dot, "0");
  if (ParseDecimal(padded, precision, scale, &v.decimal) != NumberError::kOk) {
    diagnostics_.Error(ast.at, "the number " + ast.text + " does not fit DECIMAL");
    return nullptr;
  }
  return plan::MakeLiteral(std::move(v), ast.at);
}

ExprPtr ExprBinder::BindTyped(const ExprAst& ast) {
  Value v;
  v.null = false;
  TimeParse parsed;
  if (ast.type.kind == TypeKind::kDate) {
    v.type = Type::Of(TypeKind::kDate).NotNull();
    parsed = ParseDate(ast.text);
  } else {
    const size_t point = ast.text.find('.');
    int digits = 0;
    if (point != std::string::npos) {
      for (size_t i = point + 1; i < ast.text.size() && ast.text[i] >= '0' && ast.text[i] <= '9';
           ++i) {
        ++digits;
      }
    }
    const int precision = std::min(digits, 9);
    v.type = ast.type.kind == TypeKind::kTimestamp ? Type::Timestamp(precision).NotNull()
                                                   : Type::TimestampLtz(precision).NotNull();
    parsed = ParseTimestamp(ast.text, v.type, zone_);
  }
  if (!parsed.ok) {
    diagnostics_.Error(ast.at, "'" + ast.text + "' is no " +
                                   (ast.type.kind == TypeKind::kDate ? "DATE" : "TIMESTAMP") +
                                   ": " + parsed.reason);
    return nullptr;
  }
  v.integer = parsed.ticks;
  return plan::MakeLiteral(std::move(v), ast.at);
}

namespace {

struct Unit {
  std::string_view name;
  int64_t ms;  // 0: a year-month unit
  int64_t months;
};
constexpr Unit kUnits[] = {
    {"SECOND", 1000, 0},  {"MINUTE", 60000, 0},   {"HOUR", 3600000, 0},
    {"DAY", 86400000, 0}, {"WEEK", 604800000, 0}, {"MILLISECOND", 1, 0},
    {"MONTH", 0, 1},      {"QUARTER", 0, 3},      {"YEAR", 0, 12},
};

const Unit* FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

// "1.5" SECOND. False: no number, or more than 100,000 years.
bool PlainMs(std::string_view text, int64_t unit_ms, int64_t* ms) {
  Int128 thousandths = 0;
  std::string number(TrimAscii(text));
  if (number.starts_with("+")) number.erase(0, 1);
  if (number.empty() || number.find_first_of("eE") != std::string::npos) return false;
  if (unit_ms == 1 && number.find('.') != std::string::npos) return false;
  if (ParseDecimal(number, 18, 3, &thousandths) != NumberError::kOk) return false;
  const Int128 total = thousandths * unit_ms;
  constexpr Int128 kLimit = static_cast<Int128>(100000) * 366 * 86400000;
  if (total % 1000 != 0 || total / 1000 > kLimit || total / 1000 < -kLimit) return false;
  *ms = static_cast<int64_t>(total / 1000);
  return true;
}

// '1 02:03:04.5' DAY TO SECOND and its shorter forms.
bool CompoundMs(std::string_view text, const Unit& from, const Unit& to, int64_t* ms) {
  std::string_view rest = TrimAscii(text);
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  static constexpr std::string_view kOrder[] = {"DAY", "HOUR", "MINUTE", "SECOND"};
  size_t at = 0;
  while (at < 4 && kOrder[at] != from.name) ++at;
  if (at == 4) return false;
  int64_t total = 0;
  while (true) {
    const bool last = kOrder[at] == to.name;
    const char separator = kOrder[at] == "DAY" ? ' ' : ':';
    const size_t end = last ? rest.size() : rest.find(separator);
    if (end == std::string_view::npos) return false;
    const std::string_view field = rest.substr(0, end);
    int64_t part = 0;
    if (field.starts_with('-') || !PlainMs(field, FindUnit(kOrder[at])->ms, &part)) return false;
    total += part;
    if (last) break;
    rest.remove_prefix(end + 1);
    if (++at == 4) return false;
  }
  *ms = negative ? -total : total;
  return true;
}

}  // namespace

bool IntervalMs(const ExprAst& ast, Diagnostics& diagnostics, int64_t* ms, int64_t* months) {
  const Unit* unit = FindUnit(ast.name);
  const Unit* to = ast.text2.empty() ? nullptr : FindUnit(ast.text2);
  if (unit == nullptr || (!ast.text2.empty() && to == nullptr)) {
    diagnostics.Error(ast.at, "unknown interval unit " + (unit == nullptr ? ast.name : ast.text2),
                      "SECOND, MINUTE, HOUR, DAY, WEEK, MONTH or YEAR");
    return false;
  }
  if (unit->ms == 0) {
    const std::optional<int64_t> count = ParseInt64(TrimAscii(ast.text));
    if (months == nullptr) {
      diagnostics.Error(ast.at,
                        "INTERVAL '" + ast.text + "' " + ast.name +
                            " has no fixed length and cannot be used here",
                        "use DAY: INTERVAL '30' DAY");
      return false;
    }
    if (to == nullptr && count && *count > -1200000 && *count < 1200000) {
      *months = *count * unit->months;
      return true;
    }
  } else if (to == nullptr ? PlainMs(ast.text, unit->ms, ms)
                           : CompoundMs(ast.text, *unit, *to, ms)) {
    return true;
  }
  diagnostics.Error(ast.at, "'" + ast.text + "' is no INTERVAL .. " + ast.name +
                                (to == nullptr ? "" : " TO " + ast.text2));
  return false;
}

ExprPtr ExprBinder::BindInterval(const ExprAst& ast) {
  Value v;
  v.type = Type::Of(TypeKind::kInterval).NotNull();
  v.null = false;
  if (!IntervalMs(ast, diagnostics_, &v.integer, nullptr)) return nullptr;
  return plan::MakeLiteral(std::move(v), ast.at);
}

}  // namespace weir::sql
