// Mathematics: ABS, CEIL, FLOOR, ROUND, TRUNCATE, POWER, SQRT, EXP, LN, LOG10, LOG2, SIGN (Flink's
// results).
#include "operators/kernels.h"
#include "operators/numbers.h"

namespace weir::operators {
namespace {

using plan::Fn;

// A function of doubles: what is not finite although the arguments are is an error.
template <class F>
KernelPtr Double1(const Call& call, Args& args, F f) {
  const Type type = call.type;
  const char* name = plan::FnName(call.fn);
  return Strict<double, double>(type, std::move(args), [=](OpState& s, double a, double* out) {
    *out = RoundTo(f(a), type);
    if (!std::isfinite(*out) && std::isfinite(a)) {
      std::string text = std::string(name) + " of ";
      AppendAnyDouble(a, text);
      return s.Fail(std::isnan(*out) ? kArgument : kOverflow, text + " is no finite number");
    }
    return Outcome::kValue;
  });
}

KernelPtr Power(const Call& call, Args& args) {
  const Type type = call.type;
  return Strict<double, double, double>(
      type, std::move(args), [=](OpState& s, double a, double b, double* out) {
        *out = RoundTo(std::pow(a, b), type);
        if (!std::isfinite(*out) && std::isfinite(a) && std::isfinite(b)) {
          if (a == 0) return s.Fail(kDivisionByZero, "division by zero");
          return s.Fail(std::isnan(*out) ? kArgument : kOverflow,
                        "POWER: the result is no finite number");
        }
        return Outcome::kValue;
      });
}

Outcome FitInteger(OpState& s, Int128 value, const Type& type, int64_t* out) {
  if (!RangeOf(type).Has(value)) return s.Fail(kOverflow, DoesNotFit(value, 0, type));
  *out = static_cast<int64_t>(value);
  return Outcome::kValue;
}

Outcome FitDecimal(OpState& s, std::optional<Int128> value, const Type& type, Int128* out) {
  if (!value) return s.Fail(kOverflow, "the result does not fit " + type.Name());
  if (!FitsPrecision(*value, type.precision)) {
    return s.Fail(kOverflow, DoesNotFit(*value, type.scale, type));
  }
  *out = *value;
  return Outcome::kValue;
}

// ABS and SIGN.
template <class F>
Result<KernelPtr> Simple(const Call& call, Args& args, F f) {
  const Type type = call.type;
  switch (type.physical()) {
    case Physical::kInt64:
      return Strict<int64_t, int64_t>(type, std::move(args),
                                      [=](OpState& s, int64_t a, int64_t* out) {
                                        return FitInteger(s, f(Int128{a}, Int128{1}), type, out);
                                      });
    case Physical::kDouble:
      return Strict<double, double>(type, std::move(args), [=](OpState&, double a, double* out) {
        *out = f(a, 1.0);
        return Outcome::kValue;
      });
    case Physical::kInt128: {
      const int from = args[0]->type().scale;
      return Strict<Int128, Int128>(type, std::move(args), [=](OpState& s, Int128 a, Int128* out) {
        // `one` at the argument's scale: SIGN(DECIMAL) is a decimal.
        return FitDecimal(s, ScaleBy(f(a, PowerOfTen(from)), type.scale - from, RoundMode::kHalfUp),
                          type, out);
      });
    }
    case Physical::kBool:
    case Physical::kString:
      break;
  }
  return BadArguments(call);
}

Result<KernelPtr> CeilFloor(const Call& call, Args& args) {
  const Type type = call.type;
  const bool ceil = call.fn == Fn::kCeil;
  switch (type.physical()) {
    case Physical::kInt64:
      return std::move(args[0]);
    case Physical::kDouble:
      return Double1(call, args, [ceil](double a) { return ceil ? std::ceil(a) : std::floor(a); });
    case Physical::kInt128: {
      const int from = args[0]->type().scale;
      return Strict<Int128, Int128>(type, std::move(args), [=](OpState& s, Int128 a, Int128* out) {
        const Int128 one = PowerOfTen(from);
        Int128 whole = a / one;
        if (a % one != 0 && (a > 0) == ceil) whole += ceil ? 1 : -1;
        return FitDecimal(s, ScaleBy(whole, type.scale, RoundMode::kHalfUp), type, out);
      });
    }
    case Physical::kBool:
    case Physical::kString:
      break;
  }
  return BadArguments(call);
}

// ROUND(x, n) and TRUNCATE(x, n); n < 0 counts before the point.
Result<KernelPtr> RoundTruncate(const Call& call, Args& args) {
  const Type type = call.type;
  const RoundMode mode = call.fn == Fn::kRound ? RoundMode::kHalfUp : RoundMode::kTruncate;
  if (args.size() == 1) {
    Value zero;
    zero.type = Type::Of(TypeKind::kInt);
    zero.null = false;
    args.push_back(MakeLiteralKernel(std::move(zero)));
  }
  if (args[1]->type().physical() != Physical::kInt64) return BadArguments(call);
  // More digits than any type has change nothing.
  const auto digits = [](int64_t n) { return static_cast<int>(std::clamp<int64_t>(n, -400, 400)); };
  switch (type.physical()) {
    case Physical::kInt64:
      return Strict<int64_t, int64_t, int64_t>(
          type, std::move(args), [=](OpState& s, int64_t a, int64_t n, int64_t* out) {
            Int128 value = a;
            if (n < 0) {
              const int places = -digits(n);
              value = places > 19 ? 0 : *ScaleBy(*ScaleBy(a, -places, mode), places, mode);
            }
            return FitInteger(s, value, type, out);
          });
    case Physical::kDouble:
      return Strict<double, double, int64_t>(
          type, std::move(args), [=](OpState&, double a, int64_t n, double* out) {
            *out = RoundTo(RoundDouble(a, digits(n), mode), type);
            return Outcome::kValue;
          });
    case Physical::kInt128: {
      const int from = args[0]->type().scale;
      return Strict<Int128, Int128, int64_t>(
          type, std::move(args), [=](OpState& s, Int128 a, int64_t n, Int128* out) {
            const int keep = digits(n);
            std::optional<Int128> value = a;
            int scale = from;
            if (keep < from) {
              value = ScaleBy(a, keep - from, mode);
              scale = keep;
            }
            if (value) value = ScaleBy(*value, type.scale - scale, RoundMode::kHalfUp);
            return FitDecimal(s, value, type, out);
          });
    }
    case Physical::kBool:
    case Physical::kString:
      break;
  }
  return BadArguments(call);
}

}  // namespace

Result<KernelPtr> MakeMath(const Call& call, Args& args) {
  size_t most = 1;
  bool doubles = true;
  switch (call.fn) {
    case Fn::kAbs:
    case Fn::kCeil:
    case Fn::kFloor:
    case Fn::kSign:
      doubles = false;
      break;
    case Fn::kRound:
    case Fn::kTruncate:
      doubles = false;
      most = 2;
      break;
    case Fn::kPower:
      most = 2;
      break;
    case Fn::kSqrt:
    case Fn::kExp:
    case Fn::kLn:
    case Fn::kLog10:
    case Fn::kLog2:
      break;
    default:
      return nullptr;
  }
  if (args.empty() || args.size() > most || (call.fn == Fn::kPower && args.size() != 2)) {
    return BadArguments(call);
  }
  for (size_t i = 0; i < (doubles ? args.size() : 1); ++i) {
    // A decimal keeps its own scale; others become the result's kind of number.
    if (args[i]->type().physical() == call.type.physical()) continue;
    WEIR_ASSIGN_OR_RETURN(args[i], ConvertTo(std::move(args[i]), call.type, call.zone));
  }
  if (doubles && call.type.physical() != Physical::kDouble) return BadArguments(call);
  switch (call.fn) {
    case Fn::kAbs:
      return Simple(call, args, [](auto a, auto) { return a < 0 ? -a : a; });
    case Fn::kSign:
      return Simple(call, args, [](auto a, auto one) { return a > 0 ? one : a < 0 ? -one : a; });
    case Fn::kCeil:
    case Fn::kFloor:
      return CeilFloor(call, args);
    case Fn::kRound:
    case Fn::kTruncate:
      return RoundTruncate(call, args);
    case Fn::kPower:
      return Power(call, args);
    case Fn::kSqrt:
      return Double1(call, args, [](double a) { return std::sqrt(a); });
    case Fn::kExp:
      return Double1(call, args, [](double a) { return std::exp(a); });
    case Fn::kLn:
      return Double1(call, args, [](double a) { return std::log(a); });
    case Fn::kLog10:
      return Double1(call, args, [](double a) { return std::log10(a); });
    case Fn::kLog2:
      return Double1(call, args, [](double a) { return std::log2(a); });
    default:
      return BadArguments(call);
  }
}

}  // namespace weir::operators
