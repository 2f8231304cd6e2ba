#include "io/files.h"

#include <algorithm>

namespace weir::io {

Result<std::string> ReadFile(Files& files, const std::string& path, uint64_t max_bytes) {
  WEIR_ASSIGN_OR_RETURN(const auto file, files.Open(path, OpenMode::kRead));
  // By reading, not by Stat: files in /proc say 0 and a file may grow meanwhile.
  std::string out;
  while (out.size() <= max_bytes) {
    const size_t had = out.size();
    out.resize(static_cast<size_t>(std::min<uint64_t>(had + 64 * 1024, max_bytes + 1)));
    WEIR_ASSIGN_OR_RETURN(const size_t n, file->ReadAt(had, std::span<char>(out).subspan(had)));
    const bool at_end = n < out.size() - had;
    out.resize(had + n);
    if (at_end) break;
  }
  if (out.size() > max_bytes) {
    return Fail(Code::kInvalid, path + " is larger than " + std::to_string(max_bytes) + " bytes");
  }
  return out;
}

Status WriteFileAtomically(Files& files, const std::string& path, std::string_view bytes) {
  const std::string directory = DirectoryOf(path);
  // A fixed name: a copy left by a crash is simply used again. kCreate + Truncate because of that.
  const std::string temporary = JoinPath(directory, "." + BaseName(path) + ".tmp");
  {
    WEIR_ASSIGN_OR_RETURN(const auto file, files.Open(temporary, OpenMode::kCreate));
    WEIR_RETURN_IF_ERROR(file->Truncate(0));
    WEIR_RETURN_IF_ERROR(file->WriteAt(0, bytes));
    // Before the rename: otherwise the new name could survive a power cut with an empty file behind
    // it.
    WEIR_RETURN_IF_ERROR(file->Sync());
  }
  WEIR_RETURN_IF_ERROR(files.Rename(temporary, path));
  return files.SyncDirectory(directory);
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  std::string out(directory);
  if (out.back() != '/') out.push_back('/');
  out.append(name);
  return out;
}

std::string DirectoryOf(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? "/" : path.substr(0, slash));
}

std::string BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

}  // namespace weir::io
