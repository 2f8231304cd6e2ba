#include "data/json_column.h"

#include <cstring>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "data/decimal.h"
#include "data/json_base64.h"
#include "data/json_skip.h"
#include "data/timestamp.h"

namespace weir::json {
namespace {

struct Range {
  int64_t low = 0;
  int64_t high = 0;
};

Range RangeOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt:
      return {std::numeric_limits<int8_t>::min(), std::numeric_limits<int8_t>::max()};
    case TypeKind::kSmallInt:
      return {std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()};
    case TypeKind::kInt:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default:
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

constexpr size_t kShownMost = 60;

// A value as a message shows it: its JSON text, the first bytes of it when it is long, cut between
// characters.
std::string Shown(std::string_view text) {
  if (text.size() <= kShownMost) return std::string(text);
  size_t n = kShownMost;
  while (n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  return std::string(text.substr(0, n)) + "...";
}

int TwoDigits(const char* p) {
  if (p[0] < '0' || p[0] > '9' || p[1] < '0' || p[1] > '9') return -1;
  return (p[0] - '0') * 10 + (p[1] - '0');
}

bool IsWholeNumberText(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  if (text.empty()) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

}  // namespace

JsonColumn::JsonColumn(const DecodeField& field, const FormatSpec& spec)
    : type_(field.type),
      name_(field.name),
      batch_column_(field.batch_column),
      options_(spec.json),
      zone_(spec.zone) {
  switch (type_.kind) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      op_ = Op::kInteger;
      low_ = RangeOf(type_.kind).low;
      high_ = RangeOf(type_.kind).high;
      return;
    case TypeKind::kDecimal:
      op_ = Op::kDecimal;
      scale_ = type_.scale;
      decimal_limit_ = type_.precision < 20 ? kPowersOfTen[type_.precision]
                                            : std::numeric_limits<uint64_t>::max();
      return;
    case TypeKind::kString:
      if (type_.length == 0) op_ = Op::kString;
      return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      ticks_per_ms_ = TicksPerMs(type_);
      for (int digits = type_.precision; digits < 3; ++digits) ms_cut_ *= 10;
      // Nanoseconds reach only from 1677 to 2262, which the general parser checks.
      if (zone_.offset_ms == 0 && type_.precision <= 6) op_ = Op::kTime;
      return;
    case TypeKind::kBoolean:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kBytes:
    case TypeKind::kDate:
      return;
    case TypeKind::kNull:
    case TypeKind::kInterval:
      CHECK(false && "never the type of a table's column");
  }
}

void JsonColumn::Bind(Column& column) {
  valid_ = column.valid.data();
  switch (type_.physical()) {
    case Physical::kBool:
      bools_ = column.bools.data();
      return;
    case Physical::kInt64:
      ints_ = column.ints.data();
      return;
    case Physical::kDouble:
      doubles_ = column.doubles.data();
      return;
    case Physical::kInt128:
      decimals_ = column.decimals.data();
      return;
    case Physical::kString:
      strings_ = column.strings.data();
      return;
  }
}

bool JsonColumn::LearnMinute(const char* p) {
  const int century = TwoDigits(p), year = TwoDigits(p + 2), month = TwoDigits(p + 5),
            day = TwoDigits(p + 8);
  const int hour = TwoDigits(p + 11), minute = TwoDigits(p + 14);
  if (century < 0 || year < 0 || month < 0 || day < 0 || hour < 0 || hour > 23 || minute < 0 ||
      minute > 59)
    return false;
  if (p[4] != '-' || p[7] != '-' || (p[10] != 'T' && p[10] != ' ') || p[13] != ':') return false;
  if (!IsValidDate(century * 100 + year, month, day)) return false;
  const int64_t days = DaysFromCivil(century * 100 + year, month, day);
  minute_ticks_ = ((days * 24 + hour) * 60 + minute) * 60000 * ticks_per_ms_;
  std::memcpy(minute_, p, sizeof minute_);
  return true;
}

const char* JsonColumn::Finish(bool stored, const char* begin, const char* end, uint32_t row,
                               RowContext& context) {
  if (stored) {
    valid_[row] = kIsValue;
  } else {
    valid_[row] = kIsProblem;
    context.has_problem = true;
    problem_.begin = begin;
    problem_.end = end;
  }
  return end;
}

const char* JsonColumn::ReadSlow(const char* p, uint32_t row, RowContext& context) {
  if (*p == '"') return ReadQuoted(p, row, context);
  if (*p == '{' || *p == '[') return ReadContainer(p, row, context);
  if (BeginsNumber(*p)) {
    const char* end = SkipNumber(p, context.failure);
    if (end == nullptr) return nullptr;
    return Finish(FromNumber(p, end, row, context), p, end, row, context);
  }
  const char* end = SkipLiteral(p, context.failure);
  if (end == nullptr) return nullptr;
  if (*p == 'n') {
    valid_[row] = kIsNull;
    return end;
  }
  return Finish(FromBoolean(*p == 't', p, end, row, context), p, end, row, context);
}

const char* JsonColumn::ReadQuoted(const char* p, uint32_t row, RowContext& context) {
  if (type_.kind == TypeKind::kString) {
    const char* end = ReadString(p + 1, context.strings, strings_[row], context.failure);
    if (end == nullptr) return nullptr;
    return Finish(CheckLength(strings_[row]), p, end, row, context);
  }
  const char* end = SkipString(p + 1, context.failure);
  if (end == nullptr) return nullptr;
  std::string_view text(p + 1, static_cast<size_t>(end - p) - 2);
  if (text.find('\\') != std::string_view::npos) {
    Unescape(text, scratch_);
    text = scratch_;
  }
  return Finish(FromText(text, row, context), p, end, row, context);
}

const char* JsonColumn::ReadContainer(const char* p, uint32_t row, RowContext& context) {
  const char* end = SkipContainer(p, context.failure);
  if (end == nullptr) return nullptr;
  const bool stored = type_.kind == TypeKind::kString
                          ? StoreText(context.Original(p, end), row, context)
                          : Wrong(Problem::Kind::kType);
  return Finish(stored, p, end, row, context);
}

bool JsonColumn::Wrong(Problem::Kind kind, const char* reason) {
  problem_.kind = kind;
  problem_.reason = reason;
  return false;
}

bool JsonColumn::CheckLength(std::string_view text) {
  // A code point has a byte at least, so short texts need no count.
  if (type_.length == 0 || text.size() <= type_.length || CodePoints(text) <= type_.length)
    return true;
  return Wrong(Problem::Kind::kLength);
}

bool JsonColumn::StoreText(std::string_view text, uint32_t row, RowContext& context) {
  if (!CheckLength(text)) return false;
  strings_[row] = context.strings.Copy(text);
  return true;
}

bool JsonColumn::FromBoolean(bool value, const char* p, const char* end, uint32_t row,
                             RowContext& context) {
  if (type_.kind == TypeKind::kString) return StoreText(context.Original(p, end), row, context);
  if (type_.kind != TypeKind::kBoolean) return Wrong(Problem::Kind::kType);
  bools_[row] = value;
  return true;
}

bool JsonColumn::FromNumber(const char* p, const char* end, uint32_t row, RowContext& context) {
  switch (type_.kind) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return StoreInteger(p, end, row);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return StoreFloating(p, end, row);
    case TypeKind::kDecimal:
      return StoreNumber({p, static_cast<size_t>(end - p)}, row);
    case TypeKind::kString:
      return StoreText(context.Original(p, end), row, context);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return EpochFromNumber({p, static_cast<size_t>(end - p)}, row);
    case TypeKind::kNull:
    case TypeKind::kBoolean:
    case TypeKind::kBytes:
    case TypeKind::kDate:
    case TypeKind::kInterval:
      return Wrong(Problem::Kind::kType);
  }
  CHECK(false);
}

bool JsonColumn::StoreInteger(const char* p, const char* end, uint32_t row) {
  const bool negative = *p == '-';
  uint64_t digits;
  if (!NineteenDigits(p + negative, end, digits))
    return StoreNumber({p, static_cast<size_t>(end - p)}, row);
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + negative;
  if (digits > most) return Wrong(Problem::Kind::kRange);
  const int64_t value = static_cast<int64_t>(negative ? 0 - digits : digits);
  if (value < low_ || value > high_) return Wrong(Problem::Kind::kRange);
  ints_[row] = value;
  return true;
}

bool JsonColumn::StoreFloating(const char* p, const char* end, uint32_t row) {
  if (ReadDouble(p, end, type_.kind == TypeKind::kFloat, doubles_[row]) == DoubleError::kNone)
    return true;
  return Wrong(Problem::Kind::kRange);
}

// Text of a number into an integer or a decimal, exactly or not at all.
bool JsonColumn::StoreNumber(std::string_view text, uint32_t row) {
  const bool decimal = type_.kind == TypeKind::kDecimal;
  const NumberError error = decimal
                                ? ParseDecimal(text, type_.precision, type_.scale, &decimals_[row])
                                : ParseInteger(text, low_, high_, &ints_[row]);
  switch (error) {
    case NumberError::kOk:
      return true;
    case NumberError::kSyntax:
      return Wrong(Problem::Kind::kType);
    case NumberError::kInexact:
      return Wrong(decimal ? Problem::Kind::kDigits : Problem::Kind::kFraction);
    case NumberError::kOverflow:
      return Wrong(Problem::Kind::kRange);
  }
  CHECK(false);
}

bool JsonColumn::EpochFromNumber(std::string_view number, uint32_t row) {
  if (!options_.has_timestamp_unit) return Wrong(Problem::Kind::kUnit);
  const TimeParse parsed = ParseEpochNumber(number, options_.timestamp_unit, type_, zone_);
  if (!parsed.ok)
    return Wrong(number.size() <= kShownMost ? Problem::Kind::kEpoch : Problem::Kind::kTime,
                 parsed.reason);
  ints_[row] = parsed.ticks;
  return true;
}

bool JsonColumn::NumberFromText(std::string_view text, uint32_t row) {
  text = TrimAscii(text);
  if (type_.IsInteger()) {
    // As CAST does: digits only. '1e3' and '12.0' are texts of other types.
    return IsWholeNumberText(text) ? StoreNumber(text, row) : Wrong(Problem::Kind::kType);
  }
  if (type_.kind == TypeKind::kDecimal) return StoreNumber(text, row);
  switch (ParseDouble(text, &doubles_[row])) {
    case NumberError::kOk:
      break;
    case NumberError::kSyntax:
    case NumberError::kInexact:
      return Wrong(Problem::Kind::kType);
    case NumberError::kOverflow:
      return Wrong(Problem::Kind::kRange);
  }
  if (type_.kind == TypeKind::kDouble) return true;
  // Rounded once, from the text: by way of binary64 some ties would fall the wrong way.
  if (text.front() == '+') text.remove_prefix(1);
  const bool fits = ReadDoubleExactly(text.data(), text.data() + text.size(), true,
                                      doubles_[row]) == DoubleError::kNone;
  return fits || Wrong(Problem::Kind::kRange);
}

bool JsonColumn::FromText(std::string_view text, uint32_t row, RowContext& context) {
  switch (type_.kind) {
    case TypeKind::kBoolean:
      text = TrimAscii(text);
      bools_[row] = EqualsIgnoreCase(text, "true");
      return bools_[row] || EqualsIgnoreCase(text, "false") || Wrong(Problem::Kind::kType);
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
      return NumberFromText(text, row);
    case TypeKind::kString:
      return StoreText(text, row, context);
    case TypeKind::kBytes: {
      // Decoded where it was copied to: each step reads four bytes and writes three before them.
      const std::string_view copy = context.strings.Copy(text);
      const std::optional<size_t> size = DecodeBase64(copy, const_cast<char*>(copy.data()));
      if (!size) return Wrong(Problem::Kind::kBase64);
      strings_[row] = copy.substr(0, *size);
      return true;
    }
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const TimeParse parsed =
          type_.kind == TypeKind::kDate ? ParseDate(text) : ParseTimestamp(text, type_, zone_);
      if (!parsed.ok) return Wrong(Problem::Kind::kTime, parsed.reason);
      ints_[row] = parsed.ticks;
      return true;
    }
    case TypeKind::kNull:
    case TypeKind::kInterval:
      break;
  }
  CHECK(false);
}

