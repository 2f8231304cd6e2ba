// Writes: the run row, seals, marks. Every one is a transaction of Impl::Transaction.
#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "io/fault.h"
#include "store/store_impl.h"

namespace weir::store {
namespace {

using sqlite::Statement;

constexpr uint64_t kCheckpointBytes = 4 << 20;  // a longer log is copied into the database

bool MayTryAgain(const Status& status) {
  return status.code() == Code::kNoSpace || status.code() == Code::kBusy;
}

}  // namespace

// Anything but "no space" and "locked" leaves unknown what is durable: stop using the files.
Status Store::Impl::Sticky(Status status) {
  if (!status.ok() && !MayTryAgain(status)) failure = status;
  return status;
}

Status Store::Impl::Transaction(const std::function<Status()>& body,
                                const std::function<Status()>& before_commit) {
  if (!failure.ok()) return failure;
  WEIR_RETURN_IF_ERROR(Sticky(database->Begin()));
  Status status = body();
  if (status.ok() && before_commit) status = before_commit();
  if (status.ok()) status = database->Commit();
  if (!status.ok()) {
    if (!MayTryAgain(status)) return Sticky(Damage(status));
    WEIR_RETURN_IF_ERROR(Sticky(database->Rollback()));
    return status;
  }
  wal_bytes = database->wal_bytes();
  return status;
}

// Our own rule instead of SQLite's: a failure here is no failure of the commit before it. A reader
// with an old snapshot holds the log; it then only grows, and WalBytes() shows it.
void Store::Impl::CheckpointIfDue() {
  if (!failure.ok() || database->wal_bytes() < kCheckpointBytes) return;
  const auto done = database->Checkpoint(sqlite::CheckpointMode::kPassive);
  if (!done) {
    const Status status = Sticky(done.error());
    LogWarning("checkpoint_failed", {{"error", status.message()}});
    return;
  }
  if (done->complete) wal_bytes = 0;  // the next commit starts the log over
}

Status Store::Impl::Run(std::string_view sql, const std::function<void(Statement&)>& bind) {
  WEIR_ASSIGN_OR_RETURN(Statement statement, database->Prepare(sql));
  if (bind) bind(statement);
  return statement.Run();
}

// An A that is durable already, or older than that: it travelled with an epoch whose seal waited
// for space while F, and A with it, were written. Writing it again would forget that F.
bool Store::Impl::IsStale(const AckedNote& note) const {
  const auto known = acked.find(note.target);
  if (known == acked.end()) return false;
  if (note.order != 0) return note.order <= known->second.order;
  if (note.position > known->second.position) return false;
  if (note.position < known->second.position) return true;
  const auto at = target_notes.find(note.target);
  return at == target_notes.end() ? note.at.Empty() : note.at == at->second.at;
}

Status Store::Impl::WriteNote(const AckedNote& note) {
  if (IsStale(note)) return Status::Ok();
  if (!note.at.Empty()) WEIR_RETURN_IF_ERROR(WriteWhereabouts(note));
  return Run("INSERT OR REPLACE INTO acked VALUES (?, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
    row.BindText(1, note.target)
        .BindInt(2, static_cast<int64_t>(note.position.epoch))
        .BindInt(3, static_cast<int64_t>(note.position.rows));
    if (!note.seen) return;  // what is not bound is NULL
    row.BindBlob(4, AsBytes(note.seen->lineage))
        .BindInt(5, static_cast<int64_t>(note.seen->position.epoch))
        .BindInt(6, static_cast<int64_t>(note.seen->position.rows))
        .BindBlob(7, AsBytes(note.seen->hash));
  });
}

// Where the target stands as of A; what was in flight is proven or forgotten with it.
Status Store::Impl::WriteWhereabouts(const AckedNote& note) {
  const std::string at = note.at.Encode();  // borrowed by the statement until it has run
  return Run(
      "INSERT INTO target (lineage, name, session, at) VALUES (?1, ?2, '', ?3) "
      "ON CONFLICT DO UPDATE SET at = ?3, from_epoch = NULL, from_rows = NULL, to_epoch = NULL, "
      "to_rows = NULL, since = NULL",
      [&](Statement& row) {
        row.BindInt(1, Current()->n).BindText(2, note.target).BindText(3, at);
      });
}

