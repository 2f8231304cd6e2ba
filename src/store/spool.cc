#include "store/spool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "data/row_codec.h"
#include "flow/dead_letters.h"
#include "io/fault.h"
#include "store/segment.h"
#include "store/segment_writer.h"
#include "store/spool_reader.h"
#include "store/spool_scan.h"

namespace weir::store {
namespace {

// What the delivery worker and the disk worker share with the loop thread: which rows are where.
class SpoolIndex {
 public:
  void Reset(std::vector<EpochSpan> spans, std::map<uint64_t, uint64_t> segments) {
    const std::lock_guard hold(mutex_);
    spans_ = std::move(spans);
    segments_ = std::move(segments);
    last_epoch_.clear();
    for (const EpochSpan& span : spans_) last_epoch_[span.segment] = span.epoch;
  }

  void Add(const EpochSpan& span) {
    const std::lock_guard hold(mutex_);
    spans_.push_back(span);
    segments_[span.segment] = span.end;
    last_epoch_[span.segment] = span.epoch;
  }

  // Rows (after, to]. Rows within an epoch count from 1.
  SpoolRange Range(EpochId after_epoch, uint64_t after_rows, EpochId to_epoch,
                   uint64_t to_rows) const {
    const std::lock_guard hold(mutex_);
    SpoolRange range;
    range.last_rows = UINT64_MAX;
    for (const EpochSpan& span : spans_) {
      if (span.epoch < after_epoch || span.epoch > to_epoch) continue;
      if (span.epoch == after_epoch && after_rows >= span.rows) continue;
      if (span.epoch == to_epoch && to_rows == 0) continue;
      if (range.spans.empty() && span.epoch == after_epoch) range.skip_rows = after_rows;
      if (span.epoch == to_epoch) range.last_rows = to_rows;
      range.spans.push_back(span);
    }
    return range;
  }

  void Checked(EpochId epoch) {
    const std::lock_guard hold(mutex_);
    const auto span = std::ranges::lower_bound(spans_, epoch, {}, &EpochSpan::epoch);
    if (span != spans_.end() && span->epoch == epoch) span->checked = true;
  }

  // Begins with a segment: a start takes nothing less for the edge of what was trimmed.
  EpochId HeldFrom() const {
    const std::lock_guard hold(mutex_);
    EpochId from = 0;
    for (size_t i = spans_.size(); i > 0; --i) {
      const EpochSpan& span = spans_[i - 1];
      const bool first = i == 1 || spans_[i - 2].segment != span.segment;
      if (first) from = span.epoch;
      if (i > 1 && spans_[i - 2].rows_total != span.rows_total - span.rows) break;
    }
    return from;
  }

  // Segments whose rows are all of epochs at or below `acked`; never the newest, which is written
  // to.
  std::vector<uint64_t> Delivered(EpochId acked) const {
    const std::lock_guard hold(mutex_);
    std::vector<uint64_t> numbers;
    for (const auto& [number, bytes] : segments_) {
      if (number == segments_.rbegin()->first) break;
      const auto last = last_epoch_.find(number);
      if (last == last_epoch_.end() || last->second <= acked) numbers.push_back(number);
    }
    return numbers;
  }

  uint64_t Forget(uint64_t segment) {
    const std::lock_guard hold(mutex_);
    const uint64_t bytes = segments_[segment];
    segments_.erase(segment);
    last_epoch_.erase(segment);
    std::erase_if(spans_, [&](const EpochSpan& span) { return span.segment == segment; });
    return bytes;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<EpochSpan> spans_;            // sealed, ascending
  std::map<uint64_t, uint64_t> segments_;   // number -> bytes
  std::map<uint64_t, EpochId> last_epoch_;  // by segment
};

class SpoolImpl : public Spool {
 public:
  SpoolImpl(const io::Env& env, const SpoolOptions& options)
      : env_(env), options_(options), writer_(env_.files, options_.directory) {}

  // ---- takeover ----

  Status Inspect(const flow::TakeoverContext& context) override {
    findings_ = {};
    if (context.fresh) {
      // What older lineages left is only looked at for its format and its ids.
      WEIR_RETURN_IF_ERROR(CheckSegmentFormats(env_.files, options_.directory));
      findings_.drop = ListSegments(env_.files, options_.directory);
      findings_.highest_seen = findings_.drop.empty() ? 0 : findings_.drop.back();
      return Status::Ok();
    }
    SpoolQuestion question{options_.directory, context.lineage,  std::nullopt,
                           options_.acked,     context.lineages, env_.heartbeat};
    if (!context.blob.empty()) {
      question.sealed = DecodeSpoolExtent(context.blob);
      if (!question.sealed) {
        return Status(Code::kCorruption, "state.db: the extent of sink " + options_.sink +
                                             " is damaged: '" + context.blob + "'");
      }
    }
    sealed_ = question.sealed;
    WEIR_ASSIGN_OR_RETURN(findings_, ScanSpool(env_.files, question));
    return Status::Ok();
  }

  std::vector<flow::Claim> Claims() const override { return {}; }
  EpochId HighestEpochSeen() const override { return findings_.highest_seen; }

