// DirectSink: a sink without a stage (print, blackhole). Rows are out at once: at least once,
// stated by explain.
#ifndef WEIR_FLOW_DIRECT_SINK_H_
#define WEIR_FLOW_DIRECT_SINK_H_

#include "base/status.h"
#include "data/batch.h"
#include "flow/operator.h"

namespace weir::flow {

class DirectSink {
 public:
  virtual ~DirectSink() = default;
  // kEndOfStream: the reader of our output has gone (EPIPE); the run ends with 0.
  virtual Status Write(const Batch& batch, Outputs& out) = 0;
  virtual Status Flush() = 0;      // at the end of each turn: what is buffered becomes visible
  virtual NodeBooks& books() = 0;  // kIn, kDead, kStaged = kSealed = kAcked
};

}  // namespace weir::flow

#endif  // WEIR_FLOW_DIRECT_SINK_H_
