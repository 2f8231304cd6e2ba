#include "operators/session_operator.h"

#include <algorithm>
#include <functional>

namespace weir::operators {

using flow::Count;

namespace {

constexpr uint64_t kRestoreResidentBytes = 16 << 20;   // as in TumbleOperator
constexpr uint32_t kFlushRows = 1024;                  // results of several ends leave together

}  // namespace

Result<std::unique_ptr<SessionOperator>> SessionOperator::Make(const plan::Node& node,
                                                               const Schema& input) {
  WEIR_RETURN_IF_ERROR(CheckWindowNode(node, input));
  SlotLayout layout;
  WEIR_ASSIGN_OR_RETURN(
      AggregateSet aggregates,
      AggregateSet::Make(std::get<plan::WindowNode>(node.body).aggregates, input, sizeof(Session),
                         &layout));
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
      null_times_(window_, input),
      buckets_(kHashBuckets) {
  for (Bucket& bucket : buckets_) bucket.table = std::make_unique<KeyedTable>(&layout_);
}

void SessionOperator::PushTimer(const Timer& timer) {
  timers_.push_back(timer);
  std::push_heap(timers_.begin(), timers_.end(), std::greater<>());
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

void SessionOperator::Place(const Batch& batch, uint32_t row, std::string_view key) {
  const uint64_t hash64 = HashBytes(key);
  const auto hash = static_cast<uint32_t>(hash64);
  const uint8_t index = HashBucketOf(hash64);
  Bucket& bucket = buckets_[index];
  if (!bucket.table && !Load(index)) return;
  KeyedTable& table = *bucket.table;
  const TimestampMs start =
      batch.column(static_cast<size_t>(window_.time_column)).ints[row];
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
    PushTimer({end, next_sequence_, slot, index});
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
    if (times.valid[row]) {
      rows_.push_back(row);
    } else {
      null_times_.Add(row);
    }
  });
  keys_.Encode(batch, rows_);
  for (size_t i = 0; i < rows_.size() && status_.ok(); ++i) Place(batch, rows_[i], keys_.key(i));
  for (Bucket& bucket : buckets_) {
    if (bucket.table) bucket.table->MaybeCompact();
  }
  books_[Count::kLate] += late_.Emit(batch, out);
  books_[Count::kDead] += null_times_.Emit(batch, out);
}

// Whether the timer's session fires now. Else what was due is done: an evicted bucket is loaded, an extended session
// gets a later timer, an outdated timer is forgotten.
bool SessionOperator::IsDue(const Timer& timer) {
  const Bucket& bucket = buckets_[timer.bucket];
  if (timer.sequence == 0) {
    if (!bucket.table) (void)Load(timer.bucket);   // a failure is in status_
    return false;
  }
  if (!bucket.table || !bucket.table->live(timer.slot)) return false;
  const Session* session = SessionAt(*bucket.table, timer.slot);
  if (session->sequence != timer.sequence) return false;
  if (session->end == timer.end) return true;
  PushTimer({session->end, session->sequence, timer.slot, timer.bucket});
  return false;
}

void SessionOperator::AdvanceWatermark(TimestampMs watermark, flow::Outputs& out) {
  if (watermark <= watermark_) return;
  TimestampMs below = watermark_;         // downstream's watermark
  TimestampMs before = watermark_;        // ... before the sessions of `end`
  TimestampMs end = kWatermarkNone;       // of the session that fired last
  while (!timers_.empty() && timers_.front().end - 1 <= watermark && status().ok()) {
    const Timer timer = timers_.front();
    std::pop_heap(timers_.begin(), timers_.end(), std::greater<>());
    timers_.pop_back();
    if (!IsDue(timer)) continue;
    Bucket& bucket = buckets_[timer.bucket];
    const Session session = *SessionAt(*bucket.table, timer.slot);
    if (session.end != end) {
      // Sessions have many ends, each with few rows: a batch holds several, and each row says where time stood.
      if (end != kWatermarkNone) below = end - 1;
      if (results_.pending() >= kFlushRows) {
        results_.Flush(out);
        out.Watermark(below);
      }
      end = session.end;
      before = trail_.Before(end, below);
    }
    results_.Add(bucket.table->Key(timer.slot), bucket.table->Fixed(timer.slot), session.start,
                 session.end, before, out);
    bucket.rows -= session.rows;
    books_[Count::kFired] += session.rows;
    bucket.table->Erase(timer.slot);
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
    PushTimer({s->end, s->sequence, slot, index});
  });
}

bool SessionOperator::Load(uint8_t index) {
  auto table = std::make_unique<KeyedTable>(&layout_);
  std::string meta;
  bool any = false;
  status_ = state_->ReadBucket(std::string(1, static_cast<char>(index)), [&](std::string_view blob) {
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
  uint64_t bytes = timers_.capacity() * sizeof(Timer);
  for (const Bucket& bucket : buckets_) {
    if (bucket.table) bytes += bucket.table->Bytes();
  }
  return bytes;
}

uint64_t SessionOperator::Evict(uint64_t target_bytes) {
  const uint64_t before = StateBytes();
  uint64_t bytes = before;
  std::vector<bool> evicted(buckets_.size());
  std::vector<Timer> stubs;
  for (size_t i = 0; i < buckets_.size() && bytes > target_bytes; ++i) {
    Bucket& bucket = buckets_[i];
    if (!bucket.table || !bucket.sealed || bucket.table->dirty()) continue;
    bytes -= std::min(bytes, bucket.table->Bytes() + bucket.table->size() * sizeof(Timer));
    TimestampMs earliest = kWatermarkMax;
    bucket.table->ForEach([&](uint32_t slot) {
      earliest = std::min(earliest, SessionAt(*bucket.table, slot)->end);
    });
    bucket.table.reset();
    evicted[i] = true;
    stubs.push_back({earliest, 0, 0, static_cast<uint8_t>(i)});
  }
  // One timer stands for all that went.
  std::erase_if(timers_, [&](const Timer& t) { return evicted[t.bucket]; });
  timers_.insert(timers_.end(), stubs.begin(), stubs.end());
  timers_.shrink_to_fit();
  std::make_heap(timers_.begin(), timers_.end(), std::greater<>());
  return before - std::min(before, StateBytes());
}

void SessionOperator::CountBooks(flow::NodeBooks& books) const {
  for (const Bucket& bucket : buckets_) books[Count::kOpen] += bucket.rows;
}

}  // namespace weir::operators
