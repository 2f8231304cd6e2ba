// The reconciler judged: a small pipeline written for this test makes right outputs, each change
// of which must be found out for what it is.
#include "qualify/verify.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "data/base64.h"
#include "data/timestamp.h"
#include "qualify/findings.h"

namespace weir::qualify {
namespace {

constexpr int64_t kWindowMs = 10'000;

GenParameters Faulty() {
  GenParameters p;
  p.seed = 11;
  p.partitions = 3;
  p.records = 9000;
  p.rate = 100;
  p.items = 5;
  p.start_ms = 1'767'225'600'000 + 43'200'000;  // noon: what is late is of the same year
  p.jitter_ms = 1500;
  p.bound_ms = 3000;
  p.late_by_ms = 30'000;
  p.out_of_order_ppm = 20'000;
  p.late_ppm = 20'000;
  p.duplicate_ppm = 20'000;
  p.poison_ppm = 20'000;
  return p;
}

Ledger Whole(const GenParameters& p) {
  Ledger ledger;
  ledger.parameters = p;
  for (uint32_t i = 0; i < p.partitions; ++i) ledger.produced.push_back(RecordsOfPartition(p, i));
  ledger.sent = ledger.produced;
  ledger.ended = true;
  return ledger;
}

std::string EventJson(const Event& e) {
  return "{\"seq\":" + std::to_string(e.seq) + ",\"part\":" + std::to_string(e.part) +
         ",\"item\":" + JsonQuote(ItemText(e.item)) + ",\"amount\":" + std::to_string(e.amount) +
         ",\"ts\":" + JsonQuote(TimeText(e.ts_ms)) + "}";
}

std::string WindowJson(int64_t start, uint32_t item, int64_t n, int64_t total) {
  return "{\"window_start\":" + JsonQuote(TimeText(start)) +
         ",\"window_end\":" + JsonQuote(TimeText(start + kWindowMs)) +
         ",\"item\":" + JsonQuote(ItemText(item)) + ",\"n\":" + std::to_string(n) +
         ",\"total\":" + std::to_string(total) + "}";
}

using Outputs = std::map<Layer, std::vector<std::string>>;

// What a pipeline that reads the partitions in turn makes of them. `hold`: the last windows do not
// fire, as those of an input without end.
Outputs RunPipeline(const GenParameters& p, bool hold = false, bool deduplicate = false) {
  Outputs out;
  for (const Layer layer : kLayers) out[layer];
  std::vector<int64_t> highest(p.partitions, -1);
  std::map<int64_t, std::map<uint32_t, std::pair<int64_t, int64_t>>> open;
  const auto fire = [&](int64_t watermark) {
    while (!open.empty() && open.begin()->first + kWindowMs - 1 <= watermark) {
      for (const auto& [item, group] : open.begin()->second)
        out[Layer::kWindows].push_back(
            WindowJson(open.begin()->first, item, group.first, group.second));
      open.erase(open.begin());
    }
  };
  for (uint64_t r = 0; r < p.records / p.partitions; ++r) {
    for (uint32_t part = 0; part < p.partitions; ++part) {
      const Record record = MakeRecord(p, part, r);
      std::string bytes;
      AppendRecord(p, record, bytes);
      out[Layer::kRaw].push_back(bytes);
      if (!record.decodable()) {
        std::string raw;
        AppendBase64(bytes, raw);
        out[Layer::kDead].push_back("{\"stage\":\"decode\",\"raw\":" + JsonQuote(raw) + "}");
        continue;
      }
      if (deduplicate && record.kind == RecordKind::kDuplicate) continue;
      out[Layer::kCleaned].push_back(EventJson(record.event));
      const int64_t low = *std::min_element(highest.begin(), highest.end());
      const int64_t watermark = low < 0 ? low : low - p.bound_ms;
      fire(watermark);
      const int64_t ts = record.event.ts_ms, start = ts - ts % kWindowMs;
      if (start + kWindowMs - 1 <= watermark) {
        out[Layer::kLate].push_back(EventJson(record.event));
      } else {
        auto& group = open[start][record.event.item];
        ++group.first;
        group.second += record.event.amount;
      }
      highest[part] = std::max(highest[part], ts);
    }
  }
  if (!hold) fire(INT64_MAX - kWindowMs);
  return out;
}

class Lines : public LayerReader {
 public:
  Lines(std::vector<std::string> lines, std::vector<Wish> wishes)
      : lines_(std::move(lines)), rows_(std::move(wishes)) {}
  Result<uint64_t> Mark() override { return lines_.size(); }
  Status Read(const RowHandler& handle) override {
    for (size_t i = 0; i < lines_.size(); ++i) rows_.Handle(lines_[i], "out", i + 1, handle);
    return Status::Ok();
  }

