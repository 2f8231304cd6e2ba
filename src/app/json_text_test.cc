#include "app/json_text.h"

#include <doctest/doctest.h>

namespace weir::app {

TEST_CASE("status JSON becomes one indented line per fact") {
  struct Case {
    const char* name;
    const char* json;
    const char* want;
  };
  const Case cases[] = {
      {"scalars", R"({"a":1,"b":"x \"y\"","c":true})", "a: 1\nb: x \"y\"\nc: true\n"},
      {"null is left out", R"({"a":null,"b":2})", "b: 2\n"},
      {"nested", R"({"a":{"b":{"c":3}}})", "a:\n  b:\n    c: 3\n"},
      {"lists", R"({"a":["x",{"b":1}]})", "a:\n  - x\n  -\n    b: 1\n"},
      {"empty ones are left out", R"({"a":[],"b":{},"c":1})", "c: 1\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(JsonToText(c.json) == c.want);
  }
}

}  // namespace weir::app