void Store::Impl::TakeNotes(const std::vector<AckedNote>& notes) {
  for (const AckedNote& note : notes) {
    if (IsStale(note)) continue;
    acked[note.target] = note;
    if (!note.at.Empty()) target_notes[note.target] = {note.target, note.at, std::nullopt};
  }
}

Status Store::Impl::UseWords(const std::vector<uint64_t>& ids) {
  for (const uint64_t id : ids) {
    WEIR_RETURN_IF_ERROR(Run("UPDATE resolution SET run = ? WHERE id = ?", [&](Statement& row) {
      row.BindInt(1, static_cast<int64_t>(run.run)).BindInt(2, static_cast<int64_t>(id));
    }));
  }
  return Status::Ok();
}

// A sink that the caller gave no target is its own when it has a spool: forgetting to say so must
// not make undelivered rows look delivered.
std::string Store::Impl::TargetOf(const FrozenSink& sink) {
  if (!sink.target.empty()) return sink.target;
  const auto known = has_spool.find(sink.sink);
  if (known != has_spool.end()) return known->second ? sink.sink : "";
  const bool there = env.files.Exists(io::JoinPath(Path("spool"), sink.sink));
  has_spool[sink.sink] = there;
  return there ? sink.sink : "";
}

Store::Impl::NewEpoch Store::Impl::PrepareEpoch(const FrozenEpoch& frozen) {
  NewEpoch out;
  std::map<std::string, StagePosition> stages;
  for (const StagePosition& stage : head.stages) stages[stage.sink] = stage;
  std::vector<EpochExtent> extents;
  for (const FrozenSink& sink : frozen.sinks) {
    StagePosition& stage = stages[sink.sink];
    stage.sink = sink.sink;
    stage.rows_total += sink.extent.rows;
    stage.blob = sink.extent.blob;
    extents.push_back(
        {sink.sink, TargetOf(sink), sink.extent.rows, sink.extent.digest, sink.watermark});
    if (!extents.back().target.empty()) out.targets.insert(extents.back().target);
  }
  for (auto& [name, stage] : stages) out.head.stages.push_back(std::move(stage));
  out.stages = EncodeStages(out.head.stages);
  out.extents = EncodeExtents(extents);
  out.digests = EncodeDigests({DigestBytes(frozen.positions_digest_input), DigestBytes(frozen.body),
                               DigestBytes(out.stages), words});
  out.head.epoch = frozen.id;
  out.head.run = run.run;
  out.head.body = frozen.body;
  out.head.hash = ChainHash(head.hash, run.lineage, frozen.id, out.digests, out.extents);
  return out;
}

// Inserts and deletes of state, and what the index in memory will be once they are committed.
Status Store::Impl::WriteState(const FrozenEpoch& frozen, NewEpoch& out) {
  WEIR_ASSIGN_OR_RETURN(Statement insert,
                        database->Prepare("INSERT INTO blob VALUES (?, ?, ?, 0, ?, ?, ?)"));
  WEIR_ASSIGN_OR_RETURN(Statement erase, database->Prepare("DELETE FROM blob WHERE id = ?"));
  out.next_blob_id = next_blob_id;
  for (const FrozenState& state : frozen.state) {
    const flow::BucketDelta& delta = state.delta;
    const BucketKey key{state.owner, delta.bucket};
    auto changed = out.buckets.find(key);
    if (changed == out.buckets.end()) {
      changed = out.buckets.emplace(key, BlobsOf(key)).first;
    }
    if (delta.dropped) {
      for (const BlobRef& blob : changed->second) {
        WEIR_RETURN_IF_ERROR(erase.BindInt(1, blob.id).Run());
      }
      changed->second.clear();
      if (merge && merge->key == key) {
        for (const BlobRef& part : merge->parts) {
          WEIR_RETURN_IF_ERROR(erase.BindInt(1, part.id).Run());
        }
        out.drops_merge = true;
      }
    }
    if (delta.blob.empty()) continue;
    const BlobRef blob{out.next_blob_id++, frozen.id, 0, delta.blob.size()};
    WEIR_RETURN_IF_ERROR(insert.BindInt(1, blob.id)
                             .BindText(2, state.owner)
                             .BindInt(3, static_cast<int64_t>(blob.epoch))
                             .BindInt(4, Crc32c(delta.blob))
                             .BindBlob(5, delta.bucket)
                             .BindBlob(6, delta.blob)
                             .Run());
    changed->second.push_back(blob);
  }
  return Status::Ok();
}

