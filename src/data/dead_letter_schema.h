// The columns of every dead letter, in one place: the binder resolves DEAD_LETTERS(...) against
// them, and flow/ builds batches of them.
#ifndef WEIR_DATA_DEAD_LETTER_SCHEMA_H_
#define WEIR_DATA_DEAD_LETTER_SCHEMA_H_

#include "data/types.h"

namespace weir {

// stage, code, message, raw, record, source, part, pos, ts - in this order.
const Schema& DeadLetterSchema();

}  // namespace weir

#endif  // WEIR_DATA_DEAD_LETTER_SCHEMA_H_
