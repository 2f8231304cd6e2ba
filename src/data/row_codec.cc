#include "data/row_codec.h"

#include <bit>
#include <cmath>

namespace weir {
namespace {

void PutVarint(uint64_t v, std::string& out) {
  while (v >= 0x80) {
    out.push_back(static_cast<char>(v | 0x80));
    v >>= 7;
  }
  out.push_back(static_cast<char>(v));
}

uint64_t ZigZag(int64_t v) {
  return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
}
int64_t UnZigZag(uint64_t v) { return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1); }

template <class T>
void PutRaw(const T& v, std::string& out) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

void PutString(std::string_view s, std::string& out) {
  PutVarint(s.size(), out);
  out.append(s);
}

// One key for 0.0 and -0.0, and one for every NaN.
double Normalised(double v) {
  if (std::isnan(v)) return std::bit_cast<double>(uint64_t{0x7ff8000000000000});
  return v == 0 ? 0.0 : v;
}

// A bool is one byte, 0 or 1; anything else is damage, not true.
bool ReadBool(ByteReader& in, uint8_t* out) {
  *out = in.U8();
  return *out <= 1;
}

bool ReadRowValue(ByteReader& in, Column& column, size_t row, Arena& arena) {
  switch (column.type.physical()) {
    case Physical::kBool:
      return ReadBool(in, &column.bools[row]);
    case Physical::kInt64:
      column.ints[row] = UnZigZag(in.Varint());
      return true;
    case Physical::kDouble:
      column.doubles[row] = in.F64();
      return true;
    case Physical::kInt128:
      column.decimals[row] = in.I128();
      return true;
    case Physical::kString:
      column.strings[row] = arena.Copy(in.Bytes());
      return true;
  }
  return false;
}

bool ReadKeyValue(ByteReader& in, Column& column, size_t row, Arena& arena) {
  if (column.type.physical() != Physical::kInt64) return ReadRowValue(in, column, row, arena);
  column.ints[row] =
      in.I64();  // fixed width in keys: they are compared and hashed, not read in order
  return true;
}

}  // namespace

void AppendRowBytes(const Batch& batch, uint32_t row, std::string& out) {
  const size_t columns = batch.column_count();
  const size_t bitmap = out.size();
  out.append((columns + 7) / 8, '\0');
  for (size_t i = 0; i < columns; ++i) {
    const Column& c = batch.column(i);
    if (c.IsNull(row)) continue;
    out[bitmap + i / 8] = static_cast<char>(out[bitmap + i / 8] | (1 << (i % 8)));
    switch (c.type.physical()) {
      case Physical::kBool:
        out.push_back(c.bools[row] ? 1 : 0);
        break;
      case Physical::kInt64:
        PutVarint(ZigZag(c.ints[row]), out);
        break;
      case Physical::kDouble:
        PutRaw(c.doubles[row], out);
        break;
      case Physical::kInt128:
        PutRaw(c.decimals[row], out);
        break;
      case Physical::kString:
        PutString(c.strings[row], out);
        break;
    }
  }
}

bool ReadRowBytes(ByteReader& in, const Schema& schema, Batch& out) {
  const size_t columns = schema.fields.size();
  CHECK(out.column_count() == columns);
  const uint32_t row = out.rows();
  const std::string_view bitmap = in.Take((columns + 7) / 8);
  if (!in.ok()) return false;
  // Bits beyond the last column mean that the row was written for another schema.
  if (columns % 8 != 0 && (static_cast<uint8_t>(bitmap.back()) >> (columns % 8)) != 0) return false;
  out.ResizeOwned(row + 1);
  bool good = true;
  for (size_t i = 0; i < columns && good; ++i) {
    Column& c = out.mutable_column(i);
    c.valid[row] = (static_cast<uint8_t>(bitmap[i / 8]) >> (i % 8)) & 1;
    if (c.valid[row]) good = ReadRowValue(in, c, row, out.arena());
  }
  if (good && in.ok()) return true;
  out.ResizeOwned(row);
  return false;
}

void AppendKey(const Batch& batch, uint32_t row, const std::vector<int>& columns,
               std::string& out) {
  for (int i : columns) {
    const Column& c = batch.column(static_cast<size_t>(i));
    if (c.IsNull(row)) {
      out.push_back(0);
      continue;
    }
    out.push_back(1);
    switch (c.type.physical()) {
      case Physical::kBool:
        out.push_back(c.bools[row] ? 1 : 0);
        break;
      case Physical::kInt64:
        PutRaw(c.ints[row], out);
        break;
      case Physical::kDouble:
        PutRaw(Normalised(c.doubles[row]), out);
        break;
      case Physical::kInt128:
        PutRaw(c.decimals[row], out);
        break;
      case Physical::kString:
        PutString(c.strings[row], out);
        break;
    }
  }
}

bool ReadKey(std::string_view key, const std::vector<Type>& types, Batch& out,
             const std::vector<int>& out_columns, uint32_t row) {
  CHECK(types.size() == out_columns.size());
  ByteReader in(key);
  for (size_t i = 0; i < types.size(); ++i) {
    Column& c = out.mutable_column(static_cast<size_t>(out_columns[i]));
    CHECK(c.type.physical() == types[i].physical());
    const uint8_t tag = in.U8();
    if (tag > 1) return false;
    c.valid[row] = tag;
    if (tag == 1 && !ReadKeyValue(in, c, row, out.arena())) return false;
  }
  return in.ok() && in.AtEnd();
}

}  // namespace weir
