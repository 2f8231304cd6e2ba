#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "connectors/registry.h"
#include "plan/explain.h"
#include "sql/compile.h"
#include "sql/keywords.h"

namespace weir {
namespace {

std::string Read(const std::string& name) {
  std::ifstream file(std::string(WEIR_DOCS) + "/" + name);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("docs/options.md is what the option tables say") {
  // Out of date: build the target options_page and redirect its output into docs/options.md.
  CHECK(Read("options.md") == plan::OptionsMarkdown(connectors::AllConnectors()));
}

TEST_CASE("the example of docs/sql.md compiles") {
  const std::string page = Read("sql.md");
  const std::string fence = "```sql\n";
  const size_t start = page.find(fence) + fence.size();
  sql::CompileInput input;
  input.file_name = "docs/sql.md";
  input.text = page.substr(start, page.find("```", start) - start);
  const auto connectors = connectors::AllConnectors();
  input.connectors.assign(connectors.begin(), connectors.end());
  const sql::CompileOutput out = sql::Compile(input);
  INFO(sql::FormatDiagnostics(input, out.diagnostics));
  CHECK(out.plan != nullptr);
}

TEST_CASE("docs/sql.md lists the reserved words") {
  const std::string page = Read("sql.md");
  const size_t start = page.find("Reserved are: ") + 14;
  std::stringstream list(page.substr(start, page.find('.', start) - start));
  std::string word;
  int count = 0;
  while (list >> word) {
    CAPTURE(word);
    CHECK(sql::IsReserved(word));
    ++count;
  }
  CHECK(count == sql::ReservedWordCount());
}

}  // namespace
}  // namespace weir
