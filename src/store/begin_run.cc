// Takeover step 3: the run row, and everything that must be durable with it; and the words that an
// operator leaves for it.
#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "io/fault.h"
#include "store/schema.h"
#include "store/store_impl.h"

namespace weir::store {
namespace {

using sqlite::Statement;

constexpr int64_t kRunsKept = 1000;

}  // namespace

// With the run row, not when the directory is opened: a start that is refused leaves it to the weir
// that wrote it. That one refuses it from here on.
Status Store::Impl::Migrate() {
  if (database->user_version() == kFormatVersion) return Status::Ok();
  if (database->user_version() == 1) WEIR_RETURN_IF_ERROR(database->Execute(kMigrateFrom1Sql));
  return database->Execute("PRAGMA user_version=" + std::to_string(kFormatVersion));
}

// Nothing of an older lineage may ever be read by this one: its state and epochs go with the same
// transaction that names the new one. What a receipt of it can still be compared with stays.
Status Store::Impl::WriteFreshLineage(const Asked& asked, EpochId base, LineageRow& fresh) {
  if (const LineageRow* old = Current(); old != nullptr && head.epoch != 0) {
    WEIR_RETURN_IF_ERROR(
        Run("UPDATE lineage SET last_sealed = ?, last_hash = ? WHERE n = ?", [&](Statement& row) {
          row.BindInt(1, static_cast<int64_t>(head.epoch))
              .BindBlob(2, AsBytes(head.hash))
              .BindInt(3, old->n);
        }));
  }
  env.random.Fill(fresh.record.lineage.bytes.data(),
                  static_cast<int>(fresh.record.lineage.bytes.size()));
  fresh.n = lineages.empty() ? 1 : lineages.back().n + 1;
  fresh.record.base = base;
  fresh.job = asked.job;
  WEIR_RETURN_IF_ERROR(
      Run("INSERT INTO lineage (n, id, base, job) VALUES (?, ?, ?, ?)", [&](Statement& row) {
        row.BindInt(1, fresh.n)
            .BindBlob(2, AsBytes(fresh.record.lineage))
            .BindInt(3, static_cast<int64_t>(base));
        if (fresh.job) row.BindText(4, *fresh.job);
      }));
  for (const char* table : {"epoch", "head", "blob", "acked"}) {
    WEIR_RETURN_IF_ERROR(Run(std::string("DELETE FROM ") + table));
  }
  const std::pair<const char*, std::string> plan_rows[] = {
      {"plan.canonical", asked.canonical_plan}, {"plan.fingerprint", asked.fingerprint.ToHex()}};
  for (const auto& [key, value] : plan_rows) {
    WEIR_RETURN_IF_ERROR(Run(
        "INSERT OR REPLACE INTO meta VALUES (?, ?)",
        [&key = key, &value = value](Statement& row) { row.BindText(1, key).BindText(2, value); }));
  }
  return Status::Ok();
}

Status Store::Impl::WriteRunRow(const RunInfo& info, int64_t lineage_n, const std::string& reason,
                                const std::optional<Digest256>& new_words) {
  WEIR_RETURN_IF_ERROR(
      Run("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL)", [&](Statement& row) {
        row.BindInt(1, static_cast<int64_t>(info.run))
            .BindInt(2, lineage_n)
            .BindText(3, info.fresh ? "fresh" : "resume")
            .BindText(4, reason)
            .BindInt(5, static_cast<int64_t>(info.sealed))
            .BindText(6, env.machine.BootId())
            .BindInt(7, env.machine.ProcessId())
            .BindText(8, options.weir_version)
            .BindInt(9, env.clock.WallMs());
        if (new_words) row.BindBlob(10, AsBytes(*new_words));
      }));
  WEIR_RETURN_IF_ERROR(Run("INSERT OR REPLACE INTO meta VALUES ('weir', ?)",
                           [&](Statement& row) { row.BindText(1, options.weir_version); }));
  return Run("DELETE FROM run WHERE id <= ?",
             [&](Statement& row) { row.BindInt(1, static_cast<int64_t>(info.run) - kRunsKept); });
}

// Of every word that no sealed epoch's hash covers yet: those that wait, and those that a run used
// up outside of a seal.
Result<std::optional<Digest256>> Store::Impl::DigestWords() {
  WEIR_ASSIGN_OR_RETURN(
      Statement query,
      database->Prepare("SELECT id, verb, subject, user, at_ms, detail FROM resolution "
                        "WHERE run IS NULL OR run > ? ORDER BY id"));
  query.BindInt(1, static_cast<int64_t>(head.run));
  ByteWriter out;
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const bool more, query.Step());
    if (!more) break;
    out.I64(query.Int(0));
    for (const int column : {1, 2, 3, 5}) out.Bytes(query.Text(column));
    out.I64(query.Int(4));
  }
  if (out.size() == 0) return std::optional<Digest256>();
  return std::optional<Digest256>(Sha256(out.str()));
}

