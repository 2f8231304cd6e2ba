#include "data/regex_check.h"

#include <doctest/doctest.h>

#include <string>

namespace weir {
namespace {

TEST_CASE("a regular expression is refused with a reason when RE2 cannot run it in linear time") {
  struct Case {
    const char* name;
    std::string given;
    bool want;
    int groups;
  };
  for (const Case& c : {
           Case{"plain", "a+b", true, 0},
           Case{"groups", "(a)(?P<x>b)(?:c)", true, 2},
           Case{"unbalanced", "(a", false, 0},
           Case{"back reference", "(a)\\1", false, 0},
           Case{"look ahead", "a(?=b)", false, 0},
           Case{"not UTF-8", "\xff", false, 0},
       }) {
    CAPTURE(c.name);
    int groups = -1;
    const Status status = CheckRegex(c.given, &groups);
    CHECK(status.ok() == c.want);
    if (c.want) CHECK(groups == c.groups);
    if (!c.want) CHECK(!status.message().empty());
  }
}

}  // namespace
}  // namespace weir
