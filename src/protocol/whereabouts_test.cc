#include "protocol/whereabouts.h"

#include <doctest/doctest.h>

namespace weir::protocol {
namespace {

Whereabouts At(std::string cluster, std::vector<TopicAt> topics) {
  return {std::move(cluster), std::move(topics)};
}

TEST_CASE("whereabouts: what is written is read back, and anything else is refused") {
  const Whereabouts cases[] = {{},
                               At("C1", {}),
                               At("C1", {{"a", "id-a", {}}}),
                               At("C1", {{"a", "id-a", {0, 17}}, {"b.c", "id-b", {5}}})};
  for (const Whereabouts& at : cases) CHECK(ParseWhereabouts(at.Encode()) == at);
  for (const char* bad : {"x", "topic a id 1\n", "cluster A\ncluster B\n", "cluster A\ntopic a\n",
                          "cluster A\ntopic a id -1\n", "cluster A\ntopic a id x\n",
                          "cluster A\ntopic b id 1\ntopic a id 1\n"}) {
    CAPTURE(bad);
    CHECK_FALSE(ParseWhereabouts(bad));
  }
}

TEST_CASE("whereabouts: another cluster, a topic created again and a lost partition are moves") {
  const Whereabouts recorded = At("C1", {{"a", "1", {5, 6}}, {"b", "2", {7}}});
  struct Case {
    const char* name;
    Whereabouts found;
    const char* says;  // "" when it is the same target
  };
  const Case cases[] = {
      {"the same", recorded, ""},
      {"it grew", At("C1", {{"a", "1", {9, 9, 0}}, {"b", "2", {7}}}), ""},
      {"a new topic beside", At("C1", {{"a", "1", {5, 6}}, {"b", "2", {7}}, {"c", "3", {0}}}), ""},
      {"a topic that is not asked for", At("C1", {{"a", "1", {5, 6}}}), ""},
      {"another cluster", At("C2", {{"a", "1", {5, 6}}, {"b", "2", {7}}}), "cluster"},
      {"created again", At("C1", {{"a", "9", {0, 0}}, {"b", "2", {7}}}), "topic a"},
      {"a partition less", At("C1", {{"a", "1", {5}}, {"b", "2", {7}}}), "partitions"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const std::string text = DescribeMove(recorded, c.found);
    CHECK(text.empty() == (*c.says == 0));
    CHECK(text.find(c.says) != std::string::npos);
  }
  CHECK(DescribeMove({}, recorded).empty());
}

TEST_CASE("whereabouts: an accepted move looks at everything in what is new, and moves no other") {
  const Whereabouts recorded = At("C1", {{"a", "1", {5, 6}}, {"b", "2", {7}}});
  CHECK(AcceptMove(recorded, At("C1", {{"a", "9", {40, 41}}, {"b", "2", {50, 60}}})) ==
        At("C1", {{"a", "9", {0, 0}}, {"b", "2", {7, 0}}}));
  CHECK(AcceptMove(recorded, At("C2", {{"a", "1", {40}}})) == At("C2", {{"a", "1", {0}}}));
}

}  // namespace
}  // namespace weir::protocol
