// Reads the tables into memory, and answers the questions of takeover step 2 from there.
#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/text.h"
#include "store/store_impl.h"

namespace weir::store {
namespace {

Status BadRow(const std::string& directory, std::string_view table, int64_t id) {
  return Status(Code::kCorruption, io::JoinPath(directory, "state.db") + ": table " +
                                       std::string(table) + ", row " + std::to_string(id) +
                                       " is damaged");
}

// Calls `row` for each row of a query.
Status ForEachRow(sqlite::Database& database, std::string_view sql,
                  const std::function<Status(const sqlite::Statement&)>& row) {
  WEIR_ASSIGN_OR_RETURN(auto statement, database.Prepare(sql));
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const bool more, statement.Step());
    if (!more) return Status::Ok();
    WEIR_RETURN_IF_ERROR(row(statement));
  }
}

}  // namespace

Status Store::Impl::Load() {
  const std::lock_guard hold(mutex);
  if (database->was_empty() && options.read_only) {
    return Status(Code::kNotFound, "no state in " + directory);
  }
  WEIR_RETURN_IF_ERROR(LoadMeta());
  WEIR_RETURN_IF_ERROR(LoadLineages());
  WEIR_RETURN_IF_ERROR(LoadRun());
  WEIR_RETURN_IF_ERROR(LoadHead());
  WEIR_RETURN_IF_ERROR(LoadBlobIndex());
  WEIR_RETURN_IF_ERROR(LoadAcked());
  WEIR_RETURN_IF_ERROR(LoadTargetNotes());
  WEIR_RETURN_IF_ERROR(LoadWords());
  // What a start asks for before its own run row: who the directory is, and what it would resume.
  run = {};
  run.pipeline = pipeline;
  run.instance = instance;
  if (const LineageRow* current = Current()) {
    run.run = newest_run->id;
    run.last_unclean = newest_run->ended.empty();
    run.lineage = current->record.lineage;
    run.base = current->record.base;
    run.sealed = head.epoch;
  }
  return Status::Ok();
}

Status Store::Impl::LoadMeta() {
  return ForEachRow(*database, "SELECT key, value FROM meta", [&](const sqlite::Statement& row) {
    const std::string_view key = row.Text(0);
    if (key == "pipeline") pipeline = row.Text(1);
    if (key == "instance") instance = row.Text(1);
    if (key == "parks") parks = row.Text(1);
    if (key == "plan.canonical") plan = row.Text(1);
    if (key == "plan.fingerprint") fingerprint_hex = row.Text(1);
    return Status::Ok();
  });
}

Status Store::Impl::LoadLineages() {
  lineages.clear();
  return ForEachRow(*database,
                    "SELECT n, id, base, job, last_sealed, last_hash FROM lineage ORDER BY n",
                    [&](const sqlite::Statement& row) {
                      LineageRow out;
                      out.n = row.Int(0);
                      const std::optional<Lineage> id = LineageFromBytes(row.Blob(1));
                      if (!id) return BadRow(directory, "lineage", out.n);
                      out.record.lineage = *id;
                      out.adopted = row.IsNull(2);
                      out.record.base = static_cast<EpochId>(row.Int(2));
                      if (!row.IsNull(3)) out.job = std::string(row.Text(3));
                      out.record.last_sealed = static_cast<EpochId>(row.Int(4));
                      if (!row.IsNull(5)) {
                        const std::optional<Digest256> hash = Digest256FromBytes(row.Blob(5));
                        if (!hash) return BadRow(directory, "lineage", out.n);
                        out.record.last_hash = *hash;
                      }
                      lineages.push_back(std::move(out));
                      return Status::Ok();
                    });
}

Status Store::Impl::LoadRun() {
  newest_run.reset();
  return ForEachRow(*database,
                    "SELECT id, lineage, boot_id, ended, mode, reason, started_ms FROM run "
                    "ORDER BY id DESC LIMIT 1",
                    [&](const sqlite::Statement& row) {
                      newest_run = RunRow{static_cast<RunId>(row.Int(0)),
                                          row.Int(1),
                                          std::string(row.Text(2)),
                                          std::string(row.Text(3)),
                                          row.Text(4) == "fresh",
                                          std::string(row.Text(5)),
                                          row.Int(6)};
                      if (Current() == nullptr) return BadRow(directory, "run", row.Int(0));
                      return Status::Ok();
                    });
}

