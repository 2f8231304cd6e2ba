// What the engine says of itself: status JSON, totals, the snapshot for the progress line.
#include <algorithm>

#include "base/text.h"
#include "runtime/engine.h"
#include "runtime/epoch_body.h"

namespace weir::runtime {

Totals Engine::CountTotals() const {
  Totals t;
  for (const Graph::NodeBooksRef& ref : graph_->Books()) {
    const flow::NodeBooks& b = ref.books;
    switch (ref.kind) {
      case flow::BooksKind::kScan:
        t.read += b[flow::Count::kRead];
        t.dead += b[flow::Count::kDead];
        break;
      case flow::BooksKind::kCalc:
        t.filtered += b[flow::Count::kFiltered];
        t.dead += b[flow::Count::kDead];
        break;
      case flow::BooksKind::kWindow:
        t.late += b[flow::Count::kLate];
        t.dead += b[flow::Count::kDead] + b[flow::Count::kResultsDead];
        break;
      case flow::BooksKind::kSink: {
        const auto& body = std::get<plan::SinkNode>(ref.node->body);
        t.dead += b[flow::Count::kDead];
        if (body.kind != plan::SinkNode::Kind::kDeadLetterFile)
          t.emitted += b[flow::Count::kStaged];
        break;
      }
      case flow::BooksKind::kPassThrough:
        break;
    }
  }
  return t;
}

Snapshot Engine::snapshot() const {
  Snapshot s;
  const Totals now = CountTotals();
  s.totals = {now.read - totals_at_start_.read, now.filtered - totals_at_start_.filtered,
              now.late - totals_at_start_.late, now.dead - totals_at_start_.dead,
              now.emitted - totals_at_start_.emitted};
  s.epochs = sealed_in_run_;
  s.sealed = sealed_;
  s.watermark = kWatermarkMax;
  for (const auto& scan : graph_->scans()) {
    uint64_t read = 0, total = 0;
    scan->Progress(&read, &total);
    s.read_bytes += read;
    s.total_bytes += total;
    s.watermark = std::min(s.watermark, scan->watermark());
  }
  s.run_bytes = s.read_bytes - std::min(s.read_bytes, read_bytes_at_start_);
  s.running_ms = (env_.clock.MonotonicNs() - started_ns_) / 1000000;
  s.bounded = plan_->bounded;
  return s;
}

std::vector<protocol::Park> Engine::AllParks() const {
  std::vector<protocol::Park> all = deliveries_->parks();
  for (const Sink& sink : graph_->sinks()) {
    if (sink.stage == nullptr) continue;
    if (auto park = sink.stage->park()) all.push_back(std::move(*park));
  }
  for (const auto& scan : graph_->scans()) {
    for (const flow::SourcePark& park : scan->parks()) {
      std::string subject(scan->table_name());
      if (park.partition >= 0) subject += ":" + scan->LabelOf(park.partition);
      all.push_back({std::move(subject), park.rule, park.what, park.verbs});
    }
  }
  return all;
}

std::string Engine::EpochsWaiting() const {
  uint64_t rows = 0;
  for (const Sink& sink : graph_->sinks()) {
    if (sink.spool == nullptr) continue;
    const flow::NodeBooks& b = sink.books();
    rows += b[flow::Count::kSealed] - b[flow::Count::kAcked] - b[flow::Count::kDropped];
  }
  return rows == 0 ? ""
                   : std::to_string(rows) +
                         " sealed rows wait in the spool; the next start delivers them";
}

std::string Engine::StatusJson() const {
  const std::vector<protocol::Park> parks = AllParks();
  std::vector<std::string> reasons;
  if (pressure_ != Pressure::kNone) reasons.push_back(DescribePressure(pressure_, pressure_facts_));
  if (seal_state_ == SealState::kWaitsForLock) reasons.push_back("another process holds state.db");
  if (deliveries_->degraded()) reasons.push_back("a target does not take deliveries");
  if (!books_error_.empty()) reasons.push_back("the books do not balance: " + books_error_);
  if (store_->WalBytes() > store::kWalDegradedBytes)
    reasons.push_back("a reader holds the write-ahead log of state.db: " +
                      std::to_string(store_->WalBytes()) + " bytes");
  for (const auto& scan : graph_->scans()) {
    if (!scan->clock_believed()) reasons.push_back("clock not believed");
    if (std::string trouble = scan->Trouble(); !trouble.empty())
      reasons.push_back(std::move(trouble));
  }
  const store::RunInfo& run = store_->run();
  std::string out = "{\"health\":\"" +
                    std::string(!parks.empty()    ? "parked"
                                : reasons.empty() ? "healthy"
                                                  : "degraded") +
                    "\"";
  out += ",\"pipeline\":" + JsonQuote(run.pipeline) + ",\"instance\":" + JsonQuote(run.instance);
  out += ",\"run\":" + std::to_string(run.run) + ",\"lineage\":\"" + run.lineage.ToHex() + "\"";
  out += ",\"sealed_epoch\":" + std::to_string(sealed_) +
         ",\"epochs_in_run\":" + std::to_string(sealed_in_run_);
  out += ",\"running_ms\":" + std::to_string((env_.clock.MonotonicNs() - started_ns_) / 1000000);
  out += ",\"state_bytes\":" + std::to_string(graph_->StateBytes()) +
         ",\"wal_bytes\":" + std::to_string(store_->WalBytes());
  out += ",\"spool_bytes\":" + std::to_string(pressure_facts_.spool_bytes);
  out += ",\"reasons\":[";
  for (size_t i = 0; i < reasons.size(); ++i) out += (i > 0 ? "," : "") + JsonQuote(reasons[i]);
  out += "],\"parks\":" + protocol::ParksJson(parks) + ",\"words_waiting\":[";
  const std::vector<std::string> words = deliveries_->WordsWaiting();
  for (size_t i = 0; i < words.size(); ++i) out += (i > 0 ? "," : "") + JsonQuote(words[i]);
  out += "],\"sources\":[";
  for (size_t i = 0; i < graph_->scans().size(); ++i) {
    out += std::string(i > 0 ? "," : "") +
           "{\"table\":" + JsonQuote(std::string(graph_->scans()[i]->table_name())) + ",";
    graph_->scans()[i]->AppendStatus(out);
    out += "}";
  }
  out += "],\"targets\":";
  deliveries_->AppendStatus(out);
  out += ",\"books\":{";
  bool first = true;
  for (const Graph::NodeBooksRef& ref : graph_->Books()) {
    out += (first ? "" : ",") + JsonQuote(ref.node->name) + ":" + BooksJson(ref.books);
    first = false;
  }
  out += "},\"watermark\":" + TimeJson(snapshot().watermark) + "}";
  return out;
}

}  // namespace weir::runtime
