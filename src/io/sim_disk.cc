#include "io/sim_disk.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "io/sim_files.h"

namespace weir::io {
namespace {

void PutBytes(std::string& content, uint64_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size(), '\0');
  content.replace(offset, bytes.size(), bytes);
}

void Apply(std::string& content, const WaitingWrite& write) {
  if (write.truncate) {
    content.resize(write.offset, '\0');
  } else {
    PutBytes(content, write.offset, write.bytes);
  }
}

// Some sectors of the write reach the medium and some do not. False: it has one sector only, which
// never tears.
bool ApplyTorn(std::string& content, const WaitingWrite& write, SimRandom& random) {
  struct Piece {
    uint64_t begin;
    uint64_t end;
  };
  std::vector<Piece> pieces;
  const uint64_t end = write.offset + write.bytes.size();
  for (uint64_t at = write.offset; at < end;) {
    const uint64_t next = std::min(end, (at / SimDisk::kSectorBytes + 1) * SimDisk::kSectorBytes);
    pieces.push_back({at, next});
    at = next;
  }
  if (pieces.size() < 2) return false;
  // One surely there and one surely not, the others by chance.
  const size_t lost = random.Below(pieces.size());
  const size_t kept = (lost + 1 + random.Below(pieces.size() - 1)) % pieces.size();
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i == lost || (i != kept && random.OneIn(2))) continue;
    const auto [begin, stop] = pieces[i];
    PutBytes(content, begin,
             std::string_view(write.bytes).substr(begin - write.offset, stop - begin));
  }
  return true;
}

}  // namespace

SimDisk::SimDisk() {
  mounts_.push_back({"/"});
  CHECK(NewNode(/*is_directory=*/true, 0) == kRootNode);
  nodes_.at(kRootNode).links = 1;
}

uint64_t SimDisk::NewInode() {
  if (!reuse_inodes_) return next_inode_++;
  std::set<uint64_t> taken;
  for (const auto& [id, node] : nodes_) {
    if (node.links > 0 || node.open_files > 0) taken.insert(node.inode);
  }
  uint64_t inode = 2;
  while (taken.count(inode) > 0) ++inode;
  next_inode_ = std::max(next_inode_, inode + 1);
  return inode;
}

NodeId SimDisk::NewNode(bool is_directory, size_t mount) {
  SimNode node;
  node.inode = NewInode();
  node.mount = mount;
  node.is_directory = is_directory;
  node.mtime_ns = Tick();
  const NodeId id = next_node_++;
  nodes_.emplace(id, std::move(node));
  return id;
}

void SimDisk::Link(NodeId directory, const std::string& name, NodeId node) {
  nodes_.at(directory).cached_entries[name] = node;
  nodes_.at(directory).mtime_ns = Tick();
  ++nodes_.at(node).links;
  waiting_changes_.push_back({ChangeKind::kLink, directory, name, node, 0, ""});
}

void SimDisk::Unlink(NodeId directory, const std::string& name) {
  SimNode& parent = nodes_.at(directory);
  const auto entry = parent.cached_entries.find(name);
  CHECK(entry != parent.cached_entries.end());
  const NodeId node = entry->second;
  parent.cached_entries.erase(entry);
  parent.mtime_ns = Tick();
  --nodes_.at(node).links;
  waiting_changes_.push_back({ChangeKind::kUnlink, directory, name, node, 0, ""});
}

void SimDisk::Rename(NodeId directory, const std::string& name, NodeId to_directory,
                     const std::string& to_name) {
  SimNode& from = nodes_.at(directory);
  SimNode& to = nodes_.at(to_directory);
  const NodeId node = from.cached_entries.at(name);
  if (const auto old = to.cached_entries.find(to_name); old != to.cached_entries.end()) {
    --nodes_.at(old->second).links;
  }
  from.cached_entries.erase(name);
  to.cached_entries[to_name] = node;
  from.mtime_ns = to.mtime_ns = Tick();
  waiting_changes_.push_back({ChangeKind::kRename, directory, name, node, to_directory, to_name});
}

void SimDisk::Write(NodeId id, uint64_t offset, std::string_view bytes) {
  SimNode& node = nodes_.at(id);
  node.waiting.push_back({false, offset, std::string(bytes)});
  Apply(node.cached, node.waiting.back());
  node.mtime_ns = Tick();
}

void SimDisk::Truncate(NodeId id, uint64_t size) {
  SimNode& node = nodes_.at(id);
  node.waiting.push_back({true, size, ""});
  Apply(node.cached, node.waiting.back());
  node.mtime_ns = Tick();
}

void SimDisk::SyncFile(NodeId id) {
  SimNode& node = nodes_.at(id);
  for (const WaitingWrite& write : node.waiting) Apply(node.durable, write);
  node.waiting.clear();
}

