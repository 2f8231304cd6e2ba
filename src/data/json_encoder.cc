#include <cmath>

#include "data/base64.h"
#include "data/encoders.h"
#include "data/utf8.h"
#include "data/value_text.h"

namespace weir {
namespace {

// With the quotes. Escapes only what JSON demands.
void AppendJsonString(std::string_view s, std::string& out) {
  out += '"';
  size_t from = 0;
  for (size_t i = 0; i < s.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(s[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out += s.substr(from, i - from);
    from = i + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      default:
        out += "\\u00";
        out += static_cast<char>('0' + (c >> 4));
        out += "0123456789abcdef"[c & 15];
    }
  }
  out += s.substr(from);
  out += '"';
}

// A string that is not known to be UTF-8: ill-formed bytes become U+FFFD.
void AppendRepairedJsonString(std::string_view s, std::string& out) {
  if (IsWellFormedUtf8(s)) return AppendJsonString(s, out);
  std::string repaired;
  while (!s.empty()) {
    const size_t good = ValidUtf8Length(s);
    repaired += s.substr(0, good);
    s.remove_prefix(good);
    if (s.empty()) break;
    repaired += "\xEF\xBF\xBD";
    s.remove_prefix(1);
  }
  AppendJsonString(repaired, out);
}

void AppendJsonValue(const Column& c, uint32_t row, TimestampStyle style, std::string& out) {
  if (c.IsNull(row)) {
    out += "null";
  } else if (c.type.kind == TypeKind::kString) {
    AppendJsonString(c.strings[row], out);
  } else if (c.type.kind == TypeKind::kBytes) {
    out += '"';
    AppendBase64(c.strings[row], out);
    out += '"';
  } else if (IsBareInJson(c.type)) {
    AppendScalarText(c, row, style, out);
  } else {
    out += '"';
    AppendScalarText(c, row, style, out);
    out += '"';
  }
}

class JsonEncoder final : public RowEncoder {
 public:
  JsonEncoder(const FormatSpec& spec, const Schema& schema) : style_(spec.json.timestamp_style) {
    for (const Field& f : schema.fields) {
      Member m;
      m.key = members_.empty() ? "{" : ",";
      AppendJsonString(f.name, m.key);
      m.key += ':';
      m.not_finite = "column " + f.name + ": NaN and infinity cannot be written to JSON";
      m.not_utf8 = "column " + f.name + ": the text is not UTF-8";
      members_.push_back(std::move(m));
    }
  }

  std::string_view Check(const Batch& batch, uint32_t row) const override {
    for (size_t i = 0; i < members_.size(); ++i) {
      const Column& c = batch.column(i);
      if (c.IsNull(row)) continue;
      if (c.type.physical() == Physical::kDouble && !std::isfinite(c.doubles[row])) {
        return members_[i].not_finite;
      }
      if (c.type.kind == TypeKind::kString && !IsWellFormedUtf8(c.strings[row])) {
        return members_[i].not_utf8;
      }
    }
    return {};
  }

  void Append(const Batch& batch, uint32_t row, std::string& out) const override {
    for (size_t i = 0; i < members_.size(); ++i) {
      out += members_[i].key;
      AppendJsonValue(batch.column(i), row, style_, out);
    }
    out += members_.empty() ? "{}\n" : "}\n";
  }

  std::string Header() const override { return ""; }

 private:
  struct Member {
    std::string key;  // with what stands before it: {"a": or ,"b":
    std::string not_finite;
    std::string not_utf8;
  };
  TimestampStyle style_;
  std::vector<Member> members_;
};

}  // namespace

Result<std::unique_ptr<RowEncoder>> NewJsonEncoder(const FormatSpec& spec, const Schema& schema) {
  for (const Field& f : schema.fields) {
    if (!IsWellFormedUtf8(f.name)) return Fail(Code::kInvalid, "a column's name is not UTF-8");
  }
  return std::make_unique<JsonEncoder>(spec, schema);
}

void AppendRecordJson(const Batch& batch, uint32_t row, const Schema& schema, std::string& out) {
  CHECK(batch.column_count() >= schema.fields.size());
  out += '{';
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (i > 0) out += ',';
    AppendRepairedJsonString(schema.fields[i].name, out);
    out += ':';
    const Column& c = batch.column(i);
    const bool number = !c.IsNull(row) && c.type.physical() == Physical::kDouble;
    if (number && !std::isfinite(c.doubles[row])) {
      const double v = c.doubles[row];
      out += std::isnan(v) ? "\"NaN\"" : v < 0 ? "\"-Infinity\"" : "\"Infinity\"";
    } else if (!c.IsNull(row) && c.type.kind == TypeKind::kString) {
      AppendRepairedJsonString(c.strings[row], out);
    } else {
      AppendJsonValue(c, row, TimestampStyle::kSql, out);
    }
  }
  out += '}';
}

}  // namespace weir
