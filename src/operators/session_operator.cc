#include "operators/session_operator.h"

#include <algorithm>

#include "operators/times.h"

namespace weir::operators {

using flow::Count;

namespace {

constexpr uint64_t kRestoreResidentBytes = 16 << 20;  // as in TumbleOperator
constexpr uint32_t kFlushRows = 1024;                 // results of several ends leave together
constexpr int64_t kSlicesPerGap = 32;
constexpr size_t kFetchAhead = 16;  // timers whose sessions are being fetched

}  // namespace

Result<std::unique_ptr<SessionOperator>> SessionOperator::Make(const plan::Node& node,
                                                               const Schema& input) {
  WEIR_RETURN_IF_ERROR(CheckWindowNode(node, input));
  SlotLayout layout;
  WEIR_ASSIGN_OR_RETURN(AggregateSet aggregates,
                        AggregateSet::Make(std::get<plan::WindowNode>(node.body).aggregates, input,
                                           sizeof(Session), &layout));
  return std::unique_ptr<SessionOperator>(
      new SessionOperator(node, input, layout, std::move(aggregates)));
}

SessionOperator::SessionOperator(const plan::Node& node, const Schema& input,
                                 const SlotLayout& layout, AggregateSet aggregates)
    : window_(std::get<plan::WindowNode>(node.body)),
      name_(node.name),
      layout_(layout),
      aggregates_(std::move(aggregates)),
      keys_(window_.keys, input),
      results_(node, input, &aggregates_, &books_),
      late_(window_),
      homeless_(window_, input),
      buckets_(kHashBuckets),
      timers_(std::max<int64_t>(1, window_.gap_ms / kSlicesPerGap)) {
  for (Bucket& bucket : buckets_) bucket.table = std::make_unique<KeyedTable>(&layout_);
}

void SessionTimers::Add(const SessionTimer& timer) {
  slices_[FloorDiv(timer.end, slice_ms_)].push_back(timer);
}

void SessionTimers::TakeDue(TimestampMs watermark, std::vector<SessionTimer>& due) {
  while (!slices_.empty()) {
    const auto first = slices_.begin();
    std::vector<SessionTimer>& timers = first->second;
    const auto later = std::partition(timers.begin(), timers.end(), [&](const SessionTimer& t) {
      return t.end - 1 <= watermark;
    });
    due.insert(due.end(), timers.begin(), later);
    timers.erase(timers.begin(), later);
    if (!timers.empty()) return;
    slices_.erase(first);
  }
}

uint64_t SessionTimers::Bytes() const {
  uint64_t bytes = 0;
  for (const auto& [slice, timers] : slices_) {
    bytes += sizeof(slices_) + timers.capacity() * sizeof(SessionTimer);
  }
  return bytes;
}

// Merges touched_ (at least one session) and [start, end) into the earliest of them.
uint32_t SessionOperator::JoinSessions(Bucket& bucket, TimestampMs start, TimestampMs end) {
  KeyedTable& table = *bucket.table;
  std::sort(touched_.begin(), touched_.end(), [&](uint32_t a, uint32_t b) {
    return SessionAt(table, a)->sequence < SessionAt(table, b)->sequence;
  });
  const uint32_t into = touched_.front();
  Session* session = SessionAt(table, into);
  session->start = std::min(session->start, start);
  session->end = std::max(session->end, end);
  for (size_t i = 1; i < touched_.size(); ++i) {
    const Session* other = SessionAt(table, touched_[i]);
    session->start = std::min(session->start, other->start);
    session->end = std::max(session->end, other->end);
    session->rows += other->rows;
    aggregates_.Merge(table, table.Fixed(into), table.Fixed(touched_[i]));
    table.Erase(touched_[i]);
  }
  return into;
}

void SessionOperator::Locate() {
  const size_t n = rows_.size();
  hashes_.resize(n);
  buckets_of_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const std::string_view key = keys_.key(i);
    hashes_[i] = KeyedTable::HashKey(key);
    buckets_of_[i] = HashBucketOf(HashBytes(key));
    const Bucket& bucket = buckets_[buckets_of_[i]];
    if (bucket.table) bucket.table->Prefetch(hashes_[i]);
  }
  for (size_t i = 0; i < n; ++i) {
    const Bucket& bucket = buckets_[buckets_of_[i]];
    if (bucket.table) (void)bucket.table->Candidate(hashes_[i]);
  }
}

