// Rows of batches as text, for tests: one text a value, "NULL" for NULL.
#ifndef WEIR_DATA_TESTING_ROWS_H_
#define WEIR_DATA_TESTING_ROWS_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/batch.h"

namespace weir {

// Sets row `row` of owned columns. Integers, times (ticks) and decimals as numbers, decimals with
// their scale; strings and bytes as they are.
void SetRow(Batch& batch, uint32_t row, const std::vector<std::string_view>& values);
// "true|-5|NULL|text": what SetRow would take, joined by '|'. Times are ticks.
std::string RowText(const Batch& batch, uint32_t row);
// RowText of all selected rows, one a line.
std::string RowsText(const Batch& batch);

}  // namespace weir

#endif  // WEIR_DATA_TESTING_ROWS_H_
