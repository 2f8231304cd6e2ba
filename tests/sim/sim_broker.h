// SimBroker: a Kafka cluster with transactions, fencing and receipts, in memory, that loses, delays
// and repeats what the real one's network can: an EndTxn that is applied while its answer is lost,
// one that arrives when its sender is long dead, a copy of a TxnOffsetCommit inside a later
// transaction, markers that are written late, a transaction that times out, a receipt that expires.
// Everything by seed. It outlives the process that talks to it.
//
// Not a Kafka protocol: it stands behind TxnCluster. What real brokers do is measured elsewhere
// (tests/kafka); here the order of the steps and the engine's notes are held against every mixture.
#ifndef WEIR_TESTS_SIM_SIM_BROKER_H_
#define WEIR_TESTS_SIM_SIM_BROKER_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kafka/txn_cluster.h"
#include "io/sim_clock.h"

namespace weir::sim {

// A rule of the protocol that is switched off.
enum class Mutant {
  kNone,
  kReceiptReadFirst,  // the receipt is read before the producer has fenced
  kProducerReused     // a new delivery goes on under the producer epoch of the last one
};

struct SimBrokerOptions {
  uint64_t seed = 1;
  uint32_t one_in = 12;  // of so many requests one meets a fault; 0: none
  bool expire = false;   // receipts vanish now and then
  Mutant mutant = Mutant::kNone;
};

class SimBroker {
 public:
  explicit SimBroker(const SimBrokerOptions& options) : options_(options), random_(options.seed) {}

  // What a process holds of the cluster; one for each life.
  std::unique_ptr<connectors::TxnCluster> Connect(std::vector<std::string> topics);
  // The process dies at the Nth request from now on (0: never): every later one fails.
  void KillAt(uint64_t n) { kill_in_ = n; }
  bool killed() const { return killed_; }
  void NextLife() { killed_ = false; }
  void SetFaults(uint32_t one_in) { options_.one_in = one_in; }

  struct Visible {
    std::string value;
    std::string row_header;
  };
  // What a read_committed reader sees, by topic and partition. Settles what is on its way first.
  std::vector<Visible> Read();
  uint64_t requests() const { return requests_; }
  uint64_t late_applied() const { return late_applied_; }

 private:
  friend class SimProducer;
  friend class SimCluster;

  enum class Fate { kOpen, kCommitted, kAborted };
  struct Record {
    Visible visible;
    uint64_t transaction = 0;
  };
  struct Stored {
    std::string topic, text;
  };
  struct Producer {  // what the coordinator knows under one name
    uint64_t epoch = 0;
    uint64_t transaction = 0;  // open or prepared; 0: none
    bool prepared = false;     // committed, markers not written yet
    std::string group;         // of the receipt in it
    std::optional<Stored> receipt;
  };
  struct Late {  // a request that is still on its way
    std::string name;
    uint64_t epoch = 0;
    bool is_end = false;  // EndTxn, else TxnOffsetCommit
    std::string group;
    Stored receipt;
  };
  enum class Fault { kNone, kLost, kAnswerLost, kHeld, kCopied };

  // Before every request: what else happens in the cluster. False: the process is dead.
  bool Tick();
  Fault Draw(bool may_be_late);
  void WriteMarkers(Producer& producer);
  void Abort(Producer& producer);
  void Apply(const Late& late);
  void ApplyEnd(const std::string& name, uint64_t epoch, bool* applied);
  bool ApplyReceipt(const Late& late);
  std::vector<connectors::StoredReceipt> Stable(const std::string& group, bool* pending) const;

  SimBrokerOptions options_;
  io::SimRandom random_;
  std::map<std::string, Producer> producers_;
  std::map<uint64_t, Fate> fates_;
  std::map<std::string, std::vector<std::vector<Record>>> logs_;      // by topic, partition
  std::map<std::string, std::map<std::string, std::string>> groups_;  // receipts by key topic
  std::vector<Late> late_;
  uint64_t next_transaction_ = 1;
  uint64_t kill_in_ = 0;
  bool killed_ = false;
  uint64_t requests_ = 0, late_applied_ = 0;
};

}  // namespace weir::sim

#endif  // WEIR_TESTS_SIM_SIM_BROKER_H_