Status Store::Impl::WriteEpoch(const FrozenEpoch& frozen, const NewEpoch& epoch) {
  WEIR_RETURN_IF_ERROR(Run("INSERT INTO epoch VALUES (?, ?, ?, ?, ?, ?)", [&](Statement& row) {
    row.BindInt(1, static_cast<int64_t>(frozen.id))
        .BindInt(2, Current()->n)
        .BindInt(3, static_cast<int64_t>(run.run))
        .BindBlob(4, AsBytes(epoch.head.hash))
        .BindBlob(5, epoch.digests)
        .BindBlob(6, epoch.extents);
  }));
  WEIR_RETURN_IF_ERROR(Run("INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?)", [&](Statement& row) {
    row.BindInt(1, static_cast<int64_t>(frozen.id))
        .BindText(2, frozen.body)
        .BindBlob(3, epoch.stages);
  }));
  for (const AckedNote& note : frozen.acked) WEIR_RETURN_IF_ERROR(WriteNote(note));
  return UseWords(frozen.used_words);
}

void Store::Impl::ApplyEpoch(const FrozenEpoch& frozen, NewEpoch&& epoch) {
  head = std::move(epoch.head);
  words.reset();
  next_blob_id = epoch.next_blob_id;
  if (epoch.drops_merge) merge.reset();
  targets.merge(epoch.targets);
  for (auto& [key, refs] : epoch.buckets) SetBlobs(key, std::move(refs));
  TakeNotes(frozen.acked);
}

// An attempt that answered "no space" may have reached the disk all the same; then what is there
// is equal, and a second attempt has nothing to do.
Result<bool> Store::Impl::AlreadySealed(const NewEpoch& epoch) {
  if (unsure != epoch.head.epoch) return false;
  WEIR_ASSIGN_OR_RETURN(Statement query, database->Prepare("SELECT hash FROM epoch WHERE id = ?"));
  query.BindInt(1, static_cast<int64_t>(epoch.head.epoch));
  WEIR_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return false;
  if (query.Blob(0) != AsBytes(epoch.head.hash)) {
    return Fail(Code::kUnknownOutcome,
                "epoch " + std::to_string(epoch.head.epoch) + " is sealed with another content");
  }
  return true;
}

Status Store::Seal(const FrozenEpoch& frozen) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  CHECK(impl.begun);
  CHECK(frozen.id > impl.head.epoch && frozen.id >= impl.run.next_epoch);
  if (!impl.failure.ok()) return impl.failure;
  Impl::NewEpoch epoch = impl.PrepareEpoch(frozen);
  const Result<bool> there = impl.AlreadySealed(epoch);
  if (!there) return impl.Sticky(there.error());
  if (*there) {
    impl.unsure.reset();
    impl.TakeNotes(frozen.acked);
    impl.words.reset();
    WEIR_RETURN_IF_ERROR(impl.Sticky(impl.LoadHead()));
    return impl.Sticky(impl.LoadBlobIndex());
  }
  impl.unsure = frozen.id;
  const auto write = [&]() -> Status {
    WEIR_RETURN_IF_ERROR(impl.WriteState(frozen, epoch));
    return impl.WriteEpoch(frozen, epoch);
  };
  WEIR_RETURN_IF_ERROR(impl.Transaction(
      write, [] { return WEIR_FAULT_POINT("seal.before_commit").ToStatus("seal.before_commit"); }));
  WEIR_RETURN_IF_ERROR(
      impl.Sticky(WEIR_FAULT_POINT("seal.after_commit").ToStatus("seal.after_commit")));
  impl.unsure.reset();
  impl.ApplyEpoch(frozen, std::move(epoch));
  impl.CheckpointIfDue();
  return Status::Ok();
}

