#include "data/regex_check.h"

#include <re2/re2.h>

namespace weir {

Status CheckRegex(std::string_view pattern, int* groups) {
  RE2::Options options;
  options.set_log_errors(false);
  const RE2 re(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!re.ok()) return Status(Code::kInvalid, re.error());
  if (groups != nullptr) *groups = re.NumberOfCapturingGroups();
  return Status::Ok();
}

}  // namespace weir
