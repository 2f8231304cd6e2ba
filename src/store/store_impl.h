// What the .cc files of Store share. Not included by anybody else.
#ifndef WEIR_STORE_STORE_IMPL_H_
#define WEIR_STORE_STORE_IMPL_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sqlite/database.h"
#include "store/chain.h"
#include "store/store.h"

namespace weir::store {

// A blob of state, as it lies in the table. Kept in memory so that a seal needs no index on disk.
struct BlobRef {
  int64_t id = 0;
  EpochId epoch = 0;
  int64_t part = 0;
  uint64_t bytes = 0;
};
using BucketBlobs = std::vector<BlobRef>;               // oldest first: by (epoch, part)
using OwnerBlobs = std::map<std::string, BucketBlobs>;  // by bucket
using BlobIndex = std::map<std::string, OwnerBlobs>;    // by owner
using BucketKey = std::pair<std::string, std::string>;  // owner, bucket

struct LineageRow {
  int64_t n = 0;
  protocol::LineageRecord record;
  bool adopted = false;
  std::optional<std::string> job;
};

struct RunRow {
  RunId id = 0;
  int64_t lineage = 0;
  std::string boot_id;
  std::string ended;  // "": it died
  bool fresh = false;
  std::string reason;
  int64_t started_ms = 0;
};

// The newest sealed epoch of the current lineage; epoch 0: none.
struct Head {
  EpochId epoch = 0;
  RunId run = 0;
  Digest256 hash;
  std::string body;
  std::vector<StagePosition> stages;
};

// A large bucket on its way to its merged form: parts are written between seals, invisible (part
// below 0) until the last one is there.
struct Merge {
  BucketKey key;
  BucketBlobs inputs;
  uint32_t next_slot = 0;
  BucketBlobs parts;  // written, in slot order
};

struct Store::Impl {
  Impl(const io::Env& environment, const OpenOptions& open_options)
      : env(environment), options(open_options), directory(open_options.directory) {}

  // ---- directory.cc: the files around the database ----
  std::string Path(std::string_view name) const { return io::JoinPath(directory, name); }
  Status EnterDirectory();
  Status TakeLock();
  Status WritePid();
  std::string Artifacts() const;  // what only a run makes, for messages; "" when there is nothing
  Status CheckSpoolFormats();
  EpochId HighestSpoolName() const;

  // ---- open.cc ----
  Status Open();
  Status CheckFormat();
  Status RefuseNewerFormat(const sqlite::OpenOptions& read_only);
  Status CreateDatabase();
  Status OpenDatabase();
  Status SettleUncleanEnd();
  Status Damage(const Status& found) const;

  // ---- load.cc: what the tables say, into memory ----
  Status Load();
  Status LoadMeta();
  Status LoadLineages();
  Status LoadRun();
  Status LoadHead();
  Status LoadTargets();
  Status LoadBlobIndex();
  Status LoadAcked();
  Status LoadTargetNotes();
  Status LoadWords();

  const LineageRow* Current() const;  // of the newest run; null: none
  EpochId HighestEpochSeen() const;
  // Each sink that has a target, in each sealed epoch of the newest lineage: its rows above A.
  using Undelivered = std::function<void(EpochId, const EpochExtent&, uint64_t rows)>;
  Status ForEachUndelivered(const Undelivered& f) const;

  // ---- begin_run.cc ----
  using Claims = std::vector<std::pair<std::string, std::string>>;  // sink, absolute path
  Status Migrate();
  Status WriteBeginning(const Asked& asked, const std::string& reason, EpochId base_if_fresh,
                        const Claims& new_claims, RunInfo& info,
                        std::optional<Digest256>& new_words);
  Status LoadBeginning(bool fresh);
  Status WriteFreshLineage(const Asked& asked, EpochId base, LineageRow& fresh);
  Status WriteRunRow(const RunInfo& info, int64_t lineage_n, const std::string& reason,
                     const std::optional<Digest256>& new_words);
  Result<std::optional<Digest256>> DigestWords();

