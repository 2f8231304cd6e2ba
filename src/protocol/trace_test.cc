#include "protocol/trace.h"

#include <doctest/doctest.h>

#include <functional>

#include "base/hash.h"
#include "protocol/trace_json.h"

namespace weir::protocol {
namespace {

using Trace = std::vector<TraceEvent>;

std::string Text(const Trace& trace) {
  std::string out;
  for (const TraceEvent& event : trace) out += event.ToJson() + "\n";
  return out;
}

Digest256 HashOf(EpochId epoch) { return Sha256("epoch " + std::to_string(epoch)); }
const Lineage kFirst{{1}};
const Lineage kSecond{{2}};
constexpr char kTarget[] = "db";

TakeoverFacts NewDirectory() { return {}; }
TakeoverFacts Found(EpochId floor, EpochId newest, uint64_t undelivered = 0) {
  TakeoverFacts facts;
  facts.any_run_row = true;
  facts.floor = floor;
  facts.newest_sealed = newest;
  facts.undelivered_epochs = facts.undelivered_rows = undelivered;
  return facts;
}
TraceEvent Take(const TakeoverFacts& facts) { return TakeoverEvent(facts, DecideTakeover(facts)); }
TraceEvent FreshRun(RunId run, const Lineage& lineage, EpochId base) {
  return RunEvent({run, lineage, true, base, 0, base + 1});
}
TraceEvent ResumeRun(RunId run, const Lineage& lineage, EpochId base, EpochId sealed) {
  return RunEvent({run, lineage, false, base, sealed, sealed + 1});
}
TraceEvent Seal(EpochId epoch, uint64_t rows, const Lineage& lineage = kFirst) {
  return SealedEvent(lineage, epoch, HashOf(epoch), {{kTarget, rows}}, {{"file", 2}});
}
Receipt ReceiptAt(EpochId epoch, uint64_t rows, const Lineage& lineage = kFirst) {
  return {lineage, {epoch, rows}, HashOf(epoch)};
}
TraceEvent Resolve(const DeliveryFacts& facts) {
  return ResolvedEvent(kTarget, facts, DecideDelivery(facts));
}
DeliveryFacts NothingYet() { return {}; }
DeliveryFacts At(TargetPosition r, std::optional<TargetPosition> a) {
  DeliveryFacts facts;
  facts.receipt = ReceiptKind::kOurs;
  facts.r = r;
  facts.acked_empty = !a;
  facts.a = a.value_or(TargetPosition());
  return facts;
}
void Add(Trace& trace, const Trace& more) { trace.insert(trace.end(), more.begin(), more.end()); }

Trace FirstDelivery(TargetPosition to) {
  return {FencedEvent(kTarget),
          ReceiptReadEvent(kTarget, std::nullopt),
          Resolve(NothingYet()),
          TxnBeginEvent(kTarget, std::nullopt, to),
          ReceiptSentEvent(kTarget, to),
          CommitCalledEvent(kTarget),
          CommitReturnedEvent(kTarget, true, ""),
          AckedEvent(kTarget, to)};
}
Trace NextDelivery(TargetPosition from, TargetPosition to) {
  return {FencedEvent(kTarget),
          ReceiptReadEvent(kTarget, ReceiptAt(from.epoch, from.rows)),
          Resolve(At(from, from)),
          InflightEvent(kTarget, from, to),
          TxnBeginEvent(kTarget, from, to),
          CommitCalledEvent(kTarget),
          CommitReturnedEvent(kTarget, true, ""),
          AckedEvent(kTarget, to),
          TrimmedEvent(kTarget, to.epoch)};
}

// A job of three epochs, killed between COMMIT at the target and its ack, rerun to the end, and run
// again as a new job.
Trace KillAndRerun() {
  Trace trace = {Take(NewDirectory()), FreshRun(1, kFirst, 0), CutEvent(1), Seal(1, 10)};
  Add(trace, FirstDelivery({1, 10}));
  Add(trace, {CutEvent(2), Seal(2, 5), FencedEvent(kTarget),
              ReceiptReadEvent(kTarget, ReceiptAt(1, 10)), Resolve(At({1, 10}, {{1, 10}})),
              TxnBeginEvent(kTarget, {{1, 10}}, {2, 5}), CommitCalledEvent(kTarget)});
  // killed here; the target has it
  Add(trace, {Take(Found(0, 2, 1)), ResumeRun(2, kFirst, 0, 2), FencedEvent(kTarget),
              ReceiptReadEvent(kTarget, ReceiptAt(2, 5)), Resolve(At({2, 5}, {{1, 10}})),
              AckedEvent(kTarget, {2, 5}), CutEvent(3), Seal(3, 1)});
  Add(trace, NextDelivery({2, 5}, {3, 1}));
  trace.push_back(FinishedEvent(2));
  TakeoverFacts finished = Found(0, 3);
  finished.last_run_finished = true;
  Add(trace, {Take(finished), FreshRun(3, kSecond, 3), CutEvent(4), Seal(4, 3, kSecond)});
  return trace;
}

TraceVerdict Verify(const Trace& trace) { return VerifyTrace(Text(trace)); }

TEST_CASE("trace: a recorded kill and rerun is allowed") {
  const TraceVerdict verdict = Verify(KillAndRerun());
  CAPTURE(verdict.rule);
  CAPTURE(verdict.detail);
  CHECK(verdict.ok);
  CHECK(verdict.runs == 3);
  CHECK(verdict.events == KillAndRerun().size());
}

TEST_CASE("trace: every beginning of an allowed trace is allowed") {
  const Trace whole = KillAndRerun();
  for (size_t n = 0; n <= whole.size(); ++n) {
    CHECK(Verify(Trace(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n))).ok);
  }
}

TEST_CASE("trace: a death at any event, and a rerun of what is then there, is allowed") {
  // Killed after event n of the first run; what the rerun finds follows from what was shown.
  const Trace whole = KillAndRerun();
  for (size_t n = 2; n < 19; ++n) {
    for (const bool commit_was_durable : {false, true}) {
      Trace trace(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(n));
      EpochId sealed = 0;
      EpochId cut = 0;
      for (const TraceEvent& event : trace) {
        if (event.kind == "cut") ++cut;
        if (event.kind == "sealed") ++sealed;
      }
      if (commit_was_durable) sealed = cut;
      trace.push_back(Take(Found(0, sealed, sealed)));
      if (sealed > 0) {
        trace.push_back(ResumeRun(2, kFirst, 0, sealed));
      } else {
        trace.push_back(FreshRun(2, kSecond, 0));
      }
      const TraceVerdict verdict = Verify(trace);
      CAPTURE(n);
      CAPTURE(verdict.rule);
      CAPTURE(verdict.detail);
      CHECK(verdict.ok);
    }
  }
}

TEST_CASE("trace: a rerun that restores nothing is refused, however it is written") {
  const Trace whole = KillAndRerun();
  size_t rerun = 0;
  for (size_t i = 1; i < whole.size() && rerun == 0; ++i) {
    if (whole[i].kind == "takeover") rerun = i;
  }
  const TakeoverFacts tempting[] = {
      Found(0, 0),
      NewDirectory(),
      Found(2, 2, 1),
      Found(2, 0),
      [] {
        TakeoverFacts facts = Found(0, 2, 1);
        facts.last_run_finished = true;
        return facts;
      }(),
  };
  for (const TakeoverFacts& facts : tempting) {
    Trace trace(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(rerun));
    trace.push_back(Take(facts));
    trace.push_back(FreshRun(2, kSecond, 2));
    const TraceVerdict verdict = Verify(trace);
    CHECK(!verdict.ok);
    CHECK(verdict.rule == "a rerun that restores nothing");
    CHECK(verdict.line == rerun + 1);
  }
  // The decision alone rewritten, the facts left as they were.
  Trace trace(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(rerun));
  trace.push_back(TakeoverEvent(Found(0, 2, 1), {TakeoverAction::kFresh, 11, "?"}));
  CHECK(Verify(trace).rule == "the takeover decision follows from its facts");
  // The run row alone.
  trace.back() = Take(Found(0, 2, 1));
  trace.push_back(FreshRun(2, kSecond, 2));
  CHECK(Verify(trace).rule == "the run row is what the takeover decided");
}

// One rewritten event (or some), and the rule that must refuse it.
struct Mutant {
  const char* name;
  const char* rule;
  std::function<void(Trace&)> rewrite;
};

size_t Index(const Trace& trace, std::string_view kind, int occurrence = 1) {
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind == kind && --occurrence == 0) return i;
  }
  REQUIRE(false);
  return 0;
}
std::function<void(Trace&)> Drop(std::string kind, int occurrence = 1) {
  return [=](Trace& trace) {
    trace.erase(trace.begin() + static_cast<ptrdiff_t>(Index(trace, kind, occurrence)));
  };
}
std::function<void(Trace&)> Replace(std::string kind, int occurrence, TraceEvent event) {
  return [=](Trace& trace) { trace[Index(trace, kind, occurrence)] = event; };
}
std::function<void(Trace&)> Before(std::string kind, int occurrence, TraceEvent event) {
  return [=](Trace& trace) {
    trace.insert(trace.begin() + static_cast<ptrdiff_t>(Index(trace, kind, occurrence)), event);
  };
}

