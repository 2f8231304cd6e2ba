#include "runtime/scan.h"

#include <algorithm>

#include "base/text.h"

namespace weir::runtime {

namespace {

// No clock that stands before this was right while weir existed: 2026-11-01.
constexpr int64_t kBuiltAfterMs = 1793491200000;

}  // namespace

bool ClockBelieved(int64_t wall_ms, TimestampMs highest_sealed_watermark) {
  return wall_ms >= kBuiltAfterMs &&
         (highest_sealed_watermark == kWatermarkMax || wall_ms >= highest_sealed_watermark);
}

// What was decoded of one partition and is not consumed yet.
struct Scan::Reader : flow::Outputs {
  Batch raw;
  std::unique_ptr<flow::Operator> outputs;
  const Batch* rows = nullptr;     // the operator's batch: valid until its next Push
  std::vector<uint32_t> selected;  // its selected rows
  Batch dead;                      // rows that failed in an output expression, with their positions
  uint32_t cursor = 0;             // raw rows below this are consumed
  size_t next_selected = 0, next_dead = 0, next_non_row = 0;

  void Main(const Batch& batch) override {
    rows = &batch;
    selected.clear();
    batch.ForEachSelected([this](uint32_t r) { selected.push_back(r); });
  }
  void Late(const Batch&) override { CHECK(false); }
  void Dead(const Batch& batch) override {
    batch.ForEachSelected([&](uint32_t r) { dead.AppendRow(batch, r); });
  }
  void Watermark(TimestampMs) override {}