void SessionOperator::Place(const Batch& batch, size_t i) {
  const uint32_t row = rows_[i];
  const std::string_view key = keys_.key(i);
  const uint32_t hash = hashes_[i];
  const uint8_t index = buckets_of_[i];
  Bucket& bucket = buckets_[index];
  if (!bucket.table && !Load(index)) return;
  KeyedTable& table = *bucket.table;
  const TimestampMs start = batch.column(static_cast<size_t>(window_.time_column)).ints[row];
  const TimestampMs end = start + window_.gap_ms;
  const TimestampMs watermark =
      batch.watermarks.empty() ? watermark_ : std::max(watermark_, batch.watermarks[row]);
  touched_.clear();
  for (uint32_t slot = table.Find(hash, key); slot != KeyedTable::kNone;
       slot = table.FindNext(hash, key, slot)) {
    const Session* s = SessionAt(table, slot);
    const bool fired = s->end - 1 <= watermark;
    if (!fired && start <= s->end && s->start <= end) touched_.push_back(slot);
  }
  uint32_t slot;
  if (!touched_.empty()) {
    slot = JoinSessions(bucket, start, end);
  } else if (end - 1 <= watermark) {
    return late_.Add(row, start, end, watermark);
  } else {
    slot = table.Insert(hash, key);
    *SessionAt(table, slot) = Session{start, end, next_sequence_, 0};
    timers_.Add({end, next_sequence_, slot, index});
    ++next_sequence_;
  }
  ++SessionAt(table, slot)->rows;
  ++bucket.rows;
  table.MarkDirty(slot);
  char* fixed = table.Fixed(slot);
  KeyedTable* tables = &table;
  aggregates_.Update(batch, std::span(&row, 1), &fixed, &tables);
  ++books_[Count::kPlaced];
  ++books_[Count::kAssigned];
}

void SessionOperator::Push(const Batch& batch, flow::Outputs& out) {
  if (!status_.ok()) return;
  books_[Count::kIn] += batch.selected_count();
  trail_.Note(batch);
  const Column& times = batch.column(static_cast<size_t>(window_.time_column));
  rows_.clear();
  batch.ForEachSelected([&](uint32_t row) {
    if (!times.valid[row]) {
      homeless_.Add(row, HomelessRows::Why::kNullTime);
    } else if (!WindowIsInRange(times.ints[row], times.ints[row] + window_.gap_ms)) {
      homeless_.Add(row, HomelessRows::Why::kOutOfRange);
    } else {
      rows_.push_back(row);
    }
  });
  keys_.Encode(batch, rows_);
  Locate();
  for (size_t i = 0; i < rows_.size() && status_.ok(); ++i) Place(batch, i);
  for (Bucket& bucket : buckets_) {
    if (bucket.table) bucket.table->MaybeCompact();
  }
  books_[Count::kLate] += late_.Emit(batch, out);
  books_[Count::kDead] += homeless_.Emit(batch, out);
}

// What a timer that is due means now: its session fires, or fires later because it was extended; an
// evicted bucket is loaded; an outdated timer means nothing.
void SessionOperator::Resolve(const SessionTimer& timer, TimestampMs watermark) {
  const Bucket& bucket = buckets_[timer.bucket];
  if (timer.sequence == 0) {
    if (!bucket.table) (void)Load(timer.bucket);  // a failure is in status_
    return;
  }
  if (!bucket.table || !bucket.table->live(timer.slot)) return;
  const Session* session = SessionAt(*bucket.table, timer.slot);
  if (session->sequence != timer.sequence) return;
  const SessionTimer now{session->end, timer.sequence, timer.slot, timer.bucket};
  if (session->end - 1 <= watermark) {
    due_.push_back(now);
  } else {
    timers_.Add(now);
  }
}

void SessionOperator::CollectDue(TimestampMs watermark) {
  due_.clear();
  // Again, as loading a bucket adds timers that may be due.
  for (;;) {
    taken_.clear();
    timers_.TakeDue(watermark, taken_);
    if (taken_.empty() || !status_.ok()) break;
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (i + kFetchAhead < taken_.size()) {
        const SessionTimer& ahead = taken_[i + kFetchAhead];
        const Bucket& bucket = buckets_[ahead.bucket];
        if (bucket.table && ahead.sequence != 0) bucket.table->PrefetchSlot(ahead.slot);
      }
      Resolve(taken_[i], watermark);
    }
  }
  std::sort(due_.begin(), due_.end(), [](const SessionTimer& a, const SessionTimer& b) {
    return a.end != b.end ? a.end < b.end : a.sequence < b.sequence;
  });
}

void SessionOperator::AdvanceWatermark(TimestampMs watermark, flow::Outputs& out) {
  if (watermark <= watermark_) return;
  CollectDue(watermark);
  TimestampMs below = watermark_;    // downstream's watermark
  TimestampMs before = watermark_;   // ... before the sessions of `end`
  TimestampMs end = kWatermarkNone;  // of the session that fired last
  for (const SessionTimer& due : due_) {
    if (!status().ok()) return;
    if (due.end != end) {
      // Sessions have many ends, each with few rows: a batch holds several, and each row says where
      // time stood.
      if (end != kWatermarkNone) below = end - 1;
      if (results_.pending() >= kFlushRows) {
        results_.Flush(out);
        out.Watermark(below);
      }
      end = due.end;
      before = trail_.Before(end, below);
    }
    Bucket& bucket = buckets_[due.bucket];
    KeyedTable& table = *bucket.table;
    const Session session = *SessionAt(table, due.slot);
    results_.Add(table.Key(due.slot), table.Fixed(due.slot), session.start, end, before, out);
    bucket.rows -= session.rows;
    books_[Count::kFired] += session.rows;
    table.Erase(due.slot);
  }
  if (!status().ok()) return;
  results_.Flush(out);
  if (end != kWatermarkNone) out.Watermark(end - 1);
  watermark_ = watermark;
  trail_.Clear();
}

