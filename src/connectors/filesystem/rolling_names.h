// Names of the files of a rolling sink (rolling_stage.h).
#ifndef WEIR_CONNECTORS_FILESYSTEM_ROLLING_NAMES_H_
#define WEIR_CONNECTORS_FILESYSTEM_ROLLING_NAMES_H_

#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/ids.h"
#include "base/status.h"
#include "io/files.h"

namespace weir::connectors {

std::string PartName(const Lineage& lineage, EpochId epoch, std::string_view extension);
std::string InProgressName(const Lineage& lineage, EpochId epoch, std::string_view extension);

struct ParsedName {
  bool in_progress = false;
  std::string lineage;  // the 8 digits
  EpochId epoch = 0;
};
// nullopt: no name of ours.
std::optional<ParsedName> ParseName(std::string_view name);

// Digest of the first `length` bytes. kNotFound: shorter.
Result<StreamDigest> DigestOfPrefix(io::File& file, uint64_t length);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_ROLLING_NAMES_H_