 private:
  const std::vector<std::string> lines_;
  JsonRows rows_;
};

struct Asked {
  std::vector<Layer> layers{kLayers.begin(), kLayers.end()};
  TruthOptions options{.window_ms = kWindowMs, .deduplicated = false, .input_ended = true};
  ColumnNames names;
  size_t show = 20;
};

Result<Verdict> Judged(const Ledger& ledger, const Outputs& outputs, const Asked& asked = {}) {
  std::vector<LayerInput> layers;
  for (const Layer layer : asked.layers) {
    const auto wishes = WishesOf(layer, asked.names);
    REQUIRE(wishes.has_value());
    layers.push_back({layer, *wishes, std::make_unique<Lines>(outputs.at(layer), *wishes)});
  }
  return Verify(ledger, asked.options, layers, asked.show, [](Layer, uint64_t) {});
}

// Exactly one fault in all layers, of this kind in this layer; its text.
std::string OnlyFinding(const Result<Verdict>& verdict, Layer layer, Fault fault) {
  REQUIRE(verdict.has_value());
  CHECK(verdict->outcome == Outcome::kNotExact);
  std::string text;
  for (const LayerVerdict& l : verdict->layers) {
    for (size_t i = 0; i < kFaults; ++i) {
      CAPTURE(LayerName(l.layer));
      CAPTURE(FaultName(static_cast<Fault>(i)));
      CHECK(l.faults[i] == (l.layer == layer && i == static_cast<size_t>(fault) ? 1 : 0));
    }
    for (const Finding& finding : l.findings) text += finding.text;
  }
  return text;
}

bool Has(const std::string& text, std::string_view part) {
  CAPTURE(text);
  CAPTURE(part);
  const bool has = text.find(part) != std::string::npos;
  CHECK(has);
  return has;
}

// The first row of `layer` that `is` is true for.
size_t Find(const Outputs& outputs, Layer layer, std::string_view part) {
  const std::vector<std::string>& rows = outputs.at(layer);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].find(part) != std::string::npos) return i;
  }
  FAIL("no such row");
  return 0;
}

std::string With(std::string text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("right outputs are exact, in any order") {
  const GenParameters p = Faulty();
  Outputs outputs = RunPipeline(p);
  for (auto& [layer, rows] : outputs) {
    CHECK(rows.size() >= 50);
    std::reverse(rows.begin(), rows.end());
  }
  const auto verdict = Judged(Whole(p), outputs);
  REQUIRE(verdict.has_value());
  CAPTURE(VerdictText(*verdict));
  CHECK(verdict->outcome == Outcome::kExact);
  for (const LayerVerdict& layer : verdict->layers) {
    CHECK(layer.judged == layer.rows);
    CHECK(layer.open == 0);
  }
  Has(VerdictText(*verdict), "verdict  exact");
  Has(VerdictJson(*verdict), "\"verdict\":\"exact\"");
}

TEST_CASE("a record that is missing, twice there, altered or foreign is found in each layer") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  for (const Layer layer : {Layer::kRaw, Layer::kCleaned, Layer::kDead}) {
    CAPTURE(LayerName(layer));
    const size_t i = right.at(layer).size() / 2;
    Outputs outputs = right;
    const std::string row = outputs[layer][i];
    outputs[layer].erase(outputs[layer].begin() + static_cast<int64_t>(i));
    OnlyFinding(Judged(ledger, outputs), layer, Fault::kMissing);
    outputs = right;
    outputs[layer].push_back(row);
    OnlyFinding(Judged(ledger, outputs), layer, Fault::kDuplicate);
    outputs = right;
    outputs[layer].push_back("not JSON");
    Has(OnlyFinding(Judged(ledger, outputs), layer, Fault::kForeign), "not JSON");
  }
}