TEST_CASE("trace: every rule refuses the trace that breaks it") {
  const char* path = "a delivery takes the path from its start";
  const char* facts = "the facts are what the trace has shown";
  const Mutant mutants[] = {
      {"no run row", "the run row comes first", Drop("run")},
      {"two run rows", "one run row for each takeover", Before("takeover", 2, FreshRun(9, kSecond, 9))},
      {"run number again", "the run row is what the takeover decided",
       Replace("run", 2, ResumeRun(1, kFirst, 0, 2))},
      {"resumes another lineage", "the run row is what the takeover decided",
       Replace("run", 2, ResumeRun(2, kSecond, 0, 2))},
      {"resumes an older epoch", "the run row is what the takeover decided",
       Replace("run", 2, ResumeRun(2, kFirst, 0, 1))},
      {"a fresh run under an old lineage", "the run row is what the takeover decided",
       Replace("run", 3, FreshRun(3, kFirst, 3))},
      {"a base below what was sealed", "ids are never reused",
       Replace("run", 3, FreshRun(3, kSecond, 2))},
      {"takeover sees an older epoch", facts, Replace("takeover", 2, Take(Found(0, 1, 1)))},
      {"takeover sees a newer epoch", facts, Replace("takeover", 2, Take(Found(0, 7, 1)))},
      {"takeover sees nothing undelivered", facts,
       [](Trace& t) { t[Index(t, "takeover", 3)] = Take(Found(0, 3)); }},
      {"another floor", facts, Replace("takeover", 2, Take(Found(1, 2, 1)))},
      {"an id is cut again", "ids are never reused", Replace("cut", 2, CutEvent(1))},
      {"an id of the run before", "ids are never reused", Replace("cut", 3, CutEvent(2))},
      {"sealed without a cut", "sealed only after its cut", Drop("cut", 2)},
      {"another epoch sealed than cut", "sealed only after its cut",
       Replace("sealed", 2, Seal(3, 5))},
      {"sealed in another lineage", "sealed in the lineage of the run",
       Replace("sealed", 2, Seal(2, 5, kSecond))},
      {"two seals in flight", "one seal in flight", Before("sealed", 2, CutEvent(3))},
      {"receipt read before fencing", path, Drop("fenced")},
      {"no receipt read", path, Drop("receipt_read")},
      {"not resolved", path, Drop("resolved")},
      {"a transaction nobody decided", path, Drop("resolved", 2)},
      {"a commit without a transaction", path, Drop("txn_begin")},
      {"a commit that was not called", path, Drop("commit_called")},
      {"two transactions in one session", path,
       Before("acked", 1, TxnBeginEvent(kTarget, {{1, 10}}, {2, 5}))},
      {"a receipt behind the commit", path, Before("acked", 1, ReceiptSentEvent(kTarget, {1, 10}))},
      {"a scan of an exact receipt", path, Before("txn_begin", 1, ScannedEvent(kTarget, ScanOutcome::kNone))},
      {"a receipt that was not read", facts,
       Replace("receipt_read", 2, ReceiptReadEvent(kTarget, std::nullopt))},
      {"another position than was read", facts,
       Replace("receipt_read", 2, ReceiptReadEvent(kTarget, ReceiptAt(1, 9)))},
      {"a stranger's receipt called ours", facts,
       Replace("receipt_read", 2, ReceiptReadEvent(kTarget, ReceiptAt(1, 10, kSecond)))},
      {"a hash that is not ours", facts,
       Replace("receipt_read", 2, ReceiptReadEvent(kTarget, Receipt{kFirst, {1, 10}, HashOf(9)}))},
      {"A is not what was acked", facts, Replace("resolved", 2, Resolve(At({1, 10}, {{1, 9}})))},
      {"delivers although the row says advance", "the delivery decision follows from its facts",
       Replace("resolved", 3,
               ResolvedEvent(kTarget, At({2, 5}, {{1, 10}}),
                             {DeliveryAction::kDeliverFromAcked, 7}))},
      {"a gap", "deliveries are contiguous",
       Replace("txn_begin", 2, TxnBeginEvent(kTarget, {{1, 11}}, {2, 5}))},
      {"an overlap", "deliveries are contiguous",
       Replace("txn_begin", 2, TxnBeginEvent(kTarget, {{1, 9}}, {2, 5}))},
      {"backwards", "deliveries are contiguous",
       Replace("txn_begin", 2, TxnBeginEvent(kTarget, {{1, 10}}, {1, 2}))},
      {"an epoch that is not sealed", "only sealed epochs are delivered",
       Replace("txn_begin", 2, TxnBeginEvent(kTarget, {{1, 10}}, {3, 1}))},
      {"rows that are not there", "only sealed epochs are delivered",
       Replace("txn_begin", 2, TxnBeginEvent(kTarget, {{1, 10}}, {2, 6}))},
      {"the receipt of another transaction", "the receipt names what the transaction holds",
       Replace("receipt_sent", 1, ReceiptSentEvent(kTarget, {1, 9}))},
      {"acked in doubt", "acked only what a commit or a receipt has proven",
       Replace("commit_returned", 1, CommitReturnedEvent(kTarget, false, "timed out"))},
      {"acked more than delivered", "acked only what a commit or a receipt has proven",
       Replace("acked", 1, AckedEvent(kTarget, {2, 5}))},
      {"acked without a commit", "acked only what a commit or a receipt has proven",
       Drop("commit_returned")},
      {"trimmed above A", "trimmed only what is acked",
       Replace("trimmed", 1, TrimmedEvent(kTarget, 3)) },
      {"finished with undelivered rows", "finished only when all is sealed and acked",
       [](Trace& t) {
         t.erase(t.begin() + static_cast<ptrdiff_t>(Index(t, "acked", 3)),
                 t.begin() + static_cast<ptrdiff_t>(Index(t, "finished")));
       }},
      {"finished with an open cut", "finished only when all is sealed and acked",
       Before("finished", 1, CutEvent(4))},
      {"goes on after finishing", "nothing after the end of a run",
       [](Trace& t) {
         t.insert(t.begin() + static_cast<ptrdiff_t>(Index(t, "finished")) + 1, CutEvent(4));
       }},
      {"goes on after refusing", "nothing after the end of a run",
       Before("cut", 2, RefusedEvent("output exists"))},
      {"a park without a way out", "every park names a way out",
       Before("cut", 2, ParkedEvent({kTarget, "sql.row-5", "facts", {}}))},
      {"an event of no kind", "syntax", Before("cut", 2, TraceEvent{"sneezed", {}})},
      {"a member is missing", "syntax", Before("cut", 2, TraceEvent{"cut", {}})},
  };
  for (const Mutant& mutant : mutants) {
    Trace trace = KillAndRerun();
    if (std::string_view(mutant.name) == "trimmed above A") {
      // ... while a later epoch is sealed and not delivered.
      trace.resize(Index(trace, "finished"));
      Trace more = {CutEvent(4), Seal(4, 7), TrimmedEvent(kTarget, 4)};
      Add(trace, more);
    } else {
      mutant.rewrite(trace);
    }
    const TraceVerdict verdict = Verify(trace);
    CAPTURE(mutant.name);
    CAPTURE(verdict.detail);
    CHECK(!verdict.ok);
    CHECK(verdict.rule == mutant.rule);
  }
}

