// Store: the state directory. One SQLite database (state.db, WAL, FULL, one connection), the spool,
// dead letters, the reserve. Knows epochs, runs, lineages, blobs and extents; knows no operator and
// no connector. docs/state-format.md describes what an operator sees.
//
// Threads: everything on the loop thread except Seal, Compact, WriteMarks (disk worker). The
// connection is guarded by one mutex, held for a whole transaction, so that a bucket read on the
// loop thread never sees half a seal.
//
// Files (all through io::Files): lock, state.db (+ -wal, -shm: only SQLite ever opens them),
// spool/SINK/NNNNNNNNNN.seg, dead/, reserve (4 MiB), status.sock.
#ifndef WEIR_STORE_STORE_H_
#define WEIR_STORE_STORE_H_

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "flow/books.h"
#include "flow/delivery.h"
#include "flow/operator.h"
#include "flow/sink.h"
#include "io/env.h"
#include "protocol/takeover.h"
#include "protocol/trace.h"
#include "protocol/types.h"
#include "protocol/whereabouts.h"

namespace weir::store {

inline constexpr uint32_t kApplicationId = 0x77656972;  // "weir"
// PRAGMA user_version. 1: no table target; 2: no watermarks in epoch.extents.
inline constexpr int kFormatVersion = 3;

struct OpenOptions {
  std::string directory;
  bool create = true;      // false: status, resolve on a directory that must exist
  bool read_only = false;  // status beside nothing running: changes nothing at all
  std::string pipeline;    // recorded when the directory is born
  std::string instance;
  std::string weir_version;  // recorded, so that an older binary can name the newer one
};

// Above this the log of state.db counts as held by a reader: degraded ("a reader holds the WAL").
// Without a reader it stays below a quarter of it.
inline constexpr uint64_t kWalDegradedBytes = 64 << 20;
inline constexpr uint64_t kReserveBytes = 4 << 20;

struct Asked {  // what the command line and the plan ask for
  bool fresh = false;
  bool discard_undelivered = false;
  std::optional<std::string> job;
  std::string canonical_plan;  // by `fingerprint_version`
  Digest256 fingerprint;
};

struct SinkState {  // what the newest epochs say of one sink
  std::string sink;
  std::string blob;  // Extent::blob of the newest epoch that has one for this sink in this lineage
  uint64_t rows_total = 0;  // sealed in this lineage
};

struct SealedEpoch {
  EpochId id = 0;
  Digest256 hash;
  std::string body;  // the runtime's JSON: watermarks, books
  std::vector<SinkState> sinks;
};

struct RunInfo {
  RunId run = 0;
  Lineage lineage;
  EpochId base = 0;        // of the lineage's fresh run
  EpochId sealed = 0;      // newest sealed epoch of the lineage at the start of this run
  EpochId next_epoch = 1;  // first free id
  bool fresh = false;
  bool last_unclean = false;
  std::string pipeline, instance;  // as recorded
};

struct LastRun {  // the newest run row
  RunId run = 0;
  bool fresh = false;
  std::string reason;  // of its takeover decision
  std::string ended;   // finished, stopped, parked; "": it died, or it runs
  int64_t started_ms = 0;
};

struct Backlog {  // sealed above A of a target
  std::string target;
  uint64_t epochs = 0;
  uint64_t rows = 0;
  std::map<std::string, uint64_t> by_sink;  // node name -> rows of them
};

struct AckedNote {  // A of a target; forgets F
  std::string target;
  protocol::TargetPosition position;
  std::optional<protocol::Receipt> seen;  // R_seen
  protocol::Whereabouts at = {};          // as of A; empty for targets without
  // Grows with every A of the target in this run, also with one that an operator's word takes back;
  // 0: as it was when the run began. A note that comes late is known by it.
  uint64_t order = 0;
};

struct InflightNote {  // F of a target
  std::string target;
  std::string session;                           // under which name it is delivered
  std::optional<protocol::TargetPosition> from;  // A
  protocol::TargetPosition to;
  protocol::Whereabouts at;  // before the first byte: where a scan begins
};

struct TargetNote {  // what is recorded of a target that has whereabouts, in this lineage
  std::string target;
  protocol::Whereabouts at;               // as of A, or of the first F
  std::optional<InflightNote> in_flight;  // F
};

struct FrozenSink {
  std::string sink;
  flow::Extent extent;
  std::string target;  // whose receipt proves the rows (AckedNote::target). "": the sink's own name
                       // when it has a spool, else the seal is the proof
  // The sink's watermark when the epoch before was cut: none of the rows is late that is above it
  // (time.md, "Watermarks travel"). Kept for targets that pass it on.
  TimestampMs watermark = kWatermarkNone;
};

struct FrozenState {
  std::string owner;  // node name
  flow::BucketDelta delta;
};

// A cut epoch, ready to be sealed. Immutable from the cut on; an attempt that met ENOSPC is
// repeated with the same object.
struct FrozenEpoch {
  EpochId id = 0;
  std::string body;
  std::string positions_digest_input;  // canonical bytes of the positions that changed (part of the
                                       // chain hash)
  std::vector<FrozenState> state;
  std::vector<FrozenSink> sinks;
  std::vector<AckedNote> acked;      // A's that moved since the last seal: durable with it
  std::vector<uint64_t> used_words;  // Resolution::id: what they told this run is durable with it
};

class Store {
 public:
  // Takeover step 1: locks (kBusy with the pid), reads application id and format version before
  // anything is changed, checkpoints after an unclean end, reads back pragmas, quick_check when the
  // boot id changed, looks for damage. kCorruption names file, offset, what is lost. On a full disk
  // it frees the reserve, and answers kNoSpace when that is not enough; so does BeginRun.
  static Result<std::unique_ptr<Store>> Open(const io::Env& env, const OpenOptions& options);
  ~Store();