Status Store::Impl::LoadHead() {
  head = {};
  WEIR_RETURN_IF_ERROR(ForEachRow(
      *database, "SELECT epoch, body, sinks FROM head", [&](const sqlite::Statement& row) {
        head.epoch = static_cast<EpochId>(row.Int(0));
        head.body = row.Text(1);
        std::optional<std::vector<StagePosition>> stages = DecodeStages(row.Blob(2));
        if (!stages) return BadRow(directory, "head", 1);
        head.stages = std::move(*stages);
        return Status::Ok();
      }));
  WEIR_RETURN_IF_ERROR(LoadTargets());
  // The row that belongs to it, and no newer one: both came in one transaction.
  EpochId newest = 0;
  WEIR_RETURN_IF_ERROR(
      ForEachRow(*database, "SELECT id, run, hash FROM epoch ORDER BY id DESC LIMIT 1",
                 [&](const sqlite::Statement& row) {
                   newest = static_cast<EpochId>(row.Int(0));
                   head.run = static_cast<RunId>(row.Int(1));
                   const std::optional<Digest256> hash = Digest256FromBytes(row.Blob(2));
                   if (!hash) return BadRow(directory, "epoch", row.Int(0));
                   head.hash = *hash;
                   return Status::Ok();
                 }));
  if (newest != head.epoch) return BadRow(directory, "head", 1);
  return Status::Ok();
}

Status Store::Impl::LoadTargets() {
  targets.clear();
  pruned_below = 0;
  return ForEachRow(*database, "SELECT id, extents FROM epoch ORDER BY id",
                    [&](const sqlite::Statement& row) {
                      if (pruned_below == 0) pruned_below = static_cast<EpochId>(row.Int(0));
                      const auto extents = DecodeExtents(row.Blob(1));
                      if (!extents) return BadRow(directory, "epoch", row.Int(0));
                      for (const EpochExtent& extent : *extents) {
                        if (!extent.target.empty()) targets.insert(extent.target);
                      }
                      return Status::Ok();
                    });
}

Status Store::Impl::LoadBlobIndex() {
  blobs.clear();
  due.clear();
  next_blob_id = 1;
  // length() of a blob reads the row's header only: megabytes of state stay where they are.
  WEIR_RETURN_IF_ERROR(ForEachRow(
      *database,
      "SELECT id, owner, epoch, part, bucket, length(data) FROM blob ORDER BY epoch, part, id",
      [&](const sqlite::Statement& row) {
        next_blob_id = std::max(next_blob_id, row.Int(0) + 1);
        if (row.Int(3) < 0) return Status::Ok();  // a merge that was not finished
        blobs[std::string(row.Text(1))][std::string(row.Blob(4))].push_back(
            {row.Int(0), static_cast<EpochId>(row.Int(2)), row.Int(3),
             static_cast<uint64_t>(row.Int(5))});
        return Status::Ok();
      }));
  for (const auto& [owner, buckets] : blobs) {
    for (const auto& [bucket, refs] : buckets) {
      if (CompactionDue(refs)) due.insert({owner, bucket});
    }
  }
  return Status::Ok();
}

Status Store::Impl::LoadAcked() {
  acked.clear();
  return ForEachRow(
      *database,
      "SELECT target, epoch, rows, seen_lineage, seen_epoch, seen_rows, seen_hash FROM acked",
      [&](const sqlite::Statement& row) {
        AckedNote note;
        note.target = row.Text(0);
        note.position = {static_cast<EpochId>(row.Int(1)), static_cast<uint64_t>(row.Int(2))};
        if (!row.IsNull(3)) {
          const std::optional<Lineage> lineage = LineageFromBytes(row.Blob(3));
          const std::optional<Digest256> hash = Digest256FromBytes(row.Blob(6));
          if (!lineage || !hash) return BadRow(directory, "acked", 0);
          note.seen = protocol::Receipt{
              *lineage,
              {static_cast<EpochId>(row.Int(4)), static_cast<uint64_t>(row.Int(5))},
              *hash};
        }
        acked[note.target] = std::move(note);
        return Status::Ok();
      });
}

