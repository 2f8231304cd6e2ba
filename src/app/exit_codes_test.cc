#include "app/exit_codes.h"

#include <doctest/doctest.h>

namespace weir::app {

TEST_CASE("exit codes are frozen: systemd units and scripts depend on them") {
  const std::pair<Code, int> frozen[] = {
      {Code::kOk, 0},           {Code::kEndOfStream, 0},   {Code::kUsage, 64},
      {Code::kBadRow, 65},      {Code::kTwin, 69},         {Code::kInternal, 70},
      {Code::kExists, 73},      {Code::kCannotCreate, 73}, {Code::kUnknownOutcome, 74},
      {Code::kNoSpace, 75},     {Code::kBusy, 75},         {Code::kInterrupted, 75},
      {Code::kUnavailable, 75}, {Code::kInvalid, 78},      {Code::kNotFound, 78},
      {Code::kCorruption, 78},  {Code::kRefused, 78},
  };
  for (const auto& [code, want] : frozen) {
    CAPTURE(CodeName(code));
    CHECK(ExitCodeOf(Status(code, "x")) == want);
  }
}

}  // namespace weir::app
