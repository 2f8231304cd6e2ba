// The encoders behind NewRowEncoder.
//
// What all of them write: BOOLEAN true and false; numbers with all digits (DOUBLE the shortest that
// read back, DECIMAL all digits of its scale); TIMESTAMP as '2024-03-01 10:00:00.000';
// TIMESTAMP_LTZ the same in UTC with 'Z', as Flink, so that it is the same instant in every session
// zone; BYTES as base64, in raw as they are. What is read back by our own decoder of the same
// format is the same row, but for what CSV cannot tell apart (NULL and '' without
// csv.null-literal). NaN and infinities have no text in any format: Check refuses the row.
#ifndef WEIR_DATA_ENCODERS_H_
#define WEIR_DATA_ENCODERS_H_

#include <memory>

#include "data/format.h"

namespace weir {

// {"a":1,"b":"x"} in the order of the schema, without blanks; json.timestamp-format decides T or
// blank.
Result<std::unique_ptr<RowEncoder>> NewJsonEncoder(const FormatSpec& spec, const Schema& schema);
// Quotes only where they are needed, '' among them where it would read as NULL. NULL is
// csv.null-literal, else empty.
Result<std::unique_ptr<RowEncoder>> NewCsvEncoder(const FormatSpec& spec, const Schema& schema);
// One STRING or BYTES column. NULL and a value with a line feed are refused: they would not be one
// line.
Result<std::unique_ptr<RowEncoder>> NewRawEncoder(const FormatSpec& spec, const Schema& schema);

}  // namespace weir

#endif  // WEIR_DATA_ENCODERS_H_
