// Functions of time: EXTRACT, FLOOR and CEIL to a unit, TIMESTAMPDIFF, TIMESTAMPADD, texts to and
// from times.
#include <memory>

#include "data/utf8.h"
#include "operators/kernels.h"
#include "operators/numbers.h"
#include "operators/times.h"

namespace weir::operators {
namespace {

using plan::Fn;
using Text = std::string_view;

bool IsTime(const Type& t) { return t.kind == TypeKind::kDate || t.IsTimestamp(); }

// The unit literal in front.
Result<TimeUnit> UnitOf(const Call& call, const Kernel& arg) {
  const Value* literal = arg.literal();
  if (!literal || literal->null) return BadArguments(call);
  const std::optional<TimeUnit> unit = ParseTimeUnit(literal->text);
  if (!unit) return Fail(Code::kInvalid, "no such time unit: " + literal->text);
  return *unit;
}

Outcome OutOfRange(OpState& s, const Type& type) {
  return s.Fail(kOverflow, "the result is outside " + type.Name());
}

Result<KernelPtr> MakeExtract(const Call& call, Args& args) {
  if (args.size() != 2 || !IsTime(args[1]->type())) return BadArguments(call);
  WEIR_ASSIGN_OR_RETURN(const TimeUnit unit, UnitOf(call, *args[0]));
  const Type from = args[1]->type();
  const SessionZone zone = call.zone;
  args.erase(args.begin());
  return Strict<int64_t, int64_t>(
      call.type, std::move(args), [=](OpState&, int64_t a, int64_t* out) {
        // Seconds since 1970: of an instant in UTC; a local time counts as if it were UTC.
        const LocalTime epoch = ToLocal(a, from, SessionZone{});
        *out = ExtractUnit(unit, ToLocal(a, from, zone),
                           epoch.days * 86400 + epoch.nanos / 1000000000);
        return Outcome::kValue;
      });
}

Result<KernelPtr> MakeFloorCeil(const Call& call, Args& args) {
  if (args.size() != 2) return BadArguments(call);
  WEIR_ASSIGN_OR_RETURN(const TimeUnit unit, UnitOf(call, *args[1]));
  args.pop_back();
  WEIR_ASSIGN_OR_RETURN(args[0], ConvertTo(std::move(args[0]), call.type, call.zone));
  const Type type = call.type;
  if (!IsTime(type)) return BadArguments(call);
  const SessionZone zone = call.zone;
  const bool ceil = call.fn == Fn::kCeilTo;
  return Strict<int64_t, int64_t>(type, std::move(args), [=](OpState& s, int64_t a, int64_t* out) {
    const LocalTime local = ToLocal(a, type, zone);
    const LocalTime moved = ceil ? CeilToUnit(unit, local) : FloorToUnit(unit, local);
    if (!FromLocal(moved, type, zone, out)) return OutOfRange(s, type);
    return Outcome::kValue;
  });
}

Result<KernelPtr> MakeDiff(const Call& call, Args& args) {
  if (args.size() != 3 || !IsTime(args[1]->type()) || !IsTime(args[2]->type())) {
    return BadArguments(call);
  }
  WEIR_ASSIGN_OR_RETURN(const TimeUnit unit, UnitOf(call, *args[0]));
  const Type a_type = args[1]->type();
  const Type b_type = args[2]->type();
  const Type type = call.type;
  const SessionZone zone = call.zone;
  args.erase(args.begin());
  return Strict<int64_t, int64_t, int64_t>(
      type, std::move(args), [=](OpState& s, int64_t a, int64_t b, int64_t* out) {
        *out = DiffInUnits(unit, ToLocal(a, a_type, zone), ToLocal(b, b_type, zone));
        if (!RangeOf(type).Has(*out)) return s.Fail(kOverflow, DoesNotFit(*out, 0, type));
        return Outcome::kValue;
      });
}

Result<KernelPtr> MakeAdd(const Call& call, Args& args) {
  if (args.size() != 3 || args[1]->type().physical() != Physical::kInt64) return BadArguments(call);
  WEIR_ASSIGN_OR_RETURN(const TimeUnit unit, UnitOf(call, *args[0]));
  WEIR_ASSIGN_OR_RETURN(args[2], ConvertTo(std::move(args[2]), call.type, call.zone));
  const Type type = call.type;
  if (!IsTime(type)) return BadArguments(call);
  const SessionZone zone = call.zone;
  args.erase(args.begin());
  return Strict<int64_t, int64_t, int64_t>(
      type, std::move(args), [=](OpState& s, int64_t n, int64_t a, int64_t* out) {
        const std::optional<LocalTime> sum = AddUnits(unit, n, ToLocal(a, type, zone));
        if (!sum || !FromLocal(*sum, type, zone, out)) return OutOfRange(s, type);
        return Outcome::kValue;
      });
}

// A pattern literal at args[at], or null when there is none. A NULL literal is kept as an argument.
Result<std::shared_ptr<const TimePattern>> PatternAt(const Call& call, const Args& args,
                                                     size_t at) {
  std::shared_ptr<const TimePattern> none;
  if (args.size() <= at) return none;
  const Value* literal = args[at]->literal();
  if (!literal) {
    return Fail(Code::kInvalid,
                std::string(plan::FnName(call.fn)) + ": the pattern must be a literal");
  }
  WEIR_ASSIGN_OR_RETURN(TimePattern pattern,
                        TimePattern::Compile(literal->null ? "" : literal->text));
  return std::make_shared<const TimePattern>(std::move(pattern));
}

bool NullPattern(const Args& args) {
  return args.size() > 1 && args[1]->literal() && args[1]->literal()->null;
}

Result<KernelPtr> MakeFormat(const Call& call, Args& args) {
  if (args.size() != 2 || !IsTime(args[0]->type())) return BadArguments(call);
  if (NullPattern(args)) return MakeLiteralKernel(Value::Null(call.type));
  WEIR_ASSIGN_OR_RETURN(const std::shared_ptr<const TimePattern> pattern, PatternAt(call, args, 1));
  args.pop_back();
  Type from = args[0]->type();
  if (from.kind == TypeKind::kDate) {
    from = Type::Timestamp(3);
    WEIR_ASSIGN_OR_RETURN(args[0], ConvertTo(std::move(args[0]), from, call.zone));
  }
  const SessionZone zone = call.zone;
  return Strict<Text, int64_t>(call.type, std::move(args),
                               [=, text = std::string()](OpState& s, int64_t a, Text* out) mutable {
                                 text.clear();
                                 pattern->Format(a, from, zone, text);
                                 *out = s.arena.Copy(text);
                                 return Outcome::kValue;
                               });
}

// Text into ticks of `type`: by the pattern, else as SQL or ISO-8601 text.
template <class Finish>
Result<KernelPtr> ParseWith(const Call& call, Args& args, const Type& type, Finish finish) {
  if (args.empty() || args.size() > 2 || args[0]->type().physical() != Physical::kString) {
    return BadArguments(call);
  }
  if (NullPattern(args)) return MakeLiteralKernel(Value::Null(call.type));
  WEIR_ASSIGN_OR_RETURN(const std::shared_ptr<const TimePattern> pattern, PatternAt(call, args, 1));
  args.resize(1);
  const SessionZone zone = call.zone;
  const char* name = plan::FnName(call.fn);
  return Strict<int64_t, Text>(call.type, std::move(args), [=](OpState& s, Text a, int64_t* out) {
    const TimeParse parsed = pattern                        ? pattern->Parse(a, type, zone)
                             : type.kind == TypeKind::kDate ? ParseDate(a)
                                                            : ParseTimestamp(a, type, zone);
    if (!parsed.ok) {
      return s.Fail(kArgument, std::string(name) + ": " + ShownInMessage(a) +
                                   " is not understood: " + parsed.reason);
    }
    *out = finish(parsed.ticks);
    return Outcome::kValue;
  });
}

int64_t Same(int64_t ticks) { return ticks; }

// TO_TIMESTAMP_LTZ(number, 0 | 3): seconds or milliseconds since 1970.
Result<KernelPtr> MakeLtz(const Call& call, Args& args) {
  if (!args.empty() && args[0]->type().physical() == Physical::kString) {
    return ParseWith(call, args, call.type, Same);
  }
  if (args.empty() || args.size() > 2) return BadArguments(call);
  int64_t precision = 3;
  if (args.size() == 2) {
    const Value* literal = args[1]->literal();
    if (!literal || literal->null || (literal->integer != 0 && literal->integer != 3)) {
      return Fail(Code::kInvalid,
                  "TO_TIMESTAMP_LTZ: the precision is 0 (seconds) or 3 (milliseconds)");
    }
    precision = literal->integer;
    args.pop_back();
  }
  // Milliseconds exactly: a double goes through its shortest text, digits below are cut.
  const Type type = call.type;
  const Type wide = Type::Decimal(38, 6);
  WEIR_ASSIGN_OR_RETURN(args[0], ConvertTo(std::move(args[0]), wide, call.zone));
  return Strict<int64_t, Int128>(type, std::move(args), [=](OpState& s, Int128 a, int64_t* out) {
    // Ticks of the type from millionths of a second or of a millisecond.
    const Int128 per_second = Int128{1000} * TicksPerMs(type);
    const Int128 divisor = precision == 0 ? Int128{1000000} : Int128{1000000000};
    Int128 product;
    if (__builtin_mul_overflow(a, per_second, &product)) return OutOfRange(s, type);
    Int128 ticks = product / divisor;
    if (product % divisor < 0) --ticks;
    if (!TimeInRange(ticks, type)) return OutOfRange(s, type);
    *out = static_cast<int64_t>(ticks);
    return Outcome::kValue;
  });
}

}  // namespace

Result<KernelPtr> MakeTime(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kExtract:
      return MakeExtract(call, args);
    case Fn::kFloorTo:
    case Fn::kCeilTo:
      return MakeFloorCeil(call, args);
    case Fn::kTimestampDiff:
      return MakeDiff(call, args);
    case Fn::kTimestampAdd:
      return MakeAdd(call, args);
    case Fn::kDateFormat:
      return MakeFormat(call, args);
    case Fn::kToTimestamp:
    case Fn::kToDate:
      return ParseWith(call, args, call.type, Same);
    case Fn::kToTimestampLtz:
      return MakeLtz(call, args);
    case Fn::kUnixTimestamp:
      // The text is local time in the session zone; the result is the instant's whole seconds.
      return ParseWith(call, args, Type::TimestampLtz(3),
                       [](int64_t ms) { return FloorDiv(ms, 1000); });
    default:
      return nullptr;
  }
}

}  // namespace weir::operators
