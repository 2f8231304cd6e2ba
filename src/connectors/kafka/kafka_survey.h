// A survey: everything that a source asks a cluster, in one blocking job of a worker. No decision
// is taken here; what could not be asked is a Status.
//
// Who drives it: KafkaSource posts one at a time and takes the answer on the loop.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_SURVEY_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_SURVEY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_admin.h"
#include "connectors/kafka/kafka_spec.h"
#include "data/name_pattern.h"

namespace weir::connectors {

struct LogFacts {
  int64_t start = -1, end = -1;  // end: the high watermark
  Status status;                 // the leader's, for both
};

struct SurveyQuestion {
  std::vector<std::string> known;  // topics that were met before
  bool discover = true;            // look for topics of the pattern, too
  // The first start: where each partition begins, and where it ends.
  bool first = false;
  uint64_t generation = 0;  // of the asker's own client config
};

struct Survey {
  Status status;  // not OK: nothing else counts
  std::string cluster;
  std::vector<TopicFacts> topics;                 // known and found, by name; each with its status
  std::map<TopicPartition, LogFacts> logs;        // of every partition of the topics that are OK
  std::map<TopicPartition, int64_t> start, stop;  // `first`; stop only when bounded
  // With it the cluster has answered, and the asker's own is older.
  std::optional<ClientConfig> renewed;
};

class Surveyor {
 public:
  Surveyor(ClientConfig config, KafkaReading reading);
  // Blocks for a few requests, each at most kRequestMs.
  Survey Ask(const SurveyQuestion& question);

  static constexpr int kRequestMs = 5000;

 private:
  Status AskTopicsOf(const SurveyQuestion& question, Survey& survey);
  Status AskLogs(Survey& survey);
  Status AskModes(Survey& survey);
  Result<std::map<TopicPartition, int64_t>> AskMode(const Survey& survey, const KafkaOffsets& mode,
                                                    bool as_end);
  Result<std::map<TopicPartition, int64_t>> AskGroup(const Survey& survey,
                                                     const KafkaOffsets& mode);

  ClientConfig config_;
  const KafkaReading reading_;
  std::unique_ptr<NamePattern> pattern_;
  std::unique_ptr<KafkaHandle> handle_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_SURVEY_H_
