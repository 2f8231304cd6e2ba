#include "sql/diagnostics.h"

#include <doctest/doctest.h>

namespace weir::sql {
namespace {

using plan::Diagnostic;

TEST_CASE("a message shows its line and a caret below its column") {
  Diagnostics diagnostics;
  diagnostics.Error({2, 3}, "wrong", "do right");
  diagnostics.Warning({1, 1}, "odd");
  diagnostics.Note({0, 0}, "weir.toml:1:2: by the way");
  const std::vector<Diagnostic> sorted = diagnostics.TakeSorted();
  CHECK(FormatText("a.sql", "ü x\n\tx\xc3\xbcy\r\nz", sorted) ==
        "note: weir.toml:1:2: by the way\n"
        "a.sql:1:1: warning: odd\n  ü x\n  ^\n"
        "a.sql:2:3: wrong\n  \txüy\n  \t ^\n  hint: do right\n");
}

TEST_CASE(
    "control characters of a hostile file do not reach the terminal, and long lines are left out") {
  Diagnostics diagnostics;
  diagnostics.Error({1, 2}, "bad \x1b[31m");
  const std::vector<Diagnostic> all = diagnostics.TakeSorted();
  CHECK(FormatText("a", "\x1b[0m", all) == "a:1:2: bad ?[31m\n  ?[0m\n   ^\n");
  CHECK(FormatText("a", std::string(1000, 'x'), all) == "a:1:2: bad ?[31m\n");
}

TEST_CASE("JSON form") {
  Diagnostics diagnostics;
  diagnostics.Error({1, 2}, "a \"b\"", "h");
  CHECK(
      FormatJson("f.sql", diagnostics.TakeSorted()) ==
      R"([{"severity":"error","file":"f.sql","line":1,"column":2,"message":"a \"b\"","hint":"h"}])");
  CHECK(FormatJson("f.sql", {}) == "[]");
}

TEST_CASE("the same message at the same place is said once, quiet attempts are not recorded") {
  Diagnostics diagnostics;
  diagnostics.Error({1, 2}, "a");
  diagnostics.Error({1, 2}, "a");
  {
    Diagnostics::Quiet quiet(diagnostics);
    diagnostics.Error({1, 3}, "b");
    CHECK(diagnostics.errors() == 3);
  }
  CHECK(diagnostics.errors() == 2);
  CHECK(diagnostics.all().size() == 1);
}

}  // namespace
}  // namespace weir::sql
