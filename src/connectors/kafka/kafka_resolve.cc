// What follows from a survey: which partitions there are, where each is read, and which park.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.h"
#include "connectors/kafka/kafka_source.h"

namespace weir::connectors {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
// The proof that a partition stands at its end must stay fresh, and ids are compared as often.
constexpr int64_t kSurveyMs = 5'000;
constexpr int64_t kSurveyMinMs = 500;
constexpr int64_t kBackoffMaxMs = 30'000;

}  // namespace

bool KafkaSource::Word(protocol::Verb verb, const std::string& subject) const {
  return std::any_of(options_.words.begin(), options_.words.end(),
                     [&](const protocol::Resolution& word) {
                       return word.verb == verb && word.subject == subject;
                     });
}

void KafkaSource::PostSurvey(int64_t now_ns) {
  SurveyQuestion question;
  question.first = !resolved_;
  question.generation = client_.generation;
  const int64_t discovery_ms = options_.reading.discovery_interval_ms;
  // A bounded input's partitions are those of its first start.
  const bool bounded = options_.reading.end.mode != KafkaOffsets::Mode::kUnbounded;
  question.discover =
      question.first || (!bounded && discovery_ms > 0 && now_ns >= next_discovery_ns_);
  for (const KafkaTopicRecord& topic : record_.topics) question.known.push_back(topic.name);
  for (const auto& p : partitions_) p->asked_position = p->position.offset;
  survey_running_ = true;
  auto survey = std::make_shared<Survey>();
  Surveyor& surveyor = *surveyor_;
  worker_->Post([&surveyor, question, survey] { *survey = surveyor.Ask(question); },
                [this, question, survey, now_ns] { OnSurvey(question, *survey, now_ns); });
}

int64_t KafkaSource::NextSurveyMs() const {
  if (failed_surveys_ > 0) {
    const int64_t base = std::min<int64_t>(kBackoffMaxMs, 500LL << std::min(failed_surveys_, 6));
    uint16_t random = 0;
    env_.random.Fill(&random, sizeof(random));
    return base / 2 + base * random / 65536 / 2;  // half fixed, half by chance: boxes do not march
  }
  const int64_t discovery_ms = options_.reading.discovery_interval_ms;
  return discovery_ms > 0 ? std::clamp(discovery_ms, kSurveyMinMs, kSurveyMs) : kSurveyMs;
}

void KafkaSource::Away(const Status& status, int64_t now_ns) {
  ++failed_surveys_;
  trouble_ = status.message();
  if (away_since_ns_ != 0) return;
  away_since_ns_ = now_ns;
  LogWarning("source_away", {{"source", options_.table}, {"reason", trouble_}});
}

void KafkaSource::OnSurvey(const SurveyQuestion& question, const Survey& survey, int64_t asked_ns) {
  survey_running_ = false;
  const int64_t now_ns = env_.clock.MonotonicNs();
  if (!survey.status.ok()) {
    Away(survey.status, now_ns);
  } else {
    failed_surveys_ = 0;
    if (away_since_ns_ != 0) {
      LogInfo("source_back",
              {{"source", options_.table}, {"away_ms", (now_ns - away_since_ns_) / kNsPerMs}});
      away_since_ns_ = 0;
    }
    trouble_.clear();
    if (question.discover)
      next_discovery_ns_ = now_ns + options_.reading.discovery_interval_ms * kNsPerMs;
    AddNewPartitions(question, survey);
    RecordTopics(question, survey, Judge(survey, asked_ns));
    if (survey.renewed) {
      client_ = *survey.renewed;
      reader_.reset();  // made anew below, at the read positions
      LogInfo("secrets_renewed", {{"source", options_.table}});
    }
    AssignReadable();
    news_ = true;
  }
  next_survey_ns_ = now_ns + NextSurveyMs() * kNsPerMs;
}

// Topics and partitions that were never met. The first start has resolved where each begins; a
// later one is read from its beginning.
void KafkaSource::AddNewPartitions(const SurveyQuestion& question, const Survey& survey) {
  if (!question.discover) return;
  for (const TopicFacts& topic : survey.topics) {
    const KafkaTopicRecord* known = record_.Find(topic.name);
    // Another log of the same name adds nothing until a word has accepted it.
    if (!topic.status.ok() || (known != nullptr && known->id != topic.id)) continue;
    for (int32_t number = 0; number < topic.partitions; ++number) {
      const TopicPartition at{topic.name, number};
      const auto log = survey.logs.find(at);
      if (Find(at) != nullptr || log == survey.logs.end() || !log->second.status.ok()) continue;
      KafkaPosition position;
      position.offset = question.first ? survey.start.at(at) : log->second.start;
      if (const auto stop = survey.stop.find(at); stop != survey.stop.end())
        position.stop = stop->second;
      Add(at, position, false);
      LogInfo(
          "partition_found",
          {{"source", options_.table}, {"partition", at.ToString()}, {"offset", position.offset}});
    }
  }
  if (!question.first) return;
  resolved_ = true;
  record_.cluster = survey.cluster;
  record_changed_ = true;
}

