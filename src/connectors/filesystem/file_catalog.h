// FileCatalog: which files a source reads, and which file a saved position belongs to. Two of them:
// the bounded one takes a list once per lineage; the following one looks again at an interval and
// tells rotation, truncation, copies and reused inodes apart.
#ifndef WEIR_CONNECTORS_FILESYSTEM_FILE_CATALOG_H_
#define WEIR_CONNECTORS_FILESYSTEM_FILE_CATALOG_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "connectors/filesystem/file_partition.h"
#include "flow/source.h"
#include "io/clock.h"
#include "io/files.h"
#include "io/heartbeat.h"

namespace weir::connectors {

struct CatalogOptions {
  std::string table;
  std::string path;                        // absolute; file, directory or pattern
  int64_t monitor_interval_ms = 0;         // followed
  bool accept_all_gaps = false;            // operator's words: --accept-gap TABLE
  std::vector<std::string> accepted_gaps;  // --accept-gap TABLE:PATH
  io::Heartbeat* heartbeat = nullptr;
};

class FileCatalog {
 public:
  virtual ~FileCatalog() = default;
  virtual Status Open(const std::vector<flow::SavedPosition>& saved, std::string_view state,
                      FileSet& set) = 0;
  // Looks for news when it is time. Appends the partitions that may be announced now.
  virtual Status Poll(FileSet& set, std::vector<FilePartition*>& found) = 0;
  // A file has just been opened (or could not be): may it be read on? OK: yes. kUnavailable: not
  // now, Poll will say more. Any other: a reason to park.
  virtual Status CheckOpened(FilePartition& partition, const Result<io::FileStat>& opened) = 0;
  // Once per epoch.
  virtual std::optional<std::string> FreezeState(FileSet& set) = 0;
  virtual void TakeForgotten(FileSet& set, std::vector<std::string>& keys) = 0;
  virtual int64_t PollIntervalMs() const = 0;  // until Poll has work; -1: never
  virtual uint64_t TotalBytes() const = 0;     // bounded; 0: unknown
  virtual bool bounded() const = 0;
};

std::unique_ptr<FileCatalog> NewBoundedCatalog(io::Files& files, CatalogOptions options);
std::unique_ptr<FileCatalog> NewFollowCatalog(io::Files& files, io::Clock& clock,
                                              CatalogOptions options);

// The path of a file in `directory` with this identity, whatever it is called now; nullopt when
// there is none.
std::optional<std::string> FindByKey(io::Files& files, const std::string& directory,
                                     const FileKey& key);

}  // namespace weir::connectors

#endif  // WEIR_CONNECTORS_FILESYSTEM_FILE_CATALOG_H_
