#include "connectors/blackhole/blackhole.h"

namespace weir::connectors {

const plan::ConnectorSpec kBlackholeSpec = {
    .name = "blackhole",
    .doc = "Takes rows and drops them; for measuring.",
    .sink = true,
    .sink_accepts_updates = true,
    .sink_guarantee = plan::Guarantee::kAtLeastOnce,
    .sink_guarantee_reason = "nothing is kept",
};

}  // namespace weir::connectors
