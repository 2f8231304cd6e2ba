#include "qualify/judge.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "data/timestamp.h"
#include "qualify/findings.h"

namespace weir::qualify {
namespace {

constexpr size_t kShownBytesMax = 200;

struct ColumnSpec {
  std::string_view name;
  CellKind kind;
  bool may_be_left_out;
};
// The order is that in which the judges take the cells.
constexpr ColumnSpec kEventColumns[] = {{"part", CellKind::kInteger, false},
                                        {"seq", CellKind::kInteger, false},
                                        {"item", CellKind::kText, true},
                                        {"amount", CellKind::kInteger, true},
                                        {"ts", CellKind::kTime, true}};
constexpr ColumnSpec kDeadColumns[] = {{"raw", CellKind::kBytes, false}};
constexpr ColumnSpec kWindowColumns[] = {{"window_start", CellKind::kTime, false},
                                         {"window_end", CellKind::kTime, true},
                                         {"item", CellKind::kText, false},
                                         {"n", CellKind::kInteger, false},
                                         {"total", CellKind::kInteger, true}};

std::span<const ColumnSpec> ColumnsOf(Layer layer) {
  switch (layer) {
    case Layer::kRaw:
      return {};
    case Layer::kCleaned:
    case Layer::kLate:
      return kEventColumns;
    case Layer::kDead:
      return kDeadColumns;
    case Layer::kWindows:
      return kWindowColumns;
  }
  return {};
}

}  // namespace

std::string_view LayerName(Layer layer) {
  switch (layer) {
    case Layer::kRaw:
      return "raw";
    case Layer::kCleaned:
      return "cleaned";
    case Layer::kLate:
      return "late";
    case Layer::kDead:
      return "dead";
    case Layer::kWindows:
      return "windows";
  }
  return "";
}

std::string_view FaultName(Fault fault) {
  switch (fault) {
    case Fault::kMissing:
      return "missing";
    case Fault::kDuplicate:
      return "duplicate";
    case Fault::kConflicting:
      return "conflicting";
    case Fault::kForeign:
      return "foreign";
    case Fault::kOnTime:
      return "on-time";
  }
  return "";
}

bool LayerVerdict::exact() const {
  return std::all_of(faults.begin(), faults.end(), [](uint64_t n) { return n == 0; });
}

Result<std::vector<Wish>> WishesOf(Layer layer, const ColumnNames& names) {
  const std::span<const ColumnSpec> columns = ColumnsOf(layer);
  std::vector<Wish> wishes;
  for (const ColumnSpec& column : columns)
    wishes.push_back({std::string(column.name), column.kind});
  for (const auto& [key, name] : names) {
    if (key.first != layer) continue;
    const auto spec = std::find_if(columns.begin(), columns.end(),
                                   [&](const ColumnSpec& c) { return c.name == key.second; });
    const std::string asked = std::string(LayerName(layer)) + "." + key.second;
    if (spec == columns.end()) return Fail(Code::kUsage, "--column: no column " + asked);
    if (name.empty() && !spec->may_be_left_out)
      return Fail(Code::kUsage, "--column: nothing can be judged without " + asked);
    wishes[static_cast<size_t>(spec - columns.begin())].column = name;
  }
  return wishes;
}

std::unique_ptr<Judge> NewJudge(Layer layer, Truth& truth, const std::vector<Wish>& wishes,
                                size_t show) {
  return layer == Layer::kWindows ? NewWindowJudge(truth, wishes, show)
                                  : NewEventJudge(layer, truth, wishes, show);
}

Findings::Findings(Layer layer, const std::vector<Wish>& wishes, size_t show) : show_(show) {
  verdict_.layer = layer;
  const std::span<const ColumnSpec> columns = ColumnsOf(layer);
  for (size_t i = 0; i < wishes.size(); ++i) {
    if (wishes[i].column.empty()) verdict_.not_compared.emplace_back(columns[i].name);
  }
}

bool Findings::Count(Fault fault) { return ++verdict_.faults[static_cast<size_t>(fault)] <= show_; }

void Findings::Add(Fault fault, std::string text) {
  verdict_.findings.push_back({fault, std::move(text)});
}

void Findings::Report(Fault fault, std::string text) {
  if (Count(fault)) Add(fault, std::move(text));
}

std::string PlaceOf(const Row& row) {
  return "row " + std::to_string(row.number) + " of " + std::string(row.source);
}

std::string Shortened(std::string_view bytes) {
  // JsonQuote makes every byte printable.
  std::string text = JsonQuote(bytes.substr(0, kShownBytesMax));
  return bytes.size() > kShownBytesMax ? text + "..." : text;
}

std::string TimeText(int64_t ms) {
  std::string text;
  AppendTimestamp(ms, Type::Timestamp(3), TimestampStyle::kSql, SessionZone{}, text);
  return text;
}

}  // namespace weir::qualify
