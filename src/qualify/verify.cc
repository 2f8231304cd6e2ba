#include "qualify/verify.h"

#include <algorithm>

#include "base/text.h"
#include "base/units.h"

namespace weir::qualify {
namespace {

constexpr uint64_t kProgressRows = 1 << 16;

const LayerInput* FindLayer(const std::vector<LayerInput>& layers, Layer layer) {
  for (const LayerInput& input : layers) {
    if (input.layer == layer) return &input;
  }
  return nullptr;
}

std::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
    case Outcome::kExact:
      return "exact";
    case Outcome::kNotExact:
      return "not exact";
    case Outcome::kInconclusive:
      return "inconclusive";
  }
  return "";
}

// Nothing that had to be there could be judged, though there were records.
bool NothingJudged(const LayerVerdict& layer) {
  return layer.judged == 0 && (layer.open > 0 || layer.ahead > 0);
}

Outcome OutcomeOf(const Verdict& verdict) {
  bool inconclusive = verdict.layers.empty() || verdict.produced == 0;
  for (const LayerVerdict& layer : verdict.layers) {
    if (!layer.exact()) return Outcome::kNotExact;
    inconclusive = inconclusive || NothingJudged(layer);
  }
  return inconclusive ? Outcome::kInconclusive : Outcome::kExact;
}

std::string LayerText(const LayerVerdict& layer, int64_t window_ms) {
  const std::string name(LayerName(layer.layer));
  std::string text =
      name + std::string(9 - name.size(), ' ') +
      (layer.exact() ? (NothingJudged(layer) ? "nothing to judge" : "exact") : "NOT EXACT");
  text += ": " + Grouped(layer.rows) + " rows, " + Grouped(layer.judged) +
          (layer.layer == Layer::kWindows ? " windows x items judged" : " judged");
  if (layer.open > 0)
    text += ", " + Grouped(layer.open) + " windows of " + FormatDurationMs(window_ms) + " are open";
  if (layer.ahead > 0) text += ", " + Grouped(layer.ahead) + " rows are ahead of the ledger";
  if (!layer.not_compared.empty()) {
    text += "; not compared:";
    for (const std::string& column : layer.not_compared) text += " " + column;
  }
  text += "\n";
  for (size_t i = 0; i < kFaults; ++i) {
    const Fault fault = static_cast<Fault>(i);
    if (layer.faults[i] == 0) continue;
    text += "  " + std::string(FaultName(fault)) + ": " + Grouped(layer.faults[i]) + "\n";
    uint64_t shown = 0;
    for (const Finding& finding : layer.findings) {
      if (finding.fault != fault) continue;
      ++shown;
      text += "    " + finding.text + "\n";
    }
    if (shown < layer.faults[i]) text += "    and " + Grouped(layer.faults[i] - shown) + " more\n";
  }
  return text;
}

std::string LayerJson(const LayerVerdict& layer) {
  std::string json = "{\"layer\":" + JsonQuote(LayerName(layer.layer)) +
                     ",\"exact\":" + (layer.exact() ? "true" : "false") +
                     ",\"rows\":" + std::to_string(layer.rows) +
                     ",\"judged\":" + std::to_string(layer.judged) +
                     ",\"open_windows\":" + std::to_string(layer.open) +
                     ",\"ahead\":" + std::to_string(layer.ahead);
  for (size_t i = 0; i < kFaults; ++i) {
    std::string name(FaultName(static_cast<Fault>(i)));
    std::replace(name.begin(), name.end(), '-', '_');
    json += "," + JsonQuote(name) + ":" + std::to_string(layer.faults[i]);
  }
  json += ",\"not_compared\":[";
  for (size_t i = 0; i < layer.not_compared.size(); ++i)
    json += (i > 0 ? "," : "") + JsonQuote(layer.not_compared[i]);
  json += "],\"findings\":[";
  for (size_t i = 0; i < layer.findings.size(); ++i) {
    const Finding& finding = layer.findings[i];
    json += std::string(i > 0 ? "," : "") + "{\"fault\":" + JsonQuote(FaultName(finding.fault)) +
            ",\"text\":" + JsonQuote(finding.text) + "}";
  }
  return json + "]}";
}

}  // namespace

Result<Verdict> Verify(const Ledger& ledger, const TruthOptions& options,
                       std::vector<LayerInput>& layers, size_t show,
                       const std::function<void(Layer, uint64_t)>& progress) {
  WEIR_ASSIGN_OR_RETURN(Truth truth, Truth::Make(ledger, options));
  if (FindLayer(layers, Layer::kWindows) != nullptr && FindLayer(layers, Layer::kLate) == nullptr &&
      truth.may_be_late() > 0) {
    return Fail(Code::kUsage,
                "--windows needs --late: " + Grouped(truth.may_be_late()) +
                    " of these events may be late, and a loss must not pass for lateness");
  }
  Verdict verdict;
  verdict.parameters = ledger.parameters;
  verdict.produced = truth.produced();
  verdict.ended = ledger.ended;
  verdict.window_ms = options.window_ms;
  for (const Layer layer : kLayers) {  // late before windows
    const LayerInput* input = FindLayer(layers, layer);
    if (input == nullptr) continue;
    const std::unique_ptr<Judge> judge = NewJudge(layer, truth, input->wishes, show);
    uint64_t rows = 0;
    const Status read = input->reader->Read([&](const Row& row) {
      judge->Take(row);
      if (++rows % kProgressRows == 0) progress(layer, rows);
    });
    if (!read.ok()) return Fail(read.WithContext(LayerName(layer)));
    verdict.layers.push_back(judge->Finish());
  }
  verdict.outcome = OutcomeOf(verdict);
  return verdict;
}

std::string VerdictText(const Verdict& verdict) {
  const GenParameters& p = verdict.parameters;
  std::string text = "ledger   seed " + std::to_string(p.seed) + ", " +
                     std::to_string(p.partitions) + " partitions, " + Grouped(verdict.produced) +
                     " records" + (verdict.ended ? "" : " so far; the generator has not ended") +
                     "\n";
  for (const LayerVerdict& layer : verdict.layers) text += LayerText(layer, verdict.window_ms);
  return text + "verdict  " + std::string(OutcomeName(verdict.outcome)) + "\n";
}

std::string VerdictJson(const Verdict& verdict) {
  std::string json = "{\"verdict\":" + JsonQuote(OutcomeName(verdict.outcome)) +
                     ",\"seed\":" + std::to_string(verdict.parameters.seed) +
                     ",\"partitions\":" + std::to_string(verdict.parameters.partitions) +
                     ",\"records\":" + std::to_string(verdict.produced) +
                     ",\"ended\":" + (verdict.ended ? "true" : "false") + ",\"layers\":[";
  for (size_t i = 0; i < verdict.layers.size(); ++i)
    json += (i > 0 ? "," : "") + LayerJson(verdict.layers[i]);
  return json + "]}\n";
}

std::string Grouped(uint64_t n) {
  const std::string digits = std::to_string(n);
  std::string out;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

}  // namespace weir::qualify