  // ---- seal.cc ----
  // A seal on its way: what memory will be when its transaction has committed.
  struct NewEpoch {
    Head head;
    std::string stages, extents, digests;  // encoded
    std::map<BucketKey, BucketBlobs> buckets;
    std::set<std::string> targets;
    int64_t next_blob_id = 0;
    bool drops_merge = false;
  };
  NewEpoch PrepareEpoch(const FrozenEpoch& frozen);
  std::string TargetOf(const FrozenSink& sink);
  Status WriteState(const FrozenEpoch& frozen, NewEpoch& out);
  Status WriteEpoch(const FrozenEpoch& frozen, const NewEpoch& epoch);
  void ApplyEpoch(const FrozenEpoch& frozen, NewEpoch&& epoch);
  Result<bool> AlreadySealed(const NewEpoch& epoch);
  bool IsStale(const AckedNote& note) const;
  Status WriteNote(const AckedNote& note);
  Status WriteWhereabouts(const AckedNote& note);
  void TakeNotes(const std::vector<AckedNote>& notes);  // memory is what was committed
  Status UseWords(const std::vector<uint64_t>& ids);
  Status WriteEnd(const char* how);

  // ---- compact.cc ----
  BucketBlobs BlobsOf(const BucketKey& key) const;
  void SetBlobs(const BucketKey& key, BucketBlobs refs);
  // Calls `f` with each blob, in the given order, its CRC checked.
  Status ReadBlobs(const BucketKey& key, const BucketBlobs& refs,
                   const std::function<Status(std::string_view)>& f);
  Status MergeSmall(const BucketKey& key, const BucketBlobs& inputs);
  Status MergeSlice(uint64_t max_bytes);
  Status WriteBlob(const BucketKey& key, const BlobRef& ref, std::string_view data);
  Status PruneEpochs();

  // ---- transactions ----
  // BEGIN IMMEDIATE, body, COMMIT. kNoSpace and kBusy: rolled back, may be tried again. Everything
  // else sticks. `before_commit`: the fault point in front of COMMIT, or "".
  Status Transaction(const std::function<Status()>& body,
                     const std::function<Status()>& before_commit = nullptr);
  Status Sticky(Status status);
  void CheckpointIfDue();
  Status Run(std::string_view sql, const std::function<void(sqlite::Statement&)>& bind = nullptr);

  io::Env env;
  OpenOptions options;
  std::string directory;
  std::unique_ptr<io::File> lock;
  // Held for a whole transaction, so that a bucket read on the loop thread never sees half a seal.
  mutable std::mutex mutex;
  std::unique_ptr<sqlite::Database> database;
  Status failure;
  std::atomic<uint64_t> wal_bytes{0};

  // As of the last commit.
  std::string pipeline, instance, plan, fingerprint_hex;
  std::string parks;  // as NoteParks wrote them
  std::vector<LineageRow> lineages;
  std::optional<RunRow> newest_run;
  Head head;
  BlobIndex blobs;
  int64_t next_blob_id = 1;
  std::set<BucketKey> due;  // buckets whose deltas have outgrown their base
  std::optional<Merge> merge;
  std::map<std::string, AckedNote> acked;
  std::map<std::string, TargetNote> target_notes;  // of the current lineage
  std::set<std::string> sessions;                  // of every lineage
  std::vector<std::string> claims;
  std::vector<protocol::Resolution> pending;
  EpochId words_epoch = 0;        // the highest position that an operator's word names
  std::optional<EpochId> unsure;  // an epoch whose COMMIT may have happened although Seal failed

  // This run; valid after BeginRun.
  bool begun = false;
  RunInfo run;
  std::optional<Digest256> words;  // for the next epoch's hash
  std::map<std::string, bool> has_spool;
  std::set<std::string> targets;  // that some sealed epoch of this lineage names
  EpochId pruned_below = 0;
  std::map<std::string, std::unique_ptr<flow::StateReader>> readers;  // loop thread
};

// Whether the deltas of a bucket have outgrown its base (its blobs of the oldest epoch).
bool CompactionDue(const BucketBlobs& blobs);

}  // namespace weir::store

#endif  // WEIR_STORE_STORE_IMPL_H_