PartitionFacts KafkaSource::FactsOf(const Partition& p, const Survey& survey,
                                    const TopicFacts& topic, const LogFacts& log) const {
  PartitionFacts facts;
  facts.at = p.at;
  facts.position = p.position;
  facts.recorded_cluster = record_.cluster;
  facts.cluster = survey.cluster;
  if (const KafkaTopicRecord* known = record_.Find(p.at.topic)) facts.recorded = *known;
  facts.topic = topic;
  facts.log_start = log.start;
  facts.log_end = log.end;
  if (p.state == Partition::State::kReading) {
    // The log has gone on since it was asked for, and its own errors come through the queue.
    facts.log_start = std::min(log.start, p.position.offset);
    facts.log_end = std::max(log.end, p.position.offset);
  }
  // A word counts for what this start finds, not for what may happen later in its life.
  if (p.state != Partition::State::kUnknown) return facts;
  using protocol::Verb;
  facts.accept_gap_table = Word(Verb::kAcceptGap, options_.table);
  facts.accept_topic_table = Word(Verb::kAcceptTopic, options_.table);
  facts.accept_gap = Word(Verb::kAcceptGap, options_.table + ":" + p.at.ToString());
  return facts;
}

std::set<std::string> KafkaSource::Judge(const Survey& survey, int64_t asked_ns) {
  std::set<std::string> accepted;
  for (const auto& partition : partitions_) {
    Partition& p = *partition;
    if (p.state == Partition::State::kEnded || p.state == Partition::State::kParked) continue;
    const auto topic = std::find_if(survey.topics.begin(), survey.topics.end(),
                                    [&](const TopicFacts& t) { return t.name == p.at.topic; });
    if (topic == survey.topics.end()) continue;
    if (!topic->status.ok()) {
      trouble_ = topic->status.message();  // nobody knows: reading waits, the watermark is held
      continue;
    }
    const auto log = survey.logs.find(p.at);
    const bool unknown = log == survey.logs.end() || !log->second.status.ok();
    if (unknown && p.at.partition < topic->partitions) {
      if (log != survey.logs.end()) trouble_ = log->second.status.message();
      continue;
    }
    const LogFacts none;
    const PartitionDecision decision =
        DecidePartition(FactsOf(p, survey, *topic, unknown ? none : log->second));
    if (!unknown) {
      p.log_end = log->second.end;
      p.known_ns = asked_ns;
    }
    if (decision.other_log) accepted.insert(p.at.topic);
    Apply(p, decision);
  }
  return accepted;
}

void KafkaSource::Apply(Partition& p, const PartitionDecision& decision) {
  using State = Partition::State;
  const bool reads = p.state == State::kReading;
  switch (decision.act) {
    case PartitionDecision::Act::kEnd:
      p.state = State::kEnded;
      break;
    case PartitionDecision::Act::kPark:
      p.state = State::kParked;
      p.park = decision.park;
      LogWarning("source_parked", {{"source", options_.table},
                                   {"partition", p.at.ToString()},
                                   {"rule", p.park.rule},
                                   {"why", p.park.what}});
      break;
    case PartitionDecision::Act::kRead:
      if (decision.forget_epoch) {
        // By a word. A reading partition that finds another log is assigned anew below.
        LogWarning("source_gap_accepted", {{"source", options_.table},
                                           {"partition", p.at.ToString()},
                                           {"from", p.position.offset},
                                           {"to", decision.offset},
                                           {"lost", decision.lost_records}});
        p.position.leader_epoch = -1;
        p.jumped_from = p.position.offset;
        p.position.offset = decision.offset;
      }
      p.state = State::kReading;
      break;
  }
  if (!reads || (p.state == State::kReading && !decision.forget_epoch)) return;
  if (const Status status = reader_->Unassign(p.at); !status.ok()) trouble_ = status.message();
}

// After the decisions, which compare with what was recorded before.
void KafkaSource::RecordTopics(const SurveyQuestion& question, const Survey& survey,
                               const std::set<std::string>& accepted) {
  if (!accepted.empty() && record_.cluster != survey.cluster) {
    record_.cluster = survey.cluster;
    record_changed_ = true;
  }
  for (const TopicFacts& topic : survey.topics) {
    if (!topic.status.ok()) continue;
    const KafkaTopicRecord* known = record_.Find(topic.name);
    const bool same = known != nullptr && known->id == topic.id;
    if (known != nullptr && !same && !accepted.contains(topic.name)) continue;
    // Partitions that were not looked for are not recorded, or they would never be read.
    const int32_t partitions = same && !question.discover ? known->partitions : topic.partitions;
    if (same && known->partitions >= partitions) continue;
    record_.Put({topic.name, topic.id, partitions});
    record_changed_ = true;
  }
}

void KafkaSource::AssignReadable() {
  std::map<TopicPartition, KafkaPosition> wanted;
  for (const auto& p : partitions_) {
    if (p->state == Partition::State::kReading) wanted.emplace(p->at, p->position);
  }
  if (wanted.empty() && reader_ == nullptr) return;
  const ReaderLimits limits = LimitsFor(options_.memory_bytes, partitions_.size());
  if (reader_ == nullptr || limits.queue_kbytes * 2 <= limits_.queue_kbytes) {
    // Queue sizes are a handle's, so many new partitions make a new one, at the read positions.
    reader_.reset();
    auto reader = KafkaReader::Create(client_, options_.group, limits, env_.completions.event_fd());
    if (!reader.has_value()) {
      trouble_ = reader.error().message();
      for (const auto& p : partitions_) {
        if (p->state == Partition::State::kReading) p->state = Partition::State::kSuspect;
      }
      return;
    }
    reader_ = std::move(*reader);
    limits_ = limits;
  }
  std::erase_if(wanted, [&](const auto& entry) { return reader_->IsAssigned(entry.first); });
  if (const Status status = reader_->Assign(wanted); !status.ok()) trouble_ = status.message();
}

}  // namespace weir::connectors
