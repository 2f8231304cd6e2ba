// A table of JSON rows for tests: a decoder, its columns, and what it made of some bytes.
#ifndef WEIR_DATA_TESTING_JSON_TABLE_H_
#define WEIR_DATA_TESTING_JSON_TABLE_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/json_decoder.h"
#include "data/testing/rows.h"

namespace weir {

// A decoder with its columns, and what it was told so far.
class Table {
 public:
  explicit Table(const std::vector<Field>& fields, const FormatSpec& spec = {}) {
    std::vector<DecodeField> wanted;
    for (const Field& field : fields) {
      const int at = static_cast<int>(wanted.size());
      wanted.push_back({field.name, field.type, at, at});
      schema_.fields.push_back(field);
    }
    decoder_ = NewJsonDecoder(spec, wanted);
    batch.Reset(schema_);
  }

  DecodeResult Decode(std::string_view bytes, int64_t position = 0, bool final = false,
                      uint32_t max_rows = 1000) {
    block_.assign(bytes);
    block_.append(kDecodePadding, '}');  // padding may hold anything
    return decoder_->Decode({block_.data(), bytes.size()}, position, final, max_rows, batch);
  }
  void Clear() { batch.Reset(schema_); }
  RowDecoder& decoder() { return *decoder_; }
  std::string Rows() const { return RowsText(batch); }
  // "before_row pos-next_pos code: message", or "... skipped", one a line.
  std::string NonRows() const {
    std::string text;
    for (const NonRow& n : batch.non_rows) {
      text += std::to_string(n.before_row) + " " + std::to_string(n.pos) + "-" +
              std::to_string(n.next_pos) + " ";
      text += n.skipped ? "skipped" : n.code + ": " + n.message;
      text += "\n";
    }
    return text;
  }

  Batch batch;

 private:
  Schema schema_;
  std::unique_ptr<RowDecoder> decoder_;
  std::string block_;
};

inline Type Of(TypeKind kind) { return Type::Of(kind); }
inline Type Varchar(uint32_t n) {
  Type type = Of(TypeKind::kString);
  type.length = n;
  return type;
}
inline const Type kString = Of(TypeKind::kString);
inline const Type kBigInt = Of(TypeKind::kBigInt);

}  // namespace weir

#endif  // WEIR_DATA_TESTING_JSON_TABLE_H_
