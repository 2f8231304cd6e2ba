// What a start does with an append file that stands at a sink's path: the decision table of
// protocol/takeover.h.
#include "base/check.h"
#include "protocol/takeover.h"

namespace weir::protocol {
namespace {

using Facts = LocalFileFacts;
using Action = LocalFileAction;
using IfExists = LocalFileFacts::IfExists;

bool Empty(const Facts& f) { return !f.exists || f.length == 0; }
// A receipt that we cannot place: of a lineage that this directory never had, or unreadable.
bool Stranger(const Facts& f) {
  return f.has_receipt && (f.receipt_damaged || !f.receipt_lineage_known);
}
bool Known(const Facts& f) { return f.has_receipt && !Stranger(f); }

struct Row {
  int row;
  bool (*matches)(const Facts&);
  Action action;
};

constexpr Row kRows[] = {
    // ---- fresh: nothing is sealed yet, so the question is only whose bytes these are ----
    {1, [](const Facts& f) { return f.fresh && Empty(f); }, Action::kCreate},
    // A fresh run under if-exists = append died between its run row and its receipt file: nothing
    // of ours was written, and replacing would destroy what the user asked to keep.
    {2,
     [](const Facts& f) {
       return f.fresh && f.claimed && f.if_exists == IfExists::kAppend && !Known(f);
     },
     Action::kAppendAfter},
    // Ours whatever it holds: the claim was durable before the file was created or cut.
    {3, [](const Facts& f) { return f.fresh && f.claimed; }, Action::kReplace},
    {4, [](const Facts& f) { return f.fresh && f.if_exists == IfExists::kAppend; },
     Action::kAppendAfter},
    {5, [](const Facts& f) { return f.fresh && f.if_exists == IfExists::kOverwrite; },
     Action::kReplace},
    // An adopted receipt makes the file an ancestor's, not ours to cut: go on behind it.
    {6, [](const Facts& f) { return f.fresh && Stranger(f) && f.adopt; }, Action::kAppendAfter},
    {7, [](const Facts& f) { return f.fresh && Stranger(f); }, Action::kParkUnknownReceipt},
    {8, [](const Facts& f) { return f.fresh; }, Action::kRefuseExists},
    // ---- resume: receipts first, so that nothing is cut while the directory may be the older ----
    {9, [](const Facts& f) { return Stranger(f) && !f.adopt; }, Action::kParkUnknownReceipt},
    // One behind is normal (death between seal and rename of the receipt); one above never is.
    {10,
     [](const Facts& f) { return Known(f) && f.receipt_epoch > f.newest_sealed && !f.rewind_file; },
     Action::kParkReceiptAbove},
    {11, [](const Facts& f) { return !f.exists && f.sealed_length == 0; }, Action::kCreate},
    {12, [](const Facts& f) { return !f.exists && f.accept_missing; }, Action::kCreate},
    {13, [](const Facts& f) { return !f.exists; }, Action::kParkMissing},
    // A relative path under another working directory: a stranger's file must not be cut to our
    // length. A moved file that brought our receipt along is ours.
    {14, [](const Facts& f) { return f.length > 0 && !f.claimed && !Known(f) && !Stranger(f); },
     Action::kRefuseExists},
    {15, [](const Facts& f) { return Stranger(f); }, Action::kAcceptAsIs},  // adopted, row 9
    {16, [](const Facts& f) { return f.length < f.sealed_length && f.accept_missing; },
     Action::kAcceptAsIs},
    // Truncate would extend it with zeros.
    {17, [](const Facts& f) { return f.length < f.sealed_length; }, Action::kParkShorter},
    {18, [](const Facts& f) { return f.length > f.sealed_length; }, Action::kTruncateToSealed},
    {19, [](const Facts&) { return true; }, Action::kAcceptAsIs},
};
static_assert(std::size(kRows) == kLocalFileRows);

}  // namespace

LocalFileDecision DecideLocalFile(const LocalFileFacts& facts) {
  for (const Row& row : kRows) {
    if (row.matches(facts)) return {row.action, row.row};
  }
  CHECK(false);  // the last row matches everything
}

const char* LocalFileRule(LocalFileAction action) {
  switch (action) {
    case Action::kParkUnknownReceipt:
      return "file.unknown-receipt";
    case Action::kParkReceiptAbove:
      return "file.receipt-above";
    case Action::kParkShorter:
      return "file.shorter";
    case Action::kParkMissing:
      return "file.missing";
    case Action::kRefuseExists:
      return "file.exists";
    case Action::kCreate:
    case Action::kReplace:
    case Action::kAppendAfter:
    case Action::kTruncateToSealed:
    case Action::kAcceptAsIs:
      return "";
  }
  return "";
}

std::vector<Verb> LocalFileVerbs(LocalFileAction action) {
  switch (action) {
    case Action::kParkUnknownReceipt:
      return {Verb::kAdopt};
    case Action::kParkReceiptAbove:
      return {Verb::kRewindFile};
    case Action::kParkShorter:
    case Action::kParkMissing:
      return {Verb::kAcceptMissing};
    case Action::kRefuseExists:
    case Action::kCreate:
    case Action::kReplace:
    case Action::kAppendAfter:
    case Action::kTruncateToSealed:
    case Action::kAcceptAsIs:
      return {};
  }
  return {};
}

const char* LocalFileAdvice(LocalFileAction action) {
  switch (action) {
    case Action::kRefuseExists:
      return "move the file away, or set 'weir.sink.if-exists' to 'append' or 'overwrite'";
    case Action::kParkUnknownReceipt:
      return "another state directory wrote this file: weir resolve --adopt goes on behind it";
    case Action::kParkReceiptAbove:
      return "the state directory was restored from a backup: weir resolve --rewind-file cuts the "
             "file to what is sealed here and writes again from the input";
    case Action::kParkShorter:
    case Action::kParkMissing:
      return "put the file back, or weir resolve --accept-missing goes on from what is there";
    case Action::kCreate:
    case Action::kReplace:
    case Action::kAppendAfter:
    case Action::kTruncateToSealed:
    case Action::kAcceptAsIs:
      return "";
  }
  return "";
}

}  // namespace weir::protocol
