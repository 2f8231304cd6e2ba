// blackhole: takes rows and drops them. For measuring.
#ifndef WEIR_CONNECTORS_BLACKHOLE_BLACKHOLE_H_
#define WEIR_CONNECTORS_BLACKHOLE_BLACKHOLE_H_

#include "flow/direct_sink.h"
#include "plan/connector_spec.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kBlackholeSpec;

class BlackholeSink : public flow::DirectSink {
 public:
  Status Write(const Batch& batch, flow::Outputs&) override {
    using enum flow::Count;
    for (const flow::Count count : {kIn, kStaged, kSealed, kAcked})
      books_[count] += batch.selected_count();
    return Status::Ok();
  }
  Status Flush() override { return Status::Ok(); }
  flow::NodeBooks& books() override { return books_; }

 private:
  flow::NodeBooks books_;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_BLACKHOLE_BLACKHOLE_H_
