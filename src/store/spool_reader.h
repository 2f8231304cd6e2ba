// Reads sealed rows back from the spool for a delivery. Own file handles: any thread.
#ifndef WEIR_STORE_SPOOL_READER_H_
#define WEIR_STORE_SPOOL_READER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "flow/delivery.h"
#include "io/files.h"
#include "store/segment.h"
#include "store/spool_scan.h"

namespace weir::store {

// An epoch is read to its end, whatever part of it is asked for, until it is `checked`; after that
// only the blocks of the part are. `on_checked` is told when one becomes so (nullptr: nobody asks),
// on the reader's thread.
struct SpoolRange {
  std::vector<EpochSpan> spans;  // ascending
  std::function<void(EpochId)> on_checked;
  uint64_t skip_rows = 0;  // of the first span
  uint64_t last_rows = 0;  // of the last span, counted from its beginning; more than it has: all
  std::string missing;     // not empty: why the range cannot be read whole
};

std::unique_ptr<flow::RowReader> NewSpoolReader(io::Files& files, std::string directory,
                                                const Schema& schema, SpoolRange range,
                                                int sink_index);

}  // namespace weir::store

#endif  // WEIR_STORE_SPOOL_READER_H_
