// Whether a regular expression is one, for the binder: sql/ itself does not include RE2.
#ifndef WEIR_DATA_REGEX_CHECK_H_
#define WEIR_DATA_REGEX_CHECK_H_

#include <string_view>

#include "base/status.h"

namespace weir {

// kInvalid with RE2's reason when `pattern` does not compile. `groups` (may be null) gets the
// number of its capturing groups.
Status CheckRegex(std::string_view pattern, int* groups = nullptr);

}  // namespace weir

#endif  // WEIR_DATA_REGEX_CHECK_H_
