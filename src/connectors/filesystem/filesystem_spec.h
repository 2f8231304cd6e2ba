// The connector 'filesystem' as data, and what its options say.
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILESYSTEM_SPEC_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILESYSTEM_SPEC_H_

#include "plan/connector_spec.h"

namespace weir::connectors {

extern const plan::ConnectorSpec kFilesystemSpec;

// Rolling by its options alone: the path ends in '/', or a rolling policy is given. (A path that is
// a directory is rolling too.)
bool RollingByOptions(const plan::TableDef& table);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILESYSTEM_SPEC_H_
