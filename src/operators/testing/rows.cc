#include "operators/testing/rows.h"

#include <cmath>

#include "data/convert.h"
#include "data/decimal.h"

namespace weir::operators {

void FillBatch(const Schema& schema, const std::vector<TextRow>& rows, Batch& batch) {
  batch.Reset(schema, static_cast<uint32_t>(rows.size()));
  for (uint32_t r = 0; r < rows.size(); ++r) {
    WEIR_CHECK(rows[r].size() == schema.fields.size());
    for (size_t c = 0; c < schema.fields.size(); ++c) {
      Column& column = batch.mutable_column(c);
      const std::string& text = rows[r][c];
      const Type& type = schema.fields[c].type;
      if (text == "NULL") {
        column.valid[r] = 0;
      } else if (type.kind == TypeKind::kDouble && (text == "NaN" || text == "Infinity")) {
        column.valid[r] = 1;
        column.doubles[r] = text == "NaN" ? std::nan("") : INFINITY;
      } else if (type.kind == TypeKind::kBytes) {
        column.valid[r] = 1;
        column.strings[r] = batch.arena().Copy(text);
      } else {
        const ConvertResult result =
            TextToColumn(text, type, SessionZone{}, TextRules::kField, column, r, batch.arena());
        WEIR_CHECK(result.ok());
      }
    }
  }
}

std::string ShowValue(const Column& column, uint32_t row) {
  if (column.IsNull(row)) return "NULL";
  std::string text;
  switch (column.type.physical()) {
    case Physical::kBool:
      return column.bools[row] ? "true" : "false";
    case Physical::kInt64:
      return std::to_string(column.ints[row]);
    case Physical::kDouble:
      if (std::isnan(column.doubles[row])) return "NaN";
      if (std::isinf(column.doubles[row]))
        return column.doubles[row] > 0 ? "Infinity" : "-Infinity";
      AppendDouble(column.doubles[row], text);
      return text;
    case Physical::kInt128:
      AppendDecimal(column.decimals[row], column.type.scale, text);
      return text;
    case Physical::kString:
      return std::string(column.strings[row]);
  }
  return text;
}

std::string ShowRow(const Batch& batch, uint32_t row) {
  std::string text;
  for (size_t c = 0; c < batch.column_count(); ++c) {
    if (c > 0) text += ",";
    text += ShowValue(batch.column(c), row);
  }
  return text;
}

void Collector::Main(const Batch& batch) {
  batch.ForEachSelected([&](uint32_t r) {
    main.push_back(ShowRow(batch, r));
    events.push_back(main.back());
    if (!batch.watermarks.empty()) main_watermarks.push_back(batch.watermarks[r]);
  });
}

void Collector::Late(const Batch& batch) {
  batch.ForEachSelected([&](uint32_t r) { late.push_back(ShowRow(batch, r)); });
}

void Collector::Dead(const Batch& batch) {
  batch.ForEachSelected([&](uint32_t r) {
    dead.push_back(ShowValue(batch.column(0), r) + " " + ShowValue(batch.column(1), r) + " " +
                   ShowValue(batch.column(2), r) + " " + ShowValue(batch.column(4), r));
  });
}

void Collector::Watermark(TimestampMs watermark) {
  watermarks.push_back(watermark);
  events.push_back("wm " + std::to_string(watermark));
}

}  // namespace weir::operators
