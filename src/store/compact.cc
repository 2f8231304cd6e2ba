// State blobs: reading a bucket back, and merging its blobs between two seals.
//
// A bucket's blobs are a base (those of its oldest epoch) and deltas. When the deltas outweigh the
// base the bucket is merged: at once when it is small, in slices by slot number when it is not, so
// that never more than max_bytes are written between two seals and a log of deltas stays within
// about twice the live state.
#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "io/fault.h"
#include "state/blob.h"
#include "store/store_impl.h"

namespace weir::store {
namespace {

using sqlite::Statement;

constexpr EpochId kEpochsKept = 1000;
// Parts of a merge are numbered from here, negative until all are there. Minus n and n take the
// same space in a row, and only then SQLite changes the one number in place; 0 and 1 are stored in
// no space, and a megabyte would be written again for it.
constexpr int64_t kFirstPart = 2;
constexpr EpochId kPruneStep = 256;  // not at every seal: a deletion writes pages too

struct Entry {
  bool put = false;
  std::string key, fixed, variable;
  uint64_t bytes() const { return key.size() + fixed.size() + variable.size() + 24; }
};

// The live entries of some slots, built from the newest blob to the oldest: the first mention of a
// slot decides. When it grows above the limit the highest slots go, and wait for the next slice.
class Slice {
 public:
  Slice(uint32_t first_slot, uint64_t max_bytes) : first_(first_slot), max_bytes_(max_bytes) {}

  Status AddOlder(std::string_view blob) {
    BlobReader reader(blob);
    WEIR_RETURN_IF_ERROR(reader.Open());
    if (!meta_) meta_ = std::string(reader.meta());
    // Within one blob the last mention of a slot wins, across blobs the first one seen does.
    std::map<uint32_t, Entry> here;
    uint64_t here_bytes = 0;
    BlobEntry in;
    while (reader.Next(&in)) {
      if (in.slot < first_ || in.slot >= end_ || entries_.contains(in.slot)) continue;
      Entry& entry = here[in.slot];
      here_bytes -= entry.put ? entry.bytes() : 0;
      entry = {in.put, std::string(in.key), std::string(in.fixed), std::string(in.variable)};
      here_bytes += entry.put ? entry.bytes() : 0;
    }
    WEIR_RETURN_IF_ERROR(reader.status());
    entries_.merge(here);
    bytes_ += here_bytes;
    // Always at least one entry, however large: else a slice would never end.
    while (bytes_ > max_bytes_ && entries_.size() > 1) {
      const auto last = std::prev(entries_.end());
      bytes_ -= last->second.put ? last->second.bytes() : 0;
      end_ = last->first;
      entries_.erase(last);
    }
    return Status::Ok();
  }

  bool last() const { return end_ == kSlotLimit; }
  uint32_t end() const { return end_; }
  std::string Write() const {
    BlobWriter out(meta_.value_or(""), bytes_);
    for (const auto& [slot, entry] : entries_) {
      if (entry.put) out.Put(slot, entry.key, entry.fixed, entry.variable);
    }
    return out.Take();
  }

