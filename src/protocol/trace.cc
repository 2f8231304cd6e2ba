#include "protocol/trace.h"

#include "base/text.h"
#include "protocol/trace_checker.h"

namespace weir::protocol {
namespace {

std::string RowsObject(const std::vector<std::pair<std::string, uint64_t>>& rows) {
  std::string out = "{";
  for (const auto& [name, count] : rows) {
    if (out.size() > 1) out += ',';
    out += JsonQuote(name) + ":" + std::to_string(count);
  }
  return out + "}";
}

// An object in an event: the same members as an event, without a kind.
std::string Object(const TraceEvent& members) {
  std::string out = "{";
  for (const auto& [key, value] : members.fields) {
    if (out.size() > 1) out += ',';
    out += JsonQuote(key) + ":" + value;
  }
  return out + "}";
}

TraceEvent OfTarget(const char* kind, std::string_view target) {
  TraceEvent event{kind, {}};
  return event.Text("target", target);
}

TraceEvent WithRange(const char* kind, std::string_view target,
                     const std::optional<TargetPosition>& from, const TargetPosition& to) {
  TraceEvent event = OfTarget(kind, target);
  if (from) event.Text("from", from->ToString());
  return event.Text("to", to.ToString());
}

}  // namespace

TraceEvent& TraceEvent::Text(std::string key, std::string_view value) {
  return Raw(std::move(key), JsonQuote(value));
}
TraceEvent& TraceEvent::Number(std::string key, uint64_t value) {
  return Raw(std::move(key), std::to_string(value));
}
TraceEvent& TraceEvent::Flag(std::string key, bool value) {
  return Raw(std::move(key), value ? "true" : "false");
}
TraceEvent& TraceEvent::Raw(std::string key, std::string json) {
  fields.emplace_back(std::move(key), std::move(json));
  return *this;
}

std::string TraceEvent::ToJson() const {
  std::string out = "{\"event\":" + JsonQuote(kind);
  for (const auto& [key, value] : fields) out += "," + JsonQuote(key) + ":" + value;
  return out + "}";
}

TraceEvent TakeoverEvent(const TakeoverFacts& facts, const TakeoverDecision& decision) {
  TraceEvent members;
  members.Flag("newer_format", facts.newer_format)
      .Flag("any_run_row", facts.any_run_row)
      .Flag("run_artifacts", facts.run_artifacts)
      .Flag("fresh_requested", facts.fresh_requested)
      .Flag("discard_undelivered", facts.discard_undelivered)
      .Number("undelivered_epochs", facts.undelivered_epochs)
      .Number("undelivered_rows", facts.undelivered_rows)
      .Flag("fingerprint_matches", facts.fingerprint_matches)
      .Flag("last_run_finished", facts.last_run_finished);
  if (facts.job_requested) members.Text("job_requested", *facts.job_requested);
  if (facts.job_of_lineage) members.Text("job_of_lineage", *facts.job_of_lineage);
  members.Number("floor", facts.floor).Number("newest_sealed", facts.newest_sealed);
  TraceEvent event{"takeover", {}};
  return event.Raw("facts", Object(members))
      .Text("decision", TakeoverActionName(decision.action))
      .Number("row", static_cast<uint64_t>(decision.row))
      .Text("reason", decision.reason);
}

TraceEvent RefusedEvent(std::string_view reason) {
  TraceEvent event{"refused", {}};
  return event.Text("reason", reason);
}

TraceEvent QuarantinedEvent(std::string_view new_name) {
  TraceEvent event{"quarantined", {}};
  return event.Text("name", new_name);
}

TraceEvent RunEvent(const RunFacts& run) {
  TraceEvent event{"run", {}};
  return event.Number("run", run.run)
      .Text("lineage", run.lineage.ToHex())
      .Text("mode", run.fresh ? "fresh" : "resume")
      .Number("base", run.base)
      .Number("sealed", run.sealed)
      .Number("next_epoch", run.next_epoch);
}

TraceEvent CutEvent(EpochId epoch) {
  TraceEvent event{"cut", {}};
  return event.Number("epoch", epoch);
}

TraceEvent SealedEvent(const Lineage& lineage, EpochId epoch, const Digest256& hash,
                       const std::vector<std::pair<std::string, uint64_t>>& rows,
                       const std::vector<std::pair<std::string, uint64_t>>& local_rows) {
  TraceEvent event{"sealed", {}};
  return event.Text("lineage", lineage.ToHex())
      .Number("epoch", epoch)
      .Text("hash", hash.ToHex())
      .Raw("rows", RowsObject(rows))
      .Raw("local_rows", RowsObject(local_rows));
}

TraceEvent FinishedEvent(RunId run) {
  TraceEvent event{"finished", {}};
  return event.Number("run", run);
}

TraceEvent FencedEvent(std::string_view target) { return OfTarget("fenced", target); }

TraceEvent ReceiptReadEvent(std::string_view target, const std::optional<Receipt>& receipt) {
  TraceEvent event = OfTarget("receipt_read", target);
  event.Flag("present", receipt.has_value());
  if (!receipt) return event;
  return event.Text("lineage", receipt->lineage.ToHex())
      .Text("position", receipt->position.ToString())
      .Text("hash", receipt->hash.ToHex());
}

TraceEvent ResolvedEvent(std::string_view target, const DeliveryFacts& facts,
                         const DeliveryDecision& decision) {
  TraceEvent members;
  members.Text("receipt", ReceiptKindName(facts.receipt));
  if (facts.receipt != ReceiptKind::kAbsent) members.Text("r", facts.r.ToString());
  members.Flag("hash_matches", facts.hash_matches).Flag("above_sealed", facts.above_sealed);
  if (!facts.acked_empty) members.Text("a", facts.a.ToString());
  if (facts.in_flight) members.Text("f_to", facts.f_to.ToString());
  members.Flag("r_equals_seen", facts.r_equals_seen).Flag("target_can_scan", facts.target_can_scan);
  if (facts.other_unknown) members.Flag("other_unknown", true);
  if (facts.other_newer) members.Flag("other_newer", true);
  if (facts.word) members.Text("word", VerbName(*facts.word));
  if (facts.shared)
    members.Text("shared", facts.shared->ToString()).Number("held_from", facts.held_from);
  TraceEvent event = OfTarget("resolved", target);
  return event.Raw("facts", Object(members))
      .Text("action", DeliveryActionName(decision.action))
      .Number("row", static_cast<uint64_t>(decision.row));
}

TraceEvent ScannedEvent(std::string_view target, ScanOutcome outcome) {
  TraceEvent event = OfTarget("scanned", target);
  return event.Text("found", ScanOutcomeName(outcome));
}

TraceEvent InflightEvent(std::string_view target, const std::optional<TargetPosition>& from,
                         const TargetPosition& to) {
  return WithRange("inflight", target, from, to);
}

TraceEvent TxnBeginEvent(std::string_view target, const std::optional<TargetPosition>& from,
                         const TargetPosition& to) {
  return WithRange("txn_begin", target, from, to);
}

TraceEvent ReceiptSentEvent(std::string_view target, const TargetPosition& to) {
  return OfTarget("receipt_sent", target).Text("to", to.ToString());
}

TraceEvent CommitCalledEvent(std::string_view target) { return OfTarget("commit_called", target); }

TraceEvent CommitReturnedEvent(std::string_view target, bool ok, std::string_view error) {
  TraceEvent event = OfTarget("commit_returned", target);
  event.Text("outcome", ok ? "ok" : "in_doubt");
  if (!ok) event.Text("error", error);
  return event;
}

TraceEvent RefreshedEvent(std::string_view target, const TargetPosition& position, bool ok) {
  return OfTarget("refreshed", target)
      .Text("position", position.ToString())
      .Text("outcome", ok ? "ok" : "in_doubt");
}

TraceEvent AckedEvent(std::string_view target, const TargetPosition& position) {
  return OfTarget("acked", target).Text("position", position.ToString());
}

TraceEvent TrimmedEvent(std::string_view target, EpochId epoch) {
  return OfTarget("trimmed", target).Number("epoch", epoch);
}

TraceEvent ParkedEvent(const Park& park) {
  TraceEvent event{"parked", {}};
  std::string verbs = "[";
  for (const Verb verb : park.verbs) {
    if (verbs.size() > 1) verbs += ',';
    verbs += JsonQuote(VerbName(verb));
  }
  return event.Text("subject", park.subject)
      .Text("rule", park.rule)
      .Text("facts", park.facts)
      .Raw("verbs", verbs + "]");
}

std::string ParksJson(const std::vector<Park>& parks) {
  std::string out = "[";
  for (const Park& park : parks) out += (out.size() > 1 ? "," : "") + Object(ParkedEvent(park));
  return out + "]";
}

std::optional<Park> ParseParked(std::string_view json) {
  const std::optional<TraceObject> event = TraceObject::Parse(json);
  if (!event || event->Text("event") != "parked") return std::nullopt;
  const TraceList* verbs = event->List("verbs");
  const auto subject = event->Text("subject"), rule = event->Text("rule"),
             facts = event->Text("facts");
  if (verbs == nullptr || !subject || !rule || !facts) return std::nullopt;
  Park park{*subject, *rule, *facts, {}};
  for (const std::string& name : *verbs) {
    const std::optional<Verb> verb = VerbFromName(name);
    if (!verb) return std::nullopt;
    park.verbs.push_back(*verb);
  }
  return park;
}

TraceVerdict VerifyTrace(std::string_view text) {
  TraceVerdict verdict;
  TraceChecker checker;
  uint64_t torn = 0;  // line of something that is no event
  for (uint64_t line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(whole ? end + 1 : text.size());
    if (one.empty()) continue;
    const std::optional<TraceObject> event = TraceObject::Parse(one);
    if (!event) {
      // A killed process leaves a torn last line; the next run begins on a new one.
      if (torn != 0) return {false, torn, "syntax", "not an event", verdict.events, checker.runs()};
      torn = line;
      continue;
    }
    const std::optional<std::string> kind = event->Text("event");
    const bool begins_run = kind == "takeover" || kind == "refused" || kind == "quarantined";
    if (torn != 0 && !begins_run) {
      return {false, torn, "syntax", "not an event", verdict.events, checker.runs()};
    }
    torn = 0;
    ++verdict.events;
    if (!checker.Event(*event)) {
      return {false, line, checker.rule(), checker.detail(), verdict.events, checker.runs()};
    }
  }
  verdict.runs = checker.runs();
  return verdict;
}

}  // namespace weir::protocol
