// What the specs of several connectors are made of.
#ifndef WEIR_CONNECTORS_SPEC_PARTS_H_
#define WEIR_CONNECTORS_SPEC_PARTS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/types.h"
#include "plan/connector_spec.h"

namespace weir::connectors {

// The type of a METADATA column that always has a value.
constexpr Type NotNull(TypeKind kind, uint8_t precision = 0) {
  return Type{kind, precision, 0, 0, false};
}

inline void Error(std::vector<plan::Diagnostic>& out, plan::Position at, std::string message,
                  std::string hint = "") {
  out.push_back({plan::Diagnostic::Severity::kError, at, std::move(message), std::move(hint)});
}

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_SPEC_PARTS_H_
