#include "json_reference.h"

#include <simdjson.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "base/text.h"
#include "data/json_decoder.h"
#include "data/timestamp.h"

namespace weir::json_reference {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr int kDepthMax = 1024;

// JSON's grammar of numbers as a table would have it.
bool IsNumber(std::string_view token) {
  enum State { kBegin, kMinus, kZero, kInteger, kPoint, kFraction, kE, kSign, kExponent };
  State state = kBegin;
  for (const char c : token) {
    const bool digit = c >= '0' && c <= '9';
    const bool e = c == 'e' || c == 'E';
    switch (state) {
      case kBegin:
      case kMinus:
        if (c == '0')
          state = kZero;
        else if (digit)
          state = kInteger;
        else if (c == '-' && state == kBegin)
          state = kMinus;
        else
          return false;
        break;
      case kZero:
      case kInteger:
        if (c == '.')
          state = kPoint;
        else if (e)
          state = kE;
        else if (!digit || state == kZero)
          return false;
        break;
      case kPoint:
      case kFraction:
        if (digit)
          state = kFraction;
        else if (e && state == kFraction)
          state = kE;
        else
          return false;
        break;
      case kE:
        if (c == '+' || c == '-')
          state = kSign;
        else if (digit)
          state = kExponent;
        else
          return false;
        break;
      case kSign:
      case kExponent:
        if (!digit) return false;
        state = kExponent;
        break;
    }
  }
  return state == kZero || state == kInteger || state == kFraction || state == kExponent;
}

std::string_view TrimEnd(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\t' || token.back() == '\r' ||
                            token.back() == '\n')) {
    token.remove_suffix(1);
  }
  return token;
}

// Walks a value; false: refused. `out`, if any, gets it.
bool Walk(ondemand::value value, int depth, Value* out) {
  Value ignored;
  Value& v = out == nullptr ? ignored : *out;
  ondemand::json_type type;
  if (value.type().get(type)) return false;
  switch (type) {
    case ondemand::json_type::object: {
      if (depth == kDepthMax) return false;
      ondemand::object object;
      if (value.get_object().get(object)) return false;
      for (auto field : object) {
        std::string_view key;
        if (field.error() || field.unescaped_key().get(key)) return false;
        if (!Walk(field.value(), depth + 1, nullptr)) return false;
      }
      v = {Value::Kind::kContainer, "{"};
      return true;
    }
    case ondemand::json_type::array: {
      if (depth == kDepthMax) return false;
      ondemand::array array;
      if (value.get_array().get(array)) return false;
      for (auto element : array) {
        ondemand::value inner;
        if (element.get(inner) || !Walk(inner, depth + 1, nullptr)) return false;
      }
      v = {Value::Kind::kContainer, "["};
      return true;
    }
    case ondemand::json_type::string: {
      std::string_view text;
      if (value.get_string().get(text)) return false;
      v = {Value::Kind::kString, std::string(text)};
      return true;
    }
    case ondemand::json_type::number: {
      const std::string_view token = TrimEnd(value.raw_json_token());
      // Not consumed: going on skips it, whatever it is.
      if (!IsNumber(token)) return false;
      v = {Value::Kind::kNumber, std::string(token)};
      return true;
    }
    case ondemand::json_type::boolean: {
      bool b;
      if (value.get_bool().get(b)) return false;
      v = {Value::Kind::kBoolean, b ? "true" : "false"};
      return true;
    }
    case ondemand::json_type::null: {
      bool null;
      if (value.is_null().get(null) || !null) return false;
      v = {Value::Kind::kNull, ""};
      return true;
    }
  }
  return false;
}

}  // namespace

struct Reader::Parser {
  ondemand::parser parser;
  simdjson::padded_string row;
};

Reader::Reader() : parser_(std::make_unique<Parser>()) {}
Reader::~Reader() = default;

std::optional<Row> Reader::Read(std::string_view text) {
  // simdjson skips a byte order mark by itself; a row that begins with one is none.
  if (text.starts_with("\xEF\xBB\xBF")) return std::nullopt;
  parser_->row = simdjson::padded_string(text);
  if (parser_->parser.allocate(text.size(), 2 * kDepthMax)) return std::nullopt;
  ondemand::document document;
  if (parser_->parser.iterate(parser_->row).get(document)) return std::nullopt;
  ondemand::object object;
  if (document.get_object().get(object)) return std::nullopt;
  Row row;
  for (auto field : object) {
    std::string_view key;
    if (field.error() || field.unescaped_key().get(key)) return std::nullopt;
    const std::string name(key);
    Value value;
    if (!Walk(field.value(), 1, &value)) return std::nullopt;
    row[name] = std::move(value);
  }
  if (!document.at_end()) return std::nullopt;
  return row;
}