 private:
  uint32_t first_;
  uint32_t end_ = kSlotLimit;
  uint64_t max_bytes_;
  uint64_t bytes_ = 0;
  std::optional<std::string> meta_;
  std::map<uint32_t, Entry> entries_;
};

uint64_t TotalBytes(const BucketBlobs& refs) {
  uint64_t bytes = 0;
  for (const BlobRef& ref : refs) bytes += ref.bytes;
  return bytes;
}

}  // namespace

bool CompactionDue(const BucketBlobs& refs) {
  uint64_t base = 0;
  uint64_t deltas = 0;
  for (const BlobRef& ref : refs) {
    (ref.epoch == refs.front().epoch ? base : deltas) += ref.bytes;
  }
  return deltas > base;
}

BucketBlobs Store::Impl::BlobsOf(const BucketKey& key) const {
  const auto owner = blobs.find(key.first);
  if (owner == blobs.end()) return {};
  const auto bucket = owner->second.find(key.second);
  return bucket == owner->second.end() ? BucketBlobs{} : bucket->second;
}

void Store::Impl::SetBlobs(const BucketKey& key, BucketBlobs refs) {
  if (CompactionDue(refs)) {
    due.insert(key);
  } else {
    due.erase(key);
  }
  OwnerBlobs& owner = blobs[key.first];
  if (refs.empty()) {
    owner.erase(key.second);
  } else {
    owner[key.second] = std::move(refs);
  }
}

Status Store::Impl::ReadBlobs(const BucketKey& key, const BucketBlobs& refs,
                              const std::function<Status(std::string_view)>& f) {
  WEIR_ASSIGN_OR_RETURN(Statement query,
                        database->Prepare("SELECT data, crc FROM blob WHERE id = ?"));
  for (const BlobRef& ref : refs) {
    query.BindInt(1, ref.id);
    WEIR_ASSIGN_OR_RETURN(const bool found, query.Step());
    const std::string_view data = found ? query.Blob(0) : std::string_view();
    if (!found || Crc32c(data) != static_cast<uint32_t>(query.Int(1))) {
      return Damage(Status(Code::kCorruption,
                           Path("state.db") + ": table blob, row " + std::to_string(ref.id) + " (" +
                               std::to_string(ref.bytes) + " bytes of state of " + key.first +
                               ", epoch " + std::to_string(ref.epoch) + ") " +
                               (found ? "does not match its CRC" : "is gone")));
    }
    WEIR_RETURN_IF_ERROR(f(data));
    query.Reset();
  }
  return Status::Ok();
}

Status Store::Impl::MergeSmall(const BucketKey& key, const BucketBlobs& inputs) {
  std::vector<std::string> data;
  WEIR_RETURN_IF_ERROR(ReadBlobs(key, inputs, [&](std::string_view blob) {
    data.emplace_back(blob);
    return Status::Ok();
  }));
  const std::vector<std::string_view> views(data.begin(), data.end());
  WEIR_ASSIGN_OR_RETURN(const std::string merged, MergeBlobs(views));
  const BlobRef out{next_blob_id, inputs.back().epoch, 0, merged.size()};
  const auto write = [&]() -> Status {
    for (const BlobRef& ref : inputs) {
      WEIR_RETURN_IF_ERROR(
          Run("DELETE FROM blob WHERE id = ?", [&](Statement& row) { row.BindInt(1, ref.id); }));
    }
    return WriteBlob(key, out, merged);
  };
  WEIR_RETURN_IF_ERROR(Transaction(write, [] {
    return WEIR_FAULT_POINT("compact.before_swap").ToStatus("compact.before_swap");
  }));
  ++next_blob_id;
  SetBlobs(key, {out});
  return Sticky(WEIR_FAULT_POINT("compact.after_swap").ToStatus("compact.after_swap"));
}

Status Store::Impl::WriteBlob(const BucketKey& key, const BlobRef& ref, std::string_view data) {
  return Run("INSERT INTO blob VALUES (?, ?, ?, ?, ?, ?, ?)", [&](Statement& row) {
    row.BindInt(1, ref.id)
        .BindText(2, key.first)
        .BindInt(3, static_cast<int64_t>(ref.epoch))
        .BindInt(4, ref.part)
        .BindInt(5, Crc32c(data))
        .BindBlob(6, key.second)
        .BindBlob(7, data);
  });
}

// Writes the next part of `merge`; with the last one the parts take the place of the inputs.
Status Store::Impl::MergeSlice(uint64_t max_bytes) {
  Slice slice(merge->next_slot, max_bytes);
  const BucketBlobs newest_first(merge->inputs.rbegin(), merge->inputs.rend());
  WEIR_RETURN_IF_ERROR(ReadBlobs(merge->key, newest_first,
                                 [&](std::string_view blob) { return slice.AddOlder(blob); }));
  const std::string data = slice.Write();
  const auto number = static_cast<int64_t>(merge->parts.size()) + kFirstPart;
  const BlobRef part{next_blob_id, merge->inputs.back().epoch, -number, data.size()};
  BucketBlobs parts = merge->parts;
  const auto write = [&]() -> Status {
    WEIR_RETURN_IF_ERROR(WriteBlob(merge->key, part, data));
    parts.push_back(part);
    if (!slice.last()) return Status::Ok();
    for (const BlobRef& ref : merge->inputs) {
      WEIR_RETURN_IF_ERROR(
          Run("DELETE FROM blob WHERE id = ?", [&](Statement& row) { row.BindInt(1, ref.id); }));
    }
    for (BlobRef& ref : parts) {
      ref.part = -ref.part;
      WEIR_RETURN_IF_ERROR(Run("UPDATE blob SET part = ? WHERE id = ?", [&](Statement& row) {
        row.BindInt(1, ref.part).BindInt(2, ref.id);
      }));
    }
    return Status::Ok();
  };
  const auto before = [&] {
    if (!slice.last()) return Status::Ok();
    return WEIR_FAULT_POINT("compact.before_swap").ToStatus("compact.before_swap");
  };
  WEIR_RETURN_IF_ERROR(Transaction(write, before));
  ++next_blob_id;
  if (!slice.last()) {
    merge->parts = std::move(parts);
    merge->next_slot = slice.end();
    return Status::Ok();
  }
  // Deltas that were sealed meanwhile stay behind the parts.
  BucketBlobs now = BlobsOf(merge->key);
  CHECK(now.size() >= merge->inputs.size());
  now.erase(now.begin(), now.begin() + static_cast<ptrdiff_t>(merge->inputs.size()));
  parts.insert(parts.end(), now.begin(), now.end());
  const BucketKey key = merge->key;
  merge.reset();
  SetBlobs(key, std::move(parts));
  return Sticky(WEIR_FAULT_POINT("compact.after_swap").ToStatus("compact.after_swap"));
}

// Rows that no delivery and no receipt can ask for any more.
Status Store::Impl::PruneEpochs() {
  EpochId needed = head.epoch > kEpochsKept ? head.epoch - kEpochsKept : 0;
  for (const std::string& target : targets) {
    const auto note = acked.find(target);
    needed = std::min(needed, note == acked.end() ? 0 : note->second.position.epoch);
  }
  if (needed < pruned_below + kPruneStep) return Status::Ok();
  WEIR_RETURN_IF_ERROR(Transaction([&] {
    return Run("DELETE FROM epoch WHERE id < ?",
               [&](Statement& row) { row.BindInt(1, static_cast<int64_t>(needed)); });
  }));
  pruned_below = needed;
  return Status::Ok();
}

Result<bool> Store::Compact(uint64_t max_bytes) {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  CHECK(impl.begun);
  WEIR_RETURN_IF_ERROR(impl.PruneEpochs());
  if (!impl.merge && !impl.due.empty()) {
    const BucketKey key = *impl.due.begin();
    const BucketBlobs inputs = impl.BlobsOf(key);
    if (TotalBytes(inputs) <= max_bytes) {
      WEIR_RETURN_IF_ERROR(impl.MergeSmall(key, inputs));
      impl.CheckpointIfDue();
      return true;
    }
    impl.merge = Merge{key, inputs, 0, {}};
  }
  if (!impl.merge) return false;
  WEIR_RETURN_IF_ERROR(impl.MergeSlice(max_bytes));
  impl.CheckpointIfDue();
  return true;
}

namespace {

// Reads through the store, under its mutex: a bucket is seen before a seal or after it.
class BlobStateReader : public flow::StateReader {
 public:
  using Read =
      std::function<Status(std::string_view, const std::function<Status(std::string_view)>&)>;
  using List = std::function<Status(const std::function<void(std::string_view, uint64_t)>&)>;
  BlobStateReader(Read read, List list) : read_(std::move(read)), list_(std::move(list)) {}

