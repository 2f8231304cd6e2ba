#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace weir::internal {

void CheckFailed(const char* condition, const char* file, int line) {
  // Straight to stderr: the logger may be what is broken.
  std::fprintf(stderr, "weir: CHECK failed: %s at %s:%d\n", condition, file, line);
  std::abort();
}

}  // namespace weir::internal
