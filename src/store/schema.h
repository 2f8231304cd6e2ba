// The tables of state.db (schema.sql), as one string.
#ifndef WEIR_STORE_SCHEMA_H_
#define WEIR_STORE_SCHEMA_H_

namespace weir::store {

extern const char kSchemaSql[];

}  // namespace weir::store

#endif  // WEIR_STORE_SCHEMA_H_
