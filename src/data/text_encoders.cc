// The csv and raw encoders.
#include <cmath>
#include <cstring>

#include "data/base64.h"
#include "data/encoders.h"
#include "data/record_reader.h"
#include "data/utf8.h"
#include "data/value_text.h"

namespace weir {
namespace {

class CsvEncoder final : public RowEncoder {
 public:
  CsvEncoder(const FormatSpec& spec, const Schema& schema)
      : options_(spec.csv), style_(TimestampStyle::kSql) {
    for (const Field& f : schema.fields) {
      columns_.push_back({f.name,
                          "column " + f.name + ": NaN and infinity cannot be written to CSV",
                          "column " + f.name + ": the text is not UTF-8",
                          "column " + f.name +
                              ": the value needs quotes, and csv.disable-quote-character is set"});
    }
  }

  std::string_view Check(const Batch& batch, uint32_t row) const override {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const Column& c = batch.column(i);
      if (c.IsNull(row)) continue;
      if (c.type.physical() == Physical::kDouble && !std::isfinite(c.doubles[row])) {
        return columns_[i].not_finite;
      }
      if (c.type.kind != TypeKind::kString) continue;
      if (!IsWellFormedUtf8(c.strings[row])) return columns_[i].not_utf8;
      if (options_.quote == 0 && NeedsQuotes(c.strings[row], i)) return columns_[i].no_quotes;
    }
    return {};
  }

  void Append(const Batch& batch, uint32_t row, std::string& out) const override {
    std::string text;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += options_.delimiter;
      const Column& c = batch.column(i);
      if (c.IsNull(row)) {
        if (options_.has_null_literal) out += options_.null_literal;
      } else if (c.type.kind == TypeKind::kString) {
        AppendField(c.strings[row], i, out);
      } else {
        // The delimiter may be any character, one of a number's among them.
        text.clear();
        if (c.type.kind == TypeKind::kBytes) {
          AppendBase64(c.strings[row], text);
        } else {
          AppendScalarText(c, row, style_, text);
        }
        AppendField(text, i, out);
      }
    }
    out += '\n';
  }

  std::string Header() const override {
    if (!options_.header) return "";
    std::string out;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (i > 0) out += options_.delimiter;
      AppendField(columns_[i].name, i, out);
    }
    return out + "\n";
  }

 private:
  struct ColumnTexts {
    std::string name;
    std::string not_finite;
    std::string not_utf8;
    std::string no_quotes;
  };

  bool NeedsQuotes(std::string_view text, size_t column) const {
    if (text.empty()) {
      // A line without a byte is no record.
      return columns_.size() == 1 || (options_.has_null_literal && options_.null_literal.empty());
    }
    if (options_.has_null_literal && text == options_.null_literal) return true;
    if (column == 0 && options_.allow_comments && text[0] == '#') return true;
    if (column == 0 && text.starts_with(kByteOrderMark)) return true;
    for (const char c : text) {
      if (c == '\n' || c == '\r' || c == options_.delimiter ||
          (options_.quote != 0 && c == options_.quote) ||
          (options_.escape != 0 && c == options_.escape)) {
        return true;
      }
    }
    return false;
  }

  void AppendField(std::string_view text, size_t column, std::string& out) const {
    if (!NeedsQuotes(text, column) || options_.quote == 0) {
      out += text;
      return;
    }
    out += options_.quote;
    for (const char c : text) {
      if (c == options_.quote) out += options_.quote;
      if (options_.escape != 0 && c == options_.escape) out += options_.escape;
      out += c;
    }
    out += options_.quote;
  }

  CsvOptions options_;
  TimestampStyle style_;
  std::vector<ColumnTexts> columns_;
};

class RawEncoder final : public RowEncoder {
 public:
  std::string_view Check(const Batch& batch, uint32_t row) const override {
    const Column& c = batch.column(0);
    if (c.IsNull(row)) return "NULL cannot be written in format raw";
    const std::string_view value = c.strings[row];
    if (value.find('\n') != std::string_view::npos) {
      return "a value with a line feed cannot be written in format raw";
    }
    // A CR before the line feed would be read as part of the line end.
    if (value.ends_with('\r')) {
      return "a value that ends with a carriage return cannot be written in format raw";
    }
    return {};
  }

  void Append(const Batch& batch, uint32_t row, std::string& out) const override {
    out += batch.column(0).strings[row];
    out += '\n';
  }

  std::string Header() const override { return ""; }
};

}  // namespace

Result<std::unique_ptr<RowEncoder>> NewCsvEncoder(const FormatSpec& spec, const Schema& schema) {
  if (schema.fields.empty()) return Fail(Code::kInvalid, "format 'csv' needs a column");
  return std::make_unique<CsvEncoder>(spec, schema);
}

Result<std::unique_ptr<RowEncoder>> NewRawEncoder(const FormatSpec&, const Schema& schema) {
  if (schema.fields.size() != 1 || schema.fields[0].type.physical() != Physical::kString) {
    return Fail(Code::kInvalid, "format 'raw' writes a table of one column, STRING or BYTES");
  }
  return std::make_unique<RawEncoder>();
}

}  // namespace weir