// A directory of format 1 has no such table yet; a start makes it, empty, when all else is settled.
Status Store::Impl::LoadTargetNotes() {
  target_notes.clear();
  sessions.clear();
  if (database->user_version() == 1) return Status::Ok();
  const LineageRow* current = Current();
  return ForEachRow(
      *database,
      "SELECT lineage, name, session, at, from_epoch, from_rows, to_epoch, to_rows, since "
      "FROM target",
      [&](const sqlite::Statement& row) {
        const std::string session(row.Text(2));
        if (!session.empty()) sessions.insert(session);
        if (current == nullptr || row.Int(0) != current->n) return Status::Ok();
        const auto at = protocol::ParseWhereabouts(row.Text(3));
        const auto since = protocol::ParseWhereabouts(row.Text(8));
        if (!at || !since) return BadRow(directory, "target", row.Int(0));
        const auto position = [&](int column) {
          return protocol::TargetPosition{static_cast<EpochId>(row.Int(column)),
                                          static_cast<uint64_t>(row.Int(column + 1))};
        };
        TargetNote note{std::string(row.Text(1)), *at, std::nullopt};
        if (!row.IsNull(6)) {
          InflightNote f{note.target, session, std::nullopt, position(6), *since};
          if (!row.IsNull(4)) f.from = position(4);
          note.in_flight = std::move(f);
        }
        target_notes[note.target] = std::move(note);
        return Status::Ok();
      });
}

Status Store::Impl::LoadWords() {
  claims.clear();
  pending.clear();
  WEIR_RETURN_IF_ERROR(ForEachRow(*database, "SELECT path FROM claim ORDER BY path",
                                  [&](const sqlite::Statement& row) {
                                    claims.emplace_back(row.Text(0));
                                    return Status::Ok();
                                  }));
  return ForEachRow(
      *database, "SELECT id, verb, subject, detail, run FROM resolution ORDER BY id",
      [&](const sqlite::Statement& row) {
        const std::string_view detail = row.Text(3);
        if (const auto position = protocol::ParseTargetPosition(
                detail.substr(0, std::min(detail.find(' '), detail.size())))) {
          words_epoch = std::max(words_epoch, position->epoch);
        }
        const std::optional<protocol::Verb> verb = protocol::VerbFromName(row.Text(1));
        if (!verb) return BadRow(directory, "resolution", row.Int(0));
        if (row.IsNull(4)) {
          pending.push_back({static_cast<uint64_t>(row.Int(0)), *verb, std::string(row.Text(2))});
        }
        return Status::Ok();
      });
}

const LineageRow* Store::Impl::Current() const {
  if (!newest_run) return nullptr;
  for (auto row = lineages.rbegin(); row != lineages.rend(); ++row) {
    if (row->n == newest_run->lineage) return &*row;
  }
  return nullptr;
}

EpochId Store::Impl::HighestEpochSeen() const {
  EpochId highest = std::max({head.epoch, words_epoch, HighestSpoolName()});
  for (const LineageRow& row : lineages) {
    highest = std::max({highest, row.record.base, row.record.last_sealed});
  }
  return highest;
}