TEST_CASE("trace: deaths that leave something open are allowed, and nothing more") {
  struct Case {
    const char* name;
    Trace trace;
    bool ok;
  };
  TakeoverFacts finished = Found(0, 1);
  finished.last_run_finished = true;
  Trace delivered = {Take(NewDirectory()), FreshRun(1, kFirst, 0), CutEvent(1), Seal(1, 10)};
  Add(delivered, FirstDelivery({1, 10}));
  const auto and_then = [](Trace trace, const Trace& more) {
    Add(trace, more);
    return trace;
  };
  TakeoverFacts discard = Found(0, 1, 1);
  discard.fresh_requested = discard.discard_undelivered = true;
  TakeoverFacts drop = Found(0, 1, 0);
  drop.fresh_requested = true;
  const Trace sealed = {Take(NewDirectory()), FreshRun(1, kFirst, 0), CutEvent(1), Seal(1, 10)};
  const Case cases[] = {
      {"the run row was durable, its event was not written",
       {Take(NewDirectory()), Take(Found(0, 0)), FreshRun(2, kSecond, 0)},
       true},
      {"it was not durable",
       {Take(NewDirectory()), Take(NewDirectory()), FreshRun(1, kFirst, 0)},
       true},
      {"the marker was durable, its event was not written",
       and_then(delivered, {Take(finished), FreshRun(2, kSecond, 1)}), true},
      {"a marker although not everything was delivered",
       and_then(sealed, {Take(finished), FreshRun(2, kSecond, 1)}), false},
      {"--fresh --discard-undelivered", and_then(sealed, {Take(discard), FreshRun(2, kSecond, 1)}),
       true},
      {"--fresh that does not see what it drops",
       and_then(sealed, {Take(drop), FreshRun(2, kSecond, 1)}), false},
      {"a fresh run that died early is never handed the state before it",
       and_then(delivered, {Take(finished), Take(finished), FreshRun(2, kSecond, 1),
                            Take(Found(1, 0)), FreshRun(3, Lineage{{3}}, 1)}),
       true},
      {"a trace that begins at a later start",
       {Take(Found(4, 9, 1)), ResumeRun(7, kFirst, 4, 9), FencedEvent(kTarget),
        ReceiptReadEvent(kTarget, ReceiptAt(8, 2)), Resolve(At({8, 2}, {{8, 2}})),
        TxnBeginEvent(kTarget, {{8, 2}}, {9, 1})},
       true},
      {"quarantine begins a new life",
       and_then(sealed, {RefusedEvent("damage"), QuarantinedEvent("x.damaged-1"),
                         Take(NewDirectory()), FreshRun(1, kSecond, 0)}),
       true},
      {"a refusal that nothing contradicts",
       and_then(sealed,
                {RefusedEvent("newer format"), Take(Found(0, 1, 1)), ResumeRun(2, kFirst, 0, 1)}),
       true},
      {"parked with its verbs",
       and_then(sealed, {ParkedEvent({kTarget, "sql.row-5", "f", {Verb::kTrustSink}})}), true},
      {"acks that a death took back are proven by the receipt again",
       and_then(delivered, {Take(Found(0, 1, 1)), ResumeRun(2, kFirst, 0, 1), FencedEvent(kTarget),
                            ReceiptReadEvent(kTarget, ReceiptAt(1, 10)),
                            Resolve(At({1, 10}, std::nullopt)), AckedEvent(kTarget, {1, 10})}),
       true},
      {"... and are not delivered again",
       and_then(delivered, {Take(Found(0, 1, 1)), ResumeRun(2, kFirst, 0, 1), FencedEvent(kTarget),
                            ReceiptReadEvent(kTarget, std::nullopt), Resolve(NothingYet()),
                            TxnBeginEvent(kTarget, std::nullopt, {1, 10})}),
       false},
  };
  for (const Case& c : cases) {
    const TraceVerdict verdict = Verify(c.trace);
    CAPTURE(c.name);
    CAPTURE(verdict.rule);
    CAPTURE(verdict.detail);
    CHECK(verdict.ok == c.ok);
  }
}

