#include "protocol/whereabouts.h"

#include "base/text.h"

namespace weir::protocol {

const TopicAt* Whereabouts::Find(std::string_view topic) const {
  for (const TopicAt& at : topics) {
    if (at.name == topic) return &at;
  }
  return nullptr;
}

std::string Whereabouts::Encode() const {
  if (Empty()) return "";
  std::string out = "cluster " + cluster + "\n";
  for (const TopicAt& topic : topics) {
    out += "topic " + topic.name + " " + topic.id;
    for (const int64_t end : topic.ends) out += " " + std::to_string(end);
    out += "\n";
  }
  return out;
}

std::optional<Whereabouts> ParseWhereabouts(std::string_view text) {
  Whereabouts out;
  if (text.empty()) return out;
  bool cluster_seen = false;
  for (const std::string_view line : Split(text, '\n')) {
    if (line.empty()) continue;
    const auto words = Split(line, ' ');
    if (words[0] == "cluster" && words.size() == 2 && !cluster_seen) {
      out.cluster = words[1];
      cluster_seen = true;
      continue;
    }
    if (words[0] != "topic" || words.size() < 3 || !cluster_seen) return std::nullopt;
    TopicAt topic{std::string(words[1]), std::string(words[2]), {}};
    for (size_t i = 3; i < words.size(); ++i) {
      const std::optional<int64_t> end = ParseInt64(words[i]);
      if (!end || *end < 0) return std::nullopt;
      topic.ends.push_back(*end);
    }
    if (!out.topics.empty() && out.topics.back().name >= topic.name) return std::nullopt;
    out.topics.push_back(std::move(topic));
  }
  if (!cluster_seen) return std::nullopt;
  return out;
}

std::string DescribeMove(const Whereabouts& recorded, const Whereabouts& found) {
  if (recorded.Empty()) return "";
  if (recorded.cluster != found.cluster) {
    return "the cluster is " + found.cluster + ", recorded is " + recorded.cluster;
  }
  for (const TopicAt& was : recorded.topics) {
    const TopicAt* is = found.Find(was.name);
    if (is == nullptr) continue;  // not asked for: another table of an earlier SQL
    if (is->id != was.id) {
      return "topic " + was.name + " was created again: its id is " + is->id + ", recorded is " +
             was.id;
    }
    if (is->ends.size() < was.ends.size()) {
      return "topic " + was.name + " has " + std::to_string(is->ends.size()) +
             " partitions, recorded are " + std::to_string(was.ends.size());
    }
  }
  return "";
}

Whereabouts AcceptMove(const Whereabouts& recorded, const Whereabouts& found) {
  Whereabouts out = found;
  const bool same_cluster = recorded.cluster == found.cluster;
  for (TopicAt& topic : out.topics) {
    const TopicAt* was = recorded.Find(topic.name);
    const bool same = same_cluster && was != nullptr && was->id == topic.id;
    for (size_t i = 0; i < topic.ends.size(); ++i) {
      topic.ends[i] = same && i < was->ends.size() ? was->ends[i] : 0;
    }
  }
  return out;
}

}  // namespace weir::protocol