Status Store::Impl::ForEachUndelivered(const Undelivered& f) const {
  const LineageRow* current = Current();
  if (current == nullptr) return Status::Ok();
  return ForEachRow(
      *database, "SELECT id, extents FROM epoch WHERE lineage = " + std::to_string(current->n),
      [&](const sqlite::Statement& row) {
        const auto extents = DecodeExtents(row.Blob(1));
        if (!extents) return BadRow(directory, "epoch", row.Int(0));
        const EpochId epoch = static_cast<EpochId>(row.Int(0));
        std::map<std::string, uint64_t> done;  // rows of it, by target
        for (const EpochExtent& extent : *extents) {
          if (extent.target.empty()) continue;
          const auto note = acked.find(extent.target);
          const bool passed = note != acked.end() && note->second.position.epoch > epoch;
          const bool within = note != acked.end() && note->second.position.epoch == epoch;
          // A target's rows of an epoch have one order: sink by sink, as here.
          uint64_t& left = done.try_emplace(extent.target, within ? note->second.position.rows : 0)
                               .first->second;
          const uint64_t acked_rows = passed ? extent.rows : std::min(left, extent.rows);
          left -= std::min(left, acked_rows);
          f(epoch, extent, extent.rows - acked_rows);
        }
        return Status::Ok();
      });
}

Result<protocol::TakeoverFacts> Store::GatherFacts(const Asked& asked) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  protocol::TakeoverFacts facts;
  facts.any_run_row = impl.newest_run.has_value();
  facts.run_artifacts = !impl.Artifacts().empty();
  facts.fresh_requested = asked.fresh;
  facts.discard_undelivered = asked.discard_undelivered;
  facts.job_requested = asked.job;
  if (const LineageRow* current = impl.Current()) {
    facts.fingerprint_matches = impl.fingerprint_hex == asked.fingerprint.ToHex();
    facts.last_run_finished = impl.newest_run->ended == "finished";
    facts.job_of_lineage = current->job;
    facts.floor = current->record.base;
    facts.newest_sealed = impl.head.epoch;
    EpochId last = 0;
    const Status counted =
        impl.ForEachUndelivered([&](EpochId epoch, const EpochExtent&, uint64_t rows) {
          facts.undelivered_rows += rows;
          if (rows > 0) facts.undelivered_epochs += std::exchange(last, epoch) != epoch;
        });
    if (!counted.ok()) return Fail(impl.Damage(counted));
  }
  return facts;
}

std::optional<LastRun> Store::NewestRun() const {
  const std::lock_guard hold(impl_->mutex);
  const std::optional<RunRow>& run = impl_->newest_run;
  if (!run) return std::nullopt;
  return LastRun{run->id, run->fresh, run->reason, run->ended, run->started_ms};
}

Result<std::vector<Backlog>> Store::Undelivered() const {
  const std::lock_guard hold(impl_->mutex);
  std::map<std::string, Backlog> by_target;
  std::map<std::string, EpochId> last;
  for (const std::string& target : impl_->targets) by_target[target].target = target;
  WEIR_RETURN_IF_ERROR(
      impl_->ForEachUndelivered([&](EpochId epoch, const EpochExtent& extent, uint64_t rows) {
        Backlog& backlog = by_target[extent.target];
        backlog.target = extent.target;
        backlog.rows += rows;
        backlog.by_sink[extent.sink] += rows;
        if (rows > 0) backlog.epochs += std::exchange(last[extent.target], epoch) != epoch;
      }));
  std::vector<Backlog> out;
  for (auto& [target, backlog] : by_target) out.push_back(std::move(backlog));
  return out;
}

std::vector<protocol::Park> Store::NotedParks() const {
  const std::lock_guard hold(impl_->mutex);
  const std::vector<std::string_view> lines = Split(impl_->parks, '\n');
  std::vector<protocol::Park> out;
  // Of an older run: that one's questions have been asked anew since.
  if (!impl_->newest_run || lines.empty() ||
      lines[0] != "run " + std::to_string(impl_->newest_run->id)) {
    return out;
  }
  for (size_t i = 1; i < lines.size(); ++i) {
    if (auto park = protocol::ParseParked(lines[i])) out.push_back(std::move(*park));
  }
  return out;
}

std::string Store::StoredCanonicalPlan() const { return impl_->plan; }

std::optional<std::string> Store::StoredJob() const {
  const LineageRow* current = impl_->Current();
  return current == nullptr ? std::nullopt : current->job;
}

