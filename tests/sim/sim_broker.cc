#include "sim_broker.h"

#include <algorithm>

namespace weir::sim {

namespace {

constexpr int kPartitions = 2;
constexpr char kClusterId[] = "sim-cluster";

Status Unavailable(const char* what) { return {Code::kUnavailable, std::string("sim: ") + what}; }

}  // namespace

bool SimBroker::Tick() {
  if (killed_) return false;
  ++requests_;
  if (kill_in_ > 0 && --kill_in_ == 0) {
    killed_ = true;
    return false;
  }
  for (auto& [name, producer] : producers_) {
    if (producer.prepared && random_.OneIn(2)) WriteMarkers(producer);
    // The coordinator ends what has lasted too long, and fences its owner.
    if (options_.one_in > 0 && producer.transaction != 0 && !producer.prepared &&
        random_.OneIn(40ULL * options_.one_in)) {
      ++producer.epoch;
      Abort(producer);
    }
  }
  if (!late_.empty() && random_.OneIn(12)) {
    const size_t at = random_.Below(late_.size());
    const Late late = late_[at];
    late_.erase(late_.begin() + static_cast<ptrdiff_t>(at));
    Apply(late);
  }
  if (options_.expire && options_.one_in > 0 && random_.OneIn(60)) groups_.clear();
  return true;
}

SimBroker::Fault SimBroker::Draw(bool may_be_late) {
  if (options_.one_in == 0 || !random_.OneIn(options_.one_in)) return Fault::kNone;
  switch (random_.Below(may_be_late ? 4 : 2)) {
    case 0:
      return Fault::kLost;
    case 1:
      return Fault::kAnswerLost;
    case 2:
      return Fault::kHeld;
    default:
      return Fault::kCopied;
  }
}

void SimBroker::WriteMarkers(Producer& producer) {
  fates_[producer.transaction] = Fate::kCommitted;
  if (producer.receipt) groups_[producer.group][producer.receipt->topic] = producer.receipt->text;
  producer.transaction = 0;
  producer.prepared = false;
  producer.receipt.reset();
}

void SimBroker::Abort(Producer& producer) {
  if (producer.transaction == 0 || producer.prepared) return;
  fates_[producer.transaction] = Fate::kAborted;
  producer.transaction = 0;
  producer.receipt.reset();
}

void SimBroker::ApplyEnd(const std::string& name, uint64_t epoch, bool* applied) {
  Producer& producer = producers_[name];
  *applied = producer.epoch == epoch && producer.transaction != 0;
  if (*applied) producer.prepared = true;
}

bool SimBroker::ApplyReceipt(const Late& late) {
  Producer& producer = producers_[late.name];
  if (producer.epoch != late.epoch || producer.prepared) return false;
  if (producer.transaction == 0) producer.transaction = next_transaction_++;
  producer.group = late.group;
  producer.receipt = late.receipt;
  return true;
}

void SimBroker::Apply(const Late& late) {
  bool applied = false;
  if (late.is_end) {
    ApplyEnd(late.name, late.epoch, &applied);
  } else if (producers_[late.name].transaction != 0) {
    // Outside of a transaction a late copy is refused by every broker that was measured.
    applied = ApplyReceipt(late);
  }
  late_applied_ += applied;
}

std::vector<connectors::StoredReceipt> SimBroker::Stable(const std::string& group,
                                                         bool* pending) const {
  *pending = std::any_of(producers_.begin(), producers_.end(), [&](const auto& entry) {
    return entry.second.receipt && entry.second.group == group;
  });
  std::vector<connectors::StoredReceipt> out;
  const auto found = groups_.find(group);
  if (found == groups_.end()) return out;
  for (const auto& [topic, text] : found->second) out.push_back({topic, text});
  return out;
}

std::vector<SimBroker::Visible> SimBroker::Read() {
  for (const Late& late : std::exchange(late_, {})) Apply(late);
  for (auto& [name, producer] : producers_) {
    if (producer.prepared) WriteMarkers(producer);
  }
  std::vector<Visible> out;
  for (const auto& [topic, partitions] : logs_) {
    for (const auto& log : partitions) {
      for (const Record& record : log) {
        const auto fate = fates_.find(record.transaction);
        if (fate != fates_.end() && fate->second == Fate::kCommitted) out.push_back(record.visible);
      }
    }
  }
  return out;
}

class SimProducer : public connectors::TxnProducer {
 public:
  SimProducer(SimBroker& broker, std::string name, std::vector<std::string> topics)
      : broker_(broker), name_(std::move(name)), topics_(std::move(topics)) {
    flushed_.ends.assign(topics_.size(), std::vector<int64_t>(kPartitions, 0));
  }

