// What every *_test.cc sees first: CMake passes it with -include.
//
// doctest and base/check.h both have a macro CHECK. In a test file CHECK is doctest's, which notes a
// failure and goes on. In a header it must stay ours, which aborts: an inline function of a header
// has to mean the same in a test program as in weir. __INCLUDE_LEVEL__ is 0 in the file that is
// compiled and 1 or more in what it includes, and that tells the two apart.
#ifndef WEIR_TESTS_UNIT_H_
#define WEIR_TESTS_UNIT_H_

#include <doctest/doctest.h>

#undef CHECK
#include "base/check.h"

namespace weir::internal {
// doctest has no name for "as base/check.h has it", and a macro that is redefined keeps no old body.
inline void CheckInHeader(bool holds, const char* condition, const char* file, int line) {
  if (!holds) CheckFailed(condition, file, line);
}
}  // namespace weir::internal

#undef CHECK
#define CHECK(...) WEIR_CHECK_AT_(__INCLUDE_LEVEL__, __VA_ARGS__)
#define WEIR_CHECK_AT_(level, ...) WEIR_CHECK_AT_LEVEL_(level, __VA_ARGS__)
#define WEIR_CHECK_AT_LEVEL_(level, ...) WEIR_CHECK_##level##_(__VA_ARGS__)
#define WEIR_CHECK_IN_HEADER_(...) \
  ::weir::internal::CheckInHeader(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define WEIR_CHECK_0_(...) DOCTEST_CHECK(__VA_ARGS__)
#define WEIR_CHECK_1_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_2_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_3_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_4_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_5_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_6_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_7_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_8_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)
#define WEIR_CHECK_9_(...) WEIR_CHECK_IN_HEADER_(__VA_ARGS__)

#endif  // WEIR_TESTS_UNIT_H_
