#include "data/convert.h"

#include <limits>

#include "base/text.h"
#include "data/base64.h"
#include "data/decimal.h"
#include "data/utf8.h"

namespace weir {
namespace {

using Problem = ConvertResult::Problem;

ConvertResult FromNumberError(NumberError error, bool decimal) {
  switch (error) {
    case NumberError::kOk:
      return {};
    case NumberError::kSyntax:
      return {Problem::kNotA, ""};
    case NumberError::kInexact:
      return {decimal ? Problem::kDigits : Problem::kFraction, ""};
    case NumberError::kOverflow:
      return {Problem::kRange, ""};
  }
  return {Problem::kNotA, ""};
}

bool IsWholeNumber(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

ConvertResult Number(std::string_view text, const Type& type, TextRules rules, Column& out,
                     size_t row) {
  text = TrimAscii(text);
  if (type.IsInteger()) {
    if (rules == TextRules::kCast && !IsWholeNumber(text)) return {Problem::kNotA, ""};
    const IntegerRange range = RangeOfInteger(type.kind);
    return FromNumberError(ParseInteger(text, range.low, range.high, &out.ints[row]), false);
  }
  if (type.kind == TypeKind::kDecimal) {
    const Rounding rounding = rules == TextRules::kCast ? Rounding::kHalfUp : Rounding::kExact;
    return FromNumberError(
        ParseDecimalRounded(text, type.precision, type.scale, rounding, &out.decimals[row]), true);
  }
  return FromNumberError(type.kind == TypeKind::kFloat ? ParseFloat(text, &out.doubles[row])
                                                       : ParseDouble(text, &out.doubles[row]),
                         false);
}

ConvertResult Time(std::string_view text, const Type& type, const SessionZone& zone, Column& out,
                   size_t row) {
  text = TrimAscii(text);
  const TimeParse parse =
      type.kind == TypeKind::kDate ? ParseDate(text) : ParseTimestamp(text, type, zone);
  if (!parse.ok) return {Problem::kTime, parse.reason};
  out.ints[row] = parse.ticks;
  return {};
}

ConvertResult Boolean(std::string_view text, Column& out, size_t row) {
  text = TrimAscii(text);
  out.bools[row] = EqualsIgnoreCase(text, "true");
  if (!out.bools[row] && !EqualsIgnoreCase(text, "false")) return {Problem::kNotA, ""};
  return {};
}

ConvertResult Convert(std::string_view text, const Type& type, const SessionZone& zone,
                      TextRules rules, Column& out, size_t row, Arena& arena) {
  switch (type.kind) {
    case TypeKind::kBoolean:
      return Boolean(text, out, row);
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
      return Number(text, type, rules, out, row);
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return Time(text, type, zone, out, row);
    case TypeKind::kString:
      // A character has a byte at least: short texts need no counting.
      if (type.length != 0 && text.size() > type.length && CountCodePoints(text) > type.length) {
        return {Problem::kLength, ""};
      }
      out.strings[row] = arena.Copy(text);
      return {};
    case TypeKind::kBytes: {
      if (rules == TextRules::kCast) {
        out.strings[row] = arena.Copy(text);
        return {};
      }
      const auto bytes = DecodeBase64(text);
      if (!bytes) return {Problem::kBase64, ""};
      out.strings[row] = arena.Copy(*bytes);
      return {};
    }
    case TypeKind::kNull:
    case TypeKind::kInterval:
      break;
  }
  CHECK(false && "no text form of this type is read");
  __builtin_unreachable();
}

}  // namespace

ConvertResult TextToColumn(std::string_view text, const Type& type, const SessionZone& zone,
                           TextRules rules, Column& out, size_t row, Arena& arena) {
  const ConvertResult result = Convert(text, type, zone, rules, out, row, arena);
  out.valid[row] = result.ok();
  return result;
}

std::string WithArticle(const Type& type) {
  Type bare = type;
  bare.nullable = true;
  const std::string name = bare.ToString();
  return (name[0] == 'I' ? "an " : "a ") + name;  // INT and INTERVAL
}

std::string DescribeProblem(std::string_view text, const Type& type, const ConvertResult& result) {
  return DescribeShown(ShownInMessage(text), type, result);
}

std::string DescribeShown(const std::string& shown, const Type& type, const ConvertResult& result) {
  Type bare = type;
  bare.nullable = true;
  switch (result.problem) {
    case Problem::kNone:
      return "";
    case Problem::kNotA:
      return shown + " is not " + WithArticle(type);
    case Problem::kFraction:
      return shown + " is not " + WithArticle(type) + ": it has a fraction";
    case Problem::kDigits:
      return shown + " has more digits behind the point than " + bare.ToString();
    case Problem::kRange:
      return shown + " is out of range for " + bare.ToString();
    case Problem::kLength:
      return shown + " is longer than " + bare.ToString();
    case Problem::kTime:
      return shown + " is not " + WithArticle(type) + ": " + result.detail;
    case Problem::kBase64:
      return shown + " is not base64, which is how text holds " + bare.ToString();
  }
  return "";
}

IntegerRange RangeOfInteger(TypeKind kind) {
  const auto of = [](auto value) {
    using T = decltype(value);
    return IntegerRange{std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  };
  if (kind == TypeKind::kTinyInt) return of(int8_t{});
  if (kind == TypeKind::kSmallInt) return of(int16_t{});
  if (kind == TypeKind::kInt) return of(int32_t{});
  return of(int64_t{});
}

}  // namespace weir
