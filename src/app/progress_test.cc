#include "app/progress.h"

#include <doctest/doctest.h>

namespace weir::app {
namespace {

runtime::Snapshot Half() {
  runtime::Snapshot s;
  s.totals.read = 1234567;
  s.totals.filtered = 1000;
  s.totals.late = 12;
  s.totals.dead = 3;
  s.totals.emitted = 250;
  s.epochs = 4;
  s.sealed = 7;
  s.running_ms = 2000;
  s.read_bytes = 210000000;
  s.total_bytes = 880000000;
  s.run_bytes = 210000000;
  s.watermark = 1767225912000;
  return s;
}

TEST_CASE("the progress line has rows, MB, rate, event time and what is left") {
  CHECK(ProgressLine(Half()) ==
        "1.2 M rows  210.0 of 880.0 MB  617 k rows/s  event time 2026-01-01 00:05:12  ETA 7 s");
}

TEST_CASE("what is not known is left out of the progress line") {
  runtime::Snapshot s = Half();
  s.total_bytes = 0;  // a generator, a followed file
  s.watermark = kWatermarkNone;
  CHECK(ProgressLine(s) == "1.2 M rows  617 k rows/s");
  s = Half();
  s.read_bytes = 0;  // no rate yet
  s.run_bytes = 0;
  s.running_ms = 0;
  s.totals.read = 0;
  CHECK(ProgressLine(s) == "0 rows  0.0 of 880.0 MB  0 rows/s  event time 2026-01-01 00:05:12");
}

TEST_CASE("what is left is told by the speed of this run, not by what earlier ones have read") {
  struct Case {
    const char* name;
    uint64_t read, total, run;
    int64_t running_ms;
    const char* want;  // "": no ETA
  };
  const Case cases[] = {
      {"nothing read yet", 0, 1000, 0, 500, ""},
      {"half of it, from the begin", 500, 1000, 500, 10000, "ETA 10 s"},
      {"resumed at 90 %: 10 bytes in 10 s", 910, 1000, 10, 10000, "ETA 90 s"},
      {"resumed, and nothing read by this run", 900, 1000, 0, 10000, ""},
      {"all read", 1000, 1000, 100, 10000, ""},
      {"no end known", 500, 0, 500, 10000, ""},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    runtime::Snapshot s;
    s.read_bytes = c.read;
    s.total_bytes = c.total;
    s.run_bytes = c.run;
    s.running_ms = c.running_ms;
    const std::string line = ProgressLine(s);
    CAPTURE(line);
    const size_t eta = line.find("ETA");
    CHECK((eta == std::string::npos ? "" : line.substr(eta)) == c.want);
  }
}

TEST_CASE("the summary has every outcome of a row") {
  CHECK(SummaryLine(Half()) ==
        "read 1,234,567 rows, 1,000 filtered, 12 late, 3 dead letters, 250 emitted in 4 epochs, "
        "2.00 s, 617 k rows/s");
  CHECK(SummaryJson(Half(), 75, "stopped \"early\"") ==
        R"({"exit_code":75,"read":1234567,"filtered":1000,"late":12,"dead":3,"emitted":250,)"
        R"("epochs":4,"sealed_epoch":7,"took_ms":2000,"rows_per_second":617284,)"
        R"("error":"stopped \"early\""})");
}

}  // namespace
}  // namespace weir::app
