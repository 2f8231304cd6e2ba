#include "store/schema.h"

namespace weir::store {

const char kSchemaSql[] =
#include "store/schema.sql"
#include "store/target.sql"
    ;

const char kMigrateFrom1Sql[] =
#include "store/target.sql"
    ;

}  // namespace weir::store
