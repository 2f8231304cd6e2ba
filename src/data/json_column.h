// One wanted field of a JSON row: its value, converted as sql.md "Types" says, into the column's
// slot for the row.
//
// Two kinds of trouble. A value that is no JSON ends the row at once (Failure). A value that is
// JSON but not of the column's type is a Problem: it is kept with the column until the row ends,
// because of duplicate keys the last counts, so that {"b":"x","b":2} is 2.
#ifndef WEIR_DATA_JSON_COLUMN_H_
#define WEIR_DATA_JSON_COLUMN_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "data/batch.h"
#include "data/convert.h"
#include "data/format.h"
#include "data/json_error.h"
#include "data/json_number.h"
#include "data/json_scan.h"
#include "data/json_string.h"

namespace weir::json {

// What the columns of one row share.
struct RowContext {
  Failure failure;
  StringSink strings;
  bool has_problem = false;  // of any column in this row, perhaps mended by a later duplicate
  // Where the row is read, and where its bytes really are: one value from Kafka is read from a copy
  // in which line feeds are made carriage returns. Text that leaves the decoder comes from the
  // original.
  const char* read_base = nullptr;
  const char* original_base = nullptr;

  std::string_view Original(const char* begin, const char* end) const {
    return {original_base + (begin - read_base), static_cast<size_t>(end - begin)};
  }
};

// Why a value is not the column's. [begin, end): the value in the row.
struct Problem {
  using Kind = ConvertResult::Problem;
  ConvertResult why;
  bool epoch = false;  // why.detail is of an epoch number
  const char* begin = nullptr;
  const char* end = nullptr;
};

class JsonColumn {
 public:
  JsonColumn(const DecodeField& field, const FormatSpec& spec);

  const std::string& name() const { return name_; }
  int batch_column() const { return batch_column_; }
  bool not_null() const { return !type_.nullable; }

  // The column to fill; again after each change of its size.
  void Bind(Column& column);

  // What the row has said so far. Begin with NULL: a missing field is one.
  enum State : uint8_t {
    kIsNull = 0,
    kIsValue = 1,
    kIsProblem = 2
  };  // as Column::valid, but for the last
  State state(uint32_t row) const { return static_cast<State>(valid_[row]); }
  void SetNull(uint32_t row) { valid_[row] = kIsNull; }
  const Problem& problem() const { return problem_; }  // when state() is kIsProblem
  // "column v: "12x" is not an INT"
  std::string ProblemMessage(const RowContext& context) const;

  // Reads the value at p into `row`. Returns the byte behind it, or nullptr with context.failure
  // set. Inline in the loop over a row's values: it saves a twelfth of a usual row's time.
  [[gnu::always_inline]] const char* Read(const char* p, uint32_t row, RowContext& context) {
    switch (op_) {
      case Op::kString:
        if (*p == '"') {
          valid_[row] = kIsValue;
          return ReadString(p + 1, context.strings, strings_[row], context.failure);
        }
        break;
      case Op::kDecimal:
        if (const char* end = ReadShortDecimal(p, row)) return end;
        break;
      case Op::kInteger:
        if (const char* end = ReadShortInteger(p, row)) return end;
        break;
      case Op::kTime:
        if (const char* end = ReadUsualTime(p, row)) return end;
        break;
      case Op::kOther:
        break;
    }
    return ReadSlow(p, row, context);
  }

 private:
  // What has a fast path. kTime: only where text means the same with and without Z.
  enum class Op : uint8_t { kString, kDecimal, kInteger, kTime, kOther };

  const char* ReadShortDecimal(const char* p, uint32_t row) {
    ShortNumber n;
    const char* end;
    if (!ScanShortNumber(p, n, end)) return nullptr;
    const int up = scale_ - n.fraction_digits;
    // 18 digits at most, so that 64 bits hold the value.
    if (up < 0 || n.integer_digits + scale_ > 18) return nullptr;
    const uint64_t value = DigitsOf(n) * kPowersOfTen[up];
    if (value >= decimal_limit_) return nullptr;
    decimals_[row] = n.negative ? -static_cast<Int128>(value) : static_cast<Int128>(value);
    valid_[row] = kIsValue;
    return end;
  }