TEST_CASE("an event that was changed on its way is conflicting, and the column is named") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  struct Case {
    const char* from;
    const char* to;
    const char* says;
  };
  const Case cases[] = {{"\"item\":\"i", "\"item\":\"j", "item is"},
                        {"\"amount\":", "\"amount\":1", "amount is"},
                        {"\"ts\":\"2026", "\"ts\":\"2025", "ts is 2025"},
                        {"\"amount\":", "\"amount\":null,\"x\":", "amount is NULL"}};
  for (const Layer layer : {Layer::kCleaned, Layer::kLate}) {
    for (const Case& c : cases) {
      CAPTURE(c.says);
      Outputs outputs = right;
      outputs[layer][7] = With(outputs[layer][7], c.from, c.to);
      Has(OnlyFinding(Judged(ledger, outputs), layer, Fault::kConflicting), c.says);
    }
  }
  Outputs outputs = right;
  outputs[Layer::kRaw][5] += " ";
  Has(OnlyFinding(Judged(ledger, outputs), Layer::kRaw, Fault::kConflicting), "other bytes");
}

TEST_CASE("a row that is nothing of the generator's is foreign") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  Event stranger = MakeRecord(p, 0, 1).event;
  struct Case {
    const char* name;
    void (*change)(Event&);
  };
  const Case cases[] = {{"a partition that is not", [](Event& e) { e.part = 3; }},
                        {"a number that was never written", [](Event& e) { e.seq = 3000; }}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Event event = stranger;
    c.change(event);
    Outputs outputs = right;
    outputs[Layer::kCleaned].push_back(EventJson(event));
    OnlyFinding(Judged(ledger, outputs), Layer::kCleaned, Fault::kForeign);
  }
  // In the wrong layer: poison as an event, an event as a dead letter, the number of a copy.
  for (uint64_t r = 0; r < 3000; ++r) {
    const Record record = MakeRecord(p, 0, r);
    Event event = record.event;
    event.seq = r;
    if (record.kind != RecordKind::kPoison && record.kind != RecordKind::kDuplicate) continue;
    Outputs outputs = right;
    outputs[Layer::kCleaned].push_back(EventJson(event));
    OnlyFinding(Judged(ledger, outputs), Layer::kCleaned, Fault::kForeign);
    if (record.kind == RecordKind::kDuplicate) break;
  }
  Outputs outputs = right;
  std::string raw;
  AppendBase64(right.at(Layer::kRaw)[0], raw);
  outputs[Layer::kDead].push_back("{\"raw\":" + JsonQuote(raw) + "}");
  Has(OnlyFinding(Judged(ledger, outputs), Layer::kDead, Fault::kForeign), "no poison");
}

TEST_CASE("a window that is missing names its records") {
  const GenParameters p = Faulty();
  Outputs outputs = RunPipeline(p);
  outputs[Layer::kWindows].erase(outputs[Layer::kWindows].begin() + 9);
  const std::string text = OnlyFinding(Judged(Whole(p), outputs), Layer::kWindows, Fault::kMissing);
  Has(text, "its records are 0:");
}

TEST_CASE("a window's row that comes twice is a duplicate, another one conflicting") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  Outputs outputs = right;
  outputs[Layer::kWindows].push_back(outputs[Layer::kWindows][3]);
  OnlyFinding(Judged(ledger, outputs), Layer::kWindows, Fault::kDuplicate);
  outputs = right;
  outputs[Layer::kWindows].push_back(With(outputs[Layer::kWindows][3], "\"n\":", "\"n\":1"));
  OnlyFinding(Judged(ledger, outputs), Layer::kWindows, Fault::kConflicting);
}

TEST_CASE("a count that is wrong by one or two events names them") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  Truth truth = *Truth::Make(ledger, {.window_ms = kWindowMs});
  const int64_t start = std::next(truth.windows().begin(), 6)->first;
  const WindowCell cell = truth.windows()[start][2];
  const std::vector<Event> events = truth.RecordsOf(start, 2);
  REQUIRE(events.size() > 4);
  // No late event is in this window: what the row says is what the truth says.
  const size_t i = Find(right, Layer::kWindows, "\"window_start\":" + JsonQuote(TimeText(start)));
  size_t row = i;
  while (right.at(Layer::kWindows)[row].find("\"i2\"") == std::string::npos) ++row;
  const std::string want = right.at(Layer::kWindows)[row];
  int64_t n = cell.n, total = cell.total;
  for (const std::string& late : right.at(Layer::kLate)) {  // take out what was late
    for (const Event& e : events) {
      if (late == EventJson(e)) {
        --n;
        total -= e.amount;
      }
    }
  }
  REQUIRE(want == WindowJson(start, 2, n, total));
  struct Case {
    int64_t n, total;
    std::string says;
  };
  const Event &a = events[0], &b = events[2];
  const std::string name_a = RecordName(a.part, a.seq), name_b = RecordName(b.part, b.seq);
  const Case cases[] = {
      {n - 1, total - a.amount, name_a + " not counted"},
      {n + 1, total + b.amount, name_b + " counted too often"},
      {n - 2, total - a.amount - b.amount, name_a + " " + name_b + " not counted"},
      {n, total + 1, "its records are"},
      {n + 1, total, "its records are"},
      {INT64_MIN, INT64_MAX, "its records are"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.says);
    Outputs outputs = right;
    outputs[Layer::kWindows][row] = WindowJson(start, 2, c.n, c.total);
    Has(OnlyFinding(Judged(ledger, outputs), Layer::kWindows, Fault::kConflicting), c.says);
  }
}

