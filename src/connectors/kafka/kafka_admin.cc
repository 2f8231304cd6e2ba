#include "connectors/kafka/kafka_admin.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace weir::connectors {
namespace {

using AdminOptions =
    std::unique_ptr<rd_kafka_AdminOptions_t, KafkaFree<rd_kafka_AdminOptions_destroy>>;
using Metadata = std::unique_ptr<const rd_kafka_metadata_t, KafkaFree<rd_kafka_metadata_destroy>>;

constexpr int kSliceMs = 100;

AdminOptions NewOptions(KafkaHandle& handle, rd_kafka_admin_op_t op, int timeout_ms) {
  AdminOptions options(rd_kafka_AdminOptions_new(handle.get(), op));
  std::array<char, 256> text{};
  CHECK(rd_kafka_AdminOptions_set_request_timeout(options.get(), timeout_ms, text.data(),
                                                  text.size()) == RD_KAFKA_RESP_ERR_NO_ERROR);
  return options;
}

// The answer; the library ends the request itself at its time-out. Events are served meanwhile, so
// that the reason is there when it fails.
Result<KafkaEvent> Wait(KafkaHandle& handle, rd_kafka_queue_t* queue, std::string_view what) {
  KafkaEvent event;
  while (event == nullptr) {
    event.reset(rd_kafka_queue_poll(queue, kSliceMs));
    handle.Poll(0);
  }
  const rd_kafka_resp_err_t code = rd_kafka_event_error(event.get());
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
    handle.reason().Clear();
    return event;
  }
  return Fail(handle.Unavailable(what, code, rd_kafka_event_error_string(event.get())));
}

Status StatusOf(KafkaHandle& handle, std::string_view what, rd_kafka_resp_err_t code,
                const char* text = "") {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::Ok();
  if (code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
      code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION) {
    return Status(Code::kNotFound, std::string(what) +
                                       " does not exist on the cluster, or we may "
                                       "not see it (ACL Describe)");
  }
  return handle.Unavailable(what, code, text);
}

Result<Metadata> AskMetadata(KafkaHandle& handle, bool all_topics, int timeout_ms) {
  const rd_kafka_metadata_t* metadata = nullptr;
  const auto code =
      rd_kafka_metadata(handle.get(), all_topics ? 1 : 0, nullptr, &metadata, timeout_ms);
  handle.Poll(0);
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return Fail(handle.Unavailable("the brokers do not answer", code));
  handle.reason().Clear();
  return Metadata(metadata);
}

Result<std::map<std::string, std::string>> AskConfig(KafkaHandle& handle,
                                                     rd_kafka_ResourceType_t type,
                                                     const std::string& name, int timeout_ms) {
  const KafkaQueue queue(rd_kafka_queue_new(handle.get()));
  const AdminOptions options = NewOptions(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, timeout_ms);
  rd_kafka_ConfigResource_t* resource = rd_kafka_ConfigResource_new(type, name.c_str());
  rd_kafka_DescribeConfigs(handle.get(), &resource, 1, options.get(), queue.get());
  rd_kafka_ConfigResource_destroy(resource);
  const std::string what = "settings of " + name;
  WEIR_ASSIGN_OR_RETURN(const KafkaEvent event, Wait(handle, queue.get(), what));
  size_t count = 0;
  const rd_kafka_ConfigResource_t** found = rd_kafka_DescribeConfigs_result_resources(
      rd_kafka_event_DescribeConfigs_result(event.get()), &count);
  if (count != 1) return Fail(Code::kUnavailable, what + ": no answer");
  WEIR_RETURN_IF_ERROR(StatusOf(handle, what, rd_kafka_ConfigResource_error(found[0]),
                                rd_kafka_ConfigResource_error_string(found[0])));
  const rd_kafka_ConfigEntry_t** entries = rd_kafka_ConfigResource_configs(found[0], &count);
  std::map<std::string, std::string> config;
  for (size_t i = 0; i < count; ++i) {
    const char* value = rd_kafka_ConfigEntry_value(entries[i]);
    if (value != nullptr) config.emplace(rd_kafka_ConfigEntry_name(entries[i]), value);
  }
  return config;
}

int64_t SpecOf(const OffsetQuestion& question) {
  switch (question.kind) {
    case OffsetQuestion::Kind::kEarliest:
      return RD_KAFKA_OFFSET_SPEC_EARLIEST;
    case OffsetQuestion::Kind::kLatest:
      return RD_KAFKA_OFFSET_SPEC_LATEST;
    case OffsetQuestion::Kind::kTimestamp:
      return std::max<int64_t>(0, question.timestamp_ms);
  }
  return 0;
}

