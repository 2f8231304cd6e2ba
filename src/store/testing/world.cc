#include "store/testing/world.h"

#include <map>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "sqlite/database.h"
#include "state/blob.h"
#include "store/chain.h"

namespace weir::store::testing {

namespace {

std::unique_ptr<io::Worker> InlineWorker(const char*, io::CompletionQueue& queue) {
  return io::NewInlineWorker(queue);
}

}  // namespace

World::World() {
  ConfigureLog({.level = LogLevel::kError});  // thousands of lives
  CHECK(sqlite::InitializeSqlite().ok());
  Successor(std::make_unique<io::SimFiles>());
}

io::Env World::env() {
  return {*files_, clock_, random_, machine_, completions_, &InlineWorker, vfs_->name()};
}

void World::Successor(std::unique_ptr<io::SimFiles> files) {
  vfs_.reset();
  files_ = std::move(files);
  vfs_ = std::make_unique<sqlite::SimVfs>(*files_);
}

void World::Kill() {
  Successor(files_->AfterKill());
  machine_.NextProcess();
}

void World::PowerCut(uint64_t seed, io::PowerCutReport* report) {
  Successor(files_->AfterPowerCut(seed, report));
  machine_.Reboot();
}

OpenOptions Options() {
  OpenOptions options;
  options.directory = kDirectory;
  options.pipeline = "orders";
  options.instance = "box";
  options.weir_version = "0.1.0";
  return options;
}

Asked AskedFor(std::string_view plan) {
  Asked asked;
  asked.canonical_plan = plan;
  asked.fingerprint = Sha256(plan);
  return asked;
}

Result<std::unique_ptr<Store>> Start(const io::Env& env, const Asked& asked,
                                     protocol::TakeoverDecision* decision) {
  WEIR_ASSIGN_OR_RETURN(auto store, Store::Open(env, Options()));
  WEIR_ASSIGN_OR_RETURN(const protocol::TakeoverFacts facts, store->GatherFacts(asked));
  const protocol::TakeoverDecision decided = protocol::DecideTakeover(facts);
  if (decision != nullptr) *decision = decided;
  if (decided.action != protocol::TakeoverAction::kFresh &&
      decided.action != protocol::TakeoverAction::kResume) {
    return Fail(Code::kRefused, decided.reason);
  }
  WEIR_RETURN_IF_ERROR(store->BeginRun(asked, decided, 0, {{"out", "/out.jsonl"}}));
  return store;
}

FrozenEpoch Frozen(EpochId id, uint64_t rows, std::string_view target) {
  FrozenEpoch epoch;
  epoch.id = id;
  epoch.body = "{\"epoch\":" + std::to_string(id) + "}";
  epoch.positions_digest_input = "position " + std::to_string(id);
  const std::string value = "value " + std::to_string(id);
  epoch.state.push_back(
      {"window:w", {"b", false, StateBlob(static_cast<uint32_t>(id % 8), value), 1}});
  FrozenSink sink;
  sink.sink = "out";
  sink.target = target;
  sink.extent.rows = rows;
  sink.extent.digest = DigestBytes(value);
  sink.extent.blob = "at " + std::to_string(id);
  epoch.sinks.push_back(sink);
  return epoch;
}

std::string StateBlob(uint32_t slot, std::string_view value) {
  BlobWriter out("meta");
  out.Put(slot, "key " + std::to_string(slot), "fixed", value);
  return out.Take();
}

Result<std::string> ReadState(Store& store, std::string_view owner, std::string_view bucket) {
  std::map<uint32_t, std::string> entries;
  WEIR_RETURN_IF_ERROR(
      store.StateOf(std::string(owner)).ReadBucket(bucket, [&](std::string_view blob) -> Status {
        BlobReader reader(blob);
        WEIR_RETURN_IF_ERROR(reader.Open());
        BlobEntry entry;
        while (reader.Next(&entry)) {
          if (entry.put) {
            entries[entry.slot] = entry.variable;
          } else {
            entries.erase(entry.slot);
          }
        }
        return reader.status();
      }));
  std::string out;
  for (const auto& [slot, value] : entries) out += std::to_string(slot) + "=" + value + ";";
  return out;
}

Status CheckChain(const io::Env& env) {
  sqlite::OpenOptions options;
  options.vfs = env.sqlite_vfs;
  options.access = sqlite::Access::kReadOnly;
  WEIR_ASSIGN_OR_RETURN(const auto database,
                        sqlite::Database::Open(io::JoinPath(kDirectory, "state.db"), options));
  WEIR_ASSIGN_OR_RETURN(
      auto query,
      database->Prepare("SELECT epoch.id, hash, digests, extents, lineage.id, body, sinks "
                        "FROM epoch JOIN lineage ON lineage.n = epoch.lineage "
                        "LEFT JOIN head ON head.epoch = epoch.id ORDER BY epoch.id"));
  Digest256 previous;
  bool previous_known = true;
  EpochId last = 0;
  for (;;) {
    WEIR_ASSIGN_OR_RETURN(const bool more, query.Step());
    if (!more) break;
    last = static_cast<EpochId>(query.Int(0));
    const auto hash = Digest256FromBytes(query.Blob(1));
    const auto digests = DecodeDigests(query.Blob(2));
    const auto lineage = LineageFromBytes(query.Blob(4));
    if (!hash || !digests || !lineage || !DecodeExtents(query.Blob(3))) {
      return Status(Code::kCorruption, "epoch row " + std::to_string(last));
    }
    const Digest256 computed = ChainHash(previous, *lineage, last, query.Blob(2), query.Blob(3));
    // A chain whose beginning was pruned is checked from its second row on.
    if (previous_known && *hash != computed && previous != Digest256()) {
      return Status(Code::kCorruption, "chain breaks at epoch " + std::to_string(last));
    }
    previous = *hash;
    if (query.IsNull(5)) continue;
    if (DigestBytes(query.Text(5)) != digests->body ||
        DigestBytes(query.Blob(6)) != digests->stages) {
      return Status(Code::kCorruption, "head does not match epoch " + std::to_string(last));
    }
  }
  WEIR_ASSIGN_OR_RETURN(const int64_t head,
                        database->QueryInt("SELECT ifnull(max(epoch), 0) FROM head"));
  if (static_cast<EpochId>(head) != last)
    return Status(Code::kCorruption, "head is not the newest");
  return Status::Ok();
}

}  // namespace weir::store::testing
