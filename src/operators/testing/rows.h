// Batches from texts and back, and an Outputs that collects: for the tests of this folder.
#ifndef WEIR_OPERATORS_TESTING_ROWS_H_
#define WEIR_OPERATORS_TESTING_ROWS_H_

#include <string>
#include <vector>

#include "flow/operator.h"

namespace weir::operators {

using TextRow = std::vector<std::string>;  // "NULL" is NULL

// Values as a CSV field would have them; a bad one is a bug of the test.
void FillBatch(const Schema& schema, const std::vector<TextRow>& rows, Batch& batch);
// "a,1,NULL": numbers and times as they are stored (decimals with their scale).
std::string ShowValue(const Column& column, uint32_t row);
std::string ShowRow(const Batch& batch, uint32_t row);

struct Collector final : flow::Outputs {
  std::vector<std::string> main, late, dead;
  std::vector<TimestampMs> main_watermarks;  // of the rows of main
  std::vector<TimestampMs> watermarks;       // calls of Watermark
  std::vector<std::string> events;           // main rows and "wm N", in order
  void Main(const Batch& batch) override;
  void Late(const Batch& batch) override;
  void Dead(const Batch& batch) override;  // "stage code message record"
  void Watermark(TimestampMs watermark) override;
};

}  // namespace weir::operators

#endif  // WEIR_OPERATORS_TESTING_ROWS_H_