Result<std::vector<OffsetAnswer>> AskOffsetsOnce(KafkaHandle& handle,
                                                 const std::vector<OffsetQuestion>& questions,
                                                 bool read_committed, int timeout_ms) {
  const KafkaQueue queue(rd_kafka_queue_new(handle.get()));
  const AdminOptions options = NewOptions(handle, RD_KAFKA_ADMIN_OP_LISTOFFSETS, timeout_ms);
  const KafkaError isolation(rd_kafka_AdminOptions_set_isolation_level(
      options.get(), read_committed ? RD_KAFKA_ISOLATION_LEVEL_READ_COMMITTED
                                    : RD_KAFKA_ISOLATION_LEVEL_READ_UNCOMMITTED));
  CHECK(isolation == nullptr);
  const KafkaPartitions list(rd_kafka_topic_partition_list_new(static_cast<int>(questions.size())));
  for (const OffsetQuestion& question : questions) {
    rd_kafka_topic_partition_list_add(list.get(), question.at.topic.c_str(), question.at.partition)
        ->offset = SpecOf(question);
  }
  rd_kafka_ListOffsets(handle.get(), list.get(), options.get(), queue.get());
  WEIR_ASSIGN_OR_RETURN(const KafkaEvent event, Wait(handle, queue.get(), "asking for offsets"));
  size_t count = 0;
  const rd_kafka_ListOffsetsResultInfo_t** infos =
      rd_kafka_ListOffsets_result_infos(rd_kafka_event_ListOffsets_result(event.get()), &count);
  std::map<TopicPartition, OffsetAnswer> found;
  for (size_t i = 0; i < count; ++i) {
    const rd_kafka_topic_partition_t* p = rd_kafka_ListOffsetsResultInfo_topic_partition(infos[i]);
    OffsetAnswer answer{{p->topic, p->partition}, p->offset, Status::Ok()};
    answer.status = StatusOf(handle, answer.at.ToString(), p->err);
    found.emplace(answer.at, std::move(answer));
  }
  std::vector<OffsetAnswer> answers;
  for (const OffsetQuestion& question : questions) {
    const auto it = found.find(question.at);
    answers.push_back(
        it != found.end()
            ? it->second
            : OffsetAnswer{question.at, -1,
                           Status(Code::kUnavailable, question.at.ToString() + ": no answer")});
  }
  return answers;
}

}  // namespace

void AddQuestions(OffsetQuestion::Kind kind, const std::string& topic, size_t partitions,
                  std::vector<OffsetQuestion>& out) {
  for (size_t p = 0; p < partitions; ++p)
    out.push_back({kind, {topic, static_cast<int32_t>(p)}, 0});
}

Result<std::string> AskClusterId(KafkaHandle& handle, int timeout_ms) {
  const auto metadata = AskMetadata(handle, false, timeout_ms);
  if (!metadata.has_value()) return Fail(metadata.error());
  char* id = rd_kafka_clusterid(handle.get(), 0);
  if (id == nullptr) return std::string();
  std::string out(id);
  rd_kafka_mem_free(handle.get(), id);
  return out;
}

namespace {

void TakeRights(const rd_kafka_TopicDescription_t* topic, TopicFacts& facts) {
  size_t count = 0;
  const rd_kafka_AclOperation_t* rights =
      rd_kafka_TopicDescription_authorized_operations(topic, &count);
  if (rights == nullptr) return;  // the broker does not say
  const auto may = [&](rd_kafka_AclOperation_t operation) {
    return std::find(rights, rights + count, operation) != rights + count;
  };
  facts.may_read = may(RD_KAFKA_ACL_OPERATION_READ);
  facts.may_write = may(RD_KAFKA_ACL_OPERATION_WRITE);
}

}  // namespace