  const char* ReadShortInteger(const char* p, uint32_t row) {
    ShortNumber n;
    const char* end;
    if (!ScanShortNumber(p, n, end) || n.fraction_digits != 0) return nullptr;
    const int64_t digits = static_cast<int64_t>(DigitsValue(n.digits, n.integer_digits));
    const int64_t value = n.negative ? -digits : digits;
    if (value < low_ || value > high_) return nullptr;
    ints_[row] = value;
    valid_[row] = kIsValue;
    return end;
  }

  // "YYYY-MM-DDTHH:MM" of the value before, then :SS, :SSZ, :SS.mmm or :SS.mmmZ.
  const char* ReadUsualTime(const char* p, uint32_t row) {
    if (*p != '"') return nullptr;
    if (!Scan::Equal16(p + 1, minute_) && !LearnMinute(p + 1)) return nullptr;
    constexpr uint64_t kZeros = 0x5A3030302E30303A;  // ":00.000Z", first byte lowest
    const uint64_t x = Load8(p + 17) ^ kZeros;
    const uint64_t carried =
        x | (x + 0x0006060600060600);  // a nibble above 9 shows in the high one
    int64_t ms;
    const char* end;
    if ((carried & 0x00F0F0F0FFF0F0FF) == 0) {
      ms = Second(x) * 1000 +
           static_cast<int64_t>((x >> 32 & 15) * 100 + (x >> 40 & 15) * 10 + (x >> 48 & 15));
      end = p + 24;
    } else if ((carried & 0x0000000000F0F0FF) == 0) {
      ms = Second(x) * 1000;
      end = p + 20;
    } else {
      return nullptr;
    }
    if (*end == 'Z') ++end;
    if (*end != '"' || ms >= 60000) return nullptr;
    if (__builtin_expect(ms_cut_ != 1, 0)) ms -= ms % ms_cut_;
    ints_[row] = minute_ticks_ + ms * ticks_per_ms_;
    valid_[row] = kIsValue;
    return end + 1;
  }
  static int64_t Second(uint64_t x) {
    return static_cast<int64_t>((x >> 8 & 15) * 10 + (x >> 16 & 15));
  }
  // True: the 16 bytes are a minute that exists, and are now the one to compare with.
  bool LearnMinute(const char* p);

  const char* ReadSlow(const char* p, uint32_t row, RowContext& context);
  const char* ReadQuoted(const char* p, uint32_t row, RowContext& context);
  const char* ReadContainer(const char* p, uint32_t row, RowContext& context);
  // Each stores the value and returns true, or fills problem_ but for its place.
  bool FromText(std::string_view text, uint32_t row, RowContext& context);
  bool FromNumber(const char* p, const char* end, uint32_t row, RowContext& context);
  bool FromBoolean(const char* p, const char* end, uint32_t row, RowContext& context);
  bool EpochFromNumber(std::string_view number, uint32_t row);
  bool StoreInteger(const char* p, const char* end, uint32_t row);
  bool StoreString(std::string_view text, uint32_t row, RowContext& context);
  bool StoreConverted(std::string_view text, uint32_t row);
  bool CheckLength(std::string_view text);
  bool Wrong(ConvertResult why);
  // Sets the row's state by what a conversion said of the value [begin, end).
  const char* Finish(bool stored, const char* begin, const char* end, uint32_t row,
                     RowContext& context);

  Op op_ = Op::kOther;
  int scale_ = 0;
  uint64_t decimal_limit_ = 0;  // 10^precision, as far as 64 bits hold it
  int64_t low_ = 0;             // integers
  int64_t high_ = 0;
  uint8_t* valid_ = nullptr;
  union {  // the column's values, by its physical type
    void* values_ = nullptr;
    uint8_t* bools_;
    int64_t* ints_;
    double* doubles_;
    Int128* decimals_;
    std::string_view* strings_;
  };
  int64_t minute_ticks_ = 0;
  int64_t ticks_per_ms_ = 1;
  int64_t ms_cut_ = 1;  // of precision 0..2: the milliseconds that are cut away
  // The minute that minute_ticks_ is. Always one that exists: any 16 bytes may come in a hostile
  // row.
  char minute_[16] = {'1', '9', '7', '0', '-', '0', '1', '-',
                      '0', '1', 'T', '0', '0', ':', '0', '0'};
  Column* column_ = nullptr;
  Problem problem_;
  Type type_;
  std::string name_;
  int batch_column_ = 0;
  JsonOptions options_;
  SessionZone zone_;
  std::string scratch_;  // unescaped text of a value that is no STRING
};

}  // namespace weir::json

#endif  // WEIR_DATA_JSON_COLUMN_H_
