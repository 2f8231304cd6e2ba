// The list of a bounded read. It is taken once, when the lineage begins, and sealed with its first
// epoch: a file that is added later is not read, a file that grows is read up to its listed size,
// and one that went away, shrank or was replaced before it was read to its end parks, since the
// rows before are counted already.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/log.h"
#include "connectors/filesystem/file_catalog.h"
#include "connectors/filesystem/path.h"

namespace weir::connectors {
namespace {

class BoundedCatalog : public FileCatalog {
 public:
  BoundedCatalog(io::Files& files, CatalogOptions options)
      : files_(files), options_(std::move(options)) {}

  Status Open(const std::vector<flow::SavedPosition>& saved, std::string_view state,
              FileSet& set) override;
  Status Poll(FileSet& set, std::vector<FilePartition*>& found) override;
  Status CheckOpened(FilePartition& partition, const Result<io::FileStat>& opened) override;
  std::optional<std::string> FreezeState(FileSet&) override {
    if (!list_changed_) return std::nullopt;
    list_changed_ = false;
    return EncodeFileList(list_);
  }
  void TakeForgotten(FileSet&, std::vector<std::string>&) override {
  }  // every position of the list is needed to its end
  int64_t PollIntervalMs() const override { return -1; }
  uint64_t TotalBytes() const override { return total_bytes_; }
  bool bounded() const override { return true; }

 private:
  Status TakeList(const std::map<uint64_t, SavedFile>& saved);
  bool GapAccepted(const std::string& path) const {
    return options_.accept_all_gaps ||
           std::find(options_.accepted_gaps.begin(), options_.accepted_gaps.end(), path) !=
               options_.accepted_gaps.end();
  }
  bool CanGoOn(FilePartition& partition);
  void AcceptGap(ListedFile& listed, FilePartition& partition);

  io::Files& files_;
  const CatalogOptions options_;
  std::vector<ListedFile> list_;  // by path; partition i of the set belongs to entry i
  bool list_changed_ = false;
  bool announced_ = false;
  uint64_t total_bytes_ = 0;
};

Status BoundedCatalog::TakeList(const std::map<uint64_t, SavedFile>& saved) {
  Listing listing = ListInputs(files_, options_.path);
  if (!listing.unreadable.empty()) return Status(Code::kInvalid, listing.unreadable.front());
  for (const std::string& what : listing.left_out)
    LogWarning("source_leaves_out", {{"source", options_.table}, {"what", what}});
  if (listing.base_missing)
    return Status(Code::kInvalid, "no such file or directory: " + options_.path);
  // Positions without a list: the table was followed until now. A file keeps its number.
  std::map<FileKey, uint64_t> numbers;
  uint64_t next = 0;
  for (const auto& [number, file] : saved) {
    numbers[file.key] = number;
    next = number + 1;
  }
  if (listing.files.empty())
    LogWarning("source_matches_nothing", {{"source", options_.table}, {"path", options_.path}});
  for (const InputFile& file : listing.files) {
    const FileKey key = KeyOf(file.stat);
    const auto known = numbers.find(key);
    const uint64_t number = known != numbers.end() ? known->second : next++;
    if (known != numbers.end()) numbers.erase(known);
    list_.push_back({number, file.path, key, file.stat.size, file.stat.mtime_ns, false});
  }
  list_changed_ = true;
  return Status::Ok();
}

Status BoundedCatalog::Open(const std::vector<flow::SavedPosition>& saved, std::string_view state,
                            FileSet& set) {
  std::map<uint64_t, SavedFile> positions;
  for (const flow::SavedPosition& position : saved) {
    const auto number = PartitionNumber(position.key);
    auto file = DecodeSavedFile(position.blob);
    if (!number || !file)
      return Status(Code::kCorruption, "the saved position " + position.key + " cannot be read");
    positions.emplace(*number, std::move(*file));
  }
  if (state.empty()) {
    WEIR_RETURN_IF_ERROR(TakeList(positions));
  } else {
    auto list = DecodeFileList(state);
    if (!list) return Status(Code::kCorruption, "the saved list of files cannot be read");
    list_ = std::move(*list);
  }
  for (ListedFile& listed : list_) {
    FilePartition& partition = set.files.emplace_back();
    partition.number = listed.number;
    partition.path = listed.path;
    partition.key = listed.key;
    partition.limit = listed.size;
    total_bytes_ += listed.size;
    const auto position = positions.find(listed.number);
    if (position != positions.end()) {
      partition.Restore(position->second);
      // What was read before, for progress; of a compressed file it is not known before it is read.
      partition.disk_bytes = std::min(partition.base.offset, listed.size);
      if (position->second.finished) partition.state = FilePartition::State::kEnded;
    }
    if (partition.state != FilePartition::State::kEnded &&
        (listed.gap_accepted || GapAccepted(listed.path)))
      AcceptGap(listed, partition);
    if (partition.state == FilePartition::State::kEnded) partition.disk_bytes = listed.size;
  }
  return Status::Ok();
}

// Whether reading would go on in this file: it is there (under whatever name), what was read of it
// is what stands before the position, and a compressed one can be inflated to its end. Reads as
// much as that takes: only at an operator's word.
bool BoundedCatalog::CanGoOn(FilePartition& partition) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto content = Content::Open(files_, partition.path, partition.limit, options_.heartbeat);
    const Status refusal = CheckOpened(
        partition, content ? (*content)->Stat() : Result<io::FileStat>(Fail(content.error())));
    if (refusal.code() == Code::kExists) continue;  // found under another name
    if (!refusal.ok()) return false;
    const Mark& mark = partition.boundary();
    const auto digests = DigestsAt(**content, mark.offset);
    if (!digests) return false;
    if (mark.offset > 0 &&
        (digests->head != partition.HeadAt(mark) || digests->tail != mark.tail)) {
      return false;
    }
    if (!(*content)->compressed()) return true;
    return ReadToEnd(**content, mark.offset).ok() && !(*content)->truncated();
  }
  return false;
}

