#include "app/exit_codes.h"

namespace weir::app {

int ExitCodeOf(const Status& status) {
  switch (status.code()) {
    case Code::kOk:
    case Code::kEndOfStream:
      return kExitOk;
    case Code::kUsage:
      return kExitUsage;
    case Code::kBadRow:
      return kExitBadRow;
    case Code::kTwin:
      return kExitTwin;
    case Code::kExists:
    case Code::kCannotCreate:
      return kExitCannotCreate;
    case Code::kUnknownOutcome:
      return kExitIo;
    case Code::kNoSpace:
    case Code::kBusy:
    case Code::kInterrupted:
    case Code::kUnavailable:
      return kExitTryAgain;
    case Code::kInvalid:
    case Code::kNotFound:
    case Code::kCorruption:
    case Code::kRefused:
      return kExitConfig;
    case Code::kInternal:
      return kExitInternal;
  }
  return kExitInternal;
}

}  // namespace weir::app
