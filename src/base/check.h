// CHECK: an invariant of the code. Always on; a failure aborts the process, systemd restarts it,
// and takeover is the tested path from there. Never for input, files or networks: those give a
// Status or a dead letter.
//
// WEIR_CHECK is the same for headers: in a unit test the short name is doctest's.
#ifndef WEIR_BASE_CHECK_H_
#define WEIR_BASE_CHECK_H_

namespace weir::internal {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}

#define WEIR_CHECK(condition)                                        \
  do {                                                               \
    if (__builtin_expect(!(condition), 0))                           \
      ::weir::internal::CheckFailed(#condition, __FILE__, __LINE__); \
  } while (false)

#ifndef CHECK
#define CHECK(condition) WEIR_CHECK(condition)
#endif

#endif  // WEIR_BASE_CHECK_H_