Schema ComparedSchema() {
  Type three = Type::Of(TypeKind::kString);
  three.length = 3;
  return {{{"s", Type::Of(TypeKind::kString)},
           {"b", Type::Of(TypeKind::kBigInt)},
           {"m", Type::Decimal(12, 2)},
           {"f", Type::Of(TypeKind::kDouble)},
           {"t", Type::Timestamp(3)},
           {"o", Type::Of(TypeKind::kBoolean)},
           {"v", three}}};
}

std::vector<DecodeField> ComparedFields() {
  std::vector<DecodeField> fields;
  for (const Field& field : ComparedSchema().fields) {
    const int at = static_cast<int>(fields.size());
    fields.push_back({field.name, field.type, at, at});
  }
  return fields;
}

namespace {

// Significant digits of a number's token, 99 when its exponent is too large to say anything.
int Digits(std::string_view token) {
  if (token.find_first_of("eE") != std::string_view::npos) return 99;
  int digits = 0;
  for (const char c : token) digits += c >= '0' && c <= '9';
  return digits;
}

bool Same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// Why column `at`, which is not NULL, does not hold `want`.
std::string CompareValue(const Column& column, uint32_t row, const Value& want, size_t at) {
  const bool number = want.kind == Value::Kind::kNumber;
  const double nearest = number ? std::strtod(want.text.c_str(), nullptr) : 0;
  switch (at) {
    case 0:
    case 6:
      if (want.kind == Value::Kind::kContainer) {
        return column.strings[row][0] == want.text[0] ? "" : "another container";
      }
      return column.strings[row] == want.text ? "" : "another text";
    case 1:
      if (!number || Digits(want.text) > 15) return "";
      return static_cast<double>(column.ints[row]) == nearest ? "" : "another integer";
    case 2:
      if (!number || Digits(want.text) > 15) return "";
      return static_cast<double>(column.decimals[row]) == std::nearbyint(nearest * 100)
                 ? ""
                 : "another decimal";
    case 3:
      return !number || Same(column.doubles[row], nearest) ? "" : "another double";
    case 4: {
      if (want.kind != Value::Kind::kString) return "a time from no text";
      const TimeParse parsed = ParseTimestamp(TrimAscii(want.text), Type::Timestamp(3), {});
      return parsed.ok && parsed.ticks == column.ints[row] ? "" : "another time";
    }
    case 5:
      return want.kind != Value::Kind::kBoolean || column.bools[row] == (want.text == "true")
                 ? ""
                 : "another truth";
  }
  return "no such column";
}

// Whether a value that the reference read must fit column `at`: only where that is plain to see.
bool MustFit(const Value& value, size_t at) {
  const double nearest =
      value.kind == Value::Kind::kNumber ? std::strtod(value.text.c_str(), nullptr) : 0;
  const bool small = value.kind == Value::Kind::kNumber && Digits(value.text) <= 15;
  switch (at) {
    case 0:
      return true;
    case 1:
      return small && nearest == std::trunc(nearest);
    case 2:
      return small && value.text.find('.') == std::string::npos && std::fabs(nearest) < 1e10;
    case 3:
      return value.kind == Value::Kind::kNumber && std::isfinite(nearest);
    case 4:
      return value.kind == Value::Kind::kString &&
             ParseTimestamp(TrimAscii(value.text), Type::Timestamp(3), {}).ok;
    case 5:
      return value.kind == Value::Kind::kBoolean;
    default:
      return false;
  }
}

}  // namespace

std::string CompareRow(const Batch& batch, uint32_t row, const Row& reference) {
  const Schema schema = ComparedSchema();
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const auto it = reference.find(schema.fields[i].name);
    const bool null = it == reference.end() || it->second.kind == Value::Kind::kNull;
    if (batch.column(i).IsNull(row) != null)
      return "column " + schema.fields[i].name + ": NULL or not";
    if (null) continue;
    const std::string why = CompareValue(batch.column(i), row, it->second, i);
    if (!why.empty()) return "column " + schema.fields[i].name + ": " + why;
  }
  return "";
}

std::string CompareDead(const NonRow& dead, const std::optional<Row>& reference) {
  if (dead.code.empty() || dead.message.empty()) return "a dead letter without a reason";
  if (dead.code.starts_with("json.")) {
    const size_t at = dead.message.find("at byte ");
    if (at == std::string::npos) return "no offset: " + dead.message;
    if (std::strtoull(dead.message.c_str() + at + 8, nullptr, 10) > dead.raw.size())
      return "offset beyond the row: " + dead.message;
    return reference ? "refused wrongly: " + dead.message : "";
  }
  if (dead.code != "value") return "unknown code " + dead.code;
  if (!reference) return "a value's dead letter for what is no JSON";
  const Schema schema = ComparedSchema();
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (!dead.message.starts_with("column " + schema.fields[i].name + ": ")) continue;
    const auto it = reference->find(schema.fields[i].name);
    if (it == reference->end()) return "a value that is not there: " + dead.message;
    return MustFit(it->second, i) ? "a value that fits: " + dead.message : "";
  }
  return "no column: " + dead.message;
}

