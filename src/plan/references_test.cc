#include "plan/references.h"

#include <doctest/doctest.h>

namespace weir::plan {
namespace {

TEST_CASE("references are read again, all or nothing, and an error shows no value") {
  std::string password = "first";
  const References references(
      [&](std::string_view kind, std::string_view name) -> Result<std::string> {
        if (kind == "file" && name == "/pw" && !password.empty()) return password;
        if (kind == "env" && name == "HOST") return std::string("h${X}");
        return Fail(Code::kNotFound, "no such file");
      });
  CHECK(references.Expand("a-${file:/pw}-$${b}").text == "a-first-${b}");
  CHECK(references.Expand("${file:/pw}").secret);
  CHECK(references.Expand("${HOST}:1").text == "h${X}:1");  // never expanded again
  CHECK_FALSE(references.Expand("${HOST}:1").secret);
  password = "second";
  CHECK(references.Expand("${file:/pw}").text == "second");
  password.clear();
  const Expansion failed = references.Expand("x${HOST}y${file:/pw}");
  CHECK(failed.error == "${file:/pw}: no such file");
  CHECK(failed.text.empty());
}

TEST_CASE("what is no reference is an error with a way out") {
  for (const char* text : {"${", "${}", "${file:}", "${vault:x}", "${env:HOME}"}) {
    CAPTURE(text);
    const Expansion expansion = ExpandReferences(text, nullptr);
    CHECK_FALSE(expansion.error.empty());
    CHECK_FALSE(expansion.hint.empty());
  }
  CHECK(ExpandReferences("${A}", nullptr).error == "${A}: no values are given here");
}

TEST_CASE("a signal makes values old, whenever it comes") {
  References references(nullptr);
  const uint64_t held = references.generation();
  CHECK(references.generation() == held);
  references.Renew();
  CHECK(references.generation() != held);
}

}  // namespace
}  // namespace weir::plan
