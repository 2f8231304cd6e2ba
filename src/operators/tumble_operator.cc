#include "operators/tumble_operator.h"

#include <algorithm>

#include "base/bytes.h"
#include "operators/times.h"

namespace weir::operators {

using flow::Count;

namespace {

// What a restore keeps in memory before the runtime has its say (Evict): the newest windows, which
// the next rows want.
constexpr uint64_t kRestoreResidentBytes = 16 << 20;
// Rows whose slots are fetched together: what is fetched must still be in the first-level cache
// when it is used.
constexpr size_t kBlockRows = 128;

}  // namespace

Result<std::unique_ptr<TumbleOperator>> TumbleOperator::Make(const plan::Node& node,
                                                             const Schema& input) {
  WEIR_RETURN_IF_ERROR(CheckWindowNode(node, input));
  SlotLayout layout;
  WEIR_ASSIGN_OR_RETURN(
      AggregateSet aggregates,
      AggregateSet::Make(std::get<plan::WindowNode>(node.body).aggregates, input, 0, &layout));
  return std::unique_ptr<TumbleOperator>(
      new TumbleOperator(node, input, layout, std::move(aggregates)));
}

TumbleOperator::TumbleOperator(const plan::Node& node, const Schema& input,
                               const SlotLayout& layout, AggregateSet aggregates)
    : window_(std::get<plan::WindowNode>(node.body)),
      layout_(layout),
      aggregates_(std::move(aggregates)),
      keys_(window_.keys, input),
      results_(node, input, &aggregates_, &books_),
      late_(window_),
      homeless_(window_, input) {}

// The window end, biased so that it sorts as bytes.
std::string TumbleOperator::BucketOf(TimestampMs end) {
  const uint64_t biased = static_cast<uint64_t>(end) ^ (uint64_t{1} << 63);
  std::string bucket(8, '\0');
  for (size_t i = 0; i < 8; ++i) bucket[i] = static_cast<char>(biased >> (56 - 8 * i));
  return bucket;
}

uint64_t TumbleOperator::BytesOf(const Window& window) {
  constexpr uint64_t kStub = 128;  // the entry in windows_
  return kStub + (window.table ? window.table->Bytes() : 0);
}

TumbleOperator::Window* TumbleOperator::WindowAt(TimestampMs start, TimestampMs end) {
  const auto [at, fresh] = windows_.try_emplace(end);
  Window& window = at->second;
  if (fresh) {
    window.start = start;
    window.end = end;
    // The table of the window that fired last, with its memory: windows are much like those before
    // them.
    window.table = spare_ ? std::move(spare_) : std::make_unique<KeyedTable>(&layout_);
  }
  if (!window.table && !Load(window)) return nullptr;
  return &window;
}

uint32_t TumbleOperator::LocalIndex(Window& window) {
  if (window.batch != batch_number_) {
    window.batch = batch_number_;
    window.local = static_cast<uint32_t>(local_.size());
    local_.push_back(&window);
  }
  return window.local;
}

bool TumbleOperator::Place(const Batch& batch) {
  const std::span<const uint32_t> rows = selected_.Of(batch);
  const Column& column = batch.column(static_cast<size_t>(window_.time_column));
  const uint8_t* const valid = column.valid.data();
  const int64_t* const times = column.ints.data();
  const TimestampMs* const watermarks =
      batch.watermarks.empty() ? nullptr : batch.watermarks.data();
  placed_.resize(rows.size());
  window_of_.resize(rows.size());
  uint32_t* const placed = placed_.data();
  uint32_t* const window_of = window_of_.data();
  local_.clear();
  ++batch_number_;
  size_t n = 0;
  size_t since = 0;  // placed rows from here on are in `local`
  // The window of the row before; rows of a batch are mostly in one or two.
  TimestampMs start = 0;
  TimestampMs end = 0;  // [0, 0): no row is in it
  uint32_t local = KeyedTable::kNone;
  for (uint32_t row : rows) {
    if (!valid[row]) {
      homeless_.Add(row, HomelessRows::Why::kNullTime);
      continue;
    }
    const TimestampMs time = times[row];
    if (time < start || time >= end) {
      if (local != KeyedTable::kNone) local_[local]->rows += n - since;
      since = n;
      local = KnownWindow(time);
      start = local != KeyedTable::kNone ? local_[local]->start : WindowStart(time);
      end = start + window_.size_ms;
      if (!WindowIsInRange(start, end)) {
        homeless_.Add(row, HomelessRows::Why::kOutOfRange);
        start = end = 0;
        continue;
      }
    }
    const TimestampMs watermark = watermarks ? std::max(watermark_, watermarks[row]) : watermark_;
    if (end - 1 <= watermark) {
      late_.Add(row, start, end, watermark);
      continue;
    }
    if (local == KeyedTable::kNone) {
      Window* window = WindowAt(start, end);
      if (!window) return false;
      local = LocalIndex(*window);
    }
    placed[n] = row;
    window_of[n] = local;
    ++n;
  }
  if (local != KeyedTable::kNone) local_[local]->rows += n - since;
  placed_.resize(n);
  return true;
}

TimestampMs TumbleOperator::WindowStart(TimestampMs time) const {
  return window_.offset_ms + FloorDiv(time - window_.offset_ms, window_.size_ms) * window_.size_ms;
}

// The window of `time` among the first few of this batch, or kNone.
uint32_t TumbleOperator::KnownWindow(TimestampMs time) const {
  const size_t n = std::min<size_t>(local_.size(), 4);
  for (size_t i = 0; i < n; ++i) {
    if (time >= local_[i]->start && time < local_[i]->end) return static_cast<uint32_t>(i);
  }
  return KeyedTable::kNone;
}

// Passes over a block of rows, each of which only waits for memory that the one before has asked
// for.
void TumbleOperator::FindSlots(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    hashes_[i] = KeyedTable::HashKey(keys_.key(i));
    tables_[i] = local_[window_of_[i]]->table.get();
    tables_[i]->Prefetch(hashes_[i]);
  }
  for (size_t i = begin; i < end; ++i) slots_[i] = tables_[i]->Candidate(hashes_[i]);
  bool inserted = false;
  for (size_t i = begin; i < end; ++i) {
    KeyedTable& table = *tables_[i];
    const std::string_view key = keys_.key(i);
    uint32_t slot = slots_[i];
    if (slot == KeyedTable::kNone || !table.KeyIs(slot, key)) {
      // New; or new when the candidates were looked for; or another key of the same hash.
      if (slot != KeyedTable::kNone || inserted) slot = table.Find(hashes_[i], key);
      if (slot == KeyedTable::kNone) {
        slot = table.Insert(hashes_[i], key);
        inserted = true;
      }
      slots_[i] = slot;
    }
    table.MarkDirty(slot);
  }
}