  Status Recover(const flow::TakeoverContext& context) override {
    lineage_ = context.lineage;
    WEIR_RETURN_IF_ERROR(MakeDirectories());
    for (const std::string& notice : findings_.notices) {
      LogWarning("spool_damage_dropped", {{"sink", options_.sink}, {"what", notice}});
    }
    bool removed = false;
    for (const uint64_t number : findings_.drop) {
      WEIR_RETURN_IF_ERROR(RemoveSegment(number));
      removed = true;
    }
    if (sealed_ && !context.fresh) {
      previous_ = sealed_->epoch;
      rows_total_ = sealed_->rows_total;
      if (findings_.sealed_segment_usable) WEIR_RETURN_IF_ERROR(CutTail());
    }
    // Else a power cut could bring a dropped segment back beside newer ones.
    if (removed) WEIR_RETURN_IF_ERROR(env_.files.SyncDirectory(options_.directory));
    first_new_ = std::max({findings_.highest_seen, context.base, previous_}) + 1;
    for (const auto& [number, bytes] : findings_.segments) sealed_bytes_ += bytes;
    index_.Reset(std::move(findings_.spans), std::move(findings_.segments));
    return Status::Ok();
  }

  // ---- the open epoch: loop thread ----

  Status Stage(const Batch& batch, flow::Outputs& out) override {
    if (!failure_.ok()) return failure_;
    dead_.Clear();
    batch.ForEachSelected([&](uint32_t row) { StageRow(batch, row); });
    if (!dead_.empty()) out.Dead(dead_.batch());
    return failure_;
  }

  bool paused() const override { return writer_.waiting(); }

  Status RetryWrites() override {
    const Status status = writer_.Retry();
    return status.code() == Code::kNoSpace ? Status::Ok() : status;
  }

  uint64_t BufferedBytes() const override { return block_.size() + writer_.waiting_bytes(); }

  std::optional<flow::Extent> Freeze(EpochId epoch, bool) override {
    CHECK(!frozen_);
    if (epoch_rows_ == 0) return std::nullopt;
    FinishBlock();
    rows_total_ += epoch_rows_;
    flow::Extent extent{epoch_rows_, digest_.Value(), ""};
    Append(EncodeBlock(BlockKind::kEnd, 0, epoch,
                       EncodeEpochEnd({epoch_rows_, rows_total_, extent.digest})));
    writer_.Freeze();
    frozen_ =
        EpochSpan{epoch, writer_.number(), epoch_begin_, writer_.end(), epoch_rows_, rows_total_};
    extent.blob = EncodeSpoolExtent({writer_.number(), writer_.end(), epoch, rows_total_});
    previous_ = epoch;
    first_new_ = epoch + 1;
    // The books become part of the epoch that this extent is sealed with.
    books_[flow::Count::kSealed] += epoch_rows_;
    epoch_rows_ = 0;
    epoch_begin_ = kNoBlockYet;
    frozen_bytes_ = open_bytes_.exchange(0);
    digest_.Reset();
    return extent;
  }

  // ---- disk worker ----

  Status Sync() override { return writer_.Sync(); }

  Status Trim(EpochId acked) override {
    for (const uint64_t number : index_.Delivered(acked)) {
      WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("spool.before_trim").ToStatus("spool.before_trim"));
      WEIR_RETURN_IF_ERROR(RemoveSegment(number));
      sealed_bytes_ -= index_.Forget(number);
      WEIR_RETURN_IF_ERROR(WEIR_FAULT_POINT("spool.after_trim").ToStatus("spool.after_trim"));
    }
    return Status::Ok();
  }

  // ---- after the seal: loop thread ----

  std::function<Status()> Sealed(EpochId epoch) override {
    if (!frozen_ || frozen_->epoch != epoch) return nullptr;
    sealed_bytes_ += frozen_bytes_.exchange(0);
    index_.Add(*frozen_);
    frozen_.reset();
    writer_.Sealed();
    return nullptr;
  }

  bool acked_by_seal() const override { return false; }
  int64_t CutWantedMs() const override { return -1; }
  std::optional<protocol::Park> park() const override { return std::nullopt; }
  flow::NodeBooks& books() override { return books_; }

  std::unique_ptr<flow::RowReader> Read(EpochId after_epoch, uint64_t after_rows, EpochId to_epoch,
                                        uint64_t to_rows, int sink_index) override {
    SpoolRange range = index_.Range(after_epoch, after_rows, to_epoch, to_rows);
    range.on_checked = [this](EpochId epoch) { index_.Checked(epoch); };
    return NewSpoolReader(env_.files, options_.directory, options_.schema, std::move(range),
                          sink_index);
  }

  EpochId HeldFrom() const override { return index_.HeldFrom(); }

  uint64_t SpoolBytes() const override { return sealed_bytes_ + frozen_bytes_ + open_bytes_; }

  void SetRowCheck(std::function<std::string_view(const Batch&, uint32_t)> check) override {
    row_check_ = std::move(check);
  }

