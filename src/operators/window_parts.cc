#include "operators/window_parts.h"

#include <cstring>

#include "data/row_codec.h"

namespace weir::operators {

using flow::Count;
using plan::AggregateCall;
using plan::WindowNode;

KeyEncoder::KeyEncoder(const std::vector<int>& columns, const Schema& input) : columns_(columns) {
  single_text_ = columns.size() == 1 &&
                 input.fields[static_cast<size_t>(columns[0])].type.physical() == Physical::kString;
}

namespace {

// memcpy of a short text without the call.
inline void CopyShort(char* to, const char* from, size_t n) {
  if (n > 16) {
    std::memcpy(to, from, n);
  } else if (n >= 8) {
    const uint64_t a = LoadBytes8(from);
    const uint64_t b = LoadBytes8(from + n - 8);
    std::memcpy(to, &a, 8);
    std::memcpy(to + n - 8, &b, 8);
  } else if (n >= 4) {
    const uint32_t a = LoadBytes4(from);
    const uint32_t b = LoadBytes4(from + n - 4);
    std::memcpy(to, &a, 4);
    std::memcpy(to + n - 4, &b, 4);
  } else {
    for (size_t i = 0; i < n; ++i) to[i] = from[i];
  }
}

}  // namespace

// The hot case, written in place: a tag, the length, the text.
void KeyEncoder::EncodeText(const Column& column, std::span<const uint32_t> rows) {
  constexpr size_t kHeadMax = 1 + 5;  // tag, varint of 32 bits
  size_t total = 0;
  for (uint32_t r : rows) total += kHeadMax + (column.valid[r] ? column.strings[r].size() : 0);
  if (bytes_.size() < total) bytes_.resize(total);
  char* const begin = bytes_.data();
  char* at = begin;
  size_t i = 0;
  for (uint32_t r : rows) {
    ends_[i++] = static_cast<uint32_t>(at - begin);
    *at = static_cast<char>(column.valid[r]);
    ++at;
    if (!column.valid[r]) continue;
    const std::string_view text = column.strings[r];
    size_t size = text.size();
    for (; size >= 0x80; size >>= 7) *at++ = static_cast<char>(size | 0x80);
    *at++ = static_cast<char>(size);
    CopyShort(at, text.data(), text.size());
    at += text.size();
  }
  ends_[i] = static_cast<uint32_t>(at - begin);
}

void KeyEncoder::Encode(const Batch& batch, std::span<const uint32_t> rows) {
  ends_.resize(rows.size() + 1);
  if (single_text_) return EncodeText(batch.column(static_cast<size_t>(columns_[0])), rows);
  bytes_.clear();
  size_t i = 0;
  for (uint32_t r : rows) {
    ends_[i++] = static_cast<uint32_t>(bytes_.size());
    AppendKey(batch, r, columns_, bytes_);
  }
  ends_[i] = static_cast<uint32_t>(bytes_.size());
}

namespace {

constexpr uint32_t kFirstRows = 64;  // most firings have few rows

const char* AggregateName(AggregateCall::Fn fn) {
  switch (fn) {
    case AggregateCall::Fn::kCountStar:
      return "COUNT(*)";
    case AggregateCall::Fn::kCount:
      return "COUNT";
    case AggregateCall::Fn::kSum:
      return "SUM";
    case AggregateCall::Fn::kAvg:
      return "AVG";
    case AggregateCall::Fn::kMin:
      return "MIN";
    case AggregateCall::Fn::kMax:
      return "MAX";
  }
  return "";
}

std::string NameOf(const AggregateCall& call, const std::string& column, const Schema& input) {
  std::string name = AggregateName(call.fn);
  if (call.argument >= 0) name += "(" + input.fields[static_cast<size_t>(call.argument)].name + ")";
  return column == name ? name : column + " = " + name;  // without an alias they are one
}

}  // namespace

ResultBuilder::ResultBuilder(const plan::Node& node, const Schema& input,
                             const AggregateSet* aggregates, flow::NodeBooks* books)
    : window_(std::get<WindowNode>(node.body)),
      aggregates_(aggregates),
      books_(books),
      name_(node.name),
      schema_(node.output) {
  const size_t keys = window_.keys.size();
  for (size_t i = 0; i < keys; ++i) {
    key_types_.push_back(schema_.fields[i].type);
    key_columns_.push_back(static_cast<int>(i));
    record_schema_.fields.push_back(schema_.fields[i]);
  }
  for (size_t i = 0; i < window_.aggregates.size(); ++i) {
    calls_.push_back(NameOf(window_.aggregates[i], schema_.fields[keys + i].name, input));
  }
  const size_t times = keys + window_.aggregates.size();
  record_schema_.fields.push_back(schema_.fields[times]);
  record_schema_.fields.push_back(schema_.fields[times + 1]);
}

void ResultBuilder::Add(std::string_view key, const char* fixed, TimestampMs start, TimestampMs end,
                        TimestampMs watermark, flow::Outputs& out) {
  if (count_ == 0) {
    batch_.Reset(schema_, kFirstRows);
    batch_.watermarks.resize(kFirstRows);
  } else if (count_ == batch_.rows()) {
    batch_.ResizeOwned(2 * count_);
  }
  const uint32_t row = count_;
  if (!ReadKey(key, key_types_, batch_, key_columns_, row)) {
    status_ = Status(Code::kCorruption, "a key in the state of " + name_ + " cannot be read");
    return;
  }
  ++count_;
  size_t column = key_types_.size();
  std::string error;
  bool failed = false;
  for (size_t i = 0; i < aggregates_->size(); ++i, ++column) {
    if (aggregates_->Finish(i, fixed, batch_.mutable_column(column), row, &error)) continue;
    if (!failed) failures_.push_back({row, calls_[i] + ": " + error});
    failed = true;
  }
  for (TimestampMs time : {start, end, end - 1}) {
    Column& c = batch_.mutable_column(column++);
    c.valid[row] = 1;
    c.ints[row] = time;
  }
  batch_.watermarks[row] = watermark;
  if (count_ == kBatchRows) Flush(out);
}

void ResultBuilder::EmitFailures(flow::Outputs& out) {
  Batch record;
  record.ResetEmpty(batch_.rows());
  const size_t keys = key_types_.size();
  for (size_t i = 0; i < keys; ++i) record.Borrow(batch_.column(i));
  record.Borrow(batch_.column(keys + aggregates_->size()));
  record.Borrow(batch_.column(keys + aggregates_->size() + 1));
  record.watermarks = batch_.watermarks;
  dead_.Clear();
  for (const Failure& f : failures_) {
    const std::string where = window_.view.empty() ? "" : window_.view + ": ";
    dead_.AddRow(flow::DeadStage::kResult, "window.overflow", where + f.message, record, f.row,
                 record_schema_);
  }
  (*books_)[Count::kResultsDead] += failures_.size();
  out.Dead(dead_.batch());
}

void ResultBuilder::Flush(flow::Outputs& out) {
  if (count_ == 0) return;
  batch_.ResizeOwned(count_);
  count_ = 0;
  if (!failures_.empty()) {
    std::vector<uint32_t> good;
    size_t next = 0;
    for (uint32_t r = 0; r < batch_.rows(); ++r) {
      if (next < failures_.size() && failures_[next].row == r) {
        ++next;
      } else {
        good.push_back(r);
      }
    }
    batch_.SetSelection(std::move(good));
  }
  (*books_)[Count::kResults] += batch_.selected_count();
  if (batch_.selected_count() > 0) out.Main(batch_);
  if (!failures_.empty()) EmitFailures(out);
  failures_.clear();
}

uint64_t LateRows::Emit(const Batch& from, flow::Outputs& out) {
  if (rows_.empty()) return 0;
  const uint64_t count = rows_.size();
  batch_.ResetEmpty(from.rows());
  for (int column : window_.late_columns) batch_.Borrow(from.column(static_cast<size_t>(column)));
  const size_t first = window_.late_columns.size();
  Column* times[3];
  for (size_t i = 0; i < 3; ++i) times[i] = &batch_.Own(window_.late_schema.fields[first + i].type);
  for (size_t i = 0; i < rows_.size(); ++i) {
    const uint32_t r = rows_[i];
    const Place& place = places_[i];
    times[0]->ints[r] = place.start;
    times[1]->ints[r] = place.end;
    times[2]->ints[r] = place.watermark;
    for (Column* c : times) c->valid[r] = 1;
  }
  batch_.InheritProvenance(from);
  if (rows_.size() < from.rows()) batch_.SetSelection(rows_);
  rows_.clear();
  places_.clear();
  out.Late(batch_);
  return count;
}

bool WindowIsInRange(TimestampMs start, TimestampMs end) {
  constexpr TimestampMs kFirst = -62135596800000;  // 0001-01-01 00:00:00
  constexpr TimestampMs kLast = 253402300799999;   // 9999-12-31 23:59:59.999
  return start >= kFirst && end <= kLast;
}

uint64_t HomelessRows::Emit(const Batch& from, flow::Outputs& out) {
  if (rows_.empty()) return 0;
  const std::string& column = input_.fields[static_cast<size_t>(window_.time_column)].name;
  dead_.Clear();
  for (const Row& r : rows_) {
    const bool null = r.why == Why::kNullTime;
    dead_.AddRow(flow::DeadStage::kEval, null ? "window.null-time" : "window.out-of-range",
                 null ? "NULL in " + column + ", the time of the window"
                      : "the window of " + column + " is not within years 0001 to 9999",
                 from, r.row, input_);
  }
  rows_.clear();
  out.Dead(dead_.batch());
  return dead_.batch().rows();
}

Status CheckWindowNode(const plan::Node& node, const Schema& input) {
  const WindowNode& window = std::get<WindowNode>(node.body);
  const auto bad = [&](const char* what) {
    return Status(Code::kInternal, node.name + ": " + what);
  };
  const auto in_input = [&](int c) {
    return c >= 0 && static_cast<size_t>(c) < input.fields.size();
  };
  if (!in_input(window.time_column)) return bad("the time column is not in the input");
  const Type& time = input.fields[static_cast<size_t>(window.time_column)].type;
  if (!time.IsTimestamp() || time.precision > 3) return bad("the time column is no TIMESTAMP(3)");
  for (int key : window.keys) {
    if (!in_input(key)) return bad("a key is not in the input");
  }
  for (int column : window.late_columns) {
    if (!in_input(column)) return bad("a late column is not in the input");
  }
  if (node.output.fields.size() != window.keys.size() + window.aggregates.size() + 3) {
    return bad("the output does not have the columns of the window");
  }
  if (window.late_schema.fields.size() != window.late_columns.size() + 3) {
    return bad("the late schema does not have the columns of the window");
  }
  const bool tumble = window.kind == WindowNode::Kind::kTumble;
  if (tumble ? window.size_ms <= 0 : window.gap_ms <= 0) return bad("the window has no size");
  return Status::Ok();
}

}  // namespace weir::operators
