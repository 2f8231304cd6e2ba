// A second opinion about a row: simdjson's On-Demand interface made strict by walking all of it,
// with an own check of numbers. Shares no code with the decoder but the general parser of
// timestamps.
#ifndef WEIR_TESTS_JSON_JSON_REFERENCE_H_
#define WEIR_TESTS_JSON_JSON_REFERENCE_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"
#include "data/format.h"

namespace weir::json_reference {

struct Value {
  enum class Kind { kNull, kBoolean, kNumber, kString, kContainer } kind = Kind::kNull;
  std::string
      text;  // string: unescaped; number: its token; boolean: true, false; container: '{' or '['
};
// The last value of each key of the row's object; nullopt: the row is refused.
using Row = std::map<std::string, Value>;

class Reader {
 public:
  Reader();
  ~Reader();
  std::optional<Row> Read(std::string_view row);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

// The columns of the comparison: s STRING, b BIGINT, m DECIMAL(12, 2), f DOUBLE, t TIMESTAMP(3),
// o BOOLEAN, v VARCHAR(3).
Schema ComparedSchema();
std::vector<DecodeField> ComparedFields();

// Empty, or why row `row` of the batch is not what the reference read.
std::string CompareRow(const Batch& batch, uint32_t row, const Row& reference);
// Empty, or why the dead letter is wrong.
std::string CompareDead(const NonRow& dead, const std::optional<Row>& reference);
// Decodes the lines of `block` in one go, cut in two, and each as a value of its own; all must
// agree with the reference. Empty, or the first difference.
std::string CompareBlock(std::string_view block, size_t cut, Reader& reader);

}  // namespace weir::json_reference

#endif  // WEIR_TESTS_JSON_JSON_REFERENCE_H_
