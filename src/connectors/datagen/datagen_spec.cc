// The connector 'datagen' as data, and the step from its options to a GeneratorPlan.
#include <algorithm>

#include "base/text.h"
#include "base/units.h"
#include "connectors/datagen/datagen.h"
#include "data/timestamp.h"

namespace weir::connectors {
namespace {

using plan::OptionType;

constexpr plan::OptionSpec kOptions[] = {
    {.name = "rows-per-second",
     .type = OptionType::kInteger,
     .default_value = "10000",
     .doc = "Rate; 0: as fast as rows are taken.",
     .sink = false},
    {.name = "number-of-rows",
     .type = OptionType::kInteger,
     .doc = "The input ends after this many rows.",
     .identity = true,
     .sink = false,
     .min = 1},
    {.name = "weir.seed",
     .type = OptionType::kInteger,
     .default_value = "0",
     .doc = "Another seed gives other rows.",
     .identity = true,
     .sink = false},
    {.name = "weir.start-time",
     .default_value = "2024-01-01 00:00:00",
     .doc = "Time of row 0 in timestamp columns; row n is n / rows-per-second later.",
     .identity = true,
     .sink = false},
    {.name = "fields.#.kind",
     .type = OptionType::kEnum,
     .default_value = "random",
     .doc = "How column # is filled.",
     .identity = true,
     .sink = false,
     .choices = "random|sequence"},
    {.name = "fields.#.min",
     .doc = "Smallest random value (default: of the type; 0 for DOUBLE and DECIMAL).",
     .identity = true,
     .sink = false},
    {.name = "fields.#.max",
     .doc = "Largest random value (default: of the type; 1 for DOUBLE).",
     .identity = true,
     .sink = false},
    {.name = "fields.#.length",
     .type = OptionType::kInteger,
     .default_value = "100",
     .doc = "Bytes of a random string.",
     .identity = true,
     .sink = false,
     .max = 1 << 20},
    {.name = "fields.#.max-past",
     .type = OptionType::kDuration,
     .default_value = "0 ms",
     .doc = "Timestamps lie up to this long before the row's time.",
     .identity = true,
     .sink = false},
    {.name = "fields.#.start",
     .doc = "First value of a sequence.",
     .identity = true,
     .sink = false},
    {.name = "fields.#.end",
     .doc = "Last value of a sequence: the input ends with it.",
     .identity = true,
     .sink = false},
};

// Given by the user for this column, or null. Looked up in all(): the name holds a column's name,
// which no spec does.
const plan::OptionValue* FieldOption(const plan::TableDef& table, const std::string& column,
                                     std::string_view what) {
  const auto it = table.options.all().find("fields." + column + "." + std::string(what));
  return it == table.options.all().end() ? nullptr : &it->second;
}

struct Range {
  int64_t low, high;
};

Range RangeOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kTinyInt:
      return {INT8_MIN, INT8_MAX};
    case TypeKind::kSmallInt:
      return {INT16_MIN, INT16_MAX};
    case TypeKind::kInt:
      return {INT32_MIN, INT32_MAX};
    case TypeKind::kDate:
      return {0, 20'000};
    case TypeKind::kNull:
    case TypeKind::kBoolean:
    case TypeKind::kBigInt:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal:
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
    case TypeKind::kInterval:
      break;
  }
  return {INT64_MIN, INT64_MAX};
}

// A bound into *value, when it is given.
Status ReadBound(const plan::TableDef& table, const plan::ColumnDef& column, std::string_view what,
                 bool as_integer, GeneratedField& field, Int128* value, double* number) {
  const plan::OptionValue* option = FieldOption(table, column.name, what);
  if (option == nullptr) return Status::Ok();
  NumberError error = NumberError::kOk;
  if (!as_integer && column.type.physical() == Physical::kDouble) {
    error = ParseDouble(option->text, number);
  } else if (!as_integer && column.type.kind == TypeKind::kDecimal) {
    error = ParseDecimal(option->text, column.type.precision, column.type.scale, value);
  } else {
    const Range range =
        column.type.IsInteger() ? RangeOf(column.type.kind) : Range{INT64_MIN, INT64_MAX};
    int64_t integer = 0;
    error = ParseInteger(option->text, range.low, range.high, &integer);
    *value = integer;
  }
  if (error == NumberError::kOk) return Status::Ok();
  return Status(Code::kInvalid, "'fields." + column.name + "." + std::string(what) + "' = '" +
                                    option->text + "' is no " + field.type.ToString());
}

Status ReadField(const plan::TableDef& table, const plan::ColumnDef& column, GeneratorPlan& plan,
                 GeneratedField& field) {
  const plan::OptionValue* kind = FieldOption(table, column.name, "kind");
  field.sequence = kind != nullptr && kind->text == "sequence";
  if (field.sequence) {
    const bool possible = column.type.IsNumeric() || column.type.kind == TypeKind::kString;
    if (!possible)
      return Status(Code::kInvalid, "column " + column.name + ": a sequence of " +
                                        column.type.ToString() + " is not possible");
    if (FieldOption(table, column.name, "start") == nullptr ||
        FieldOption(table, column.name, "end") == nullptr) {
      return Status(Code::kInvalid, "column " + column.name + ": a sequence needs 'fields." +
                                        column.name + ".start' and '.end'");
    }
    WEIR_RETURN_IF_ERROR(ReadBound(table, column, "start", true, field, &field.low, nullptr));
    WEIR_RETURN_IF_ERROR(ReadBound(table, column, "end", true, field, &field.high, nullptr));
    if (field.high < field.low)
      return Status(Code::kInvalid,
                    "column " + column.name + ": the sequence ends before it starts");
    plan.rows = std::min<uint64_t>(plan.rows, static_cast<uint64_t>(field.high - field.low) + 1);
    return Status::Ok();
  }
  const Range range = RangeOf(column.type.kind);
  field.low = column.type.kind == TypeKind::kDecimal ? 0 : range.low;
  field.high = column.type.kind == TypeKind::kDecimal ? PowerOfTen(column.type.precision) - 1
                                                      : Int128{range.high};
  WEIR_RETURN_IF_ERROR(
      ReadBound(table, column, "min", false, field, &field.low, &field.low_double));
  WEIR_RETURN_IF_ERROR(
      ReadBound(table, column, "max", false, field, &field.high, &field.high_double));
  if (field.high < field.low || field.high_double < field.low_double)
    return Status(Code::kInvalid, "column " + column.name + ": max is below min");
  if (const plan::OptionValue* length = FieldOption(table, column.name, "length")) {
    field.length = static_cast<size_t>(ParseInt64(length->text).value_or(100));
  }
  if (column.type.length > 0) field.length = std::min<size_t>(field.length, column.type.length);
  if (column.type.IsTimestamp()) {
    const TimeParse start =
        ParseTimestamp(table.options.String("weir.start-time"), column.type, SessionZone{});
    if (!start.ok)
      return Status(
          Code::kInvalid,
          "'weir.start-time' = '" + table.options.String("weir.start-time") + "': " + start.reason);
    field.start_ticks = start.ticks;
    field.low = field.high = 0;
    if (const plan::OptionValue* past = FieldOption(table, column.name, "max-past"))
      field.high = ParseDurationMs(past->text).value_or(0);
  }
  return Status::Ok();
}

std::vector<int> AllPhysical(const plan::TableDef& table) {
  std::vector<int> columns;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].kind == plan::ColumnDef::Kind::kPhysical)
      columns.push_back(static_cast<int>(i));
  }
  return columns;
}