namespace {

bool IsBlankLine(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// A block with exactly the promised padding behind it, so that ASan sees any byte beyond.
class Block {
 public:
  Block(std::string_view bytes, char padding)
      : bytes_(new char[bytes.size() + kDecodePadding]), size_(bytes.size()) {
    std::memcpy(bytes_.get(), bytes.data(), bytes.size());
    std::memset(bytes_.get() + bytes.size(), padding, kDecodePadding);
  }
  std::string_view view() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

std::string At(size_t line, const std::string& why) {
  return "line " + std::to_string(line) + ": " + why;
}

// Holds what a decoder made of the lines that begin at `position` against the reference, in order.
std::string CompareLines(const Batch& batch, std::string_view bytes, int64_t position,
                         Reader& reader) {
  uint32_t row = 0;
  size_t non_row = 0, number = 0;
  while (!bytes.empty()) {
    const size_t feed = bytes.find('\n');
    std::string_view line = bytes.substr(0, feed);
    bytes.remove_prefix(feed == std::string_view::npos ? bytes.size() : feed + 1);
    const int64_t next =
        position + static_cast<int64_t>(line.size()) + (feed != std::string_view::npos);
    if (position == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
    const bool is_row = row < batch.rows() && batch.positions[row] == position;
    if (!is_row) {
      if (non_row >= batch.non_rows.size()) return At(number, "lost");
      const NonRow& other = batch.non_rows[non_row++];
      if (other.pos != position || other.next_pos != next || other.before_row != row)
        return At(number, "a wrong place");
      if (other.skipped != IsBlankLine(line)) return At(number, "skipped or not");
      if (!other.skipped) {
        if (other.raw != line) return At(number, "other bytes");
        const std::string why = CompareDead(other, reader.Read(line));
        if (!why.empty()) return At(number, why);
      }
    } else {
      const std::optional<Row> reference = reader.Read(line);
      if (!reference) return At(number, "accepted wrongly");
      const std::string why = CompareRow(batch, row++, *reference);
      if (!why.empty()) return At(number, why);
    }
    position = next;
    ++number;
  }
  return row == batch.rows() && non_row == batch.non_rows.size() ? "" : "more records than lines";
}

}  // namespace

std::string CompareBlock(std::string_view bytes, size_t cut, Reader& reader) {
  const std::unique_ptr<RowDecoder> decoder = NewJsonDecoder({}, ComparedFields());
  Batch batch;
  batch.Reset(ComparedSchema());
  const Block whole(bytes, '"');
  if (decoder->Decode(whole.view(), 0, true, 1 << 20, batch).consumed != bytes.size())
    return "not all consumed";
  std::string why = CompareLines(batch, bytes, 0, reader);
  if (!why.empty()) return why;

  // Again from a cut, with what the decoder has learned.
  batch.Reset(ComparedSchema());
  const Block first(bytes.substr(0, cut), '\0');
  const size_t consumed = decoder->Decode(first.view(), 0, false, 1 << 20, batch).consumed;
  if (consumed != bytes.substr(0, cut).rfind('\n') + 1)
    return "the cut block was not consumed to its last line";
  if (!(why = CompareLines(batch, bytes.substr(0, consumed), 0, reader)).empty())
    return "before the cut, " + why;
  const int64_t position = static_cast<int64_t>(consumed);
  batch.Reset(ComparedSchema());
  const Block rest(bytes.substr(consumed), '}');
  decoder->Decode(rest.view(), position, true, 1 << 20, batch);
  if (!(why = CompareLines(batch, bytes.substr(consumed), position, reader)).empty())
    return "behind the cut, " + why;

  // As one value, line feeds and all.
  batch.Reset(ComparedSchema());
  decoder->DecodeValue(Block(bytes, '}').view(), 7, batch);
  if (batch.rows() + batch.non_rows.size() != 1) return "a value that is not one record";
  const bool blank = bytes.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (batch.rows() == 0 && batch.non_rows[0].skipped) return blank ? "" : "a value skipped";
  const std::optional<Row> reference = reader.Read(bytes);
  if (batch.rows() == 0)
    why = CompareDead(batch.non_rows[0], reference);
  else if (!reference)
    why = "accepted wrongly";
  else
    why = CompareRow(batch, 0, *reference);
  return why.empty() ? "" : "as a value, " + why;
}

}  // namespace weir::json_reference
