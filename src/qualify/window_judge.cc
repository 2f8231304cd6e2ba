// Windows: one row per window and item, with a count and a sum over the events that were not late.
#include <algorithm>

#include "qualify/findings.h"

namespace weir::qualify {
namespace {

constexpr size_t kPairsMax = 4000;    // records among which a pair that explains is looked for
constexpr size_t kRecordsShown = 12;  // of a window

class WindowJudge : public Judge {
 public:
  WindowJudge(Truth& truth, const std::vector<Wish>& wishes, size_t show)
      : truth_(truth),
        compare_end_(!wishes[1].column.empty()),
        compare_total_(!wishes[4].column.empty()),
        findings_(Layer::kWindows, wishes, show) {}

  void Take(const Row& row) override {
    ++findings_.verdict().rows;
    if (!row.broken.empty()) return Foreign(row, row.broken);
    const Cell &start = row.cells[0], &end = row.cells[1], &item_cell = row.cells[2];
    if (start.null || item_cell.null) return Foreign(row, "window_start or item is NULL");
    const int64_t size = truth_.options().window_ms;
    if (truth_.WindowStart(start.number) != start.number ||
        (compare_end_ && (end.null || end.number != start.number + size)))
      return Foreign(row, "no window of this size begins or ends there");
    uint32_t item = 0;
    if (!ParseItem(item_cell.text, &item) || item >= truth_.parameters().items)
      return Foreign(row, "no item of the generator");
    if (!truth_.WindowKnown(start.number)) {
      ++findings_.verdict().ahead;  // more of its input may have come since the ledger was read
      return;
    }
    const auto window = truth_.windows().find(start.number);
    if (window == truth_.windows().end()) return Foreign(row, "no event is in this window");
    JudgeCell(row, start.number, item, window->second[item]);
  }

  LayerVerdict Finish() override {
    LayerVerdict& verdict = findings_.verdict();
    for (const auto& [start, cells] : truth_.windows()) {
      bool any = false;
      for (uint32_t item = 0; item < cells.size(); ++item) {
        const WindowCell& cell = cells[item];
        if (cell.seen) {
          ++verdict.judged;
          any = true;
          continue;
        }
        if (cell.n == 0 || !truth_.WindowDue(start)) continue;
        any = true;
        ++verdict.judged;
        if (findings_.Count(Fault::kMissing))
          findings_.Add(Fault::kMissing, Name(start, item) + ": " + Values(cell.n, cell.total) +
                                             "; " + RecordsText(truth_.RecordsOf(start, item)));
      }
      if (!any && !truth_.WindowDue(start)) ++verdict.open;
    }
    return std::move(verdict);
  }

 private:
  void JudgeCell(const Row& row, int64_t start, uint32_t item, WindowCell& cell) {
    const Cell &n = row.cells[3], &total = row.cells[4];
    const bool same = !n.null && n.number == static_cast<int64_t>(cell.n) &&
                      (!compare_total_ || (!total.null && total.number == cell.total));
    if (cell.n == 0 && !cell.seen && same) return Foreign(row, "every event of it was late");
    if (cell.seen && same) {
      findings_.Report(Fault::kDuplicate, Name(start, item) + " (" + PlaceOf(row) + ")");
    } else if (!same && findings_.Count(Fault::kConflicting)) {
      findings_.Add(Fault::kConflicting, Name(start, item) + ": " + Got(n, total) + ", want " +
                                             Values(cell.n, cell.total) + "; " +
                                             Explain(start, item, cell, n, total) + " (" +
                                             PlaceOf(row) + ")");
    }
    cell.seen = true;
  }

  std::string Name(int64_t start, uint32_t item) const {
    return TimeText(start) + " " + ItemText(item);
  }

  std::string Values(int64_t n, int64_t total) const {
    return "n " + std::to_string(n) +
           (compare_total_ ? ", total " + std::to_string(total) : std::string());
  }

  std::string Got(const Cell& n, const Cell& total) const {
    return "n " + (n.null ? "NULL" : std::to_string(n.number)) +
           (compare_total_ ? ", total " + (total.null ? "NULL" : std::to_string(total.number))
                           : "");
  }

  // Which events make the difference, where one or two alone do; else all events of the window.
  std::string Explain(int64_t start, uint32_t item, const WindowCell& cell, const Cell& n,
                      const Cell& total) const {
    const std::vector<Event> events = truth_.RecordsOf(start, item);
    if (!n.null && !total.null && compare_total_) {
      // What stands in an output may be any number: the difference needs more bits.
      const Int128 rows = Int128{n.number} - cell.n;
      const Int128 sum = Int128{total.number} - cell.total;
      const std::vector<const Event*> some =
          Summing(events, rows < 0 ? -rows : rows, sum < 0 ? -sum : sum);
      if ((rows < 0) == (sum < 0) && !some.empty()) {
        std::string names;
        for (const Event* e : some)
          names += (names.empty() ? "" : " ") + RecordName(e->part, e->seq);
        return names + (rows < 0 ? " not counted" : " counted too often");
      }
    }
    return RecordsText(events);
  }

  // One or two events whose amounts add up to `sum`.
  static std::vector<const Event*> Summing(const std::vector<Event>& events, Int128 count,
                                           Int128 sum) {
    for (size_t i = 0; i < events.size() && events.size() <= kPairsMax; ++i) {
      if (count == 1 && events[i].amount == sum) return {&events[i]};
      for (size_t j = i + 1; count == 2 && j < events.size(); ++j) {
        if (events[i].amount + events[j].amount == sum) return {&events[i], &events[j]};
      }
    }
    return {};
  }

  static std::string RecordsText(const std::vector<Event>& events) {
    std::string text = "its records are";
    for (size_t i = 0; i < std::min(events.size(), kRecordsShown); ++i)
      text += " " + RecordName(events[i].part, events[i].seq);
    if (events.size() > kRecordsShown)
      text += " and " + std::to_string(events.size() - kRecordsShown) + " more";
    return text;
  }

  void Foreign(const Row& row, std::string_view why) {
    if (!findings_.Count(Fault::kForeign)) return;
    findings_.Add(Fault::kForeign, PlaceOf(row) + ": " + std::string(why) +
                                       (row.raw.empty() ? "" : ": " + Shortened(row.raw)));
  }

  Truth& truth_;
  const bool compare_end_, compare_total_;
  Findings findings_;
};

}  // namespace

std::unique_ptr<Judge> NewWindowJudge(Truth& truth, const std::vector<Wish>& wishes, size_t show) {
  return std::make_unique<WindowJudge>(truth, wishes, show);
}

}  // namespace weir::qualify