  std::string cluster() const override { return kClusterId; }

  Status Init() override {
    if (!broker_.Tick()) return Unavailable("killed");
    const SimBroker::Fault fault = broker_.Draw(false);
    if (fault == SimBroker::Fault::kLost) return Unavailable("InitProducerId lost");
    SimBroker::Producer& producer = broker_.producers_[name_];
    if (producer.prepared) return Unavailable("CONCURRENT_TRANSACTIONS");
    const bool reuse = broker_.options_.mutant == Mutant::kProducerReused &&
                       producer.transaction == 0 && producer.epoch != 0;
    if (!reuse) ++producer.epoch;
    broker_.Abort(producer);
    epoch_ = producer.epoch;
    return fault == SimBroker::Fault::kAnswerLost ? Unavailable("answer lost") : Status::Ok();
  }

  std::optional<connectors::ProducerIdentity> identity() const override {
    return connectors::ProducerIdentity{1, static_cast<int32_t>(epoch_)};
  }
  Status Begin() override { return Status::Ok(); }  // no request of its own

  Status Produce(const connectors::TxnRecord& record) override {
    if (!broker_.Tick()) return Unavailable("killed");
    if (broker_.Draw(false) != SimBroker::Fault::kNone) return Unavailable("record refused");
    SimBroker::Producer& producer = broker_.producers_[name_];
    if (producer.epoch != epoch_) return {Code::kTwin, "sim: fenced"};
    if (producer.prepared) return Unavailable("INVALID_TXN_STATE");
    // A transaction of ours that somebody else has ended is not begun again by the next record.
    if (producer.transaction == 0 && transaction_ != 0) return Unavailable("INVALID_TXN_STATE");
    if (producer.transaction == 0) producer.transaction = broker_.next_transaction_++;
    transaction_ = producer.transaction;
    const auto topic = static_cast<size_t>(record.topic);
    auto& log = broker_.logs_[topics_[topic]];
    log.resize(kPartitions);
    auto& partition = log[static_cast<size_t>(record.partition)];
    partition.push_back(
        {{std::string(record.value.value_or("")), std::string(record.row_header)}, transaction_});
    ++flushed_.records;
    flushed_.ends[topic][static_cast<size_t>(record.partition)] =
        static_cast<int64_t>(partition.size());
    return Status::Ok();
  }

  Result<Flushed> Flush() override {
    if (!broker_.Tick()) return Fail(Unavailable("killed"));
    return flushed_;
  }

  Status SendReceipt(const std::string& group, const std::string& key_topic, EpochId,
                     const std::string& text) override {
    if (!broker_.Tick()) return Unavailable("killed");
    const SimBroker::Late request{name_, epoch_, false, group, {key_topic, text}};
    const SimBroker::Fault fault = broker_.Draw(true);
    if (fault == SimBroker::Fault::kLost) return Unavailable("TxnOffsetCommit lost");
    if (fault == SimBroker::Fault::kHeld) {
      broker_.late_.push_back(request);
      return Unavailable("TxnOffsetCommit held");
    }
    const SimBroker::Producer& producer = broker_.producers_[name_];
    if (producer.epoch != epoch_) return {Code::kTwin, "sim: fenced"};
    if (transaction_ != 0 && producer.transaction != transaction_)
      return Unavailable("INVALID_TXN_STATE");
    if (!broker_.ApplyReceipt(request)) return Unavailable("CONCURRENT_TRANSACTIONS");
    transaction_ = producer.transaction;
    if (fault == SimBroker::Fault::kCopied) broker_.late_.push_back(request);
    return fault == SimBroker::Fault::kAnswerLost ? Unavailable("answer lost") : Status::Ok();
  }

  Status Commit() override {
    if (!broker_.Tick()) return Unavailable("killed");
    const SimBroker::Late request{name_, epoch_, true, "", {}};
    const SimBroker::Fault fault = broker_.Draw(true);
    if (fault == SimBroker::Fault::kLost) return Unavailable("EndTxn lost");
    if (fault == SimBroker::Fault::kHeld) {
      broker_.late_.push_back(request);
      return Unavailable("EndTxn held");
    }
    const SimBroker::Producer& producer = broker_.producers_[name_];
    if (producer.epoch != epoch_) return {Code::kTwin, "sim: fenced"};
    if (producer.transaction != transaction_ || transaction_ == 0)
      return Unavailable("INVALID_TXN_STATE");
    bool applied = false;
    broker_.ApplyEnd(name_, epoch_, &applied);
    if (fault == SimBroker::Fault::kCopied) broker_.late_.push_back(request);
    // The process may die between the broker's act and its answer.
    if (!broker_.Tick()) return Unavailable("killed");
    return fault == SimBroker::Fault::kAnswerLost ? Unavailable("answer lost") : Status::Ok();
  }