TEST_CASE("trace: --trust-sink takes A where the facts say, back too, and nowhere else") {
  const auto with_word = [](std::optional<Verb> word, const Trace& then) {
    Trace trace = {Take(NewDirectory()), FreshRun(1, kFirst, 0), CutEvent(1), Seal(1, 10)};
    Add(trace, FirstDelivery({1, 10}));
    DeliveryFacts facts = At({1, 5}, {{1, 10}});  // the target was restored to an older copy
    facts.word = word;
    if (word == Verb::kTrustSink) facts.shared = {1, 10};
    Add(trace, {Take(Found(0, 1)), ResumeRun(2, kFirst, 0, 1), FencedEvent(kTarget),
                ReceiptReadEvent(kTarget, ReceiptAt(1, 5)), Resolve(facts)});
    Add(trace, then);
    return Verify(trace).ok;
  };
  const Trace back = {AckedEvent(kTarget, {1, 5}), TxnBeginEvent(kTarget, {{1, 5}}, {1, 10})};
  CHECK(with_word(Verb::kTrustSink, back));
  CHECK(!with_word(std::nullopt, back));
  CHECK(!with_word(Verb::kRedeliver, back));
  CHECK(!with_word(Verb::kTrustSink, {AckedEvent(kTarget, {1, 4})}));
  CHECK(!with_word(Verb::kTrustSink, {AckedEvent(kTarget, {1, 10})}));
  CHECK(!with_word(Verb::kTrustSink, {TxnBeginEvent(kTarget, {{1, 5}}, {1, 10})}));  // A first
}