  // Step 2. Facts change nothing.
  Result<protocol::TakeoverFacts> GatherFacts(const Asked& asked);
  std::string StoredCanonicalPlan() const;  // "" when none; for DescribeDifference
  std::optional<std::string> StoredJob() const;
  // Highest id that spool names and epoch rows show; the caller adds what sink files show.
  EpochId HighestEpochSeen() const;
  std::vector<protocol::LineageRecord> Lineages()
      const;  // every one that the directory ever had, oldest first
  std::vector<std::string> ClaimedPaths() const;  // sorted
  std::vector<protocol::Resolution> PendingResolutions() const;
  std::optional<SealedEpoch> NewestSealed() const;  // of the newest lineage, above its base
  std::vector<AckedNote> AckedNotes() const;        // of the newest lineage
  std::vector<TargetNote> TargetNotes() const;      // of the newest lineage
  // Session names that any lineage of this directory ever delivered under, sorted.
  std::vector<std::string> SessionNames() const;
  Result<Digest256> HashOf(const Lineage& lineage, EpochId epoch)
      const;  // kNotFound when no such sealed epoch (pruned below A: kNotFound too)
  Result<uint64_t> RowsOf(const std::string& sink,
                          EpochId epoch) const;  // of the newest lineage; 0 when the epoch has none
  // Epochs of the newest lineage from `from` on that have rows for one of `sinks`, ascending, at
  // most `limit`; rows by sink, in the order of `sinks`.
  struct EpochRows {
    EpochId epoch = 0;
    std::vector<uint64_t> rows;  // by sink, as asked
    uint64_t total = 0;
    std::vector<TimestampMs> watermarks;  // by sink: FrozenSink::watermark
  };
  Result<std::vector<EpochRows>> EpochsWithRows(const std::vector<std::string>& sinks, EpochId from,
                                                size_t limit) const;

  // The newest epoch of the run that sealed `epoch`; 0 asks for the run that began the lineage.
  // `epoch` itself (0: the base) where that is not known.
  Result<EpochId> EndOfRunOf(EpochId epoch) const;

  // For weir status of a directory that nobody runs in.
  std::optional<LastRun> NewestRun() const;
  Result<std::vector<Backlog>> Undelivered() const;  // of the newest lineage, by target
  std::vector<protocol::Park> NotedParks() const;    // of the newest run, as it noted them last

  // Step 3. Writes the run row (fresh: a new lineage from random bits) and claims the paths;
  // durable when OK. The operator's words stay pending: each is used up in the transaction that
  // makes durable what it was told for, so that a death in between asks nobody again.
  Status BeginRun(
      const Asked& asked, const protocol::TakeoverDecision& decision, EpochId base_if_fresh,
      const std::vector<std::pair<std::string, std::string>>& claims /* sink, absolute path */);
  // Before BeginRun: the newest run of the directory and what it left (run 0: none).
  const RunInfo& run() const;
  // kept for the life of the store; name = node name ("window:counts"); positions of a scan are
  // state like any other
  flow::StateReader& StateOf(const std::string& owner);

  // Disk worker: one transaction. On kNoSpace nothing happened and the same epoch may be tried
  // again; kBusy: another process holds the database, try again; any other failure is sticky
  // (kUnknownOutcome): every later write fails. Stages are already synced.
  Status Seal(const FrozenEpoch& epoch);
  flow::SealedProof Proof() const;  // through the newest sealed epoch
  // Disk worker, between two seals: merges one bucket whose deltas exceed its base, at most
  // `max_bytes` written; false when nothing is due.
  Result<bool> Compact(uint64_t max_bytes);
  // Disk worker: A's (with the words that moved them) and the finish marker outside a seal.
  Status WriteAcked(const std::vector<AckedNote>& notes,
                    const std::vector<uint64_t>& used_words = {});
  // Disk worker: F is durable when OK. `acked` (A's that are not durable yet) comes with it: an F
  // that began at an unknown A would be a gap.
  Status WriteInflight(const InflightNote& note, const std::vector<AckedNote>& acked,
                       const std::vector<uint64_t>& used_words = {});
  Status WriteFinished();
  Status WriteCleanStop();  // SIGTERM with everything sealed; a start after it need not quick_check
  Status WriteParkedEnd();  // likewise, of a bounded run that has only parks to wait for
  // What this run waits for somebody to decide, for a look when the process is gone.
  Status NoteParks(const std::vector<protocol::Park>& parks);

  // Operator's words, with the process stopped. `detail` is for people; where it begins with a
  // position ("50:12"), new ids start above that epoch
  // (--trust-sink).
  Status RecordResolution(protocol::Verb verb, const std::string& subject, const std::string& user,
                          int64_t wall_ms, const std::string& detail);

  // --adopt: the receipt found there becomes an ancestor's. A row of its own, below every run's.
  Status AdoptReceipt(const protocol::Receipt& receipt);

  // Disk full: gives the reserve back to the file system, and takes it again when there is room.
  void FreeReserve();
  void RestoreReserve();
  uint64_t WalBytes() const;
  const std::string& directory() const;

 private:
  Store();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// weir resolve --quarantine and weir.on-damage = quarantine: moves the directory aside (same
// parent), returns the new name.
Result<std::string> Quarantine(io::Files& files, const std::string& directory, int64_t wall_ms);

}  // namespace weir::store

#endif  // WEIR_STORE_STORE_H_
