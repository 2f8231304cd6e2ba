#include "sqlite/wal_refresh.h"

#include <span>

namespace weir::sqlite {

Status RefreshWal(io::Files& files, const std::string& database_path) {
  auto opened = files.Open(database_path + "-wal", io::OpenMode::kReadWrite);
  if (!opened) {
    return opened.error().code() == Code::kNotFound ? Status::Ok() : opened.error();
  }
  io::File& log = **opened;
  std::string chunk(256 * 1024, '\0');
  for (uint64_t at = 0;;) {
    WEIR_ASSIGN_OR_RETURN(const size_t n, log.ReadAt(at, std::span<char>(chunk)));
    if (n == 0) break;
    // The same bytes: a power cut in the middle leaves each sector as it was or as it should be.
    WEIR_RETURN_IF_ERROR(log.WriteAt(at, std::string_view(chunk).substr(0, n)));
    at += n;
  }
  WEIR_RETURN_IF_ERROR(log.Sync());
  // SQLite goes on when the sync of the log's directory failed; then its name may still be missing.
  return files.SyncDirectory(io::DirectoryOf(database_path));
}

}  // namespace weir::sqlite
