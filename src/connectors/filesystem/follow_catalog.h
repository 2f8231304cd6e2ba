// FollowCatalog: looks at the inputs again at an interval and says what became of each file
// (file_identity.h has the rules). It decides by what is there, never by names alone:
//
//   listed, same inode     unchanged (size, times): nothing is read. Changed: the digests must be
//   right, and reading goes on; else the old
//                          file is gone and this one is new
//   not listed any more    looked for in its directory under another name (rotation out of the
//   pattern) or read on through its open handle, until it
//                          has been quiet for a few polls; else it is gone
//   new inode              compared with the files that are gone, missing or shrank: the same bytes
//   are the same file (renamed across file systems,
//                          copied, compressed). A copy of a file that still lives (copytruncate,
//                          between copy and truncate) waits two polls first
//   new file at a path     whose file was rotated away: announced once the old one is read to its
//   end
//
// What no evidence can show: bytes written to a file after we last read it and truncated or deleted
// before we look again.
#ifndef WEIR_CONNECTORS_FILESYSTEM_FOLLOW_CATALOG_H_
#define WEIR_CONNECTORS_FILESYSTEM_FOLLOW_CATALOG_H_

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "connectors/filesystem/file_catalog.h"
#include "connectors/filesystem/path.h"

namespace weir::connectors {

inline constexpr uint16_t kQuietPolls =
    3;  // a rotated file without news for so long has been left by its writer
inline constexpr int kHeldPolls = 2;
inline constexpr int64_t kLookCostInverse = 100;  // looking takes at most 1 % of the time
inline constexpr uint64_t kForgetEpochs = 1000;

class FollowCatalog : public FileCatalog {
 public:
  FollowCatalog(io::Files& files, io::Clock& clock, CatalogOptions options)
      : files_(files), clock_(clock), options_(std::move(options)) {}

  Status Open(const std::vector<flow::SavedPosition>& saved, std::string_view state,
              FileSet& set) override;
  Status Poll(FileSet& set, std::vector<FilePartition*>& found) override;
  Status CheckOpened(FilePartition& partition, const Result<io::FileStat>& opened) override;
  std::optional<std::string> FreezeState(FileSet&) override;
  void TakeForgotten(FileSet& set, std::vector<std::string>& keys) override;
  int64_t PollIntervalMs() const override;
  uint64_t TotalBytes() const override { return 0; }
  bool bounded() const override { return false; }

 private:
  using State = FilePartition::State;
  // (length, digest) of the first bytes: who might a new file be?
  using HeadIndex = std::map<std::pair<uint64_t, Digest128>, std::vector<FilePartition*>>;

  void Note(const Listing& listing);
  bool GapAccepted(const FilePartition& partition) const;
  bool InTrouble(const FilePartition& partition) const;
  void LookAtListed(FilePartition& partition, const InputFile& file,
                    std::vector<const InputFile*>& fresh);
  void LookForMissing(FilePartition& partition);
  void LookAtMissing(FilePartition& partition);
  bool SameContent(const FilePartition& partition, const InputFile& file, bool* unreadable);
  void Depart(FilePartition& partition);
  void Wake(FilePartition& partition);
  void TakeNew(FileSet& set, const std::vector<const InputFile*>& fresh, const Listing& listing);
  HeadIndex IndexDeparted(FileSet& set) const;
  FilePartition* MatchDeparted(const HeadIndex& index, const InputFile& file);
  void Continue(FilePartition& partition, const InputFile& file);
  bool MustWait(const InputFile& file, const Listing& listing);
  void FindShrunkCopies(FileSet& set, const Listing& listing);
  void Queue(FilePartition& partition);
  void Announce(std::vector<FilePartition*>& found);
  std::optional<std::string> FindInDirectory(const std::string& directory, const FileKey& key);

  io::Files& files_;
  io::Clock& clock_;
  const CatalogOptions options_;
  uint32_t polls_ = 0;
  int64_t next_poll_ns_ = 0;
  uint64_t epochs_ = 0;
  std::map<FileKey, FilePartition*> by_key_;  // every file that is there, missing ones too
  std::map<FileKey, int> held_;               // copies of living files: polls waited
  std::map<std::string, FilePartition*>
      left_path_;  // paths whose file was rotated away and is not drained yet
  std::vector<FilePartition*> to_announce_;
  std::vector<FilePartition*> shrunk_;                                 // in this poll
  std::map<std::string, std::map<FileKey, std::string>> directories_;  // looked into in this poll
  std::set<std::string> noted_;                                        // troubles that were logged
  std::vector<ListedFile> accepted_;  // gaps that the operator accepted, sealed as the source state
  bool accepted_changed_ = false;
};

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FOLLOW_CATALOG_H_
