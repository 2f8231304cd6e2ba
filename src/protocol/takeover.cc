#include "protocol/takeover.h"

#include "base/check.h"

namespace weir::protocol {
namespace {

struct TakeoverRow {
  int row;
  bool (*matches)(const TakeoverFacts&);
  TakeoverAction action;
  const char* reason;
};

// exactly-once.md, "Takeover", step 2: the first row that matches wins.
constexpr TakeoverRow kRows[] = {
    {1, [](const TakeoverFacts& f) { return f.newer_format; }, TakeoverAction::kRefuseNewerFormat,
     "the directory was written by a newer format"},
    // What is made only after a run row stands there without one: a lost state.db is never taken
    // for a new directory.
    {2, [](const TakeoverFacts& f) { return !f.any_run_row && f.run_artifacts; },
     TakeoverAction::kRefuseDamage,
     "no run row, but spool, dead letters or reserve exist: state.db is lost"},
    {3, [](const TakeoverFacts& f) { return !f.any_run_row; }, TakeoverAction::kFresh,
     "a new directory"},
    {4,
     [](const TakeoverFacts& f) {
       return f.fresh_requested && f.undelivered_epochs > 0 && !f.discard_undelivered;
     },
     TakeoverAction::kRefuseUndelivered, "--fresh, and sealed epochs are not delivered"},
    {5, [](const TakeoverFacts& f) { return f.fresh_requested; }, TakeoverAction::kFresh,
     "--fresh"},
    {6, [](const TakeoverFacts& f) { return !f.fingerprint_matches; },
     TakeoverAction::kRefuseFingerprint, "the pipeline differs from the one that is saved here"},
    {7,
     [](const TakeoverFacts& f) {
       return f.last_run_finished && f.job_requested && f.job_of_lineage == f.job_requested;
     },
     TakeoverAction::kAlreadyFinished, "the job with this ID has finished"},
    {8, [](const TakeoverFacts& f) { return f.last_run_finished; }, TakeoverAction::kFresh,
     "the last run finished: a bounded job runs again"},
    // A lineage without an ID is not another job's: it goes on, and takes the ID.
    {9,
     [](const TakeoverFacts& f) {
       return f.job_requested && f.job_of_lineage && f.job_of_lineage != f.job_requested;
     },
     TakeoverAction::kRefuseOtherJob, "an unfinished job with another ID is saved here"},
    {10, [](const TakeoverFacts& f) { return f.newest_sealed > f.floor; }, TakeoverAction::kResume,
     "the newest sealed epoch"},
    // A fresh run killed before its first seal is never handed the state of the run before it.
    {11, [](const TakeoverFacts&) { return true; }, TakeoverAction::kFresh,
     "no epoch was sealed since the last fresh start"},
};
static_assert(std::size(kRows) == kTakeoverRows);

}  // namespace

TakeoverDecision DecideTakeover(const TakeoverFacts& facts) {
  for (const TakeoverRow& row : kRows) {
    if (row.matches(facts)) return {row.action, row.row, row.reason};
  }
  CHECK(false);  // the last row matches everything
}

const char* TakeoverActionName(TakeoverAction action) {
  switch (action) {
    case TakeoverAction::kRefuseNewerFormat:
      return "refuse_newer_format";
    case TakeoverAction::kRefuseDamage:
      return "refuse_damage";
    case TakeoverAction::kFresh:
      return "fresh";
    case TakeoverAction::kRefuseUndelivered:
      return "refuse_undelivered";
    case TakeoverAction::kRefuseFingerprint:
      return "refuse_fingerprint";
    case TakeoverAction::kAlreadyFinished:
      return "already_finished";
    case TakeoverAction::kRefuseOtherJob:
      return "refuse_other_job";
    case TakeoverAction::kResume:
      return "resume";
  }
  return "";
}

std::vector<std::string> RefusalVerbs(TakeoverAction action) {
  switch (action) {
    case TakeoverAction::kRefuseNewerFormat:
      return {"run the weir that wrote it", "weir resolve --quarantine"};
    case TakeoverAction::kRefuseDamage:
      return {"restore the whole directory", "weir resolve --quarantine"};
    case TakeoverAction::kRefuseUndelivered:
      return {"weir run without --fresh", "weir run --fresh --discard-undelivered"};
    case TakeoverAction::kRefuseFingerprint:
      return {"go back to the saved SQL", "weir run --fresh"};
    case TakeoverAction::kRefuseOtherJob:
      return {"weir run --job with the saved ID", "weir run --fresh"};
    case TakeoverAction::kFresh:
    case TakeoverAction::kAlreadyFinished:
    case TakeoverAction::kResume:
      return {};
  }
  return {};
}

}  // namespace weir::protocol