void SimDisk::ApplyDurable(const DirectoryChange& change) {
  auto& entries = nodes_.at(change.directory).durable_entries;
  const auto entry = entries.find(change.name);
  const bool is_there = entry != entries.end() && entry->second == change.node;
  switch (change.kind) {
    case ChangeKind::kLink:
      entries[change.name] = change.node;
      return;
    case ChangeKind::kUnlink:
      if (is_there) entries.erase(entry);
      return;
    case ChangeKind::kRename:
      // One journal entry: the old name goes and the new one comes together.
      if (is_there) entries.erase(entry);
      nodes_.at(change.to_directory).durable_entries[change.to_name] = change.node;
      return;
  }
}

void SimDisk::SyncDirectory(NodeId directory) {
  std::vector<DirectoryChange> still_waiting;
  for (DirectoryChange& change : waiting_changes_) {
    const bool concerned = change.directory == directory ||
                           (change.kind == ChangeKind::kRename && change.to_directory == directory);
    if (concerned) {
      ApplyDurable(change);
    } else {
      still_waiting.push_back(std::move(change));
    }
  }
  waiting_changes_ = std::move(still_waiting);
}

void SimDisk::SyncAll() {
  for (auto& [id, node] : nodes_) SyncFile(id);
  for (const DirectoryChange& change : waiting_changes_) ApplyDurable(change);
  waiting_changes_.clear();
}

void SimDisk::EndProcess() {
  for (auto& [id, node] : nodes_) {
    node.open_files = 0;
    node.lock_owner = nullptr;
  }
}

void SimDisk::PathsBelow(NodeId directory, const std::string& prefix,
                         std::map<NodeId, std::string>& paths) const {
  for (const auto& [name, id] : nodes_.at(directory).cached_entries) {
    paths[id] = prefix + "/" + name;
    if (nodes_.at(id).is_directory) PathsBelow(id, paths[id], paths);
  }
}

void SimDisk::CutFile(SimNode& node, SimRandom& random, int loss_of_8, PowerCutReport& report,
                      bool& damaged) const {
  for (const WaitingWrite& write : node.waiting) {
    ++report.writes_waiting;
    if (random.Below(8) >= static_cast<uint64_t>(loss_of_8)) {
      Apply(node.durable, write);
      continue;
    }
    damaged = true;
    const uint64_t how = random.Below(4);
    if (how == 0 && !write.truncate) {
      // The inode's size was written, the data was not.
      ++report.writes_lost;
      const uint64_t end = write.offset + write.bytes.size();
      if (node.durable.size() < end) node.durable.resize(end, '\0');
    } else if (how < 3 && !write.truncate && ApplyTorn(node.durable, write, random)) {
      ++report.writes_torn;
    } else {
      ++report.writes_lost;
    }
  }
}

void SimDisk::CutPower(uint64_t seed, PowerCutReport* report) {
  PowerCutReport unused;
  PowerCutReport& out = report != nullptr ? *report : unused;
  out = {};
  SimRandom random(seed);
  // How much is lost, in eighths, drawn once for files and once for directories: all of it and none
  // of it, the two that most real cuts are, come up often.
  const auto draw_loss = [&] {
    constexpr int kLosses[] = {8, 0, 1, 4, 7, 8};
    return kLosses[random.Below(6)];
  };
  const int file_loss = draw_loss();
  const int directory_loss = draw_loss();

  std::map<NodeId, std::string> paths;
  PathsBelow(kRootNode, "", paths);
  for (auto& [id, node] : nodes_) {
    bool damaged = false;
    CutFile(node, random, file_loss, out, damaged);
    if (damaged && paths.count(id) > 0) out.damaged_paths.push_back(paths[id]);
  }
  for (const DirectoryChange& change : waiting_changes_) {
    ++out.directory_changes_waiting;
    if (random.Below(8) < static_cast<uint64_t>(directory_loss)) {
      ++out.directory_changes_lost;
    } else {
      ApplyDurable(change);
    }
  }
  waiting_changes_.clear();
  EndProcess();

  for (auto& [id, node] : nodes_) {
    node.cached = node.durable;
    node.waiting.clear();
    node.cached_entries = node.durable_entries;
    node.links = id == kRootNode ? 1 : 0;
  }
  for (auto& [id, node] : nodes_) {
    for (const auto& [name, child] : node.cached_entries) ++nodes_.at(child).links;
  }
}

uint64_t SimDisk::UsedBytes(size_t mount) const {
  uint64_t used = 0;
  for (const auto& [id, node] : nodes_) {
    const bool exists = node.links > 0 || node.open_files > 0;
    if (exists && node.mount == mount) used += RoundUp(node.cached.size());
  }
  return used;
}

}  // namespace weir::io
