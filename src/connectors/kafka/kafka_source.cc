#include "connectors/kafka/kafka_source.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "base/units.h"

namespace weir::connectors {
namespace {

constexpr int64_t kNsPerMs = 1'000'000;
constexpr int64_t kPollMs = 100;      // events of the client
constexpr int64_t kMirrorMs = 5'000;  // committing positions for monitors
// How long a leader's word about the end of its partition counts (time.md: the last few seconds).
constexpr int64_t kEndProofMs = 15'000;

}  // namespace

KafkaSource::KafkaSource(const io::Env& env, KafkaSourceOptions options,
                         std::unique_ptr<KafkaDecoder> rows)
    : env_(env),
      options_(std::move(options)),
      rows_(std::move(rows)),
      client_(options_.client),
      seen_generation_(client_.generation),
      surveyor_(std::make_unique<Surveyor>(options_.client, options_.reading)),
      worker_(env.new_worker("kafka-survey", env.completions)) {}

KafkaSource::~KafkaSource() = default;

KafkaSource::Partition& KafkaSource::Add(TopicPartition at, KafkaPosition position, bool restored) {
  auto partition = std::make_unique<Partition>();
  partition->at = std::move(at);
  partition->position = position;
  partition->restored = restored;
  partitions_.push_back(std::move(partition));
  return *partitions_.back();
}

KafkaSource::Partition* KafkaSource::Find(const TopicPartition& at) {
  const auto it = std::find_if(partitions_.begin(), partitions_.end(),
                               [&](const auto& p) { return p->at == at; });
  return it == partitions_.end() ? nullptr : it->get();
}

Status KafkaSource::Open(const std::vector<flow::SavedPosition>& saved,
                         std::string_view source_state) {
  const auto damaged = [&] {
    return Status(Code::kCorruption,
                  "a saved position of source " + options_.table + " cannot be read");
  };
  std::map<TopicPartition, KafkaPosition> positions;
  for (const flow::SavedPosition& entry : saved) {
    const auto at = ParseTopicPartition(entry.key);
    const auto position = DecodeKafkaPosition(entry.blob);
    if (!at || !position) return damaged();
    positions.emplace(*at, *position);
  }
  for (const auto& [at, position] : positions) Add(at, position, true);
  if (!source_state.empty()) {
    auto record = DecodeKafkaSource(source_state);
    if (!record) return damaged();
    record_ = std::move(*record);
    resolved_ = true;
  }
  PostSurvey(env_.clock.MonotonicNs());
  return Status::Ok();
}

Status KafkaSource::Discover(std::vector<flow::PartitionInfo>& found) {
  for (; announced_ < partitions_.size(); ++announced_) {
    const Partition& p = *partitions_[announced_];
    flow::PartitionInfo info;
    info.index = static_cast<flow::PartitionIndex>(announced_);
    info.key = info.label = p.at.ToString();
    info.restored = p.restored;
    info.position = p.position.offset;
    info.finished = p.position.stop != kNoStop && p.position.offset >= p.position.stop;
    info.in_turns = true;
    found.push_back(std::move(info));
  }
  return Status::Ok();
}

void KafkaSource::Tick() {
  const int64_t now_ns = env_.clock.MonotonicNs();
  // A survey tries what the secrets are now, at once; reading goes on until then. One that runs
  // already may have read them before the signal.
  if (!survey_running_ && client_.Old() && client_.references->generation() != seen_generation_) {
    seen_generation_ = client_.references->generation();
    next_survey_ns_ = now_ns;
  }
  if (!survey_running_ && now_ns >= next_survey_ns_) PostSurvey(now_ns);
  if (reader_ == nullptr || now_ns < next_poll_ns_) return;
  next_poll_ns_ = now_ns + kPollMs * kNsPerMs;
  reader_->Poll();
  if (!options_.reading.commit_positions || now_ns < next_mirror_ns_) return;
  next_mirror_ns_ = now_ns + kMirrorMs * kNsPerMs;
  reader_->Commit(mirrored_);
  mirrored_.clear();
}

bool KafkaSource::Woken() {
  Tick();
  if (std::exchange(news_, false)) return true;
  for (size_t i = 0; i < announced_; ++i) {
    if (MayRead(static_cast<flow::PartitionIndex>(i))) return true;
  }
  return false;
}

bool KafkaSource::MayRead(flow::PartitionIndex partition) const {
  const Partition& p = *partitions_[static_cast<size_t>(partition)];
  switch (p.state) {
    case Partition::State::kReading:
      return p.jumped_from.has_value() || reader_->HasRecords(p.at) ||
             (p.position.stop != kNoStop && p.position.offset >= p.position.stop);
    case Partition::State::kEnded:
      return true;
    case Partition::State::kUnknown:
    case Partition::State::kSuspect:
    case Partition::State::kParked:
      return false;
  }
  return false;
}

bool KafkaSource::AtEnd(flow::PartitionIndex partition) const {
  const Partition& p = *partitions_[static_cast<size_t>(partition)];
  return p.state == Partition::State::kReading && p.known_ns != 0 &&
         env_.clock.MonotonicNs() - p.known_ns < kEndProofMs * kNsPerMs &&
         p.position.offset >= p.log_end && !reader_->HasRecords(p.at);
}

Result<flow::ReadState> KafkaSource::Read(flow::PartitionIndex partition, uint32_t max_rows,
                                          Batch& out) {
  Partition& p = *partitions_[static_cast<size_t>(partition)];
  out.partition = partition;
  out.source = options_.table;
  out.end_position = p.position.offset;
  if (p.state == Partition::State::kEnded) return flow::ReadState::kEnd;
  if (p.state != Partition::State::kReading) return flow::ReadState::kWait;
  if (p.jumped_from) {
    // A record of its own, so that the new position is sealed although no row comes.
    const int64_t from = *std::exchange(p.jumped_from, std::nullopt);
    NonRow gap;
    gap.skipped = true;
    gap.pos = std::min(from, p.position.offset);
    gap.next_pos = p.position.offset;
    gap.count = static_cast<uint64_t>(std::max<int64_t>(0, p.position.offset - from));
    out.non_rows.push_back(std::move(gap));
    return flow::ReadState::kRows;
  }
  const KafkaReader::Served served =
      reader_->Serve(p.at, p.position.offset, p.position.stop, max_rows, *rows_, out);
  const bool moved = served.next != p.position.offset;
  p.position.offset = served.next;
  if (served.leader_epoch >= 0) p.position.leader_epoch = served.leader_epoch;
  out.end_position = served.next;
  if (!served.error.ok()) {
    p.state = Partition::State::kSuspect;
    trouble_ = served.error.message();
    if (const Status status = reader_->Unassign(p.at); !status.ok()) trouble_ = status.message();
    next_survey_ns_ = std::min(next_survey_ns_, env_.clock.MonotonicNs() + 1000 * kNsPerMs);
  } else if (p.position.stop != kNoStop && p.position.offset >= p.position.stop) {
    p.state = Partition::State::kEnded;
    if (const Status status = reader_->Unassign(p.at); !status.ok()) trouble_ = status.message();
    return flow::ReadState::kEnd;
  }
  return moved ? flow::ReadState::kRows : flow::ReadState::kWait;
}

Result<std::string> KafkaSource::EncodePosition(flow::PartitionIndex partition, int64_t position) {
  KafkaPosition saved = partitions_[static_cast<size_t>(partition)]->position;
  saved.offset = position;
  return EncodeKafkaPosition(saved);
}

void KafkaSource::Release(flow::PartitionIndex partition, int64_t position) {
  if (options_.reading.commit_positions)
    mirrored_[partitions_[static_cast<size_t>(partition)]->at] = position;
}

std::optional<std::string> KafkaSource::FreezeSourceState() {
  if (!std::exchange(record_changed_, false)) return std::nullopt;
  return EncodeKafkaSource(record_);
}

std::vector<flow::SourcePark> KafkaSource::parks() const {
  std::vector<flow::SourcePark> out;
  for (size_t i = 0; i < announced_; ++i) {
    const Partition& p = *partitions_[i];
    if (p.state != Partition::State::kParked) continue;
    out.push_back(p.park);
    out.back().partition = static_cast<flow::PartitionIndex>(i);
  }
  return out;
}

std::string KafkaSource::Trouble() const {
  if (away_since_ns_ == 0 && trouble_.empty()) return "";
  std::string text = "source " + options_.table + ": " + trouble_;
  if (away_since_ns_ == 0) return text;
  const int64_t away_ms = (env_.clock.MonotonicNs() - away_since_ns_) / kNsPerMs;
  return text + " (for " + FormatDurationMs(away_ms / 1000 * 1000) + ")";
}

void KafkaSource::AppendStatus(std::string& json) const {
  int64_t lag = 0;
  bool known = !partitions_.empty();
  for (const auto& p : partitions_) {
    if (p->state == Partition::State::kEnded) continue;
    known = known && p->known_ns != 0;
    lag += std::max<int64_t>(0, p->log_end - p->position.offset);
  }
  json += ",\"cluster\":" + JsonQuote(record_.cluster) +
          ",\"lag\":" + (known ? std::to_string(lag) : "null") + ",\"away_ms\":" +
          (away_since_ns_ == 0
               ? "null"
               : std::to_string((env_.clock.MonotonicNs() - away_since_ns_) / kNsPerMs)) +
          ",\"reason\":" + (trouble_.empty() ? "null" : JsonQuote(trouble_));
  if (rows_->wants_watermark())
    json += ",\"rows_without_watermark\":" + std::to_string(rows_->rows_without_watermark());
}

}  // namespace weir::connectors