Result<std::vector<TopicFacts>> AskTopics(KafkaHandle& handle,
                                          const std::vector<std::string>& names, int timeout_ms,
                                          bool rights) {
  std::vector<TopicFacts> topics;
  if (names.empty()) return topics;
  std::vector<const char*> wanted;
  for (const std::string& name : names) wanted.push_back(name.c_str());
  using Collection =
      std::unique_ptr<rd_kafka_TopicCollection_t, KafkaFree<rd_kafka_TopicCollection_destroy>>;
  const Collection collection(
      rd_kafka_TopicCollection_of_topic_names(wanted.data(), wanted.size()));
  const KafkaQueue queue(rd_kafka_queue_new(handle.get()));
  const AdminOptions options = NewOptions(handle, RD_KAFKA_ADMIN_OP_DESCRIBETOPICS, timeout_ms);
  const KafkaError unused(
      rd_kafka_AdminOptions_set_include_authorized_operations(options.get(), rights ? 1 : 0));
  CHECK(unused == nullptr);
  rd_kafka_DescribeTopics(handle.get(), collection.get(), options.get(), queue.get());
  WEIR_ASSIGN_OR_RETURN(const KafkaEvent event, Wait(handle, queue.get(), "asking for topics"));
  size_t count = 0;
  const rd_kafka_TopicDescription_t** found = rd_kafka_DescribeTopics_result_topics(
      rd_kafka_event_DescribeTopics_result(event.get()), &count);
  for (const std::string& name : names) {
    TopicFacts facts;
    facts.name = name;
    facts.status = Status(Code::kUnavailable, "topic " + name + ": no answer");
    for (size_t i = 0; i < count; ++i) {
      if (name != rd_kafka_TopicDescription_name(found[i])) continue;
      const rd_kafka_error_t* error = rd_kafka_TopicDescription_error(found[i]);
      facts.status = StatusOf(handle, "topic " + name, rd_kafka_error_code(error),
                              error == nullptr ? "" : rd_kafka_error_string(error));
      if (!facts.status.ok()) break;
      size_t partitions = 0;
      (void)rd_kafka_TopicDescription_partitions(found[i], &partitions);
      facts.partitions = static_cast<int32_t>(partitions);
      facts.id = rd_kafka_Uuid_base64str(rd_kafka_TopicDescription_topic_id(found[i]));
      if (rights) TakeRights(found[i], facts);
    }
    topics.push_back(std::move(facts));
  }
  return topics;
}