TEST_CASE("trace: scans prove all, nothing, or park") {
  const auto with_scan = [](ScanOutcome outcome, const Trace& then) {
    DeliveryFacts facts;
    facts.target_can_scan = true;
    facts.in_flight = true;
    facts.f_to = {1, 10};
    Trace trace = {Take(NewDirectory()), FreshRun(1, kFirst, 0),
                   CutEvent(1),          Seal(1, 10),
                   FencedEvent(kTarget), ReceiptReadEvent(kTarget, std::nullopt),
                   Resolve(facts),       ScannedEvent(kTarget, outcome)};
    Add(trace, then);
    return Verify(trace).ok;
  };
  const Trace acked = {AckedEvent(kTarget, {1, 10})};
  const Trace again = {InflightEvent(kTarget, std::nullopt, {1, 10}),
                       TxnBeginEvent(kTarget, std::nullopt, {1, 10})};
  CHECK(with_scan(ScanOutcome::kAll, acked));
  CHECK(!with_scan(ScanOutcome::kAll, again));
  CHECK(with_scan(ScanOutcome::kNone, again));
  CHECK(!with_scan(ScanOutcome::kNone, acked));
  CHECK(!with_scan(ScanOutcome::kSome, acked));
  CHECK(!with_scan(ScanOutcome::kSome, again));
}

