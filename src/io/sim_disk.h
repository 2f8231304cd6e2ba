// SimDisk: the state behind SimFiles and what a power cut makes of it. Pure data and rules;
// io/sim_files.h says what is modelled and adds errors, faults and locking. Tests only.
//
// Two views of everything:  cached (what calls see)  and  durable (what the medium holds). The
// difference is exactly the waiting lists, minus what a failed sync forgot:
//
//     durable + all waiting changes, in order  ==  cached      unless a sync has lost pages
#ifndef WEIR_IO_SIM_DISK_H_
#define WEIR_IO_SIM_DISK_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/sim_clock.h"

namespace weir::io {

struct PowerCutReport;

using NodeId = uint64_t;  // never used twice in a world and its successors
inline constexpr NodeId kRootNode = 1;

// A write, or (truncate) a new size in `offset`.
struct WaitingWrite {
  bool truncate = false;
  uint64_t offset = 0;
  std::string bytes;
};

// A file or a directory.
struct SimNode {
  uint64_t inode = 0;  // the number that Stat shows; may be reused
  size_t mount = 0;
  bool is_directory = false;
  int64_t mtime_ns = 0;

  std::string cached;  // a file's bytes
  std::string durable;
  std::vector<WaitingWrite> waiting;

  std::map<std::string, NodeId> cached_entries;  // a directory's names
  std::map<std::string, NodeId> durable_entries;

  int links = 0;       // names in the cached view
  int open_files = 0;  // an unlinked file lives while it is open
  const void* lock_owner = nullptr;
};

enum class ChangeKind { kLink, kUnlink, kRename };

// A waiting change of directories. Applying one is harmless when an earlier one was lost.
struct DirectoryChange {
  ChangeKind kind = ChangeKind::kLink;
  NodeId directory = 0;
  std::string name;
  NodeId node = 0;
  NodeId to_directory = 0;  // of a rename
  std::string to_name;
};

struct SimMount {
  std::string directory;
  uint64_t capacity_bytes = UINT64_MAX;
};

class SimDisk {
 public:
  SimDisk();

  // Changes of the cached view that also begin to wait.
  NodeId NewNode(bool is_directory, size_t mount);
  void Link(NodeId directory, const std::string& name, NodeId node);
  void Unlink(NodeId directory, const std::string& name);
  void Rename(NodeId directory, const std::string& name, NodeId to_directory,
              const std::string& to_name);  // what had the new name loses it
  void Write(NodeId node, uint64_t offset, std::string_view bytes);
  void Truncate(NodeId node, uint64_t size);

  // The medium catches up.
  void SyncFile(NodeId node);
  void ForgetWaiting(NodeId node) { nodes_.at(node).waiting.clear(); }
  void SyncDirectory(NodeId directory);
  void SyncAll();

  // Drops what the process had: open files and locks, and files that only an open handle kept.
  void EndProcess();
  // Makes durable what survives, then makes the cached view of it.
  void CutPower(uint64_t seed, PowerCutReport* report);

  SimNode& node(NodeId id) { return nodes_.at(id); }
  const SimNode& node(NodeId id) const { return nodes_.at(id); }
  uint64_t UsedBytes(size_t mount) const;  // blocks of 4096 that files which exist hold
  std::vector<SimMount>& mounts() { return mounts_; }
  const std::vector<SimMount>& mounts() const { return mounts_; }
  void set_reuse_inodes(bool reuse) { reuse_inodes_ = reuse; }

  static constexpr uint64_t kBlockBytes = 4096;
  static constexpr uint64_t kSectorBytes = 512;
  static uint64_t RoundUp(uint64_t bytes) {
    return (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes;
  }

 private:
  void ApplyDurable(const DirectoryChange& change);
  void CutFile(SimNode& node, SimRandom& random, int loss_of_8, PowerCutReport& report,
               bool& damaged) const;
  void PathsBelow(NodeId directory, const std::string& prefix,
                  std::map<NodeId, std::string>& paths) const;
  uint64_t NewInode();
  int64_t Tick() { return now_ns_ += 1'000'000; }

  std::map<NodeId, SimNode> nodes_;
  std::vector<DirectoryChange> waiting_changes_;
  std::vector<SimMount> mounts_;
  NodeId next_node_ = kRootNode;
  uint64_t next_inode_ = 2;
  bool reuse_inodes_ = false;
  int64_t now_ns_ = 1'700'000'000'000'000'000;
};

}  // namespace weir::io

#endif  // WEIR_IO_SIM_DISK_H_
