// Text into a value of a type: fields of CSV and regex records, and CAST from STRING. One place, so
// that the two agree wherever they should. Exact or refused: nothing wraps, saturates or is cut,
// but fraction digits of times.
//
// Blanks around numbers, booleans and times are trimmed. BOOLEAN is true or false in any case.
// VARCHAR(n) counts code points and refuses what is longer.
#ifndef WEIR_DATA_CONVERT_H_
#define WEIR_DATA_CONVERT_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "data/batch.h"
#include "data/timestamp.h"
#include "data/types.h"

namespace weir {

enum class TextRules {
  kField,  // a record's field: as a JSON number: 1e3 and 1.0 are integers, digits beyond a
           // DECIMAL's scale are refused; BYTES are base64
  kCast,   // SQL's CAST: an integer is a sign and digits, DECIMAL rounds half up; BYTES are the
           // text's bytes
};

struct ConvertResult {
  enum class Problem {
    kNone,
    kNotA,      // "12x" is not an INT
    kFraction,  // 1.5 into an integer
    kDigits,    // more fraction digits than the scale
    kRange,
    kLength,
    kTime,  // with a detail: "no such day"
    kBase64,
  } problem = Problem::kNone;
  const char* detail = "";
  bool ok() const { return problem == Problem::kNone; }
};

// Stores the value at `row` of `out`, a column of `type` that is long enough, and sets valid. Not
// ok: the row's slot holds anything, valid is 0. Strings are copied into `arena`.
ConvertResult TextToColumn(std::string_view text, const Type& type, const SessionZone& zone,
                           TextRules rules, Column& out, size_t row, Arena& arena);

// For the dead letter: "12x" is not an INT. The value is shortened to 60 characters.
std::string DescribeProblem(std::string_view text, const Type& type, const ConvertResult& result);
// The same for a value that is `shown` as it is: a JSON number has no quotes.
std::string DescribeShown(const std::string& shown, const Type& type, const ConvertResult& result);

// The least and the greatest value of an integer type.
struct IntegerRange {
  int64_t low, high;
};
IntegerRange RangeOfInteger(TypeKind kind);
// "an INT", "a DECIMAL(12, 2)": nullability apart.
std::string WithArticle(const Type& type);

}  // namespace weir

#endif  // WEIR_DATA_CONVERT_H_
