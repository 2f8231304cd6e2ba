#include "connectors/kafka/kafka_survey.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace weir::connectors {
namespace {

std::vector<TopicPartition> PartitionsOf(const Survey& survey) {
  std::vector<TopicPartition> partitions;
  for (const TopicFacts& topic : survey.topics) {
    for (int32_t p = 0; topic.status.ok() && p < topic.partitions; ++p)
      partitions.push_back({topic.name, p});
  }
  return partitions;
}

}  // namespace

Surveyor::Surveyor(ClientConfig config, KafkaReading reading)
    : config_(std::move(config)), reading_(std::move(reading)) {
  if (reading_.pattern.empty()) return;
  auto pattern = NamePattern::Parse(reading_.pattern);
  CHECK(pattern.has_value());  // the spec has checked it
  pattern_ = std::move(*pattern);
}

Survey Surveyor::Ask(const SurveyQuestion& question) {
  Survey survey;
  if (config_.Old()) {
    handle_.reset();
    survey.status = config_.Renew();
    if (!survey.status.ok()) return survey;
  }
  if (handle_ == nullptr) {
    auto handle = KafkaHandle::Create(config_, ClientRole::kAdmin, {});
    if (!handle.has_value()) {
      survey.status = handle.error();
      return survey;
    }
    handle_ = std::move(*handle);
  }
  survey.status = AskTopicsOf(question, survey);
  if (survey.status.ok()) survey.status = AskLogs(survey);
  if (survey.status.ok() && question.first) survey.status = AskModes(survey);
  if (!survey.status.ok()) return survey;
  handle_->reason().Clear();
  if (config_.generation != question.generation) survey.renewed = config_;
  return survey;
}

Status Surveyor::AskTopicsOf(const SurveyQuestion& question, Survey& survey) {
  WEIR_ASSIGN_OR_RETURN(survey.cluster, AskClusterId(*handle_, kRequestMs));
  std::set<std::string> names(question.known.begin(), question.known.end());
  names.insert(reading_.topics.begin(), reading_.topics.end());
  if (pattern_ != nullptr && question.discover) {
    WEIR_ASSIGN_OR_RETURN(const auto all, AskTopicNames(*handle_, kRequestMs));
    for (const std::string& name : all) {
      if (pattern_->Matches(name)) names.insert(name);
    }
  }
  WEIR_ASSIGN_OR_RETURN(survey.topics,
                        AskTopics(*handle_, {names.begin(), names.end()}, kRequestMs));
  return Status::Ok();
}

Status Surveyor::AskLogs(Survey& survey) {
  std::vector<OffsetQuestion> starts, ends;
  for (const TopicPartition& at : PartitionsOf(survey)) {
    starts.push_back({OffsetQuestion::Kind::kEarliest, at, 0});
    ends.push_back({OffsetQuestion::Kind::kLatest, at, 0});
  }
  // The start first: should the log be cut in between, start <= end holds all the same.
  WEIR_ASSIGN_OR_RETURN(const auto start, AskOffsets(*handle_, starts, false, kRequestMs));
  WEIR_ASSIGN_OR_RETURN(const auto end, AskOffsets(*handle_, ends, false, kRequestMs));
  for (size_t i = 0; i < start.size(); ++i) {
    LogFacts facts{start[i].offset, end[i].offset, start[i].status};
    if (facts.status.ok()) facts.status = end[i].status;
    survey.logs.emplace(start[i].at, std::move(facts));
  }
  return Status::Ok();
}

// Where reading begins must be known of every partition at once: a partition that is left out now
// would be taken for a new one later, and read from its beginning.
Status Surveyor::AskModes(Survey& survey) {
  for (const TopicFacts& topic : survey.topics) WEIR_RETURN_IF_ERROR(topic.status);
  for (const auto& [at, log] : survey.logs) WEIR_RETURN_IF_ERROR(log.status);
  WEIR_ASSIGN_OR_RETURN(survey.start, AskMode(survey, reading_.start, false));
  if (reading_.end.mode == KafkaOffsets::Mode::kUnbounded) return Status::Ok();
  WEIR_ASSIGN_OR_RETURN(survey.stop, AskMode(survey, reading_.end, true));
  return Status::Ok();
}

Result<std::map<TopicPartition, int64_t>> Surveyor::AskMode(const Survey& survey,
                                                            const KafkaOffsets& mode, bool as_end) {
  std::map<TopicPartition, int64_t> offsets;
  using Mode = KafkaOffsets::Mode;
  switch (mode.mode) {
    case Mode::kEarliest:
    case Mode::kUnbounded:
      for (const auto& [at, log] : survey.logs) offsets.emplace(at, log.start);
      return offsets;
    case Mode::kLatest:
      for (const auto& [at, log] : survey.logs) offsets.emplace(at, log.end);
      return offsets;
    case Mode::kSpecific:
      // A partition that is not named: from its beginning, as Flink has it; as an end: at its end.
      for (const auto& [at, log] : survey.logs) {
        const auto named = mode.specific.find(at.partition);
        const int64_t other = as_end ? log.end : log.start;
        offsets.emplace(at, named == mode.specific.end() ? other : named->second);
      }
      return offsets;
    case Mode::kGroup:
      return AskGroup(survey, mode);
    case Mode::kTimestamp:
      break;
  }
  std::vector<OffsetQuestion> questions;
  for (const auto& [at, log] : survey.logs)
    questions.push_back({OffsetQuestion::Kind::kTimestamp, at, mode.timestamp_ms});
  WEIR_ASSIGN_OR_RETURN(const auto answers, AskOffsets(*handle_, questions, false, kRequestMs));
  for (const OffsetAnswer& answer : answers) {
    WEIR_RETURN_IF_ERROR(answer.status);
    offsets.emplace(answer.at, answer.offset);
  }
  return offsets;
}

Result<std::map<TopicPartition, int64_t>> Surveyor::AskGroup(const Survey& survey,
                                                             const KafkaOffsets& mode) {
  WEIR_ASSIGN_OR_RETURN(const auto committed,
                        AskGroupOffsets(*handle_, PartitionsOf(survey), kRequestMs));
  std::map<TopicPartition, int64_t> offsets;
  for (const OffsetAnswer& answer : committed) {
    WEIR_RETURN_IF_ERROR(answer.status);
    int64_t offset = answer.offset;
    const LogFacts& log = survey.logs.at(answer.at);
    if (offset < 0) {
      switch (mode.missing) {
        case KafkaOffsets::Missing::kError:
          return Fail(Code::kUnavailable,
                      "the group has no offset for " + answer.at.ToString() +
                          " (properties.auto.offset.reset = 'earliest' or 'latest' would say what "
                          "that means)");
        case KafkaOffsets::Missing::kEarliest:
          offset = log.start;
          break;
        case KafkaOffsets::Missing::kLatest:
          offset = log.end;
          break;
      }
    }
    offsets.emplace(answer.at, offset);
  }
  return offsets;
}

}  // namespace weir::connectors
