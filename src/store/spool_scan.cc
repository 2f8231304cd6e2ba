#include "store/spool_scan.h"

#include <algorithm>

#include "base/text.h"
#include "store/segment.h"

namespace weir::store {
namespace {

// At a start at most this much is read through to check it; what is older than the newest part of a
// larger backlog is checked when it is delivered. A start on a slow card takes seconds, not
// minutes.
constexpr uint64_t kCheckedBytes = 256 << 20;

class Scan {
 public:
  Scan(io::Files& files, const SpoolQuestion& question) : files_(files), question_(question) {}

  Result<SpoolFindings> Run() {
    const std::vector<uint64_t> numbers = ListSegments(files_, question_.directory);
    uint64_t total = 0;
    std::map<uint64_t, uint64_t> sizes;
    for (const uint64_t number : numbers) {
      const auto stat = files_.Stat(PathOf(number));
      total += sizes[number] = stat ? stat->size : 0;
    }
    for (const uint64_t number : numbers) {
      out_.highest_seen = std::max(out_.highest_seen, number);
      // The newest ones are checked: only there a power cut can have been at work.
      WEIR_RETURN_IF_ERROR(Segment(number, total <= kCheckedBytes));
      total -= sizes[number];
    }
    WEIR_RETURN_IF_ERROR(RefuseOlderDatabase());
    WEIR_RETURN_IF_ERROR(FindGaps());
    return std::move(out_);
  }

 private:
  std::string PathOf(uint64_t number) const {
    return io::JoinPath(question_.directory, SegmentName(number));
  }
  EpochId SealedEpoch() const { return question_.sealed ? question_.sealed->epoch : 0; }
  bool BeyondSealed(uint64_t segment, uint64_t end) const {
    if (!question_.sealed) return true;
    if (segment != question_.sealed->segment) return segment > question_.sealed->segment;
    return end > question_.sealed->end;
  }
  bool KnownOlder(const Lineage& lineage) const {
    if (question_.lineages == nullptr) return false;
    return std::any_of(question_.lineages->begin(), question_.lineages->end(),
                       [&](const auto& record) { return record.lineage == lineage; });
  }

  Status Segment(uint64_t number, bool check) {
    auto opened = SegmentReader::Open(files_, PathOf(number));
    if (!opened) {
      if (opened.error().code() != Code::kCorruption) return opened.error();
      // A header that never became durable belongs to a segment without a sealed row.
      if (!BeyondSealed(number, 0)) damage_.push_back({number, 0});
      out_.drop.push_back(number);
      return Status::Ok();
    }
    SegmentReader& reader = **opened;
    if (reader.header().lineage != question_.lineage) {
      if (!KnownOlder(reader.header().lineage)) {
        return Status(Code::kRefused, reader.path() +
                                          " is of a lineage that state.db does not "
                                          "know: state.db is older than its spool");
      }
      out_.drop.push_back(number);  // a fresh start died before it removed them
      return Status::Ok();
    }
    WEIR_RETURN_IF_ERROR(Blocks(number, reader, check));
    if (BeyondSealed(number, 0)) {
      out_.drop.push_back(number);
    } else if (question_.sealed && number == question_.sealed->segment) {
      out_.sealed_segment_usable = reader.file_bytes() >= question_.sealed->end &&
                                   (damage_.empty() || damage_.back().segment != number);
      out_.segments[number] = std::min(reader.file_bytes(), question_.sealed->end);
    } else {
      out_.segments[number] = reader.file_bytes();
    }
    return Status::Ok();
  }

  Status Blocks(uint64_t number, SegmentReader& reader, bool check) {
    uint64_t at = reader.first_block();
    uint64_t begin = at;
    bool intact = true;
    for (;;) {
      WEIR_RETURN_IF_ERROR(io::Beat(question_.heartbeat, "checking", reader.path()));
      WEIR_ASSIGN_OR_RETURN(const std::optional<Block> head, reader.At(at, check));
      if (!head) break;
      Block block = *head;
      // An end block is read in any case: it says what came before it.
      if (!check && block.kind == BlockKind::kEnd) {
        WEIR_ASSIGN_OR_RETURN(const std::optional<Block> full, reader.At(at, true));
        if (!full) break;
        block = *full;
      }
      const bool beyond = BeyondSealed(number, block.end);
      if (!block.intact && beyond) break;  // a torn tail; nothing behind it is whole
      if (!block.intact) {
        damage_.push_back({number, at});
        intact = false;
      }
      if (block.kind == BlockKind::kEnd && block.intact) {
        const std::optional<EpochEnd> end = DecodeEpochEnd(block.payload);
        if (end) Ended(number, block, begin, *end, beyond, intact);
        if (!end && !beyond) damage_.push_back({number, at});
      }
      at = block.end;
      if (block.kind == BlockKind::kEnd) {
        begin = at;
        intact = true;
      }
    }
    // The walk must reach what is sealed here.
    const bool has_sealed_end = question_.sealed && number == question_.sealed->segment;
    if (has_sealed_end && at < question_.sealed->end) damage_.push_back({number, at});
    if (question_.sealed && number < question_.sealed->segment && at < reader.file_bytes()) {
      damage_.push_back({number, at});
    }
    return Status::Ok();
  }

  void Ended(uint64_t number, const Block& block, uint64_t begin, const EpochEnd& end, bool beyond,
             bool intact) {
    out_.highest_seen = std::max(out_.highest_seen, block.epoch);
    if (beyond) {
      beyond_.push_back({block.epoch, number});
    } else if (intact) {
      out_.spans.push_back({block.epoch, number, begin, block.end, end.rows, end.rows_total});
    }
  }