void TumbleOperator::Aggregate(const Batch& batch, size_t begin, size_t end) {
  // Only now: an insert may move the slots of a small table.
  for (size_t i = begin; i < end; ++i) fixed_[i] = tables_[i]->Fixed(slots_[i]);
  aggregates_.Update(batch, std::span(placed_).subspan(begin, end - begin), fixed_.data() + begin,
                     tables_.data() + begin);
}

void TumbleOperator::Push(const Batch& batch, flow::Outputs& out) {
  if (!status_.ok()) return;
  books_[Count::kIn] += batch.selected_count();
  trail_.Note(batch);
  if (!Place(batch)) return;
  const size_t n = placed_.size();
  if (n > 0) {
    keys_.Encode(batch, placed_);
    hashes_.resize(n);
    slots_.resize(n);
    fixed_.resize(n);
    tables_.resize(n);
    for (size_t begin = 0; begin < n; begin += kBlockRows) {
      const size_t end = std::min(n, begin + kBlockRows);
      FindSlots(begin, end);
      Aggregate(batch, begin, end);
    }
    for (Window* window : local_) window->table->MaybeCompact();
    books_[Count::kPlaced] += n;
    books_[Count::kAssigned] += n;
  }
  books_[Count::kLate] += late_.Emit(batch, out);
  books_[Count::kDead] += homeless_.Emit(batch, out);
}

void TumbleOperator::Fire(Window& window, flow::Outputs& out) {
  if (!window.table && !Load(window)) return;
  KeyedTable& table = *window.table;
  const TimestampMs before = trail_.Before(window.end, watermark_);
  table.ForEach([&](uint32_t slot) {
    results_.Add(table.Key(slot), table.Fixed(slot), window.start, window.end, before, out);
  });
  results_.Flush(out);
  books_[Count::kFired] += window.rows;
  if (window.sealed) dropped_.push_back(BucketOf(window.end));
  table.Clear();
  spare_ = std::move(window.table);
}

