#include "connectors/kafka/producer_identity.h"

#include <doctest/doctest.h>

namespace weir::connectors {
namespace {

using Identity = std::optional<ProducerIdentity>;

TEST_CASE("the library's line about a new producer id is read, and no other") {
  const Identity first = AcquiredIdentity("[thrd:main]: Acquired PID{Id:4007,Epoch:12}");
  REQUIRE(first);
  CHECK(first->id == 4007);
  CHECK(first->epoch == 12);
  const Identity next =
      AcquiredIdentity("[thrd:x]: Acquired PID{Id:1,Epoch:2} (previous PID{Id:1,Epoch:1})");
  REQUIRE(next);
  CHECK(next->epoch == 2);
  for (const char* line :
       {"", "[thrd:main]: Acquired PID{Id:,Epoch:1}", "[thrd:main]: Acquired PID{Id:1,Epoch:40000}",
        "[thrd:main]: Acquired PID{Id:1,Epoch:1", "Acquired PID{Invalid}",
        "Current PID{Id:1,Epoch:1} is no longer valid"}) {
    CAPTURE(line);
    CHECK(!AcquiredIdentity(line));
  }
}

TEST_CASE("what is between two fencings of ours are fencings by others") {
  struct Case {
    const char* what;
    Identity before, now;
    uint64_t want;
  };
  const Case cases[] = {
      {"the first of a life", std::nullopt, ProducerIdentity{7, 3}, 0},
      {"unknown now", ProducerIdentity{7, 3}, std::nullopt, 0},
      {"ours and the next of ours", ProducerIdentity{7, 3}, ProducerIdentity{7, 4}, 0},
      {"one between", ProducerIdentity{7, 3}, ProducerIdentity{7, 5}, 1},
      {"four between", ProducerIdentity{7, 0}, ProducerIdentity{7, 5}, 4},
      {"another id: expired, or its epochs are used up", ProducerIdentity{7, 3},
       ProducerIdentity{9, 5}, 0},
      {"a cluster that has gone back", ProducerIdentity{7, 3}, ProducerIdentity{7, 3}, 0},
      {"further back", ProducerIdentity{7, 3}, ProducerIdentity{7, 1}, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.what);
    CHECK(FencingsByOthers(c.before, c.now) == c.want);
  }
}

}  // namespace
}  // namespace weir::connectors