flow::SealedProof Store::Proof() const {
  const std::lock_guard hold(impl_->mutex);
  return flow::SealedProof(impl_->run.lineage, impl_->head.epoch);
}

Status Store::WriteAcked(const std::vector<AckedNote>& notes,
                         const std::vector<uint64_t>& used_words) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  WEIR_RETURN_IF_ERROR(impl.Transaction([&]() -> Status {
    for (const AckedNote& note : notes) WEIR_RETURN_IF_ERROR(impl.WriteNote(note));
    return impl.UseWords(used_words);
  }));
  impl.TakeNotes(notes);
  impl.CheckpointIfDue();
  return Status::Ok();
}

Status Store::WriteInflight(const InflightNote& note, const std::vector<AckedNote>& notes,
                            const std::vector<uint64_t>& used_words) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  CHECK(impl.begun);
  const int64_t lineage = impl.Current()->n;
  const std::string at = note.at.Encode();
  const auto write = [&]() -> Status {
    for (const AckedNote& acked : notes) WEIR_RETURN_IF_ERROR(impl.WriteNote(acked));
    WEIR_RETURN_IF_ERROR(impl.UseWords(used_words));
    // One row a session name is all that a fresh run needs of its ancestors.
    WEIR_RETURN_IF_ERROR(
        impl.Run("DELETE FROM target WHERE lineage <> ? AND session IN (?, '')",
                 [&](Statement& row) { row.BindInt(1, lineage).BindText(2, note.session); }));
    return impl.Run(
        "INSERT INTO target VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?4) ON CONFLICT DO UPDATE SET "
        "session = ?3, at = CASE WHEN ?5 IS NULL THEN ?4 ELSE at END, "  // without A, F says where
        "from_epoch = ?5, from_rows = ?6, to_epoch = ?7, to_rows = ?8, since = ?4",
        [&](Statement& row) {
          row.BindInt(1, lineage)
              .BindText(2, note.target)
              .BindText(3, note.session)
              .BindText(4, at)
              .BindInt(7, static_cast<int64_t>(note.to.epoch))
              .BindInt(8, static_cast<int64_t>(note.to.rows));
          if (!note.from) return;  // what is not bound is NULL
          row.BindInt(5, static_cast<int64_t>(note.from->epoch))
              .BindInt(6, static_cast<int64_t>(note.from->rows));
        });
  };
  WEIR_RETURN_IF_ERROR(impl.Transaction(write));
  impl.TakeNotes(notes);
  TargetNote& known = impl.target_notes[note.target];
  if (known.target.empty() || !note.from) known = {note.target, note.at, std::nullopt};
  known.in_flight = note;
  impl.sessions.insert(note.session);
  impl.CheckpointIfDue();
  return Status::Ok();
}

Status Store::Impl::WriteEnd(const char* how) {
  const std::lock_guard hold(mutex);
  CHECK(begun);
  WEIR_RETURN_IF_ERROR(Transaction([&] {
    return Run("UPDATE run SET ended = ? WHERE id = ?", [&](Statement& row) {
      row.BindText(1, how).BindInt(2, static_cast<int64_t>(run.run));
    });
  }));
  newest_run->ended = how;
  return Status::Ok();
}

Status Store::WriteFinished() { return impl_->WriteEnd("finished"); }
Status Store::WriteCleanStop() { return impl_->WriteEnd("stopped"); }
Status Store::WriteParkedEnd() { return impl_->WriteEnd("parked"); }

// In meta, since it is for people only: a line for the run, then one for each park.
Status Store::NoteParks(const std::vector<protocol::Park>& parks) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  CHECK(impl.begun);
  std::string text = "run " + std::to_string(impl.run.run);
  for (const protocol::Park& park : parks) text += "\n" + protocol::ParkedEvent(park).ToJson();
  WEIR_RETURN_IF_ERROR(impl.Transaction([&] {
    return impl.Run("INSERT OR REPLACE INTO meta VALUES ('parks', ?)",
                    [&](Statement& row) { row.BindText(1, text); });
  }));
  impl.parks = std::move(text);
  return Status::Ok();
}

}  // namespace weir::store
