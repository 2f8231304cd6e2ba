#include "data/json_decoder.h"
#include "qualify/rows.h"

namespace weir::qualify {
namespace {

constexpr uint64_t kRecordBytesMax = 16 << 20;

Type TypeOf(CellKind kind) {
  switch (kind) {
    case CellKind::kInteger:
      return Type::Of(TypeKind::kBigInt);
    case CellKind::kText:
      return Type::Of(TypeKind::kString);
    case CellKind::kTime:
      return Type::Timestamp(3);
    case CellKind::kBytes:
      break;
  }
  return Type::Of(TypeKind::kBytes);
}

}  // namespace

JsonRows::JsonRows(std::vector<Wish> wishes) : wishes_(std::move(wishes)) {
  std::vector<DecodeField> fields;
  for (const Wish& wish : wishes_) {
    if (wish.column.empty()) {
      columns_.push_back(-1);
      continue;
    }
    const int column = static_cast<int>(fields.size());
    columns_.push_back(column);
    schema_.fields.push_back({wish.column, TypeOf(wish.kind)});
    fields.push_back({wish.column, TypeOf(wish.kind), column, column});
  }
  FormatSpec spec;
  spec.max_record_bytes = kRecordBytesMax;
  spec.physical_columns = fields.size();
  if (!fields.empty()) decoder_ = NewJsonDecoder(spec, fields);
  cells_.resize(wishes_.size());
}

void JsonRows::Handle(std::string_view record, std::string_view source, uint64_t number,
                      const RowHandler& handle) {
  Row row{.broken = "", .cells = {}, .raw = record, .source = source, .number = number};
  if (decoder_ == nullptr) return handle(row);
  batch_.Reset(schema_);
  decoder_->DecodeValue(record, static_cast<int64_t>(number), batch_);
  if (batch_.rows() == 0) {
    row.broken = batch_.non_rows.empty() || batch_.non_rows[0].skipped
                     ? std::string_view("it is empty")
                     : std::string_view(batch_.non_rows[0].message);
    return handle(row);
  }
  for (size_t i = 0; i < cells_.size(); ++i) {
    cells_[i] = {};
    if (columns_[i] < 0) continue;
    const Column& column = batch_.column(static_cast<size_t>(columns_[i]));
    if (column.IsNull(0)) continue;
    cells_[i].null = false;
    if (column.type.physical() == Physical::kInt64)
      cells_[i].number = column.ints[0];
    else
      cells_[i].text = column.strings[0];
  }
  row.cells = cells_;
  handle(row);
}

}  // namespace weir::qualify
