#include "data/testing/rows.h"

#include "data/decimal.h"

namespace weir {

void SetRow(Batch& batch, uint32_t row, const std::vector<std::string_view>& values) {
  CHECK(values.size() == batch.column_count());
  for (size_t i = 0; i < values.size(); ++i) {
    Column& c = batch.mutable_column(i);
    const std::string_view text = values[i];
    c.valid[row] = text != "NULL";
    if (text == "NULL") continue;
    NumberError error = NumberError::kOk;
    switch (c.type.physical()) {
      case Physical::kBool:
        CHECK(text == "true" || text == "false");
        c.bools[row] = text == "true";
        break;
      case Physical::kInt64:
        error = ParseInteger(text, INT64_MIN, INT64_MAX, &c.ints[row]);
        break;
      case Physical::kDouble:
        error = ParseDouble(text, &c.doubles[row]);
        break;
      case Physical::kInt128:
        error = ParseDecimal(text, kDecimalDigitsMax, c.type.scale, &c.decimals[row]);
        break;
      case Physical::kString:
        c.strings[row] = batch.arena().Copy(text);
        break;
    }
    CHECK(error == NumberError::kOk);
  }
}

std::string RowText(const Batch& batch, uint32_t row) {
  std::string out;
  for (size_t i = 0; i < batch.column_count(); ++i) {
    if (i > 0) out += '|';
    const Column& c = batch.column(i);
    if (c.IsNull(row)) {
      out += "NULL";
      continue;
    }
    switch (c.type.physical()) {
      case Physical::kBool:
        out += c.bools[row] ? "true" : "false";
        break;
      case Physical::kInt64:
        AppendInt64(c.ints[row], out);
        break;
      case Physical::kDouble:
        AppendDouble(c.doubles[row], out);
        break;
      case Physical::kInt128:
        AppendDecimal(c.decimals[row], c.type.scale, out);
        break;
      case Physical::kString:
        out += c.strings[row];
        break;
    }
  }
  return out;
}

std::string RowsText(const Batch& batch) {
  std::string out;
  batch.ForEachSelected([&](uint32_t row) { out += RowText(batch, row) + "\n"; });
  return out;
}

}  // namespace weir
