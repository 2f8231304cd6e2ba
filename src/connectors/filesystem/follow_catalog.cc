#include "connectors/filesystem/follow_catalog.h"

#include <algorithm>

#include "base/log.h"

namespace weir::connectors {

std::unique_ptr<FileCatalog> NewFollowCatalog(io::Files& files, io::Clock& clock,
                                              CatalogOptions options) {
  return std::make_unique<FollowCatalog>(files, clock, std::move(options));
}

Status FollowCatalog::Open(const std::vector<flow::SavedPosition>& saved, std::string_view state,
                           FileSet& set) {
  if (!state.empty()) {
    auto accepted = DecodeFileList(state);
    if (!accepted) return Status(Code::kCorruption, "the saved state of the source cannot be read");
    // A list of a bounded life names files without gaps too.
    std::erase_if(*accepted, [](const ListedFile& file) { return !file.gap_accepted; });
    accepted_ = std::move(*accepted);
  }
  std::vector<std::pair<uint64_t, SavedFile>> positions;
  positions.reserve(saved.size());
  for (const flow::SavedPosition& position : saved) {
    const auto number = PartitionNumber(position.key);
    auto file = DecodeSavedFile(position.blob);
    if (!number || !file)
      return Status(Code::kCorruption, "the saved position " + position.key + " cannot be read");
    positions.emplace_back(*number, std::move(*file));
  }
  std::sort(positions.begin(), positions.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [number, file] : positions) {
    FilePartition& partition = set.files.emplace_back();
    partition.number = number;
    partition.Restore(file);
    partition.state = State::kAtEnd;  // until it is found
    set.next_number = number + 1;
    // An inode that was reused has two positions: the newer one's file is the one that is there.
    FilePartition*& live = by_key_[partition.key];
    if (live != nullptr) live->gone = true;
    live = &partition;
  }
  return Status::Ok();
}

Status FollowCatalog::Poll(FileSet& set, std::vector<FilePartition*>& found) {
  const int64_t now = clock_.MonotonicNs();
  if (polls_ == 0 || now >= next_poll_ns_) {
    ++polls_;
    directories_.clear();
    shrunk_.clear();
    const Listing listing = ListInputs(files_, options_.path);
    Note(listing);
    std::vector<const InputFile*> fresh;
    for (const InputFile& file : listing.files) {
      const auto known = by_key_.find(KeyOf(file.stat));
      if (known == by_key_.end()) {
        fresh.push_back(&file);
      } else if (known->second->seen_poll != polls_) {  // else a second name of one file
        known->second->seen_poll = polls_;
        LookAtListed(*known->second, file, fresh);
      }
    }
    std::vector<FilePartition*> missing;
    for (const auto& [key, partition] : by_key_) {
      if (partition->seen_poll != polls_) missing.push_back(partition);
    }
    std::sort(missing.begin(), missing.end(),
              [](const FilePartition* a, const FilePartition* b) { return a->number < b->number; });
    for (FilePartition* partition : missing) LookForMissing(*partition);
    TakeNew(set, fresh, listing);
    FindShrunkCopies(set, listing);
    const int64_t took_ns = clock_.MonotonicNs() - now;
    next_poll_ns_ =
        now + std::max(options_.monitor_interval_ms * 1'000'000, took_ns * kLookCostInverse);
  }
  Announce(found);
  return Status::Ok();
}

void FollowCatalog::Note(const Listing& listing) {
  for (const std::string& trouble : listing.unreadable) {
    if (noted_.insert(trouble).second)
      LogWarning("source_cannot_look", {{"source", options_.table}, {"why", trouble}});
  }
  for (const std::string& what : listing.left_out) {
    if (noted_.insert(what).second)
      LogWarning("source_leaves_out", {{"source", options_.table}, {"what", what}});
  }
  if (listing.base_missing && noted_.insert(options_.path).second) {
    LogWarning("source_waits_for_path", {{"source", options_.table}, {"path", options_.path}});
  }
}

bool FollowCatalog::GapAccepted(const FilePartition& partition) const {
  const auto same = [&](const ListedFile& file) {
    return file.key == partition.key && file.path == partition.path;
  };
  // TABLE without a path speaks of what is in trouble when the run begins, and of nothing later.
  if (options_.accept_all_gaps && polls_ == 1 && InTrouble(partition)) return true;
  return std::any_of(accepted_.begin(), accepted_.end(), same) ||
         std::find(options_.accepted_gaps.begin(), options_.accepted_gaps.end(), partition.path) !=
             options_.accepted_gaps.end();
}

// Cannot be opened although it is there, or its compressed data is damaged.
bool FollowCatalog::InTrouble(const FilePartition& partition) const {
  const auto content = Content::Open(files_, partition.path, partition.limit, options_.heartbeat);
  if (!content) return content.error().code() != Code::kNotFound;
  const uint64_t offset = partition.boundary().offset;
  char byte = 0;  // only a read tells what kind of file it is
  if (!(*content)->ReadAt(0, std::span<char>(&byte, 1))) return true;
  return (*content)->compressed() && !ReadToEnd(**content, offset).ok();
}

// There may be more to read.
void FollowCatalog::Wake(FilePartition& partition) {
  if (partition.state == State::kAtEnd || partition.state == State::kParked)
    partition.state = State::kReadable;
  if (partition.state == State::kEnded || partition.state == State::kLeaving) {
    // It was given up and has news: a partition of its own to whoever asks, at the saved position.
    partition.state = State::kReadable;
    partition.index = -1;
    partition.restored = true;
  }
  Queue(partition);
}

void FollowCatalog::Queue(FilePartition& partition) {
  if (partition.index >= 0 || partition.queued) return;
  partition.queued = true;
  to_announce_.push_back(&partition);
}

void FollowCatalog::LookAtListed(FilePartition& partition, const InputFile& file,
                                 std::vector<const InputFile*>& fresh) {
  if (partition.path != file.path) {
    left_path_[partition.path] = &partition;
    partition.path = file.path;
  }
  partition.missing = false;
  if (partition.end == MarkOf(file.stat)) {
    // Nobody has touched it: known without reading a byte of it.
    if (partition.state != State::kEnded) Queue(partition);
    return;
  }
  if (partition.reader != nullptr && file.stat.size < partition.reader->content().disk_bytes_read())
    partition.reopen = true;
  bool unreadable = false;
  if (SameContent(partition, file, &unreadable)) return Wake(partition);
  if (unreadable) {
    if (partition.state == State::kAtEnd) Wake(partition);  // its reader says what is wrong
    return;
  }
  LogInfo("source_file_replaced",
          {{"source", options_.table}, {"path", file.path}, {"read", partition.boundary().offset}});
  Depart(partition);
  shrunk_.push_back(&partition);
  fresh.push_back(&file);
}

// The bytes before the boundary are the ones that were read.
bool FollowCatalog::SameContent(const FilePartition& partition, const InputFile& file,
                                bool* unreadable) {
  const Mark& mark = partition.boundary();
  if (mark.offset == 0) return true;
  // A compressed stream that is being read is not inflated again for every look.
  if (partition.reader != nullptr && partition.reader->content().compressed() && !partition.reopen)
    return true;
  const auto content = Content::Open(files_, file.path, partition.limit, options_.heartbeat);
  if (!content.has_value()) {
    *unreadable = true;
    return false;
  }
  const auto digests = DigestsAt(**content, mark.offset);
  if (!digests.has_value()) {
    *unreadable = digests.error().code() == Code::kUnknownOutcome;
    return false;
  }
  return digests->head == partition.HeadAt(mark) && digests->tail == mark.tail;
}

void FollowCatalog::LookForMissing(FilePartition& partition) {
  if (partition.missing) return LookAtMissing(partition);
  partition.missing = true;
  partition.quiet_polls = 0;
  left_path_[partition.path] = &partition;
  if (const auto moved = FindInDirectory(io::DirectoryOf(partition.path), partition.key)) {
    partition.path = *moved;
  } else if (partition.reader == nullptr) {
    return Depart(partition);
  }
  LookAtMissing(partition);
}

// Read on through its handle, or under the name it has now, until nothing has come for a while.
void FollowCatalog::LookAtMissing(FilePartition& partition) {
  auto stat = partition.reader != nullptr ? partition.reader->content().Stat()
                                          : files_.Stat(partition.path);
  if (!stat.has_value() || KeyOf(*stat) != partition.key) return Depart(partition);
  if (partition.end != MarkOf(*stat)) {
    partition.quiet_polls = 0;
    bool unreadable = false;
    const InputFile file{partition.path, *stat};
    // Through the handle it is the same file for sure; only its content may have been cut.
    const bool same = partition.reader != nullptr
                          ? stat->size >= partition.reader->content().disk_bytes_read()
                          : SameContent(partition, file, &unreadable);
    if (!same && !unreadable) return Depart(partition);
    return Wake(partition);
  }
  if (partition.state == State::kAtEnd && ++partition.quiet_polls >= kQuietPolls) Depart(partition);
}

// No file is this one any more. Its record stays, to recognise a copy.
void FollowCatalog::Depart(FilePartition& partition) {
  by_key_.erase(partition.key);
  partition.gone = true;
  partition.gone_since = epochs_;
  partition.reopen = true;
  if (partition.state != State::kEnded) partition.state = State::kLeaving;
}

Status FollowCatalog::CheckOpened(FilePartition& partition, const Result<io::FileStat>& opened) {
  if (opened.has_value() && KeyOf(*opened) == partition.key) return Status::Ok();
  if (opened.has_value() || opened.error().code() == Code::kNotFound) {
    partition.end.reset();  // Poll looks at it in any case
    return Status(Code::kUnavailable, "moved");
  }
  return opened.error();
}

std::optional<std::string> FollowCatalog::FindInDirectory(const std::string& directory,
                                                          const FileKey& key) {
  const auto [it, added] = directories_.try_emplace(directory);
  if (added) {
    const auto names = files_.List(directory);
    for (const std::string& name : names.has_value() ? *names : std::vector<std::string>()) {
      const std::string path = io::JoinPath(directory, name);
      const auto stat = files_.Stat(path);
      if (stat.has_value() && stat->is_regular) it->second.emplace(KeyOf(*stat), path);
    }
  }
  const auto found = it->second.find(key);
  return found == it->second.end() ? std::nullopt : std::optional<std::string>(found->second);
}

void FollowCatalog::Announce(std::vector<FilePartition*>& found) {
  std::vector<FilePartition*> waiting;
  for (FilePartition* partition : to_announce_) {
    const auto before = left_path_.find(partition->path);
    if (before != left_path_.end() && before->second != partition &&
        before->second->state == State::kReadable && before->second->index >= 0) {
      waiting.push_back(partition);  // the rest of the rotated file first
      continue;
    }
    if (before != left_path_.end()) left_path_.erase(before);
    partition->queued = false;
    if (GapAccepted(*partition)) {
      partition->state = State::kEnded;
      accepted_.push_back({partition->number, partition->path, partition->key, 0, 0, true});
      accepted_changed_ = true;
      continue;
    }
    found.push_back(partition);
  }
  to_announce_ = std::move(waiting);
}

std::optional<std::string> FollowCatalog::FreezeState(FileSet&) {
  ++epochs_;
  if (!accepted_changed_) return std::nullopt;
  accepted_changed_ = false;
  return EncodeFileList(accepted_);
}

void FollowCatalog::TakeForgotten(FileSet& set, std::vector<std::string>& keys) {
  if (epochs_ % (kForgetEpochs / 10) != 0) return;  // 100,000 files need no look at every cut
  for (FilePartition& partition : set.files) {
    if (!partition.gone || partition.path.empty() || epochs_ - partition.gone_since < kForgetEpochs)
      continue;
    if (partition.index >= 0 && partition.state != State::kEnded) continue;
    keys.push_back(PartitionKey(partition.number));
    std::erase_if(left_path_, [&](const auto& entry) { return entry.second == &partition; });
    partition.path = std::string();
    partition.state = State::kEnded;
  }
}

int64_t FollowCatalog::PollIntervalMs() const {
  if (polls_ == 0 || !to_announce_.empty()) return 0;
  return std::max<int64_t>(0, (next_poll_ns_ - clock_.MonotonicNs()) / 1'000'000);
}

}  // namespace weir::connectors
