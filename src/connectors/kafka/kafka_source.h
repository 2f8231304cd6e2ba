// KafkaSource: topics as a flow::Source. Positions live in the sealed epoch only; the cluster keeps
// nothing for us. Nothing here waits for a broker: what must be asked is asked by a survey on a
// worker, and until it is answered nothing is read and nothing ends.
//
//                 survey: read            error from the queue
//   kUnknown ----------------> kReading ----------------------> kSuspect
//      |  \                      |   ^                             |
//      |   \ survey: park        |   |   survey: read              |
//      |    +--------------> kParked   +---------------------------+
//      |  survey: end            | stop reached                    | survey: park
//      +---------------------> kEnded                          kParked
//
// kParked is left by a restart only (an operator's word, or other evidence). kReading goes to
// kParked when a survey finds another cluster or topic.
//
// Invariants:
//   - a partition that the cluster has and that was never met is announced with a resolved offset;
//     the first survey resolves all of them at once, or none
//   - position.offset counts every offset below it: rows + dead letters + skipped
//   - only a reading partition is assigned; a parked one is never read, whatever its queue held
//
// Who drives it: runtime's Scan, on the loop thread.
#ifndef WEIR_CONNECTORS_KAFKA_KAFKA_SOURCE_H_
#define WEIR_CONNECTORS_KAFKA_KAFKA_SOURCE_H_

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_decide.h"
#include "connectors/kafka/kafka_decoder.h"
#include "connectors/kafka/kafka_reader.h"
#include "connectors/kafka/kafka_survey.h"
#include "flow/source.h"
#include "io/env.h"

namespace weir::connectors {

struct KafkaSourceOptions {
  std::string table;
  KafkaReading reading;
  ClientConfig client;
  std::string group;          // for assigning, when the user names none
  uint64_t memory_bytes = 0;  // for records that wait in queues
  std::vector<protocol::Resolution> words;
};

class KafkaSource : public flow::Source {
 public:
  KafkaSource(const io::Env& env, KafkaSourceOptions options, std::unique_ptr<KafkaDecoder> rows);
  ~KafkaSource() override;

  Status Open(const std::vector<flow::SavedPosition>& saved,
              std::string_view source_state) override;
  Status Discover(std::vector<flow::PartitionInfo>& found) override;
  bool Complete() const override { return resolved_; }
  bool Woken() override;
  bool AtEnd(flow::PartitionIndex partition) const override;
  Result<flow::ReadState> Read(flow::PartitionIndex partition, uint32_t max_rows,
                               Batch& out) override;
  bool MayRead(flow::PartitionIndex partition) const override;
  Status Peek(flow::PartitionIndex, Batch&) override { return Status::Ok(); }  // nothing to look at
  Result<std::string> EncodePosition(flow::PartitionIndex partition, int64_t position) override;
  void Release(flow::PartitionIndex partition, int64_t position) override;
  std::optional<std::string> FreezeSourceState() override;
  void TakeForgotten(std::vector<std::string>&) override {}
  std::vector<flow::SourcePark> parks() const override;
  std::string Trouble() const override;
  void AppendStatus(std::string& json) const override;
  void Progress(uint64_t* read_bytes, uint64_t* total_bytes) const override {
    *read_bytes = *total_bytes = 0;
  }
  int64_t PollIntervalMs() const override { return -1; }  // Woken says it

 private:
  struct Partition {
    TopicPartition at;
    KafkaPosition position;  // where Read stands
    enum class State { kUnknown, kReading, kSuspect, kParked, kEnded } state = State::kUnknown;
    bool restored = false;
    std::optional<int64_t> jumped_from;  // by a word: the gap is told with the next Read
    flow::SourcePark park;               // kParked
    int64_t asked_position = 0;          // when the survey that is under way was begun
    int64_t log_end = -1;                // high watermark, as of known_ns
    int64_t known_ns = 0;                // 0: never
  };

  Partition& Add(TopicPartition at, KafkaPosition position, bool restored);
  Partition* Find(const TopicPartition& at);
  void Tick();
  // kafka_resolve.cc: what a survey says, and what follows from it.
  void PostSurvey(int64_t now_ns);
  void OnSurvey(const SurveyQuestion& question, const Survey& survey, int64_t asked_ns);
  void Away(const Status& status, int64_t now_ns);
  void AddNewPartitions(const SurveyQuestion& question, const Survey& survey);
  // Returns the topics whose new ids a word has accepted.
  std::set<std::string> Judge(const Survey& survey, int64_t asked_ns);
  void Apply(Partition& p, const PartitionDecision& decision);
  PartitionFacts FactsOf(const Partition& p, const Survey& survey, const TopicFacts& topic,
                         const LogFacts& log) const;
  void RecordTopics(const SurveyQuestion& question, const Survey& survey,
                    const std::set<std::string>& accepted);
  void AssignReadable();
  bool Word(protocol::Verb verb, const std::string& subject) const;
  int64_t NextSurveyMs() const;

  const io::Env& env_;
  const KafkaSourceOptions options_;
  std::unique_ptr<KafkaDecoder> rows_;
  KafkaSourceRecord record_;
  bool record_changed_ = false;
  bool resolved_ = false;  // positions of all partitions are known
  std::vector<std::unique_ptr<Partition>> partitions_;
  size_t announced_ = 0;
  bool news_ = false;  // Discover or MayRead would say something new

  ClientConfig client_;           // what reader_ is made of
  uint64_t seen_generation_ = 0;  // of its references, when a survey was last asked for that
  std::unique_ptr<KafkaReader> reader_;
  ReaderLimits limits_;
  bool survey_running_ = false;
  int64_t next_survey_ns_ = 0, next_discovery_ns_ = 0;
  int failed_surveys_ = 0;
  int64_t away_since_ns_ = 0;  // 0: the cluster answers
  std::string trouble_;        // why nothing comes
  std::map<TopicPartition, int64_t> mirrored_;
  int64_t next_mirror_ns_ = 0, next_poll_ns_ = 0;

  std::unique_ptr<Surveyor> surveyor_;
  std::unique_ptr<io::Worker> worker_;  // declared last: its job uses the surveyor
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_KAFKA_KAFKA_SOURCE_H_
