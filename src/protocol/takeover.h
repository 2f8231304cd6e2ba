// Takeover: what every start does with a state directory. Facts in, decision out; the table is data
// and is tested over every combination.
#ifndef WEIR_PROTOCOL_TAKEOVER_H_
#define WEIR_PROTOCOL_TAKEOVER_H_

#include <optional>
#include <string>
#include <vector>

#include "protocol/types.h"

namespace weir::protocol {

// Gathered by store/ before anything is changed.
struct TakeoverFacts {
  bool newer_format = false;  // application id / format version above ours
  bool any_run_row = false;
  bool run_artifacts = false;  // spool, dead/ or reserve exist although there is no run row: damage
  bool fresh_requested = false;      // --fresh
  bool discard_undelivered = false;  // --discard-undelivered
  uint64_t undelivered_epochs = 0;   // sealed above A of some target, in doubt included
  uint64_t undelivered_rows = 0;
  bool fingerprint_matches = true;
  bool last_run_finished = false;             // finish marker of the newest run
  std::optional<std::string> job_requested;   // --job ID
  std::optional<std::string> job_of_lineage;  // of the newest lineage
  EpochId floor = 0;                          // base id of the newest fresh run
  EpochId newest_sealed = 0;                  // 0: none
};

enum class TakeoverAction {
  kRefuseNewerFormat,
  kRefuseDamage,
  kFresh,
  kRefuseUndelivered,
  kRefuseFingerprint,
  kAlreadyFinished,
  kRefuseOtherJob,
  kResume
};

struct TakeoverDecision {
  TakeoverAction action = TakeoverAction::kFresh;
  int row = 0;         // which row of the table matched, from 1
  std::string reason;  // for the log and the run row
};
TakeoverDecision DecideTakeover(const TakeoverFacts& facts);
const char* TakeoverActionName(TakeoverAction action);
// The first row that matches wins; the rows are those of exactly-once.md, "Takeover", step 2.
inline constexpr int kTakeoverRows = 11;
// The ways out that a refusal names (never empty for a refusal; empty for a decision that goes on).
std::vector<std::string> RefusalVerbs(TakeoverAction action);

// Local append file: what to do with what stands at its path (exactly-once.md "Delivering
// elsewhere", file rows; "What a fresh run does").
struct LocalFileFacts {
  bool fresh = false;
  bool exists = false;
  uint64_t length = 0;         // bytes, when it exists
  bool claimed = false;        // a sink row of this directory names the path
  uint64_t sealed_length = 0;  // resume: recorded length of the newest sealed epoch
  bool has_receipt = false;    // a receipt file beside it, readable
  bool receipt_damaged = false;
  bool receipt_lineage_known = false;  // ours or an ancestor's
  bool receipt_is_current_lineage = false;
  EpochId receipt_epoch = 0;
  EpochId newest_sealed =
      0;  // here, of the lineage that the receipt names: R above it is a newer life than ours
  enum class IfExists { kFail, kAppend, kOverwrite } if_exists = IfExists::kFail;
  bool accept_missing = false;  // operator's words
  bool rewind_file = false;
  bool adopt = false;
};
// kCreate: nothing is lost, begin with an empty file. kReplace: cut to what is not ours: to
// nothing, or under if-exists = append to the length that the receipt file says stood there before
// us. kAppendAfter: keep all that stands there. kTruncateToSealed: drop the staged tail.
// kAcceptAsIs: go on from the length found. kRefuseExists: exit 73.
enum class LocalFileAction {
  kCreate,
  kReplace,
  kAppendAfter,
  kTruncateToSealed,
  kAcceptAsIs,
  kRefuseExists,
  kParkUnknownReceipt,
  kParkReceiptAbove,
  kParkShorter,
  kParkMissing
};
inline constexpr int kLocalFileRows = 19;
struct LocalFileDecision {
  LocalFileAction action = LocalFileAction::kCreate;
  int row = 0;
};
LocalFileDecision DecideLocalFile(const LocalFileFacts& facts);
// Park::rule of an action: "file.receipt-above"; "" for an action that goes on.
const char* LocalFileRule(LocalFileAction action);
// What an operator can say to a park (never empty for one). A refusal is answered in the SQL
// instead (weir.sink.if-exists), see LocalFileAdvice.
std::vector<Verb> LocalFileVerbs(LocalFileAction action);
const char* LocalFileAdvice(LocalFileAction action);

}  // namespace weir::protocol

#endif  // WEIR_PROTOCOL_TAKEOVER_H_
