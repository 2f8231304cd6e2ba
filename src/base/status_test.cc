#include "base/status.h"

#include <doctest/doctest.h>

#include <memory>
#include <set>

namespace weir {
namespace {

Status FailWhen(bool fail) { return fail ? Status(Code::kNoSpace, "full") : Status::Ok(); }

Status Outer(bool fail, int& reached) {
  WEIR_RETURN_IF_ERROR(FailWhen(fail));
  ++reached;
  return Status::Ok();
}

Result<std::unique_ptr<int>> Make(bool fail) {
  if (fail) return Fail(Code::kNotFound, "no int");
  return std::make_unique<int>(7);
}

Result<int> Use(bool fail_make, bool fail_status) {
  WEIR_ASSIGN_OR_RETURN(const auto owned, Make(fail_make));
  WEIR_RETURN_IF_ERROR(FailWhen(fail_status));
  return *owned;
}

TEST_CASE("the macros hand on an error with its code and message, and nothing else") {
  int reached = 0;
  CHECK(Outer(true, reached).code() == Code::kNoSpace);
  CHECK(reached == 0);
  CHECK(Outer(false, reached).ok());
  CHECK(reached == 1);
  CHECK(Use(true, false).error().ToString() == "not found: no int");
  CHECK(Use(false, true).error().code() == Code::kNoSpace);
  CHECK(Use(false, false).value() == 7);
}

TEST_CASE("context goes in front of a message and leaves success alone") {
  CHECK(Status(Code::kBusy, "held").WithContext("lock").ToString() == "busy: lock: held");
  CHECK(Status(Code::kBusy, "").WithContext("lock").ToString() == "busy: lock");
  CHECK(Status::Ok().WithContext("lock").ToString() == "ok");
}

TEST_CASE("every code has a name of its own") {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(Code::kInternal); ++code) {
    names.insert(CodeName(static_cast<Code>(code)));
  }
  CHECK(names.size() == static_cast<size_t>(Code::kInternal) + 1);
}

}  // namespace
}  // namespace weir
