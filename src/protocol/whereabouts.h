// Whereabouts: which cluster and which topics a target was, and how far its partitions reached. The
// evidence beside a receipt that can be lost (Kafka): a receipt that is gone and a topic that was
// created again look alike, and a scan has to know where to begin. Pure data; targets whose receipt
// lies in the transaction's own database have none (Empty).
//
// As text, one line each, for people with sqlite3 too:
//   cluster ID
//   topic NAME ID END0 END1 ...
#ifndef WEIR_PROTOCOL_WHEREABOUTS_H_
#define WEIR_PROTOCOL_WHEREABOUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::protocol {

struct TopicAt {
  std::string name;
  std::string id;             // changes when the topic is deleted and created again
  std::vector<int64_t> ends;  // by partition: nothing of a later delivery lies below
  bool operator==(const TopicAt&) const = default;
};

struct Whereabouts {
  std::string cluster;
  std::vector<TopicAt> topics;  // sorted by name
  bool operator==(const Whereabouts&) const = default;

  bool Empty() const { return cluster.empty() && topics.empty(); }
  const TopicAt* Find(std::string_view topic) const;
  std::string Encode() const;
};
std::optional<Whereabouts> ParseWhereabouts(std::string_view text);

// "" when `found` is the target that was recorded; else what differs, for people. A partition count
// may grow, and a topic that was not recorded is new.
std::string DescribeMove(const Whereabouts& recorded, const Whereabouts& found);
// --accept-topic: `found` is ours from now on. What is still the same topic keeps where it ended;
// of another one nothing was ours, so everything in it is looked at.
Whereabouts AcceptMove(const Whereabouts& recorded, const Whereabouts& found);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_WHEREABOUTS_H_
