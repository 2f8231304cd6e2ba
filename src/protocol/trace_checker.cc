#include "protocol/trace_checker.h"

#include <algorithm>

namespace weir::protocol {
namespace {

std::string N(uint64_t number) { return std::to_string(number); }

bool GoesOn(TakeoverAction action) {
  return action == TakeoverAction::kFresh || action == TakeoverAction::kResume;
}

// nullopt: a member is missing.
std::optional<TakeoverFacts> ReadTakeoverFacts(const TraceObject& in) {
  TakeoverFacts facts;
  const std::pair<const char*, bool*> flags[] = {
      {"newer_format", &facts.newer_format},
      {"any_run_row", &facts.any_run_row},
      {"run_artifacts", &facts.run_artifacts},
      {"fresh_requested", &facts.fresh_requested},
      {"discard_undelivered", &facts.discard_undelivered},
      {"fingerprint_matches", &facts.fingerprint_matches},
      {"last_run_finished", &facts.last_run_finished}};
  for (const auto& [name, flag] : flags) {
    const std::optional<bool> value = in.Flag(name);
    if (!value) return std::nullopt;
    *flag = *value;
  }
  const std::pair<const char*, uint64_t*> numbers[] = {
      {"undelivered_epochs", &facts.undelivered_epochs},
      {"undelivered_rows", &facts.undelivered_rows},
      {"floor", &facts.floor},
      {"newest_sealed", &facts.newest_sealed}};
  for (const auto& [name, number] : numbers) {
    const std::optional<uint64_t> value = in.Number(name);
    if (!value) return std::nullopt;
    *number = *value;
  }
  facts.job_requested = in.Text("job_requested");
  facts.job_of_lineage = in.Text("job_of_lineage");
  return facts;
}

}  // namespace

bool TraceChecker::Fail(const char* rule, std::string detail) {
  rule_ = rule;
  detail_ = std::move(detail);
  return false;
}

TraceChecker::Target& TraceChecker::TargetOf(const std::string& name) {
  const auto [entry, is_new] = targets_.try_emplace(name);
  if (is_new) entry->second.acked_known = lineage_born_here_;
  return entry->second;
}

bool TraceChecker::Missing(const TraceObject& event, const char* member) {
  return Fail("syntax", "event '" + event.Text("event").value_or("") + "' has no good '" +
                            std::string(member) + "'");
}

bool TraceChecker::Event(const TraceObject& event) {
  const std::optional<std::string> kind = event.Text("event");
  if (!kind) return Missing(event, "event");
  if (*kind == "takeover") return Takeover(event);
  if (*kind == "refused") return Refused(event);
  if (*kind == "quarantined") return Quarantined(event);
  if (phase_ == Phase::kNobody || phase_ == Phase::kEnded) {
    return Fail("nothing after the end of a run", *kind + " without a takeover before it");
  }
  if (*kind == "parked") return Parked(event);
  if (*kind == "run") return Run(event);
  if (phase_ != Phase::kRunning) {
    return Fail("the run row comes first", *kind + " before the run row is durable");
  }
  if (*kind == "cut") return Cut(event);
  if (*kind == "sealed") return Sealed(event);
  if (*kind == "finished") return Finished(event);
  return OfTarget(*kind, event);
}

void TraceChecker::Believe(const TakeoverFacts& facts) {
  known_ = true;
  any_run_ = facts.any_run_row;
  base_ = facts.floor;
  sealed_ = facts.newest_sealed;
  highest_id_ = std::max(facts.floor, facts.newest_sealed);
  finished_ = facts.last_run_finished;
}

bool TraceChecker::Takeover(const TraceObject& event) {
  const TraceObject* members = event.Object("facts");
  if (members == nullptr) return Missing(event, "facts");
  const std::optional<TakeoverFacts> facts = ReadTakeoverFacts(*members);
  if (!facts) return Missing(event, "facts");
  const TakeoverDecision decision = DecideTakeover(*facts);
  if (!known_) Believe(*facts);
  // The process before has died, if nothing says otherwise.
  if (phase_ == Phase::kRunning && cut_ != 0) maybe_sealed_ = cut_;
  cut_ = 0;
  if (RestoresNothing(*facts, decision)) {
    return Fail("a rerun that restores nothing",
                "epochs up to " + N(sealed_) + " are sealed and unfinished, the start is fresh");
  }
  if (event.Text("decision") != TakeoverActionName(decision.action) ||
      event.Number("row") != static_cast<uint64_t>(decision.row)) {
    return Fail("the takeover decision follows from its facts",
                "row " + N(static_cast<uint64_t>(decision.row)) + " says " +
                    TakeoverActionName(decision.action));
  }
  if (!FactsAgree(*facts, decision)) return false;
  facts_ = *facts;
  decision_ = decision;
  if (!GoesOn(decision.action)) {
    phase_ = Phase::kEnded;
    return true;
  }
  // From here on its run row may be durable, whether or not an event says so.
  phase_ = Phase::kDecided;
  sealed_ = facts->newest_sealed;
  base_ = facts->floor;
  highest_id_ = std::max({highest_id_, base_, sealed_});
  finished_ = facts->last_run_finished;
  any_run_ = facts->any_run_row;
  maybe_sealed_ = 0;
  maybe_run_row_ = decision.action == TakeoverAction::kFresh;
  ++runs_;
  return true;
}

// The one thing that a recorded kill-and-rerun must never become.
bool TraceChecker::RestoresNothing(const TakeoverFacts& facts,
                                   const TakeoverDecision& decision) const {
  if (decision.action != TakeoverAction::kFresh || facts.fresh_requested) return false;
  if (!any_run_ || sealed_ <= base_ || finished_ || maybe_run_row_ == true) return false;
  return !(facts.last_run_finished && AllDelivered());
}

bool TraceChecker::FactsAgree(const TakeoverFacts& facts, const TakeoverDecision& decision) {
  const char* rule = "the facts are what the trace has shown";
  const bool maybe_fresh = maybe_run_row_ == true;
  if (decision.action == TakeoverAction::kRefuseNewerFormat ||
      decision.action == TakeoverAction::kRefuseDamage) {
    return true;  // nothing else could be read
  }
  if (facts.any_run_row != any_run_ && !(facts.any_run_row && maybe_run_row_)) {
    return Fail(rule, any_run_ ? "runs were recorded, the facts know none"
                               : "no run was recorded, the facts know one");
  }
  const bool newest_ok = facts.newest_sealed == sealed_ ||
                         (maybe_sealed_ != 0 && facts.newest_sealed == maybe_sealed_) ||
                         (maybe_fresh && facts.newest_sealed == 0);
  if (!newest_ok) {
    return Fail(rule, "newest sealed epoch is " + N(facts.newest_sealed) +
                          ", the trace has shown " + N(sealed_));
  }
  if (facts.floor != base_ && !(maybe_fresh && facts.floor >= highest_id_)) {
    return Fail(rule, "floor is " + N(facts.floor) + ", the trace has shown " + N(base_));
  }
  const bool maybe_finished = !finished_ && AllDelivered() && sealed_ == facts.newest_sealed;
  const bool maybe_restarted = finished_ && maybe_run_row_.has_value();
  if (facts.last_run_finished != finished_ && !(facts.last_run_finished && maybe_finished) &&
      !(!facts.last_run_finished && maybe_restarted)) {
    return Fail(rule, finished_ ? "the last run finished, the facts say that it did not"
                                : "the last run did not finish, the facts say that it did");
  }
  if (facts.undelivered_epochs == 0 && facts.newest_sealed == sealed_ && !AllDelivered()) {
    return Fail(rule, "sealed rows are not delivered, the facts know none");
  }
  return true;
}

bool TraceChecker::Run(const TraceObject& event) {
  if (phase_ != Phase::kDecided) return Fail("one run row for each takeover", "a second run row");
  const auto number = event.Number("run");
  const auto lineage = Lineage::FromHex(event.Text("lineage").value_or(""));
  const auto mode = event.Text("mode");
  const auto base = event.Number("base");
  const auto sealed = event.Number("sealed");
  const auto next_epoch = event.Number("next_epoch");
  if (!number || !lineage || !mode || !base || !sealed || !next_epoch) {
    return Missing(event, "run, lineage, mode, base, sealed, next_epoch");
  }
  const char* rule = "the run row is what the takeover decided";
  const bool fresh = decision_.action == TakeoverAction::kFresh;
  if (*mode != (fresh ? "fresh" : "resume")) return Fail(rule, "mode is " + *mode);
  if (*number == 0 || *number <= last_run_) {
    return Fail(rule, "run " + N(*number) + " after run " + N(last_run_));
  }
  if (fresh) {
    if (lineages_.contains(*lineage)) return Fail(rule, "a fresh run with a known lineage");
    if (*sealed != 0) return Fail(rule, "a fresh run that resumes epoch " + N(*sealed));
    if (*base < highest_id_) {
      return Fail("ids are never reused", "base " + N(*base) + " is below epoch " + N(highest_id_));
    }
    hashes_.clear();
    targets_.clear();
    lineage_born_here_ = true;
  } else {
    if (lineage_ && *lineage_ != *lineage) return Fail(rule, "resumes another lineage");
    if (*sealed != facts_.newest_sealed || *base != facts_.floor) {
      return Fail(rule, "resumes epoch " + N(*sealed) + " above " + N(*base));
    }
    for (auto& [name, target] : targets_) {
      target.step = Step::kNone;
      target.acked_in_this_run = target.resolved_in_this_run = false;
    }
  }
  if (*next_epoch <= std::max(*base, *sealed)) {
    return Fail("ids are never reused", "next epoch is " + N(*next_epoch));
  }
  phase_ = Phase::kRunning;
  maybe_run_row_.reset();
  any_run_ = true;
  finished_ = false;
  last_run_ = run_ = *number;
  lineage_ = *lineage;
  lineages_.insert(*lineage);
  base_ = *base;
  sealed_ = *sealed;
  highest_id_ = std::max(highest_id_, base_);
  next_epoch_ = *next_epoch;
  return true;
}

bool TraceChecker::Cut(const TraceObject& event) {
  const auto epoch = event.Number("epoch");
  if (!epoch) return Missing(event, "epoch");
  if (cut_ != 0) return Fail("one seal in flight", "epoch " + N(cut_) + " is not sealed yet");
  if (*epoch < next_epoch_) {
    return Fail("ids are never reused", "epoch " + N(*epoch) + ", the next is " + N(next_epoch_));
  }
  cut_ = *epoch;
  next_epoch_ = *epoch + 1;
  return true;
}

bool TraceChecker::Sealed(const TraceObject& event) {
  const auto epoch = event.Number("epoch");
  const auto lineage = Lineage::FromHex(event.Text("lineage").value_or(""));
  const auto hash = Digest256::FromHex(event.Text("hash").value_or(""));
  const TraceObject* rows = event.Object("rows");
  if (!epoch || !lineage || !hash || rows == nullptr || event.Object("local_rows") == nullptr) {
    return Missing(event, "epoch, lineage, hash, rows, local_rows");
  }
  if (cut_ == 0 || *epoch != cut_) {
    return Fail("sealed only after its cut", "epoch " + N(*epoch));
  }
  if (lineage != lineage_) return Fail("sealed in the lineage of the run", lineage->ToHex());
  for (const auto& [name, value] : rows->members()) {
    const auto count = rows->Number(name);
    if (!count) return Missing(event, "rows");
    if (*count > 0) TargetOf(name).rows[*epoch] = *count;
  }
  hashes_[*epoch] = *hash;
  sealed_ = *epoch;
  highest_id_ = std::max(highest_id_, *epoch);
  cut_ = 0;
  return true;
}

// As far as the trace can tell: rows that were sealed before it began are not known.
bool TraceChecker::AllDelivered() const {
  return std::all_of(targets_.begin(), targets_.end(), [](const auto& entry) {
    const Target& target = entry.second;
    if (target.rows.empty()) return true;
    const TargetPosition end{target.rows.rbegin()->first, target.rows.rbegin()->second};
    return target.proven && *target.proven >= end;
  });
}

bool TraceChecker::Finished(const TraceObject& event) {
  if (event.Number("run") != run_) return Missing(event, "run");
  const char* rule = "finished only when all is sealed and acked";
  if (cut_ != 0) return Fail(rule, "epoch " + N(cut_) + " is not sealed");
  for (const auto& [name, target] : targets_) {
    if (target.rows.empty()) continue;
    const TargetPosition end{target.rows.rbegin()->first, target.rows.rbegin()->second};
    if (!target.acked || *target.acked < end) {
      return Fail(rule, name + " has acked " +
                            (target.acked ? target.acked->ToString() : "nothing") + " of " +
                            end.ToString());
    }
  }
  finished_ = true;
  phase_ = Phase::kEnded;
  return true;
}

bool TraceChecker::Refused(const TraceObject& event) {
  if (!event.Text("reason")) return Missing(event, "reason");
  if (phase_ == Phase::kRunning && cut_ != 0) maybe_sealed_ = cut_;
  cut_ = 0;
  phase_ = Phase::kEnded;
  return true;
}

bool TraceChecker::Quarantined(const TraceObject& event) {
  if (!event.Text("name")) return Missing(event, "name");
  // Another directory from here on: empty, and with nothing to remember.
  const uint64_t runs = runs_;
  *this = TraceChecker();
  runs_ = runs;
  known_ = true;
  return true;
}

bool TraceChecker::Parked(const TraceObject& event) {
  const TraceList* verbs = event.List("verbs");
  if (!event.Text("subject") || !event.Text("rule") || !event.Text("facts") || verbs == nullptr) {
    return Missing(event, "subject, rule, facts, verbs");
  }
  if (verbs->empty()) return Fail("every park names a way out", *event.Text("rule"));
  for (const std::string& verb : *verbs) {
    if (!VerbFromName(verb)) return Fail("every park names a way out", "no such verb: " + verb);
  }
  return true;
}

}  // namespace weir::protocol