 private:
  SimBroker& broker_;
  const std::string name_;
  const std::vector<std::string> topics_;
  uint64_t epoch_ = 0;
  uint64_t transaction_ = 0;
  Flushed flushed_;
};

class SimCluster : public connectors::TxnCluster {
 public:
  SimCluster(SimBroker& broker, std::vector<std::string> topics)
      : broker_(broker), topics_(std::move(topics)) {}

  void Reset() override {}
  Result<bool> Renew() override { return false; }
  Result<std::string> ClusterId() override {
    if (!Ask()) return Fail(Unavailable("away"));
    return std::string(kClusterId);
  }
  Result<protocol::Whereabouts> Describe() override {
    if (!Ask()) return Fail(Unavailable("away"));
    protocol::Whereabouts at{kClusterId, {}};
    for (const std::string& topic : topics_)
      at.topics.push_back({topic, "id-" + topic, std::vector<int64_t>(kPartitions, 0)});
    return at;
  }
  Result<std::unique_ptr<connectors::TxnProducer>> NewProducer(const std::string& name) override {
    if (!Ask()) return Fail(Unavailable("away"));
    bool pending = false;
    if (broker_.options_.mutant == Mutant::kReceiptReadFirst)
      early_ = broker_.Stable(name + "-receipt", &pending);
    return std::unique_ptr<connectors::TxnProducer>(
        std::make_unique<SimProducer>(broker_, name, topics_));
  }
  Result<std::vector<connectors::StoredReceipt>> ReadReceipts(const std::string& group) override {
    if (!Ask()) return Fail(Unavailable("away"));
    bool pending = false;
    const auto now = broker_.Stable(group, &pending);
    if (broker_.options_.mutant == Mutant::kReceiptReadFirst) return early_;
    if (pending) return Fail(Unavailable("UNSTABLE_OFFSET_COMMIT"));
    return now;
  }
  Result<protocol::Whereabouts> AskBegins(const protocol::Whereabouts& at) override {
    if (!Ask()) return Fail(Unavailable("away"));
    return at;
  }
  Result<protocol::Whereabouts> AskEnds(const protocol::Whereabouts& at) override {
    if (!Ask()) return Fail(Unavailable("away"));
    protocol::Whereabouts ends = at;
    for (protocol::TopicAt& topic : ends.topics) {
      const auto log = broker_.logs_.find(topic.name);
      for (size_t p = 0; p < topic.ends.size(); ++p)
        topic.ends[p] =
            log == broker_.logs_.end() ? 0 : static_cast<int64_t>(log->second[p].size());
    }
    return ends;
  }
  Status ReadHeaders(const protocol::Whereabouts& from, const protocol::Whereabouts& to,
                     const std::function<void(std::string_view)>& f) override {
    if (!Ask()) return Unavailable("away");
    for (size_t t = 0; t < to.topics.size(); ++t) {
      const auto log = broker_.logs_.find(to.topics[t].name);
      for (size_t p = 0; log != broker_.logs_.end() && p < to.topics[t].ends.size(); ++p) {
        for (int64_t i = from.topics[t].ends[p]; i < to.topics[t].ends[p]; ++i) {
          const SimBroker::Record& record = log->second[p][static_cast<size_t>(i)];
          const auto fate = broker_.fates_.find(record.transaction);
          if (fate == broker_.fates_.end()) return Unavailable("an open transaction");
          if (fate->second == SimBroker::Fate::kCommitted) f(record.visible.row_header);
        }
      }
    }
    return Status::Ok();
  }
  Result<bool> AnyCompacted() override { return false; }
  int64_t ReceiptRetentionMs() override { return 0; }

 private:
  bool Ask() { return broker_.Tick() && broker_.Draw(false) == SimBroker::Fault::kNone; }

  SimBroker& broker_;
  const std::vector<std::string> topics_;
  std::vector<connectors::StoredReceipt> early_;
};

std::unique_ptr<connectors::TxnCluster> SimBroker::Connect(std::vector<std::string> topics) {
  std::sort(topics.begin(), topics.end());
  return std::make_unique<SimCluster>(*this, std::move(topics));
}

}  // namespace weir::sim
