#include "operators/aggregates.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "data/decimal.h"
#include "operators/numbers.h"

namespace weir::operators {
namespace {

using plan::AggregateCall;

// Flags of an accumulator.
constexpr uint8_t kSeen = 1;        // a value that is not NULL came
constexpr uint8_t kOverflowed = 2;  // the sum left 128 bits
constexpr uint8_t kNotFinite = 4;   // an infinity or NaN came: the result may be one

template <class T>
T Load(const char* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
void Store(char* p, T v) {
  std::memcpy(p, &v, sizeof v);
}

// NaN is above all and equals itself.
bool Less(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
template <class T>
bool Less(const T& a, const T& b) {
  return a < b;
}

bool FiniteOrMarked(double v, uint8_t flags) { return std::isfinite(v) || (flags & kNotFinite); }

void AddDecimal(char* sum, uint8_t* flags, Int128 v) {
  Int128 total;
  if (__builtin_add_overflow(Load<Int128>(sum), v, &total)) {
    *flags |= kOverflowed;
  } else {
    Store(sum, total);
  }
  *flags |= kSeen;
}

void AddDouble(char* sum, uint8_t* flags, double v) {
  Store(sum, Load<double>(sum) + v);
  *flags |= std::isfinite(v) ? kSeen : kSeen | kNotFinite;
}

template <class T>
void TakeExtreme(char* at, uint8_t* flags, T v, bool max) {
  const T old = Load<T>(at);
  if (!(*flags & kSeen) || (max ? Less(old, v) : Less(v, old))) Store(at, v);
  *flags |= kSeen;
}

void TakeText(KeyedTable& table, char* at, uint8_t* flags, std::string_view v, bool max) {
  VarRef* ref = reinterpret_cast<VarRef*>(at);
  const std::string_view old = ref->view();
  if (!(*flags & kSeen) || (max ? old < v : v < old)) table.SetVariable(ref, v);
  *flags |= kSeen;
}

uint8_t* FlagsAt(char* fixed, uint32_t offset) {
  return reinterpret_cast<uint8_t*>(fixed) + offset;
}

}  // namespace

uint32_t AggregateSet::SizeOf(Kind kind) {
  switch (kind) {
    case Kind::kCountStar:
    case Kind::kCount:
    case Kind::kSumDouble:
    case Kind::kExtremeBool:
    case Kind::kExtremeInt:
    case Kind::kExtremeDouble:
      return 8;
    case Kind::kSumInteger:
    case Kind::kSumDecimal:
    case Kind::kAvgDouble:
    case Kind::kExtremeDecimal:
    case Kind::kExtremeText:
      return 16;
    case Kind::kAvgInteger:
    case Kind::kAvgDecimal:
      return 24;
  }
  return 0;
}

Result<AggregateSet::Part> AggregateSet::MakePart(const AggregateCall& call, const Schema& input) {
  Part part;
  part.type = call.type;
  part.kind = Kind::kCountStar;
  if (call.fn == AggregateCall::Fn::kCountStar) return part;
  if (call.argument < 0 || static_cast<size_t>(call.argument) >= input.fields.size()) {
    return Fail(Code::kInternal, "window: an aggregate's argument is not in the input");
  }
  part.argument = static_cast<uint32_t>(call.argument);
  const Type& type = input.fields[part.argument].type;
  part.scale = type.scale;
  const Physical physical = type.physical();
  const bool number = type.IsNumeric();
  const auto bad = [&] {
    return Fail(Code::kInternal, "window: an aggregate does not take " + type.ToString());
  };
  switch (call.fn) {
    case AggregateCall::Fn::kCountStar:
      break;
    case AggregateCall::Fn::kCount:
      part.kind = Kind::kCount;
      break;
    case AggregateCall::Fn::kSum:
      if (!number || call.type.physical() != physical) return bad();
      part.kind = physical == Physical::kInt64    ? Kind::kSumInteger
                  : physical == Physical::kDouble ? Kind::kSumDouble
                                                  : Kind::kSumDecimal;
      break;
    case AggregateCall::Fn::kAvg:
      if (!number || call.type.physical() != physical) return bad();
      part.kind = physical == Physical::kInt64    ? Kind::kAvgInteger
                  : physical == Physical::kDouble ? Kind::kAvgDouble
                                                  : Kind::kAvgDecimal;
      break;
    case AggregateCall::Fn::kMin:
    case AggregateCall::Fn::kMax:
      if (call.type.physical() != physical) return bad();
      part.max = call.fn == AggregateCall::Fn::kMax;
      switch (physical) {
        case Physical::kBool:
          part.kind = Kind::kExtremeBool;
          break;
        case Physical::kInt64:
          part.kind = Kind::kExtremeInt;
          break;
        case Physical::kDouble:
          part.kind = Kind::kExtremeDouble;
          break;
        case Physical::kInt128:
          part.kind = Kind::kExtremeDecimal;
          break;
        case Physical::kString:
          part.kind = Kind::kExtremeText;
          break;
      }
      break;
  }
  return part;
}

Result<AggregateSet> AggregateSet::Make(const std::vector<AggregateCall>& calls,
                                        const Schema& input, uint32_t offset, SlotLayout* layout) {
  AggregateSet set;
  uint32_t flags = 0;
  for (const AggregateCall& call : calls) {
    WEIR_ASSIGN_OR_RETURN(Part part, MakePart(call, input));
    part.offset = offset;
    if (part.kind == Kind::kExtremeText) layout->variable.push_back(offset);
    offset += SizeOf(part.kind);
    if (part.kind != Kind::kCountStar && part.kind != Kind::kCount) part.flags = flags++;
    set.parts_.push_back(part);
  }
  // The flags of all lie behind the accumulators, a byte each.
  for (Part& part : set.parts_) part.flags += offset;
  layout->fixed_bytes = offset + (flags + 7) / 8 * 8;
  return set;
}

void AggregateSet::Update(const Batch& batch, std::span<const uint32_t> rows, char* const* fixed,
                          KeyedTable* const* tables) const {
  for (const Part& part : parts_) UpdatePart(part, batch, rows, fixed, tables);
}

namespace {

void CountOne(char* at) { Store(at, Load<int64_t>(at) + 1); }

}  // namespace

// f(index, row, accumulator, flags) for the rows that are not NULL.
template <class F>
void AggregateSet::ForEachValue(const Part& part, const Column& in, std::span<const uint32_t> rows,
                                char* const* fixed, F f) {
  const uint8_t* valid = in.valid.data();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (valid[rows[i]]) f(i, rows[i], fixed[i] + part.offset, FlagsAt(fixed[i], part.flags));
  }
}

void AggregateSet::UpdatePart(const Part& part, const Batch& batch, std::span<const uint32_t> rows,
                              char* const* fixed, KeyedTable* const* tables) const {
  switch (part.kind) {
    case Kind::kCountStar:
      for (size_t i = 0; i < rows.size(); ++i) CountOne(fixed[i] + part.offset);
      return;
    case Kind::kCount:
      return ForEachValue(part, batch.column(part.argument), rows, fixed,
                          [](size_t, uint32_t, char* at, uint8_t*) { CountOne(at); });
    case Kind::kSumInteger:
    case Kind::kSumDecimal:
    case Kind::kSumDouble:
    case Kind::kAvgInteger:
    case Kind::kAvgDecimal:
    case Kind::kAvgDouble:
      return UpdateSum(part, batch.column(part.argument), rows, fixed);
    case Kind::kExtremeBool:
    case Kind::kExtremeInt:
    case Kind::kExtremeDouble:
    case Kind::kExtremeDecimal:
    case Kind::kExtremeText:
      return UpdateExtreme(part, batch.column(part.argument), rows, fixed, tables);
  }
}

// Sums, and averages, which are a sum and a count behind it.
void AggregateSet::UpdateSum(const Part& part, const Column& in, std::span<const uint32_t> rows,
                             char* const* fixed) {
  const auto each = [&](auto f) { ForEachValue(part, in, rows, fixed, f); };
  const auto add_integer = [&](uint32_t r, char* at, uint8_t* flags) {
    Store(at, Load<Int128>(at) + in.ints[r]);  // 2^64 rows do not leave 128 bits
    *flags |= kSeen;
  };
  switch (part.kind) {
    case Kind::kSumInteger:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) { add_integer(r, at, flags); });
    case Kind::kSumDecimal:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        AddDecimal(at, flags, in.decimals[r]);
      });
    case Kind::kSumDouble:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        AddDouble(at, flags, in.doubles[r]);
      });
    case Kind::kAvgInteger:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        add_integer(r, at, flags);
        CountOne(at + 16);
      });
    case Kind::kAvgDecimal:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        AddDecimal(at, flags, in.decimals[r]);
        CountOne(at + 16);
      });
    case Kind::kAvgDouble:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        AddDouble(at, flags, in.doubles[r]);
        CountOne(at + 8);
      });
    case Kind::kCountStar:
    case Kind::kCount:
    case Kind::kExtremeBool:
    case Kind::kExtremeInt:
    case Kind::kExtremeDouble:
    case Kind::kExtremeDecimal:
    case Kind::kExtremeText:
      return;
  }
}

