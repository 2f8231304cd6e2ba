// Progress of a run for people: one line on a terminal that is written over, and the summary at its
// end. Pure text from snapshots.
#ifndef WEIR_APP_PROGRESS_H_
#define WEIR_APP_PROGRESS_H_

#include <string>

#include "runtime/engine.h"

namespace weir::app {

// "1.2 M rows  210 of 880 MB  3.1 M rows/s  event time 2026-01-01 00:05:12  ETA 4 s"
std::string ProgressLine(const runtime::Snapshot& snapshot);
// "read 10,000 rows, 3 filtered, 12 late, 5 dead letters, 480 emitted in 7 epochs, 1.2 s, 8,300
// rows/s"
std::string SummaryLine(const runtime::Snapshot& snapshot);
// `error`: why it ended, "" when all is well.
std::string SummaryJson(const runtime::Snapshot& snapshot, int exit_code, std::string_view error);

}  // namespace weir::app

#endif  // WEIR_APP_PROGRESS_H_
