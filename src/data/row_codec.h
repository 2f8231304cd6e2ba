// The binary form of rows in spool segments and of keys in state. Both are formats on disk
// (docs/state-format.md).
#ifndef WEIR_DATA_ROW_CODEC_H_
#define WEIR_DATA_ROW_CODEC_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "data/batch.h"

namespace weir {

// Row: a bitmap of non-NULL columns, then each non-NULL value: bool 1 B, int64 zigzag varint,
// double 8 B, int128 16 B, string varint length + bytes.
void AppendRowBytes(const Batch& batch, uint32_t row, std::string& out);
// Appends one row to `out`, whose columns are owned and of the schema's types. False: damaged.
bool ReadRowBytes(ByteReader& in, const Schema& schema, Batch& out);

// Key: the values of `columns`, such that equal keys (SQL's GROUP BY: NULLs equal, 0.0 = -0.0, NaN
// = NaN) are equal bytes and others differ. Per column: tag byte 0 = NULL, 1 = value; then int64 8
// B, double 8 B (normalised), int128 16 B, bool 1 B, string varint length + bytes.
void AppendKey(const Batch& batch, uint32_t row, const std::vector<int>& columns, std::string& out);
// Sets row `row` of owned, already resized columns. False: damaged.
bool ReadKey(std::string_view key, const std::vector<Type>& types, Batch& out,
             const std::vector<int>& out_columns, uint32_t row);

}  // namespace weir

#endif  // WEIR_DATA_ROW_CODEC_H_