TEST_CASE("windows that no event can be in are foreign") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  const std::string row = right.at(Layer::kWindows)[3];
  const std::string rows[] = {WindowJson(p.start_ms - 86'400'000, 1, 1, 1),
                              WindowJson(p.start_ms + 1, 1, 1, 1),
                              WindowJson(p.start_ms, 5, 1, 1),
                              With(row, "\"window_start\":\"2026", "\"window_start\":\"2025"),
                              With(row, "\"item\":\"i", "\"item\":\"x"),
                              With(row, "\"window_start\":", "\"other\":")};
  for (const std::string& foreign : rows) {
    CAPTURE(foreign);
    Outputs outputs = right;
    outputs[Layer::kWindows].push_back(foreign);
    OnlyFinding(Judged(ledger, outputs), Layer::kWindows, Fault::kForeign);
  }
}

TEST_CASE("a window's item whose every event was late has no row, not even one of zero") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  Outputs outputs = RunPipeline(p);
  Truth truth = *Truth::Make(ledger, {.window_ms = kWindowMs});
  std::string fired;
  for (const std::string& row : outputs[Layer::kWindows]) fired += row;
  int checked = 0;
  for (const auto& [start, cells] : truth.windows()) {
    if (fired.find(JsonQuote(TimeText(start))) != std::string::npos) continue;
    outputs[Layer::kWindows].push_back(WindowJson(start, 0, 0, 0));
    if (++checked == 1)
      Has(OnlyFinding(Judged(ledger, outputs), Layer::kWindows, Fault::kForeign), "was late");
    outputs[Layer::kWindows].pop_back();
  }
  CHECK(checked > 0);
}

TEST_CASE("an event on time that is filed as late is found, and only that") {
  GenParameters p = Faulty();
  p.late_ppm = 0;  // jitter and disorder stay within the bound: nothing may be late
  const Ledger ledger = Whole(p);
  Outputs outputs = RunPipeline(p);
  REQUIRE(outputs[Layer::kLate].empty());
  Truth truth = *Truth::Make(ledger, {.window_ms = kWindowMs});
  CHECK(truth.may_be_late() == 0);
  const int64_t start = std::next(truth.windows().begin(), 4)->first;
  const std::vector<Event> events = truth.RecordsOf(start, 1);
  const WindowCell cell = truth.windows()[start][1];
  const std::string right = WindowJson(start, 1, cell.n, cell.total);
  outputs[Layer::kWindows][Find(outputs, Layer::kWindows, right)] =
      WindowJson(start, 1, cell.n - 1, cell.total - events[0].amount);
  outputs[Layer::kLate].push_back(EventJson(events[0]));
  const std::string text = OnlyFinding(Judged(ledger, outputs), Layer::kLate, Fault::kOnTime);
  Has(text, RecordName(events[0].part, events[0].seq) + " of ");
}

