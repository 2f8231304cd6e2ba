// Value: one typed scalar, for literals and tests. Never used per row.
#ifndef WEIR_DATA_VALUE_H_
#define WEIR_DATA_VALUE_H_

#include <string>

#include "data/batch.h"
#include "data/types.h"

namespace weir {

struct Value {
  Type type;
  bool null = true;
  bool boolean = false;
  int64_t integer = 0;  // Physical::kInt64
  double number = 0;
  Int128 decimal = 0;  // unscaled
  std::string text;    // strings, bytes

  static Value Null(Type t) {
    Value v;
    v.type = t;
    return v;
  }
  std::string ToSql() const;  // canonical SQL literal: part of fingerprints and of explain
};

}  // namespace weir

#endif  // WEIR_DATA_VALUE_H_
