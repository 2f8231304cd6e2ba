// AggregateSet: the accumulators of a window's aggregates in the fixed part of a slot: how they lie
// there, take rows, are merged and give their result.
//
// Sums of integers are kept in 128 bits and checked when the window fires: only the result must
// fit. Sums of decimals are kept in 128 bits too; one that leaves them stays marked. Sums of
// doubles add in the order of arrival. NULLs do not count.
#ifndef WEIR_OPERATORS_AGGREGATES_H_
#define WEIR_OPERATORS_AGGREGATES_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/batch.h"
#include "plan/plan.h"
#include "state/keyed_table.h"

namespace weir::operators {

class AggregateSet {
 public:
  // The accumulators begin at `offset` (a multiple of 8) of the fixed part; `layout` gets the total
  // size and the places of strings. All zeros is the state before the first row.
  static Result<AggregateSet> Make(const std::vector<plan::AggregateCall>& calls,
                                   const Schema& input, uint32_t offset, SlotLayout* layout);

  // Row rows[i] counts in the slot whose fixed part is fixed[i], of tables[i].
  void Update(const Batch& batch, std::span<const uint32_t> rows, char* const* fixed,
              KeyedTable* const* tables) const;
  // `from` into `to`, two slots of one table. `from` holds nothing afterwards.
  void Merge(KeyedTable& table, char* to, char* from) const;
  // The result of aggregate i into row `row` of `out`, its strings still in the table. False: it
  // does not fit; `error` says why.
  bool Finish(size_t i, const char* fixed, Column& out, uint32_t row, std::string* error) const;

  size_t size() const { return parts_.size(); }

 private:
  // How an aggregate accumulates.
  enum class Kind : uint8_t {
    kCountStar,       // i64
    kCount,           // i64
    kSumInteger,      // i128
    kSumDecimal,      // i128
    kSumDouble,       // f64
    kAvgInteger,      // i128, i64 count
    kAvgDecimal,      // i128, i64 count
    kAvgDouble,       // f64, i64 count
    kExtremeBool,     // i64
    kExtremeInt,      // i64
    kExtremeDouble,   // f64
    kExtremeDecimal,  // i128
    kExtremeText,     // VarRef
  };
  struct Part {
    Kind kind;
    bool max = false;       // extremes
    uint32_t argument = 0;  // input column
    uint32_t offset = 0;    // of the accumulator
    uint32_t flags = 0;     // offset of its byte of flags
    uint8_t scale = 0;      // of a decimal argument
    Type type;              // of the result
  };
  static Result<Part> MakePart(const plan::AggregateCall& call, const Schema& input);
  static uint32_t SizeOf(Kind kind);
  void UpdatePart(const Part& part, const Batch& batch, std::span<const uint32_t> rows,
                  char* const* fixed, KeyedTable* const* tables) const;
  template <class F>
  static void ForEachValue(const Part& part, const Column& in, std::span<const uint32_t> rows,
                           char* const* fixed, F f);
  static void UpdateSum(const Part& part, const Column& in, std::span<const uint32_t> rows,
                        char* const* fixed);
  static void UpdateExtreme(const Part& part, const Column& in, std::span<const uint32_t> rows,
                            char* const* fixed, KeyedTable* const* tables);
  static bool FinishSum(const Part& part, const char* at, uint8_t flags, Column& out, uint32_t row,
                        std::string* error);
  void MergePart(const Part& part, KeyedTable& table, char* to, char* from) const;

  std::vector<Part> parts_;
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_AGGREGATES_H_