TEST_CASE("a late event belongs into its window or to the late rows, to one of them") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  const Outputs right = RunPipeline(p);
  Truth truth = *Truth::Make(ledger, {.window_ms = kWindowMs});
  // A late row whose event stands once in the input.
  std::optional<Event> event;
  size_t at = 0;
  for (; at < right.at(Layer::kLate).size() && !event; ++at) {
    for (uint32_t part = 0; part < p.partitions && !event; ++part) {
      for (uint64_t seq = 1000; seq < ledger.produced[part]; ++seq) {  // its window has rows
        if (truth.Occurrences(part, seq) == 1 && truth.MayBeLate(part, seq) == 1 &&
            EventJson(MakeRecord(p, part, seq).event) == right.at(Layer::kLate)[at]) {
          event = MakeRecord(p, part, seq).event;
          break;
        }
      }
    }
    if (event) break;
  }
  REQUIRE(event.has_value());
  const int64_t start = truth.WindowStart(event->ts_ms);
  size_t row = Find(right, Layer::kWindows, "\"window_start\":" + JsonQuote(TimeText(start)));
  while (right.at(Layer::kWindows)[row].find(JsonQuote(ItemText(event->item))) == std::string::npos)
    ++row;
  int64_t n = 0, total = 0;
  const std::string& text = right.at(Layer::kWindows)[row];
  n = *ParseInt64(text.substr(text.find("\"n\":") + 4,
                              text.find(',', text.find("\"n\":")) - text.find("\"n\":") - 4));
  const size_t t = text.find("\"total\":") + 8;
  total = *ParseInt64(text.substr(t, text.size() - 1 - t));
  // Counted by a pipeline that had not got that far: right.
  Outputs placed = right;
  placed[Layer::kLate].erase(placed[Layer::kLate].begin() + static_cast<int64_t>(at));
  placed[Layer::kWindows][row] = WindowJson(start, event->item, n + 1, total + event->amount);
  CHECK(Judged(ledger, placed)->outcome == Outcome::kExact);
  // In both, or in neither.
  Outputs both = right;
  both[Layer::kWindows][row] = WindowJson(start, event->item, n + 1, total + event->amount);
  Has(OnlyFinding(Judged(ledger, both), Layer::kWindows, Fault::kConflicting), "too often");
  Outputs neither = right;
  neither[Layer::kLate].erase(neither[Layer::kLate].begin() + static_cast<int64_t>(at));
  Has(OnlyFinding(Judged(ledger, neither), Layer::kWindows, Fault::kConflicting), "not counted");
  // Twice among the late rows.
  Outputs twice = right;
  twice[Layer::kLate].push_back(twice[Layer::kLate][at]);
  OnlyFinding(Judged(ledger, twice), Layer::kLate, Fault::kDuplicate);
}

TEST_CASE("windows are not judged without late rows where events may be late") {
  const GenParameters p = Faulty();
  Asked asked;
  asked.layers = {Layer::kWindows};
  const auto verdict = Judged(Whole(p), RunPipeline(p), asked);
  REQUIRE_FALSE(verdict.has_value());
  CHECK(verdict.error().code() == Code::kUsage);
  Has(verdict.error().message(), "--late");
  GenParameters on_time = p;
  on_time.late_ppm = 0;
  CHECK(Judged(Whole(on_time), RunPipeline(on_time), asked)->outcome == Outcome::kExact);
}

TEST_CASE("a window is judged once its whole input was produced and closes it") {
  const GenParameters p = Faulty();
  const Ledger whole = Whole(p);
  Asked asked;
  asked.options.input_ended = false;
  const Outputs held = RunPipeline(p, true);
  const auto verdict = Judged(whole, held, asked);
  REQUIRE(verdict.has_value());
  CAPTURE(VerdictText(*verdict));
  CHECK(verdict->outcome == Outcome::kExact);
  CHECK(verdict->layers.back().open >= 1);
  CHECK(verdict->layers.back().open <= 3);
  // The same with the word that the input has ended: they are missing.
  CHECK(Judged(whole, held)->outcome == Outcome::kNotExact);
  // Fired early by a pipeline that took its input for idle: judged all the same.
  Outputs outputs = RunPipeline(p);
  CHECK(Judged(whole, outputs, asked)->layers.back().open == 0);
  outputs[Layer::kWindows].back() = With(outputs[Layer::kWindows].back(), "\"n\":", "\"n\":1");
  CHECK(Judged(whole, outputs, asked)->outcome == Outcome::kNotExact);
}

