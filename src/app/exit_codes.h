// Exit codes (sysexits), frozen by tests/restart/exit_codes.
#ifndef WEIR_APP_EXIT_CODES_H_
#define WEIR_APP_EXIT_CODES_H_

#include "base/status.h"

namespace weir::app {

enum ExitCode : int {
  kExitOk = 0,  // finished, or stopped with everything sealed
  kExitUsage = 64,
  kExitBadRow = 65,  // weir.on-error = fail; verify: not exact
  kExitTwin = 69,    // a proven twin delivers under our name
  kExitInternal = 70,
  kExitCannotCreate = 73,  // the state directory or an output cannot be created, or is not ours
  kExitIo = 74,            // I/O error of unknown outcome
  kExitTryAgain = 75,  // the seal could not finish; a bounded input was stopped; directory locked;
                       // disk full at the start
  kExitConfig = 78,  // configuration or saved-state refusal; only parked sources and sinks are left
};

int ExitCodeOf(const Status& status);

}  // namespace weir::app

#endif  // WEIR_APP_EXIT_CODES_H_