EpochId Store::HighestEpochSeen() const {
  const std::lock_guard hold(impl_->mutex);
  return impl_->HighestEpochSeen();
}

std::vector<protocol::LineageRecord> Store::Lineages() const {
  const std::lock_guard hold(impl_->mutex);
  std::vector<protocol::LineageRecord> out;
  const LineageRow* current = impl_->Current();
  for (const LineageRow& row : impl_->lineages) {
    out.push_back(row.record);
    if (&row != current || impl_->head.epoch == 0) continue;
    out.back().last_sealed = impl_->head.epoch;
    out.back().last_hash = impl_->head.hash;
  }
  return out;
}

std::vector<std::string> Store::ClaimedPaths() const {
  const std::lock_guard hold(impl_->mutex);
  return impl_->claims;
}

std::vector<protocol::Resolution> Store::PendingResolutions() const {
  const std::lock_guard hold(impl_->mutex);
  return impl_->pending;
}

std::optional<SealedEpoch> Store::NewestSealed() const {
  const std::lock_guard hold(impl_->mutex);
  const Head& head = impl_->head;
  if (head.epoch == 0) return std::nullopt;
  SealedEpoch out{head.epoch, head.hash, head.body, {}};
  for (const StagePosition& stage : head.stages) {
    out.sinks.push_back({stage.sink, stage.blob, stage.rows_total});
  }
  return out;
}

std::vector<AckedNote> Store::AckedNotes() const {
  const std::lock_guard hold(impl_->mutex);
  std::vector<AckedNote> out;
  for (const auto& [target, note] : impl_->acked) out.push_back(note);
  return out;
}

std::vector<TargetNote> Store::TargetNotes() const {
  const std::lock_guard hold(impl_->mutex);
  std::vector<TargetNote> out;
  for (const auto& [target, note] : impl_->target_notes) out.push_back(note);
  return out;
}

std::vector<std::string> Store::SessionNames() const {
  const std::lock_guard hold(impl_->mutex);
  return {impl_->sessions.begin(), impl_->sessions.end()};
}

Result<Digest256> Store::HashOf(const Lineage& lineage, EpochId epoch) const {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  const LineageRow* current = impl.Current();
  if (current != nullptr && current->record.lineage == lineage) {
    if (epoch == impl.head.epoch && epoch != 0) return impl.head.hash;
    WEIR_ASSIGN_OR_RETURN(auto query, impl.database->Prepare("SELECT hash FROM epoch WHERE id=?"));
    query.BindInt(1, static_cast<int64_t>(epoch));
    WEIR_ASSIGN_OR_RETURN(const bool found, query.Step());
    if (found) {
      const std::optional<Digest256> hash = Digest256FromBytes(query.Blob(0));
      if (!hash) return Fail(BadRow(impl.directory, "epoch", static_cast<int64_t>(epoch)));
      return *hash;
    }
  }
  for (const LineageRow& row : impl.lineages) {
    if (row.record.lineage == lineage && row.record.last_sealed == epoch && epoch != 0) {
      return row.record.last_hash;
    }
  }
  return Fail(Code::kNotFound, "no hash of epoch " + std::to_string(epoch) + " of lineage " +
                                   lineage.ToHex() + " here");
}

Result<uint64_t> Store::RowsOf(const std::string& sink, EpochId epoch) const {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  WEIR_ASSIGN_OR_RETURN(auto query, impl.database->Prepare("SELECT extents FROM epoch WHERE id=?"));
  query.BindInt(1, static_cast<int64_t>(epoch));
  WEIR_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (!found) return 0;
  const auto extents = DecodeExtents(query.Blob(0));
  if (!extents) return Fail(BadRow(impl.directory, "epoch", static_cast<int64_t>(epoch)));
  uint64_t rows = 0;
  for (const EpochExtent& extent : *extents) rows += extent.sink == sink ? extent.rows : 0;
  return rows;
}

const RunInfo& Store::run() const { return impl_->run; }
uint64_t Store::WalBytes() const { return impl_->wal_bytes; }
const std::string& Store::directory() const { return impl_->directory; }

}  // namespace weir::store