  Status ReadBucket(std::string_view bucket,
                    const std::function<Status(std::string_view)>& f) override {
    return read_(bucket, f);
  }
  Status ListBuckets(const std::function<void(std::string_view, uint64_t)>& f) override {
    return list_(f);
  }

 private:
  Read read_;
  List list_;
};

}  // namespace

flow::StateReader& Store::StateOf(const std::string& owner) {
  std::unique_ptr<flow::StateReader>& reader = impl_->readers[owner];
  if (reader != nullptr) return *reader;
  Impl* impl = impl_.get();
  reader = std::make_unique<BlobStateReader>(
      [impl, owner](std::string_view bucket,
                    const std::function<Status(std::string_view)>& f) -> Status {
        const std::lock_guard hold(impl->mutex);
        if (!impl->failure.ok()) return impl->failure;
        WEIR_RETURN_IF_ERROR(io::Beat(impl->env.heartbeat, "reading the state of", owner));
        const BucketKey key{owner, std::string(bucket)};
        return impl->ReadBlobs(key, impl->BlobsOf(key), f);
      },
      [impl, owner](const std::function<void(std::string_view, uint64_t)>& f) {
        const std::lock_guard hold(impl->mutex);
        const auto found = impl->blobs.find(owner);
        if (found == impl->blobs.end()) return Status::Ok();
        for (const auto& [bucket, refs] : found->second) f(bucket, TotalBytes(refs));
        return Status::Ok();
      });
  return *reader;
}

}  // namespace weir::store