TEST_CASE("trace: a park is read back as it was written") {
  const Park park{
      "out", "sql.row-5", "row 5: \"quoted\"\n\x01 \xc3\xa9", {Verb::kTrustSink, Verb::kRedeliver}};
  const auto read = ParseParked(ParkedEvent(park).ToJson());
  REQUIRE(read);
  CHECK(read->subject == park.subject);
  CHECK(read->rule == park.rule);
  CHECK(read->facts == park.facts);
  CHECK(read->verbs == park.verbs);
  for (const TraceEvent& other : {CutEvent(1), RefusedEvent("no")})
    CHECK(!ParseParked(other.ToJson()));
  CHECK(!ParseParked("{"));
}

TEST_CASE("trace: a torn last line is normal, rubbish is not") {
  struct Case {
    const char* name;
    std::string text;
    bool ok;
    uint64_t line;
  };
  const std::string whole = Text({Take(NewDirectory()), FreshRun(1, kFirst, 0)});
  const std::string again = Text({Take(Found(0, 0)), FreshRun(2, kSecond, 0)});
  const Case cases[] = {
      {"empty", "", true, 0},
      {"empty lines", "\n\n", true, 0},
      {"torn at the end", whole + "{\"event\":\"cu", true, 0},
      {"torn, and rerun", whole + "{\"event\":\"cu\n" + again, true, 0},
      {"rubbish in the middle", whole + "rubbish\n" + CutEvent(1).ToJson() + "\n", false, 3},
      {"two torn lines", whole + "{\n{\n" + again, false, 3},
      {"no kind", "{}\n", false, 1},
      {"kind of another type", "{\"event\":7}\n", false, 1},
  };
  for (const Case& c : cases) {
    const TraceVerdict verdict = VerifyTrace(c.text);
    CAPTURE(c.name);
    CHECK(verdict.ok == c.ok);
    CHECK(verdict.line == c.line);
    if (!c.ok) CHECK(verdict.rule == "syntax");
  }
}