 private:
  void StageRow(const Batch& batch, uint32_t row) {
    ++books_[flow::Count::kIn];
    if (row_check_) {
      const std::string_view why = row_check_(batch, row);
      if (!why.empty()) {
        ++books_[flow::Count::kDead];
        dead_.AddRow(flow::DeadStage::kSink, "sink.refused", why, batch, row, options_.schema);
        return;
      }
    }
    const size_t before = block_.size();
    AppendRowBytes(batch, row, block_);
    // The row that would make the block too large begins the next one.
    if (block_rows_ > 0 && block_.size() + kBlockHeaderBytes > kBlockBytes) {
      std::string row_bytes = block_.substr(before);
      block_.resize(before);
      FinishBlock();
      block_ = std::move(row_bytes);
    }
    ++block_rows_;
    ++epoch_rows_;
    ++books_[flow::Count::kStaged];
  }

  void FinishBlock() {
    if (block_rows_ == 0) return;
    digest_.Update(block_);
    Append(EncodeBlock(BlockKind::kRows, block_rows_, previous_, block_));
    block_.clear();
    block_rows_ = 0;
  }

  // "No space" is no failure: the block waits in the writer, and paused() says so.
  void Append(std::string block) {
    if (epoch_begin_ == kNoBlockYet) {
      const bool full = writer_.number() != 0 && writer_.end() > options_.segment_bytes;
      if (writer_.number() == 0 || full) {
        writer_.Begin({lineage_, first_new_, previous_, rows_total_, options_.sink});
      }
      epoch_begin_ = writer_.end();
    }
    open_bytes_ += block.size();
    const Status status = writer_.Append(std::move(block));
    if (!status.ok() && status.code() != Code::kNoSpace) failure_ = status;
  }

  Status MakeDirectories() {
    // STATE/spool and STATE/spool/SINK; the state directory itself exists.
    const std::string parent = io::DirectoryOf(options_.directory);
    for (const std::string& path : {parent, options_.directory}) {
      const Status made = env_.files.MakeDirectory(path);
      if (made.code() == Code::kExists) continue;
      WEIR_RETURN_IF_ERROR(made);
      WEIR_RETURN_IF_ERROR(env_.files.SyncDirectory(io::DirectoryOf(path)));
    }
    return Status::Ok();
  }

  Status RemoveSegment(uint64_t number) {
    const Status removed = env_.files.Remove(io::JoinPath(options_.directory, SegmentName(number)));
    return removed.code() == Code::kNotFound ? Status::Ok() : removed;
  }

  // Drops what was staged and never sealed, and goes on behind what was.
  Status CutTail() {
    const std::string path = io::JoinPath(options_.directory, SegmentName(sealed_->segment));
    WEIR_ASSIGN_OR_RETURN(const auto file, env_.files.Open(path, io::OpenMode::kReadWrite));
    WEIR_ASSIGN_OR_RETURN(const io::FileStat stat, file->Stat());
    if (stat.size > sealed_->end) {
      LogInfo("spool_tail_cut", {{"sink", options_.sink},
                                 {"segment", sealed_->segment},
                                 {"bytes", stat.size - sealed_->end}});
      WEIR_RETURN_IF_ERROR(file->Truncate(sealed_->end));
      WEIR_RETURN_IF_ERROR(file->Sync());
    }
    writer_.GoOn(sealed_->segment, sealed_->end);
    return Status::Ok();
  }

  static constexpr uint64_t kNoBlockYet = UINT64_MAX;

  io::Env env_;
  const SpoolOptions options_;
  std::function<std::string_view(const Batch&, uint32_t)> row_check_;
  flow::NodeBooks books_;
  Status failure_;  // not "no space": sticky

  // Takeover.
  std::optional<SpoolExtent> sealed_;
  SpoolFindings findings_;
  Lineage lineage_;

  // The open epoch.
  SegmentWriter writer_;
  std::string block_;
  uint32_t block_rows_ = 0;
  uint64_t epoch_rows_ = 0;
  uint64_t epoch_begin_ = kNoBlockYet;
  StreamDigest digest_;
  flow::DeadLetterBuilder dead_;

  EpochId previous_ = 0;   // the last epoch that ended here
  EpochId first_new_ = 1;  // name of the next segment
  uint64_t rows_total_ = 0;

  std::optional<EpochSpan> frozen_;
  SpoolIndex index_;
  std::atomic<uint64_t> sealed_bytes_{0};
  std::atomic<uint64_t> frozen_bytes_{0};
  std::atomic<uint64_t> open_bytes_{0};
};

}  // namespace

std::string SpoolDirectory(const std::string& state_directory, std::string_view sink) {
  std::string folder(sink);
  std::replace(folder.begin(), folder.end(), ':', '.');
  std::replace(folder.begin(), folder.end(), '/', '_');
  return io::JoinPath(io::JoinPath(state_directory, "spool"), folder);
}

Result<std::unique_ptr<Spool>> NewSpool(const io::Env& env, const SpoolOptions& options) {
  return std::make_unique<SpoolImpl>(env, options);
}

}  // namespace weir::store