// Within the transaction. `info`: the run's number and mode come in, the rest is filled in.
Status Store::Impl::WriteBeginning(const Asked& asked, const std::string& reason,
                                   EpochId base_if_fresh, const Claims& new_claims, RunInfo& info,
                                   std::optional<Digest256>& new_words) {
  const EpochId highest = HighestEpochSeen();
  LineageRow lineage;
  WEIR_RETURN_IF_ERROR(Migrate());
  WEIR_ASSIGN_OR_RETURN(new_words, DigestWords());
  WEIR_RETURN_IF_ERROR(Run("DELETE FROM blob WHERE part < 0"));
  if (info.fresh) {
    WEIR_RETURN_IF_ERROR(WriteFreshLineage(asked, std::max(highest, base_if_fresh), lineage));
  } else {
    lineage = *Current();
    if (!lineage.job && asked.job) {
      lineage.job = asked.job;
      WEIR_RETURN_IF_ERROR(Run("UPDATE lineage SET job = ? WHERE n = ?", [&](Statement& row) {
        row.BindText(1, *asked.job).BindInt(2, lineage.n);
      }));
    }
  }
  info.lineage = lineage.record.lineage;
  info.base = lineage.record.base;
  info.sealed = info.fresh ? 0 : head.epoch;
  info.next_epoch = std::max(highest, info.base) + 1;
  WEIR_RETURN_IF_ERROR(WriteRunRow(info, lineage.n, reason, new_words));
  for (const auto& [sink, path] : new_claims) {
    WEIR_RETURN_IF_ERROR(Run("INSERT OR REPLACE INTO claim VALUES (?, ?, ?)",
                             [&, &sink = sink, &path = path](Statement& row) {
                               row.BindText(1, path).BindText(2, sink).BindInt(
                                   3, static_cast<int64_t>(info.run));
                             }));
  }
  return Status::Ok();
}

// Memory is what the tables are now. A failure here is as after a kill.
Status Store::Impl::LoadBeginning(bool fresh) {
  WEIR_RETURN_IF_ERROR(LoadLineages());
  WEIR_RETURN_IF_ERROR(LoadRun());
  WEIR_RETURN_IF_ERROR(LoadHead());
  if (fresh) {
    WEIR_RETURN_IF_ERROR(LoadBlobIndex());
    WEIR_RETURN_IF_ERROR(LoadMeta());
    acked.clear();
    target_notes.clear();
  }
  return LoadWords();
}

Status Store::BeginRun(const Asked& asked, const protocol::TakeoverDecision& decision,
                       EpochId base_if_fresh,
                       const std::vector<std::pair<std::string, std::string>>& new_claims) {
  Impl& impl = *impl_;
  {
    const std::lock_guard hold(impl.mutex);
    const bool fresh = decision.action == protocol::TakeoverAction::kFresh;
    CHECK(!impl.begun && !impl.options.read_only);
    CHECK(fresh || (decision.action == protocol::TakeoverAction::kResume && impl.Current()));
    RunInfo info;
    info.fresh = fresh;
    info.run = impl.newest_run ? impl.newest_run->id + 1 : 1;
    info.last_unclean = impl.newest_run && impl.newest_run->ended.empty();
    info.pipeline = impl.pipeline;
    info.instance = impl.instance;
    std::optional<Digest256> new_words;
    const auto write = [&] {
      return impl.WriteBeginning(asked, decision.reason, base_if_fresh, new_claims, info,
                                 new_words);
    };
    Status written = impl.Transaction(write);
    if (written.code() == Code::kNoSpace) {
      FreeReserve();
      written = impl.Transaction(write);
    }
    WEIR_RETURN_IF_ERROR(written);
    if (const int from = impl.database->user_version(); from != kFormatVersion) {
      LogInfo("state_upgraded",
              {{"directory", impl.directory}, {"from", from}, {"to", kFormatVersion}});
    }
    WEIR_RETURN_IF_ERROR(impl.Sticky(impl.LoadBeginning(fresh)));
    impl.words = new_words;
    impl.run = info;
    impl.begun = true;
  }
  WEIR_RETURN_IF_ERROR(
      WEIR_FAULT_POINT("takeover.after_run_row").ToStatus("takeover.after_run_row"));
  RestoreReserve();
  return Status::Ok();
}

Status Store::RecordResolution(protocol::Verb verb, const std::string& subject,
                               const std::string& user, int64_t wall_ms,
                               const std::string& detail) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  WEIR_RETURN_IF_ERROR(impl.Transaction([&] {
    return impl.Run(
        "INSERT INTO resolution (verb, subject, user, at_ms, detail) VALUES (?, ?, ?, ?, ?)",
        [&](Statement& row) {
          row.BindText(1, protocol::VerbName(verb))
              .BindText(2, subject)
              .BindText(3, user)
              .BindInt(4, wall_ms)
              .BindText(5, detail);
        });
  }));
  return impl.Sticky(impl.LoadWords());
}

Status Store::AdoptReceipt(const protocol::Receipt& receipt) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  CHECK(!impl.begun);
  const int64_t n = impl.lineages.empty() ? 1 : impl.lineages.back().n + 1;
  WEIR_RETURN_IF_ERROR(impl.Transaction([&] {
    return impl.Run(
        "INSERT INTO lineage (n, id, base, last_sealed, last_hash) VALUES (?, ?, NULL, ?, ?)",
        [&](Statement& row) {
          row.BindInt(1, n)
              .BindBlob(2, AsBytes(receipt.lineage))
              .BindInt(3, static_cast<int64_t>(receipt.position.epoch))
              .BindBlob(4, AsBytes(receipt.hash));
        });
  }));
  return impl.Sticky(impl.LoadLineages());
}

}  // namespace weir::store
