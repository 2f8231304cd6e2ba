// Whole inputs through a decoder, for tests.
#ifndef WEIR_DATA_TESTING_DECODE_H_
#define WEIR_DATA_TESTING_DECODE_H_

#include <string>
#include <string_view>
#include <vector>

#include "data/format.h"

namespace weir {

// All columns of the schema, in order.
std::vector<DecodeField> FieldsOf(const Schema& schema);

// Rows and non-rows in reading order, one a line: "POSITION row", "POS..NEXT skipped",
// "POS..NEXT dead CODE [MESSAGE] RAW".
std::string Describe(const Batch& batch);

// Decodes the input in blocks of `block_bytes` (as a file source would: what was not consumed comes
// again with more bytes) and batches of at most `max_rows` rows. Fails the test where a promise of
// format.h is broken.
std::string DecodeInBlocks(const FormatSpec& spec, const Schema& schema, std::string_view input,
                           size_t block_bytes, uint32_t max_rows);

// Many sizes of blocks and batches; fails the test unless all give the same, which is returned.
std::string DecodeEveryWay(const FormatSpec& spec, const Schema& schema, std::string_view input);

}  // namespace weir

#endif  // WEIR_DATA_TESTING_DECODE_H_
