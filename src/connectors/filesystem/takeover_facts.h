// Small questions that the stages of local files ask of a TakeoverContext.
#ifndef WEIR_CONNECTORS_FILESYSTEM_TAKEOVER_FACTS_H_
#define WEIR_CONNECTORS_FILESYSTEM_TAKEOVER_FACTS_H_

#include <string>

#include "flow/sink.h"
#include "io/files.h"

namespace weir::connectors {

// Whether the operator has given this word for the context's sink.
bool HasWord(const flow::TakeoverContext& context, protocol::Verb verb);
// Whether a lineage is this run's or an ancestor's.
bool IsKnownLineage(const flow::TakeoverContext& context, const Lineage& lineage);
// The newest epoch that this directory has sealed in a lineage of its own.
EpochId NewestSealedOf(const flow::TakeoverContext& context, const Lineage& lineage);
// The directory that a new file or directory goes into must be there (kCannotCreate): making it
// would hide a file system that is not mounted.
Status CheckParent(io::Files& files, const std::string& path);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_TAKEOVER_FACTS_H_
