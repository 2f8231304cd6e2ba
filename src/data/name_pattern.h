// NamePattern: a regular expression over whole names (topics), in linear time.
#ifndef WEIR_DATA_NAME_PATTERN_H_
#define WEIR_DATA_NAME_PATTERN_H_

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace weir {

class NamePattern {
 public:
  static Result<std::unique_ptr<NamePattern>> Parse(std::string_view pattern);
  virtual ~NamePattern() = default;
  virtual bool Matches(std::string_view name) const = 0;  // the whole name
};

}  // namespace weir

#endif  // WEIR_DATA_NAME_PATTERN_H_