  void Clear(const Schema& raw_schema) {
    raw.Reset(raw_schema);
    dead.Reset(flow::DeadLetterSchema());
    rows = nullptr;
    selected.clear();
    cursor = 0;
    next_selected = next_dead = next_non_row = 0;
  }
  // What a row says of its partition's time: the watermark that came with it, which stands for the
  // event time that makes it; else its own event time; else nothing.
  struct Said {
    TimestampMs at;  // held against the row's arrival. kWatermarkNone: nothing was said
    TimestampMs event_time;
  };
  Said Says(const Column& time, uint32_t row, int64_t bound_ms) const {
    if (!raw.upstream_watermarks.empty() && raw.upstream_watermarks[row] != kWatermarkNone)
      return {raw.upstream_watermarks[row], raw.upstream_watermarks[row] + bound_ms};
    const TimestampMs own = time.IsNull(row) ? kWatermarkNone : time.ints[row];
    return {own, own};
  }
  bool Consumed() const { return cursor == raw.rows() && next_non_row == raw.non_rows.size(); }
};

Scan::Scan(const plan::Node& node, const Factories& factories, const ScanSettings& settings,
           io::Clock& clock)
    : node_(node),
      scan_(std::get<plan::ScanNode>(node.body)),
      factories_(factories),
      settings_(settings),
      clock_(clock),
      has_rowtime_(scan_.rowtime >= 0),
      watermarks_(scan_.watermark_bound_ms) {
  for (const int c : scan_.raw_columns) {
    raw_schema_.fields.push_back({scan_.table->columns[c].name, scan_.table->columns[c].type});
  }
}

Scan::~Scan() = default;

Status Scan::Discover(bool opening) {
  std::vector<flow::PartitionInfo> found;
  WEIR_RETURN_IF_ERROR(source_->Discover(found));
  for (flow::PartitionInfo& info : found) {
    const int index = static_cast<int>(partitions_.size());
    CHECK(info.index == index);
    watermarks_.Add(index);
    auto partition = std::make_unique<Partition>();
    partition->info = std::move(info);
    partitions_.push_back(std::move(partition));
    Partition& p = *partitions_.back();
    p.position = p.info.position;
    if (opening && p.info.restored) {
      if (const auto saved = SavedWatermark(p.info.key)) {
        watermarks_.Restore(index, *saved);
        p.changed = false;
      }
    }
    if (p.info.finished) watermarks_.SetEnded(index);
    if (!p.info.finished && !p.info.key.empty() && p.info.key == restored_current_)
      current_ = index;
    if (has_rowtime_ && !p.info.finished) WEIR_RETURN_IF_ERROR(PeekTime(index));
    if (!p.info.finished && !source_->MayRead(index)) {
      p.waiting = true;
      p.waiting_since_ns = clock_.MonotonicNs();
    }
    Rank(index);
    if (p.changed) dirty_ = true;
  }
  restored_current_.clear();
  if (has_rowtime_ && !found.empty()) watermarks_.Recompute();
  return Status::Ok();
}

Status Scan::PeekTime(int index) {
  if (watermarks_.at(index).max_event_time != kWatermarkNone) return Status::Ok();
  Partition& p = *partitions_[index];
  WEIR_RETURN_IF_ERROR(TakeReader(p));
  Reader& peek = *p.reader;
  WEIR_RETURN_IF_ERROR(source_->Peek(index, peek.raw));
  if (peek.raw.rows() > 0) {
    const flow::NodeBooks books = peek.outputs->books();
    peek.outputs->Push(peek.raw, peek);
    peek.outputs->books() = books;  // a peek counts nothing
  }
  TakePeek(index, peek);
  GiveReader(p);
  return Status::Ok();
}

Status Scan::TakeReader(Partition& p) {
  if (p.reader == nullptr) {
    p.reader = std::move(spare_);
    if (p.reader == nullptr) {
      p.reader = std::make_unique<Reader>();
      WEIR_ASSIGN_OR_RETURN(p.reader->outputs, factories_.scan_outputs(node_, raw_schema_));
    }
  }
  p.reader->Clear(raw_schema_);
  return Status::Ok();
}

void Scan::GiveReader(Partition& p) {
  if (p.reader != nullptr) spare_ = std::move(p.reader);
}

void Scan::TakePeek(int index, const Reader& peek) {
  if (peek.rows == nullptr) return;
  const Column& time = peek.rows->column(scan_.rowtime);
  const int64_t wall_ms = clock_.WallMs();
  clock_believed_ = ClockBelieved(wall_ms, highest_sealed_watermark_);
  for (const uint32_t row : peek.selected) {
    const Reader::Said said = peek.Says(time, row, scan_.watermark_bound_ms);
    if (said.at == kWatermarkNone || said.at > LatestOk(peek, row, wall_ms)) continue;
    watermarks_.SetPeek(index, said.event_time);
    return;
  }
}

bool Scan::HasRows(int index) const {
  const Partition& p = *partitions_[index];
  if (watermarks_.at(index).state == SourceWatermarks::Partition::State::kEnded) return false;
  return (p.reader != nullptr && !p.reader->Consumed()) || p.known_end || !p.waiting;
}

void Scan::Rank(int index) {
  Partition& p = *partitions_[index];
  if (p.ranked) ready_.erase({*p.ranked, p.info.label, index});
  p.ranked.reset();
  if (p.waiting)
    waiting_.insert(index);
  else
    waiting_.erase(index);
  if (!HasRows(index)) return;
  // Without event time: in the order of discovery (by path; of a rotated file the rest comes
  // first).
  p.ranked = has_rowtime_ ? watermarks_.WatermarkOf(index) : p.info.in_turns ? p.turn : index;
  ready_.insert({*p.ranked, p.info.label, index});
}

void Scan::AskWaiting() {
  const std::vector<int> waiting(waiting_.begin(), waiting_.end());
  for (const int i : waiting) {
    if (!source_->MayRead(i)) continue;
    partitions_[i]->waiting = false;
    Rank(i);
  }
}

// The partition that may be read now: the lowest watermark (an idle one has news, and stands
// behind), and none further ahead of the slowest than max-drift. -1: nobody.
int Scan::Choose() {
  if (ready_.empty()) return -1;
  const int best = ready_.begin()->index;
  if (!has_rowtime_) return best;
  // A partition that waits (its file is at its end, not idle yet) holds back those ahead of it.
  const TimestampMs own = watermarks_.WatermarkOf(best);
  const TimestampMs lowest = watermarks_.LowestKnownOther(best);
  if (own != kWatermarkNone && own > lowest && own - settings_.max_drift_ms > lowest) return -1;
  return best;
}

Status Scan::Fill(int index) {
  Partition& p = *partitions_[index];
  WEIR_RETURN_IF_ERROR(TakeReader(p));
  Reader& r = *p.reader;
  WEIR_ASSIGN_OR_RETURN(const flow::ReadState state,
                        source_->Read(index, settings_.batch_rows, r.raw));
  p.known_end = state == flow::ReadState::kEnd;
  const bool got = r.raw.rows() > 0 || !r.raw.non_rows.empty();
  if (got) {
    p.waiting = false;
    p.waiting_since_ns = 0;
    watermarks_.SetActive(index);
    r.raw.partition = index;
    r.raw.source = scan_.table->name;
    if (r.raw.rows() > 0) r.outputs->Push(r.raw, r);
  } else if (state == flow::ReadState::kWait) {
    if (p.waiting_since_ns == 0) p.waiting_since_ns = clock_.MonotonicNs();
    p.waiting = true;
  }
  return r.outputs->status();
}

// The latest event time of a row that may move the watermark. Arrival is the broker's time where it
// set one; else the record's own, but not later than our clock - if that is believed.
TimestampMs Scan::LatestOk(const Reader& r, uint32_t row, int64_t wall_ms) const {
  const int64_t record_ms = r.raw.record_ms.empty() ? kNoRecordTime : r.raw.record_ms[row];
  if (record_ms != kNoRecordTime && r.raw.record_by_broker[row])
    return record_ms + settings_.max_future_skew_ms;
  if (!clock_believed_) return kWatermarkMax;
  const int64_t arrival_ms = record_ms == kNoRecordTime ? wall_ms : std::min(record_ms, wall_ms);
  return arrival_ms + settings_.max_future_skew_ms;
}

// The first raw row that must wait because its partition is too far ahead; raw.rows() when none.
// Fills `rows` (the rows to push) and the watermark column, and advances `run`.
uint32_t Scan::StopRow(int index, SourceWatermarks::Run& run, std::vector<uint32_t>& rows) {
  Reader& r = *partitions_[index]->reader;
  if (r.rows == nullptr) return r.raw.rows();
  view_.watermarks.resize(r.rows->rows());
  rows.reserve(r.selected.size() - r.next_selected);
  if (!has_rowtime_) {
    for (; r.next_selected < r.selected.size(); ++r.next_selected) {
      view_.watermarks[r.selected[r.next_selected]] = kWatermarkNone;
      rows.push_back(r.selected[r.next_selected]);
    }
    return r.raw.rows();
  }
  const int64_t wall_ms = clock_.WallMs();
  clock_believed_ = ClockBelieved(wall_ms, highest_sealed_watermark_);
  // Somebody whose time is not known yet stops nobody: it is read when its turn comes.
  const TimestampMs limit = run.aligned_to() >= kWatermarkMax - settings_.max_drift_ms
                                ? kWatermarkMax
                                : run.aligned_to() + settings_.max_drift_ms;
  const Column& time = r.rows->column(scan_.rowtime);
  TimestampMs* watermark = view_.watermarks.data();
  for (; r.next_selected < r.selected.size(); ++r.next_selected) {
    const uint32_t row = r.selected[r.next_selected];
    if (run.Own() > limit) return row;
    watermark[row] = run.Before();
    rows.push_back(row);
    const Reader::Said said = r.Says(time, row, scan_.watermark_bound_ms);
    if (said.at == kWatermarkNone) continue;
    if (said.at > LatestOk(r, row, wall_ms)) {
      ++books_[flow::Count::kFutureSkew];
    } else {
      run.Advance(said.event_time);
    }
  }
  return r.raw.rows();
}

// Where the next dead letter or skipped record before row `stop` lies; INT64_MAX: there is none.
int64_t Scan::NextDeadPosition(const Reader& r, uint32_t stop) const {
  const int64_t stop_position = stop < r.raw.rows() ? r.raw.positions[stop] : INT64_MAX;
  int64_t next = INT64_MAX;
  if (r.next_dead < r.dead.rows() && r.dead.positions[r.next_dead] < stop_position) {
    next = r.dead.positions[r.next_dead];
  }
  if (r.next_non_row < r.raw.non_rows.size() && r.raw.non_rows[r.next_non_row].before_row <= stop) {
    next = std::min(next, r.raw.non_rows[r.next_non_row].pos);
  }
  return next;
}

// Passes the dead letters and skipped records that lie before `before`, in reading order.
void Scan::EmitDead(int index, uint32_t stop, int64_t before, flow::Outputs& out) {
  Reader& r = *partitions_[index]->reader;
  dead_.Clear();
  for (int64_t at = NextDeadPosition(r, stop); at < before; at = NextDeadPosition(r, stop)) {
    if (r.next_dead < r.dead.rows() && r.dead.positions[r.next_dead] == at) {
      ++books_[flow::Count::kRead];
      ++books_[flow::Count::kDead];
      dead_.batch().AppendRow(r.dead, static_cast<uint32_t>(r.next_dead++));
      continue;
    }
    const NonRow& record = r.raw.non_rows[r.next_non_row++];
    books_[flow::Count::kRead] += record.count;
    if (record.skipped) {
      books_[flow::Count::kSkipped] += record.count;
    } else {
      ++books_[flow::Count::kDead];
      dead_.AddRecord(scan_.table->name, index, record);
    }
  }
  if (!dead_.empty()) out.Dead(dead_.batch());
}

void Scan::PushRows(int index, std::vector<uint32_t> rows, flow::Outputs& out) {
  if (rows.empty()) return;
  books_[flow::Count::kRead] += rows.size();
  books_[flow::Count::kDecoded] += rows.size();
  view_.partition = index;
  view_.source = scan_.table->name;
  if (rows.size() == view_.rows())
    view_.ClearSelection();
  else
    view_.SetSelection(std::move(rows));
  out.Main(view_);
}

void Scan::Consume(int index, flow::Outputs& out) {
  Partition& p = *partitions_[index];
  Reader& r = *p.reader;
  SourceWatermarks::Run run = watermarks_.Begin(index);
  std::vector<uint32_t> rows;
  view_.ResetEmpty(r.rows == nullptr ? 0 : r.rows->rows());
  const uint32_t stop = StopRow(index, run, rows);
  if (r.rows != nullptr) {
    for (size_t c = 0; c < r.rows->column_count(); ++c) view_.Borrow(r.rows->column(c));
    view_.positions = r.rows->positions;
  }
  // In reading order: rows up to the next dead letter, then the dead letters up to the next row. So
  // that those of the decoder and those of the queries stand as they were read, whatever the batch.
  for (size_t from = 0;;) {
    const int64_t dead_at = NextDeadPosition(r, stop);
    size_t to = rows.size();
    if (dead_at != INT64_MAX) {
      to = from;
      while (to < rows.size() && r.raw.positions[rows[to]] <= dead_at) ++to;
    }
    if (from == 0 && to == rows.size()) {
      PushRows(index, rows, out);
    } else {
      PushRows(
          index,
          {rows.begin() + static_cast<ptrdiff_t>(from), rows.begin() + static_cast<ptrdiff_t>(to)},
          out);
    }
    from = to;
    if (dead_at == INT64_MAX) break;
    EmitDead(index, stop, from < rows.size() ? r.raw.positions[rows[from]] : INT64_MAX, out);
  }
  const int64_t position = stop < r.raw.rows() ? r.raw.positions[stop] : r.raw.end_position;
  r.cursor = stop;
  if (position != p.position || r.Consumed()) {
    p.position = position;
    p.changed = true;
    dirty_ = true;
  }
  watermarks_.End(run);
  if (stop < r.raw.rows()) current_ = -1;  // too far ahead: the next lowest's turn
  if (!has_rowtime_ && p.info.in_turns && r.Consumed()) {
    p.turn = ++turns_;
    current_ = -1;
  }
}

void Scan::EndPartition(int index) {
  Partition& p = *partitions_[index];
  watermarks_.SetEnded(index);
  p.waiting = false;
  Rank(index);
  GiveReader(p);
  p.changed = true;
  dirty_ = true;
  if (current_ == index) current_ = -1;
}

void Scan::CheckIdle(int64_t now_ns) {
  constexpr int64_t kCheckNs = 100'000'000;
  if (settings_.idle_timeout_ms <= 0 || now_ns < next_idle_check_ns_) return;
  next_idle_check_ns_ = now_ns + kCheckNs;
  using State = SourceWatermarks::Partition::State;
  for (const int i : waiting_) {
    Partition& p = *partitions_[i];
    const State state = watermarks_.at(i).state;
    if (state == State::kIdle && !source_->AtEnd(i)) {
      // Nobody knows any more whether something lies there: it holds the watermark again.
      watermarks_.SetActive(i);
      p.changed = true;
      dirty_ = true;
      continue;
    }
    if (p.waiting_since_ns == 0 || state != State::kActive || !source_->AtEnd(i)) continue;
    if (now_ns - p.waiting_since_ns < settings_.idle_timeout_ms * 1000000) continue;
    watermarks_.SetIdle(i);
    p.changed = true;
    dirty_ = true;
  }
}

Result<Scan::Outcome> Scan::Poll(flow::Outputs& out) {
  if (ended_) return Outcome::kEnded;
  const int64_t now_ns = clock_.MonotonicNs();
  const int64_t interval_ms = source_->PollIntervalMs();
  const bool due = interval_ms >= 0 && now_ns >= next_poll_ns_;
  if (source_->Woken() || due) {
    WEIR_RETURN_IF_ERROR(Discover(/*opening=*/false));
    AskWaiting();
    if (due) next_poll_ns_ = now_ns + interval_ms * 1000000;
  }
  // Before reading: a partition that nobody can ask any more holds back what is read now.
  CheckIdle(now_ns);
  if (current_ < 0 || !HasRows(current_)) current_ = Choose();
  Outcome outcome = Outcome::kIdle;
  if (current_ >= 0) {
    const int index = current_;
    Partition& p = *partitions_[index];
    if ((p.reader == nullptr || p.reader->Consumed()) && !p.known_end)
      WEIR_RETURN_IF_ERROR(Fill(index));
    if (p.reader != nullptr && !p.reader->Consumed()) {
      outcome = Outcome::kProgress;
      Consume(index, out);
      Rank(index);
    }
    if (p.known_end && (p.reader == nullptr || p.reader->Consumed())) {
      outcome = Outcome::kProgress;
      EndPartition(index);
    } else if (p.waiting) {
      current_ = -1;
      GiveReader(p);
      Rank(index);
      if (Choose() >= 0) outcome = Outcome::kProgress;  // somebody else may go on
    }
  }
  const TimestampMs before = watermarks_.Current();
  if (has_rowtime_) watermarks_.Recompute();
  if (scan_.bounded && source_->Complete() && watermarks_.AllEnded() && parks().empty()) {
    ended_ = true;
    dirty_ = true;
    out.Watermark(kWatermarkMax);
    return Outcome::kEnded;
  }
  // A bounded source whose parked partitions are all that is left must not close their windows.
  if (has_rowtime_ && watermarks_.Current() != kWatermarkNone &&
      watermarks_.Current() != kWatermarkMax) {
    if (watermarks_.Current() != before) dirty_ = true;
    out.Watermark(watermarks_.Current());
  }
  return outcome;
}

int64_t Scan::WaitMs() const {
  if (ended_) return -1;
  if (source_->PollIntervalMs() < 0) return -1;
  const int64_t left_ms = (next_poll_ns_ - clock_.MonotonicNs() + 999999) / 1000000;
  return std::max<int64_t>(0, left_ms);
}

bool Scan::parked() const {
  if (ended_) return false;
  const std::vector<flow::SourcePark> parks = source_->parks();
  if (parks.empty()) return false;
  for (const auto& [low, i] : watermarks_.active()) {
    const bool is_parked =
        std::any_of(parks.begin(), parks.end(), [i = i](const flow::SourcePark& park) {
          return park.partition == i || park.partition < 0;
        });
    if (!is_parked) return false;
  }
  return true;
}

void Scan::AppendStatus(std::string& json) const {
  const auto time = [](TimestampMs t) {
    return t == kWatermarkNone  ? std::string("null")
           : t == kWatermarkMax ? std::string("\"end\"")
                                : std::to_string(t);
  };
  json +=
      "\"watermark\":" + time(watermarks_.Current()) + ",\"ended\":" + (ended_ ? "true" : "false");
  json += ",\"clock_believed\":" + std::string(clock_believed_ ? "true" : "false") +
          ",\"partitions\":[";
  constexpr int kShown = 100;  // a directory of 100,000 finished files is not a status page
  int shown = 0;
  for (const auto& [low, i] : watermarks_.active()) {
    if (shown == kShown) break;
    if (shown++ > 0) json += ",";
    json += "{\"partition\":" + JsonQuote(partitions_[i]->info.label) +
            ",\"position\":" + std::to_string(partitions_[i]->position) +
            ",\"watermark\":" + time(watermarks_.WatermarkOf(i)) +
            ",\"waiting\":" + (partitions_[i]->waiting ? "true" : "false") + "}";
  }
  json += "],\"partitions_total\":" + std::to_string(partitions_.size()) +
          ",\"partitions_active\":" + std::to_string(watermarks_.active().size());
  source_->AppendStatus(json);
}

}  // namespace weir::runtime