// MIN and MAX.
void AggregateSet::UpdateExtreme(const Part& part, const Column& in, std::span<const uint32_t> rows,
                                 char* const* fixed, KeyedTable* const* tables) {
  const auto each = [&](auto f) { ForEachValue(part, in, rows, fixed, f); };
  switch (part.kind) {
    case Kind::kExtremeBool:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        TakeExtreme<int64_t>(at, flags, in.bools[r] != 0, part.max);
      });
    case Kind::kExtremeInt:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        TakeExtreme<int64_t>(at, flags, in.ints[r], part.max);
      });
    case Kind::kExtremeDouble:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        TakeExtreme<double>(at, flags, in.doubles[r], part.max);
      });
    case Kind::kExtremeDecimal:
      return each([&](size_t, uint32_t r, char* at, uint8_t* flags) {
        TakeExtreme<Int128>(at, flags, in.decimals[r], part.max);
      });
    case Kind::kExtremeText:
      return each([&](size_t i, uint32_t r, char* at, uint8_t* flags) {
        TakeText(*tables[i], at, flags, in.strings[r], part.max);
      });
    case Kind::kCountStar:
    case Kind::kCount:
    case Kind::kSumInteger:
    case Kind::kSumDecimal:
    case Kind::kSumDouble:
    case Kind::kAvgInteger:
    case Kind::kAvgDecimal:
    case Kind::kAvgDouble:
      return;
  }
}