void SessionOperator::AddTimers(uint8_t index) {
  Bucket& bucket = buckets_[index];
  bucket.rows = 0;
  bucket.table->ForEach([&](uint32_t slot) {
    const Session* s = SessionAt(*bucket.table, slot);
    bucket.rows += s->rows;
    next_sequence_ = std::max(next_sequence_, s->sequence + 1);
    timers_.Add({s->end, s->sequence, slot, index});
  });
}

bool SessionOperator::Load(uint8_t index) {
  auto table = std::make_unique<KeyedTable>(&layout_);
  std::string meta;
  bool any = false;
  status_ =
      state_->ReadBucket(std::string(1, static_cast<char>(index)), [&](std::string_view blob) {
        any = true;
        return table->ApplyBlob(blob, &meta);
      });
  if (status_.ok() && !any) {
    status_ = Status(Code::kCorruption, "a bucket of sessions of " + name_ + " is missing");
  }
  if (!status_.ok()) return false;
  table->FinishRestore();
  buckets_[index].table = std::move(table);
  buckets_[index].sealed = true;
  AddTimers(index);
  return true;
}

Status SessionOperator::Restore(flow::StateReader& state) {
  state_ = &state;
  std::vector<uint8_t> indexes;
  bool good = true;
  WEIR_RETURN_IF_ERROR(state.ListBuckets([&](std::string_view bucket, uint64_t) {
    good = good && bucket.size() == 1 && static_cast<uint8_t>(bucket[0]) < kHashBuckets;
    if (good) indexes.push_back(static_cast<uint8_t>(bucket[0]));
  }));
  if (!good) return Status(Code::kCorruption, "a bucket of state is no bucket of sessions");
  uint64_t resident = 0;
  for (uint8_t index : indexes) {
    // Read even when it does not stay, as in TumbleOperator; its sequence numbers are needed too.
    if (!Load(index)) return status_;
    resident += buckets_[index].table->Bytes();
    if (resident > kRestoreResidentBytes) resident -= Evict(kRestoreResidentBytes / 2);
  }
  return Status::Ok();
}

void SessionOperator::Freeze(std::vector<flow::BucketDelta>& out) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    Bucket& bucket = buckets_[i];
    if (!bucket.table || !bucket.table->dirty()) continue;
    flow::BucketDelta delta;
    delta.bucket.assign(1, static_cast<char>(i));
    delta.dropped = bucket.table->empty();
    if (delta.dropped) {
      // Sessions that came and went within the epoch leave nothing to say.
      bucket.table = std::make_unique<KeyedTable>(&layout_);
      if (bucket.sealed) out.push_back(std::move(delta));
      bucket.sealed = false;
      continue;
    }
    delta.blob = bucket.table->Freeze({}, &delta.entries);
    if (delta.entries == 0) continue;
    bucket.sealed = true;
    out.push_back(std::move(delta));
  }
}

uint64_t SessionOperator::StateBytes() const {
  uint64_t bytes = timers_.Bytes();
  for (const Bucket& bucket : buckets_) {
    if (bucket.table) bytes += bucket.table->Bytes();
  }
  return bytes;
}

uint64_t SessionOperator::Evict(uint64_t target_bytes) {
  const uint64_t before = StateBytes();
  uint64_t bytes = before;
  std::vector<bool> evicted(buckets_.size());
  std::vector<SessionTimer> stubs;
  for (size_t i = 0; i < buckets_.size() && bytes > target_bytes; ++i) {
    Bucket& bucket = buckets_[i];
    if (!bucket.table || !bucket.sealed || bucket.table->dirty()) continue;
    bytes -= std::min(bytes, bucket.table->Bytes() + bucket.table->size() * sizeof(SessionTimer));
    TimestampMs earliest = kWatermarkMax;
    bucket.table->ForEach(
        [&](uint32_t slot) { earliest = std::min(earliest, SessionAt(*bucket.table, slot)->end); });
    bucket.table.reset();
    evicted[i] = true;
    stubs.push_back({earliest, 0, 0, static_cast<uint8_t>(i)});
  }
  // One timer stands for all that went.
  timers_.EraseIf([&](const SessionTimer& t) { return evicted[t.bucket]; });
  for (const SessionTimer& stub : stubs) timers_.Add(stub);
  return before - std::min(before, StateBytes());
}

void SessionOperator::CountBooks(flow::NodeBooks& books) const {
  for (const Bucket& bucket : buckets_) books[Count::kOpen] += bucket.rows;
}

}  // namespace weir::operators