void TumbleOperator::AdvanceWatermark(TimestampMs watermark, flow::Outputs& out) {
  if (watermark <= watermark_) return;
  while (!windows_.empty() && windows_.begin()->first - 1 <= watermark) {
    const auto first = windows_.begin();
    Fire(first->second, out);
    if (!status().ok()) return;
    // Below, time advances window by window; the caller takes it on to `watermark`.
    watermark_ = first->first - 1;
    windows_.erase(first);
    out.Watermark(watermark_);
  }
  watermark_ = watermark;
  trail_.Clear();
}

bool TumbleOperator::Load(Window& window) {
  auto table = std::make_unique<KeyedTable>(&layout_);
  std::string meta;
  bool any = false;
  status_ = state_->ReadBucket(BucketOf(window.end), [&](std::string_view blob) {
    any = true;
    return table->ApplyBlob(blob, &meta);
  });
  ByteReader in(meta);
  const uint64_t rows = in.Varint();
  if (status_.ok() && (!any || !in.ok() || !in.AtEnd())) {
    status_ = Status(Code::kCorruption, "the state of a window is damaged");
  }
  if (!status_.ok()) return false;
  table->FinishRestore();
  window.rows = rows;
  window.sealed = true;
  window.table = std::move(table);
  return true;
}

Status TumbleOperator::Restore(flow::StateReader& state) {
  state_ = &state;
  std::vector<TimestampMs> ends;
  bool good = true;
  WEIR_RETURN_IF_ERROR(state.ListBuckets([&](std::string_view bucket, uint64_t) {
    uint64_t biased = 0;
    for (char c : bucket) biased = biased << 8 | static_cast<unsigned char>(c);
    const auto end = static_cast<TimestampMs>(biased ^ (uint64_t{1} << 63));
    good = good && bucket.size() == 8 && FloorMod(end - window_.offset_ms, window_.size_ms) == 0;
    ends.push_back(end);
  }));
  if (!good) return Status(Code::kCorruption, "a bucket of state is no window of this plan");
  uint64_t resident = 0;
  for (TimestampMs end : ends) {
    Window& window = windows_[end];
    window.start = end - window_.size_ms;
    window.end = end;
    // Read even when it does not stay: a damaged blob is found at the start, and its rows are
    // counted.
    if (!Load(window)) return status_;
    resident += window.table->Bytes();
    if (resident > kRestoreResidentBytes) resident -= Evict(kRestoreResidentBytes / 2);
  }
  return Status::Ok();
}

void TumbleOperator::Freeze(std::vector<flow::BucketDelta>& out) {
  for (std::string& bucket : dropped_) {
    flow::BucketDelta delta;
    delta.bucket = std::move(bucket);
    delta.dropped = true;
    out.push_back(std::move(delta));
  }
  dropped_.clear();
  for (auto& [end, window] : windows_) {
    if (!window.table || !window.table->dirty()) continue;
    ByteWriter meta;
    meta.Varint(window.rows);
    flow::BucketDelta delta;
    delta.bucket = BucketOf(end);
    delta.blob = window.table->Freeze(meta.str(), &delta.entries);
    window.sealed = true;
    out.push_back(std::move(delta));
  }
}

uint64_t TumbleOperator::StateBytes() const {
  uint64_t bytes = spare_ ? spare_->Bytes() : 0;
  for (const auto& [end, window] : windows_) bytes += BytesOf(window);
  return bytes;
}

uint64_t TumbleOperator::Evict(uint64_t target_bytes) {
  const uint64_t bytes = StateBytes();
  uint64_t freed = 0;
  if (spare_ && bytes > target_bytes) {
    freed = spare_->Bytes();
    spare_.reset();
  }
  for (auto& [end, window] : windows_) {
    if (bytes - freed <= target_bytes) break;
    if (!window.table || !window.sealed || window.table->dirty()) continue;
    freed += window.table->Bytes();
    window.table.reset();
  }
  return freed;
}

void TumbleOperator::CountBooks(flow::NodeBooks& books) const {
  for (const auto& [end, window] : windows_) books[Count::kOpen] += window.rows;
}

}  // namespace weir::operators