Result<std::vector<std::string>> AskTopicNames(KafkaHandle& handle, int timeout_ms) {
  WEIR_ASSIGN_OR_RETURN(const Metadata metadata, AskMetadata(handle, true, timeout_ms));
  std::vector<std::string> names;
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const std::string_view name = metadata->topics[i].topic;
    if (name != "__consumer_offsets" && name != "__transaction_state" &&
        name != "__share_group_state") {
      names.emplace_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<OffsetAnswer>> AskOffsets(KafkaHandle& handle,
                                             const std::vector<OffsetQuestion>& questions,
                                             bool read_committed, int timeout_ms) {
  if (questions.empty()) return std::vector<OffsetAnswer>();
  WEIR_ASSIGN_OR_RETURN(std::vector<OffsetAnswer> answers,
                        AskOffsetsOnce(handle, questions, read_committed, timeout_ms));
  // Nothing at or after a timestamp: the end, as Flink has it.
  std::vector<OffsetQuestion> ends;
  for (size_t i = 0; i < questions.size(); ++i) {
    if (questions[i].kind == OffsetQuestion::Kind::kTimestamp && answers[i].status.ok() &&
        answers[i].offset < 0) {
      ends.push_back({OffsetQuestion::Kind::kLatest, questions[i].at, 0});
    }
  }
  if (ends.empty()) return answers;
  WEIR_ASSIGN_OR_RETURN(const std::vector<OffsetAnswer> latest,
                        AskOffsetsOnce(handle, ends, read_committed, timeout_ms));
  for (const OffsetAnswer& end : latest) {
    const auto it = std::find_if(answers.begin(), answers.end(),
                                 [&](const OffsetAnswer& a) { return a.at == end.at; });
    *it = end;
  }
  return answers;
}

Result<std::vector<OffsetAnswer>> AskGroupOffsets(KafkaHandle& handle,
                                                  const std::vector<TopicPartition>& partitions,
                                                  int timeout_ms) {
  std::vector<OffsetAnswer> answers;
  if (partitions.empty()) return answers;
  const KafkaPartitions list(
      rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const TopicPartition& p : partitions)
    rd_kafka_topic_partition_list_add(list.get(), p.topic.c_str(), p.partition);
  const rd_kafka_resp_err_t code = rd_kafka_committed(handle.get(), list.get(), timeout_ms);
  handle.Poll(0);
  // Without the right to read the group the library only says that it took too long.
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return Fail(handle.Unavailable(
        "asking for the group's offsets (this needs the ACL Read or Describe on the group)", code));
  }
  for (int i = 0; i < list->cnt; ++i) {
    const rd_kafka_topic_partition_t& p = list->elems[i];
    OffsetAnswer answer{{p.topic, p.partition}, p.offset < 0 ? -1 : p.offset, Status::Ok()};
    answer.status = StatusOf(handle, answer.at.ToString(), p.err);
    answers.push_back(std::move(answer));
  }
  return answers;
}

Result<std::map<std::string, std::string>> AskTopicConfig(KafkaHandle& handle,
                                                          const std::string& topic,
                                                          int timeout_ms) {
  return AskConfig(handle, RD_KAFKA_RESOURCE_TOPIC, topic, timeout_ms);
}

Result<std::map<std::string, std::string>> AskBrokerConfig(KafkaHandle& handle, int32_t broker,
                                                           int timeout_ms) {
  return AskConfig(handle, RD_KAFKA_RESOURCE_BROKER, std::to_string(broker), timeout_ms);
}

bool CoordinatorMoves(rd_kafka_resp_err_t code) {
  return code == RD_KAFKA_RESP_ERR_NOT_COORDINATOR ||
         code == RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE ||
         code == RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS;
}

Status AskGroupRights(KafkaHandle& handle, const std::string& group, int timeout_ms) {
  const KafkaQueue queue(rd_kafka_queue_new(handle.get()));
  const AdminOptions options =
      NewOptions(handle, RD_KAFKA_ADMIN_OP_DESCRIBECONSUMERGROUPS, timeout_ms);
  const KafkaError unused(
      rd_kafka_AdminOptions_set_include_authorized_operations(options.get(), 1));
  CHECK(unused == nullptr);
  const char* name = group.c_str();
  rd_kafka_DescribeConsumerGroups(handle.get(), &name, 1, options.get(), queue.get());
  const std::string what = "the receipt (group " + group + ")";
  WEIR_ASSIGN_OR_RETURN(const KafkaEvent event, Wait(handle, queue.get(), what));
  size_t count = 0;
  const rd_kafka_ConsumerGroupDescription_t** found = rd_kafka_DescribeConsumerGroups_result_groups(
      rd_kafka_event_DescribeConsumerGroups_result(event.get()), &count);
  if (count != 1) return Status(Code::kUnavailable, what + ": no answer");
  const rd_kafka_error_t* error = rd_kafka_ConsumerGroupDescription_error(found[0]);
  // A group that nobody has used yet is none.
  if (error != nullptr && rd_kafka_error_code(error) != RD_KAFKA_RESP_ERR_GROUP_ID_NOT_FOUND) {
    const Status status = handle.Unavailable(what, error);
    return CoordinatorMoves(rd_kafka_error_code(error)) ? Status(Code::kBusy, status.message())
                                                        : status;
  }
  const rd_kafka_AclOperation_t* rights =
      rd_kafka_ConsumerGroupDescription_authorized_operations(found[0], &count);
  if (rights == nullptr || count == 0 ||
      std::find(rights, rights + count, RD_KAFKA_ACL_OPERATION_READ) != rights + count) {
    return Status::Ok();
  }
  return handle.Unavailable(what, RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED);
}

Status KeepsReceiptsOfGroups(int32_t broker, const std::map<std::string, std::string>& settings) {
  // A setting that 4.0 has removed; brokers tell those that nobody has set, too.
  const auto version = settings.find("inter.broker.protocol.version");
  if (version == settings.end()) return Status::Ok();
  // The coordinator that 4.0 has by default keeps them.
  const auto protocols = settings.find("group.coordinator.rebalance.protocols");
  if (protocols != settings.end() && protocols->second.find("consumer") != std::string::npos)
    return Status::Ok();
  return Status(Code::kUnavailable,
                "broker " + std::to_string(broker) + " is older than Kafka 4.0 (" +
                    version->second +
                    ") and may lose receipts of a group: set 'weir.receipt' = 'topic:NAME', or "
                    "group.coordinator.rebalance.protocols = classic,consumer on the brokers");
}

Result<std::vector<int32_t>> AskBrokers(KafkaHandle& handle, int timeout_ms) {
  WEIR_ASSIGN_OR_RETURN(const Metadata metadata, AskMetadata(handle, false, timeout_ms));
  std::vector<int32_t> ids;
  for (int i = 0; i < metadata->broker_cnt; ++i) ids.push_back(metadata->brokers[i].id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace weir::connectors
