#include "store/spool_reader.h"

#include <utility>

#include "base/bytes.h"
#include "base/hash.h"
#include "data/row_codec.h"

namespace weir::store {
namespace {

class SpoolReader : public flow::RowReader {
 public:
  SpoolReader(io::Files& files, std::string directory, const Schema& schema, SpoolRange range,
              int sink_index)
      : files_(files),
        directory_(std::move(directory)),
        schema_(schema),
        range_(std::move(range)),
        sink_index_(sink_index) {}

  Result<bool> Next(flow::RowsAt* at, Batch& out) override {
    at->sink = sink_index_;
    if (!range_.missing.empty()) return Fail(Code::kCorruption, range_.missing);
    while (span_ < range_.spans.size()) {
      WEIR_ASSIGN_OR_RETURN(const bool rows, NextBlock(at, out));
      if (rows) return true;
    }
    return false;
  }

 private:
  // True: `out` holds rows. False: nothing in this block for us.
  Result<bool> NextBlock(flow::RowsAt* at, Batch& out) {
    const EpochSpan& span = range_.spans[span_];
    WEIR_RETURN_IF_ERROR(OpenSegment(span));
    const uint64_t from = span_ == 0 ? range_.skip_rows : 0;
    const uint64_t to = span_ + 1 == range_.spans.size() ? range_.last_rows : UINT64_MAX;
    if (span.checked && row_ >= to) {
      NextSpan();
      return false;
    }
    // Blocks before the part are passed by their headers.
    const bool passing = span.checked && row_ < from;
    WEIR_ASSIGN_OR_RETURN(std::optional<Block> block, reader_->At(at_, !passing));
    if (passing && block && block->kind == BlockKind::kRows) {
      if (row_ + block->rows <= from) {
        row_ += block->rows;
        at_ = block->end;
        return false;
      }
      WEIR_ASSIGN_OR_RETURN(block, reader_->At(at_, true));
    }
    if (!block || !block->intact || block->end > span.end) return Fail(Damaged(span, "damaged"));
    at_ = block->end;
    if (block->kind == BlockKind::kEnd) {
      if (!span.checked) {
        WEIR_RETURN_IF_ERROR(CheckEnd(span, *block));
        if (range_.on_checked) range_.on_checked(span.epoch);
      }
      NextSpan();
      return false;
    }
    if (!span.checked) digest_.Update(block->payload);
    const uint64_t first = row_;  // number of the block's first row within the epoch
    row_ += block->rows;
    if (row_ <= from || first >= to) return false;
    at->epoch = span.epoch;
    at->first = first + 1;
    WEIR_RETURN_IF_ERROR(Decode(span, *block, out));
    if (first < from || row_ > to) Select(first, from, to, out);
    return true;
  }

  void NextSpan() {
    ++span_;
    in_span_ = false;
  }

  Status OpenSegment(const EpochSpan& span) {
    if (in_span_) return Status::Ok();
    in_span_ = true;
    row_ = 0;
    at_ = span.begin;
    digest_.Reset();
    if (reader_ != nullptr && number_ == span.segment) return Status::Ok();
    WEIR_ASSIGN_OR_RETURN(
        reader_, SegmentReader::Open(files_, io::JoinPath(directory_, SegmentName(span.segment))));
    number_ = span.segment;
    return Status::Ok();
  }

  // The last guard against bytes that are whole blocks and yet not what was sealed.
  Status CheckEnd(const EpochSpan& span, const Block& block) {
    const std::optional<EpochEnd> end = DecodeEpochEnd(block.payload);
    if (!end || block.epoch != span.epoch || end->rows != row_ || end->digest != digest_.Value()) {
      return Damaged(span, "not the rows that were sealed");
    }
    return Status::Ok();
  }

  Status Decode(const EpochSpan& span, const Block& block, Batch& out) {
    out.Reset(schema_);
    out.ClearSelection();
    ByteReader in(block.payload);
    for (uint32_t i = 0; i < block.rows; ++i) {
      if (!ReadRowBytes(in, schema_, out)) return Damaged(span, "not rows of this schema");
    }
    return in.AtEnd() ? Status::Ok() : Damaged(span, "bytes behind the last row");
  }

  static void Select(uint64_t first, uint64_t from, uint64_t to, Batch& out) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < out.rows(); ++i) {
      if (first + i >= from && first + i < to) rows.push_back(i);
    }
    out.SetSelection(std::move(rows));
  }

  Status Damaged(const EpochSpan& span, std::string_view what) const {
    return Status(Code::kCorruption, io::JoinPath(directory_, SegmentName(span.segment)) +
                                         ", offset " + std::to_string(at_) + ", epoch " +
                                         std::to_string(span.epoch) + ": " + std::string(what));
  }

  io::Files& files_;
  const std::string directory_;
  const Schema& schema_;  // of the spool
  SpoolRange range_;
  const int sink_index_;

  std::unique_ptr<SegmentReader> reader_;
  uint64_t number_ = 0;
  size_t span_ = 0;
  bool in_span_ = false;
  uint64_t at_ = 0;
  uint64_t row_ = 0;  // rows of the span that were passed
  StreamDigest digest_;
};

}  // namespace

std::unique_ptr<flow::RowReader> NewSpoolReader(io::Files& files, std::string directory,
                                                const Schema& schema, SpoolRange range,
                                                int sink_index) {
  return std::make_unique<SpoolReader>(files, std::move(directory), schema, std::move(range),
                                       sink_index);
}

}  // namespace weir::store
