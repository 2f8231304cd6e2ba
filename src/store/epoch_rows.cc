// Which sealed epochs have rows for a target: what a delivery still has to carry; and which run
// sealed them.
#include <algorithm>

#include "store/store_impl.h"

namespace weir::store {

Result<std::vector<Store::EpochRows>> Store::EpochsWithRows(const std::vector<std::string>& sinks,
                                                            EpochId from, size_t limit) const {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  // Epochs of older lineages are at or below the base of the newest, whatever `from` says.
  WEIR_ASSIGN_OR_RETURN(
      auto query, impl.database->Prepare("SELECT id, extents FROM epoch WHERE id>=? ORDER BY id"));
  query.BindInt(1, static_cast<int64_t>(std::max(from, impl.run.base + 1)));
  std::vector<EpochRows> found;
  while (found.size() < limit) {
    WEIR_ASSIGN_OR_RETURN(const bool more, query.Step());
    if (!more) break;
    const auto extents = DecodeExtents(query.Blob(1));
    if (!extents)
      return Fail(Code::kCorruption, impl.directory + "/state.db: epoch " +
                                         std::to_string(query.Int(0)) +
                                         ": cannot read its extents");
    EpochRows epoch;
    epoch.epoch = static_cast<EpochId>(query.Int(0));
    epoch.rows.assign(sinks.size(), 0);
    epoch.watermarks.assign(sinks.size(), kWatermarkNone);
    for (const EpochExtent& extent : *extents) {
      const auto sink = std::find(sinks.begin(), sinks.end(), extent.sink);
      if (sink == sinks.end()) continue;
      const auto at = static_cast<size_t>(sink - sinks.begin());
      epoch.rows[at] += extent.rows;
      epoch.watermarks[at] = extent.watermark;
      epoch.total += extent.rows;
    }
    if (epoch.total > 0) found.push_back(std::move(epoch));
  }
  return found;
}

Result<EpochId> Store::EndOfRunOf(EpochId epoch) const {
  Impl& impl = *impl_;
  const std::lock_guard hold(impl.mutex);
  // The first sealed epoch of a lineage is of its fresh run: one that dies before it is no lineage
  // to resume. Epochs are pruned at or below every A only.
  WEIR_ASSIGN_OR_RETURN(
      auto query, impl.database->Prepare(
                      epoch == 0 ? "SELECT max(id) FROM epoch WHERE run = (SELECT run FROM epoch "
                                   "ORDER BY id LIMIT 1)"
                                 : "SELECT max(id) FROM epoch WHERE run = (SELECT run FROM epoch "
                                   "WHERE id = ?)"));
  if (epoch != 0) query.BindInt(1, static_cast<int64_t>(epoch));
  WEIR_ASSIGN_OR_RETURN(const bool found, query.Step());
  if (found && !query.IsNull(0)) return static_cast<EpochId>(query.Int(0));
  return epoch == 0 ? impl.run.base : epoch;
}

}  // namespace weir::store