TEST_CASE("while the generator runs only what cannot change any more is judged") {
  const GenParameters p = Faulty();
  Ledger ledger = Whole(p);
  ledger.ended = false;
  for (uint64_t& n : ledger.produced) n = 2000;
  for (uint64_t& n : ledger.sent) n = 2100;
  Asked asked;
  asked.options.input_ended = false;
  Outputs outputs = RunPipeline(p);  // it is ahead of the ledger
  auto verdict = Judged(ledger, outputs, asked);
  REQUIRE(verdict.has_value());
  CAPTURE(VerdictText(*verdict));
  CHECK(verdict->outcome == Outcome::kExact);
  CHECK(verdict->layers.back().judged > 10);
  CHECK(verdict->layers.back().ahead > 10);
  // Records that were sent may be there once or not at all, not twice.
  const std::string sent = EventJson([&] {
    for (uint64_t r = 2000;; ++r) {
      const Record record = MakeRecord(p, 1, r);
      if (record.kind == RecordKind::kPlain) return record.event;
    }
  }());
  auto& cleaned = outputs[Layer::kCleaned];
  const size_t at = Find(outputs, Layer::kCleaned, sent);
  outputs[Layer::kCleaned].erase(cleaned.begin() + static_cast<int64_t>(at));
  CHECK(Judged(ledger, outputs, asked)->outcome == Outcome::kExact);
  cleaned.insert(cleaned.end(), 3, sent);
  verdict = Judged(ledger, outputs, asked);
  CHECK(verdict->outcome == Outcome::kNotExact);
  // And an early window that is missing is missing now already.
  Outputs lost = RunPipeline(p);
  lost[Layer::kWindows].erase(lost[Layer::kWindows].begin() + 2);
  OnlyFinding(Judged(ledger, lost, asked), Layer::kWindows, Fault::kMissing);

  asked.options.input_ended = true;
  CHECK(Judged(ledger, outputs, asked).error().code() == Code::kUsage);
}

TEST_CASE("nothing that could be judged is no pass") {
  const GenParameters p = Faulty();
  Ledger ledger = Whole(p);
  ledger.ended = false;
  for (uint64_t& n : ledger.produced) n = 50;
  ledger.sent = ledger.produced;
  Asked asked;
  asked.options.input_ended = false;
  asked.layers = {Layer::kLate, Layer::kWindows};
  Outputs none;
  none[Layer::kLate];
  none[Layer::kWindows];
  CHECK(Judged(ledger, none, asked)->outcome == Outcome::kInconclusive);
  for (uint64_t& n : ledger.produced) n = 0;
  ledger.sent = ledger.produced;
  CHECK(Judged(ledger, none, asked)->outcome == Outcome::kInconclusive);
}

TEST_CASE("a pipeline that deduplicates is held to that, and only then") {
  const GenParameters p = Faulty();
  const Ledger ledger = Whole(p);
  Asked asked;
  asked.options.deduplicated = true;
  const Outputs once = RunPipeline(p, false, true), all = RunPipeline(p);
  const auto verdict = Judged(ledger, once, asked);
  REQUIRE(verdict.has_value());
  CAPTURE(VerdictText(*verdict));
  CHECK(verdict->outcome == Outcome::kExact);
  CHECK(Judged(ledger, once)->outcome == Outcome::kNotExact);
  CHECK(Judged(ledger, all, asked)->outcome == Outcome::kNotExact);
}

TEST_CASE("columns may have other names, and those that are not there are said") {
  const GenParameters p = Faulty();
  Outputs outputs = RunPipeline(p);
  for (std::string& row : outputs[Layer::kWindows]) row = With(row, "\"n\":", "\"cnt\":");
  Asked asked;
  asked.names[{Layer::kWindows, "n"}] = "cnt";
  asked.names[{Layer::kWindows, "total"}] = "";
  CHECK(Judged(Whole(p), outputs)->outcome == Outcome::kNotExact);
  const auto verdict = Judged(Whole(p), outputs, asked);
  CHECK(verdict->outcome == Outcome::kExact);
  Has(VerdictText(*verdict), "not compared: total");
  CHECK(WishesOf(Layer::kWindows, {{{Layer::kWindows, "n"}, ""}}).error().code() == Code::kUsage);
  CHECK(WishesOf(Layer::kRaw, {{{Layer::kRaw, "seq"}, "s"}}).error().code() == Code::kUsage);
}

TEST_CASE("all findings are counted, the first are shown") {
  const GenParameters p = Faulty();
  Outputs outputs = RunPipeline(p);
  outputs[Layer::kCleaned].clear();
  Asked asked;
  asked.show = 2;
  const auto verdict = Judged(Whole(p), outputs, asked);
  const LayerVerdict& cleaned = verdict->layers[1];
  CHECK(cleaned.faults[static_cast<size_t>(Fault::kMissing)] == cleaned.judged);
  CHECK(cleaned.findings.size() == 2);
  Has(VerdictText(*verdict), "more\n");
  Has(VerdictJson(*verdict), "\"missing\":" + std::to_string(cleaned.judged));
}

}  // namespace
}  // namespace weir::qualify
