// The text of one non-NULL value, as every text format writes it (data/encoders.h). Strings and
// BYTES are not here: each format has its own quoting.
#ifndef WEIR_DATA_VALUE_TEXT_H_
#define WEIR_DATA_VALUE_TEXT_H_

#include <string>

#include "data/batch.h"
#include "data/timestamp.h"

namespace weir {

// Appends column value `row`; FLOAT and DOUBLE must be finite.
void AppendScalarText(const Column& column, size_t row, TimestampStyle style, std::string& out);

// Whether the text of the type is a JSON number or boolean, that is, stands without quotes.
bool IsBareInJson(const Type& type);

}  // namespace weir

#endif  // WEIR_DATA_VALUE_TEXT_H_