void Check(const plan::TableDef& table, bool, std::vector<plan::Diagnostic>& out) {
  const auto plan = MakeGeneratorPlan(table, AllPhysical(table));
  if (!plan.has_value())
    out.push_back(
        {plan::Diagnostic::Severity::kError, plan::Position{}, plan.error().message(), ""});
}

bool Bounded(const plan::TableDef& table) {
  const auto plan = MakeGeneratorPlan(table, AllPhysical(table));
  return plan.has_value() && plan->rows != UINT64_MAX;
}

}  // namespace

const plan::ConnectorSpec kDatagenSpec = {
    .name = "datagen",
    .doc = "Made-up rows, the same for the same seed.",
    .source = true,
    .options = kOptions,
    .check = Check,
    .bounded = Bounded,
};

Result<GeneratorPlan> MakeGeneratorPlan(const plan::TableDef& table,
                                        const std::vector<int>& columns) {
  GeneratorPlan plan;
  plan.seed = static_cast<uint64_t>(table.options.Integer("weir.seed"));
  plan.rows_per_second = table.options.Integer("rows-per-second");
  if (table.options.Has("number-of-rows"))
    plan.rows = static_cast<uint64_t>(table.options.Integer("number-of-rows"));
  // The shortest sequence ends the input, whether its column is read or not.
  for (const int index : AllPhysical(table)) {
    GeneratedField unread;
    unread.type = table.columns[static_cast<size_t>(index)].type;
    WEIR_RETURN_IF_ERROR(ReadField(table, table.columns[static_cast<size_t>(index)], plan, unread));
  }
  for (const int index : columns) {
    const plan::ColumnDef& column = table.columns[static_cast<size_t>(index)];
    GeneratedField field;
    field.type = column.type;
    field.salt = static_cast<uint64_t>(index) + 1;
    WEIR_RETURN_IF_ERROR(ReadField(table, column, plan, field));
    plan.fields.push_back(field);
  }
  return plan;
}

}  // namespace weir::connectors
