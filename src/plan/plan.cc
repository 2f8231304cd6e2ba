#include "plan/plan.h"

#include "data/dead_letter_schema.h"

namespace weir::plan {

const Schema& DeadLetterSchema() { return ::weir::DeadLetterSchema(); }

}  // namespace weir::plan
