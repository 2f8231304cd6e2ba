#include "connectors/datagen/datagen.h"

#include <algorithm>

#include "base/bytes.h"

namespace weir::connectors {
namespace {

constexpr uint8_t kPositionVersion = 1;  // blob: version byte, varint row number
constexpr std::string_view kKey = "rows";
constexpr int64_t kWaitMs = 20;  // how often the rate lets rows out

// splitmix64's finaliser: every bit of the input reaches every bit of the output.
uint64_t Mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Uniform in [low, high] but for a bias below 2^-64 of the range.
Int128 Between(Int128 low, Int128 high, uint64_t a, uint64_t b) {
  const auto range = static_cast<unsigned __int128>(high - low) + 1;
  const auto random = (static_cast<unsigned __int128>(a) << 64) | b;
  return range == 0 ? static_cast<Int128>(random) : low + static_cast<Int128>(random % range);
}

// `length` characters of [0-9a-f].
std::string_view RandomText(size_t length, uint64_t random, Arena& arena) {
  char* const text = arena.Allocate(length);
  for (size_t i = 0; i < length; ++i) {
    if (i % 16 == 0) random = Mix(random);
    text[i] = "0123456789abcdef"[(random >> (4 * (i % 16))) & 15];
  }
  return {text, length};
}

}  // namespace

Status DatagenSource::Open(const std::vector<flow::SavedPosition>& saved, std::string_view) {
  for (const flow::SavedPosition& position : saved) {
    ByteReader in(position.blob);
    const uint8_t version = in.U8();
    row_ = in.Varint();
    if (position.key != kKey || version != kPositionVersion || !in.ok()) {
      return Status(Code::kCorruption,
                    "the saved position of source " + table_ + " cannot be read");
    }
    restored_ = true;
  }
  first_row_ = row_;
  first_ns_ = clock_.MonotonicNs();
  return Status::Ok();
}

Status DatagenSource::Discover(std::vector<flow::PartitionInfo>& found) {
  if (announced_) return Status::Ok();
  announced_ = true;
  found.push_back({0, std::string(kKey), table_, restored_, restored_ && row_ >= plan_.rows,
                   static_cast<int64_t>(row_), false});
  return Status::Ok();
}

uint64_t DatagenSource::Allowed() const {
  if (plan_.rows_per_second == 0) return plan_.rows;
  const auto elapsed = static_cast<unsigned __int128>(clock_.MonotonicNs() - first_ns_);
  const auto rows = elapsed * static_cast<unsigned __int128>(plan_.rows_per_second) / 1'000'000'000;
  // One at the start: a slow rate does not begin with a wait.
  return std::min<uint64_t>(plan_.rows, first_row_ + 1 + static_cast<uint64_t>(rows));
}

Result<flow::ReadState> DatagenSource::Read(flow::PartitionIndex partition, uint32_t max_rows,
                                            Batch& out) {
  out.partition = partition;
  out.source = table_;
  const uint64_t until = std::min<uint64_t>(Allowed(), row_ + max_rows);
  const uint32_t rows = until > row_ ? static_cast<uint32_t>(until - row_) : 0;
  out.positions.resize(rows);
  out.ResizeOwned(rows);
  for (uint32_t at = 0; at < rows; ++at) Generate(row_ + at, at, out);
  row_ += rows;
  out.end_position = static_cast<int64_t>(row_);
  if (row_ >= plan_.rows) return flow::ReadState::kEnd;
  return rows > 0 ? flow::ReadState::kRows : flow::ReadState::kWait;
}

Status DatagenSource::Peek(flow::PartitionIndex partition, Batch& out) {
  out.partition = partition;
  out.source = table_;
  if (row_ >= plan_.rows) return Status::Ok();
  out.positions.resize(1);
  out.ResizeOwned(1);
  Generate(row_, 0, out);
  out.end_position = static_cast<int64_t>(row_ + 1);
  return Status::Ok();
}

void DatagenSource::Generate(uint64_t row, uint32_t at, Batch& out) const {
  out.positions[at] = static_cast<int64_t>(row);
  for (size_t i = 0; i < plan_.fields.size(); ++i) {
    const GeneratedField& field = plan_.fields[i];
    Column& column = out.mutable_column(i);
    column.valid[at] = 1;
    const uint64_t a = Mix(Mix(plan_.seed) + Mix(field.salt) * 3 + row);
    const uint64_t b = Mix(a);
    const Int128 integer = field.sequence ? field.low + static_cast<Int128>(row)
                                          : Between(field.low, field.high, a, b);
    switch (field.type.physical()) {
      case Physical::kBool:
        column.bools[at] = a & 1;
        break;
      case Physical::kInt64:
        if (field.type.IsTimestamp()) {
          const int64_t rate = std::max<int64_t>(plan_.rows_per_second, 1);
          const int64_t ms = static_cast<int64_t>(static_cast<Int128>(row) * 1000 / rate) -
                             static_cast<int64_t>(integer);
          column.ints[at] = field.start_ticks + ms * TicksPerMs(field.type);
        } else {
          column.ints[at] = static_cast<int64_t>(integer);
        }
        break;
      case Physical::kDouble:
        column.doubles[at] =
            field.sequence ? static_cast<double>(integer)
                           : field.low_double + (field.high_double - field.low_double) *
                                                    (static_cast<double>(a >> 11) * 0x1.0p-53);
        if (field.type.kind == TypeKind::kFloat)
          column.doubles[at] = static_cast<float>(column.doubles[at]);
        break;
      case Physical::kInt128:
        column.decimals[at] = field.sequence ? integer * PowerOfTen(field.type.scale) : integer;
        break;
      case Physical::kString:
        column.strings[at] = field.sequence
                                 ? out.arena().Copy(std::to_string(static_cast<int64_t>(integer)))
                                 : RandomText(field.length, a, out.arena());
        break;
    }
  }
}

Result<std::string> DatagenSource::EncodePosition(flow::PartitionIndex, int64_t position) {
  ByteWriter out;
  out.U8(kPositionVersion);
  out.Varint(static_cast<uint64_t>(position));
  return out.Take();
}

int64_t DatagenSource::PollIntervalMs() const {
  return row_ >= plan_.rows || plan_.rows_per_second == 0 ? -1 : kWaitMs;
}

}  // namespace weir::connectors
