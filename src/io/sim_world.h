// The inside of SimFiles: the disk, the faults, and what an open file is. Tests only.
#ifndef WEIR_IO_SIM_WORLD_H_
#define WEIR_IO_SIM_WORLD_H_

#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/sim_disk.h"
#include "io/sim_files.h"

namespace weir::io {

// Absolute and without "." and ".."; "/" alone ends with a slash.
std::string NormalizeSimPath(std::string_view path);
bool IsAtOrBelow(std::string_view path, std::string_view directory);
FileStat StatOf(const SimNode& node);
Status SimulationStopped();  // what every call gives once the world has crashed

// All members are used under `mutex`.
struct SimFiles::World {
  // Where a path leads. `node` is empty when the last name is not there; then `parent` says where
  // it would be.
  struct Place {
    NodeId parent = kRootNode;
    std::string name;
    std::optional<NodeId> node;
    int error = 0;  // ENOENT or ENOTDIR on the way: parent means nothing
  };

  Place Find(const std::string& normalized) const;
  size_t MountOf(std::string_view path) const;
  bool IsReadOnly(std::string_view path) const;
  // Makes what is missing of a path, durable at once.
  NodeId Put(const std::string& normalized, bool is_directory);
  // Counts the operation and asks the hook. OK: do it. `lost_pages` (of a sync) is set besides the
  // error.
  Status Before(SimOp op, bool* lost_pages = nullptr);

  mutable std::mutex mutex;
  SimDisk disk;
  Hook hook;
  bool crashed = false;
  uint64_t operations = 0;
  std::vector<SimOp> trace;
  std::set<std::string> read_only;
};

// Counts as one of the node's open files; the caller holds the world's mutex.
std::unique_ptr<File> NewSimFile(SimFiles::World& world, NodeId node, std::string path,
                                 bool writable);

}  // namespace weir::io

#endif  // WEIR_IO_SIM_WORLD_H_
