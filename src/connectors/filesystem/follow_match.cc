// New inodes of a followed source: a file that is known and moved, a copy, or really new.
#include <algorithm>

#include "base/hash.h"
#include "base/log.h"
#include "connectors/filesystem/follow_catalog.h"

namespace weir::connectors {
namespace {

uint64_t HeadLength(const FilePartition& partition) {
  return std::min(partition.boundary().offset, kIdentityBytes);
}

// A partition that a new file may turn out to be.
bool MayBeElsewhere(const FilePartition& partition) {
  return (partition.gone || partition.missing) && !partition.path.empty() &&
         partition.boundary().offset > 0;
}

}  // namespace

FollowCatalog::HeadIndex FollowCatalog::IndexDeparted(FileSet& set) const {
  HeadIndex index;
  for (FilePartition& partition : set.files) {
    if (MayBeElsewhere(partition))
      index[{HeadLength(partition), partition.HeadAt(partition.boundary())}].push_back(&partition);
  }
  return index;
}

// The departed file that has the same bytes before its position; of several the one that was read
// furthest, then the newest.
FilePartition* FollowCatalog::MatchDeparted(const HeadIndex& index, const InputFile& file) {
  if (index.empty() || file.stat.size == 0) return nullptr;
  const auto content = Content::Open(files_, file.path, UINT64_MAX, options_.heartbeat);
  if (!content.has_value()) return nullptr;
  std::string head(kIdentityBytes, '\0');
  const auto n = (*content)->ReadAt(0, head);
  if (!n.has_value()) return nullptr;
  FilePartition* best = nullptr;
  uint64_t last_length = 0;
  for (auto it = index.begin(); it != index.end(); ++it) {
    const uint64_t length = it->first.first;
    if (length == last_length) continue;  // one lookup per length
    last_length = length;
    if (length > *n) break;
    const auto match = index.find({length, DigestBytes(std::string_view(head).substr(0, length))});
    if (match == index.end()) continue;
    for (FilePartition* partition : match->second) {
      if (!MayBeElsewhere(*partition)) continue;  // has found its file already
      const Mark& mark = partition->boundary();
      if (best != nullptr && mark.offset < best->boundary().offset) continue;
      const auto digests = DigestsAt(**content, mark.offset);
      if (digests.has_value() && digests->head == partition->HeadAt(mark) &&
          digests->tail == mark.tail)
        best = partition;
    }
  }
  return best;
}

void FollowCatalog::Continue(FilePartition& partition, const InputFile& file) {
  LogInfo("source_file_moved", {{"source", options_.table},
                                {"from", partition.path},
                                {"to", file.path},
                                {"read", partition.boundary().offset}});
  if (!partition.gone) by_key_.erase(partition.key);
  if (partition.path != file.path) left_path_[partition.path] = &partition;
  partition.path = file.path;
  partition.key = KeyOf(file.stat);
  partition.gone = partition.missing = false;
  partition.end.reset();
  partition.reopen = true;
  partition.seen_poll = polls_;
  by_key_[partition.key] = &partition;
  if (partition.state == State::kLeaving)
    partition.state = State::kAtEnd;  // nobody has been told that it ends
  if (partition.state == State::kEnded) {
    // Whoever read it has been told that it ended. Only when the new file holds more is there
    // anything to say.
    const auto content = Content::Open(files_, file.path, UINT64_MAX, options_.heartbeat);
    char next = 0;
    const auto n = content.has_value()
                       ? (*content)->ReadAt(partition.boundary().offset, std::span<char>(&next, 1))
                       : Result<size_t>(0);
    if (!n.has_value() || *n == 0) {
      partition.end = MarkOf(file.stat);
      return;
    }
  }
  Wake(partition);
}

void FollowCatalog::TakeNew(FileSet& set, const std::vector<const InputFile*>& fresh,
                            const Listing& listing) {
  if (fresh.empty()) return;
  const HeadIndex departed = IndexDeparted(set);
  for (const InputFile* file : fresh) {
    const FileKey key = KeyOf(file->stat);
    if (by_key_.contains(key)) continue;  // a second name of one new file
    if (FilePartition* partition = MatchDeparted(departed, *file)) {
      Continue(*partition, *file);
      continue;
    }
    if (polls_ > 1 && MustWait(*file, listing)) continue;
    held_.erase(key);
    FilePartition& partition = set.files.emplace_back();
    partition.number = set.next_number++;
    partition.path = file->path;
    partition.key = key;
    partition.seen_poll = polls_;
    by_key_[key] = &partition;
    Queue(partition);
  }
}

// Whether it begins like a living file whose name its own continues (app.log.1 of app.log): being
// copied, before the truncation. Then the next polls will show that file shrunk, or that both live
// on: two inputs.
bool FollowCatalog::MustWait(const InputFile& file, const Listing& listing) {
  const FileKey key = KeyOf(file.stat);
  const auto content = Content::Open(files_, file.path, UINT64_MAX, options_.heartbeat);
  if (!content.has_value()) return false;
  const size_t name_begin = file.path.rfind('/') + 1;
  for (size_t length = name_begin + 1; length < file.path.size(); ++length) {
    const std::string prefix = file.path.substr(0, length);
    const auto it =
        std::lower_bound(listing.files.begin(), listing.files.end(), prefix,
                         [](const InputFile& a, const std::string& b) { return a.path < b; });
    if (it == listing.files.end() || it->path != prefix) continue;
    const auto known = by_key_.find(KeyOf(it->stat));
    if (known == by_key_.end() || known->second->boundary().offset == 0) continue;
    const Mark& mark = known->second->boundary();
    const uint64_t window = std::min(mark.offset, kIdentityBytes);
    std::string head(window, '\0');
    const auto n = (*content)->ReadAt(0, head);
    if (!n.has_value()) continue;
    // As much of the original's begin as is copied yet; digests tell only when the window is
    // complete, so a shorter one waits too.
    const bool may_be_copy = *n < window || DigestBytes(head) == known->second->HeadAt(mark);
    if (may_be_copy && held_[key]++ < kHeldPolls) return true;
  }
  return false;
}

// copytruncate to a name outside the pattern: the rest that was not read is in the copy beside it.
void FollowCatalog::FindShrunkCopies(FileSet& set, const Listing& listing) {
  for (FilePartition* partition : shrunk_) {
    if (!partition->gone || partition->boundary().offset == 0) continue;
    const std::string directory = io::DirectoryOf(partition->path);
    const std::string name = io::BaseName(partition->path);
    const HeadIndex index = {
        {{HeadLength(*partition), partition->HeadAt(partition->boundary())}, {partition}}};
    FindInDirectory(directory, FileKey{});  // fills directories_
    for (const auto& [key, path] : directories_[directory]) {
      const std::string candidate = io::BaseName(path);
      if (!candidate.starts_with(name) || candidate == name || by_key_.contains(key)) continue;
      const bool listed = std::any_of(listing.files.begin(), listing.files.end(),
                                      [&](const InputFile& file) { return file.path == path; });
      const auto stat = files_.Stat(path);
      if (listed || !stat.has_value()) continue;
      const InputFile file{path, *stat};
      if (MatchDeparted(index, file) == nullptr) continue;
      Continue(*partition, file);
      partition->missing = true;  // never listed: read to its end, then left
      partition->quiet_polls = 0;
      break;
    }
  }
  (void)set;
}

}  // namespace weir::connectors
