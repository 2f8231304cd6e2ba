#include "data/name_pattern.h"

#include <doctest/doctest.h>

namespace weir {
namespace {

TEST_CASE("a pattern is held against the whole name") {
  const auto pattern = NamePattern::Parse("in\\.(a|b)");
  REQUIRE(pattern.has_value());
  CHECK((*pattern)->Matches("in.a"));
  CHECK_FALSE((*pattern)->Matches("in.ab"));
  CHECK_FALSE((*pattern)->Matches("xin.a"));
  CHECK_FALSE((*pattern)->Matches("inxa"));
  CHECK_FALSE(NamePattern::Parse("(").has_value());
}

}  // namespace
}  // namespace weir
