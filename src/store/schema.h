// The tables of state.db (schema.sql, target.sql), as one string; and what an older format lacks.
#ifndef WEIR_STORE_SCHEMA_H_
#define WEIR_STORE_SCHEMA_H_

namespace weir::store {

extern const char kSchemaSql[];
extern const char kMigrateFrom1Sql[];

}  // namespace weir::store

#endif  // WEIR_STORE_SCHEMA_H_
