#include "connectors/kafka/mutant_cluster.h"

#if defined(WEIR_FAULTS) && WEIR_FAULTS

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "io/process.h"

namespace weir::connectors {
namespace {

enum class Mutant { kTwice, kDropped, kAltered, kReceiptFirst, kReused };

struct Name {
  const char* name;
  Mutant mutant;
};
constexpr std::array<Name, 5> kNames = {{{"twice", Mutant::kTwice},
                                         {"dropped", Mutant::kDropped},
                                         {"altered", Mutant::kAltered},
                                         {"receipt-first", Mutant::kReceiptFirst},
                                         {"reused", Mutant::kReused}}};

// A record that outlives the call, to be sent once more.
struct OwnedRecord {
  explicit OwnedRecord(const TxnRecord& record)
      : plain(record),
        row_header(record.row_header),
        watermark_header(record.watermark_header),
        has_key(record.key),
        has_value(record.value) {
    if (has_key) key = *record.key;
    if (has_value) value = *record.value;
  }
  TxnRecord Borrow() const {
    TxnRecord record = plain;
    record.key = has_key ? std::optional<std::string_view>(key) : std::nullopt;
    record.value = has_value ? std::optional<std::string_view>(value) : std::nullopt;
    record.row_header = row_header;
    record.watermark_header = watermark_header;
    return record;
  }
  TxnRecord plain;
  std::string key, value, row_header, watermark_header;
  bool has_key, has_value;
};

// What several deliveries of one mutant share.
struct Shared {
  Mutant mutant;
  std::unique_ptr<TxnCluster> cluster;
  std::shared_ptr<TxnProducer> reused;                      // kReused: of the first delivery
  std::optional<Result<std::vector<StoredReceipt>>> early;  // kReceiptFirst
  std::string group;                                        // of the last receipt that was read
};

class MutantProducer : public TxnProducer {
 public:
  MutantProducer(Shared& shared, std::shared_ptr<TxnProducer> inner, bool begun)
      : shared_(shared), inner_(std::move(inner)), begun_(begun) {}

  std::string cluster() const override { return inner_->cluster(); }
  Status Init() override {
    if (begun_) return Status::Ok();
    if (shared_.mutant == Mutant::kReceiptFirst)
      shared_.early = shared_.cluster->ReadReceipts(shared_.group);
    return inner_->Init();
  }
  std::optional<ProducerIdentity> identity() const override { return inner_->identity(); }
  Status Begin() override { return inner_->Begin(); }

  Status Produce(const TxnRecord& record) override {
    ++produced_;
    if (shared_.mutant == Mutant::kDropped && produced_ == 1) return Status::Ok();
    if (shared_.mutant == Mutant::kTwice) kept_.emplace_back(record);
    if (shared_.mutant != Mutant::kAltered || !record.value) return inner_->Produce(record);
    std::string value(*record.value);
    const size_t digit = value.find_last_of("0123456789");
    if (digit != std::string::npos) value[digit] = value[digit] == '9' ? '0' : value[digit] + 1;
    TxnRecord altered = record;
    altered.value = value;
    return inner_->Produce(altered);
  }

  // As many as were handed over: whoever counts is not to notice.
  Result<Flushed> Flush() override {
    auto flushed = inner_->Flush();
    if (flushed) flushed->records = produced_;
    return flushed;
  }
  Status SendReceipt(const std::string& group, const std::string& key_topic, EpochId epoch,
                     const std::string& text) override {
    return inner_->SendReceipt(group, key_topic, epoch, text);
  }
  Status Commit() override {
    WEIR_RETURN_IF_ERROR(inner_->Commit());
    if (kept_.empty()) return Status::Ok();
    WEIR_RETURN_IF_ERROR(inner_->Begin());
    for (const OwnedRecord& record : kept_) WEIR_RETURN_IF_ERROR(inner_->Produce(record.Borrow()));
    if (const auto flushed = inner_->Flush(); !flushed) return flushed.error();
    return inner_->Commit();
  }

 private:
  Shared& shared_;
  std::shared_ptr<TxnProducer> inner_;
  bool begun_;
  uint64_t produced_ = 0;
  std::vector<OwnedRecord> kept_;
};

class MutantCluster : public TxnCluster {
 public:
  MutantCluster(Mutant mutant, std::unique_ptr<TxnCluster> cluster)
      : shared_{mutant, std::move(cluster), nullptr, std::nullopt, ""} {}

  void Reset() override { shared_.cluster->Reset(); }
  Result<bool> Renew() override { return shared_.cluster->Renew(); }
  Result<std::string> ClusterId() override { return shared_.cluster->ClusterId(); }
  Result<protocol::Whereabouts> Describe() override { return shared_.cluster->Describe(); }
  Result<std::unique_ptr<TxnProducer>> NewProducer(const std::string& name) override {
    const bool begun = shared_.reused != nullptr;
    std::shared_ptr<TxnProducer> inner = shared_.reused;
    if (inner == nullptr) {
      WEIR_ASSIGN_OR_RETURN(inner, shared_.cluster->NewProducer(name));
      shared_.group = name + "-receipt";
      if (shared_.mutant == Mutant::kReused) shared_.reused = inner;
    }
    return std::make_unique<MutantProducer>(shared_, std::move(inner), begun);
  }
  Result<std::vector<StoredReceipt>> ReadReceipts(const std::string& group) override {
    if (!shared_.early) return shared_.cluster->ReadReceipts(group);
    auto early = std::move(*shared_.early);
    shared_.early.reset();
    return early;
  }
  Result<protocol::Whereabouts> AskBegins(const protocol::Whereabouts& at) override {
    return shared_.cluster->AskBegins(at);
  }
  Result<protocol::Whereabouts> AskEnds(const protocol::Whereabouts& at) override {
    return shared_.cluster->AskEnds(at);
  }
  Status ReadHeaders(const protocol::Whereabouts& from, const protocol::Whereabouts& to,
                     const std::function<void(std::string_view row_header)>& f) override {
    return shared_.cluster->ReadHeaders(from, to, f);
  }
  Result<bool> AnyCompacted() override { return shared_.cluster->AnyCompacted(); }
  int64_t ReceiptRetentionMs() override { return shared_.cluster->ReceiptRetentionMs(); }

 private:
  Shared shared_;
};

}  // namespace

Result<std::unique_ptr<TxnCluster>> MaybeMutant(std::unique_ptr<TxnCluster> cluster) {
  const std::optional<std::string> wanted = io::GetEnvironment("WEIR_MUTANT");
  if (!wanted) return cluster;
  const auto name = std::find_if(kNames.begin(), kNames.end(),
                                 [&](const Name& one) { return *wanted == one.name; });
  if (name == kNames.end())
    return Fail(Code::kUsage, "WEIR_MUTANT: there is no mutant '" + *wanted + "'");
  LogWarning("mutant", {{"name", *wanted}});
  return std::unique_ptr<TxnCluster>(
      std::make_unique<MutantCluster>(name->mutant, std::move(cluster)));
}

}  // namespace weir::connectors

#endif
