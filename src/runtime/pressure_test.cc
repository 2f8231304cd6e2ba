#include "runtime/pressure.h"

#include <doctest/doctest.h>

namespace weir::runtime {

TEST_CASE("sources pause on what drains by itself, and on nothing else") {
  struct Case {
    const char* name;
    PressureFacts given;
    Pressure want;
  };
  PressureFacts calm;
  calm.buffered_bytes_max = 100;
  calm.spool_bytes_max = 1000;
  const auto with = [&](auto change) {
    PressureFacts f = calm;
    change(f);
    return f;
  };
  const Case cases[] = {
      {"nothing", calm, Pressure::kNone},
      {"at the bound is not above it", with([](auto& f) {
         f.buffered_bytes = 100;
         f.spool_bytes = 1000;
       }),
       Pressure::kNone},
      {"stage without space", with([](auto& f) { f.stage_paused = true; }), Pressure::kStagePaused},
      {"seal without space", with([](auto& f) { f.seal_waits_for_space = true; }),
       Pressure::kSealWaits},
      {"buffers", with([](auto& f) { f.buffered_bytes = 101; }), Pressure::kBuffered},
      {"changed state behind a seal", with([](auto& f) {
         f.seal_in_flight = true;
         f.state_bytes = 2;
         f.state_bytes_max = 1;
       }),
       Pressure::kUnsealedState},
      {"state alone never pauses", with([](auto& f) {
         f.state_bytes = 2;
         f.state_bytes_max = 1;
       }),
       Pressure::kNone},
      {"spool", with([](auto& f) { f.spool_bytes = 1001; }), Pressure::kSpool},
      {"disk", with([](auto& f) {
         f.free_known = true;
         f.disk_free = 9;
         f.disk_min_free = 10;
       }),
       Pressure::kDisk},
      {"an unknown disk is not full", with([](auto& f) {
         f.disk_free = 0;
         f.disk_min_free = 10;
       }),
       Pressure::kNone},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(DecidePressure(c.given) == c.want);
    CHECK(DescribePressure(c.want, c.given).empty() == (c.want == Pressure::kNone));
  }
}

}  // namespace weir::runtime
