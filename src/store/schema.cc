#include "store/schema.h"

namespace weir::store {

const char kSchemaSql[] =
#include "store/schema.sql"
    ;

}  // namespace weir::store
