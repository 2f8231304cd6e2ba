// CAST and TRY_CAST between all types (Flink's results; sql.md lists where weir refuses instead of
// giving NULL).
#include "base/text.h"
#include "data/convert.h"
#include "data/utf8.h"
#include "operators/kernels.h"
#include "operators/numbers.h"
#include "operators/times.h"

namespace weir::operators {
namespace {

using plan::Fn;

// A cast's own failure is an error of the row, or NULL under TRY_CAST. (An error in its argument
// stays one.)
template <class R, class A, class Op>
KernelPtr CastWith(const Call& call, Args& args, Op op) {
  const bool forgive = call.fn == Fn::kTryCast;
  return Strict<R, A>(call.type, std::move(args),
                      [op = std::move(op), forgive](OpState& s, const A& a, R* out) mutable {
                        const Outcome outcome = op(s, a, out);
                        return outcome == Outcome::kError && forgive ? Outcome::kNull : outcome;
                      });
}

Outcome IntoInteger(OpState& s, Int128 value, const Type& type, int64_t* out) {
  if (!RangeOf(type).Has(value)) return s.Fail(kCastError, DoesNotFit(value, 0, type));
  *out = static_cast<int64_t>(value);
  return Outcome::kValue;
}

Outcome IntoDecimal(OpState& s, std::optional<Int128> value, const Type& type, Int128* out) {
  if (!value) return s.Fail(kCastError, "the value does not fit " + type.Name());
  if (!FitsPrecision(*value, type.precision)) {
    return s.Fail(kCastError, DoesNotFit(*value, type.scale, type));
  }
  *out = *value;
  return Outcome::kValue;
}

std::string DoubleText(double v) {
  std::string text;
  AppendAnyDouble(v, text);
  return text;
}

// Text. Flink takes more words for BOOLEAN than a record's field may have.
std::optional<bool> BooleanWord(std::string_view text) {
  const std::string word = ToLowerAscii(TrimAscii(text));
  for (std::string_view yes : {"t", "true", "y", "yes", "1"}) {
    if (word == yes) return true;
  }
  for (std::string_view no : {"f", "false", "n", "no", "0"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

// From text into T, through the one converter that decoders use too.
template <class T>
KernelPtr FromText(const Call& call, Args& args) {
  const Type type = call.type;
  const SessionZone zone = call.zone;
  Column cell(type);
  cell.Resize(1);
  return CastWith<T, std::string_view>(
      call, args,
      [type, zone, cell = std::move(cell)](OpState& s, std::string_view text, T* out) mutable {
        if (type.kind == TypeKind::kBoolean) {
          if constexpr (std::is_same_v<T, uint8_t>) {
            const std::optional<bool> word = BooleanWord(text);
            if (word) {
              *out = *word;
              return Outcome::kValue;
            }
          }
        }
        const ConvertResult result =
            TextToColumn(text, type, zone, TextRules::kCast, cell, 0, s.arena);
        if (!result.ok()) return s.Fail(kCastError, DescribeProblem(text, type, result));
        *out = Lane<T>::Of(cell)[0];
        return Outcome::kValue;
      });
}

// Text to text: VARCHAR(n) cuts, as SQL's cast does.
KernelPtr TextToText(const Call& call, Args& args) {
  const uint32_t length = call.type.length;
  const bool check =
      call.type.kind == TypeKind::kString && args[0]->type().kind == TypeKind::kBytes;
  return CastWith<std::string_view, std::string_view>(
      call, args, [length, check](OpState& s, std::string_view text, std::string_view* out) {
        if (check && !IsWellFormedUtf8(text))
          return s.Fail(kCastError, "the bytes are not valid UTF-8");
        *out = length == 0 ? text : FirstCodePoints(text, length);
        return Outcome::kValue;
      });
}

// To text: `append(value, text)` writes it.
template <class A, class Append>
KernelPtr ToText(const Call& call, Args& args, Append append) {
  const uint32_t length = call.type.length;
  return CastWith<std::string_view, A>(
      call, args,
      [append, length, text = std::string()](OpState& s, const A& a,
                                             std::string_view* out) mutable {
        text.clear();
        append(a, text);
        *out = s.arena.Copy(length == 0 ? std::string_view(text) : FirstCodePoints(text, length));
        return Outcome::kValue;
      });
}

KernelPtr CastToText(const Call& call, Args& args) {
  const Type from = args[0]->type();
  const SessionZone zone = call.zone;
  switch (from.physical()) {
    case Physical::kBool:
      return ToText<uint8_t>(call, args,
                             [](uint8_t a, std::string& out) { out += a ? "TRUE" : "FALSE"; });
    case Physical::kDouble:
      if (from.kind == TypeKind::kFloat) {
        return ToText<double>(call, args, [](double a, std::string& out) {
          if (std::isfinite(a)) return AppendFloat(static_cast<float>(a), out);
          AppendAnyDouble(a, out);
        });
      }
      return ToText<double>(call, args,
                            [](double a, std::string& out) { AppendAnyDouble(a, out); });
    case Physical::kInt128:
      return ToText<Int128>(call, args, [scale = from.scale](Int128 a, std::string& out) {
        AppendDecimal(a, scale, out);
      });
    case Physical::kString:
      return TextToText(call, args);
    case Physical::kInt64:
      break;
  }
  if (from.kind == TypeKind::kDate) {
    return ToText<int64_t>(call, args, [](int64_t a, std::string& out) { AppendDate(a, out); });
  }
  if (from.IsTimestamp()) {
    return ToText<int64_t>(call, args, [from, zone](int64_t a, std::string& out) {
      AppendTimestamp(a, from, TimestampStyle::kSql, zone, out);
    });
  }
  return ToText<int64_t>(call, args, [](int64_t a, std::string& out) { AppendInt64(a, out); });
}

KernelPtr CastToInteger(const Call& call, Args& args) {
  const Type type = call.type;
  const Type from = args[0]->type();
  switch (from.physical()) {
    case Physical::kBool:
      return CastWith<int64_t, uint8_t>(call, args, [](OpState&, uint8_t a, int64_t* out) {
        *out = a != 0;
        return Outcome::kValue;
      });
    case Physical::kInt64:
      if (!from.IsInteger()) return nullptr;
      return CastWith<int64_t, int64_t>(call, args, [type](OpState& s, int64_t a, int64_t* out) {
        return IntoInteger(s, a, type, out);
      });
    case Physical::kDouble:
      return CastWith<int64_t, double>(call, args, [type](OpState& s, double a, int64_t* out) {
        // Both ends are exact as doubles; NaN fails the comparisons.
        if (!(a >= -9223372036854775808.0 && a < 9223372036854775808.0)) {
          return s.Fail(kCastError, DoesNotFit(DoubleText(a), type));
        }
        return IntoInteger(s, static_cast<Int128>(a), type, out);
      });
    case Physical::kInt128:
      return CastWith<int64_t, Int128>(
          call, args, [type, scale = from.scale](OpState& s, Int128 a, int64_t* out) {
            return IntoInteger(s, *ScaleBy(a, -scale, RoundMode::kTruncate), type, out);
          });
    case Physical::kString:
      return FromText<int64_t>(call, args);
  }
  return nullptr;
}

KernelPtr CastToDouble(const Call& call, Args& args) {
  const Type type = call.type;
  const Type from = args[0]->type();
  switch (from.physical()) {
    case Physical::kBool:
      return CastWith<double, uint8_t>(call, args, [](OpState&, uint8_t a, double* out) {
        *out = a != 0;
        return Outcome::kValue;
      });
    case Physical::kInt64:
      if (!from.IsInteger()) return nullptr;
      return CastWith<double, int64_t>(call, args, [type](OpState&, int64_t a, double* out) {
        *out = type.kind == TypeKind::kFloat ? static_cast<float>(a) : static_cast<double>(a);
        return Outcome::kValue;
      });
    case Physical::kDouble:
      return CastWith<double, double>(call, args, [type](OpState& s, double a, double* out) {
        *out = RoundTo(a, type);
        if (std::isinf(*out) && std::isfinite(a)) {
          return s.Fail(kCastError, DoesNotFit(DoubleText(a), type));
        }
        return Outcome::kValue;
      });
    case Physical::kInt128:
      return CastWith<double, Int128>(call, args,
                                      [type, scale = from.scale](OpState&, Int128 a, double* out) {
                                        *out = RoundTo(DecimalToDouble(a, scale), type);
                                        return Outcome::kValue;
                                      });
    case Physical::kString:
      return FromText<double>(call, args);
  }
  return nullptr;
}

KernelPtr CastToDecimal(const Call& call, Args& args) {
  const Type type = call.type;
  const Type from = args[0]->type();
  switch (from.physical()) {
    case Physical::kBool:
      return CastWith<Int128, uint8_t>(call, args, [type](OpState& s, uint8_t a, Int128* out) {
        return IntoDecimal(s, ScaleBy(a != 0, type.scale, RoundMode::kHalfUp), type, out);
      });
    case Physical::kInt64:
      if (!from.IsInteger()) return nullptr;
      return CastWith<Int128, int64_t>(call, args, [type](OpState& s, int64_t a, Int128* out) {
        return IntoDecimal(s, ScaleBy(a, type.scale, RoundMode::kHalfUp), type, out);
      });
    case Physical::kDouble:
      // Through the shortest text, as Flink: 0.1 is 0.1, not 0.1000000000000000055.
      return CastWith<Int128, double>(call, args, [type](OpState& s, double a, Int128* out) {
        const std::string text = DoubleText(a);
        if (!std::isfinite(a) || ParseDecimalRounded(text, type.precision, type.scale,
                                                     Rounding::kHalfUp, out) != NumberError::kOk) {
          return s.Fail(kCastError, DoesNotFit(text, type));
        }
        return Outcome::kValue;
      });
    case Physical::kInt128:
      return CastWith<Int128, Int128>(
          call, args, [type, scale = from.scale](OpState& s, Int128 a, Int128* out) {
            return IntoDecimal(s, ScaleBy(a, type.scale - scale, RoundMode::kHalfUp), type, out);
          });
    case Physical::kString:
      return FromText<Int128>(call, args);
  }
  return nullptr;
}

KernelPtr CastToBoolean(const Call& call, Args& args) {
  switch (args[0]->type().physical()) {
    case Physical::kBool:
      return std::move(args[0]);
    case Physical::kInt64:
      if (!args[0]->type().IsInteger()) return nullptr;
      return CastWith<uint8_t, int64_t>(call, args, [](OpState&, int64_t a, uint8_t* out) {
        *out = a != 0;
        return Outcome::kValue;
      });
    case Physical::kDouble:
      return CastWith<uint8_t, double>(call, args, [](OpState&, double a, uint8_t* out) {
        *out = a != 0;
        return Outcome::kValue;
      });
    case Physical::kInt128:
      return CastWith<uint8_t, Int128>(call, args, [](OpState&, Int128 a, uint8_t* out) {
        *out = a != 0;
        return Outcome::kValue;
      });
    case Physical::kString:
      return FromText<uint8_t>(call, args);
  }
  return nullptr;
}

// Times among themselves. Digits beyond the precision are cut; between TIMESTAMP and TIMESTAMP_LTZ
// lies the session zone.
KernelPtr CastToTime(const Call& call, Args& args) {
  const Type type = call.type;
  const Type from = args[0]->type();
  if (from.physical() == Physical::kString) return FromText<int64_t>(call, args);
  if (from.kind != TypeKind::kDate && !from.IsTimestamp()) return nullptr;
  const SessionZone zone = call.zone;
  // The digits kept within the ticks: TIMESTAMP(0) counts milliseconds too.
  int64_t step = 1000000000;
  for (int i = 0; i < type.precision; ++i) step /= 10;
  return CastWith<int64_t, int64_t>(call, args, [=](OpState& s, int64_t a, int64_t* out) {
    LocalTime local = ToLocal(a, from, zone);
    if (type.kind != TypeKind::kDate) local.nanos -= local.nanos % step;
    if (!FromLocal(local, type, zone, out)) {
      return s.Fail(kCastError, "the time is outside " + type.Name());
    }
    return Outcome::kValue;
  });
}

KernelPtr CastTo(const Call& call, Args& args) {
  switch (call.type.kind) {
    case TypeKind::kNull:
      return nullptr;
    case TypeKind::kBoolean:
      return CastToBoolean(call, args);
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
      return CastToInteger(call, args);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return CastToDouble(call, args);
    case TypeKind::kDecimal:
      return CastToDecimal(call, args);
    case TypeKind::kString:
      return CastToText(call, args);
    case TypeKind::kBytes:
      if (args[0]->type().physical() != Physical::kString) return nullptr;
      return TextToText(call, args);
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return CastToTime(call, args);
    case TypeKind::kInterval:
      // No interval is a column; a literal is one already.
      return args[0]->type().kind == TypeKind::kInterval ? std::move(args[0]) : nullptr;
  }
  return nullptr;
}

bool SameLayout(const Type& from, const Type& to) {
  if (from.physical() != to.physical()) return false;
  switch (to.kind) {
    case TypeKind::kDecimal:
      return from.scale == to.scale;
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return from.kind == to.kind && TicksPerMs(from) == TicksPerMs(to);
    default:
      return from.kind != TypeKind::kDate && !from.IsTimestamp();
  }
}

}  // namespace

Result<KernelPtr> MakeCast(const Call& call, Args& args) {
  if (call.fn != Fn::kCast && call.fn != Fn::kTryCast) return nullptr;
  if (args.size() != 1) return BadArguments(call);
  if (args[0]->type().kind == TypeKind::kNull) return MakeLiteralKernel(Value::Null(call.type));
  KernelPtr kernel = CastTo(call, args);
  if (!kernel) {
    return Fail(Code::kInvalid, "there is no cast from " + args[0]->type().ToString() + " to " +
                                    call.type.ToString());
  }
  return kernel;
}

Result<KernelPtr> ConvertTo(KernelPtr arg, const Type& type, const SessionZone& zone) {
  if (arg->type().kind == TypeKind::kNull) return MakeLiteralKernel(Value::Null(type));
  if (SameLayout(arg->type(), type)) return arg;
  Args args;
  args.push_back(std::move(arg));
  return MakeCast(Call{Fn::kCast, type, zone}, args);
}

}  // namespace weir::operators