std::string JsonColumn::ProblemMessage(const RowContext& context) const {
  Type type = type_;
  type.nullable = true;
  const std::string name = type.ToString();
  const bool vowel = name[0] == 'I';  // INT alone
  const std::string a_type = (vowel ? "an " : "a ") + name;
  const std::string subject =
      "column " + name_ + ": " + Shown(context.Original(problem_.begin, problem_.end));
  switch (problem_.kind) {
    case Problem::Kind::kType:
      return subject + " is not " + a_type;
    case Problem::Kind::kFraction:
      return subject + " is not " + a_type + ": it has a fraction";
    case Problem::Kind::kDigits:
      return subject + " has more digits behind the point than " + name;
    case Problem::Kind::kRange:
      return subject + " is out of range for " + name;
    case Problem::Kind::kLength:
      return subject + " is longer than " + name;
    case Problem::Kind::kTime:
      return subject + " is not " + a_type + ": " + problem_.reason;
    case Problem::Kind::kEpoch:
      return "column " + name_ + ": " +
             DescribeEpochFailure(context.Original(problem_.begin, problem_.end),
                                  options_.timestamp_unit, type_);
    case Problem::Kind::kUnit:
      return subject + " is a number, not the text of " + a_type +
             ": for epoch numbers set 'json.timestamp-unit' ('s', 'ms', 'us', 'ns')";
    case Problem::Kind::kBase64:
      return subject + " is not base64, which is how JSON holds " + name;
  }
  CHECK(false);
}

}  // namespace weir::json
