// Layers whose rows are single events: raw and dead (by their bytes), cleaned and late (by
// columns).
#include "base/text.h"
#include "qualify/findings.h"

namespace weir::qualify {
namespace {

class EventJudge : public Judge {
 public:
  EventJudge(Layer layer, Truth& truth, const std::vector<Wish>& wishes, size_t show)
      : layer_(layer), truth_(truth), wishes_(wishes), findings_(layer, wishes, show) {
    seen_.resize(truth.parameters().partitions);
  }

  void Take(const Row& row) override {
    ++findings_.verdict().rows;
    uint32_t part = 0;
    uint64_t seq = 0;
    if (!row.broken.empty()) return Foreign(row, row.broken);
    const bool by_bytes = layer_ == Layer::kRaw || layer_ == Layer::kDead;
    const std::string_view bytes = layer_ == Layer::kDead ? row.cells[0].text : row.raw;
    if (!(by_bytes ? ReadIdentity(bytes, &part, &seq) : ReadCells(row, &part, &seq)))
      return Foreign(row, "no event: part and seq are missing");
    if (part < truth_.parameters().partitions && !truth_.Known(part, seq) && !truth_.ended()) {
      ++findings_.verdict().ahead;  // produced since the ledger was read
      return;
    }
    if (!truth_.Known(part, seq))
      return Foreign(row, "the generator never wrote " + RecordName(part, seq));
    const Record record = MakeRecord(truth_.parameters(), part, seq);
    if (record.kind == RecordKind::kDuplicate)
      return Foreign(row, RecordName(part, seq) + " is a copy of " +
                              RecordName(part, record.origin) + " and has that number");
    if (std::string_view why = WrongLayer(record); !why.empty())
      return Foreign(row, RecordName(part, seq) + " " + std::string(why));
    Judged(row, record, by_bytes ? Differs(record, bytes) : Differs(record, row.cells));
  }

  LayerVerdict Finish() override {
    LayerVerdict& verdict = findings_.verdict();
    if (layer_ == Layer::kLate) {  // what is neither here nor in its window is the windows' finding
      verdict.judged = verdict.rows;
      return std::move(verdict);
    }
    truth_.ForEachEvent([this](uint32_t part, uint64_t seq) {
      const uint32_t must = Must(part, seq);
      if (must == 0 || WrongLayer(MakeRecord(truth_.parameters(), part, seq)).size() > 0) return;
      findings_.verdict().judged += must;
      for (uint32_t got = Seen(part, seq); got < must; ++got)
        findings_.Report(Fault::kMissing,
                         RecordName(part, seq) +
                             (must == 1 ? "" : ", produced " + std::to_string(must) + " times"));
    });
    return std::move(verdict);
  }

 private:
  bool ReadCells(const Row& row, uint32_t* part, uint64_t* seq) const {
    const Cell &p = row.cells[0], &s = row.cells[1];
    if (p.null || s.null || p.number < 0 || p.number > UINT32_MAX || s.number < 0) return false;
    *part = static_cast<uint32_t>(p.number);
    *seq = static_cast<uint64_t>(s.number);
    return true;
  }

  // Why an event is not for this layer; "" when it is.
  std::string_view WrongLayer(const Record& record) const {
    switch (layer_) {
      case Layer::kRaw:
        return "";
      case Layer::kCleaned:
      case Layer::kLate:
        return record.decodable() ? "" : "is poison and cannot be decoded";
      case Layer::kDead:
        return record.decodable() ? "is no poison" : "";
      case Layer::kWindows:
        break;
    }
    return "";
  }

  std::string Differs(const Record& record, std::string_view bytes) {
    want_.clear();
    AppendRecord(truth_.parameters(), record, want_);
    return bytes == want_ ? "" : "has other bytes: " + Shortened(bytes);
  }

