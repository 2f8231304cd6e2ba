// blackhole: takes rows and drops them. For measuring.
#ifndef WEIR_CONNECTORS_BLACKHOLE_BLACKHOLE_H_
#define WEIR_CONNECTORS_BLACKHOLE_BLACKHOLE_H_

#include "flow/direct_sink.h"
#include "plan/connector_spec.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kBlackholeSpec;

class BlackholeSink : public flow::DirectSink {
 public:
  Status Write(const Batch&, flow::Outputs&) override { return Status::Ok(); }
  Status Flush() override { return Status::Ok(); }
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_BLACKHOLE_BLACKHOLE_H_