// The rest of the file is given up. Only an operator says so: --accept-gap TABLE about those files
// that are in trouble now, TABLE:PATH about one in any case.
void BoundedCatalog::AcceptGap(ListedFile& listed, FilePartition& partition) {
  if (!listed.gap_accepted) {
    if (options_.accept_all_gaps && CanGoOn(partition)) return;
    LogWarning("source_gap_accepted", {{"source", options_.table},
                                       {"path", listed.path},
                                       {"from", partition.base.offset},
                                       {"listed_size", listed.size}});
    listed.gap_accepted = true;
    list_changed_ = true;
  }
  partition.state = FilePartition::State::kEnded;
}

Status BoundedCatalog::Poll(FileSet& set, std::vector<FilePartition*>& found) {
  if (announced_) return Status::Ok();
  announced_ = true;
  for (FilePartition& partition : set.files) found.push_back(&partition);
  return Status::Ok();
}

Status BoundedCatalog::CheckOpened(FilePartition& partition, const Result<io::FileStat>& opened) {
  if (opened.has_value() && KeyOf(*opened) == partition.key) {
    if (opened->size >= partition.limit) return Status::Ok();
    return Status(Code::kRefused, fmt::format("{} has {} bytes, {} when it was listed",
                                              partition.path, opened->size, partition.limit));
  }
  if (!opened.has_value() && opened.error().code() != Code::kNotFound) return opened.error();
  // Renamed within its directory: still the listed file.
  const auto moved = FindByKey(files_, io::DirectoryOf(partition.path), partition.key);
  if (moved && *moved != partition.path) {
    partition.path = *moved;
    return Status(Code::kExists, "look under the new name");
  }
  if (!opened.has_value())
    return Status(Code::kRefused, partition.path + " is gone, and was listed when this run began");
  // Another inode under the listed name. What was read of it can be compared by the caller; of a
  // file that was not begun, size and time of modification must be the listed ones (a copy that
  // keeps them: cp -p, rsync, a restored backup).
  const auto listed = std::find_if(list_.begin(), list_.end(), [&](const ListedFile& file) {
    return file.number == partition.number;
  });
  const bool same_look =
      listed != list_.end() && opened->size == listed->size && opened->mtime_ns == listed->mtime_ns;
  if (opened->size >= partition.limit && (partition.base.offset > 0 || same_look)) {
    partition.key = KeyOf(*opened);
    return Status::Ok();
  }
  return Status(Code::kRefused,
                partition.path + " was replaced by another file since it was listed");
}

}  // namespace

std::unique_ptr<FileCatalog> NewBoundedCatalog(io::Files& files, CatalogOptions options) {
  return std::make_unique<BoundedCatalog>(files, std::move(options));
}

std::optional<std::string> FindByKey(io::Files& files, const std::string& directory,
                                     const FileKey& key) {
  const auto names = files.List(directory);
  if (!names.has_value()) return std::nullopt;
  for (const std::string& name : *names) {
    std::string path = io::JoinPath(directory, name);
    const auto stat = files.Stat(path);
    if (stat.has_value() && stat->is_regular && KeyOf(*stat) == key) return path;
  }
  return std::nullopt;
}

}  // namespace weir::connectors