void AggregateSet::Merge(KeyedTable& table, char* to, char* from) const {
  for (const Part& part : parts_) MergePart(part, table, to, from);
}

void AggregateSet::MergePart(const Part& part, KeyedTable& table, char* to_slot,
                             char* from_slot) const {
  char* to = to_slot + part.offset;
  char* from = from_slot + part.offset;
  const auto add_count = [](char* a, const char* b) {
    Store(a, Load<int64_t>(a) + Load<int64_t>(b));
  };
  if (part.kind == Kind::kCountStar || part.kind == Kind::kCount) return add_count(to, from);
  uint8_t* flags = FlagsAt(to_slot, part.flags);
  const uint8_t other = *FlagsAt(from_slot, part.flags);
  if (!(other & kSeen)) return;
  switch (part.kind) {
    case Kind::kCountStar:
    case Kind::kCount:
      return;
    case Kind::kAvgInteger:
      add_count(to + 16, from + 16);
      [[fallthrough]];
    case Kind::kSumInteger:
      Store(to, Load<Int128>(to) + Load<Int128>(from));
      break;
    case Kind::kAvgDecimal:
      add_count(to + 16, from + 16);
      [[fallthrough]];
    case Kind::kSumDecimal:
      AddDecimal(to, flags, Load<Int128>(from));
      break;
    case Kind::kAvgDouble:
      add_count(to + 8, from + 8);
      [[fallthrough]];
    case Kind::kSumDouble:
      Store(to, Load<double>(to) + Load<double>(from));
      break;
    case Kind::kExtremeBool:
    case Kind::kExtremeInt:
      TakeExtreme<int64_t>(to, flags, Load<int64_t>(from), part.max);
      break;
    case Kind::kExtremeDouble:
      TakeExtreme<double>(to, flags, Load<double>(from), part.max);
      break;
    case Kind::kExtremeDecimal:
      TakeExtreme<Int128>(to, flags, Load<Int128>(from), part.max);
      break;
    case Kind::kExtremeText: {
      VarRef* a = reinterpret_cast<VarRef*>(to);
      VarRef* b = reinterpret_cast<VarRef*>(from);
      if (!(*flags & kSeen) || (part.max ? a->view() < b->view() : b->view() < a->view())) {
        table.MoveVariable(a, b);
      }
      break;
    }
  }
  *flags |= other;
}