  // Staged and not sealed is normal for one epoch: one seal is in flight. Two that have ended are
  // two seals that this state.db has not seen.
  Status RefuseOlderDatabase() {
    const bool lost = question_.sealed && !out_.segments.contains(question_.sealed->segment);
    if (beyond_.size() + (lost && !beyond_.empty() ? 1 : 0) < 2) return Status::Ok();
    return Status(Code::kRefused,
                  PathOf(beyond_.back().segment) + " holds epoch " +
                      std::to_string(beyond_.back().epoch) + ", state.db ends with epoch " +
                      std::to_string(SealedEpoch()) +
                      ": state.db is older than its spool (restored from a backup?). Nothing was "
                      "changed. Restore the whole directory, or 'weir resolve --quarantine'");
  }

  // Every row between A and what is sealed must be there.
  Status FindGaps() {
    if (!question_.sealed) return Status::Ok();
    EpochId acked = question_.acked.value_or(0);
    if (!question_.acked) {
      // Nobody told: what was trimmed had been delivered.
      acked = out_.spans.empty() ? 0 : FirstPrevious();
    }
    EpochId from = acked;
    uint64_t rows = 0;
    bool rows_known = false;
    for (const EpochSpan& span : out_.spans) {
      const uint64_t before = span.rows_total - span.rows;
      if (span.epoch > acked) {
        // Behind damage at or below A only the segment's header says that nothing is missing.
        const bool contiguous = (rows_known && before == rows) || StartsAt(span, acked);
        if (!contiguous) {
          return Lost(std::max(from, acked), span.epoch - 1, rows_known ? before - rows : 0,
                      rows_known && from >= acked, span.segment);
        }
      }
      rows_known = true;
      rows = span.rows_total;
      from = span.epoch;
    }
    const SpoolExtent& sealed = *question_.sealed;
    if (sealed.epoch > acked && (!rows_known || rows != sealed.rows_total)) {
      return Lost(std::max(from, acked), sealed.epoch, rows_known ? sealed.rows_total - rows : 0,
                  rows_known, sealed.segment);
    }
    for (const Damage& damage : damage_) {
      out_.notices.push_back(PathOf(damage.segment) + ", offset " + std::to_string(damage.offset) +
                             ": damaged, but delivered already");
    }
    if (!out_.sealed_segment_usable && !out_.segments.contains(sealed.segment)) {
      out_.notices.push_back(PathOf(sealed.segment) + " is missing, but delivered already");
    }
    return Status::Ok();
  }

  EpochId FirstPrevious() const {
    const auto reader = SegmentReader::Open(files_, PathOf(out_.spans.front().segment));
    return reader ? (*reader)->header().previous : 0;
  }

  // Whether nothing above A lies before this span: it is the first of its segment, and the segment
  // says that the epoch before it is at or below A.
  bool StartsAt(const EpochSpan& span, EpochId acked) const {
    const auto reader = SegmentReader::Open(files_, PathOf(span.segment));
    if (!reader) return false;
    return (*reader)->first_block() == span.begin && (*reader)->header().previous <= acked;
  }

  // `at`: the segment that the missing rows lie in or before.
  Status Lost(EpochId after, EpochId to, uint64_t rows, bool rows_known, uint64_t at) const {
    std::string where = "a segment before " + PathOf(at) + " is missing";
    if (!damage_.empty()) {
      where = PathOf(damage_.front().segment) + ", offset " +
              std::to_string(damage_.front().offset) + ": damaged";
    } else if (!out_.segments.contains(at)) {
      where = PathOf(at) + " is missing";
    }
    return Status(Code::kCorruption,
                  where + ". Lost with it: sealed rows of epochs " + std::to_string(after + 1) +
                      " to " + std::to_string(to) +
                      (rows_known ? " (" + std::to_string(rows) + " rows)" : "") +
                      " that are not delivered; epochs up to " + std::to_string(after) +
                      " are good. Everything is kept as it is. Restore the whole directory, or "
                      "'weir resolve --quarantine'");
  }

  struct Damage {
    uint64_t segment = 0;
    uint64_t offset = 0;
  };
  struct Staged {
    EpochId epoch = 0;
    uint64_t segment = 0;
  };
  io::Files& files_;
  const SpoolQuestion& question_;
  SpoolFindings out_;
  std::vector<Damage> damage_;  // within what is sealed
  std::vector<Staged> beyond_;  // epochs that have ended there and are not sealed
};

}  // namespace

std::string EncodeSpoolExtent(const SpoolExtent& extent) {
  return std::to_string(extent.segment) + ":" + std::to_string(extent.end) + ":" +
         std::to_string(extent.epoch) + ":" + std::to_string(extent.rows_total);
}

std::optional<SpoolExtent> DecodeSpoolExtent(std::string_view blob) {
  const std::vector<std::string_view> parts = Split(blob, ':');
  if (parts.size() != 4) return std::nullopt;
  uint64_t numbers[4];
  for (size_t i = 0; i < 4; ++i) {
    const std::optional<int64_t> number = ParseInt64(parts[i]);
    if (!number || *number < 0) return std::nullopt;
    numbers[i] = static_cast<uint64_t>(*number);
  }
  return SpoolExtent{numbers[0], numbers[1], numbers[2], numbers[3]};
}

Result<SpoolFindings> ScanSpool(io::Files& files, const SpoolQuestion& question) {
  return Scan(files, question).Run();
}

}  // namespace weir::store
