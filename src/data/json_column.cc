#include "data/json_column.h"

#include <cstring>
#include <limits>

#include "base/check.h"
#include "data/base64.h"
#include "data/json_skip.h"
#include "data/timestamp.h"
#include "data/utf8.h"

namespace weir::json {
namespace {

using Kind = Problem::Kind;

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
      low_ = RangeOfInteger(type_.kind).low;
      high_ = RangeOfInteger(type_.kind).high;
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
  column_ = &column;
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
  return Finish(FromBoolean(p, end, row, context), p, end, row, context);
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
                          ? StoreString(context.Original(p, end), row, context)
                          : Wrong({Kind::kNotA});
  return Finish(stored, p, end, row, context);
}

bool JsonColumn::Wrong(ConvertResult why) {
  problem_.why = why;
  problem_.epoch = false;
  return false;
}

bool JsonColumn::CheckLength(std::string_view text) {
  // A code point has a byte at least, so short texts need no count.
  if (type_.length == 0 || text.size() <= type_.length) return true;
  return CountCodePoints(text) <= type_.length || Wrong({Kind::kLength});
}

bool JsonColumn::StoreString(std::string_view text, uint32_t row, RowContext& context) {
  if (!CheckLength(text)) return false;
  strings_[row] = context.strings.Copy(text);
  return true;
}

// For what is rare or long: as any other format's text. Never for strings and bytes, which would go
// to the arena beside the sink's window.
bool JsonColumn::StoreConverted(std::string_view text, uint32_t row) {
  Arena none;
  const ConvertResult result =
      TextToColumn(text, type_, zone_, TextRules::kField, *column_, row, none);
  return result.ok() || Wrong(result);
}

bool JsonColumn::FromBoolean(const char* p, const char* end, uint32_t row, RowContext& context) {
  if (type_.kind == TypeKind::kString) return StoreString(context.Original(p, end), row, context);
  if (type_.kind != TypeKind::kBoolean) return Wrong({Kind::kNotA});
  bools_[row] = *p == 't';
  return true;
}

bool JsonColumn::FromNumber(const char* p, const char* end, uint32_t row, RowContext& context) {
  const std::string_view text(p, static_cast<size_t>(end - p));
  switch (type_.kind) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return StoreInteger(p, end, row);
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      const bool single = type_.kind == TypeKind::kFloat;
      return ReadDouble(p, end, single, doubles_[row]) == NumberError::kOk || Wrong({Kind::kRange});
    }
    case TypeKind::kDecimal:
      return StoreConverted(text, row);
    case TypeKind::kString:
      return StoreString(context.Original(p, end), row, context);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return EpochFromNumber(text, row);
    case TypeKind::kNull:
    case TypeKind::kBoolean:
    case TypeKind::kBytes:
    case TypeKind::kDate:
    case TypeKind::kInterval:
      return Wrong({Kind::kNotA});
  }
  CHECK(false);
}

bool JsonColumn::StoreInteger(const char* p, const char* end, uint32_t row) {
  const bool negative = *p == '-';
  uint64_t digits;
  if (!NineteenDigits(p + negative, end, digits)) {
    return StoreConverted({p, static_cast<size_t>(end - p)}, row);
  }
  const uint64_t most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + negative;
  if (digits > most) return Wrong({Kind::kRange});
  const int64_t value = static_cast<int64_t>(negative ? 0 - digits : digits);
  if (value < low_ || value > high_) return Wrong({Kind::kRange});
  ints_[row] = value;
  return true;
}

bool JsonColumn::EpochFromNumber(std::string_view number, uint32_t row) {
  TimeParse parsed;
  if (options_.has_timestamp_unit) {
    parsed = ParseEpochNumber(number, options_.timestamp_unit, type_, zone_);
    ints_[row] = parsed.ticks;
  }
  if (parsed.ok) return true;
  Wrong({Kind::kTime, parsed.reason});
  problem_.epoch = true;
  return false;
}

bool JsonColumn::FromText(std::string_view text, uint32_t row, RowContext& context) {
  if (type_.kind != TypeKind::kBytes) return StoreConverted(text, row);
  const std::optional<std::string> bytes = DecodeBase64(text);
  if (!bytes) return Wrong({Kind::kBase64});
  strings_[row] = context.strings.Copy(*bytes);
  return true;
}

std::string JsonColumn::ProblemMessage(const RowContext& context) const {
  const std::string_view text = context.Original(problem_.begin, problem_.end);
  const std::string column = "column " + name_ + ": ";
  if (problem_.epoch && !options_.has_timestamp_unit) {
    return column + Shown(text) + " is a number, not the text of " + WithArticle(type_) +
           ": for epoch numbers set 'json.timestamp-unit' ('s', 'ms', 'us' or 'ns')";
  }
  if (problem_.epoch && text.size() <= kShownMost) {
    return column + DescribeEpochFailure(text, options_.timestamp_unit, type_);
  }
  return column + DescribeShown(Shown(text), type_, problem_.why);
}

}  // namespace weir::json