bool AggregateSet::Finish(size_t i, const char* fixed, Column& out, uint32_t row,
                          std::string* error) const {
  const Part& part = parts_[i];
  const char* at = fixed + part.offset;
  out.valid[row] = 1;
  if (part.kind == Kind::kCountStar || part.kind == Kind::kCount) {
    out.ints[row] = Load<int64_t>(at);
    return true;
  }
  const uint8_t flags = static_cast<uint8_t>(fixed[part.flags]);
  if (!(flags & kSeen)) {
    out.valid[row] = 0;
    return true;
  }
  if (flags & kOverflowed) {
    *error = DoesNotFit("the sum", part.type);
    return false;
  }
  switch (part.kind) {
    case Kind::kExtremeBool:
      out.bools[row] = Load<int64_t>(at) != 0;
      return true;
    case Kind::kExtremeInt:
      out.ints[row] = Load<int64_t>(at);
      return true;
    case Kind::kExtremeDouble:
      out.doubles[row] = Load<double>(at);
      return true;
    case Kind::kExtremeDecimal:
      out.decimals[row] = Load<Int128>(at);
      return true;
    case Kind::kExtremeText:
      out.strings[row] = reinterpret_cast<const VarRef*>(at)->view();
      return true;
    case Kind::kCountStar:
    case Kind::kCount:
    case Kind::kSumInteger:
    case Kind::kSumDecimal:
    case Kind::kSumDouble:
    case Kind::kAvgInteger:
    case Kind::kAvgDecimal:
    case Kind::kAvgDouble:
      break;
  }
  return FinishSum(part, at, flags, out, row, error);
}

// A sum fits the type of its column, or is an error of the result.
bool AggregateSet::FinishSum(const Part& part, const char* at, uint8_t flags, Column& out,
                             uint32_t row, std::string* error) {
  const auto overflowed = [&](const std::string& what) {
    *error = DoesNotFit(what, part.type);
    return false;
  };
  switch (part.kind) {
    case Kind::kSumInteger: {
      const Int128 sum = Load<Int128>(at);
      if (!RangeOf(part.type).Has(sum)) {
        *error = DoesNotFit(sum, 0, part.type);
        return false;
      }
      out.ints[row] = static_cast<int64_t>(sum);
      return true;
    }
    case Kind::kAvgInteger:
      out.ints[row] = static_cast<int64_t>(Load<Int128>(at) / Load<int64_t>(at + 16));
      return true;
    case Kind::kSumDecimal: {
      const Int128 sum = Load<Int128>(at);
      const std::optional<Int128> scaled =
          ScaleBy(sum, part.type.scale - part.scale, RoundMode::kHalfUp);
      if (!scaled || !FitsPrecision(*scaled, part.type.precision)) return overflowed("the sum");
      out.decimals[row] = *scaled;
      return true;
    }
    case Kind::kAvgDecimal: {
      const std::optional<Int128> average =
          DivideDecimal(Load<Int128>(at), part.scale, Load<int64_t>(at + 16), 0, part.type.scale);
      if (!average || !FitsPrecision(*average, part.type.precision))
        return overflowed("the average");
      out.decimals[row] = *average;
      return true;
    }
    case Kind::kSumDouble:
      out.doubles[row] = RoundTo(Load<double>(at), part.type);
      return FiniteOrMarked(out.doubles[row], flags) || overflowed("the sum");
    case Kind::kAvgDouble:
      out.doubles[row] =
          RoundTo(Load<double>(at) / static_cast<double>(Load<int64_t>(at + 8)), part.type);
      return FiniteOrMarked(out.doubles[row], flags) || overflowed("the sum");
    case Kind::kCountStar:
    case Kind::kCount:
    case Kind::kExtremeBool:
    case Kind::kExtremeInt:
    case Kind::kExtremeDouble:
    case Kind::kExtremeDecimal:
    case Kind::kExtremeText:
      break;
  }
  return true;
}

}  // namespace weir::operators
