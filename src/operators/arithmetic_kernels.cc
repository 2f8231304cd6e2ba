// + - * / MOD, unary minus, timestamp +- interval. Nothing wraps: what leaves the result's type is
// an error of the row.
#include "operators/kernels.h"
#include "operators/numbers.h"
#include "operators/times.h"

namespace weir::operators {
namespace {

using plan::Fn;

// Integers. The sum or product of two int64 in 128 bits is exact; the result's own range decides.
template <class F>
KernelPtr Integers(const Call& call, Args& args, F compute) {
  const Type type = call.type;
  const IntRange range = RangeOf(type);
  return Strict<int64_t, int64_t, int64_t>(
      type, std::move(args), [=](OpState& s, int64_t a, int64_t b, int64_t* out) {
        if (compute.overflow(a, b, out) || *out < range.low || *out > range.high) {
          return s.Fail(kOverflow, DoesNotFit(compute.exact(a, b), 0, type));
        }
        return Outcome::kValue;
      });
}

struct AddInt {
  static bool overflow(int64_t a, int64_t b, int64_t* out) {
    return __builtin_add_overflow(a, b, out);
  }
  static Int128 exact(int64_t a, int64_t b) { return Int128{a} + b; }
};
struct SubInt {
  static bool overflow(int64_t a, int64_t b, int64_t* out) {
    return __builtin_sub_overflow(a, b, out);
  }
  static Int128 exact(int64_t a, int64_t b) { return Int128{a} - b; }
};
struct MulInt {
  static bool overflow(int64_t a, int64_t b, int64_t* out) {
    return __builtin_mul_overflow(a, b, out);
  }
  static Int128 exact(int64_t a, int64_t b) { return Int128{a} * b; }
};

// Truncates towards zero; MOD has the sign of the dividend. -2^63 / -1 would trap.
KernelPtr DivideIntegers(const Call& call, Args& args) {
  const Type type = call.type;
  const IntRange range = RangeOf(type);
  const bool mod = call.fn == Fn::kMod;
  return Strict<int64_t, int64_t, int64_t>(
      type, std::move(args), [=](OpState& s, int64_t a, int64_t b, int64_t* out) {
        if (b == 0) return s.Fail(kDivisionByZero, "division by zero");
        const Int128 exact = mod ? (b == -1 ? 0 : a % b) : b == -1 ? -Int128{a} : a / b;
        if (!range.Has(exact)) return s.Fail(kOverflow, DoesNotFit(exact, 0, type));
        *out = static_cast<int64_t>(exact);
        return Outcome::kValue;
      });
}

// Doubles. An infinity or NaN that comes in goes through; one that finite numbers give is an error.
template <class F>
KernelPtr Doubles(const Call& call, Args& args, F compute) {
  const Type type = call.type;
  return Strict<double, double, double>(
      type, std::move(args), [=](OpState& s, double a, double b, double* out) {
        *out = RoundTo(compute(a, b), type);
        if (!std::isfinite(*out) && std::isfinite(a) && std::isfinite(b)) {
          return s.Fail(kOverflow, "overflow: the result is not a finite " + type.Name());
        }
        return Outcome::kValue;
      });
}

KernelPtr DivideDoubles(const Call& call, Args& args) {
  const Type type = call.type;
  const bool mod = call.fn == Fn::kMod;
  return Strict<double, double, double>(
      type, std::move(args), [=](OpState& s, double a, double b, double* out) {
        if (b == 0) return s.Fail(kDivisionByZero, "division by zero");
        *out = RoundTo(mod ? std::fmod(a, b) : a / b, type);
        if (!std::isfinite(*out) && std::isfinite(a) && std::isfinite(b)) {
          return s.Fail(kOverflow, "overflow: the result is not a finite " + type.Name());
        }
        return Outcome::kValue;
      });
}

Outcome FitDecimal(OpState& s, std::optional<Int128> value, const Type& type, Int128* out) {
  if (!value || !FitsPrecision(*value, type.precision)) {
    if (value) return s.Fail(kOverflow, DoesNotFit(*value, type.scale, type));
    return s.Fail(kOverflow, "the result does not fit " + type.Name());
  }
  *out = *value;
  return Outcome::kValue;
}

// a +- b at the larger scale, then at the result's.
std::optional<Int128> AddDecimals(Int128 a, int as, Int128 b, int bs, int result_scale) {
  const int scale = std::max(as, bs);
  const std::optional<Int128> x = ScaleBy(a, scale - as, RoundMode::kHalfUp);
  const std::optional<Int128> y = ScaleBy(b, scale - bs, RoundMode::kHalfUp);
  Int128 sum;
  if (!x || !y || __builtin_add_overflow(*x, *y, &sum)) return std::nullopt;
  return ScaleBy(sum, result_scale - scale, RoundMode::kHalfUp);
}

std::optional<Int128> ModDecimals(Int128 a, int as, Int128 b, int bs, int result_scale) {
  const int scale = std::max(as, bs);
  const std::optional<Int128> x = ScaleBy(a, scale - as, RoundMode::kHalfUp);
  const std::optional<Int128> y = ScaleBy(b, scale - bs, RoundMode::kHalfUp);
  if (!x || !y) return std::nullopt;
  return ScaleBy(*x % *y, result_scale - scale, RoundMode::kHalfUp);
}

KernelPtr Decimals(const Call& call, Args& args) {
  const Type type = call.type;
  const int as = args[0]->type().scale;
  const int bs = args[1]->type().scale;
  const Fn fn = call.fn;
  return Strict<Int128, Int128, Int128>(
      type, std::move(args), [=](OpState& s, Int128 a, Int128 b, Int128* out) {
        std::optional<Int128> value;
        if ((fn == Fn::kDiv || fn == Fn::kMod) && b == 0) {
          return s.Fail(kDivisionByZero, "division by zero");
        }
        if (fn == Fn::kAdd || fn == Fn::kSub) {
          value = AddDecimals(a, as, fn == Fn::kAdd ? b : -b, bs, type.scale);
        } else if (fn == Fn::kMul) {
          value = MultiplyDecimal(a, as, b, bs, type.scale);
        } else if (fn == Fn::kDiv) {
          value = DivideDecimal(a, as, b, bs, type.scale);
        } else {
          value = ModDecimals(a, as, b, bs, type.scale);
        }
        return FitDecimal(s, value, type, out);
      });
}

KernelPtr Negate(const Call& call, Args& args) {
  const Type type = call.type;
  switch (type.physical()) {
    case Physical::kDouble:
      return Strict<double, double>(type, std::move(args), [](OpState&, double a, double* out) {
        *out = -a;
        return Outcome::kValue;
      });
    case Physical::kInt128: {
      const int from = args[0]->type().scale;
      return Strict<Int128, Int128>(type, std::move(args), [=](OpState& s, Int128 a, Int128* out) {
        return FitDecimal(s, ScaleBy(-a, type.scale - from, RoundMode::kHalfUp), type, out);
      });
    }
    default: {
      const IntRange range = RangeOf(type);
      return Strict<int64_t, int64_t>(type, std::move(args),
                                      [=](OpState& s, int64_t a, int64_t* out) {
                                        const Int128 exact = -Int128{a};
                                        if (!range.Has(exact)) {
                                          return s.Fail(kOverflow, DoesNotFit(exact, 0, type));
                                        }
                                        *out = static_cast<int64_t>(exact);
                                        return Outcome::kValue;
                                      });
    }
  }
}

KernelPtr ShiftTime(const Call& call, Args& args) {
  const Type type = call.type;
  const int64_t sign = call.fn == Fn::kTimestampPlusInterval ? 1 : -1;
  return Strict<int64_t, int64_t, int64_t>(
      type, std::move(args), [=](OpState& s, int64_t at, int64_t interval_ms, int64_t* out) {
        if (!AddToTime(at, Int128{interval_ms} * sign, type, out)) {
          return s.Fail(kOverflow, "the result is outside " + type.Name());
        }
        return Outcome::kValue;
      });
}

Result<KernelPtr> MakeBinary(const Call& call, Args& args) {
  if (args.size() != 2) return BadArguments(call);
  // Operands as the result's kind of number: integers beside decimals and doubles. A decimal
  // operand keeps its own scale.
  for (KernelPtr& arg : args) {
    const Type& t = arg->type();
    if (t.kind == TypeKind::kDecimal && call.type.kind == TypeKind::kDecimal) continue;
    Type wanted = call.type;
    if (wanted.kind == TypeKind::kDecimal) wanted = Type::Decimal(19, 0);
    if (wanted.IsInteger()) wanted = Type::Of(TypeKind::kBigInt);
    if (wanted.physical() == t.physical() && t.kind != TypeKind::kDecimal) continue;
    WEIR_ASSIGN_OR_RETURN(arg, ConvertTo(std::move(arg), wanted, call.zone));
  }
  switch (call.type.physical()) {
    case Physical::kInt64:
      if (call.fn == Fn::kAdd) return Integers(call, args, AddInt{});
      if (call.fn == Fn::kSub) return Integers(call, args, SubInt{});
      if (call.fn == Fn::kMul) return Integers(call, args, MulInt{});
      return DivideIntegers(call, args);
    case Physical::kDouble:
      if (call.fn == Fn::kAdd) return Doubles(call, args, [](double a, double b) { return a + b; });
      if (call.fn == Fn::kSub) return Doubles(call, args, [](double a, double b) { return a - b; });
      if (call.fn == Fn::kMul) return Doubles(call, args, [](double a, double b) { return a * b; });
      return DivideDoubles(call, args);
    case Physical::kInt128:
      return Decimals(call, args);
    case Physical::kBool:
    case Physical::kString:
      break;
  }
  return BadArguments(call);
}

Result<KernelPtr> MakeNegation(const Call& call, Args& args) {
  if (args.size() != 1) return BadArguments(call);
  if (args[0]->type().physical() != call.type.physical()) {
    WEIR_ASSIGN_OR_RETURN(args[0], ConvertTo(std::move(args[0]), call.type, call.zone));
  }
  return Negate(call, args);
}

Result<KernelPtr> MakeShift(const Call& call, Args& args) {
  if (args.size() != 2 || args[1]->type().physical() != Physical::kInt64) return BadArguments(call);
  WEIR_ASSIGN_OR_RETURN(args[0], ConvertTo(std::move(args[0]), call.type, call.zone));
  return ShiftTime(call, args);
}

}  // namespace

Result<KernelPtr> MakeArithmetic(const Call& call, Args& args) {
  switch (call.fn) {
    case Fn::kAdd:
    case Fn::kSub:
    case Fn::kMul:
    case Fn::kDiv:
    case Fn::kMod:
      return MakeBinary(call, args);
    case Fn::kNeg:
      return MakeNegation(call, args);
    case Fn::kTimestampPlusInterval:
    case Fn::kTimestampMinusInterval:
      return MakeShift(call, args);
    default:
      return nullptr;
  }
}

}  // namespace weir::operators
