#include "protocol/takeover.h"

#include <doctest/doctest.h>

#include <set>

namespace weir::protocol {
namespace {

// The decision as prose would give it, nested by question instead of listed by row: written apart
// from the table, so that a wrong table does not agree with itself.
TakeoverAction Expected(const TakeoverFacts& f) {
  if (f.newer_format) return TakeoverAction::kRefuseNewerFormat;
  if (!f.any_run_row) {
    return f.run_artifacts ? TakeoverAction::kRefuseDamage : TakeoverAction::kFresh;
  }
  if (f.fresh_requested) {
    const bool would_drop = f.undelivered_epochs != 0;
    return would_drop && !f.discard_undelivered ? TakeoverAction::kRefuseUndelivered
                                                : TakeoverAction::kFresh;
  }
  if (!f.fingerprint_matches) return TakeoverAction::kRefuseFingerprint;
  const bool same_job = f.job_requested.has_value() && f.job_of_lineage.has_value() &&
                        *f.job_requested == *f.job_of_lineage;
  const bool other_job = f.job_requested.has_value() && f.job_of_lineage.has_value() && !same_job;
  if (f.last_run_finished) {
    return same_job ? TakeoverAction::kAlreadyFinished : TakeoverAction::kFresh;
  }
  if (other_job) return TakeoverAction::kRefuseOtherJob;
  return f.floor < f.newest_sealed ? TakeoverAction::kResume : TakeoverAction::kFresh;
}

template <class F>
void ForAllTakeoverFacts(F&& f) {
  const std::optional<std::string> jobs[] = {std::nullopt, "a", "b"};
  for (int bits = 0; bits < 256; ++bits) {
    for (const auto& requested : jobs) {
      for (const auto& carried : jobs) {
        for (EpochId floor = 0; floor < 3; ++floor) {
          for (EpochId newest = 0; newest < 4; ++newest) {
            TakeoverFacts facts;
            facts.newer_format = bits & 1;
            facts.any_run_row = bits & 2;
            facts.run_artifacts = bits & 4;
            facts.fresh_requested = bits & 8;
            facts.discard_undelivered = bits & 16;
            facts.undelivered_epochs = bits & 32 ? 3 : 0;
            facts.fingerprint_matches = bits & 64;
            facts.last_run_finished = bits & 128;
            facts.job_requested = requested;
            facts.job_of_lineage = carried;
            facts.floor = floor;
            facts.newest_sealed = newest;
            f(facts);
          }
        }
      }
    }
  }
}

TEST_CASE("takeover: every combination of facts gets the decision of the page") {
  std::set<int> rows;
  uint64_t wrong = 0;
  ForAllTakeoverFacts([&](const TakeoverFacts& facts) {
    const TakeoverDecision got = DecideTakeover(facts);
    rows.insert(got.row);
    wrong += got.action != Expected(facts);
  });
  CHECK(wrong == 0);
  CHECK(rows.size() == kTakeoverRows);
  CHECK(*rows.begin() == 1);
  CHECK(*rows.rbegin() == kTakeoverRows);
}

TEST_CASE("takeover: the first row that matches wins") {
  TakeoverFacts facts;
  facts.any_run_row = true;
  facts.newest_sealed = 7;
  CHECK(DecideTakeover(facts).row == 10);
  facts.job_of_lineage = "monday";
  CHECK(DecideTakeover(facts).row == 10);  // no --job given: go on with whatever is saved
  facts.job_requested = "tuesday";
  CHECK(DecideTakeover(facts).row == 9);
  facts.last_run_finished = true;
  CHECK(DecideTakeover(facts).row == 8);
  facts.job_requested = "monday";
  CHECK(DecideTakeover(facts).row == 7);
  facts.fingerprint_matches = false;
  CHECK(DecideTakeover(facts).row == 6);
  facts.fresh_requested = true;
  CHECK(DecideTakeover(facts).row == 5);
  facts.undelivered_epochs = 1;
  CHECK(DecideTakeover(facts).row == 4);
  facts.discard_undelivered = true;
  CHECK(DecideTakeover(facts).row == 5);
}

TEST_CASE("takeover: every decision says why, and every refusal names a way out") {
  std::set<TakeoverAction> seen;
  ForAllTakeoverFacts([&](const TakeoverFacts& facts) {
    const TakeoverDecision got = DecideTakeover(facts);
    if (got.reason.empty()) FAIL("no reason");
    seen.insert(got.action);
  });
  CHECK(seen.size() == 8);
  std::set<std::string> names;
  for (const TakeoverAction action : seen) {
    names.insert(TakeoverActionName(action));
    const bool goes_on = action == TakeoverAction::kFresh || action == TakeoverAction::kResume ||
                         action == TakeoverAction::kAlreadyFinished;
    CHECK(RefusalVerbs(action).empty() == goes_on);
  }
  CHECK(names.size() == 8);
  CHECK(!names.contains(""));
}

// ---- the append file ----

using Facts = LocalFileFacts;
using Action = LocalFileAction;
using IfExists = LocalFileFacts::IfExists;

Action ExpectedFresh(const Facts& f) {
  if (!f.exists || f.length == 0) return Action::kCreate;
  const bool placed = f.has_receipt && f.receipt_lineage_known && !f.receipt_damaged;
  if (f.claimed) {
    return f.if_exists == IfExists::kAppend && !placed ? Action::kAppendAfter : Action::kReplace;
  }
  switch (f.if_exists) {
    case IfExists::kAppend:
      return Action::kAppendAfter;
    case IfExists::kOverwrite:
      return Action::kReplace;
    case IfExists::kFail:
      break;
  }
  if (!f.has_receipt || placed) return Action::kRefuseExists;
  return f.adopt ? Action::kAppendAfter : Action::kParkUnknownReceipt;
}

Action ExpectedResume(const Facts& f) {
  bool adopted = false;
  if (f.has_receipt) {
    if (f.receipt_damaged || !f.receipt_lineage_known) {
      if (!f.adopt) return Action::kParkUnknownReceipt;
      adopted = true;
    } else if (f.newest_sealed < f.receipt_epoch && !f.rewind_file) {
      return Action::kParkReceiptAbove;
    }
  }
  if (!f.exists) {
    return f.sealed_length == 0 || f.accept_missing ? Action::kCreate : Action::kParkMissing;
  }
  if (adopted) return Action::kAcceptAsIs;
  if (f.length != 0 && !f.claimed && !f.has_receipt) return Action::kRefuseExists;
  if (f.length == f.sealed_length) return Action::kAcceptAsIs;
  if (f.length > f.sealed_length) return Action::kTruncateToSealed;
  return f.accept_missing ? Action::kAcceptAsIs : Action::kParkShorter;
}

template <class F>
void ForAllFileFacts(F&& f) {
  for (int bits = 0; bits < 1024; ++bits) {
    for (uint64_t length : {0, 5, 10, 15}) {
      for (uint64_t sealed : {0, 10}) {
        for (EpochId receipt : {1, 2, 3}) {
          for (const IfExists if_exists :
               {IfExists::kFail, IfExists::kAppend, IfExists::kOverwrite}) {
            Facts facts;
            facts.fresh = bits & 1;
            facts.exists = bits & 2;
            facts.claimed = bits & 4;
            facts.has_receipt = bits & 8;
            facts.receipt_damaged = bits & 16;
            facts.receipt_lineage_known = bits & 32;
            facts.receipt_is_current_lineage = bits & 64;
            facts.accept_missing = bits & 128;
            facts.rewind_file = bits & 256;
            facts.adopt = bits & 512;
            facts.length = length;
            facts.sealed_length = sealed;
            facts.receipt_epoch = receipt;
            facts.newest_sealed = 2;
            facts.if_exists = if_exists;
            f(facts);
          }
        }
      }
    }
  }
}

TEST_CASE("append file: every combination of facts gets the decision of the page") {
  std::set<int> rows;
  uint64_t wrong = 0;
  ForAllFileFacts([&](const Facts& facts) {
    const LocalFileDecision got = DecideLocalFile(facts);
    rows.insert(got.row);
    wrong += got.action != (facts.fresh ? ExpectedFresh(facts) : ExpectedResume(facts));
  });
  CHECK(wrong == 0);
  CHECK(rows.size() == kLocalFileRows);
}

TEST_CASE("append file: what a user lives through") {
  struct Case {
    const char* name;
    Facts given;
    Action want;
  };
  Facts resume;
  resume.exists = resume.claimed = true;
  resume.has_receipt = resume.receipt_lineage_known = resume.receipt_is_current_lineage = true;
  resume.length = resume.sealed_length = 100;
  resume.receipt_epoch = resume.newest_sealed = 7;
  const auto with = [](Facts f, auto&& change) {
    change(f);
    return f;
  };
  Facts fresh;
  fresh.fresh = fresh.exists = true;
  fresh.length = 100;
  const Case cases[] = {
      {"killed between two seals: the staged tail goes",
       with(resume, [](Facts& f) { f.length = 130; }), Action::kTruncateToSealed},
      {"killed between seal and receipt: one epoch behind is normal",
       with(resume, [](Facts& f) { f.receipt_epoch = 6; }), Action::kAcceptAsIs},
      {"an older backup was restored: the tail is delivered output, never cut",
       with(resume,
            [](Facts& f) {
              f.length = 130;
              f.receipt_epoch = 9;
            }),
       Action::kParkReceiptAbove},
      {"... and the operator rewinds it",
       with(resume,
            [](Facts& f) {
              f.length = 130;
              f.receipt_epoch = 9;
              f.rewind_file = true;
            }),
       Action::kTruncateToSealed},
      {"somebody truncated the output", with(resume, [](Facts& f) { f.length = 30; }),
       Action::kParkShorter},
      {"somebody deleted the output",
       with(resume,
            [](Facts& f) {
              f.exists = false;
              f.length = 0;
            }),
       Action::kParkMissing},
      {"a re-imaged box wrote here meanwhile",
       with(resume, [](Facts& f) { f.receipt_lineage_known = false; }),
       Action::kParkUnknownReceipt},
      {"died before the first seal: claimed, nothing sealed, begins again",
       with(fresh,
            [](Facts& f) {
              f.claimed = true;
              f.has_receipt = f.receipt_lineage_known = true;
            }),
       Action::kReplace},
      {"a first start beside somebody's file", fresh, Action::kRefuseExists},
      {"a first start beside an empty file", with(fresh, [](Facts& f) { f.length = 0; }),
       Action::kCreate},
      {"a relative path under another working directory never cuts a stranger's file",
       with(resume,
            [](Facts& f) {
              f.claimed = f.has_receipt = false;
              f.length = 500;
            }),
       Action::kRefuseExists},
  };
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(DecideLocalFile(c.given).action == c.want);
  }
}

TEST_CASE("append file: nothing is cut that could be delivered output of a newer life") {
  ForAllFileFacts([&](const Facts& f) {
    const Action action = DecideLocalFile(f).action;
    const bool stranger = f.has_receipt && (f.receipt_damaged || !f.receipt_lineage_known);
    if (action != Action::kTruncateToSealed) return;
    if (stranger || f.fresh) FAIL("cut beside an unknown receipt");
    if (f.has_receipt && f.receipt_epoch > f.newest_sealed && !f.rewind_file) FAIL("cut above");
    if (f.length <= f.sealed_length) FAIL("truncate would extend");
  });
}

TEST_CASE("append file: every park has a rule and a verb, every refusal an advice") {
  for (int i = 0; i <= static_cast<int>(Action::kParkMissing); ++i) {
    const auto action = static_cast<Action>(i);
    const bool park = action >= Action::kParkUnknownReceipt;
    const bool stops = park || action == Action::kRefuseExists;
    CHECK(LocalFileVerbs(action).empty() == !park);
    CHECK((std::string(LocalFileRule(action)).empty() == !stops));
    CHECK((std::string(LocalFileAdvice(action)).empty() == !stops));
  }
}

TEST_CASE("verbs: each has a name that reads back, and no other text is one") {
  std::set<std::string> names;
  for (const Verb verb : kAllVerbs) {
    names.insert(VerbName(verb));
    CHECK(VerbFromName(VerbName(verb)) == verb);
  }
  CHECK(names.size() == std::size(kAllVerbs));
  CHECK(!VerbFromName("--trust"));
  CHECK(!VerbFromName(""));
}

TEST_CASE("target position: text reads back, damaged text is refused") {
  CHECK(TargetPosition{42, 918}.ToString() == "42:918");
  CHECK(ParseTargetPosition("42:918") == TargetPosition{42, 918});
  CHECK(ParseTargetPosition("0:0") == TargetPosition{0, 0});
  for (const char* bad :
       {"", ":", "4", "4:", ":4", "4:x", "-1:2", "4:2 ", "99999999999999999999:1"}) {
    CAPTURE(bad);
    CHECK(!ParseTargetPosition(bad));
  }
  CHECK(TargetPosition{2, 0} > TargetPosition{1, 500});
}

}  // namespace
}  // namespace weir::protocol
