#include "connectors/filesystem/takeover_facts.h"

#include <algorithm>

namespace weir::connectors {

bool HasWord(const flow::TakeoverContext& context, protocol::Verb verb) {
  return std::any_of(context.resolutions.begin(), context.resolutions.end(),
                     [&](const protocol::Resolution& r) { return r.verb == verb; });
}

EpochId NewestSealedOf(const flow::TakeoverContext& context, const Lineage& lineage) {
  if (lineage == context.lineage) return context.sealed;
  if (context.lineages != nullptr) {
    for (const protocol::LineageRecord& record : *context.lineages) {
      if (record.lineage == lineage) return std::max(record.last_sealed, record.base);
    }
  }
  return 0;
}

bool IsKnownLineage(const flow::TakeoverContext& context, const Lineage& lineage) {
  if (lineage == context.lineage) return true;
  return context.lineages != nullptr &&
         std::any_of(
             context.lineages->begin(), context.lineages->end(),
             [&](const protocol::LineageRecord& record) { return record.lineage == lineage; });
}

Status CheckParent(io::Files& files, const std::string& path) {
  const std::string directory = io::DirectoryOf(path);
  const auto stat = files.Stat(directory);
  if (stat.has_value() && stat->is_directory) return files.CheckWritable(directory);
  if (stat.has_value())
    return Status(Code::kCannotCreate,
                  "cannot create " + path + ": " + directory + " is not a directory");
  if (stat.error().code() == Code::kNotFound) {
    return Status(Code::kCannotCreate,
                  "cannot create " + path + ": the directory " + directory + " does not exist");
  }
  return Status(Code::kCannotCreate, "cannot create " + path + ": " + stat.error().message());
}

}  // namespace weir::connectors