  std::string Differs(const Record& record, std::span<const Cell> cells) const {
    const Event& e = record.event;
    std::string text;
    const auto differs = [&](size_t i, bool same, const std::string& got, const std::string& want) {
      if (wishes_[i].column.empty() || (!cells[i].null && same)) return;
      text += (text.empty() ? "" : ", ") + wishes_[i].column + " is " +
              (cells[i].null ? "NULL" : got) + ", want " + want;
    };
    const std::string item = ItemText(e.item);
    differs(2, cells[2].text == item, Shortened(cells[2].text), JsonQuote(item));
    differs(3, cells[3].number == e.amount, std::to_string(cells[3].number),
            std::to_string(e.amount));
    differs(4, cells[4].number == e.ts_ms, TimeText(cells[4].number), TimeText(e.ts_ms));
    return text;
  }

  void Judged(const Row& row, const Record& record, const std::string& difference) {
    const auto [part, seq] = std::pair(record.event.part, record.event.seq);
    if (!difference.empty()) {
      if (findings_.Count(Fault::kConflicting))
        findings_.Add(Fault::kConflicting,
                      RecordName(part, seq) + " " + difference + " (" + PlaceOf(row) + ")");
      // It is there, with other values: not missing as well.
    }
    std::vector<uint8_t>& seen = seen_[part];
    if (seen.size() <= seq) seen.resize(seq + 1 + seen.size() / 2, 0);
    if (seen[seq] < UINT8_MAX) ++seen[seq];
    const uint32_t times = seen[seq];
    if (times > Most(part, seq)) {
      if (findings_.Count(Fault::kDuplicate))
        findings_.Add(Fault::kDuplicate, RecordName(part, seq) + " is there " +
                                             std::to_string(times) + " times, produced " +
                                             std::to_string(Most(part, seq)) + " (" + PlaceOf(row) +
                                             ")");
      return;
    }
    if (layer_ == Layer::kLate) FiledAsLate(row, record, times);
  }

  // The `times`-th row of this event among the late ones.
  void FiledAsLate(const Row& row, const Record& record, uint32_t times) {
    const auto [part, seq] = std::pair(record.event.part, record.event.seq);
    // A copy that was sent and perhaps not produced may be the one that was late.
    if (truth_.OccurrencesMax(part, seq) != truth_.Occurrences(part, seq)) return;
    if (times > truth_.MayBeLate(part, seq) && findings_.Count(Fault::kOnTime))
      findings_.Add(Fault::kOnTime, RecordName(part, seq) + " of " + TimeText(record.event.ts_ms) +
                                        " is within the bound of its partition (" + PlaceOf(row) +
                                        ")");
    // Not in its window, rightly or not: said once.
    const auto window = truth_.windows().find(truth_.WindowStart(record.event.ts_ms));
    if (window == truth_.windows().end()) return;
    WindowCell& cell = window->second[record.event.item];
    if (cell.n == 0) return;
    --cell.n;
    cell.total -= record.event.amount;
  }

  void Foreign(const Row& row, std::string_view why) {
    if (!findings_.Count(Fault::kForeign)) return;
    findings_.Add(Fault::kForeign, PlaceOf(row) + ": " + std::string(why) +
                                       (row.raw.empty() ? "" : ": " + Shortened(row.raw)));
  }

  bool once() const {
    return truth_.options().deduplicated && layer_ != Layer::kRaw && layer_ != Layer::kDead;
  }
  uint32_t Must(uint32_t part, uint64_t seq) const {
    const uint32_t n = truth_.Occurrences(part, seq);
    return once() ? std::min(n, 1u) : n;
  }
  uint32_t Most(uint32_t part, uint64_t seq) const {
    const uint32_t n = truth_.OccurrencesMax(part, seq);
    return once() ? std::min(n, 1u) : n;
  }
  uint32_t Seen(uint32_t part, uint64_t seq) const {
    return seq < seen_[part].size() ? seen_[part][seq] : 0;
  }

  const Layer layer_;
  Truth& truth_;
  const std::vector<Wish> wishes_;
  Findings findings_;
  std::vector<std::vector<uint8_t>> seen_;  // by partition and sequence
  std::string want_;
};

}  // namespace

std::unique_ptr<Judge> NewEventJudge(Layer layer, Truth& truth, const std::vector<Wish>& wishes,
                                     size_t show) {
  return std::make_unique<EventJudge>(layer, truth, wishes, show);
}

}  // namespace weir::qualify
