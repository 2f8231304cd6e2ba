// Any text as SQL: compiling ends, positions lie within the text, errors and plans exclude each
// other, and the same text gives the same plan.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "plan/explain.h"
#include "sql/testing/specs.h"

namespace {

void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const weir::sql::CompileInput input =
      weir::sql::TestInput(std::string(reinterpret_cast<const char*>(data), size));
  const weir::sql::CompileOutput out = weir::sql::Compile(input);
  int lines = 1;
  for (const char c : input.text) lines += c == '\n';
  bool errors = false;
  for (const weir::plan::Diagnostic& d : out.diagnostics) {
    errors = errors || d.severity == weir::plan::Diagnostic::Severity::kError;
    Require(!d.message.empty(), "a message is empty");
    Require(d.position.line >= 0 && d.position.line <= lines, "a line is outside the text");
  }
  Require(errors == (out.plan == nullptr), "a plan and errors, or neither");
  Require(!weir::sql::FormatDiagnostics(input, out.diagnostics).empty() || out.diagnostics.empty(),
          "diagnostics without text");
  if (out.plan == nullptr) return 0;
  Require(!weir::plan::ExplainText(*out.plan, "").empty(), "an empty explanation");
  Require(!weir::plan::ExplainJson(*out.plan, "").empty(), "an empty explanation");
  const weir::sql::CompileOutput again = weir::sql::Compile(input);
  Require(again.canonical == out.canonical, "two canonical forms of one text");
  for (const weir::plan::Node& node : out.plan->nodes) {
    for (const weir::plan::Input& from : node.inputs) {
      Require(from.node >= 0 && from.node < node.id, "nodes out of order");
    }
  }
  return 0;
}