TEST_CASE("trace: no cut of an event's line is taken for an event") {
  const std::string line = Take(Found(0, 2, 1)).ToJson();
  CHECK(TraceObject::Parse(line));
  for (size_t n = 0; n < line.size(); ++n) CHECK(!TraceObject::Parse(line.substr(0, n)));
}

TEST_CASE("trace json: what the writer writes reads back; what it never writes is refused") {
  TraceEvent event{"cut", {}};
  event.Text("text", "a\"b\\c\n\x01 \xc3\xa9").Number("n", UINT64_MAX).Flag("f", false);
  event.Raw("list", "[\"x\",\"y\"]").Raw("object", "{\"inner\":1}").Raw("none", "[]");
  const auto object = TraceObject::Parse(event.ToJson());
  REQUIRE(object);
  CHECK(object->Text("text") == "a\"b\\c\n\x01 \xc3\xa9");
  CHECK(object->Number("n") == UINT64_MAX);
  CHECK(object->Flag("f") == false);
  CHECK(object->List("list")->size() == 2);
  CHECK(object->List("none")->empty());
  CHECK(object->Object("object")->Number("inner") == 1);
  CHECK(!object->Text("n"));
  CHECK(!object->Number("text"));
  CHECK(!object->Flag("missing"));
  CHECK(object->Object("text") == nullptr);
  for (const char* bad : {"",
                          "{",
                          "[]",
                          "{}x",
                          "{\"a\":}",
                          "{\"a\":1,}",
                          "{\"a\":01}",
                          "{\"a\":-1}",
                          "{\"a\":1 }",
                          "{\"a\":18446744073709551616}",
                          "{\"a\":1,\"a\":2}",
                          "{\"a\":\"\\u00e9\"}",
                          "{\"a\":\"\\x\"}",
                          "{\"a\":\"\n\"}",
                          "{\"a\":tru}",
                          "{\"a\":[1]}",
                          "{\"a\":[\"x\",]}",
                          "{\"a\":{\"b\":{}}}",
                          "{\"a\":\"\\u00",
                          "{\"a\":\"\\"}) {
    CAPTURE(bad);
    CHECK(!TraceObject::Parse(bad));
  }
}

}  // namespace
}  // namespace weir::protocol
