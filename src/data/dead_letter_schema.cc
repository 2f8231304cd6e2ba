#include "data/dead_letter_schema.h"

namespace weir {

const Schema& DeadLetterSchema() {
  static const Schema* const schema = [] {
    const Type text = Type::Of(TypeKind::kString);
    auto* s = new Schema;
    s->fields = {
        {"stage", text.NotNull()},             // decode, eval, result, sink
        {"code", text.NotNull()},              // a short stable word
        {"message", text.NotNull()},           // for people
        {"raw", Type::Of(TypeKind::kBytes)},   // decode only: the record's bytes
        {"record", text},                      // JSON of the failing row; NULL for decode
        {"source", text},                      // table that the row comes from
        {"part", Type::Of(TypeKind::kInt)},    // its partition
        {"pos", Type::Of(TypeKind::kBigInt)},  // its position there
        {"ts", Type::TimestampLtz(3)},         // record time in Kafka, NULL for files
    };
    return s;
  }();
  return *schema;
}

}  // namespace weir
